//! The report of a standard as text.

use fathom_model::figure::Throughput;
use fathom_model::view::plot::Plot;
use fathom_model::view::{ReportPart, StandardReport, View};

use super::page::{Page, Tone};
use super::plot;
use crate::table::{Align, pad, wrap};
use crate::view::text::table;

/// Columns of the names of facts and figures.
const NAME_WIDTH: usize = 18;
const WINDOW_WIDTH: usize = 30;

pub(super) fn write(page: &mut Page, view: &View, report: &StandardReport, throughput: Throughput) {
    let title = page.paint(&view.title, Tone::Strong);
    page.line(&title);
    page.paragraph(0, 2, &format!("{}.", report.claim));
    page.blank();
    for requirement in &report.requirements {
        let (sign, tone) = match requirement.kept {
            true => ("kept", Tone::Good),
            false => ("NOT ", Tone::Warning),
        };
        let text = format!("{}: {}", requirement.name, requirement.evidence);
        let sign = page.paint(sign, tone);
        hanging(page, &format!("  {sign}  "), 8, &text);
    }
    page.blank();
    for fact in &report.facts {
        let name = pad(&format!("{}:", fact.name), NAME_WIDTH, Align::Left);
        hanging(page, &name, NAME_WIDTH, &fact.value);
    }
    page.blank();
    for part in report.parts.shown(throughput) {
        write_part(page, part, throughput);
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

fn write_part(page: &mut Page, part: &ReportPart, throughput: Throughput) {
    let name = part
        .name
        .as_ref()
        .map_or(String::new(), |n| format!("{n}: "));
    let headline = page.paint(&format!("{name}{}", part.headline), Tone::Strong);
    page.line(&headline);
    for figure in &part.figures {
        let name = format!("  {}:", figure.name);
        let name = pad(&name, WINDOW_WIDTH + 2, Align::Left);
        hanging(page, &name, WINDOW_WIDTH + 2, &figure.value);
    }
    page.blank();
    if let Some(convergence) = part.charts.first() {
        page.line(&convergence.title);
        page.block(&plot::draw(&tracked_only(convergence), page.width));
        page.blank();
    }
    let shown = if page.verbose { part.tables.len() } else { 1 };
    for of in part.tables.iter().take(shown) {
        if let Some(title) = &of.title {
            page.line(title.shown(throughput));
        }
        page.table(&table(of, page.width, throughput));
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
