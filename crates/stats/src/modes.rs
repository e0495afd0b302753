//! Two levels without order in time: garbage collection that comes and goes.
//!
//! A mixture of two normal distributions is fitted to the logarithms of the
//! rates (EM). There are two modes when Ashman's
//! D = √2·|m₁−m₂| / √(s₁²+s₂²) exceeds 2 (Ashman, Bird & Zepf 1994), both
//! weights are at least 5 %, and the mixture beats one normal distribution by
//! 10 in the Bayesian information criterion. Slow wandering of a correlated
//! series also fills two heaps by chance; so the rate must have jumped between
//! the levels, not walked, and at least six times.

use crate::moments::Moments;

/// The larger D is, the clearer the modes stand apart.
pub const LEAST_D: f64 = 2.0;
const LEAST_WEIGHT: f64 = 0.05;
const LEAST_CELLS: usize = 30;
const LEAST_CHANGES: u32 = 6;
/// Levels closer than this (on the log scale) are one.
const LEAST_GAP: f64 = 0.1;
const LEAST_BIC: f64 = 10.0;
const ROUNDS: usize = 60;
/// Share of the changes that must be jumps.
const JUMPS: f64 = 0.6;

/// Two modes of a series of logarithms of rates.
#[derive(Debug, Clone, PartialEq)]
pub struct Modes {
    /// For each value whether it belongs to the higher mode.
    pub high: Vec<bool>,
    /// Ashman's D of the two, above [`LEAST_D`].
    pub ashman_d: f64,
    /// How often the series went from one mode to the other.
    pub changes: u32,
}

#[derive(Debug, Clone, Copy)]
struct Normal {
    weight: f64,
    mean: f64,
    deviation: f64,
}

impl Normal {
    fn density(&self, value: f64) -> f64 {
        let z = (value - self.mean) / self.deviation;
        self.weight * (-0.5 * z * z).exp() / (self.deviation * std::f64::consts::TAU.sqrt())
    }
}

/// The two modes, when there are two.
pub fn two_modes(logs: &[f64]) -> Option<Modes> {
    let n = logs.len() as f64;
    if logs.len() < LEAST_CELLS || logs.iter().any(|v| !v.is_finite()) {
        return None;
    }
    let moments = Moments::of(logs)?;
    let (mean, deviation) = (moments.mean, moments.deviation_within());
    if deviation < LEAST_GAP / 5.0 {
        return None;
    }
    let (low, high) = fit(logs, deviation)?;
    debug_assert!(
        (low.weight + high.weight - 1.0).abs() < 1e-6,
        "each value belongs to the two modes together once"
    );
    let gap = high.mean - low.mean;
    let spread = (low.deviation.powi(2) + high.deviation.powi(2)).sqrt();
    let ashman_d = std::f64::consts::SQRT_2 * gap / spread;
    let thin = low.weight.min(high.weight) < LEAST_WEIGHT;
    if ashman_d <= LEAST_D || thin || gap < LEAST_GAP {
        return None;
    }
    let one = Normal {
        weight: 1.0,
        mean,
        deviation,
    };
    let likelihood = |density: &dyn Fn(f64) -> f64| -> f64 {
        logs.iter().map(|v| density(*v).max(1e-300).ln()).sum()
    };
    let gain = likelihood(&|v| low.density(v) + high.density(v)) - likelihood(&|v| one.density(v));
    if 2.0 * gain - 3.0 * n.ln() < LEAST_BIC {
        return None;
    }
    let belongs: Vec<bool> = logs
        .iter()
        .map(|v| high.density(*v) > low.density(*v))
        .collect();
    let changes = belongs.windows(2).filter(|w| w[0] != w[1]).count() as u32;
    // Within one value or two: the second of a change is a mixture.
    let jumps = (1..belongs.len())
        .filter(|i| belongs[*i] != belongs[i - 1])
        .filter(|i| {
            let (from, to) = (i.saturating_sub(2), (i + 1).min(logs.len() - 1));
            let near = [
                logs[to] - logs[i - 1],
                logs[*i] - logs[from],
                logs[*i] - logs[i - 1],
            ];
            near.into_iter().any(|d| d.abs() >= 0.75 * gap)
        })
        .count() as u32;
    let jumped = f64::from(jumps) >= JUMPS * f64::from(changes);
    (changes >= LEAST_CHANGES && jumped).then_some(Modes {
        high: belongs,
        ashman_d,
        changes,
    })
}

/// EM from the halves below and above the middle of the range.
fn fit(logs: &[f64], deviation: f64) -> Option<(Normal, Normal)> {
    let lowest = logs.iter().copied().fold(f64::MAX, f64::min);
    let highest = logs.iter().copied().fold(f64::MIN, f64::max);
    let normal = |mean: f64| Normal {
        weight: 0.5,
        mean,
        deviation: deviation / 2.0,
    };
    let mut pair = (normal(lowest), normal(highest));
    for _ in 0..ROUNDS {
        let shares: Vec<f64> = logs
            .iter()
            .map(|v| {
                let (low, high) = (pair.0.density(*v), pair.1.density(*v));
                match low + high {
                    sum if sum > 0.0 => high / sum,
                    _ => f64::from(u8::from(*v > (pair.0.mean + pair.1.mean) / 2.0)),
                }
            })
            .collect();
        let component = |share: &dyn Fn(usize) -> f64| {
            let weight: f64 = (0..logs.len()).map(share).sum();
            let mean = (0..logs.len()).map(|i| share(i) * logs[i]).sum::<f64>() / weight;
            let squares: f64 = (0..logs.len())
                .map(|i| share(i) * (logs[i] - mean).powi(2))
                .sum();
            Normal {
                weight: weight / logs.len() as f64,
                mean,
                // A mode of equal values must not become a spike.
                deviation: (squares / weight).sqrt().max(deviation / 50.0),
            }
        };
        pair = (component(&|i| 1.0 - shares[i]), component(&|i| shares[i]));
    }
    let sound = |n: &Normal| n.mean.is_finite() && n.deviation.is_finite();
    (sound(&pair.0) && sound(&pair.1)).then_some(pair)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::noise::seeded;

    #[test]
    fn one_level_has_one_mode() {
        let mut alarms = 0;
        let mut noise = seeded(21);
        for n in [30, 60, 120, 300] {
            for phi in [0.0, 0.5, 0.8, 0.9] {
                for cv in [0.05, 0.2] {
                    for _ in 0..20 {
                        let series = noise.ar1(phi, n);
                        let logs: Vec<f64> = series
                            .iter()
                            .map(|v| (1.0 + cv * v).max(0.01).ln())
                            .collect();
                        alarms += usize::from(two_modes(&logs).is_some());
                    }
                }
            }
        }
        assert!(alarms <= 13, "{alarms} of 640");
    }

    #[test]
    fn back_and_forth_is_two_modes() {
        let mut noise = seeded(22);
        for (period, low_part, ratio) in [(10, 3, 0.3), (20, 6, 0.7), (6, 1, 0.5), (8, 4, 0.8)] {
            let logs: Vec<f64> = (0..120)
                .map(|i| {
                    let level: f64 = if i % period < low_part { ratio } else { 1.0 };
                    level.ln() + 0.03 * noise.normal()
                })
                .collect();
            let modes = two_modes(&logs).unwrap_or_else(|| panic!("period {period}"));
            let high = modes.high.iter().filter(|h| **h).count() as f64 / 120.0;
            let truth = 1.0 - f64::from(low_part) / f64::from(period);
            assert!((high - truth).abs() < 0.05, "period {period}: {high}");
            assert!(modes.ashman_d > 2.0 && modes.changes >= 6);
        }
        assert!(two_modes(&[1.0; 100]).is_none());
    }
}
