//! A cross-check as text and as JSON.

use fathom_model::crosscheck::{Agreement, ComparedFigure, CrossFigure, Crosscheck, CrosscheckRow};
use fathom_model::figure::Throughput;
use fathom_model::run::RunState;

use crate::Result;
use crate::comparison::{change_text, interval_text, side_value};
use crate::table::{Align, Table};
use crate::text::TextOptions;
use crate::text::page::{Page, Tone};

/// The cross-check as text, ended by a newline.
pub fn render(crosscheck: &Crosscheck, options: &TextOptions) -> String {
    let mut page = Page::new(options);
    page.paragraph(
        0,
        2,
        &format!(
            "fathom and {} in turns, {} pairs a row: fathom against {}.",
            crosscheck.peer.version,
            crosscheck.planned_pairs,
            peer(crosscheck)
        ),
    );
    for row in &crosscheck.rows {
        page.blank();
        write_row(&mut page, crosscheck, row, options);
    }
    page.blank();
    outcome(&mut page, crosscheck);
    page.field("Run", &crosscheck.run);
    if let Some(documents) = &crosscheck.documents {
        page.field("Kept in", documents);
    }
    page.finish()
}

/// The cross-check as one JSON document, indented, ended by a newline.
///
/// # Errors
/// Only when serialisation itself fails.
pub fn json(crosscheck: &Crosscheck) -> Result<String> {
    let mut text = serde_json::to_string_pretty(crosscheck)?;
    text.push('\n');
    Ok(text)
}

/// The JSON Schema (draft 2020-12) of [`json`]'s document, indented.
///
/// # Errors
/// Only when serialisation itself fails.
pub fn schema() -> Result<String> {
    crate::json::schema_of::<Crosscheck>(fathom_model::CROSSCHECK_SCHEMA, "fathom cross-check")
}

/// `fio`, without its version.
fn peer(crosscheck: &Crosscheck) -> &str {
    let version = &crosscheck.peer.version;
    version.split('-').next().unwrap_or(version)
}

/// What a figure is called: `ops/s`, `read p99`, `CPU per op`.
fn name(figure: &ComparedFigure) -> String {
    let name = match figure.figure {
        CrossFigure::OpsPerSecond => "ops/s",
        CrossFigure::BytesPerSecond => "throughput",
        CrossFigure::LatencyMean => "mean",
        CrossFigure::LatencyP50 => "p50",
        CrossFigure::LatencyP99 => "p99",
        CrossFigure::LatencyP999 => "p99.9",
        CrossFigure::CpuPerOp => "CPU per op",
    };
    let star = if figure.decides { " *" } else { "" };
    match figure.op {
        Some(op) => format!("{} {name}{star}", op.name()),
        None => format!("{name}{star}"),
    }
}

fn word(outcome: Agreement) -> &'static str {
    match outcome {
        Agreement::Agree => "agree",
        Agreement::Differ => "differ",
        Agreement::Inconclusive => "inconclusive",
    }
}

fn percent(margin: f64) -> String {
    format!("±{} %", (margin * 100.0).round() / 100.0)
}

fn write_row(page: &mut Page, crosscheck: &Crosscheck, row: &CrosscheckRow, o: &TextOptions) {
    page.paragraph(0, 2, &format!("{} on {}", row.label, row.target));
    let throughput = Throughput::decimal(o.decimal_units);
    let mut table = Table::new([
        ("", Align::Left),
        ("fathom", Align::Right),
        (peer(crosscheck), Align::Right),
        ("change", Align::Right),
        ("95 % interval", Align::Right),
        ("margin", Align::Right),
        ("outcome", Align::Left),
    ])
    .indent(2);
    for figure in &row.figures {
        table.row([
            name(figure),
            side_value(&figure.fathom, throughput),
            side_value(&figure.peer, throughput),
            change_text(&figure.ratio),
            interval_text(&figure.ratio),
            percent(figure.margin_percent),
            match figure.figure {
                // More or less CPU is no disagreement.
                CrossFigure::CpuPerOp => String::new(),
                _ => word(figure.outcome).to_owned(),
            },
        ]);
    }
    page.block(&table.render());
    for figure in row.figures.iter().filter(|f| f.fathom.value.is_none()) {
        let reason = figure.ratio.reason.as_deref().unwrap_or("not measured");
        page.paragraph(2, 4, &format!("{}: n/a: {reason}", name(figure)));
    }
    for remark in &row.remarks {
        page.paragraph(2, 4, remark);
    }
    if row.outcome == Agreement::Agree && !page.verbose {
        return;
    }
    list(page, "Seen:", &row.causes);
    list(
        page,
        &format!("{} does otherwise:", peer(crosscheck)),
        &row.differences,
    );
}

fn list(page: &mut Page, title: &str, items: &[String]) {
    if items.is_empty() {
        return;
    }
    page.paragraph(2, 4, title);
    for item in items {
        page.paragraph(4, 6, &format!("- {item}"));
    }
}

fn outcome(page: &mut Page, crosscheck: &Crosscheck) {
    let (first, tone) = match crosscheck.outcome {
        Agreement::Agree => ("the tools agree", Tone::Good),
        Agreement::Differ => ("the tools differ", Tone::Bad),
        Agreement::Inconclusive => ("not decided", Tone::Warning),
    };
    let text = format!(
        "{first}: rates within {} and p99 within {} (* decides)",
        percent(crosscheck.rate_margin_percent),
        percent(crosscheck.latency_margin_percent)
    );
    let text = match crosscheck.outcome {
        Agreement::Agree => text,
        other => format!("{first}: {}", open(crosscheck, other)),
    };
    page.field_toned("Outcome", &text, Some((first, tone)));
    if crosscheck.state != RunState::Complete {
        let reason = crosscheck.reason.as_deref().unwrap_or("ended early");
        page.paragraph(10, 12, &format!("not all pairs were measured: {reason}"));
    }
}

/// The deciding figures with this outcome, and how many more pairs would tell.
fn open(crosscheck: &Crosscheck, outcome: Agreement) -> String {
    let rows = crosscheck.rows.iter();
    let figures = rows.flat_map(|row| row.figures.iter().map(move |figure| (row, figure)));
    let of: Vec<(&CrosscheckRow, &ComparedFigure)> = figures
        .filter(|(_, figure)| figure.decides && figure.outcome == outcome)
        .collect();
    if of.is_empty() {
        return "nothing could be compared".to_owned();
    }
    let words = |(row, figure): &(&CrosscheckRow, &ComparedFigure)| {
        let name = name(figure);
        let name = name.trim_end_matches(" *");
        let label = match crosscheck.rows.len() {
            1 => String::new(),
            _ => format!("{}: ", row.label),
        };
        let more = match (outcome, figure.more_pairs) {
            (Agreement::Inconclusive, Some(more)) => {
                format!(" (about {more} more pairs would decide)")
            }
            (Agreement::Inconclusive, None) if figure.ratio.value.is_some() => {
                " (no number of pairs is likely to decide)".to_owned()
            }
            _ => String::new(),
        };
        format!("{label}{name} {}{more}", change_text(&figure.ratio))
    };
    of.iter().map(words).collect::<Vec<_>>().join("; ")
}

#[cfg(test)]
#[path = "crosscheck_tests.rs"]
mod tests;
