//! Ranks with probability in proportion to r^-theta.
//!
//! Rejection-inversion for monotone discrete distributions (Hörmann,
//! Derflinger, ACM TOMACS 6(3), 1996): constants once, no table, any size and
//! exponent, about one logarithm and one exponential per draw.

use fathom_model::elementary::{exp, exp_m1_over, ln, ln_1p_over};
use fathom_model::rng::Rng;

/// Draws ranks from 1 to n.
#[derive(Debug, Clone)]
pub(crate) struct Zipf {
    n: f64,
    theta: f64,
    upper: f64,
    width: f64,
    shortcut: f64,
}

impl Zipf {
    /// For `n` ranks (at least 1) and an exponent above 0.
    pub(crate) fn new(n: u64, theta: f64) -> Zipf {
        // At 0 the rejection never ends; uniform draws have a law of their own.
        debug_assert!(theta > 0.0, "an exponent of {theta}");
        let mut zipf = Zipf {
            n: n.max(1) as f64,
            theta,
            upper: 0.0,
            width: 0.0,
            shortcut: 0.0,
        };
        zipf.upper = zipf.integral(zipf.n + 0.5);
        zipf.width = zipf.integral(1.5) - 1.0 - zipf.upper;
        zipf.shortcut = 2.0 - zipf.integral_inverse(zipf.integral(2.5) - zipf.density(2.0));
        zipf
    }

    /// The next rank, from 0 to n - 1.
    #[inline]
    pub(crate) fn next(&self, rng: &mut Rng) -> u64 {
        loop {
            let u = self.upper + rng.unit() * self.width;
            let x = self.integral_inverse(u);
            let k = (x + 0.5).floor().clamp(1.0, self.n);
            if k - x <= self.shortcut || u >= self.integral(k + 0.5) - self.density(k) {
                return k as u64 - 1;
            }
        }
    }

    #[inline]
    fn density(&self, x: f64) -> f64 {
        exp(-self.theta * ln(x))
    }

    /// Integral of the density from 1 to `x`.
    #[inline]
    fn integral(&self, x: f64) -> f64 {
        let log = ln(x);
        log * exp_m1_over((1.0 - self.theta) * log)
    }

    #[inline]
    fn integral_inverse(&self, u: f64) -> f64 {
        // Rounding may push the argument past the pole; the end stops it.
        let t = (u * (1.0 - self.theta)).max(-1.0 + 1e-15);
        exp(u * ln_1p_over(t))
    }
}
