//! The rules as a file for Prometheus
//! (prometheus.io/docs/prometheus/latest/configuration/alerting_rules).

use std::fmt::Write as _;

use fathom_rules::Rule;
use fathom_rules::alarm::TABLE;

/// A rules file with a group for each exporter. Rules that no exporter's
/// metrics can express are named in comments.
pub fn prometheus_rules() -> String {
    let mut out = format!(
        "# Written by `fathom alarms --format prometheus` from version {} of its table.\n\
         # The thresholds and their sources: `fathom explain ID`.\n",
        TABLE.version
    );
    let of = |rule: &&Rule| rule.prometheus.map(|p| p.exporter);
    let mut exporters: Vec<&str> = TABLE.rules.iter().filter_map(of).collect();
    exporters.sort();
    exporters.dedup();
    for rule in TABLE.rules.iter().filter(|rule| rule.prometheus.is_none()) {
        let _ = writeln!(out, "# No exporter tells {}: {}", rule.id, rule.title);
    }
    out.push_str("groups:\n");
    for exporter in exporters {
        let _ = writeln!(
            out,
            "  - name: fathom-{}\n    rules:",
            exporter.replace('_', "-")
        );
        for rule in TABLE.rules {
            let expression = rule.prometheus.filter(|p| p.exporter == exporter);
            if let Some(expression) = expression {
                one(&mut out, rule, expression.expr);
            }
        }
    }
    out
}

fn one(out: &mut String, rule: &Rule, expression: &str) {
    let expression = expression.replace("{threshold}", &rule.limit().to_string());
    let name: String = rule.id.split('-').map(capital).collect();
    let _ = writeln!(out, "      - alert: Fathom{name}");
    let _ = writeln!(out, "        expr: {}", quoted(&expression));
    if rule.for_seconds > 0 {
        let _ = writeln!(out, "        for: {}s", rule.for_seconds);
    }
    let _ = writeln!(
        out,
        "        labels:\n          severity: {}",
        rule.gravity().name()
    );
    let _ = writeln!(out, "        annotations:");
    let _ = writeln!(out, "          summary: {}", quoted(rule.title));
    let _ = writeln!(out, "          description: {}", quoted(rule.detects));
    let _ = writeln!(out, "          remedy: {}", quoted(rule.remedy));
}

fn capital(word: &str) -> String {
    let mut letters = word.chars();
    letters.next().map_or(String::new(), |first| {
        first.to_uppercase().chain(letters).collect()
    })
}

/// A YAML string in single quotes, in which only they are special.
fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', "''"))
}
