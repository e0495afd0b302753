//! How the figures of a case are drawn, and what every case has.

use fathom_lab::application::Application;
use fathom_model::diagnosis::{Answer, Shortage};
use fathom_model::rng::Rng;

use super::case::{CaseStorage, Setting, Truth};

/// Size of every drive: what is written is kept in memory.
pub(super) const SIZE: &str = "size=64MiB";

/// A whole number of `low..=high`.
pub(super) fn pick(rng: &mut Rng, low: u64, high: u64) -> u64 {
    low + rng.below(high - low + 1)
}

/// What needs so long to make something durable is slow storage.
const SLOW_FLUSH_US: u64 = 5000;

/// A time for each flush, in microseconds: clearly below or clearly above the one from
/// which on commits that wait for flushes are the storage's.
pub(super) fn flush_us(rng: &mut Rng, low: u64, high: u64) -> u64 {
    const OPEN: std::ops::Range<u64> = 4300..5700;
    match pick(rng, low, high) {
        open if OPEN.contains(&open) && open.is_multiple_of(2) => OPEN.start,
        open if OPEN.contains(&open) => OPEN.end,
        clear => clear,
    }
}

/// What is true of commits one after the other, each behind a flush of this time.
pub(super) fn of_commits(flush_us: u64) -> Truth {
    let answer = match flush_us >= SLOW_FLUSH_US {
        true => Answer::Yes,
        false => Answer::No,
    };
    Truth::of(answer, &[Shortage::OneByOne])
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
