//! Records of runs for tests: a sound trial, and ways to break it.
//!
//! The sound trial reads 4 KiB blocks at random and direct from a file on ext4
//! on one NVMe device, at depth 32, for 60 s; the device delivers exactly what
//! the workload reads. Observations are 0.4 s out of step with the samples, as
//! in life.

use std::rc::Rc;

use fathom_model::Histogram;
use fathom_model::fingerprint::{DeviceFacts, FilesystemFacts, Fingerprint, TargetFingerprint};
use fathom_model::observation::{
    CpuActivity, DeviceActivity, MemoryState, Observation, OwnActivity, Pressure,
};
use fathom_model::op::OpKind;
use fathom_model::run::{
    Ceiling, DataReport, EngineReport, RunMeta, RunRecord, RunState, TrialEnd, TrialRecord,
};
use fathom_model::sample::{OpSample, Phase, Sample};
use fathom_model::schedule::{Purpose, Schedule, ScheduledTrial};
use fathom_model::target::Target;
use fathom_model::verdict::{Finding, FindingStatus, Limiter, Validity};
use fathom_model::workload::{CacheMode, EngineKind, OpMix, Workload};

use crate::statistics::noise::{Noise, seeded};

const SECOND: u64 = 1_000_000_000;
/// 2^30 bytes.
pub const GIB: u64 = 1 << 30;
const OFFSET_NS: i64 = -400_000_000;

/// A change of a record once it is made.
type Edit = Rc<dyn Fn(&mut TrialRecord)>;

/// A trial under construction.
#[derive(Clone)]
pub struct RecordBuilder {
    /// What is done.
    pub workload: Workload,
    /// What it is done to.
    pub target: Target,
    /// Length of the measure phase.
    pub seconds: u32,
    /// Length of the warmup before it.
    pub warmup_seconds: u32,
    /// What the target does.
    pub ops_per_second: u64,
    /// Relative standard deviation of the seconds.
    pub noise: f64,
    /// Device bytes per byte of the workload.
    pub device_share: f64,
    /// Further bytes that the device reads per second.
    pub foreign_read_bytes: u64,
    /// Whether the host was observed.
    pub observed: bool,
    /// How the trial ended.
    pub state: RunState,
    /// Facts of the host.
    pub host: Fingerprint,
    /// Facts of the target, where they were read.
    pub fingerprint: Option<TargetFingerprint>,
    /// What is known at the end, where it was reached.
    pub end: Option<TrialEnd>,
    edits: Vec<Edit>,
}

impl RecordBuilder {
    /// The sound read trial.
    pub fn reads() -> RecordBuilder {
        let mut workload = Workload::example("randread");
        workload.queue_depth = 32;
        workload.bounds.time_ns = Some(60 * SECOND);
        RecordBuilder {
            target: Target::Path("/mnt/data".into()),
            seconds: 60,
            warmup_seconds: 0,
            ops_per_second: 1000,
            noise: 0.01,
            device_share: 1.0,
            foreign_read_bytes: 0,
            observed: true,
            state: RunState::Complete,
            host: host(),
            fingerprint: Some(ext4_on_nvme()),
            end: Some(end(&workload)),
            workload,
            edits: Vec::new(),
        }
    }

    /// The same with writes.
    pub fn writes() -> RecordBuilder {
        let mut builder = RecordBuilder::reads();
        builder.workload.mix = OpMix::WRITE;
        builder
    }

    /// Changes the builder.
    pub fn with(mut self, change: impl FnOnce(&mut RecordBuilder)) -> RecordBuilder {
        change(&mut self);
        self
    }

    /// Changes what is known at the end.
    pub fn with_end(self, change: impl FnOnce(&mut TrialEnd)) -> RecordBuilder {
        self.with(|b| {
            if let Some(end) = &mut b.end {
                change(end);
            }
        })
    }

    /// Changes the record once it is made.
    pub fn edit(self, change: fn(&mut TrialRecord)) -> RecordBuilder {
        self.edit_with(change)
    }

    /// Changes the record by what a test computed.
    pub fn edit_with(mut self, change: impl Fn(&mut TrialRecord) + 'static) -> RecordBuilder {
        self.edits.push(Rc::new(change));
        self
    }

    /// Buffered in place of direct.
    pub fn buffered(self) -> RecordBuilder {
        self.with(|b| b.workload.cache = CacheMode::Buffered)
            .with_end(|end| end.engine.direct = false)
    }

    /// The same workload on another kind of file system.
    pub fn on(self, filesystem: &str, is_virtual: bool) -> RecordBuilder {
        self.with(|b| {
            let facts = b.fingerprint.as_mut().and_then(|f| f.filesystem.as_mut());
            if let Some(facts) = facts {
                facts.kind = filesystem.to_owned();
                facts.virtual_kind = is_virtual;
            }
        })
    }

    /// Facts of the drive before the trial, and those that changed until after.
    pub fn drive_facts(self, before: &[(&str, &str)], after: &[(&str, &str)]) -> RecordBuilder {
        let put = |target: &mut TargetFingerprint, facts: &[(&str, &str)]| {
            for (name, value) in facts {
                let facts = &mut target.devices[0].facts;
                facts.insert((*name).to_owned(), (*value).to_owned());
            }
        };
        self.with(|b| {
            let mut target = b.fingerprint.take().expect("facts of the target");
            put(&mut target, before);
            b.fingerprint = Some(target.clone());
            put(&mut target, after);
            if let Some(end) = &mut b.end {
                end.target_after = Some(target);
            }
        })
    }

    /// Facts of the file system before the trial.
    pub fn filesystem_facts(self, facts: &[(&str, &str)]) -> RecordBuilder {
        self.with(|b| {
            let target = b.fingerprint.as_mut();
            let filesystem = target.and_then(|target| target.filesystem.as_mut());
            let filesystem = filesystem.expect("facts of the file system");
            for (name, value) in facts {
                let facts = &mut filesystem.facts;
                facts.insert((*name).to_owned(), (*value).to_owned());
            }
        })
    }

    /// The trial.
    pub fn trial(&self) -> TrialRecord {
        let samples = self.samples();
        let mut trial = TrialRecord {
            spec: ScheduledTrial {
                seed: 1,
                ..ScheduledTrial::new(
                    self.workload.name.clone(),
                    self.target.clone(),
                    self.workload.clone(),
                )
            },
            started_unix_ns: 0,
            state: self.state,
            observations: match self.observed {
                true => self.observations(&samples),
                false => Vec::new(),
            },
            samples,
            target_before: self.fingerprint.clone(),
            end: self.end.clone(),
        };
        for edit in &self.edits {
            edit(&mut trial);
        }
        trial
    }

    /// A run of this trial alone.
    pub fn run(&self) -> RunRecord {
        run_of(vec![self.trial()], self.host.clone())
    }

    /// The finding of one check, when it said anything.
    pub fn finding(&self, id: &str) -> Option<Finding> {
        let judged = crate::judge(&self.run());
        let findings = &judged.trials[0].verdict.findings;
        findings.iter().find(|f| f.id == id).cloned()
    }

    /// The status of that finding.
    pub fn status(&self, id: &str) -> Option<FindingStatus> {
        self.finding(id).map(|f| f.status)
    }

    /// The verdict on whether the trial's number is true.
    pub fn validity(&self) -> Validity {
        crate::judge(&self.run()).trials[0].verdict.validity
    }

    /// What limited the trial.
    pub fn limiter(&self) -> Limiter {
        crate::judge(&self.run()).trials[0].verdict.limiter
    }

    fn samples(&self) -> Vec<Sample> {
        let mut noise = seeded(7);
        let warmup = (0..self.warmup_seconds).map(|i| (Phase::Warmup, i));
        let measure = (0..self.seconds).map(|i| (Phase::Measure, i));
        warmup
            .chain(measure)
            .enumerate()
            .map(|(position, (phase, index))| {
                let start_ns = position as u64 * SECOND;
                self.sample(&mut noise, phase, index, start_ns)
            })
            .collect()
    }

    fn sample(&self, noise: &mut Noise, phase: Phase, index: u32, start_ns: u64) -> Sample {
        let rate = self.ops_per_second as f64 * (1.0 + self.noise * noise.normal());
        let ops = rate.max(0.0).round() as u64;
        let open = self.workload.rate.is_some();
        let slots = self.workload.total_depth();
        let latency = slots as f64 / rate.max(1.0) * 1e9;
        let mut sample = Sample::new(phase, index, start_ns);
        sample.duration_ns = SECOND;
        sample.workers = self.workload.workers;
        sample.in_flight_ns = u128::from(slots * SECOND) * 99 / 100;
        sample.cpu_user_ns = SECOND / 50;
        sample.cpu_system_ns = SECOND / 20;
        sample.run_delay_ns = SECOND / 1000;
        sample.busiest_worker_cpu_ns = SECOND / 14;
        sample.longest_stall_ns = 200_000;
        let mix = self.workload.mix;
        let mut lateness = Histogram::new();
        for (kind, percent) in [
            (OpKind::Read, mix.read_percent),
            (OpKind::Write, mix.write_percent),
            (OpKind::Trim, mix.trim_percent),
        ] {
            if percent == 0 {
                continue;
            }
            let mut op = OpSample::new(kind, open);
            op.ops = ops * u64::from(percent) / 100;
            op.bytes = op.ops * self.workload.block.max_bytes();
            for _ in 0..op.ops {
                let value = (latency * (0.1 * noise.normal()).exp()) as u64;
                op.service.record(value);
                if let Some(response) = &mut op.response {
                    response.record(value + 10_000);
                    lateness.record(10_000);
                }
            }
            sample.ops.push(op);
        }
        sample.lateness = open.then_some(lateness);
        sample
    }

    fn observations(&self, samples: &[Sample]) -> Vec<Observation> {
        (0..samples.len() as u64 + 2)
            .map(|i| {
                let start_ns = (i * SECOND) as i64 + OFFSET_NS;
                let mut observation = quiet_observation(start_ns);
                let device = &mut observation.devices[0];
                for sample in samples {
                    let window = (start_ns, start_ns + SECOND as i64);
                    let share =
                        crate::company::overlap(sample.start_ns as i64, sample.duration_ns, window);
                    let bytes = |kind| sample.op(kind).map_or(0, |op| op.bytes) as f64;
                    let moved = |kind| (bytes(kind) * share * self.device_share) as u64;
                    device.read_bytes += moved(OpKind::Read);
                    device.write_bytes += moved(OpKind::Write);
                    device.queue_time_ns += (sample.in_flight_ns as f64 * share * 0.95) as u64;
                }
                let own = device.read_bytes;
                device.read_bytes += self.foreign_read_bytes;
                if let Some(activity) = &mut observation.own {
                    activity.storage_read_bytes = Some(own);
                }
                observation
            })
            .collect()
    }
}

/// A run of these trials; each gets its own row.
pub fn run_of(mut trials: Vec<TrialRecord>, host: Fingerprint) -> RunRecord {
    for (index, trial) in trials.iter_mut().enumerate() {
        trial.spec.index = index as u32;
        trial.spec.row = index as u32;
    }
    RunRecord {
        meta: RunMeta {
            id: "20261121-153042-k3f9".to_owned(),
            started_unix_ns: 1,
            ended_unix_ns: Some(2),
            state: RunState::Complete,
            reason: None,
            tool_version: "0.1.0".to_owned(),
            command_line: Vec::new(),
            plan_yaml: String::new(),
            label: None,
            schedule: Schedule {
                name: "test".to_owned(),
                seed: 1,
                destructive: false,
                keep_files: false,
                purpose: Purpose::Measure,
                trials: trials.iter().map(|t| t.spec.clone()).collect(),
                depth_probe: true,
                host_mode: fathom_model::host_mode::HostMode::default(),
            },
            host,
            hosts: Vec::new(),
            matrix_figures: None,
        },
        trials,
    }
}

fn host() -> Fingerprint {
    Fingerprint {
        hostname: "lab".to_owned(),
        kernel: "6.12.0".to_owned(),
        cpus: 8,
        memory_bytes: 16 * GIB,
        clocksource: Some("tsc".to_owned()),
        clock_read_ns: Some(25.0),
        ..Fingerprint::default()
    }
}

fn ext4_on_nvme() -> TargetFingerprint {
    TargetFingerprint {
        target: "/mnt/data".to_owned(),
        filesystem: Some(FilesystemFacts {
            kind: "ext4".to_owned(),
            mount_point: "/mnt/data".to_owned(),
            source: "/dev/nvme0n1".to_owned(),
            ..FilesystemFacts::default()
        }),
        devices: vec![DeviceFacts {
            name: "nvme0n1".to_owned(),
            kind: "nvme".to_owned(),
            rotational: Some(false),
            write_cache: Some("write through".to_owned()),
            ..DeviceFacts::default()
        }],
    }
}

fn end(workload: &Workload) -> TrialEnd {
    TrialEnd {
        engine: EngineReport {
            requested: Some(EngineKind::Uring),
            used: Some(EngineKind::Uring),
            direct: true,
            workers: workload.workers,
            ..EngineReport::default()
        },
        data: DataReport {
            active_bytes: 64 * GIB,
            unwritten_share: Some(0.0),
            unwritten_method: Some("FIEMAP".to_owned()),
            cached_share: Some(0.0),
            cached_method: Some("mincore".to_owned()),
            ..DataReport::default()
        },
        ceiling: Some(Ceiling {
            ops_per_second: 1e6,
            cpu_ns_per_op: 900.0,
        }),
        ..TrialEnd::default()
    }
}

fn quiet_observation(start_ns: i64) -> Observation {
    Observation {
        start_ns,
        duration_ns: SECOND,
        devices: vec![DeviceActivity {
            name: "nvme0n1".to_owned(),
            leaf: true,
            ..DeviceActivity::default()
        }],
        cpu: Some(CpuActivity {
            cpus: 8,
            user_ns: SECOND / 10,
            system_ns: SECOND / 10,
            idle_ns: 8 * SECOND - SECOND / 5,
            busiest_cpu_ns: SECOND / 10,
            ..CpuActivity::default()
        }),
        memory: Some(MemoryState {
            total_bytes: 16 * GIB,
            available_bytes: 12 * GIB,
            ..MemoryState::default()
        }),
        pressure: Some(Pressure::default()),
        own: Some(OwnActivity::default()),
    }
}
