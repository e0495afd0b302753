//! Latencies with a tail.

use fathom_model::rng::Rng;

use crate::access::elementary::{exp, standard_normal};

/// Draws log-normal latencies around a mean.
#[derive(Debug, Clone)]
pub(super) struct Tail {
    rng: Rng,
    sigma: f64,
}

impl Tail {
    /// `sigma` is the standard deviation of the logarithm; 0 is no spread.
    pub(super) fn new(seed: u64, sigma: f64) -> Tail {
        Tail {
            rng: Rng::new(seed),
            sigma,
        }
    }

    /// A latency whose long-run mean is `mean_ns`.
    pub(super) fn draw(&mut self, mean_ns: u64) -> u64 {
        if self.sigma <= 0.0 {
            return mean_ns;
        }
        let z = standard_normal(&mut self.rng);
        let factor = exp(self.sigma * z - 0.5 * self.sigma * self.sigma);
        (mean_ns as f64 * factor) as u64
    }
}
