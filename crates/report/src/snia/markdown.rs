//! The report as Markdown.

use std::fmt::Write as _;

use super::SniaView;
use crate::escape::escape_markdown as escape;

/// Appends the report.
pub(crate) fn push(out: &mut String, view: &SniaView<'_>) {
    let _ = writeln!(out, "**{}**\n", escape(&view.title));
    let _ = writeln!(out, "{}.\n", escape(view.claim));
    out.push_str("| requirement | kept | what was done |\n|---|---|---|\n");
    for requirement in view.requirements {
        let kept = if requirement.kept { "yes" } else { "**no**" };
        let _ = writeln!(
            out,
            "| {} | {kept} | {} |",
            escape(&requirement.name),
            escape(&requirement.evidence)
        );
    }
    out.push_str("\n| reported | |\n|---|---|\n");
    for fact in view.facts {
        let _ = writeln!(out, "| {} | {} |", escape(&fact.name), escape(&fact.value));
    }
    out.push('\n');
    for part in &view.parts {
        let name = part
            .name
            .as_ref()
            .map_or(String::new(), |n| format!("{n}: "));
        let _ = writeln!(out, "**{}{}**\n", escape(&name), escape(&part.headline));
        for (name, value) in &part.window {
            let _ = writeln!(out, "- {}: {}", escape(name), escape(value));
        }
        out.push('\n');
        for matrix in &part.tables {
            let head: Vec<String> = matrix.head.iter().map(|h| escape(h)).collect();
            let _ = writeln!(
                out,
                "{}:\n\n| {} |\n|{}",
                escape(&matrix.title),
                head.join(" | "),
                "--:|".repeat(head.len())
            );
            for row in &matrix.rows {
                let cells: Vec<String> = row.iter().map(|c| escape(c)).collect();
                let _ = writeln!(out, "| {} |", cells.join(" | "));
            }
            out.push('\n');
        }
    }
}
