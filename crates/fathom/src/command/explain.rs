//! `fathom explain`: what a check means and what to do about it.

use clap::Args;
use fathom_analysis::{Check, check_table, check_table_version, find_check, suggest_checks};
use fathom_report::table::wrap;

use crate::exit::Exit;
use crate::present;

/// Explain a check: what it detects, how, its thresholds and what to do.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  fathom explain V01\n  fathom explain          lists all checks"
)]
pub(crate) struct Explain {
    /// Id or name of the check.
    pub(crate) check: Option<String>,
}

/// Columns of an explanation.
const WIDTH: usize = 80;

pub(crate) fn run(explain: &Explain) -> anyhow::Result<Exit> {
    let Some(name) = &explain.check else {
        present::write_stdout(&list())?;
        return Ok(Exit::Success);
    };
    match find_check(name) {
        Some(check) => {
            present::write_stdout(&describe(check))?;
            Ok(Exit::Success)
        }
        None => {
            let nearest: Vec<String> = suggest_checks(name)
                .iter()
                .map(|check| format!("{} {}", check.id, check.name))
                .collect();
            let hint = match nearest.is_empty() {
                true => String::new(),
                false => format!("; did you mean {}?", nearest.join(" or ")),
            };
            present::complain(&format!(
                "there is no check '{name}'{hint}; `fathom explain` lists them all"
            ));
            Ok(Exit::Usage)
        }
    }
}

fn list() -> String {
    let line = |check: &Check| format!("{:<4} {:<22} {}\n", check.id, check.name, check.title);
    let mut text: String = check_table().iter().map(line).collect();
    text += "\n`fathom explain ID` says how a check works and what to do about it.\n";
    text
}

fn describe(check: &Check) -> String {
    let mut text = format!("{} {}: {}\n", check.id, check.name, check.title);
    for (heading, body) in [
        ("What it finds", check.detects.clone()),
        ("How", check.computed.clone()),
        ("Thresholds", thresholds(check)),
        ("What to do", check.remedy.clone()),
        ("Source", check.source.clone()),
    ] {
        text += &format!("\n{heading}\n");
        for line in wrap(&body, WIDTH - 2) {
            text += &format!("  {line}\n");
        }
    }
    text += &format!(
        "\nTable version {}, check since fathom {}\n",
        check_table_version(),
        check.since
    );
    text
}

fn thresholds(check: &Check) -> String {
    let word = if check.below { "below" } else { "above" };
    let unit = &check.unit;
    let parts: Vec<String> = [
        ("noted", check.info),
        ("a caveat", check.caveat),
        ("invalid", check.invalid),
    ]
    .into_iter()
    .filter_map(|(what, limit)| limit.map(|limit| format!("{word} {limit} ({unit}): {what}")))
    .chain(
        check
            .upper
            .map(|limit| format!("above {limit} ({unit}): a caveat")),
    )
    .collect();
    match parts.is_empty() {
        true => format!("none: a fact ({unit})"),
        false => parts.join("; "),
    }
}
