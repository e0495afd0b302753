//! Known truth for simulations: normal and AR(1) noise.

/// A source of noise over a source of uniform numbers.
pub struct Noise {
    uniform: Box<dyn FnMut() -> f64>,
}

impl Noise {
    /// Noise from numbers that are uniform in `[0, 1)`.
    pub fn new(uniform: impl FnMut() -> f64 + 'static) -> Noise {
        Noise {
            uniform: Box::new(uniform),
        }
    }

    /// Standard normal, by Box and Muller.
    pub fn normal(&mut self) -> f64 {
        let radius = (-2.0 * (1.0 - (self.uniform)()).ln()).sqrt();
        radius * (std::f64::consts::TAU * (self.uniform)()).cos()
    }

    /// `n` values of a stationary AR(1) series with mean 0, variance 1 and
    /// autocorrelation `phi`, between -1 and 1.
    pub fn ar1(&mut self, phi: f64, n: usize) -> Vec<f64> {
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

/// Noise from a fixed seed.
#[cfg(test)]
pub(crate) fn seeded(seed: u64) -> Noise {
    let mut rng = fathom_model::rng::Rng::new(seed);
    Noise::new(move || rng.unit())
}
