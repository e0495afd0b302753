//! Data for tests: what a real trial looks like, from a seed.

#![allow(dead_code, unreachable_pub)]

use fathom_model::fingerprint::{DeviceFacts, Fingerprint, TargetFingerprint};
use fathom_model::fleet::{FleetHost, HostClock, StartReport};
use fathom_model::histogram::{BUCKETS, bucket_range};
use fathom_model::idle_gate::{BusyDevice, IdleGate};
use fathom_model::observation::{CpuActivity, DeviceActivity, MemoryState, OwnActivity, Pressure};
use fathom_model::rng::Rng;
use fathom_model::run::{Ceiling, DataReport, EngineReport, ErrorDetail, TrialEnd};
use fathom_model::schedule::{Pause, Purpose, TrialRole};
use fathom_model::workload::EngineKind;
use fathom_model::{
    ErrorClass, Histogram, Observation, OpKind, OpSample, Phase, RunMeta, RunState, Sample,
    Schedule, ScheduledTrial, Target, Workload,
};

pub const SECOND_NS: u64 = 1_000_000_000;

/// A run of `trials` trials.
pub fn meta(id: &str, trials: u32) -> RunMeta {
    RunMeta {
        id: id.to_owned(),
        started_unix_ns: 1_795_000_000_000_000_000,
        ended_unix_ns: None,
        state: RunState::Running,
        reason: None,
        tool_version: "0.1.0".to_owned(),
        command_line: ["fathom", "run", "plan.yaml"].map(str::to_owned).to_vec(),
        plan_yaml: "plan: 1\nname: night\n".to_owned(),
        label: Some("burst".to_owned()),
        schedule: Schedule {
            name: "night".to_owned(),
            seed: 42,
            destructive: false,
            keep_files: false,
            purpose: Purpose::Measure,
            trials: (0..trials).map(trial).collect(),
            depth_probe: true,
            host_mode: fathom_model::host_mode::HostMode::default(),
        },
        host: Fingerprint {
            hostname: "node1".to_owned(),
            kernel: "6.1.0".to_owned(),
            clock_read_ns: Some(23.7),
            cpus: 16,
            memory_bytes: 64 << 30,
            ..Fingerprint::default()
        },
        hosts: vec![FleetHost {
            name: "node2:7117".to_owned(),
            clock: Some(HostClock {
                offset_ns: -5,
                uncertainty_ns: 20_000,
                wall_offset_ns: 3_600_000_000_000,
            }),
            ..FleetHost::default()
        }],
        matrix_figures: None,
    }
}

/// A trial of a schedule.
pub fn trial(index: u32) -> ScheduledTrial {
    ScheduledTrial {
        index,
        iteration: index,
        row: 0,
        label: "mixed, 4 KiB \"random\"".to_owned(),
        target: Target::Path("/mnt/data".into()),
        workload: Workload::example("mixed"),
        seed: 7 + u64::from(index),
        role: TrialRole::Measure,
        together: None,
        start_delay_ns: 0,
        follows: None,
        ends_others: false,
        file_set: 0,
        host: None,
        spares_others: false,
        part: None,
        ends: None,
        pause: Pause {
            floor_ns: 0,
            ceiling_ns: SECOND_NS,
            until_quiet: true,
        },
    }
}

/// Facts of a target.
pub fn target_facts() -> TargetFingerprint {
    TargetFingerprint {
        target: "/mnt/data".to_owned(),
        filesystem: None,
        devices: vec![DeviceFacts {
            name: "nvme0n1".to_owned(),
            kind: "nvme".to_owned(),
            size_bytes: 1 << 40,
            ..DeviceFacts::default()
        }],
    }
}

/// The end of a trial.
pub fn end() -> TrialEnd {
    TrialEnd {
        reason: Some("asked to".to_owned()),
        engine: EngineReport {
            requested: Some(EngineKind::Uring),
            used: Some(EngineKind::Psync),
            direct: true,
            fallbacks: vec!["io_uring is disabled".to_owned()],
            errors: vec![ErrorDetail {
                class: ErrorClass::Io,
                message: "read of 4096 bytes at 0: EIO".to_owned(),
                at_ns: 5,
            }],
            ..EngineReport::default()
        },
        data: DataReport {
            active_bytes: 1 << 30,
            unwritten_share: Some(0.1 + 0.2),
            ..DataReport::default()
        },
        ceiling: Some(Ceiling {
            ops_per_second: 1_234_567.890_123,
            cpu_ns_per_op: 801.3,
        }),
        target_after: Some(target_facts()),
        final_flush_ns: Some(12),
        dirty_bytes_at_end: None,
        own_dirty_bytes_at_end: Some(13),
        host: None,
        load_started_ns: Some(5_000_000_000),
        load_started_unix_ns: Some(1_700_000_000_123_456_789),
        start: Some(StartReport {
            lateness_ns: 70_000,
            clock: Some(HostClock::default()),
        }),
        gluster: None,
        gate: Some(Box::new(IdleGate {
            waited_ns: 1_200_000_000,
            ceiling_ns: 3_000_000_000,
            watched: vec!["sda".to_owned()],
            busy: vec![BusyDevice {
                name: "sda".to_owned(),
                queue: 0.5,
            }],
            gave_up: false,
        })),
        ends: None,
    }
}

/// Chance that a normal variable stays below `z` (Abramowitz and Stegun
/// 26.2.17, error below 7.5e-8).
fn normal_below(z: f64) -> f64 {
    if z < 0.0 {
        return 1.0 - normal_below(-z);
    }
    let t = 1.0 / (1.0 + 0.231_641_9 * z);
    let series = [
        0.319_381_530,
        -0.356_563_782,
        1.781_477_937,
        -1.821_255_978,
        1.330_274_429,
    ];
    let sum = series.iter().rev().fold(0.0, |sum, b| (sum + b) * t);
    1.0 - sum * (-z * z / 2.0).exp() / (2.0 * std::f64::consts::PI).sqrt()
}

fn normal(rng: &mut Rng) -> f64 {
    let radius = (-2.0 * (1.0 - rng.unit()).ln()).sqrt();
    radius * (2.0 * std::f64::consts::PI * rng.unit()).cos()
}

/// A Poisson count: exact for small means, rounded normal for large ones.
fn poisson(rng: &mut Rng, mean: f64) -> u64 {
    if mean > 30.0 {
        return (mean + mean.sqrt() * normal(rng)).round().max(0.0) as u64;
    }
    let limit = (-mean).exp();
    let (mut count, mut product) = (0, rng.unit());
    while product > limit {
        count += 1;
        product *= rng.unit();
    }
    count
}

/// A distribution of latencies whose counts can be drawn second by second.
pub struct LogNormal {
    /// Share of the values in each bucket that matters.
    shares: Vec<(usize, f64)>,
}

impl LogNormal {
    pub fn new(median_ns: f64, sigma: f64) -> LogNormal {
        let below = |ns: u64| normal_below(((ns as f64).max(0.5) / median_ns).ln() / sigma);
        let shares = (0..BUCKETS)
            .map(|bucket| {
                let (low, high) = bucket_range(bucket);
                (bucket, below(high + 1) - below(low))
            })
            .filter(|(_, share)| *share > 1e-9)
            .collect();
        LogNormal { shares }
    }

    /// About `ops` values, bucket by bucket.
    pub fn draw(&self, rng: &mut Rng, ops: f64) -> Histogram {
        let mut buckets = Vec::new();
        let (mut sum, mut min, mut max) = (0u128, u64::MAX, 0);
        for &(bucket, share) in &self.shares {
            let count = poisson(rng, share * ops);
            if count > 0 {
                let (low, high) = bucket_range(bucket);
                let value = low + rng.below(high - low + 1);
                sum += u128::from(value) * u128::from(count);
                min = min.min(value);
                max = max.max(value);
                buckets.push((bucket, count));
            }
        }
        Histogram::from_parts(buckets, sum, min, max).unwrap_or_default()
    }
}

/// Seconds of a mixed load on one group of workers.
pub struct Load {
    pub rng: Rng,
    pub read: LogNormal,
    pub write: LogNormal,
    pub ops_per_second: f64,
}

impl Load {
    /// `ops_per_second` of each kind, spread widely around 90 and 25 µs.
    pub fn new(seed: u64, ops_per_second: f64) -> Load {
        Load {
            rng: Rng::new(seed),
            read: LogNormal::new(90_000.0, 0.75),
            write: LogNormal::new(25_000.0, 0.5),
            ops_per_second,
        }
    }

    pub fn sample(&mut self, index: u32) -> Sample {
        let jitter = |rng: &mut Rng, around: u64| around + rng.below(around / 50 + 1);
        let rng = &mut self.rng;
        let mut sample = Sample::new(Phase::Measure, index, u64::from(index) * SECOND_NS);
        sample.start_ns += rng.below(50_000);
        sample.duration_ns = SECOND_NS - rng.below(100_000);
        sample.workers = 16;
        sample.in_flight_ns = u128::from(jitter(rng, 256 * SECOND_NS));
        sample.cpu_user_ns = jitter(rng, SECOND_NS / 3);
        sample.cpu_system_ns = jitter(rng, SECOND_NS * 2);
        sample.run_delay_ns = jitter(rng, SECOND_NS / 100);
        sample.busiest_worker_cpu_ns = jitter(rng, SECOND_NS / 6);
        sample.longest_stall_ns = jitter(rng, 2_000_000);
        for (kind, latencies) in [(OpKind::Read, &self.read), (OpKind::Write, &self.write)] {
            let mut op = OpSample::new(kind, false);
            op.service = latencies.draw(rng, self.ops_per_second);
            op.ops = op.service.count();
            op.bytes = op.ops * 4096;
            sample.ops.push(op);
        }
        sample
    }
}

/// One second of a host with `devices` devices.
pub fn observation(rng: &mut Rng, index: u32, devices: usize) -> Observation {
    let mut near = |around: u64| around + rng.below(around / 20 + 1);
    let device = |near: &mut dyn FnMut(u64) -> u64, i: usize| DeviceActivity {
        name: format!("nvme{i}n1"),
        leaf: i > 0,
        reads: near(20_000),
        read_bytes: near(20_000) * 4096,
        read_time_ns: near(1_800) * 1_000_000,
        writes: near(20_000),
        write_bytes: near(20_000) * 4096,
        write_time_ns: near(500) * 1_000_000,
        discards: Some(0),
        discard_bytes: Some(0),
        flushes: Some(near(20)),
        flush_time_ns: Some(near(20) * 1_000_000),
        in_flight: near(256),
        queue_time_ns: near(2_300) * 1_000_000,
        busy_ns: None,
        read_merges: None,
        write_merges: None,
    };
    Observation {
        start_ns: i64::from(index) * SECOND_NS as i64 - 500,
        duration_ns: near(SECOND_NS),
        devices: (0..devices).map(|i| device(&mut near, i)).collect(),
        cpu: Some(CpuActivity {
            cpus: 16,
            user_ns: near(33) * 10_000_000,
            system_ns: near(200) * 10_000_000,
            interrupt_ns: near(10) * 10_000_000,
            idle_ns: near(1_300) * 10_000_000,
            iowait_ns: near(50) * 10_000_000,
            steal_ns: 0,
            busiest_cpu_ns: near(60) * 10_000_000,
            busiest_cpu: None,
            interrupt_cpu: None,
        }),
        memory: Some(MemoryState {
            total_bytes: 64 << 30,
            available_bytes: near(40 << 30) & !4095,
            cached_bytes: near(8 << 30) & !4095,
            dirty_bytes: near(1 << 20) & !4095,
            writeback_bytes: 0,
        }),
        pressure: Some(Pressure {
            cpu_some_ns: near(900_000),
            io_some_ns: near(300_000_000),
            io_full_ns: near(200_000_000),
            memory_some_ns: 0,
        }),
        own: Some(OwnActivity {
            cpu_user_ns: near(SECOND_NS / 3),
            cpu_system_ns: near(SECOND_NS * 2),
            storage_read_bytes: Some(near(80 << 20)),
            storage_write_bytes: Some(near(80 << 20)),
        }),
    }
}
