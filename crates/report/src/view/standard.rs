//! The report of a standard as Markdown.

use std::fmt::Write as _;

use fathom_model::view::{StandardReport, Table, View};

use super::estimates::{UNIT, shown};
use super::shown_cell;
use crate::escape::escape_markdown as escape;

/// Appends the report.
pub(crate) fn push_markdown(out: &mut String, view: &View, report: &StandardReport) {
    let _ = writeln!(out, "**{}**\n", escape(&view.title));
    let _ = writeln!(out, "{}.\n", escape(&report.claim));
    out.push_str("| requirement | kept | what was done |\n|---|---|---|\n");
    for requirement in &report.requirements {
        let kept = if requirement.kept { "yes" } else { "**no**" };
        let _ = writeln!(
            out,
            "| {} | {kept} | {} |",
            escape(&requirement.name),
            escape(&requirement.evidence)
        );
    }
    out.push_str("\n| reported | |\n|---|---|\n");
    for fact in &report.facts {
        let _ = writeln!(out, "| {} | {} |", escape(&fact.name), escape(&fact.value));
    }
    out.push('\n');
    for part in report.parts.shown(UNIT) {
        let name = part
            .name
            .as_ref()
            .map_or(String::new(), |n| format!("{n}: "));
        let _ = writeln!(out, "**{}{}**\n", escape(&name), escape(&part.headline));
        for figure in &part.figures {
            let _ = writeln!(out, "- {}: {}", escape(&figure.name), escape(&figure.value));
        }
        out.push('\n');
        for table in &part.tables {
            push_table(out, table);
        }
    }
}

fn push_table(out: &mut String, table: &Table) {
    let heads: Vec<String> = table
        .columns
        .iter()
        .map(|c| escape(shown(&c.head)))
        .collect();
    let title = table.title.as_ref().map_or("", shown);
    let _ = writeln!(
        out,
        "{}:\n\n| {} |\n|{}",
        escape(title),
        heads.join(" | "),
        "--:|".repeat(heads.len())
    );
    for row in &table.rows {
        let cells: Vec<String> = row.iter().map(|cell| escape(&shown_cell(cell))).collect();
        let _ = writeln!(out, "| {} |", cells.join(" | "));
    }
    out.push('\n');
}
