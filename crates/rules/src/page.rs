//! The pages of documentation, written from the tables.

use std::fmt::Write as _;

use crate::rule::{Grade, Rule, Table};
use crate::words::{figure, graded, kind, threshold};
use crate::{alarm, check, class, cluster, diagnosis, method, network, stack};

/// Each table with the name of its page in `docs/reference/` and what stands at its head.
pub const PAGES: [(&Table, &str, &str); 8] = [
    (
        &check::TABLE,
        "checks.md",
        include_str!("../pages/check.md"),
    ),
    (
        &alarm::TABLE,
        "alarms.md",
        include_str!("../pages/alarm.md"),
    ),
    (&stack::TABLE, "stack.md", include_str!("../pages/stack.md")),
    (
        &cluster::TABLE,
        "clusters.md",
        include_str!("../pages/cluster.md"),
    ),
    (
        &method::TABLE,
        "methods.md",
        include_str!("../pages/method.md"),
    ),
    (
        &class::TABLE,
        "classes.md",
        include_str!("../pages/class.md"),
    ),
    (
        &network::TABLE,
        "network-rules.md",
        include_str!("../pages/network.md"),
    ),
    (
        &diagnosis::TABLE,
        "diagnosis-rules.md",
        include_str!("../pages/diagnosis.md"),
    ),
];

const GRADES: [Grade; 3] = [Grade::Info, Grade::Caveat, Grade::Invalid];

/// Every rule of a table with its method, thresholds and source.
pub fn page(table: &Table, head: &str) -> String {
    let mut page = format!(
        "<!-- Written by fathom from crates/rules/tables/{}.toml. Do not edit; run\n     \
         UPDATE_DOCS=1 cargo test -p fathom-rules --lib -->\n{head}\n",
        table.name
    );
    let _ = writeln!(page, "This is version {} of the table.\n", table.version);
    let about = table.rules.first().map_or("", |rule| kind(rule).0);
    let _ = writeln!(
        page,
        "| rule | {about} | what | threshold |\n|---|---|---|---|"
    );
    for rule in table.rules {
        let _ = writeln!(
            page,
            "| [{}](#{}) | {} | {} | {} |",
            heading(rule),
            heading(rule).to_ascii_lowercase().replace(' ', "-"),
            kind(rule).1,
            rule.title,
            in_short(rule)
        );
    }
    for rule in table.rules {
        section(&mut page, rule);
    }
    if !table.missing.is_empty() {
        page.push_str("\n## What is not checked, and why\n\n");
    }
    for missing in table.missing {
        let _ = writeln!(page, "- **{}**. {}", missing.what, missing.reason);
    }
    page
}

/// The id, with the name where that is another.
fn heading(rule: &Rule) -> String {
    match rule.id == rule.name {
        true => rule.id.to_owned(),
        false => format!("{} {}", rule.id, rule.name),
    }
}

/// All thresholds on one line.
fn in_short(rule: &Rule) -> String {
    if rule.axis.is_none() {
        return threshold(rule);
    }
    let mut parts: Vec<String> = GRADES
        .iter()
        .filter_map(|grade| Some(format!("{} {}", grade.name(), graded(rule, *grade)?)))
        .collect();
    // Where a parameter alone leads to a grade.
    for grade in GRADES
        .into_iter()
        .filter(|grade| graded(rule, *grade).is_none())
    {
        let of = rule.parameters.iter().find(|p| p.grade == Some(grade));
        parts.extend(of.map(|p| format!("{} {} {}", grade.name(), figure(p), p.means)));
    }
    format!("{} ({})", parts.join(", "), rule.unit)
}

fn section(page: &mut String, rule: &Rule) {
    let (about, kind) = kind(rule);
    let _ = writeln!(page, "\n## {}\n", heading(rule));
    let _ = writeln!(page, "**{}** ({about}: {kind})\n", rule.title);
    let _ = writeln!(page, "Detects: {}\n", rule.detects);
    let _ = writeln!(page, "Computed: {}\n", rule.method);
    for (name, value) in facts(rule) {
        let _ = writeln!(page, "- {name}: {value}");
    }
    let _ = writeln!(page, "\nRemedy: {}\n", rule.remedy);
    let _ = writeln!(page, "Source: {}", rule.source);
}

fn facts(rule: &Rule) -> Vec<(String, String)> {
    let mut facts = Vec::new();
    let mut add = |name: &str, value: String| facts.push((name.to_owned(), value));
    if !rule.read_from.is_empty() {
        add("read from", rule.read_from.join(", "));
    }
    if rule.axis.is_none() {
        add("threshold", threshold(rule));
    } else {
        add("unit", rule.unit.to_owned());
    }
    for grade in GRADES {
        if let Some(words) = graded(rule, grade) {
            add(grade.name(), words);
        }
    }
    for parameter in rule.parameters {
        let name = match parameter.grade {
            Some(grade) => format!("{}, {}", grade.name(), parameter.means),
            None => parameter.means.to_owned(),
        };
        let source = match parameter.source == rule.source {
            true => String::new(),
            false => format!(" ({})", parameter.source),
        };
        add(&name, figure(parameter) + &source);
    }
    if let Some(prometheus) = &rule.prometheus {
        add(
            "Prometheus",
            format!("from the metrics of {}", prometheus.exporter),
        );
    }
    if !rule.required.is_empty() {
        let kinds: Vec<&str> = rule.required.iter().map(|kind| kind.words()).collect();
        add("required on", kinds.join(", "));
    }
    if let Some(needs) = rule.needs {
        add("needs", needs.to_owned());
    }
    if let Some(since) = rule.since {
        add("since", since.to_owned());
    }
    facts
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::TABLES;

    #[test]
    fn the_committed_pages_are_the_tables() {
        for (table, name, head) in PAGES {
            let page = page(table, head);
            let path = format!("{}/../../docs/reference/{name}", env!("CARGO_MANIFEST_DIR"));
            if std::env::var_os("UPDATE_DOCS").is_some() {
                std::fs::write(&path, &page).unwrap();
            }
            let committed = std::fs::read_to_string(&path).unwrap_or_default();
            assert!(
                committed == page,
                "docs/reference/{name} is out of date; run UPDATE_DOCS=1 cargo test -p fathom-rules \
                 --lib"
            );
        }
        assert_eq!(PAGES.len(), TABLES.len(), "every table has a page");
    }
}
