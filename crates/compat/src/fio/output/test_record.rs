//! A small run for tests: one trial of reads and writes, four intervals of
//! half a second.

use fathom_model::observation::DeviceActivity;
use fathom_model::recording::{DepthCounts, ThreadUse};
use fathom_model::run::{EngineReport, RunMeta, TrialEnd};
use fathom_model::sample::Halves;
use fathom_model::schedule::Schedule;
use fathom_model::workload::OpMix;
use fathom_model::{
    Fingerprint, Histogram, Observation, OpKind, OpSample, Operation, Phase, RunRecord, RunState,
    Sample, ScheduledTrial, Target, TrialRecord, Workload,
};

const HALF: u64 = 500_000_000;

/// 1795299929 s, a Saturday evening.
pub(super) const STARTED_NS: u64 = 1_795_299_929_000_000_000;

pub(super) fn workload() -> Workload {
    let mut workload = Workload::example("mixed");
    workload.mix = OpMix {
        read_percent: 70,
        write_percent: 30,
        trim_percent: 0,
    };
    workload.queue_depth = 8;
    workload.bounds.time_ns = Some(2_000_000_000);
    workload.recording.interval_ns = Some(HALF);
    workload.recording.distributions = true;
    workload.recording.submission = true;
    workload
}

fn op(kind: OpKind, ops: u64, service_ns: u64) -> OpSample {
    let mut sample = OpSample::new(kind, false);
    let mut halves = Halves::default();
    sample.service = Histogram::new().with_squares(0);
    for i in 0..ops {
        sample.service.record(service_ns + i);
        halves.submission.record(1000);
        halves.completion.record(service_ns + i - 1000);
    }
    sample.ops = ops;
    sample.bytes = ops * 4096;
    sample.halves = Some(Box::new(halves));
    sample
}

/// Interval `index`: 100 + index reads of 100 µs and 50 writes of 200 µs.
fn sample(index: u32, single: bool) -> Sample {
    let start_ns = u64::from(index) * HALF;
    let mut sample = Sample::new(Phase::Measure, index, start_ns);
    sample.duration_ns = HALF;
    sample.workers = 1;
    sample.cpu_user_ns = 50_000_000;
    sample.cpu_system_ns = 100_000_000;
    sample.ops = vec![
        op(OpKind::Read, 100 + u64::from(index), 100_000),
        op(OpKind::Write, 50, 200_000),
    ];
    if single {
        sample.operations.push(Operation {
            kind: OpKind::Write,
            worker: 0,
            file: 0,
            bytes: 4096,
            offset_bytes: 8192,
            ended_ns: start_ns + 250_000_000,
            service_ns: 200_000,
            submission_ns: 1000,
        });
    }
    sample
}

fn observation(index: u32) -> Observation {
    Observation {
        start_ns: i64::from(index) * 1_000_000_000,
        duration_ns: 1_000_000_000,
        devices: vec![DeviceActivity {
            name: "sda".to_owned(),
            leaf: true,
            reads: 10,
            read_bytes: 40_960,
            writes: 5,
            write_bytes: 20_480,
            busy_ns: Some(250_000_000),
            ..DeviceActivity::default()
        }],
        ..Observation::default()
    }
}

/// Trial number `index`, with single operations if `single`.
pub(super) fn trial(index: u32, single: bool) -> TrialRecord {
    TrialRecord {
        spec: ScheduledTrial {
            index,
            row: index,
            seed: 1,
            ..ScheduledTrial::new(
                format!("mixed-{index}"),
                Target::Path("/data/file".into()),
                workload(),
            )
        },
        started_unix_ns: STARTED_NS + u64::from(index) * 3_000_000_000,
        state: RunState::Complete,
        samples: (0..4).map(|i| sample(i, single)).collect(),
        observations: (0..2).map(observation).collect(),
        target_before: None,
        end: Some(TrialEnd {
            engine: EngineReport {
                threads: Some(ThreadUse {
                    voluntary_switches: 7,
                    involuntary_switches: 3,
                    major_faults: 1,
                    minor_faults: 20,
                }),
                depths: Some(DepthCounts {
                    at_submission: [1, 2, 4, 599, 0, 0, 0],
                    submitted: [0, 606, 0, 0, 0, 0, 0],
                    completed: [0, 600, 3, 0, 0, 0, 0],
                }),
                ..EngineReport::default()
            },
            ..TrialEnd::default()
        }),
    }
}

/// A run of these trials.
pub(super) fn run(trials: Vec<TrialRecord>) -> RunRecord {
    RunRecord {
        meta: RunMeta {
            id: "20261121-222529-test".to_owned(),
            started_unix_ns: STARTED_NS,
            ended_unix_ns: Some(STARTED_NS + 5_000_000_000),
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
                purpose: fathom_model::schedule::Purpose::Measure,
                trials: trials.iter().map(|trial| trial.spec.clone()).collect(),
                depth_probe: false,
                host_mode: fathom_model::host_mode::HostMode::default(),
            },
            host: Fingerprint::default(),
            hosts: Vec::new(),
            matrix_figures: None,
        },
        trials,
    }
}
