//! The workloads of a curve's points, made from the one that the user gave.

use fathom_model::curve::Sweep;
use fathom_model::schedule::{Pause, TrialRole};
use fathom_model::target::Target;
use fathom_model::unit;
use fathom_model::workload::{Arrival, BlockSizes, OpMix, Pattern, Rate, RateUnit, Workload};

/// What a curve is told.
#[derive(Debug, Clone, PartialEq)]
pub struct CurveOptions {
    /// What is swept.
    pub sweep: Sweep,
    /// What is measured.
    pub target: Target,
    /// The workload, complete; what is swept is put in its place.
    pub base: Workload,
    /// Seed of all trials.
    pub seed: u64,
    /// Between trials.
    pub pause: Pause,
    /// Operations in flight at most, where depth is searched.
    pub most_depth: u64,
    /// Block sizes or working sets in bytes, offsets of positions.
    pub bytes: Vec<u64>,
    /// Length of a position's range in bytes.
    pub zone_bytes: u64,
    /// Spacing of due times where a load is offered.
    pub arrival: Arrival,
}

/// Block sizes of a block curve: 512 bytes where the target takes them, then
/// powers of two from 4 KiB to `most_bytes`.
pub(super) fn default_block_sizes(least_bytes: u64, most_bytes: u64) -> Vec<u64> {
    let small = (least_bytes <= 512).then_some(512);
    let powers = (12..=30).map(|power| 1u64 << power);
    small
        .into_iter()
        .chain(powers.filter(|bytes| *bytes >= least_bytes))
        .filter(|bytes| *bytes <= most_bytes)
        .collect()
}

/// Working sets of a curve over a data set of `size_bytes`: halves of it down
/// to 1 MiB, at most 12, ascending.
pub(super) fn default_working_sets(size_bytes: u64, block_bytes: u64) -> Vec<u64> {
    let least = (1u64 << 20).max(block_bytes.saturating_mul(64));
    let mut sizes: Vec<u64> = (0..12)
        .map(|halves| size_bytes >> halves)
        .map(|bytes| bytes - bytes % block_bytes.max(1))
        .filter(|bytes| *bytes >= least)
        .collect();
    sizes.reverse();
    sizes
}

/// One trial to be run: the same label is the same row.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Setting {
    pub(super) label: String,
    pub(super) role: TrialRole,
    pub(super) workload: Workload,
}

impl Setting {
    pub(super) fn probe(self) -> Setting {
        Setting {
            role: TrialRole::Probe,
            ..self
        }
    }

    /// The same trial under another name, which makes a row of its own.
    pub(super) fn named(self, label: &str) -> Setting {
        Setting {
            label: label.to_owned(),
            ..self
        }
    }
}

fn setting(label: String, base: &Workload, change: impl FnOnce(&mut Workload)) -> Setting {
    let mut workload = base.clone();
    change(&mut workload);
    Setting {
        label,
        role: TrialRole::Measure,
        workload,
    }
}

/// A closed loop with so many operations in flight over all workers.
///
/// Engines that work one at a time get workers in place of depth; the data
/// set is then shared, so that it stays the same.
pub(super) fn depth(base: &Workload, depth: u64) -> Setting {
    setting(format!("depth {depth}"), base, |workload| {
        let whole = u32::try_from(depth).unwrap_or(u32::MAX);
        let alone = workload.engine.one_at_a_time();
        workload.workers = match alone {
            true => whole,
            false => largest_divisor(whole, workload.workers),
        };
        workload.queue_depth = whole / workload.workers.max(1);
        workload.data_set.files.shared |= alone || base.workers > 1;
        workload.rate = None;
    })
}

/// The largest divisor of `whole` that is at most `most`.
fn largest_divisor(whole: u32, most: u32) -> u32 {
    let most = most.clamp(1, whole.max(1));
    (1..=most)
        .rev()
        .find(|n| whole.is_multiple_of(*n))
        .unwrap_or(1)
}

/// An open loop with this load, with room for `slots` operations in flight.
pub(super) fn load(base: &Workload, per_second: f64, slots: u64, arrival: Arrival) -> Setting {
    let label = format!("load {}/s", load_name(per_second));
    let closed = depth(base, slots).workload;
    setting(label, &closed, |workload| {
        workload.rate = Some(Rate {
            per_second,
            unit: RateUnit::Ops,
            arrival,
        });
        workload.think_ns = 0;
    })
}

/// A load as it is named: whole where it is large.
fn load_name(per_second: f64) -> String {
    match per_second >= 100.0 {
        true => unit::group(per_second.round() as u64),
        false => format!("{per_second:.2}"),
    }
}

/// The same with a share of reads.
pub(super) fn mix(setting_: Setting, read_percent: u8) -> Setting {
    let mut out = setting_;
    out.workload.mix = OpMix {
        read_percent,
        write_percent: 100 - read_percent.min(100),
        trim_percent: 0,
    };
    out.label = format!("{read_percent} % reads, {}", out.label);
    out
}

/// Blocks of this size.
pub(super) fn block(base: &Workload, bytes: u64) -> Setting {
    setting(format!("block {}", unit::bytes_exact(bytes)), base, |w| {
        w.block = BlockSizes::Fixed(bytes);
        w.align_bytes = bytes;
    })
}

/// Only this much of the data set.
pub(super) fn working_set(base: &Workload, bytes: u64) -> Setting {
    setting(format!("set {}", unit::bytes_exact(bytes)), base, |w| {
        w.data_set.working_set_bytes = Some(bytes);
    })
}

/// Reads in sequence from an offset on.
pub(super) fn position(base: &Workload, offset: u64, zone_bytes: u64) -> Setting {
    let label = format!("offset {}", unit::bytes(offset));
    setting(label, base, |w| {
        w.mix = OpMix::READ;
        w.pattern = Pattern::Sequential;
        w.data_set.offset_bytes = offset;
        w.data_set.working_set_bytes = Some(zone_bytes);
    })
}

/// Indexes 0 to `count` − 1 with neighbours far apart in time, so that a
/// drift does not look like a slope: bit-reversed order.
pub(super) fn interleaved(count: usize) -> Vec<usize> {
    let bits = usize::BITS - count.saturating_sub(1).leading_zeros();
    (0..1usize << bits)
        .map(|i| match bits {
            0 => 0,
            bits => i.reverse_bits() >> (usize::BITS - bits),
        })
        .filter(|i| *i < count)
        .collect()
}
