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
  fathom explain V01 V16             Several
  fathom explain queue_depth         What a limiter means
  fathom explain                     Lists all rules
  fathom explain V01 --format markdown
  fathom explain --json              All tables, for programs (schema fathom.rules/1)")]
pub(crate) struct Explain {
    /// Ids or names of rules (of a check, an alarm, a remark, a decision), or words.
    pub(crate) rule: Vec<String>,
    #[command(flatten)]
    shown: Shown<Format>,
}

document_formats!(Format: "One document (schema fathom.rules/1)");

pub(crate) fn run(explain: &Explain) -> anyhow::Result<Exit> {
    let shown = &explain.shown;
    shown.admit()?;
    let text = match explain.rule.as_slice() {
        [] => all(shown)?,
        names => match phrase(shown, names) {
            Some(meaning) => meaning,
            None => explained(shown, names)?,
        },
    };
    shown.write(&text)?;
    Ok(Exit::Success)
}

/// Every rule: a line each, or the whole tables for programs.
fn all(shown: &Shown<Format>) -> anyhow::Result<String> {
    Ok(match shown.format() {
        Format::Text => rules::list(shown.columns()),
        Format::Json => {
            let all = TABLES.iter().flat_map(|table| table.rules.iter().copied());
            rules::json(&all.collect::<Vec<&Rule>>())?
        }
        Format::Markdown => rules::markdown_list(),
    })
}

/// What several words mean together, such as `in flight`.
fn phrase(shown: &Shown<Format>, words: &[String]) -> Option<String> {
    let columns = shown.columns().min(TEXT_COLUMNS);
    let is_phrase = words.len() > 1 && shown.format() == Format::Text;
    is_phrase.then(|| glossary::meaning(&words.join(" "), columns))?
}

/// What each of the names means. Documents hold rules, texts also words of answers.
fn explained(shown: &Shown<Format>, names: &[String]) -> anyhow::Result<String> {
    let columns = shown.columns().min(TEXT_COLUMNS);
    let mut texts = Vec::new();
    let mut found = Vec::new();
    for name in names {
        let of_name = match (named(name), shown.format()) {
            (Ok(of_name), _) => of_name,
            (Err(unknown), Format::Text) => {
                texts.push(glossary::meaning(name, columns).ok_or(unknown)?);
                continue;
            }
            (Err(unknown), _) => return Err(unknown.into()),
        };
        texts.extend(of_name.iter().map(|rule| rules::describe(rule, columns)));
        found.extend(of_name);
    }
    Ok(match shown.format() {
        Format::Text => texts.join("\n"),
        Format::Json => rules::json(&found)?,
        Format::Markdown => rules::markdown(&found),
    })
}

/// Columns of prose; longer lines are hard to read.
pub(crate) const TEXT_COLUMNS: usize = 80;

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
    let problem =
        format!("no rule or word is called '{name}'{hint}\nhelp: `fathom explain` lists all");
    Err(CommandError::Usage(problem))
}
