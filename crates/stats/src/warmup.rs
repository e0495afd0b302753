//! How much of a level's beginning is still warm-up: MSER-5 (White, *An
//! effective truncation heuristic for bias reduction in simulation output*,
//! Simulation 1997). On means of five values the cut is where the squared
//! standard error of the rest is smallest.
//!
//! The heuristic always cuts somewhere. What it cuts counts only when it
//! differs from the rest by more than noise does, so that a steady trial
//! stays whole.

use crate::effective_size::mean_error;
use crate::moments::{Moments, mean};

const BATCH: usize = 5;
const LEAST_BATCHES: usize = 8;
/// Standard errors by which the cut part must differ.
const CERTAIN: f64 = 4.0;
/// And the share of the rest's mean.
const LEAST_DIFFERENCE: f64 = 0.02;

/// What the cut says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WarmupCut {
    /// So many values at the beginning are warm-up; usually none.
    Cut(usize),
    /// The best cut lies beyond the middle: it has not converged.
    NotConverged,
    /// Too few values.
    TooFew,
}

/// The warm-up of a series of rates.
pub fn warmup_cut(rates: &[f64]) -> WarmupCut {
    let means: Vec<f64> = rates.chunks_exact(BATCH).filter_map(mean).collect();
    let k = means.len();
    if k < LEAST_BATCHES {
        return WarmupCut::TooFew;
    }
    let best = (0..=k / 2).min_by(|a, b| error(&means[*a..]).total_cmp(&error(&means[*b..])));
    let cut = best.unwrap_or(0) * BATCH;
    debug_assert!(
        cut <= rates.len() / 2,
        "a cut of {cut} leaves less than half of {} values",
        rates.len()
    );
    if cut == 0 || !differs(&rates[..cut], &rates[cut..]) {
        return WarmupCut::Cut(0);
    }
    match cut / BATCH == k / 2 {
        true => WarmupCut::NotConverged,
        false => WarmupCut::Cut(cut),
    }
}

/// Squared standard error of the mean.
fn error(means: &[f64]) -> f64 {
    Moments::of(means).map_or(f64::INFINITY, |m| m.squares / (m.count * m.count))
}

fn differs(cut: &[f64], rest: &[f64]) -> bool {
    let (Some(before), Some(after), Some(noise)) = (mean(cut), mean(rest), mean_error(rest)) else {
        return false;
    };
    let gap = (before - after).abs();
    // The error of a mean of as many values as were cut, and of the rest.
    let scale = (rest.len() as f64 / cut.len() as f64 + 1.0).sqrt();
    gap > CERTAIN * noise.upper * scale && gap > LEAST_DIFFERENCE * after.abs()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::noise::seeded;

    #[test]
    fn a_warm_up_is_cut_and_a_steady_trial_is_not() {
        let mut noise = seeded(1);
        let mut cuts = 0;
        for phi in [0.0, 0.5, 0.9] {
            for _ in 0..100 {
                let series = noise.ar1(phi, 120);
                let rates: Vec<f64> = series.iter().map(|v| 1000.0 + 30.0 * v).collect();
                cuts += usize::from(warmup_cut(&rates) != WarmupCut::Cut(0));
            }
        }
        assert!(cuts <= 6, "{cuts} of 300 steady trials were cut");
        let series = noise.ar1(0.3, 200);
        let rates: Vec<f64> = series
            .iter()
            .enumerate()
            .map(|(i, v)| 1000.0 * (1.0 - 0.4 * (-(i as f64) / 8.0).exp()) + 15.0 * v)
            .collect();
        let WarmupCut::Cut(cut) = warmup_cut(&rates) else {
            panic!("no cut");
        };
        assert!((10..=45).contains(&cut), "{cut}");
    }

    #[test]
    fn what_never_settles_has_not_converged() {
        let rates: Vec<f64> = (0..100).map(|i| 1000.0 - 8.0 * f64::from(i)).collect();
        assert_ne!(warmup_cut(&rates), WarmupCut::TooFew);
        assert_eq!(warmup_cut(&rates[..20]), WarmupCut::TooFew);
    }
}
