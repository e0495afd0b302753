//! Comparisons of sides whose truth is known: how often is the outcome right?
//!
//! Used by tests with asserted bounds, and open to whoever wants to make the
//! figures anew.

use super::decide::{Direction, decide};
use super::effect::Margin;
use super::paired::{self, Difference};
use super::{LEAST_PAIRS, order_level};
use crate::statistics::noise::{Noise, seeded};

/// A kind of comparison.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Simulated {
    /// Pairs of each comparison.
    pub pairs: u32,
    /// What B truly is above A, percent of a higher-is-better figure.
    pub true_percent: f64,
    /// Standard deviation of a trial, percent.
    pub noise_percent: f64,
    /// Standard deviation of the step of a random walk from trial to trial,
    /// percent.
    pub walk_percent: f64,
    /// Steady drift from trial to trial, percent.
    pub drift_percent: f64,
    /// Differences up to this many percent count as none.
    pub margin_percent: f64,
    /// Figures per row; the first decides.
    pub figures: u32,
    /// Share of the noise that a row's figures have in common, 0 to 1.
    pub common: f64,
    /// Rows.
    pub rows: u32,
    /// Seed.
    pub seed: u64,
}

impl Default for Simulated {
    /// Six pairs of equal sides with 2 % noise, one figure.
    fn default() -> Self {
        Simulated {
            pairs: 6,
            true_percent: 0.0,
            noise_percent: 2.0,
            walk_percent: 0.0,
            drift_percent: 0.0,
            margin_percent: 3.0,
            figures: 1,
            common: 0.0,
            rows: 1,
            seed: 1,
        }
    }
}

/// How the comparisons ended, as shares of one. The deciding figures of all
/// rows count; `any_figure` looks at the others too.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Rates {
    /// Some row was called faster.
    pub faster: f64,
    /// Some row was called slower.
    pub slower: f64,
    /// Some row was called equivalent.
    pub equivalent: f64,
    /// Every row was inconclusive.
    pub inconclusive: f64,
    /// Some figure of some row was called faster or slower.
    pub any_figure: f64,
    /// The 95 % interval of the first figure held the truth.
    pub covered: f64,
}

/// Makes `comparisons` comparisons and counts their outcomes.
pub fn simulate(what: &Simulated, comparisons: u32) -> Rates {
    let margin = Margin::percent(what.margin_percent);
    let mut noise = seeded(what.seed);
    let mut counts = [0u32; 6];
    for _ in 0..comparisons {
        let effects: Vec<Vec<_>> = session(what, &mut noise)
            .iter()
            .map(|row| {
                let figures = row.iter();
                figures
                    .map(|f| paired::effect(f, order_level()).0)
                    .collect()
            })
            .collect();
        let decided = decide(&effects, margin, LEAST_PAIRS);
        let is = |direction| {
            let mut firsts = decided.iter().filter_map(|r| r.first().copied().flatten());
            firsts.any(|d| d.direction == direction)
        };
        let (faster, slower) = (is(Direction::Higher), is(Direction::Lower));
        let equivalent = is(Direction::Equivalent);
        let any = decided.iter().flatten().flatten();
        let any = any
            .into_iter()
            .any(|d| matches!(d.direction, Direction::Higher | Direction::Lower));
        let truth = (1.0 + what.true_percent / 100.0).ln();
        let covered = effects[0][0].is_some_and(|e| {
            let (low, high) = e.interval();
            low <= truth && truth <= high
        });
        let seen = [
            faster,
            slower,
            equivalent,
            !(faster || slower || equivalent),
            any,
            covered,
        ];
        for (count, seen) in counts.iter_mut().zip(seen) {
            *count += u32::from(seen);
        }
    }
    let share = |count: u32| f64::from(count) / f64::from(comparisons.max(1));
    let [
        faster,
        slower,
        equivalent,
        inconclusive,
        any_figure,
        covered,
    ] = counts.map(share);
    Rates {
        faster,
        slower,
        equivalent,
        inconclusive,
        any_figure,
        covered,
    }
}

/// One session: for each row and figure its pairs, trials in the order in
/// which `fathom ab` carries them out.
fn session(what: &Simulated, noise: &mut Noise) -> Vec<Vec<Vec<Difference>>> {
    let percent = |p: f64| p / 100.0;
    let (rows, figures) = (what.rows.max(1) as usize, what.figures.max(1) as usize);
    let mut out = vec![vec![Vec::new(); figures]; rows];
    let mut level = 0.0;
    let truth = (1.0 + percent(what.true_percent)).ln();
    let (shared, own) = (what.common.sqrt(), (1.0 - what.common).max(0.0).sqrt());
    for pair in 0..what.pairs {
        let b_first = pair % 2 == 1;
        for row in &mut out {
            let mut trial = |is_b: bool| -> Vec<f64> {
                level += percent(what.drift_percent) + percent(what.walk_percent) * noise.normal();
                let base = level + if is_b { truth } else { 0.0 };
                let together = noise.normal();
                let figure = |_| {
                    let error = shared * together + own * noise.normal();
                    base + percent(what.noise_percent) * error
                };
                (0..figures).map(figure).collect()
            };
            let first = trial(b_first);
            let second = trial(!b_first);
            let (a, b) = if b_first {
                (second, first)
            } else {
                (first, second)
            };
            for (figure, (a, b)) in row.iter_mut().zip(a.into_iter().zip(b)) {
                figure.push(Difference {
                    log_ratio: b - a,
                    b_first,
                });
            }
        }
    }
    out
}

#[cfg(test)]
#[path = "simulation_tests.rs"]
mod tests;
