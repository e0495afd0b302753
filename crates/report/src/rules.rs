//! What a rule detects, how, its thresholds and what to do, as text.

use fathom_rules::{Parameter, Rule, TABLES, figure, threshold};

use crate::table::wrap;

/// Columns of an explanation.
const WIDTH: usize = 80;

/// The id, with the name where that is another.
pub fn heading(rule: &Rule) -> String {
    match rule.id == rule.name {
        true => rule.id.to_owned(),
        false => format!("{} {}", rule.id, rule.name),
    }
}

/// All rules, table by table.
pub fn list() -> String {
    let line = |rule: &&Rule| match rule.id == rule.name {
        true => format!("{:<27} {}\n", rule.id, rule.title),
        false => format!("{:<4} {:<22} {}\n", rule.id, rule.name, rule.title),
    };
    let mut text = String::new();
    for table in TABLES {
        let lines: String = table.rules.iter().map(line).collect();
        text += &format!("{}\n{lines}\n", table.title);
    }
    text += "`fathom explain ID` says how a rule works and what to do about it.\n";
    text
}

/// Everything that the table says of a rule.
pub fn describe(rule: &Rule) -> String {
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
        ("Read from", rule.read_from.join(", ")),
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
    let line = |parameter: &Parameter| {
        let source = match parameter.source == rule.source {
            true => String::new(),
            false => format!(" ({})", parameter.source),
        };
        format!("{}: {}{source}", parameter.means, figure(parameter))
    };
    let lines: Vec<String> = rule.parameters.iter().map(line).collect();
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    use fathom_rules::find;

    use super::*;

    #[test]
    fn every_rule_is_listed_and_explained() {
        let list = list();
        for rule in TABLES.iter().flat_map(|table| table.rules) {
            assert!(
                list.lines().any(|line| line.starts_with(rule.id)),
                "{}",
                rule.id
            );
            let texts: Vec<String> = find(rule.id).into_iter().map(describe).collect();
            let text = texts.concat();
            assert!(text.contains(rule.title), "{text}");
            for heading in ["What it finds", "How", "Thresholds", "What to do", "Source"] {
                assert!(
                    text.contains(&format!("\n{heading}\n  ")),
                    "{heading}: {text}"
                );
            }
        }
    }

    #[test]
    fn further_numbers_come_with_unit_and_source() {
        let text = describe(fathom_rules::network::RATE_LIMIT);
        let text = text.split_whitespace().collect::<Vec<&str>>().join(" ");
        assert!(
            text.contains("reach the same rate: 1.06 times (fathom"),
            "{text}"
        );
    }
}
