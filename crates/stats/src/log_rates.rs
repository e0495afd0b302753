//! Rates made ready for the search of change points.
//!
//! Noise of storage grows with the rate, so levels are compared on a log
//! scale, where a step of 10 % is 0.1 whatever the level. A stall of a second
//! or two is no level: values farther than three deviations from the running
//! median of five are brought to that distance, so that the noise stays what
//! it is and an outlier cannot make a segment of its own (compare the bounded
//! loss of Fearnhead & Rigaill, JASA 2019). Edges of levels that last three
//! values or more pass a median of five unchanged.

use crate::mad::MAD_TO_DEVIATION;
use crate::median::median;

/// Share of the median rate that stands for "nothing".
const FLOOR: f64 = 1e-3;
/// Deviations beyond which a value is an outlier.
const OUTLIER: f64 = 3.0;

/// Natural logarithms of rates, one for each, with outliers brought in. Rates that
/// are not numbers count as typical, those of nothing as a thousandth of the median;
/// all are 0 where no rate is above 0.
pub fn log_rates(rates: &[f64]) -> Vec<f64> {
    let positive: Vec<f64> = rates
        .iter()
        .copied()
        .filter(|r| *r > 0.0 && r.is_finite())
        .collect();
    let Some(typical) = median(&positive) else {
        return vec![0.0; rates.len()];
    };
    let floor = (typical * FLOOR).max(f64::MIN_POSITIVE);
    let logs: Vec<f64> = rates
        .iter()
        .map(|r| {
            if r.is_finite() {
                r.max(floor).ln()
            } else {
                typical.ln()
            }
        })
        .collect();
    winsorized(&logs)
}

fn winsorized(values: &[f64]) -> Vec<f64> {
    let smooth = running_median(values);
    let residuals: Vec<f64> = values
        .iter()
        .zip(&smooth)
        .map(|(v, s)| (v - s).abs())
        .collect();
    // A median of five takes part of the noise with it; exact zeros are the
    // values that are their own median.
    let moved: Vec<f64> = residuals.iter().copied().filter(|r| *r > 0.0).collect();
    let deviation = median(&moved).unwrap_or(0.0) * MAD_TO_DEVIATION;
    let limit = OUTLIER * deviation;
    values
        .iter()
        .zip(&smooth)
        .map(|(v, s)| v.clamp(s - limit, s + limit))
        .collect()
}

/// Running median of five, shorter at the ends.
fn running_median(values: &[f64]) -> Vec<f64> {
    (0..values.len())
        .map(|i| {
            let reach = 2.min(i).min(values.len() - 1 - i);
            // At the very ends one neighbour more, so that an outlier there
            // is seen too.
            let (from, to) = match reach {
                0 => (i.saturating_sub(2), (i + 2).min(values.len() - 1)),
                reach => (i - reach, i + reach),
            };
            median(&values[from..=to]).unwrap_or(values[i])
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::noise::seeded;

    #[test]
    fn single_stalls_are_brought_in_and_edges_stay() {
        let mut noise = seeded(1);
        let mut rates: Vec<f64> = (0..60)
            .map(|_| 1000.0 * (1.0 + 0.02 * noise.normal()))
            .collect();
        rates[20] = 0.0;
        rates[40] = 3.0;
        rates[41] = 5.0;
        let logs = log_rates(&rates);
        assert!(
            logs.iter().all(|l| (l - 1000f64.ln()).abs() < 0.15),
            "{logs:?}"
        );
        let step: Vec<f64> = (0..40).map(|i| if i < 3 { 900.0 } else { 100.0 }).collect();
        let logs = log_rates(&step);
        assert_eq!((logs[2], logs[3]), (900f64.ln(), 100f64.ln()));
        assert_eq!(log_rates(&[0.0; 5]), [0.0; 5]);
    }
}
