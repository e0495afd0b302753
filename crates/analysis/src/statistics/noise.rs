//! Noise of known truth from a fixed seed.

use fathom_model::rng::Rng;
pub(crate) use fathom_stats::noise::Noise;

/// The noise of a seed.
pub(crate) fn seeded(seed: u64) -> Noise {
    let mut rng = Rng::new(seed);
    Noise::new(move || rng.unit())
}
