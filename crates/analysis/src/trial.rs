//! One trial as the checks see it: seconds in order, totals, the kind of
//! target, and what the host's devices did in the same time.

use std::collections::BTreeMap;
use std::rc::Rc;

use fathom_model::fingerprint::{DeviceFacts, FilesystemFacts, Fingerprint, TargetFingerprint};
use fathom_model::op::{ErrorCounts, OpKind};
use fathom_model::run::{TrialEnd, TrialRecord};
use fathom_model::sample::{OpSample, Phase, Sample};
use fathom_model::target::Target;
use fathom_model::workload::{CacheMode, EngineKind, Workload};
use fathom_rules::TargetKind;
use fathom_rules::method::observed::CUT_SHORT;

use crate::company::Company;

/// One second of all worker groups together.
#[derive(Clone)]
pub struct Second<'a> {
    pub(crate) phase: Phase,
    pub(crate) start_ns: u64,
    /// How long it lasted.
    pub duration_ns: u64,
    /// One per worker group; a single one for a local run.
    pub groups: Vec<&'a Sample>,
}

impl<'a> Second<'a> {
    pub(crate) fn end_ns(&self) -> u64 {
        self.start_ns.saturating_add(self.duration_ns)
    }

    /// The parts of one kind of operation.
    pub fn ops(&self, kind: OpKind) -> impl Iterator<Item = &'a OpSample> + '_ {
        self.groups
            .iter()
            .flat_map(|sample| sample.ops.iter())
            .filter(move |op| op.kind == kind)
    }

    /// Adds up a number over the groups.
    pub fn sum(&self, field: impl Fn(&Sample) -> u64) -> u64 {
        add(self.groups.iter().map(|s| field(s)))
    }

    /// The largest of a number over the groups.
    pub(crate) fn largest(&self, field: impl Fn(&Sample) -> u64) -> u64 {
        self.groups.iter().map(|s| field(s)).max().unwrap_or(0)
    }
}

/// Counts of one kind of operation over the measure phase.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Total {
    /// Successful operations.
    pub ops: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Failures by class.
    pub errors: ErrorCounts,
}

/// One trial, prepared.
pub struct Trial<'a> {
    /// What was stored of it.
    pub record: &'a TrialRecord,
    pub(crate) host: &'a Fingerprint,
    /// What was done.
    pub workload: &'a Workload,
    pub(crate) kind: TargetKind,
    /// Warm-up and measure, in order of time.
    pub seconds: Vec<Second<'a>>,
    /// Length of the measure phase: its seconds added up.
    pub duration_ns: u64,
    /// Only some of the measured seconds are here.
    pub(crate) part: bool,
    /// Trials that ran at the same time, this one included; 1 for one alone.
    pub(crate) set_size: usize,
    /// The labels of all of them.
    pub(crate) set_labels: Rc<[&'a str]>,
    /// Those of them that load the same devices, when there are others.
    pub(crate) company: Option<Rc<Company>>,
}

/// Adds without overflow: a broken record must not end the judgement.
pub fn add(values: impl Iterator<Item = u64>) -> u64 {
    values.fold(0, u64::saturating_add)
}

impl<'a> Trial<'a> {
    /// A trial that ran alone on a host.
    pub fn new(record: &'a TrialRecord, host: &'a Fingerprint) -> Trial<'a> {
        let seconds = group_seconds(&record.samples);
        let measured = seconds.iter().filter(|s| s.phase == Phase::Measure);
        Trial {
            duration_ns: add(measured.map(|s| s.duration_ns)),
            kind: target_kind(record),
            workload: &record.spec.workload,
            record,
            host,
            seconds,
            part: false,
            set_size: 1,
            set_labels: Rc::from([]),
            company: None,
        }
    }

    /// The trial with only some of its measured seconds, by their position
    /// among those that lasted.
    pub fn part(&self, keep: impl Fn(usize) -> bool) -> Trial<'a> {
        let lasting = self.measured().filter(|s| s.duration_ns > 0);
        let kept = lasting.enumerate().filter(|(position, _)| keep(*position));
        self.with_seconds(kept.map(|(_, second)| second.clone()).collect())
    }

    /// The trial with these seconds instead of its own.
    pub(crate) fn with_seconds(&self, seconds: Vec<Second<'a>>) -> Trial<'a> {
        Trial {
            record: self.record,
            host: self.host,
            workload: self.workload,
            kind: self.kind,
            duration_ns: add(seconds.iter().map(|s| s.duration_ns)),
            seconds,
            part: true,
            set_size: self.set_size,
            set_labels: Rc::clone(&self.set_labels),
            company: self.company.clone(),
        }
    }

    /// The seconds of the measure phase.
    pub fn measured(&self) -> impl Iterator<Item = &Second<'a>> {
        self.seconds.iter().filter(|s| s.phase == Phase::Measure)
    }

    /// Where the seconds of the measure phase stand among all of the trial.
    pub(crate) fn measured_positions(&self) -> impl Iterator<Item = usize> + '_ {
        let seconds = self.seconds.iter().enumerate();
        seconds.filter_map(|(at, s)| (s.phase == Phase::Measure).then_some(at))
    }

    /// Length of the measure phase in seconds.
    pub fn duration_seconds(&self) -> f64 {
        self.duration_ns as f64 / 1e9
    }

    pub(crate) fn end(&self) -> Option<&'a TrialEnd> {
        self.record.end.as_ref()
    }

    /// Totals of one kind of operation over the measure phase.
    pub fn total(&self, kind: OpKind) -> Total {
        let mut total = Total::default();
        for op in self.measured().flat_map(|s| s.ops(kind)) {
            total.ops = total.ops.saturating_add(op.ops);
            total.bytes = total.bytes.saturating_add(op.bytes);
            for (class, count) in op.errors.iter() {
                let room = u64::MAX - total.errors.total();
                total.errors.add_many(class, count.min(room));
            }
        }
        total
    }

    /// Data operations per second of each second of the measure phase that is not
    /// cut short.
    pub(crate) fn second_rates(&self) -> Vec<f64> {
        let seconds = self
            .measured()
            .filter(|s| s.duration_ns as f64 >= CUT_SHORT * 1e9);
        seconds
            .map(|second| {
                let kinds = data_kinds().flat_map(|kind| second.ops(kind));
                let ops = add(kinds.map(|op| op.ops));
                ops as f64 / second.duration_ns as f64 * 1e9
            })
            .collect()
    }

    /// Reads, writes and trims that succeeded in the measure phase.
    pub fn data_ops(&self) -> u64 {
        add(data_kinds().map(|kind| self.total(kind).ops))
    }

    /// Bytes that they moved.
    pub fn data_bytes(&self) -> u64 {
        add(data_kinds().map(|kind| self.total(kind).bytes))
    }

    /// Whether the engine had `O_DIRECT` in force; before the end of the
    /// trial what was asked for.
    pub fn direct(&self) -> bool {
        match self.end() {
            Some(end) if end.engine.used.is_some() => end.engine.direct,
            _ => self.workload.cache == CacheMode::Direct,
        }
    }

    /// The engine that carried it out.
    pub fn engine(&self) -> EngineKind {
        self.end()
            .and_then(|end| end.engine.used)
            .unwrap_or(self.workload.engine)
    }

    /// Operations that a worker can have in flight with the engine that ran.
    pub(crate) fn depth(&self) -> u64 {
        match self.engine().one_at_a_time() {
            true => 1,
            false => u64::from(self.workload.queue_depth).max(1),
        }
    }

    /// Operations that all workers can have in flight.
    pub(crate) fn total_depth(&self) -> u64 {
        u64::from(self.workload.workers)
            .max(1)
            .saturating_mul(self.depth())
    }

    pub(crate) fn open_loop(&self) -> bool {
        self.workload.is_open_loop()
    }

    /// Null and simulated targets: nothing of the host below the engine.
    pub fn artificial(&self) -> Option<&'static str> {
        match self.kind {
            TargetKind::Null => Some("the null target has nothing below it"),
            TargetKind::Sim => Some("a simulated drive runs under a virtual clock"),
            _ => None,
        }
    }

    pub(crate) fn filesystem(&self) -> Option<&'a FilesystemFacts> {
        self.record.target_before.as_ref()?.filesystem.as_ref()
    }

    /// Whether it, or another trial on the same devices at the same time,
    /// writes or discards.
    pub(crate) fn devices_are_modified(&self) -> bool {
        let others = self.company.as_ref().is_some_and(|c| c.modifies);
        others || self.workload.mix.modifies()
    }

    /// Names of the devices that were observed below the target, sorted. Where
    /// there is none, the target's own.
    pub(crate) fn device_names(&self) -> Vec<&'a str> {
        let seen = self.record.observations.first();
        let seen = seen.into_iter().flat_map(|o| &o.devices);
        let mut names: Vec<&str> = seen.filter(|d| d.leaf).map(|d| d.name.as_str()).collect();
        if names.is_empty() {
            names.extend(self.leaves().iter().map(|device| device.name.as_str()));
        }
        names.sort_unstable();
        names.dedup();
        names
    }

    /// The devices at the bottom, as far as the fingerprint names them.
    pub fn leaves(&self) -> Vec<&'a DeviceFacts> {
        self.record
            .target_before
            .iter()
            .flat_map(|target| &target.devices)
            .filter(|device| device.below.is_empty())
            .collect()
    }

    /// Mean number of operations in flight over the measure phase.
    pub(crate) fn mean_in_flight(&self) -> Option<f64> {
        let area: f64 = self
            .measured()
            .flat_map(|s| &s.groups)
            .map(|s| s.in_flight_ns as f64)
            .sum();
        (self.duration_ns > 0).then(|| area / self.duration_ns as f64)
    }

    /// CPU time of the busiest worker thread over the measure phase.
    pub(crate) fn busiest_worker_share(&self) -> Option<f64> {
        let busiest = add(self
            .measured()
            .map(|s| s.largest(|g| g.busiest_worker_cpu_ns)));
        (self.duration_ns > 0 && busiest > 0).then(|| busiest as f64 / self.duration_ns as f64)
    }

    /// Time of the workers spent waiting for a CPU; `None` when never seen.
    pub(crate) fn run_delay_share(&self) -> Option<f64> {
        let delay = add(self.measured().map(|s| s.sum(|g| g.run_delay_ns)));
        let workers = f64::from(self.workload.workers.max(1));
        (self.duration_ns > 0 && delay > 0)
            .then(|| delay as f64 / (self.duration_ns as f64 * workers))
    }
}

/// Reads, writes and trims.
pub fn data_kinds() -> impl Iterator<Item = OpKind> {
    OpKind::ALL.into_iter().filter(|kind| kind.is_data())
}

fn group_seconds(samples: &[Sample]) -> Vec<Second<'_>> {
    let mut seconds: BTreeMap<(Phase, u32), Second<'_>> = BTreeMap::new();
    let load = |s: &&Sample| matches!(s.phase, Phase::Warmup | Phase::Measure);
    for sample in samples.iter().filter(load) {
        let second = seconds
            .entry((sample.phase, sample.index))
            .or_insert(Second {
                phase: sample.phase,
                start_ns: sample.start_ns,
                duration_ns: 0,
                groups: Vec::new(),
            });
        second.start_ns = second.start_ns.min(sample.start_ns);
        second.duration_ns = second.duration_ns.max(sample.duration_ns);
        second.groups.push(sample);
    }
    seconds.into_values().collect()
}

fn target_kind(record: &TrialRecord) -> TargetKind {
    let spec = &record.spec;
    let engine = spec.workload.engine;
    kind_of(&spec.target, engine, record.target_before.as_ref())
}

/// What a target is, by the engine that reached it and by what was found below it.
pub(crate) fn kind_of(
    target: &Target,
    engine: EngineKind,
    below: Option<&TargetFingerprint>,
) -> TargetKind {
    match (target, engine) {
        (Target::Null, _) | (_, EngineKind::Null) => return TargetKind::Null,
        (Target::Sim(_), _) | (_, EngineKind::Sim) => return TargetKind::Sim,
        (Target::Bucket(_), _) => return TargetKind::ObjectStore,
        (Target::Peer(_), _) => return TargetKind::Unknown,
        (Target::Path(_), _) => {}
    }
    let Some(target) = below else {
        return TargetKind::Unknown;
    };
    match &target.filesystem {
        Some(filesystem) => {
            let own = filesystem_kind(&filesystem.kind, filesystem.virtual_kind);
            // What is written to an overlay lies on its upper layer.
            let upper = filesystem
                .facts
                .get("upper_layer")
                .map_or("", String::as_str);
            let upper = upper.split(' ').next().unwrap_or_default();
            match filesystem_kind(upper, false) {
                TargetKind::Memory => TargetKind::Memory,
                _ => own,
            }
        }
        None if target.devices.is_empty() => TargetKind::Unknown,
        None => TargetKind::Device,
    }
}

fn filesystem_kind(kind: &str, virtual_kind: bool) -> TargetKind {
    let network = [
        "nfs",
        "cifs",
        "smb",
        "9p",
        "ceph",
        "fuse.ceph",
        "glusterfs",
        "fuse.glusterfs",
        "lustre",
        "gpfs",
        "beegfs",
        "afs",
        "ocfs2",
        "fuse.sshfs",
        "fuse.s3fs",
        "virtiofs",
        "orangefs",
    ];
    match kind {
        "tmpfs" | "ramfs" | "devtmpfs" | "hugetlbfs" | "rootfs" => TargetKind::Memory,
        _ if kind.starts_with("nfs") || network.contains(&kind) || kind.starts_with("smb") => {
            TargetKind::Network
        }
        _ if virtual_kind => TargetKind::Stacked,
        _ => TargetKind::File,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn file_systems_are_sorted_by_what_lies_below() {
        let cases = [
            ("tmpfs", true, TargetKind::Memory),
            ("nfs4", true, TargetKind::Network),
            ("fuse.glusterfs", true, TargetKind::Network),
            ("overlay", true, TargetKind::Stacked),
            ("fuseblk", true, TargetKind::Stacked),
            ("ext4", false, TargetKind::File),
        ];
        for (kind, is_virtual, expected) in cases {
            assert_eq!(filesystem_kind(kind, is_virtual), expected, "{kind}");
        }
    }
}
