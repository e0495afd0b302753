//! More than two sides: each beside the first one, in one table.

use fathom_model::comparison::{ComparedRow, Comparison, ComparisonOutcome};
use fathom_model::figure::Throughput;

use crate::comparison::{change_cells, margin_text, metric_name, outcome_word, side_value};
use crate::table::{Align, Table, wrap};

/// How the table is read.
const READING: &str = "Changes are against A. Runs that were not measured in turns are only an \
                       indication: `fathom ab` proves a difference.";

/// The comparisons of side A with each of the others as text.
pub fn text(comparisons: &[Comparison], throughput: Throughput, width: usize) -> String {
    let Some(first) = comparisons.first() else {
        return String::new();
    };
    let mut lines = vec![format!("A  {}", first.a.label)];
    for (comparison, letter) in comparisons.iter().zip('B'..) {
        lines.push(format!("{letter}  {}", comparison.b.label));
        lines.push(format!("   {}", summary(comparison)));
    }
    let mut text = String::new();
    for line in lines {
        let indent = line.len() - line.trim_start().len();
        for part in wrap(line.trim_start(), width.saturating_sub(indent)) {
            text += &format!("{:indent$}{part}\n", "");
        }
    }
    let table = table(comparisons, throughput);
    if !table.is_empty() {
        text += &format!("\n{}", table.fit(width));
    }
    text.push('\n');
    for part in wrap(READING, width) {
        text += &format!("{part}\n");
    }
    text
}

/// How many rows of a side are slower, faster, or the same.
fn summary(comparison: &Comparison) -> String {
    let outcomes = [
        (ComparisonOutcome::Slower, "slower".to_owned()),
        (ComparisonOutcome::Faster, "faster".to_owned()),
        (
            ComparisonOutcome::Equivalent,
            format!("equivalent within {}", margin_text(comparison)),
        ),
        (ComparisonOutcome::Inconclusive, "inconclusive".to_owned()),
    ];
    let counts = outcomes.into_iter().filter_map(|(outcome, word)| {
        let rows = comparison.rows.iter();
        let count = rows.filter(|row| row.outcome == outcome).count();
        (count > 0).then(|| format!("{count} {word}"))
    });
    let counts: Vec<String> = counts.collect();
    match counts.is_empty() {
        true => "no workload in common with A".to_owned(),
        false => counts.join(", "),
    }
}

/// A row for each workload, by the figure that decides.
fn table(comparisons: &[Comparison], throughput: Throughput) -> Table {
    let mut columns = vec![
        ("workload".to_owned(), Align::Left),
        ("figure".to_owned(), Align::Left),
        ("A".to_owned(), Align::Right),
    ];
    for (_, letter) in comparisons.iter().zip('B'..) {
        columns.push((letter.to_string(), Align::Right));
        columns.push(("change".to_owned(), Align::Left));
    }
    let mut table = Table::new(columns);
    for label in labels(comparisons) {
        let of = |comparison: &'_ Comparison| -> Option<ComparedRow> {
            let mut rows = comparison.rows.iter();
            rows.find(|row| row.label == label).cloned()
        };
        let found: Vec<Option<ComparedRow>> = comparisons.iter().map(of).collect();
        let metric = found.iter().flatten().find_map(|row| row.metrics.first());
        let Some(metric) = metric else {
            continue;
        };
        let mut cells = vec![
            label.to_owned(),
            metric_name(metric),
            side_value(&metric.a, throughput),
        ];
        for row in &found {
            match row.as_ref().and_then(|row| row.metrics.first()) {
                Some(metric) => {
                    let word = outcome_word(metric.outcome, metric.metric);
                    cells.push(side_value(&metric.b, throughput));
                    cells.push(format!("{} {word}", change_cells(metric).0));
                }
                None => cells.extend(["-".to_owned(), String::new()]),
            }
        }
        table.row(cells);
    }
    table
}

/// The workloads that any side has in common with A, each once.
fn labels(comparisons: &[Comparison]) -> Vec<&str> {
    let mut labels: Vec<&str> = Vec::new();
    for row in comparisons.iter().flat_map(|comparison| &comparison.rows) {
        if !labels.contains(&row.label.as_str()) {
            labels.push(&row.label);
        }
    }
    labels
}
