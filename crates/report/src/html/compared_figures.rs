//! The key figures of a comparison: each change with the values of both sides.

use fathom_model::comparison::{ComparedMetric, Comparison};
use fathom_model::figure::Throughput;

use super::key_figures::{self, KeyFigure};
use crate::comparison as words;

/// Of one row its figures, of several rows the one of each that decides. Figures that
/// a side does not have are left out.
pub(super) fn of(comparison: &Comparison) -> Vec<KeyFigure> {
    let figures: Vec<KeyFigure> = match comparison.rows.as_slice() {
        [row] => {
            let metrics = row.metrics.iter();
            let named = metrics.map(|metric| (words::metric_name(metric), "", metric));
            named.filter_map(change).collect()
        }
        rows => {
            let firsts = rows.iter().filter_map(|row| {
                let metric = row.metrics.first()?;
                Some((words::metric_name(metric), row.label.as_str(), metric))
            });
            firsts.filter_map(change).collect()
        }
    };
    figures.into_iter().take(key_figures::MOST).collect()
}

/// A change and what it is between.
fn change((name, row, metric): (String, &str, &ComparedMetric)) -> Option<KeyFigure> {
    words::change(metric).value?;
    let (change, interval) = words::change_cells(metric);
    let value = |side| words::side_value(side, Throughput::Binary);
    let sides = format!("A {}, B {}", value(&metric.a), value(&metric.b));
    Some(KeyFigure {
        name: match row.is_empty() {
            true => key_figures::title(&name),
            false => format!("{row}: {name}"),
        },
        number: change,
        interval: match interval.is_empty() {
            true => sides,
            false => format!("{sides}; 95\u{a0}%: {interval}"),
        },
        hint: words::outcome_word(metric.outcome, metric.metric).to_owned(),
        ..KeyFigure::default()
    })
}
