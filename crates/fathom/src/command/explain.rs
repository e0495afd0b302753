//! `fathom explain`: what a rule means and what to do about it.

use clap::Args;
use fathom_report::table::wrap;
use fathom_rules::{Rule, TABLES, check, figure, find, suggest, threshold};

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
    present::complain(&format!(
        "there is no check '{name}'{hint}; `fathom explain` lists them all"
    ));
    Ok(Exit::Usage)
}

/// The id, with the name where that is another.
fn heading(rule: &Rule) -> String {
    match rule.id == rule.name {
        true => rule.id.to_owned(),
        false => format!("{} {}", rule.id, rule.name),
    }
}

fn list() -> String {
    let line = |rule: &&Rule| format!("{:<4} {:<22} {}\n", rule.id, rule.name, rule.title);
    let mut text: String = check::TABLE.rules.iter().map(line).collect();
    text += "\n`fathom explain ID` says how a check works and what to do about it.\n";
    text
}

/// Everything that the table says of a rule.
pub(crate) fn describe(rule: &Rule) -> String {
    let severity = rule
        .severity
        .map(|severity| format!(" ({})", severity.name()));
    let mut text = format!(
        "{}{}: {}\n",
        heading(rule),
        severity.unwrap_or_default(),
        rule.title
    );
    for (heading, body) in [
        ("What it finds", rule.detects.to_owned()),
        ("How", rule.method.to_owned()),
        ("Told by", rule.told_by.join(", ")),
        ("Thresholds", thresholds(rule)),
        ("Other numbers", parameters(rule)),
        ("What to do", rule.remedy.to_owned()),
        ("Source", rule.source.to_owned()),
    ] {
        if body.is_empty() {
            continue;
        }
        text += &format!("\n{heading}\n");
        for line in body.lines().flat_map(|line| wrap(line, WIDTH - 2)) {
            text += &format!("  {line}\n");
        }
    }
    if let Some(prometheus) = &rule.prometheus {
        let limit = rule.threshold.unwrap_or(0.0).to_string();
        let expression = prometheus.expr.replace("{threshold}", &limit);
        text += &format!("\nPrometheus ({})\n  {expression}\n", prometheus.exporter);
    }
    let table = TABLES.iter().find(|table| table.name == rule.table);
    if let (Some(table), Some(since)) = (table, rule.since) {
        text += &format!(
            "\nTable version {}, check since fathom {since}\n",
            table.version
        );
    }
    text
}

fn thresholds(rule: &Rule) -> String {
    if rule.axis.is_none() {
        return threshold(rule);
    }
    let word = if rule.below { "below" } else { "above" };
    let unit = &rule.unit;
    let parts: Vec<String> = [
        ("noted", rule.info),
        ("a caveat", rule.caveat),
        ("invalid", rule.invalid),
    ]
    .into_iter()
    .filter_map(|(what, limit)| limit.map(|limit| format!("{word} {limit} ({unit}): {what}")))
    .chain(
        rule.upper
            .map(|limit| format!("above {limit} ({unit}): a caveat")),
    )
    .collect();
    parts.join("; ")
}

/// Each on a line, with its source where that is not the one of the rule.
fn parameters(rule: &Rule) -> String {
    let line = |parameter: &fathom_rules::Parameter| {
        let source = match parameter.source == rule.source {
            true => String::new(),
            false => format!(" ({})", parameter.source),
        };
        format!("{}: {}{source}", parameter.means, figure(parameter))
    };
    let lines: Vec<String> = rule.parameters.iter().map(line).collect();
    lines.join("\n")
}
