//! How the figures of a case are drawn, and what every case has.

use fathom_lab::application::Application;
use fathom_model::rng::Rng;

use super::case::{CaseStorage, Setting};

/// Size of every drive: what is written is kept in memory.
pub(super) const SIZE: &str = "size=64MiB";

/// A whole number of `low..=high`.
pub(super) fn pick(rng: &mut Rng, low: u64, high: u64) -> u64 {
    low + rng.below(high - low + 1)
}

pub(super) fn setting(place: CaseStorage, applications: Vec<Application>) -> Setting {
    Setting {
        place,
        applications,
        options: Vec::new(),
    }
}

pub(super) fn cores() -> u32 {
    std::thread::available_parallelism().map_or(1, |cores| cores.get() as u32)
}
