//! The key figures of a comparison: each change with the values of both sides.

use fathom_model::comparison::{ComparedMetric, Comparison};
use fathom_model::figure::Throughput;

use super::key_figures::{self, KeyFigure};
use crate::compared_sides::LETTERS;
use crate::comparison as words;

/// Of one row its figures, of several rows the one of each that decides, the largest
/// changes first. Figures that a side does not have are left out.
pub(super) fn of(comparison: &Comparison) -> Vec<KeyFigure> {
    let figures: Vec<KeyFigure> = match comparison.rows.as_slice() {
        [row] => {
            let metrics = row.metrics.iter();
            let figures = metrics.filter_map(|metric| {
                let name = key_figures::title(&words::metric_name(metric));
                change(comparison, metric, name, 'B')
            });
            figures.collect()
        }
        rows => {
            let deciding = rows
                .iter()
                .filter_map(|row| Some((row, row.metrics.first()?)));
            let mut deciding: Vec<_> = deciding.collect();
            deciding.sort_by(|a, b| size(b.1).total_cmp(&size(a.1)));
            let figures = deciding.into_iter().filter_map(|(row, metric)| {
                let name = format!("{}: {}", row.label, words::metric_name(metric));
                change(comparison, metric, name, 'B')
            });
            figures.collect()
        }
    };
    figures.into_iter().take(key_figures::MOST).collect()
}

/// How large a change is, whether up or down; 0 where it is not known.
fn size(metric: &ComparedMetric) -> f64 {
    let ratio = words::change(metric).value;
    ratio.map_or(0.0, |ratio| ratio.ln().abs())
}

/// The key figures of several sides: for each, the figure that decides the first row.
pub(super) fn of_all(comparisons: &[&Comparison]) -> Vec<KeyFigure> {
    if let [comparison] = comparisons {
        return of(comparison);
    }
    let sides = comparisons.iter().zip(LETTERS);
    let figures = sides.filter_map(|(comparison, letter)| {
        let row = comparison.rows.first()?;
        let metric = row.metrics.first()?;
        let name = format!("{letter}: {}", words::metric_name(metric));
        let figure = change(comparison, metric, name, letter)?;
        Some(match comparison.rows.len() {
            1 => figure,
            _ => KeyFigure {
                row: row.label.clone(),
                ..figure
            },
        })
    });
    figures.take(key_figures::MOST).collect()
}

/// A change and what it is between.
fn change(
    comparison: &Comparison,
    metric: &ComparedMetric,
    name: String,
    letter: char,
) -> Option<KeyFigure> {
    words::change(metric).value?;
    let (change, interval) = words::change_cells(metric);
    let value = |side| words::side_value(side, Throughput::Binary);
    let sides = format!("A {}, {letter} {}", value(&metric.a), value(&metric.b));
    Some(KeyFigure {
        name,
        number: change,
        interval: match interval.is_empty() {
            true => sides,
            false => format!("{sides}; 95\u{a0}%: {interval}"),
        },
        hint: words::shown_word(comparison, metric).to_owned(),
        ..KeyFigure::default()
    })
}
