//! `fathom explain`: what a rule means and what to do about it.

use clap::Args;
use fathom_report::rules;
use fathom_rules::{Rule, TABLES, find, suggest};

use crate::document_formats::document_formats;
use crate::exit::{CommandError, Exit};
use crate::shown::Shown;

/// Explain a rule: what it detects, thresholds, what to do.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  fathom explain V01
  fathom explain                     Lists all rules
  fathom explain V01 --format markdown
  fathom explain --json              All tables, for programs (schema fathom.rules/1)")]
pub(crate) struct Explain {
    /// Id or name of the rule: of a check, an alarm, a remark, a decision.
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
            let found = named(name)?;
            match shown.format() {
                Format::Text => {
                    let columns = shown.columns().min(TEXT_COLUMNS);
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
