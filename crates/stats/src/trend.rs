//! A decline (or rise) too smooth for the test of drift.
//!
//! Where every second resembles its neighbours, the autocorrelation near 1
//! leaves too few independent seconds for a confidence interval, and a rate
//! that halves in a smooth curve would count as "no drift shown". Then the
//! medians of the three thirds are compared: in one direction throughout, far
//! apart, and farther than the noise within a third could bring them.

use crate::mad::{MAD_TO_DEVIATION, mad};
use crate::median::median;

/// Least change between the outer thirds, as a logarithm of the ratio.
const LEAST: f64 = 0.2;
/// It must be this many times the typical deviation within a third.
const DEVIATIONS: f64 = 4.0;
/// Cells below which thirds say nothing.
const LEAST_CELLS: usize = 30;

/// Relative change from the first to the last third of these logarithms of
/// rates; `None` where there is no such trend.
pub fn trend(logs: &[f64]) -> Option<f64> {
    if logs.len() < LEAST_CELLS {
        return None;
    }
    // What a division by three leaves over goes to the middle, which only has to lie
    // between the ends.
    let third = logs.len() / 3;
    let parts = [
        &logs[..third],
        &logs[third..logs.len() - third],
        &logs[logs.len() - third..],
    ];
    let middles: Vec<f64> = parts.iter().filter_map(|part| median(part)).collect();
    let [first, middle, last] = middles[..] else {
        return None;
    };
    let one_way = (first - middle) * (middle - last) > 0.0;
    let deviations: Vec<f64> = parts.iter().filter_map(|part| mad(part)).collect();
    let typical = median(&deviations)? * MAD_TO_DEVIATION;
    let change = last - first;
    (one_way && change.abs() > LEAST && change.abs() > DEVIATIONS * typical)
        .then(|| change.exp() - 1.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::noise::seeded;

    #[test]
    fn a_smooth_decline_is_seen_and_noise_is_not() {
        let decline: Vec<f64> = (0..200)
            .map(|second| match second {
                0..67 => 9.26,
                _ => 9.0 - 0.4 * (f64::from(second - 67) / 133.0).sqrt(),
            })
            .collect();
        let change = trend(&decline).unwrap();
        assert!((-0.55..-0.4).contains(&change), "{change}");
        let mut noise = seeded(9);
        let mut alarms = 0;
        for phi in [0.0, 0.5, 0.9] {
            for _ in 0..200 {
                let series = noise.ar1(phi, 120);
                let logs: Vec<f64> = series.iter().map(|v| 0.1 * v).collect();
                alarms += usize::from(trend(&logs).is_some());
            }
        }
        assert!(alarms <= 6, "{alarms} of 600");
    }
}
