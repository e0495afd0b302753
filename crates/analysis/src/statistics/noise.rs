//! Known truth for simulations: normal and AR(1) noise from a fixed seed.

use fathom_model::rng::Rng;

/// A source of noise.
pub(crate) struct Noise(Rng);

impl Noise {
    pub(crate) fn new(seed: u64) -> Noise {
        Noise(Rng::new(seed))
    }

    /// Standard normal, by Box and Muller.
    pub(crate) fn normal(&mut self) -> f64 {
        let radius = (-2.0 * (1.0 - self.0.unit()).ln()).sqrt();
        radius * (std::f64::consts::TAU * self.0.unit()).cos()
    }

    /// Stationary AR(1) with variance 1 and mean 0.
    pub(crate) fn ar1(&mut self, phi: f64, n: usize) -> Vec<f64> {
        let mut value = self.normal();
        (0..n)
            .map(|_| {
                let now = value;
                value = phi * value + (1.0 - phi * phi).sqrt() * self.normal();
                now
            })
            .collect()
    }
}
