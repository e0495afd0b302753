//! A test of the SNIA specification as text.

use fathom_model::view::plot::Plot;

use super::page::{Page, Tone};
use super::plot;
use crate::snia::{Matrix, PartView, SniaView};
use crate::table::{Align, Table, pad, wrap};

/// Columns of the names of facts and figures.
const NAME_WIDTH: usize = 18;
const WINDOW_WIDTH: usize = 30;

pub(super) fn write(page: &mut Page, view: &SniaView<'_>) {
    let title = page.paint(&view.title, Tone::Strong);
    page.line(&title);
    page.paragraph(0, 2, &format!("{}.", view.claim));
    page.blank();
    for requirement in view.requirements {
        let (sign, tone) = match requirement.kept {
            true => ("kept", Tone::Good),
            false => ("NOT ", Tone::Warning),
        };
        let text = format!("{}: {}", requirement.name, requirement.evidence);
        let sign = page.paint(sign, tone);
        hanging(page, &format!("  {sign}  "), 8, &text);
    }
    page.blank();
    for fact in view.facts {
        let name = pad(&format!("{}:", fact.name), NAME_WIDTH, Align::Left);
        hanging(page, &name, NAME_WIDTH, &fact.value);
    }
    page.blank();
    for part in &view.parts {
        write_part(page, part);
    }
}

/// Wrapped text after some words of a known width.
fn hanging(page: &mut Page, first: &str, width: usize, text: &str) {
    let room = page.width.saturating_sub(width);
    for (i, line) in wrap(text, room).iter().enumerate() {
        let indent = " ".repeat(width);
        let before = if i == 0 { first } else { &indent };
        page.line(&format!("{before}{line}"));
    }
}

fn write_part(page: &mut Page, part: &PartView) {
    let name = part
        .name
        .as_ref()
        .map_or(String::new(), |n| format!("{n}: "));
    let headline = page.paint(&format!("{name}{}", part.headline), Tone::Strong);
    page.line(&headline);
    for (name, value) in &part.window {
        let name = pad(&format!("  {name}:"), WINDOW_WIDTH + 2, Align::Left);
        hanging(page, &name, WINDOW_WIDTH + 2, value);
    }
    page.blank();
    if let Some(convergence) = part.plots.first() {
        page.line(&convergence.title);
        page.block(&plot::draw(&tracked_only(convergence), page.width));
        page.blank();
    }
    let shown = if page.verbose { part.tables.len() } else { 1 };
    for matrix in part.tables.iter().take(shown) {
        page.line(&matrix.title);
        page.block(&table(matrix).render());
        page.blank();
    }
}

/// Eight lines of characters would hide one another.
fn tracked_only(convergence: &Plot) -> Plot {
    let mut plot = convergence.clone();
    if plot.series.len() > 2 {
        plot.series.truncate(1);
    }
    plot
}

fn table(matrix: &Matrix) -> Table {
    let heads = matrix.head.iter().map(|head| (head.clone(), Align::Right));
    let mut table = Table::new(heads);
    for row in &matrix.rows {
        table.row(row.iter().cloned());
    }
    table
}
