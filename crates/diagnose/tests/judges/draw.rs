//! Values that are drawn from a seed.

use fathom_model::rng::{Rng, derive_seed};

pub(crate) struct Draw(Rng);

impl Draw {
    /// The draws of one case of a test.
    pub(crate) fn of(test: u64, case: u64) -> Draw {
        Draw(Rng::new(derive_seed(test, case)))
    }

    pub(crate) fn below(&mut self, bound: u64) -> u64 {
        self.0.below(bound)
    }

    pub(crate) fn unit(&mut self) -> f64 {
        self.0.unit()
    }

    pub(crate) fn one_in(&mut self, count: u64) -> bool {
        self.0.below(count) == 0
    }

    pub(crate) fn pick<T: Clone>(&mut self, from: &[T]) -> T {
        from[self.0.below(from.len() as u64) as usize].clone()
    }

    /// It is missing one time in four.
    pub(crate) fn known<T>(&mut self, value: T) -> Option<T> {
        (!self.one_in(4)).then_some(value)
    }

    pub(crate) fn maybe<T: Clone>(&mut self, from: &[T]) -> Option<T> {
        let value = self.pick(from);
        self.known(value)
    }

    /// At a threshold, just beside it, or far from it.
    pub(crate) fn around(&mut self, threshold: f64) -> f64 {
        let far = if threshold == 0.0 { 1.0 } else { threshold };
        match self.below(6) {
            0 => threshold - 0.01 * far,
            1 => threshold + 0.01 * far,
            2 => threshold - 0.6 * far,
            3 => threshold + 0.9 * far,
            _ => threshold,
        }
    }
}
