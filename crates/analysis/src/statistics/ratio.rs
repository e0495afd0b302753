//! A ratio of two sums over seconds: operations over time, bytes over time,
//! latency over operations.
//!
//! The value is total over total. Its error is that of the residuals
//! numerator − ratio × denominator (Cochran, *Sampling Techniques*, ch. 6), so
//! that seconds of unequal length or with unequal numbers of operations weigh
//! what they should.

use fathom_model::estimate::{Estimate, Unit};
use fathom_rules::check;
use fathom_stats::effective_size::{MIN_EFFECTIVE, MeanError, mean_error};
use fathom_stats::student::student_975;

/// Numerator and denominator of one second.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct RatioPart {
    pub(crate) numerator: f64,
    pub(crate) denominator: f64,
}

impl RatioPart {
    /// Numerators and denominators added up.
    pub(crate) fn sum(parts: impl Iterator<Item = RatioPart>) -> RatioPart {
        let zero = RatioPart {
            numerator: 0.0,
            denominator: 0.0,
        };
        parts.fold(zero, |sum, part| RatioPart {
            numerator: sum.numerator + part.numerator,
            denominator: sum.denominator + part.denominator,
        })
    }
}

/// A ratio and what is known about its error.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Ratio {
    /// Total over total.
    pub(crate) value: f64,
    /// Number of seconds.
    pub(crate) parts: usize,
    /// Error of the value; `None` for a single second.
    pub(crate) error: Option<MeanError>,
}

impl Ratio {
    /// `None` when the denominators add up to nothing.
    pub(crate) fn of(parts: &[RatioPart]) -> Option<Ratio> {
        Ratio::within(&[parts])
    }

    /// The ratio over several trials, with the error that the seconds within
    /// them show: residuals are taken against the trial's own ratio.
    pub(crate) fn within<T: AsRef<[RatioPart]>>(trials: &[T]) -> Option<Ratio> {
        let all = || trials.iter().flat_map(|t| t.as_ref().iter().copied());
        let parts = all().count();
        let total = RatioPart::sum(all());
        let value = total.numerator / total.denominator;
        if !(total.denominator > 0.0 && value.is_finite()) {
            return None;
        }
        // Residuals per mean denominator: the mean of these has the error of
        // the ratio itself.
        let scale = parts as f64 / total.denominator;
        let mut residuals = Vec::with_capacity(parts);
        for trial in trials {
            let own = RatioPart::sum(trial.as_ref().iter().copied());
            let own = match own.denominator > 0.0 {
                true => own.numerator / own.denominator,
                false => value,
            };
            residuals.extend(
                trial
                    .as_ref()
                    .iter()
                    .map(|p| (p.numerator - own * p.denominator) * scale),
            );
        }
        // What was counted in one part alone cannot have varied.
        let counted = all().filter(|part| part.denominator > 0.0).take(2).count();
        // Residuals of an unvarying series are rounding errors around zero.
        let rounding = value.abs() * 1e-9;
        let error = if counted < 2 {
            None
        } else if parts > 1 && residuals.iter().all(|r| r.abs() <= rounding) {
            mean_error(&vec![1.0; parts])
        } else {
            mean_error(&residuals)
        };
        Some(Ratio {
            value,
            parts,
            error,
        })
    }

    /// Half the width of the 95 % interval, also where the series is too short
    /// for it to be printed.
    pub(crate) fn half_width(&self) -> Option<f64> {
        let half = self.error?.half_width;
        half.is_finite().then_some(half)
    }

    /// How much longer to measure for an interval that is of use: the narrowest that
    /// are printed are three times as wide. Parts shorter than a second count as one:
    /// more of them would not be more independent.
    pub(crate) fn longer_for_interval(&self, measured_ns: u64) -> u64 {
        let have = self.error.map_or(1.0, |e| e.n_effective);
        let nominal_ns = (self.parts as u64).saturating_mul(1_000_000_000);
        longer_for(measured_ns.max(nominal_ns), check::v15::INFO, have)
    }

    /// The estimate, where `measured_ns` is how long the seconds are together.
    pub(crate) fn estimate(&self, unit: Unit, measured_ns: u64) -> Estimate {
        let seconds = self.parts;
        let Some(error) = self.error else {
            let reason = "a single second cannot show how much the rate varies";
            return Estimate::point(unit, self.value, reason)
                .run_longer(self.longer_for_interval(measured_ns));
        };
        if error.n_effective < MIN_EFFECTIVE {
            let reason = format!(
                "{seconds} s hold {:.1} independent seconds; an interval takes {MIN_EFFECTIVE:.0}",
                error.n_effective
            );
            let mut point = Estimate::point(unit, self.value, reason)
                .run_longer(self.longer_for_interval(measured_ns));
            point.n_effective = Some(error.n_effective);
            return point;
        }
        match self.half_width() {
            Some(half) if is_too_wide(self.value, half) => {
                let reason = format!(
                    "the {seconds} seconds vary so much that the interval would be {}",
                    width_text(self.value, half)
                );
                let need = (half / self.value).powi(2);
                Estimate::point(unit, self.value, reason).run_longer(longer_for(
                    measured_ns,
                    need,
                    1.0,
                ))
            }
            Some(half) => Estimate::known(
                unit,
                self.value,
                // Neither a rate nor a latency can be negative.
                (self.value - half).max(0.0),
                self.value + half,
                error.n_effective,
            ),
            None => Estimate::point(unit, self.value, "the spread is beyond computation"),
        }
    }
}

/// The estimate over several trials: the error is that between trials, with
/// Student's t on their number, or that within them where it is larger (a few
/// trials can agree by chance). One trial gets the estimate of its seconds.
/// `None` when nothing was counted.
pub(crate) fn over_trials<T: AsRef<[RatioPart]>>(
    trials: &[T],
    unit: Unit,
    measured_ns: u64,
) -> Option<Estimate> {
    let within = Ratio::within(trials)?;
    let used: Vec<RatioPart> = trials
        .iter()
        .map(|t| RatioPart::sum(t.as_ref().iter().copied()))
        .filter(|t| t.denominator > 0.0)
        .collect();
    if used.len() < 2 {
        return Some(within.estimate(unit, measured_ns));
    }
    let k = used.len() as f64;
    let value = within.value;
    let mean_denominator = used.iter().map(|t| t.denominator).sum::<f64>() / k;
    let squares: f64 = used
        .iter()
        .map(|t| ((t.numerator - value * t.denominator) / mean_denominator).powi(2))
        .sum();
    let between = student_975(k - 1.0) * (squares / (k - 1.0) / k).sqrt();
    let inside = match within.error {
        Some(error) if error.n_effective >= MIN_EFFECTIVE => within.half_width().unwrap_or(0.0),
        _ => 0.0,
    };
    let half = between.max(inside);
    if !half.is_finite() {
        let reason = "the spread is beyond computation";
        return Some(Estimate::point(unit, value, reason));
    }
    if is_too_wide(value, half) {
        let need = trials_for(used.len(), half / value);
        let reason = format!(
            "the {} trials differ so much that the interval would be {}; run {need} iterations",
            used.len(),
            width_text(value, half)
        );
        let longer_ns = measured_ns as f64 * (need as f64 / k - 1.0);
        return Some(Estimate::point(unit, value, reason).run_longer(longer_ns as u64));
    }
    Some(Estimate::known(
        unit,
        value,
        (value - half).max(0.0),
        value + half,
        k,
    ))
}

/// Whether an interval is so wide that it says nothing about the value.
pub fn is_too_wide(value: f64, half: f64) -> bool {
    half > check::v16::UNPRINTABLE * value.abs()
}

fn width_text(value: f64, half: f64) -> String {
    match 100.0 * half / value.abs() {
        percent if percent <= 1000.0 => format!("±{percent:.0} % of the value"),
        _ => "±1,000 % of the value or more".to_owned(),
    }
}

/// Iterations after which as much scatter gives an interval that is printed,
/// where `have` of them gave one of `relative` half width.
fn trials_for(have: usize, relative: f64) -> usize {
    let limit = check::v16::UNPRINTABLE;
    let factor = |k: usize| student_975(k as f64 - 1.0) / (k as f64).sqrt();
    let narrow = |k: &usize| relative * factor(*k) / factor(have) <= limit;
    let most = check::v16::MOST_TRIALS;
    (have + 1..most).find(narrow).unwrap_or(most)
}

/// How much longer to measure, so that `have` effective samples in
/// `measured_ns` become `need`, with a fifth to spare; whole seconds. At least as long
/// again: how many samples a run has is a guess from the same run, and a smaller advice
/// would have to be given three times.
pub(crate) fn longer_for(measured_ns: u64, need: f64, have: f64) -> u64 {
    let factor = (check::v16::SPARE * need / have.max(1e-3) - 1.0).clamp(1.0, 1e6);
    let seconds = (measured_ns as f64 * factor / 1e9).ceil();
    (seconds.clamp(1.0, 1e9) as u64).saturating_mul(1_000_000_000)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parts(values: &[f64]) -> Vec<RatioPart> {
        values
            .iter()
            .map(|v| RatioPart {
                numerator: *v,
                denominator: 1.0,
            })
            .collect()
    }

    #[test]
    fn value_is_total_over_total_even_with_a_short_last_second() {
        let mut seconds = parts(&[100.0; 20]);
        seconds.push(RatioPart {
            numerator: 10.0,
            denominator: 0.1,
        });
        let ratio = Ratio::of(&seconds).unwrap();
        assert!((ratio.value - 100.0).abs() < 1e-9);
        let estimate = ratio.estimate(Unit::OpsPerSecond, 20_100_000_000);
        assert!(
            (estimate.high.unwrap() - 100.0).abs() < 1e-6,
            "{estimate:?}"
        );
    }

    #[test]
    fn few_seconds_give_a_value_without_interval_and_a_hint() {
        let ratio = Ratio::of(&parts(&[90.0, 110.0, 100.0])).unwrap();
        let estimate = ratio.estimate(Unit::OpsPerSecond, 3_000_000_000);
        assert_eq!(estimate.value, Some(100.0));
        assert_eq!((estimate.low, estimate.high), (None, None));
        assert!(estimate.reason.is_some() && estimate.run_longer_ns > Some(6_000_000_000));
        let one = Ratio::of(&parts(&[90.0])).unwrap();
        let estimate = one.estimate(Unit::OpsPerSecond, 1_000_000_000);
        assert_eq!((estimate.value, estimate.low), (Some(90.0), None));
    }

    #[test]
    fn nothing_over_nothing_is_no_ratio() {
        assert_eq!(Ratio::of(&[]), None);
        assert_eq!(
            Ratio::of(&[RatioPart {
                numerator: 1.0,
                denominator: 0.0
            }]),
            None
        );
    }

    #[test]
    fn an_interval_wider_than_its_value_is_replaced_by_its_reason() {
        let unit = Unit::OpsPerSecond;
        let two = [parts(&[1000.0; 12]), parts(&[400.0; 12])];
        let estimate = over_trials(&two, unit, 24_000_000_000).unwrap();
        assert_eq!(estimate.value, Some(700.0));
        assert_eq!((estimate.low, estimate.high), (None, None));
        let reason = estimate.reason.unwrap();
        assert!(reason.contains("±545 %"), "{reason}");
        assert!(reason.contains("run 4 iterations"), "{reason}");
        assert_eq!(estimate.run_longer_ns, Some(24_000_000_000));
        // Close to one another they have an interval.
        let two = [parts(&[1000.0; 12]), parts(&[990.0; 12])];
        let estimate = over_trials(&two, unit, 24_000_000_000).unwrap();
        assert!(estimate.low.is_some(), "{estimate:?}");
        // Within one trial as well: a single second had all the work.
        let mut values = [1.0; 40];
        values[20] = 10_000.0;
        let one = Ratio::of(&parts(&values)).unwrap();
        let estimate = one.estimate(unit, 40_000_000_000);
        assert_eq!(estimate.low, None);
        assert!(estimate.run_longer_ns.is_some(), "{estimate:?}");
        assert!(estimate.reason.unwrap().contains("vary so much"));
    }
}
