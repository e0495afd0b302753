//! More than two sides: each beside the first one, in one table.

use std::fmt::Write as _;

use fathom_model::comparison::{ComparedRow, Comparison, ComparisonOutcome};
use fathom_model::figure::Throughput;

use crate::comparison::{
    change_cells, headline_of, metric_name, outcome_word, side_line, side_value,
};
use crate::escape::escape_markdown as escape;
use crate::sentence::sentence_of;
use crate::table::{Align, Table, wrap};

/// What a change is.
const CHANGES: &str = "Changes are against A.";

/// What the sign at a change means.
const OPEN: &str = " ?: neither a difference nor its absence is proved.";

/// What such a comparison is worth.
const UNPAIRED: &str =
    "Runs that were not measured in turns prove no difference: `fathom ab` does.";

/// Columns by which the second line of a paragraph is indented.
const INDENT: usize = 3;

/// The letters of the sides beside A, in their order.
pub(crate) const LETTERS: std::ops::RangeFrom<char> = 'B'..;

/// The comparisons of side A with each of the others as text.
pub fn text(comparisons: &[&Comparison], throughput: Throughput, width: usize) -> String {
    let Some(first) = comparisons.first() else {
        return String::new();
    };
    let mut text = paragraph(&format!("A: {}", first.a.label), width);
    for (comparison, letter) in comparisons.iter().zip(LETTERS) {
        text += &paragraph(&format!("{letter}: {}", comparison.b.label), width);
    }
    text.push('\n');
    for (comparison, letter) in comparisons.iter().zip(LETTERS) {
        text += &paragraph(&sentence_of(&headline_of(comparison, letter)), width);
    }
    let sides = SidesTable::of(comparisons, throughput);
    let mut table = Table::new(sides.heads);
    for cells in sides.rows {
        table.row(cells);
    }
    if !table.is_empty() {
        text += &format!("\n{}", table.fit(width));
    }
    text.push('\n');
    text + &paragraph(&reading(comparisons), width)
}

/// The comparisons of side A with each of the others as Markdown.
pub fn markdown(comparisons: &[&Comparison], throughput: Throughput) -> String {
    let mut out = "### fathom compare\n\n".to_owned();
    for (comparison, letter) in comparisons.iter().zip(LETTERS) {
        let sentence = sentence_of(&headline_of(comparison, letter));
        let _ = writeln!(out, "**{}**\n", escape(&sentence));
    }
    let sides = comparisons.iter().map(|comparison| &comparison.b);
    let first = comparisons.first().map(|comparison| &comparison.a);
    for (side, letter) in first.into_iter().chain(sides).zip('A'..) {
        let _ = writeln!(out, "- {letter}: {}", escape(&side_line(side)));
    }
    let sides = SidesTable::of(comparisons, throughput);
    if !sides.rows.is_empty() {
        let heads: Vec<String> = sides.heads.iter().map(|(head, _)| escape(head)).collect();
        let rules = sides.heads.iter().map(|(_, align)| match align {
            Align::Left => "---|",
            Align::Right => "--:|",
        });
        let _ = writeln!(out, "\n| {} |", heads.join(" | "));
        let _ = writeln!(out, "|{}", rules.collect::<String>());
        for row in &sides.rows {
            let cells: Vec<String> = row.iter().map(|cell| escape(cell)).collect();
            let _ = writeln!(out, "| {} |", cells.join(" | "));
        }
    }
    let _ = writeln!(out, "\n{}", escape(&reading(comparisons)));
    out
}

/// Lines of `width`, those after the first indented.
fn paragraph(text: &str, width: usize) -> String {
    let lines = wrap(text, width.saturating_sub(INDENT)).into_iter();
    let lines = lines.enumerate().map(|(place, line)| match place {
        0 => format!("{line}\n"),
        _ => format!("{:INDENT$}{line}\n", ""),
    });
    lines.collect()
}

/// How the table is read.
pub(crate) fn reading(comparisons: &[&Comparison]) -> String {
    let rows = comparisons.iter().flat_map(|comparison| &comparison.rows);
    let mut deciding = rows.filter_map(|row| row.metrics.first());
    let is_open = deciding.any(|metric| metric.outcome == ComparisonOutcome::Inconclusive);
    let sign = if is_open { OPEN } else { "" };
    format!("{CHANGES}{sign} {UNPAIRED}")
}

/// A row for each workload, by the figure that decides.
pub(crate) struct SidesTable {
    pub(crate) heads: Vec<(String, Align)>,
    pub(crate) rows: Vec<Vec<String>>,
}

impl SidesTable {
    pub(crate) fn of(comparisons: &[&Comparison], throughput: Throughput) -> SidesTable {
        let mut heads = vec![
            ("workload".to_owned(), Align::Left),
            ("figure".to_owned(), Align::Left),
            ("A".to_owned(), Align::Right),
        ];
        for (_, letter) in comparisons.iter().zip(LETTERS) {
            heads.push((letter.to_string(), Align::Right));
        }
        let labels = labels(comparisons).into_iter();
        let rows = labels.filter_map(|label| cells(comparisons, label, throughput));
        SidesTable {
            heads,
            rows: rows.collect(),
        }
    }
}

fn cells(comparisons: &[&Comparison], label: &str, throughput: Throughput) -> Option<Vec<String>> {
    let of = |comparison: &'_ &Comparison| -> Option<ComparedRow> {
        let mut rows = comparison.rows.iter();
        rows.find(|row| row.label == label).cloned()
    };
    let found: Vec<Option<ComparedRow>> = comparisons.iter().map(of).collect();
    let metric = found.iter().flatten().find_map(|row| row.metrics.first())?;
    let mut cells = vec![
        label.to_owned(),
        metric_name(metric),
        side_value(&metric.a, throughput),
    ];
    for row in &found {
        match row.as_ref().and_then(|row| row.metrics.first()) {
            Some(metric) => {
                let (change, _) = change_cells(metric);
                let word = outcome_word(metric.outcome, metric.metric);
                let said = match metric.outcome {
                    ComparisonOutcome::Inconclusive => format!("{change} ?"),
                    ComparisonOutcome::Equivalent => format!("{change}, {word}"),
                    // `-11 % slower` would be faster.
                    _ => format!("{} {word}", change.trim_start_matches(['+', '-'])),
                };
                cells.push(format!("{} ({said})", side_value(&metric.b, throughput)));
            }
            None => cells.push("-".to_owned()),
        }
    }
    Some(cells)
}

/// The workloads that any side has in common with A, each once.
fn labels<'a>(comparisons: &[&'a Comparison]) -> Vec<&'a str> {
    let mut labels: Vec<&str> = Vec::new();
    for row in comparisons.iter().flat_map(|comparison| &comparison.rows) {
        if !labels.contains(&row.label.as_str()) {
            labels.push(&row.label);
        }
    }
    labels
}
