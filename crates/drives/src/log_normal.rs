//! Latencies with a tail: log-normal around a mean.

use fathom_model::elementary::{exp, standard_normal};
use fathom_model::rng::Rng;

use super::truth::Latency;

/// Draws log-normal latencies around a mean.
#[derive(Debug, Clone)]
pub(super) struct LogNormal {
    rng: Rng,
    sigma: f64,
}

impl LogNormal {
    /// `sigma` is the standard deviation of the logarithm; 0 is no spread.
    pub(super) fn new(seed: u64, sigma: f64) -> LogNormal {
        LogNormal {
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

    /// What draws around `mean_ns` look like after `more_ns` have been added.
    pub(super) fn latency(&self, mean_ns: f64, more_ns: f64) -> Latency {
        // The 99th percentile of a standard normal.
        const Z99: f64 = 2.326_347_874_040_841;
        let median_ns = mean_ns * exp(-0.5 * self.sigma * self.sigma);
        Latency {
            median_ns: median_ns + more_ns,
            p99_ns: median_ns * exp(self.sigma * Z99) + more_ns,
        }
    }
}
