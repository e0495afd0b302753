//! A mean log ratio with its error: the common currency of paired and
//! unpaired comparisons.

use fathom_rules::method::comparison::{
    BUCKET_ERROR, LEAST_MARGIN, MOST_MARGIN, POWER, ROUNDING, USUAL_MARGIN,
};
use fathom_stats::student::{above, quantile, student_975};

/// ln(B/A) with its standard error.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Effect {
    /// Mean of the log ratios.
    pub mean: f64,
    /// Standard error of the mean.
    pub error: f64,
    /// Degrees of freedom of the error.
    pub degrees: f64,
    /// Pairs, or trials on the smaller side.
    pub units: usize,
}

/// Differences that count as none, as logs.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Margin {
    low: f64,
    high: f64,
}

impl Margin {
    /// ± so many percent, held between 0.01 and 90.
    pub fn percent(percent: f64) -> Margin {
        let share = match percent.is_finite() {
            true => (percent / 100.0).clamp(LEAST_MARGIN, MOST_MARGIN),
            false => USUAL_MARGIN,
        };
        Margin {
            low: (1.0 - share).ln(),
            high: (1.0 + share).ln(),
        }
    }

    /// Its lower and upper end, as logs.
    pub fn ends(self) -> (f64, f64) {
        (self.low, self.high)
    }
}

impl Effect {
    /// The effect on a latency that comes from a histogram.
    pub(crate) fn of_buckets(self) -> Effect {
        Effect {
            error: self.error.max(BUCKET_ERROR),
            ..self
        }
    }

    /// Probability of a mean this far from zero if there is no difference:
    /// two-sided t test.
    pub(crate) fn p_different(&self) -> f64 {
        match self.t_of(self.mean) {
            Some(t) => (2.0 * above(t.abs(), self.degrees)).min(1.0),
            None if self.mean.abs() <= ROUNDING => 1.0,
            None => 0.0,
        }
    }

    /// Two one-sided tests (Schuirmann 1987): probability of a mean this far
    /// inside the margin if the difference is as large as the margin.
    pub fn p_equivalent(&self, margin: Margin) -> f64 {
        let sides = [self.mean - margin.low, margin.high - self.mean];
        let p = |distance: f64| match self.t_of(distance) {
            Some(t) => above(t, self.degrees),
            None if distance > 0.0 => 0.0,
            None => 1.0,
        };
        sides.into_iter().map(p).fold(0.0, f64::max)
    }

    /// 95 % interval of the mean.
    pub fn interval(&self) -> (f64, f64) {
        let half = student_975(self.degrees) * self.error;
        (self.mean - half, self.mean + half)
    }

    /// Units after which a decision would come in four of five cases, if mean
    /// and spread stay as they are; `None` beyond `most`.
    pub(crate) fn units_needed(&self, margin: Margin, level: f64, most: usize) -> Option<usize> {
        let spread = self.error * (self.units as f64).sqrt();
        let inside = (self.mean - margin.low).min(margin.high - self.mean);
        let decides = |units: usize| {
            let degrees = (units as f64 - 1.0).max(1.0);
            let error = spread / (units as f64).sqrt();
            let power = quantile(POWER, degrees);
            let different = quantile(1.0 - level / 2.0, degrees) + power;
            let equivalent = quantile(1.0 - level, degrees) + power;
            self.mean.abs() > different * error || inside > equivalent * error
        };
        // More units never decide less: the smallest is found by halving.
        let (mut low, mut high) = (self.units, most);
        if !decides(high) {
            return None;
        }
        while high - low > 1 {
            let middle = low + (high - low) / 2;
            match decides(middle) {
                true => high = middle,
                false => low = middle,
            }
        }
        Some(high)
    }

    /// How many errors a distance is; `None` where there is no error.
    fn t_of(&self, distance: f64) -> Option<f64> {
        let rounding = ROUNDING * (1.0 + self.mean.abs());
        (self.error > rounding).then(|| distance / self.error)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_known_t_test_is_reproduced() {
        // t = 3 with 5 degrees of freedom: p = 0.03010 (tables).
        let effect = Effect {
            mean: 0.03,
            error: 0.01,
            degrees: 5.0,
            units: 6,
        };
        assert!((effect.p_different() - 0.0301).abs() < 0.0001);
        let (low, high) = effect.interval();
        assert!((low - 0.0043).abs() < 0.0001 && (high - 0.0557).abs() < 0.0001);
        // The upper margin is 1.88 errors away: 0.0595 above.
        let p = effect.p_equivalent(Margin::percent(5.0));
        assert!((p - above((1.05f64.ln() - 0.03) / 0.01, 5.0)).abs() < 1e-12);
    }

    #[test]
    fn sides_without_any_spread_are_decided() {
        let exact = |mean| Effect {
            mean,
            error: 0.0,
            degrees: 5.0,
            units: 6,
        };
        assert_eq!(exact(0.0).p_different(), 1.0);
        assert_eq!(exact(0.0).p_equivalent(Margin::percent(3.0)), 0.0);
        assert_eq!(exact(0.1).p_different(), 0.0);
        assert_eq!(exact(0.1).p_equivalent(Margin::percent(3.0)), 1.0);
    }

    #[test]
    fn more_spread_needs_more_units() {
        let effect = |error| Effect {
            mean: 0.01,
            error,
            degrees: 5.0,
            units: 6,
        };
        let margin = Margin::percent(3.0);
        let few = effect(0.01).units_needed(margin, 0.05, 1000);
        let many = effect(0.03).units_needed(margin, 0.05, 1000);
        assert!(few.is_some_and(|n| n > 6) && many > few, "{few:?} {many:?}");
        assert_eq!(effect(10.0).units_needed(margin, 0.05, 1000), None);
    }
}
