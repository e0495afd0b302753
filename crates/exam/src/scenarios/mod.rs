//! The scenarios, by what they are about.

mod cache;
mod device;
mod generator;
mod sound;
mod state;

use fathom_model::rng::Rng;
use fathom_model::verdict::{FindingStatus, Limiter};
use fathom_model::workload::{BlockSizes, Bounds, DataSet, OpMix, Pattern, Workload};

use crate::case::{Case, Expected, Scenario};

const MIB: u64 = 1 << 20;
const GIB: u64 = 1 << 30;
const SECOND_NS: u64 = 1_000_000_000;

/// Every scenario, sound ones first.
pub fn all() -> Vec<Scenario> {
    let mut scenarios = sound::scenarios();
    scenarios.extend(cache::scenarios());
    scenarios.extend(device::scenarios());
    scenarios.extend(generator::scenarios());
    scenarios.extend(state::scenarios());
    scenarios
}

/// A fault to which one of these checks must object.
pub(crate) fn faulty(
    name: &'static str,
    findings: &[&'static str],
    limiters: &[Limiter],
    draw: fn(&mut Draw) -> Case,
) -> Scenario {
    Scenario {
        name,
        expected: Expected::Faulty {
            findings: findings.to_vec(),
            least: FindingStatus::Caveat,
            limiters: limiters.to_vec(),
        },
        draw,
    }
}

/// Something that leaves the number true and deserves a remark.
pub(crate) fn remarked(
    name: &'static str,
    findings: &[&'static str],
    limiters: &[Limiter],
    draw: fn(&mut Draw) -> Case,
) -> Scenario {
    let mut scenario = faulty(name, findings, limiters, draw);
    if let Expected::Faulty { least, .. } = &mut scenario.expected {
        *least = FindingStatus::Info;
    }
    scenario
}

/// A true number of which the limiter is asked.
pub(crate) fn limited(
    name: &'static str,
    limiter: Limiter,
    draw: fn(&mut Draw) -> Case,
) -> Scenario {
    Scenario {
        name,
        expected: Expected::Limited { limiter },
        draw,
    }
}

/// Draws parameters.
pub struct Draw {
    rng: Rng,
}

impl Draw {
    pub(crate) fn new(rng: Rng) -> Draw {
        Draw { rng }
    }

    /// A number from `low` to `high`, even on a log axis.
    pub(crate) fn log(&mut self, low: f64, high: f64) -> f64 {
        (low.ln() + (high.ln() - low.ln()) * self.rng.unit()).exp()
    }

    /// A number from `low` to `high`.
    pub(crate) fn even(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * self.rng.unit()
    }

    /// A whole number from `low` to `high`, both included.
    pub(crate) fn whole(&mut self, low: u64, high: u64) -> u64 {
        low + self.rng.below(high - low + 1)
    }

    /// One of these.
    pub(crate) fn one_of<T: Copy>(&mut self, choices: &[T]) -> T {
        choices[self.rng.below(choices.len() as u64) as usize]
    }
}

/// Random reads of 4 KiB for so many seconds.
pub(crate) fn random_reads(depth: u32, seconds: u64) -> Workload {
    Workload {
        queue_depth: depth,
        bounds: Bounds {
            time_ns: Some(seconds * SECOND_NS),
            ..Bounds::default()
        },
        data_set: DataSet::of_bytes(100 * GIB),
        ..Workload::example("randread-4k")
    }
}

/// The same with writes.
pub(crate) fn random_writes(depth: u32, seconds: u64) -> Workload {
    Workload {
        name: "randwrite-4k".to_owned(),
        mix: OpMix::WRITE,
        ..random_reads(depth, seconds)
    }
}

/// Sequential blocks of 1 MiB.
pub(crate) fn sequential(mix: OpMix, depth: u32, seconds: u64) -> Workload {
    Workload {
        name: "seq-1m".to_owned(),
        mix,
        pattern: Pattern::Sequential,
        block: BlockSizes::Fixed(MIB),
        align_bytes: MIB,
        ..random_reads(depth, seconds)
    }
}
