//! The same questions about a rate that another tool logged.

use fathom_model::steadiness::{SniaWindow, SteadinessClass};
use fathom_rules::check::v12::CAVEAT as DRIFT_MARGIN;

use super::assess::assess;
use super::track::{Track, TrackCell};
use super::words::sentence;

/// What a log says about steadiness.
#[derive(Debug, Clone, PartialEq)]
pub struct Logged {
    /// Steady or not, and how.
    pub class: SteadinessClass,
    /// The levels, or what takes their place, in words.
    pub sentence: String,
    /// Largest relative step between neighbouring levels; 0 of one level.
    pub step: f64,
    /// Change of the last level over its time, and whether it is surely less
    /// than the margin.
    pub drift: Option<(f64, bool)>,
    /// The last rounds by the rule of SNIA.
    pub snia: Option<SniaWindow>,
    /// Ashman's D of two modes.
    pub ashman_d: Option<f64>,
}

/// Looks at rates (operations per second, evenly spaced) of operations of a
/// mean size; `None` when nothing was done.
pub fn of_log(rates: &[f64], interval_ns: u64, bytes_per_op: f64) -> Option<Logged> {
    let seconds = interval_ns as f64 / 1e9;
    let mut axis = 0.0;
    let cells = rates.iter().enumerate().map(|(index, rate)| {
        let ops = rate * seconds;
        let cell = TrackCell {
            start_ns: (index as u64).saturating_mul(interval_ns),
            seconds,
            ops,
            bytes: ops * bytes_per_op,
            axis_start: axis,
            axis_bytes: ops * bytes_per_op,
        };
        axis += cell.axis_bytes;
        cell
    });
    let track = Track::of_cells(cells.collect());
    let found = assess(&track)?;
    let steps = found.levels.windows(2).map(|pair| {
        let (a, b) = (pair[0].rate, pair[1].rate);
        1.0 - a.min(b) / a.max(b).max(f64::MIN_POSITIVE)
    });
    Some(Logged {
        class: found.class,
        sentence: sentence(&track, &found),
        step: steps.fold(0.0, f64::max),
        drift: found.drift.map(|d| (d.change, d.within(DRIFT_MARGIN))),
        snia: found.snia,
        ashman_d: found.modes.map(|m| m.ashman_d),
    })
}
