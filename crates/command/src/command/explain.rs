//! `fathom explain`: what a rule means and what to do about it.

use clap::Args;
pub(crate) use fathom_report::rules::describe;
use fathom_report::rules::{heading, list};
use fathom_rules::{find, suggest};

use crate::exit::{CommandError, Exit};
use crate::present;

/// Explain a rule: what it detects, thresholds, what to do.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  fathom explain V01\n  fathom explain          lists all rules"
)]
pub(crate) struct Explain {
    /// Id or name of the rule: of a check, an alarm, a remark, a decision.
    pub(crate) rule: Option<String>,
}

pub(crate) fn run(explain: &Explain) -> anyhow::Result<Exit> {
    let Some(name) = &explain.rule else {
        present::write_stdout(&list())?;
        return Ok(Exit::Success);
    };
    let found = find(name);
    if !found.is_empty() {
        let texts: Vec<String> = found.into_iter().map(describe).collect();
        present::write_stdout(&texts.join("\n"))?;
        return Ok(Exit::Success);
    }
    let nearest: Vec<String> = suggest(name).into_iter().map(heading).collect();
    let hint = match nearest.is_empty() {
        true => String::new(),
        false => format!("; did you mean {}?", nearest.join(" or ")),
    };
    let problem =
        format!("'{name}' names none of the rules{hint}; `fathom explain` lists them all");
    Err(CommandError::Usage(problem).into())
}
