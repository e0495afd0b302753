//! Trials that no one rate describes: their levels, shown wherever their mean
//! would be.

use fathom_model::judged::{OpSummary, ResultRow};
use fathom_model::steadiness::{BytesAxis, Regime, Steadiness};
use fathom_model::{JudgedRun, JudgedTrial, unit};

/// Trials of a row that are shown apart.
const MOST_TRIALS: usize = 6;

/// One level of a trial.
#[derive(Debug, Clone)]
pub(crate) struct ShownLevel<'a> {
    /// When it held: `first 23.0 GB`, `then`, `60 % of the time`.
    pub(crate) when: String,
    /// Its results.
    pub(crate) ops: &'a [OpSummary],
}

/// What to show for a row: its levels when any of its trials has several, or
/// the row's own results under an empty name.
pub(crate) fn of_row<'a>(run: &'a JudgedRun, row: &'a ResultRow) -> Vec<ShownLevel<'a>> {
    let trials: Vec<&JudgedTrial> = row
        .trials
        .iter()
        .filter_map(|i| run.trials.get(*i))
        .collect();
    if !trials.iter().any(|t| has_levels(t)) {
        return vec![ShownLevel {
            when: String::new(),
            ops: &row.ops,
        }];
    }
    let several = trials.len() > 1;
    let mut shown = Vec::new();
    for trial in trials.iter().take(MOST_TRIALS) {
        for level in of_trial(trial) {
            let when = match (several, level.when.is_empty()) {
                (true, true) => format!("trial {}", trial.index + 1),
                (true, false) => format!("trial {}, {}", trial.index + 1, level.when),
                (false, _) => level.when,
            };
            shown.push(ShownLevel { when, ..level });
        }
    }
    shown
}

/// The same for a trial.
pub(crate) fn of_trial(trial: &JudgedTrial) -> Vec<ShownLevel<'_>> {
    let whole = || {
        vec![ShownLevel {
            when: String::new(),
            ops: &trial.summary.ops,
        }]
    };
    let Some(steadiness) = trial.steadiness.as_ref().filter(|s| s.has_no_single_rate()) else {
        return whole();
    };
    if let Some(modes) = &steadiness.modes {
        let share = |share: f64| format!("{:.0} % of the time", 100.0 * share);
        return vec![
            ShownLevel {
                when: share(1.0 - modes.low_share),
                ops: &modes.high_ops,
            },
            ShownLevel {
                when: share(modes.low_share),
                ops: &modes.low_ops,
            },
        ];
    }
    let last = steadiness.regimes.len() - 1;
    let level = |(i, regime): (usize, &'_ Regime)| (when(regime, i, last), i);
    steadiness
        .regimes
        .iter()
        .enumerate()
        .map(level)
        .map(|(when, i)| ShownLevel {
            when,
            ops: &steadiness.regimes[i].ops,
        })
        .collect()
}

fn has_levels(trial: &JudgedTrial) -> bool {
    let steadiness = trial.steadiness.as_ref();
    steadiness.is_some_and(Steadiness::has_no_single_rate)
}

fn when(regime: &Regime, index: usize, last: usize) -> String {
    let bytes = regime.end_bytes.saturating_sub(regime.start_bytes);
    let extent = match bytes {
        0 => unit::span(regime.end_ns.saturating_sub(regime.start_ns)),
        bytes => decimal_bytes(bytes as f64),
    };
    match index {
        0 => format!("first {extent}"),
        i if i == last => "then".to_owned(),
        _ => format!("next {extent}"),
    }
}

/// A size in decimal units, as caches are sold.
pub(crate) fn decimal_bytes(bytes: f64) -> String {
    let text = unit::throughput_decimal(bytes);
    text.strip_suffix("/s").unwrap_or(&text).to_owned()
}

/// Name of an axis.
pub(crate) fn axis_words(axis: BytesAxis) -> &'static str {
    match axis {
        BytesAxis::Written => "bytes written",
        BytesAxis::Moved => "bytes moved",
    }
}

/// The name of an operation at a level.
pub(crate) fn named(name: &str, when: &str) -> String {
    match when {
        "" => name.to_owned(),
        when => format!("{name}, {when}"),
    }
}
