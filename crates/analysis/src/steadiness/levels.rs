//! From change points to levels with exact edges.
//!
//! A level changes within a second. Its share of that second follows from the
//! amount moved in it and the rates on both sides, so the edge is known far
//! better than to a second: at 2.9 GB/s a second is 2.9 GB.

use std::ops::Range;

use fathom_rules::check::v13::{ABRUPT, LOCAL, NEAR, ONE_SIDE};
use fathom_stats::change_point::{LEAST_STEP, change_points};
use fathom_stats::log_rates::log_rates;
use fathom_stats::moments::{Moments, mean};

use super::track::Track;

/// A part of the trial with one level.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Level {
    /// Its whole cells; the cell of the change belongs to neither side.
    pub(crate) cells: Range<usize>,
    /// Total over total of these.
    pub(crate) rate: f64,
    pub(crate) start_ns: u64,
    pub(crate) end_ns: u64,
    /// On the axis.
    pub(crate) start_bytes: f64,
    pub(crate) end_bytes: f64,
}

impl Level {
    pub(crate) fn seconds(&self) -> f64 {
        self.end_ns.saturating_sub(self.start_ns) as f64 / 1e9
    }

    pub(crate) fn bytes(&self) -> f64 {
        (self.end_bytes - self.start_bytes).max(0.0)
    }
}

/// The edge between two levels.
struct Edge {
    /// First whole cell after it.
    after: usize,
    /// One past the last whole cell before it.
    before: usize,
    ns: u64,
    bytes: f64,
}

/// The levels of a trial in order; one when its level never changed abruptly,
/// none of an empty trial.
pub(crate) fn levels(track: &Track) -> Vec<Level> {
    let (Some(first), Some(last)) = (track.cells.first(), track.cells.last()) else {
        return Vec::new();
    };
    let logs = log_rates(&track.rates());
    let points = steps(&logs, change_points(&logs));
    let mut bounds = vec![0];
    bounds.extend(&points);
    bounds.push(track.cells.len());
    let mut levels = Vec::new();
    let (mut from, mut start_ns, mut start_bytes) = (0, first.start_ns, first.axis_start);
    for triple in bounds.windows(3) {
        let edge = edge(track, triple[0], triple[1], triple[2]);
        levels.push(Level {
            cells: from..edge.before,
            rate: track.mean_rate(from..edge.before),
            start_ns,
            end_ns: edge.ns,
            start_bytes,
            end_bytes: edge.bytes,
        });
        (from, start_ns, start_bytes) = (edge.after, edge.ns, edge.bytes);
    }
    let to = track.cells.len();
    levels.push(Level {
        cells: from..to,
        rate: track.mean_rate(from..to),
        start_ns,
        end_ns: last.start_ns.saturating_add((last.seconds * 1e9) as u64),
        start_bytes,
        end_bytes: last.axis_start + last.axis_bytes,
    });
    levels
}

/// Keeps the changes that happen at once. A slope that was cut into stairs
/// has hardly any step at its edges.
fn steps(logs: &[f64], mut points: Vec<usize>) -> Vec<usize> {
    loop {
        let mut bounds = vec![0];
        bounds.extend(&points);
        bounds.push(logs.len());
        let slope = bounds
            .windows(3)
            .position(|t| !is_step(&logs[t[0]..t[1]], &logs[t[1]..t[2]]));
        match slope {
            Some(index) => {
                points.remove(index);
            }
            None => return points,
        }
    }
}

fn is_step(left: &[f64], right: &[f64]) -> bool {
    let (Some(before), Some(after)) = (mean(left), mean(right)) else {
        return false;
    };
    let step = after - before;
    if step.abs() < LEAST_STEP {
        return false;
    }
    // The cells next to the edge may be a mixture of both levels.
    let reach = |length: usize| (length / 3).clamp(1, LOCAL);
    let left_near = &left[..left.len() - 1];
    let left_near = &left_near[left_near.len() - reach(left.len()).min(left_near.len())..];
    let right_near = &right[1..];
    let right_near = &right_near[..reach(right.len()).min(right_near.len())];
    let (Some(before), Some(after)) = (Moments::of(left_near), Moments::of(right_near)) else {
        return true;
    };
    let local = (after.mean - before.mean) * step.signum();
    // A single value says nothing of its spread, which then counts as none.
    let error = |near: Moments| near.variance().unwrap_or(0.0) / near.count;
    let spread = error(before) + error(after);
    // A slope only where that is certain.
    local + 2.0 * spread.sqrt() >= ABRUPT * step.abs()
}

fn edge(track: &Track, from: usize, at: usize, to: usize) -> Edge {
    let cells = &track.cells;
    let left = track.mean_rate(from.max(at.saturating_sub(NEAR + 1))..(at - 1).max(from + 1));
    let right = track.mean_rate((at + 1).min(to - 1)..to.min(at + 1 + NEAR));
    // Share of a cell that ran at the rate of the left side.
    let share = |index: usize| {
        let cell = &cells[index];
        let rate = track.amount(cell) / cell.seconds;
        let gap = left - right;
        if gap == 0.0 {
            return if index < at { 1.0 } else { 0.0 };
        }
        ((rate - right) / gap).clamp(0.0, 1.0)
    };
    let (last, first) = (share(at - 1), share(at));
    let part = |index: usize, share: f64| {
        let cell = &cells[index];
        let moved = left * cell.seconds * share;
        match track.amount(cell) {
            whole if whole > 0.0 => cell.axis_bytes * (moved / whole).min(1.0),
            _ => 0.0,
        }
    };
    // A cell of which neither side has nearly all belongs to neither.
    let before = if last < ONE_SIDE { at - 1 } else { at };
    let after = if first >= 1.0 - ONE_SIDE { at + 1 } else { at };
    let time = last * cells[at - 1].seconds + first * cells[at].seconds;
    Edge {
        before: before.max(from + 1),
        after: after.min(to - 1),
        ns: cells[at - 1].start_ns.saturating_add((time * 1e9) as u64),
        bytes: cells[at - 1].axis_start + part(at - 1, last) + part(at, first),
    }
}

#[cfg(test)]
#[path = "level_tests.rs"]
pub(crate) mod tests;
