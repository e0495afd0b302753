//! A cross-check as sections of figures, and what they come to.

use fathom_model::Estimate;
use fathom_model::crosscheck::{Agreement, ComparedFigure, CrossFigure, Crosscheck, CrosscheckRow};
use fathom_model::figure::Figure;
use fathom_model::figure::change::{change_text, interval_text};
use fathom_model::run::RunState;
use fathom_model::unit;
use fathom_model::view::{Cell, Column, Document, Field, List, Section, Table, Tone, UnitText};

/// The cross-check as every format shows it.
pub fn view(crosscheck: &Crosscheck) -> Document {
    let lead = format!(
        "fathom and {} in turns, {} a row: fathom against {}.",
        crosscheck.peer.version,
        unit::counted(crosscheck.planned_pairs.into(), "pair"),
        peer(crosscheck)
    );
    let mut fields = vec![outcome(crosscheck), Field::new("Run", &crosscheck.run)];
    let documents = crosscheck.documents.as_ref();
    fields.extend(documents.map(|documents| Field::new("Kept in", documents)));
    Document {
        lead,
        sections: crosscheck
            .rows
            .iter()
            .map(|row| section(crosscheck, row))
            .collect(),
        fields,
    }
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

fn section(crosscheck: &Crosscheck, row: &CrosscheckRow) -> Section {
    let missing = row.figures.iter().filter(|f| f.fathom.value.is_none());
    let missing = missing.map(|figure| {
        let reason = figure.ratio.reason.as_deref().unwrap_or("not measured");
        format!("{}: n/a: {reason}", name(figure))
    });
    let list = |title: String, items: &[String]| List {
        title,
        items: items.to_vec(),
    };
    Section {
        heading: format!("{} on {}", row.label, row.target),
        table: table(crosscheck, row),
        remarks: missing.chain(row.remarks.iter().cloned()).collect(),
        lists: vec![
            list("Seen:".to_owned(), &row.causes),
            list(
                format!("{} does otherwise:", peer(crosscheck)),
                &row.differences,
            ),
        ],
        // Where the tools agree nothing has to be explained.
        lists_on_demand: row.outcome == Agreement::Agree,
    }
}

fn table(crosscheck: &Crosscheck, row: &CrosscheckRow) -> Table {
    let cells = |figure: &ComparedFigure| -> Vec<Cell> {
        vec![
            name(figure).into(),
            side_value(&figure.fathom).into(),
            side_value(&figure.peer).into(),
            change_text(&figure.ratio).into(),
            interval_text(&figure.ratio).into(),
            percent(figure.margin_percent).into(),
            match figure.figure {
                // More or less CPU is no disagreement.
                CrossFigure::CpuPerOp => "",
                _ => word(figure.outcome),
            }
            .into(),
        ]
    };
    Table {
        columns: vec![
            Column::text(""),
            Column::number("fathom"),
            Column::number(peer(crosscheck)),
            Column::number("change"),
            Column::number("95 % interval"),
            Column::number("margin"),
            Column::text("outcome"),
        ],
        rows: row.figures.iter().map(cells).collect(),
        ..Table::default()
    }
}

/// A figure of one side: `12,300` or `84.2 µs`.
fn side_value(estimate: &Estimate) -> UnitText {
    UnitText::of(|throughput| Figure::of(estimate, throughput).value())
}

fn outcome(crosscheck: &Crosscheck) -> Field {
    let stressed = match crosscheck.outcome {
        Agreement::Agree => ("the tools agree", Tone::Good),
        Agreement::Differ => ("the tools differ", Tone::Bad),
        Agreement::Inconclusive => ("not decided", Tone::Warning),
    };
    let rest = match crosscheck.outcome {
        Agreement::Agree => format!(
            "rates within {} and p99 within {} (* decides)",
            percent(crosscheck.rate_margin_percent),
            percent(crosscheck.latency_margin_percent)
        ),
        other => open(crosscheck, other),
    };
    let early = (crosscheck.state != RunState::Complete).then(|| {
        let reason = crosscheck.reason.as_deref().unwrap_or("ended early");
        format!("not all pairs were measured: {reason}")
    });
    Field {
        name: "Outcome",
        text: format!("{}: {rest}", stressed.0),
        stressed: Some(stressed),
        remark: early,
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
