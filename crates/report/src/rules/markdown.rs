//! Rules for a ticket or a wiki that takes Markdown.

use fathom_rules::{Rule, TABLES};

use super::{heading, parts};
use crate::diagnosis::escaped;

/// All rules, a table for each table.
pub fn markdown_list() -> String {
    let mut out = String::from("# Rules of fathom\n");
    for table in TABLES {
        out += &format!(
            "\n## {}\n\n| rule | what |\n|---|---|\n",
            escaped(table.title)
        );
        for rule in table.rules {
            out += &format!(
                "| {} | {} |\n",
                escaped(&heading(rule)),
                escaped(rule.title)
            );
        }
    }
    out
}

/// Everything that the table says of these rules.
pub fn markdown(rules: &[&Rule]) -> String {
    let one = |rule: &&Rule| {
        let mut out = format!("# {}: {}\n", escaped(&heading(rule)), escaped(rule.title));
        if let Some(severity) = rule.severity {
            out += &format!("\nSeverity: {}\n", severity.name());
        }
        for (heading, body) in parts(rule) {
            out += &format!("\n## {heading}\n\n");
            let lines: Vec<&str> = body.lines().collect();
            let mark = if lines.len() > 1 { "- " } else { "" };
            for line in lines {
                out += &format!("{mark}{}\n", escaped(line));
            }
        }
        if let Some(metrics) = &rule.prometheus {
            let expression = super::expression(rule, metrics);
            out += &format!(
                "\n## Prometheus ({})\n\n```\n{expression}\n```\n",
                metrics.exporter
            );
        }
        out
    };
    let rules: Vec<String> = rules.iter().map(one).collect();
    rules.join("\n")
}
