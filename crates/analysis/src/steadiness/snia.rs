//! The steady state rule of the SNIA Solid State Storage Performance Test
//! Specification (2.0.2, clause "Steady State"), in its own terms: over a
//! measurement window of the last five rounds,
//!
//! - Max(y) − Min(y) is within 20 % of Ave(y);
//! - the linear curve fit's maximum less its minimum within the window is
//!   within 10 % of Ave(y).
//!
//! A round is one minute.

use fathom_model::steadiness::SniaWindow;
use fathom_rules::check::v11::{
    CAVEAT as RANGE, EXCURSION, ROUND_SECONDS, ROUND_TOLERANCE_SECONDS, ROUNDS,
};

use super::track::Track;

/// The last five rounds of a trial; `None` when it is shorter.
pub(crate) fn window(track: &Track) -> Option<SniaWindow> {
    let mut rounds = Vec::with_capacity(ROUNDS);
    let mut end = track.cells.len();
    for _ in 0..ROUNDS {
        let (mut seconds, mut start) = (0.0, end);
        // A quarter of a second short is a full minute of a real clock.
        while seconds < ROUND_SECONDS - ROUND_TOLERANCE_SECONDS {
            start = start.checked_sub(1)?;
            seconds += track.cells[start].seconds;
        }
        rounds.push(track.mean_rate(start..end));
        end = start;
    }
    rounds.reverse();
    evaluate(rounds, (ROUND_SECONDS * 1e9) as u64)
}

/// The rule over rounds of some length; `None` when nothing was measured.
pub fn evaluate(rounds: Vec<f64>, round_ns: u64) -> Option<SniaWindow> {
    let n = rounds.len() as f64;
    let average = rounds.iter().sum::<f64>() / n;
    if !(average > 0.0 && average.is_finite()) {
        return None;
    }
    let highest = rounds.iter().copied().fold(f64::MIN, f64::max);
    let lowest = rounds.iter().copied().fold(f64::MAX, f64::min);
    let middle = (n + 1.0) / 2.0;
    let place = |i: usize| i as f64 + 1.0 - middle;
    let product: f64 = rounds.iter().enumerate().map(|(i, y)| place(i) * y).sum();
    let spread: f64 = (0..rounds.len()).map(|i| place(i).powi(2)).sum();
    let slope = product / spread;
    let range = (highest - lowest) / average;
    let excursion = (slope * (n - 1.0)).abs() / average;
    Some(SniaWindow {
        round_ns,
        average,
        range,
        slope,
        intercept: average - slope * middle,
        excursion,
        steady: range <= RANGE && excursion <= EXCURSION,
        rounds,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::steadiness::levels::tests::track_of;

    #[test]
    fn the_rule_is_the_standards() {
        let steady = evaluate(vec![100.0, 104.0, 98.0, 101.0, 97.0], 1).unwrap();
        assert!(steady.steady);
        assert!((steady.range - 0.07).abs() < 1e-12);
        assert!((steady.slope + 0.9).abs() < 1e-12, "{steady:?}");
        assert!((steady.intercept - 102.7).abs() < 1e-12);
        assert!((steady.excursion - 0.036).abs() < 1e-12);
        assert_eq!(steady.formula(1.0), "y = -0.900·x + 102.7");
        // A slope of 3 % per round is 12 % over the window.
        let sloping = evaluate(vec![94.0, 97.0, 100.0, 103.0, 106.0], 1).unwrap();
        assert!(!sloping.steady && sloping.range < RANGE);
        let jumping = evaluate(vec![100.0, 125.0, 100.0, 125.0, 100.0], 1).unwrap();
        assert!(!jumping.steady && jumping.excursion < EXCURSION);
        assert_eq!(evaluate(vec![0.0; 5], 1), None);
    }

    #[test]
    fn five_minutes_are_needed() {
        assert!(window(&track_of(&[(1e18, 1e9)], 299, 0.01, 1)).is_none());
        let window = window(&track_of(&[(1e18, 1e9)], 300, 0.01, 1)).unwrap();
        assert!(window.steady && window.rounds.len() == 5);
    }
}
