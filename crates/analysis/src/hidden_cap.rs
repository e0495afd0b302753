//! A cap that is not set on this host: of a cloud volume, a hypervisor, a storage
//! server.
//!
//! Nothing on the host says so, and a device at its end is as flat. Four things
//! that no device does are the proof:
//!
//! - It serves fewer operations than it could one at a time. Random reads at half
//!   the rate take as long as the device needs; where the device would make more of
//!   them one after the other than it makes with a full queue, something holds them
//!   back. A device at its end is busy (utilisation law, Denning & Buzen 1978). Only
//!   random reads: a cache takes writes faster than its medium, and reads in order
//!   are fetched ahead.
//! - Saturated, it has one rate for different work: as many operations of large
//!   blocks as of small ones, or as many writes as reads. Disks come close to the
//!   latter, so it takes a target that answers faster than a disk turns, and a host
//!   that caps are usual on.
//! - It moves as many bytes in small blocks at random as in large ones, in three trials
//!   and more, where operations were there to be done all the time. That holds for
//!   trials of a single second as well, of which nothing else is known.
//! - Saturated, its seconds hardly vary. The times of single operations are random,
//!   and their sum over a second scatters; a limiter pays every deficit back.
//!
//! Saturated means that another depth brings no more (V21), or that the queue at the start
//! of the trial filled as it does where operations wait for one another (`filling_queue`).
//! A fixed latency, as of a delay on the way, gives flat rates as well, and more with every
//! operation in flight.
//!
//! A volume has one answer: other trials with a full queue at the figure of a cap
//! that is proved, in operations or in bytes, are at the same cap.

use fathom_model::judged::JudgedTrial;
use fathom_model::unit;
use fathom_model::verdict::{FindingStatus, Limiter, Validity};
use fathom_model::workload::OpMix;
use fathom_rules::check;
use fathom_rules::method::hidden_cap::{
    ALIKE, BLOCK_RATIO, DISK_NS, FLAT, LEAST_ALIKE, LEAST_IN_FLIGHT, LEAST_KEPT, LEAST_PACED,
    LEAST_SECONDS, NEAR, OTHER_BLOCK, SMALL_BYTES, THRESHOLD as MOST_BUSY, UNVARYING,
};
use fathom_stats::moments::Moments;

use crate::checks::{achieved, asks_all_the_time, depth_kept};
use crate::filling_queue;
use crate::plateau::{caps_exist, mean_latency};
use crate::telling_command::block_command;
use crate::trial::Trial;

/// What is counted by a cap.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Of {
    Operations,
    Bytes,
    Either,
}

/// A trial that may be at a cap, or show one.
struct CapTrial<'a> {
    index: usize,
    trial: &'a Trial<'a>,
    label: &'a str,
    limiter: Limiter,
    ops: f64,
    bytes: f64,
    variation: f64,
    full: bool,
    /// Whether another depth brings no more.
    saturated: bool,
}

impl CapTrial<'_> {
    fn flat(&self) -> bool {
        self.variation <= FLAT && self.trial.total_depth() >= 2 && self.open()
    }

    /// One at a time: the wait for a cap looks like the latency of a device.
    fn alone(&self) -> bool {
        let depth = self.trial.total_depth() == 1;
        self.full && depth && self.limiter == Limiter::QueueDepth
    }

    /// Variance of the operations of a second over their mean: of a device the squared
    /// variation of single operations.
    fn dispersion(&self) -> f64 {
        dispersion(self.variation, self.ops)
    }

    fn at_random(&self) -> bool {
        self.block() <= SMALL_BYTES && self.trial.workload.pattern.is_random()
    }

    /// Whether what set its rate is still open to another explanation.
    fn open(&self) -> bool {
        self.full && (self.limiter.wants_evidence() || self.limiter == Limiter::Device)
    }

    fn block(&self) -> u64 {
        self.trial.workload.max_block_bytes()
    }

    fn same_target(&self, other: &CapTrial<'_>) -> bool {
        let spec = |cell: &CapTrial<'_>| {
            let spec = &cell.trial.record.spec;
            (spec.target.clone(), spec.host)
        };
        self.index != other.index && spec(self) == spec(other)
    }
}

/// A cap that one cell proves.
struct Proof<'a> {
    cell: &'a CapTrial<'a>,
    of: Of,
    because: String,
}

/// The trials at a cap, with the reason. `evidence` marks the trials that only serve as
/// evidence for others.
pub(crate) fn found(
    trials: &[Trial<'_>],
    judged: &[JudgedTrial],
    evidence: &[bool],
) -> Vec<(usize, String)> {
    let cells: Vec<CapTrial<'_>> = (0..trials.len())
        .filter(|index| !evidence[*index])
        .filter_map(|index| cell(index, &trials[index], &judged[index]))
        .collect();
    let proofs: Vec<Proof<'_>> = cells
        .iter()
        .filter_map(|cell| proof(cell, &cells, trials, evidence))
        .collect();
    let of_cell = |cell: &CapTrial<'_>| {
        let own = proofs.iter().find(|p| p.cell.index == cell.index);
        let proof = own.or_else(|| proofs.iter().find(|p| covers(p, cell)))?;
        let needless = cell.limiter == Limiter::Cap;
        (!needless).then(|| (cell.index, words(proof, cell)))
    };
    cells.iter().filter_map(of_cell).collect()
}

fn cell<'a>(index: usize, trial: &'a Trial<'a>, judged: &'a JudgedTrial) -> Option<CapTrial<'a>> {
    let usable = judged.verdict.validity != Validity::NotTrusted && trial.set_size == 1;
    let named = judged
        .steadiness
        .as_ref()
        .is_some_and(fathom_model::steadiness::Steadiness::has_no_single_rate);
    let nothing_below = trial.kind == fathom_rules::TargetKind::Null || trial.data_ops() == 0;
    // A simulated drive is not direct, and some of them serve each operation in the same time,
    // as no device does: their seconds vary as little as those of a cap.
    if !usable || !asks_all_the_time(trial) || named || nothing_below || !trial.direct() {
        return None;
    }
    // A single second has none.
    let variation = variation_after_the_first(trial).unwrap_or(f64::INFINITY);
    let knee = judged
        .verdict
        .findings
        .iter()
        .find(|f| f.id == check::id::V21);
    Some(CapTrial {
        saturated: knee.is_some_and(|f| f.status == FindingStatus::Pass)
            || filling_queue::saturated(trial).is_some(),
        index,
        trial,
        label: &judged.label,
        limiter: judged.verdict.limiter,
        ops: trial.data_ops() as f64 / trial.duration_seconds(),
        bytes: trial.data_bytes() as f64 / trial.duration_seconds(),
        variation,
        full: is_full(trial),
    })
}

/// Coefficient of variation of the seconds without the first, in which a bucket that
/// filled up in the pause before is emptied.
pub(crate) fn variation_after_the_first(trial: &Trial<'_>) -> Option<f64> {
    let rates = trial.second_rates();
    // Two seconds have no third to do without the first.
    let skipped = usize::from(rates.len() > 2);
    let rates = Moments::of(rates.get(skipped..)?)?;
    rates.variation().filter(|_| rates.mean > 0.0)
}

/// Whether the seconds of a trial vary less than the times of single operations let those
/// of a device vary: variance over mean, of a device the squared variation of one.
pub(crate) fn hardly_varies(trial: &Trial<'_>) -> bool {
    let ops = trial.data_ops() as f64 / trial.duration_seconds();
    let variation = variation_after_the_first(trial);
    variation.is_some_and(|variation| dispersion(variation, ops) <= UNVARYING)
}

fn dispersion(variation: f64, ops: f64) -> f64 {
    variation.powi(2) * ops
}

/// Whether operations were there to be done all the time.
pub(crate) fn is_full(trial: &Trial<'_>) -> bool {
    let kept = depth_kept(trial).is_some_and(|kept| kept >= LEAST_KEPT);
    kept || trial.mean_in_flight().is_some_and(|n| n >= LEAST_IN_FLIGHT)
}

fn proof<'a>(
    cell: &'a CapTrial<'a>,
    cells: &'a [CapTrial<'a>],
    trials: &[Trial<'_>],
    evidence: &[bool],
) -> Option<Proof<'a>> {
    let of = counted(cell, cells);
    let proof = |of, because| Some(Proof { cell, of, because });
    if cell.limiter == Limiter::Cap {
        return proof(of, String::new());
    }
    if let Some(because) = same_bytes_in_any_blocks(cell, cells) {
        return proof(Of::Bytes, because);
    }
    if !(cell.flat() || cell.alone() && cell.variation <= FLAT) {
        return None;
    }
    let paced = trials
        .iter()
        .zip(evidence)
        .filter(|(_, evidence)| **evidence);
    let mut paced = paced
        .map(|(trial, _)| trial)
        .filter(|probe| probe.open_loop() && probe.record.spec.row == cell.trial.record.spec.row);
    if let Some(because) = paced.find_map(|probe| held_back(cell, probe)) {
        return proof(of, because);
    }
    if !(cell.saturated && cell.flat()) {
        return None;
    }
    let others = || {
        let all = cells.iter().filter(|o| o.same_target(cell));
        all.filter(|o| o.flat() && o.saturated)
    };
    if let Some(other) = others().find(|other| same_for_other_blocks(cell, other)) {
        let because = format!(
            "as many operations of {} as of {} ({})",
            unit::bytes_exact(cell.block()),
            unit::bytes_exact(other.block()),
            other.label
        );
        return proof(Of::Operations, because);
    }
    if !caps_exist(cell.trial) {
        return None;
    }
    let seconds = cell.trial.second_rates().len();
    if cell.at_random() && seconds >= LEAST_SECONDS && cell.dispersion() <= UNVARYING {
        let variation = 100.0 * cell.variation;
        return proof(of, format!("whose seconds vary by {variation:.2} % only"));
    }
    let fast = faster_than_a_disk(cell, cells);
    let other = others().find(|other| fast && same_for_other_direction(cell, other))?;
    proof(
        of,
        format!("reads and writes at one rate ({})", other.label),
    )
}

/// Whether operations at a leisurely rate show that the device could do more.
fn held_back(cell: &CapTrial<'_>, probe: &Trial<'_>) -> Option<String> {
    let workload = cell.trial.workload;
    let reads_at_random = workload.mix == OpMix::READ && probe.workload.pattern.is_random();
    let reached = achieved(probe).is_some_and(|rate| rate.reached());
    if !reads_at_random || !reached || probe.data_ops() < LEAST_PACED {
        return None;
    }
    let seconds: Vec<_> = probe.measured().collect();
    let alone_ns = mean_latency(&seconds)?;
    (cell.ops * alone_ns / 1e9 <= MOST_BUSY).then(|| {
        let how = match workload.pattern.is_random() {
            true => "",
            false => "read at random ",
        };
        format!(
            "{how}at half the rate an operation takes {}, so that one after the other there would be {} \
             ops/s; with {} in flight there are {}",
            unit::latency(alone_ns),
            unit::count(1e9 / alone_ns),
            unit::group(cell.trial.total_depth()),
            unit::count(cell.ops),
        )
    })
}

fn alike(a: f64, b: f64) -> bool {
    (a / b - 1.0).abs() <= ALIKE
}

fn same_for_other_blocks(cell: &CapTrial<'_>, other: &CapTrial<'_>) -> bool {
    let (small, large) = (
        cell.block().min(other.block()),
        cell.block().max(other.block()),
    );
    large >= small.saturating_mul(BLOCK_RATIO) && alike(cell.ops, other.ops)
}

/// Whether this cell moves as many bytes as some others, of which one has far larger or
/// smaller blocks.
fn same_bytes_in_any_blocks(cell: &CapTrial<'_>, cells: &[CapTrial<'_>]) -> Option<String> {
    if !cell.open() || !caps_exist(cell.trial) {
        return None;
    }
    let others = cells.iter().filter(|other| other.same_target(cell));
    let alike: Vec<&CapTrial<'_>> = others
        .filter(|other| other.full && same_bytes(cell, other, ALIKE))
        .collect();
    let other = alike.iter().find(|other| {
        let (small, large) = match cell.block() < other.block() {
            true => (cell, **other),
            false => (**other, cell),
        };
        small.at_random() && large.block() >= small.block().saturating_mul(BLOCK_RATIO)
    })?;
    (alike.len() >= LEAST_ALIKE).then(|| {
        format!(
            "as many bytes in blocks of {} as of {} ({}), in {} rows",
            unit::bytes_exact(cell.block()),
            unit::bytes_exact(other.block()),
            other.label,
            alike.len() + 1
        )
    })
}

/// Whether two trials move the same bytes, but for a block at either end of a trial.
fn same_bytes(cell: &CapTrial<'_>, other: &CapTrial<'_>, share: f64) -> bool {
    let seconds = cell
        .trial
        .duration_seconds()
        .min(other.trial.duration_seconds());
    let two_blocks = 2.0 * cell.block().max(other.block()) as f64 / seconds;
    (cell.bytes - other.bytes).abs() <= share * other.bytes + two_blocks
}

fn same_for_other_direction(cell: &CapTrial<'_>, other: &CapTrial<'_>) -> bool {
    let mixes = [cell.trial.workload.mix, other.trial.workload.mix];
    let both = mixes == [OpMix::READ, OpMix::WRITE] || mixes == [OpMix::WRITE, OpMix::READ];
    both && cell.block() == other.block() && alike(cell.ops, other.ops)
}

/// Whether small blocks at random are answered faster than a disk turns.
fn faster_than_a_disk(cell: &CapTrial<'_>, cells: &[CapTrial<'_>]) -> bool {
    let same = cells
        .iter()
        .filter(|o| o.index == cell.index || o.same_target(cell));
    let small = same.filter(|o| o.at_random());
    let mut reads = small.filter(|o| o.trial.workload.mix == OpMix::READ);
    reads.any(|o| {
        let seconds: Vec<_> = o.trial.measured().collect();
        mean_latency(&seconds).is_some_and(|ns| ns < DISK_NS)
    })
}

/// What a cap at the figure of this cell would count, by blocks of other sizes.
fn counted(cell: &CapTrial<'_>, cells: &[CapTrial<'_>]) -> Of {
    let mix = cell.trial.workload.mix;
    let others = || {
        let all = cells.iter().filter(|o| o.same_target(cell));
        all.filter(|o| o.trial.workload.mix == mix)
    };
    let more_bytes =
        |o: &CapTrial<'_>| o.block() > cell.block() && o.bytes > OTHER_BLOCK * cell.bytes;
    let more_ops = |o: &CapTrial<'_>| o.block() < cell.block() && o.ops > OTHER_BLOCK * cell.ops;
    if others().any(more_bytes) {
        Of::Operations
    } else if others().any(more_ops) {
        Of::Bytes
    } else {
        Of::Either
    }
}

/// Whether a cell is at the cap that another one proves.
fn covers(proof: &Proof<'_>, cell: &CapTrial<'_>) -> bool {
    let near = |mine: f64, theirs: f64| (mine / theirs - 1.0).abs() <= NEAR;
    let figure = match proof.of {
        Of::Operations => near(cell.ops, proof.cell.ops),
        Of::Bytes => same_bytes(cell, proof.cell, NEAR),
        Of::Either => cell.block() == proof.cell.block() && near(cell.ops, proof.cell.ops),
    };
    cell.same_target(proof.cell) && figure && (cell.open() || cell.alone())
}

fn words(proof: &Proof<'_>, cell: &CapTrial<'_>) -> String {
    let figure = match proof.of {
        Of::Bytes => unit::throughput(cell.bytes),
        _ => format!("{} ops/s", unit::count(cell.ops)),
    };
    let why = match proof.cell.index == cell.index {
        true => proof.because.clone(),
        false => format!("the figure of {}, which is at a cap", proof.cell.label),
    };
    let what = match proof.of {
        Of::Operations => "operations".to_owned(),
        Of::Bytes => "bytes".to_owned(),
        Of::Either => format!(
            "operations or bytes (`{}` tells which)",
            block_command(cell.trial)
        ),
    };
    format!("{figure}, {why}: a cap outside of this host, of {what}")
}

#[cfg(test)]
#[path = "hidden_cap_tests.rs"]
mod tests;
