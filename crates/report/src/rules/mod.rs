//! What a rule detects, how, its thresholds and what to do: as text, JSON and Markdown.

mod document;
mod markdown;

use fathom_rules::{Parameter, PrometheusRule, Rule, TABLES, figure, threshold};

pub use self::document::{json, schema};
pub use self::markdown::{markdown, markdown_list};
use crate::table::wrap;

/// The id, with the name where that is another.
pub fn heading(rule: &Rule) -> String {
    match rule.id == rule.name {
        true => rule.id.to_owned(),
        false => format!("{} {}", rule.id, rule.name),
    }
}

/// Columns of the names in the list.
const NAME_COLUMNS: usize = 27;

/// All rules, table by table.
pub fn list(width: usize) -> String {
    let line = |rule: &&Rule| {
        let name = match rule.id == rule.name {
            true => rule.id.to_owned(),
            false => format!("{:<4} {}", rule.id, rule.name),
        };
        let titles = wrap(rule.title, width.saturating_sub(NAME_COLUMNS + 1));
        let mut names = std::iter::once(name.as_str()).chain(std::iter::repeat(""));
        let lines = titles.iter().map(|title| {
            let name = names.next().unwrap_or_default();
            format!("{name:<NAME_COLUMNS$} {title}\n")
        });
        lines.collect::<String>()
    };
    let mut text = String::new();
    for table in TABLES {
        let lines: String = table.rules.iter().map(line).collect();
        text += &format!("{}\n{lines}\n", table.title);
    }
    let how = "`fathom explain ID` says how a rule works and what to do about it.";
    text += &wrap(how, width).join("\n");
    text + "\n"
}

/// Everything that the table says of a rule.
pub fn describe(rule: &Rule, width: usize) -> String {
    let severity = rule
        .severity
        .map(|severity| format!(" ({})", severity.name()));
    let first = format!(
        "{}{}: {}",
        heading(rule),
        severity.unwrap_or_default(),
        rule.title
    );
    let mut text = wrap(&first, width).join("\n") + "\n";
    for (heading, body) in parts(rule) {
        text += &format!("\n{heading}\n");
        for line in body.lines().flat_map(|line| wrap(line, width - 2)) {
            text += &format!("  {line}\n");
        }
    }
    if let Some(metrics) = &rule.prometheus {
        // On one line, to be copied.
        let expression = expression(rule, metrics);
        text += &format!("\nPrometheus ({})\n  {expression}\n", metrics.exporter);
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

/// The parts of an explanation that have something to say, each with its heading.
fn parts(rule: &Rule) -> impl Iterator<Item = (&'static str, String)> {
    [
        ("What it finds", rule.detects.to_owned()),
        ("How", rule.method.to_owned()),
        ("Read from", rule.read_from.join(", ")),
        ("Thresholds", thresholds(rule)),
        ("Other numbers", parameters(rule)),
        ("What to do", rule.remedy.to_owned()),
        ("Source", rule.source.to_owned()),
    ]
    .into_iter()
    .filter(|(_, body)| !body.is_empty())
}

/// The expression with the rule's threshold in it.
fn expression(rule: &Rule, metrics: &PrometheusRule) -> String {
    let limit = rule.threshold.unwrap_or(0.0).to_string();
    metrics.expr.replace("{threshold}", &limit)
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
        let list = list(80);
        for rule in TABLES.iter().flat_map(|table| table.rules) {
            assert!(
                list.lines().any(|line| line.starts_with(rule.id)),
                "{}",
                rule.id
            );
            let found = find(rule.id).into_iter();
            let text: String = found.map(|rule| describe(rule, 80)).collect();
            let words: Vec<&str> = text.split_whitespace().collect();
            assert!(words.join(" ").contains(rule.title), "{text}");
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
        let text = describe(fathom_rules::network::RATE_LIMIT, 80);
        let text = text.split_whitespace().collect::<Vec<&str>>().join(" ");
        assert!(
            text.contains("reach the same rate: 1.06 times (fathom"),
            "{text}"
        );
    }
    #[test]
    fn nothing_is_wider_than_the_terminal_except_what_is_copied() {
        for width in [60, 80] {
            let rules = TABLES.iter().flat_map(|table| table.rules);
            let texts = rules.map(|rule| {
                let text = describe(rule, width);
                let expression = text.find("\nPrometheus (").unwrap_or(text.len());
                text[..expression].to_owned()
            });
            for text in texts.chain([list(width)]) {
                let wide = text.lines().find(|line| {
                    let is_one_word = !line.trim().contains(' ');
                    line.chars().count() > width && !is_one_word
                });
                assert_eq!(wide, None, "{width}");
            }
        }
    }

    #[test]
    fn documents_have_every_rule_and_its_numbers() {
        let rules: Vec<&Rule> = TABLES
            .iter()
            .flat_map(|table| table.rules)
            .copied()
            .collect();
        let parsed: serde_json::Value = serde_json::from_str(&json(&rules).unwrap()).unwrap();
        assert_eq!(parsed["rules"].as_array().unwrap().len(), rules.len());
        let one: serde_json::Value = serde_json::from_str(&json(&find("V01")).unwrap()).unwrap();
        assert_eq!(one["schema"], "fathom.rules/1");
        let row = &one["rules"][0];
        assert_eq!(row["caveat"], fathom_rules::check::v01::CAVEAT);
        assert_eq!(
            (row["bad"].as_str(), row["axis"].as_str()),
            (Some("below"), Some("validity"))
        );
        let text = markdown(&find("V01"));
        assert!(
            text.starts_with("# V01 APP\\_VS\\_DEVICE\\_BYTES: "),
            "{text}"
        );
        assert!(text.contains("\n## What to do\n\n"), "{text}");
        assert!(markdown_list().contains("| V01 APP"), "{}", markdown_list());
    }
}
