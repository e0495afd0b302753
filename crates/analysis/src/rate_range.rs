//! The rate of a trial between two bounds that another trial can be held against.
//!
//! That is the interval that is printed, but for trials of a few seconds. They have
//! none, or a very wide one, because how neighbouring seconds resemble one another
//! cannot be seen in so few; to tell two rates apart it is enough to assume that
//! they resemble one another as much as is usual.

use fathom_model::estimate::Estimate;
use fathom_rules::check::v16::SHORT_SECONDS;
use fathom_rules::check::v21::{AUTOCORRELATED, LEAST_ROUGH, MOST_ROUGH};
use fathom_stats::moments::Moments;
use fathom_stats::student::student_975;

use crate::trial::Trial;

/// A rate and its 95 % bounds, printed or assumed.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct RateRange {
    pub(crate) low: f64,
    pub(crate) value: f64,
    pub(crate) high: f64,
}

impl RateRange {
    /// Of a trial with this estimate; `None` where no one rate describes it, or
    /// nothing is known of its error.
    pub(crate) fn of(trial: &Trial<'_>, estimate: &Estimate) -> Option<RateRange> {
        let value = estimate.value.filter(|value| *value > 0.0)?;
        let rates = trial.second_rates();
        let long = rates.len() > SHORT_SECONDS;
        let half = match (estimate.low, estimate.high) {
            (Some(low), Some(high)) if long => return Some(RateRange { low, value, high }),
            _ => value * rough_error(&rates)?,
        };
        Some(RateRange {
            low: value - half,
            value,
            high: value + half,
        })
    }

    /// This rate over another, measured apart from it: the bounds of both are joined as
    /// independent errors of the logarithms (Zou & Donner 2008). `None` where a lower
    /// bound is not above 0.
    pub(crate) fn over(&self, other: &RateRange) -> Option<RateRange> {
        if !(self.low > 0.0 && other.low > 0.0) {
            return None;
        }
        let value = self.value / other.value;
        let up = (self.high / self.value)
            .ln()
            .hypot((other.value / other.low).ln());
        let down = (self.value / self.low)
            .ln()
            .hypot((other.high / other.value).ln());
        Some(RateRange {
            low: value * (-down).exp(),
            value,
            high: value * up.exp(),
        })
    }

    /// By how much this rate is above another at most.
    pub(crate) fn most_above(&self, other: &RateRange) -> f64 {
        let error = (self.high - self.value).hypot(other.value - other.low);
        self.value - other.value + error
    }
}

/// Half of the 95 % interval of a mean of a few seconds, relative to the mean.
fn rough_error(rates: &[f64]) -> Option<f64> {
    if !(LEAST_ROUGH..=MOST_ROUGH).contains(&rates.len()) {
        return None;
    }
    let moments = Moments::of(rates)?;
    let half = AUTOCORRELATED * student_975(moments.count - 1.0) * moments.standard_error()?;
    let relative = half / moments.mean;
    (relative.is_finite() && relative < 1.0).then_some(relative)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::statistics::noise::seeded;

    /// Ten seconds of usual noise: the bounds must hold the mean at least as often
    /// as an interval that is printed.
    #[test]
    fn a_rough_error_holds_the_mean() {
        let mut noise = seeded(5);
        for phi in [0.0, 0.2, 0.4] {
            let held = (0..4000).filter(|_| {
                let series = noise.ar1(phi, 10);
                let rates: Vec<f64> = series.iter().map(|v| 1.0 + 0.05 * v).collect();
                let mean = rates.iter().sum::<f64>() / 10.0;
                rough_error(&rates).is_some_and(|error| (1.0 / mean - 1.0).abs() <= error)
            });
            let share = held.count() as f64 / 4000.0;
            assert!(share >= 0.92, "{phi}: {share}");
        }
    }

    /// The bounds of a ratio hold the truth as often as those of its two rates.
    #[test]
    fn a_ratio_of_two_ranges_holds_the_truth() {
        let mut noise = seeded(6);
        let mut range = |truth: f64| {
            let value = truth * (1.0 + 0.05 * noise.normal());
            let half = 1.96 * 0.05 * truth;
            RateRange {
                low: value - half,
                value,
                high: value + half,
            }
        };
        let held = (0..4000).filter(|_| {
            let (mine, theirs) = (range(100.0), range(130.0));
            let ratio = theirs.over(&mine).unwrap();
            ratio.low <= 1.3 && 1.3 <= ratio.high && mine.most_above(&theirs) >= -30.0
        });
        let share = held.count() as f64 / 4000.0;
        assert!((0.91..0.97).contains(&share), "{share}");
    }

    #[test]
    fn long_and_very_short_series_are_not_guessed_at() {
        assert_eq!(rough_error(&[1.0]), None);
        assert_eq!(rough_error(&[1.0; 31]), None);
        assert_eq!(rough_error(&[1.0; 10]), Some(0.0));
        assert_eq!(rough_error(&[0.0; 10]), None, "nothing was done");
    }
}
