//! `fathom explain`: what a rule means and what to do about it.

use clap::Args;
use fathom_report::rules;
use fathom_rules::{Rule, TABLES, find, suggest};

use crate::document_formats::document_formats;
use crate::exit::{CommandError, Exit};
use crate::help::glossary;
use crate::shown::Shown;

/// Explain a rule or a word of an answer.
///
/// Of a rule: what it detects, thresholds with their sources, what to do. Of a word, such
/// as `queue_depth` or `not proven`: what it means.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  fathom explain V01
  fathom explain queue_depth         What a limiter means
  fathom explain                     Lists all rules
  fathom explain V01 --format markdown
  fathom explain --json              All tables, for programs (schema fathom.rules/1)")]
pub(crate) struct Explain {
    /// Id or name of the rule (of a check, an alarm, a remark, a decision), or a word.
    pub(crate) rule: Option<String>,
    #[command(flatten)]
    shown: Shown<Format>,
}

document_formats!(Format: "One document (schema fathom.rules/1)");

pub(crate) fn run(explain: &Explain) -> anyhow::Result<Exit> {
    let shown = &explain.shown;
    shown.admit()?;
    let text = match &explain.rule {
        Some(name) => {
            let columns = shown.columns().min(TEXT_COLUMNS);
            let found = match named(name) {
                Ok(found) => found,
                Err(unknown) => return word(explain, name, columns).ok_or(unknown)?,
            };
            match shown.format() {
                Format::Text => {
                    let texts = found.iter().map(|rule| rules::describe(rule, columns));
                    texts.collect::<Vec<String>>().join("\n")
                }
                Format::Json => rules::json(&found)?,
                Format::Markdown => rules::markdown(&found),
            }
        }
        None => match shown.format() {
            Format::Text => rules::list(shown.columns()),
            Format::Json => {
                let all = TABLES.iter().flat_map(|table| table.rules.iter().copied());
                rules::json(&all.collect::<Vec<&Rule>>())?
            }
            Format::Markdown => rules::markdown_list(),
        },
    };
    shown.write(&text)?;
    Ok(Exit::Success)
}

/// Columns of prose; longer lines are hard to read.
pub(crate) const TEXT_COLUMNS: usize = 80;

/// Explains a word of answers, such as `queue depth`; `None` where it is none, or where a
/// document is asked for: documents hold rules.
fn word(explain: &Explain, name: &str, columns: usize) -> Option<anyhow::Result<Exit>> {
    if explain.shown.format() != Format::Text {
        return None;
    }
    let text = glossary::meaning(name, columns)?;
    Some(explain.shown.write(&text).map(|()| Exit::Success))
}

/// The rules of this name.
fn named(name: &str) -> Result<Vec<&'static Rule>, CommandError> {
    let found = find(name);
    if !found.is_empty() {
        return Ok(found);
    }
    let nearest: Vec<String> = suggest(name).into_iter().map(rules::heading).collect();
    let hint = match nearest.is_empty() {
        true => String::new(),
        false => format!("; did you mean {}?", nearest.join(" or ")),
    };
    let problem = format!("no rule is called '{name}'{hint}\nhelp: `fathom explain` lists all");
    Err(CommandError::Usage(problem))
}
