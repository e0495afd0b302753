//! The search for the highest load that holds a target: bisection between a
//! load that holds and one that fails, with repeats where one trial cannot
//! decide, and a confirmation at the end.

use fathom_model::curve::CurvePoint;
use fathom_rules::method::curve::{
    BISECTION_TRIALS, ENOUGH_TRIALS, LEAST_SHARE, MOST_TRIALS, NARROW,
};

use super::holds::{Standing, bracket, load, standing};

/// What to measure next.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Next {
    /// A load that was not measured yet, operations per second.
    Try(f64),
    /// Another trial of this row.
    Repeat(u32),
    /// The answer stands, or the search has been long enough.
    Done,
}

/// The next step, given the points of one mix ascending in load, the trials
/// that the search has used so far, and whether it may try new loads.
pub(super) fn next(candidates: &[&CurvePoint], ceiling: f64, used: u32, bisect: bool) -> Next {
    if candidates.is_empty() || used >= MOST_TRIALS {
        return Next::Done;
    }
    let (holds, fails) = bracket(candidates);
    if let Some(open) = undecided(candidates, holds, fails) {
        return Next::Repeat(open.row);
    }
    let may_bisect = bisect && used < BISECTION_TRIALS;
    match (holds, fails) {
        (Some(low), Some(high)) if may_bisect && load(high) > load(low) * (1.0 + NARROW) => {
            Next::Try(middle(load(low), load(high)))
        }
        (None, Some(high)) if may_bisect && load(high) > 2.0 * LEAST_SHARE * ceiling => {
            Next::Try(load(high) / 2.0)
        }
        (Some(low), _) => unconfirmed(candidates, low).map_or(Next::Done, Next::Repeat),
        _ => Next::Done,
    }
}

/// The row that more trials may confirm: of those up to the highest that holds, from
/// above, until one is confirmed. Where enough trials did not confirm one, a lower one
/// is the answer.
fn unconfirmed(candidates: &[&CurvePoint], highest: &CurvePoint) -> Option<u32> {
    let place = candidates.iter().position(|p| p.row == highest.row)?;
    let downward = candidates[..=place].iter().rev();
    let mut open = downward.take_while(|p| standing(p) != Standing::Holds { confirmed: true });
    let found = open.find(|p| p.trials < ENOUGH_TRIALS);
    found.map(|point| point.row)
}

/// A point between the bracket's ends that more trials would decide.
fn undecided<'a>(
    candidates: &[&'a CurvePoint],
    holds: Option<&CurvePoint>,
    fails: Option<&CurvePoint>,
) -> Option<&'a CurvePoint> {
    let above = holds.map_or(0.0, load);
    let below = fails.map_or(f64::INFINITY, load);
    let mut between = candidates
        .iter()
        .filter(|p| load(p) > above && load(p) < below && p.trials < ENOUGH_TRIALS);
    between.find(|p| standing(p) == Standing::Open).copied()
}

/// Near the saturation latency rises steeply, so halves in load are as good
/// as any other split. Four digits make names that can be typed.
fn middle(low: f64, high: f64) -> f64 {
    let middle = (low + high) / 2.0;
    let step = 10f64.powf(middle.log10().floor() - 3.0);
    let rounded = (middle / step).round() * step;
    match rounded > low && rounded < high {
        true => rounded,
        false => middle,
    }
}
