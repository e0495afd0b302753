//! Numbers and validity as they stand in the tables of a page.

use fathom_model::figure::{Figure, Interval, Throughput, interval_legend};
use fathom_model::unit;

use crate::names;

/// One number in a table.
#[derive(Debug, Clone, Default)]
pub(crate) struct NumberCell {
    /// The number with its unit where the column has none.
    pub(crate) text: String,
    /// `±1.2` or `130–203`, or why there is no number; empty without an interval.
    pub(crate) half: String,
    /// What a reader learns on demand: interval, effective n, reason.
    pub(crate) hint: String,
    /// Base units, for sorting; empty when there is none.
    pub(crate) sort: String,
    /// There is no number.
    pub(crate) missing: bool,
}

impl NumberCell {
    /// An estimate; `with_unit` where the column does not name it.
    pub(crate) fn estimate(estimate: &fathom_model::Estimate, with_unit: bool) -> NumberCell {
        let figure = Figure::of(estimate, Throughput::Binary);
        let mut hints = Vec::new();
        if let Figure::Known {
            interval: Some(Interval { low, high, .. }),
            unit,
            ..
        } = &figure
        {
            hints.push(
                format!("95 % interval {low} to {high} {unit}")
                    .trim_end()
                    .to_owned(),
            );
        }
        hints.extend(fathom_model::figure::effective_n(estimate));
        hints.extend(figure.reason().map(str::to_owned));
        NumberCell {
            text: if with_unit {
                figure.value()
            } else {
                figure.number()
            },
            half: match &figure {
                Figure::Missing {
                    longer_ns: Some(ns),
                    ..
                } => format!("needs {} more", fathom_model::figure::longer(*ns)),
                Figure::Missing { reason, .. } => reason.clone(),
                Figure::Known { .. } => figure.interval(false).unwrap_or_default(),
            },
            hint: hints.join("; "),
            sort: sort_key(estimate.value),
            missing: figure.is_missing(),
        }
    }

    /// The interval of a number that has one.
    pub(crate) fn interval(&self) -> Option<&str> {
        let shown = !self.missing && !self.half.is_empty();
        shown.then_some(self.half.as_str())
    }

    /// A plain text.
    pub(crate) fn text(text: &str) -> NumberCell {
        NumberCell {
            text: text.to_owned(),
            ..NumberCell::default()
        }
    }
}

/// How the cells of tables are read: only what is in them is explained.
pub(crate) fn reading<'c>(cells: impl Iterator<Item = &'c NumberCell>) -> String {
    let cells: Vec<&NumberCell> = cells.collect();
    let intervals = interval_legend(cells.iter().filter_map(|cell| cell.interval()));
    let missing = cells.iter().any(|cell| cell.missing);
    let missing =
        missing.then_some("A number that the data cannot support is not shown; its reason is.");
    let parts: Vec<&str> = intervals.into_iter().chain(missing).collect();
    parts.join(" ")
}

fn sort_key(value: Option<f64>) -> String {
    value
        .filter(|v| v.is_finite())
        .map_or(String::new(), |v| v.to_string())
}

/// Validity in the words and the class of a badge.
#[derive(Debug, Clone)]
pub(crate) struct Badge {
    pub(crate) class: &'static str,
    pub(crate) words: &'static str,
    /// A sign of its own shape, so that colour is never alone.
    pub(crate) sign: &'static str,
}

impl Badge {
    pub(crate) fn of(validity: fathom_model::Validity) -> Badge {
        use fathom_model::Validity;
        let (class, sign) = match validity {
            Validity::Trusted => ("good", "✓"),
            Validity::Caveats => ("warn", "▲"),
            Validity::NotDetermined => ("warn", "?"),
            Validity::NotTrusted => ("bad", "✕"),
        };
        Badge {
            class,
            words: names::validity(validity),
            sign,
        }
    }

    /// With words that fit beside a figure.
    pub(crate) fn short(validity: fathom_model::Validity) -> Badge {
        let words = match validity {
            fathom_model::Validity::Caveats => "with caveats",
            validity => names::validity(validity),
        };
        Badge {
            words,
            ..Badge::of(validity)
        }
    }
}

/// An exact extreme.
pub(crate) fn exact(value: Option<u64>) -> NumberCell {
    match value {
        Some(ns) => NumberCell {
            text: unit::latency(ns as f64),
            hint: "exact".to_owned(),
            sort: ns.to_string(),
            ..NumberCell::default()
        },
        None => NumberCell::text("–"),
    }
}
