//! Whatever a record holds, judging it ends, and ends in numbers.

use fathom_model::Histogram;
use fathom_model::fingerprint::{DeviceFacts, FilesystemFacts, TargetFingerprint};
use fathom_model::host_load::{BusiestThread, DeviceInterrupts, HostLoad, LinkLoad, QuotaUse};
use fathom_model::observation::{
    CpuActivity, DeviceActivity, MemoryState, Observation, OwnActivity, Pressure,
};
use fathom_model::op::{ErrorClass, OpKind};
use fathom_model::rng::Rng;
use fathom_model::run::{
    Ceiling, DataReport, EngineReport, ErrorDetail, RunRecord, RunState, StuckOp, TrialEnd,
    TrialRecord,
};
use fathom_model::sample::{OpSample, Phase, Sample};
use fathom_model::target::Target;
use fathom_model::verdict::{FindingStatus, Validity};
use fathom_model::workload::{
    Arrival, BlockSizes, CacheMode, EngineKind, OpMix, Rate, RateUnit, Verify,
};
use proptest::prelude::*;

use crate::judge;
use crate::test_records::{RecordBuilder, run_of};

/// Makes odd things from a seed.
struct Odd(Rng);

impl Odd {
    fn below(&mut self, bound: u64) -> u64 {
        self.0.below(bound)
    }

    fn chance(&mut self) -> bool {
        self.below(2) == 0
    }

    fn pick<T: Clone>(&mut self, from: &[T]) -> T {
        from[self.below(from.len() as u64) as usize].clone()
    }

    /// Mostly everyday numbers, sometimes the ends of the range.
    fn number(&mut self) -> u64 {
        match self.below(8) {
            0 => 0,
            1 => 1,
            2 => u64::MAX,
            3 => self.0.next_u64(),
            _ => self.below(2_000_000_000),
        }
    }

    fn float(&mut self) -> f64 {
        let plain = self.0.unit() * 2.0;
        self.pick(&[0.0, plain, -1.0, f64::NAN, f64::INFINITY, 1e300, 1e-300])
    }

    fn maybe<T>(&mut self, make: impl FnOnce(&mut Odd) -> T) -> Option<T> {
        self.chance().then(|| make(self))
    }

    fn histogram(&mut self) -> Histogram {
        let mut histogram = Histogram::new();
        for _ in 0..self.below(40) {
            histogram.record(self.number());
        }
        histogram
    }

    fn op(&mut self, kind: OpKind) -> OpSample {
        let mut op = OpSample::new(kind, false);
        op.ops = self.number();
        op.bytes = self.number();
        op.service = self.histogram();
        op.response = self.maybe(Odd::histogram);
        if self.below(4) == 0 {
            let class = self.pick(&ErrorClass::ALL);
            let count = self.number() / 1000;
            op.errors.add_many(class, count);
        }
        op
    }

    fn sample(&mut self, index: u32) -> Sample {
        let phase = self.pick(&[Phase::Measure, Phase::Measure, Phase::Warmup, Phase::Settle]);
        let start = match self.chance() {
            true => u64::from(index) * 1_000_000_000,
            false => self.number(),
        };
        let index = if self.below(8) == 0 { 0 } else { index };
        let mut sample = Sample::new(phase, index, start);
        sample.duration_ns = self.pick(&[1_000_000_000, 1_000_000_000, 0, 1, u64::MAX]);
        sample.workers = self.number() as u32;
        sample.in_flight_ns = u128::from(self.number()) * u128::from(self.number());
        sample.cpu_user_ns = self.number();
        sample.cpu_system_ns = self.number();
        sample.run_delay_ns = self.number();
        sample.busiest_worker_cpu_ns = self.number();
        sample.longest_stall_ns = self.number();
        sample.lateness = self.maybe(Odd::histogram);
        for kind in OpKind::ALL {
            if self.chance() {
                sample.ops.push(self.op(kind));
            }
        }
        sample
    }

    fn device(&mut self) -> DeviceActivity {
        DeviceActivity {
            name: self.pick(&["sda", "nvme0n1", ""]).to_owned(),
            leaf: self.chance(),
            reads: self.number(),
            read_bytes: self.number(),
            write_bytes: self.number(),
            queue_time_ns: self.number(),
            flush_time_ns: self.maybe(Odd::number),
            ..DeviceActivity::default()
        }
    }

    fn observation(&mut self, index: u64) -> Observation {
        let regular = index as i64 * 1_000_000_000 - 400_000_000;
        Observation {
            start_ns: self.pick(&[regular, regular, regular, i64::MIN, i64::MAX]),
            duration_ns: self.pick(&[1_000_000_000, 1_000_000_000, 0, u64::MAX]),
            devices: (0..self.below(3)).map(|_| self.device()).collect(),
            cpu: self.maybe(|o| CpuActivity {
                cpus: o.number() as u32,
                user_ns: o.number(),
                system_ns: o.number(),
                idle_ns: o.number(),
                steal_ns: o.number(),
                ..CpuActivity::default()
            }),
            memory: self.maybe(|o| MemoryState {
                total_bytes: o.number(),
                dirty_bytes: o.number(),
                writeback_bytes: o.number(),
                ..MemoryState::default()
            }),
            pressure: self.maybe(|o| Pressure {
                cpu_some_ns: o.number(),
                ..Pressure::default()
            }),
            own: self.maybe(|o| OwnActivity {
                storage_read_bytes: o.maybe(Odd::number),
                ..OwnActivity::default()
            }),
        }
    }

    fn end(&mut self) -> TrialEnd {
        TrialEnd {
            reason: self.maybe(|_| "reason".to_owned()),
            engine: EngineReport {
                requested: self.maybe(|o| o.pick(&EngineKind::ALL)),
                used: self.maybe(|o| o.pick(&EngineKind::ALL)),
                direct: self.chance(),
                fallbacks: self
                    .maybe(|_| vec!["fallback".to_owned()])
                    .unwrap_or_default(),
                errors: (0..self.below(2))
                    .map(|_| ErrorDetail {
                        class: ErrorClass::Io,
                        message: "message".to_owned(),
                        at_ns: self.number(),
                    })
                    .collect(),
                stuck: (0..self.below(2))
                    .map(|_| StuckOp {
                        message: "message".to_owned(),
                        age_ns: self.number(),
                    })
                    .collect(),
                impossible_latencies: self.number(),
                workers: self.number() as u32,
                ..EngineReport::default()
            },
            data: DataReport {
                active_bytes: self.number(),
                unwritten_share: self.maybe(Odd::float),
                cached_share: self.maybe(Odd::float),
                prepared_bytes: self.number(),
                ..DataReport::default()
            },
            ceiling: self.maybe(|o| Ceiling {
                ops_per_second: o.float(),
                cpu_ns_per_op: o.float(),
            }),
            target_after: None,
            final_flush_ns: self.maybe(Odd::number),
            dirty_bytes_at_end: self.maybe(Odd::number),
            own_dirty_bytes_at_end: self.maybe(Odd::number),
            host: self.maybe(Odd::host_load),
            load_started_ns: self.maybe(Odd::number),
            load_started_unix_ns: self.maybe(Odd::number),
            start: None,
            gluster: None,
            gate: None,
            ends: None,
        }
    }

    fn host_load(&mut self) -> HostLoad {
        HostLoad {
            duration_ns: self.number(),
            swap_in_bytes: self.maybe(Odd::number),
            swap_out_bytes: self.maybe(Odd::number),
            cpu_quota: self.maybe(|o| QuotaUse {
                group: "/a".to_owned(),
                periods: o.number(),
                throttled_periods: o.number(),
                throttled_ns: o.number(),
            }),
            core_throttles: self.maybe(Odd::number),
            interrupts: (0..self.below(3))
                .map(|_| DeviceInterrupts {
                    device: "nvme0n1".to_owned(),
                    total: self.number(),
                    busiest_cpu: self.number() as u32,
                    on_busiest_cpu: self.number(),
                })
                .collect(),
            busiest_thread: self.maybe(|o| BusiestThread {
                name: "fathom-w0".to_owned(),
                cpu: o.maybe(|o| o.number() as u32),
                cpu_ns: o.number(),
                duration_ns: o.number(),
            }),
            links: (0..self.below(3))
                .map(|_| LinkLoad {
                    interface: "eth0".to_owned(),
                    speed_bits: self.maybe(Odd::number),
                    received_bytes: self.number(),
                    sent_bytes: self.number(),
                    lost_frames: self.number(),
                })
                .collect(),
        }
    }

    fn fingerprint(&mut self) -> TargetFingerprint {
        TargetFingerprint {
            filesystem: self.maybe(|o| FilesystemFacts {
                kind: o.pick(&["ext4", "tmpfs", "nfs4", "overlay", ""]).to_owned(),
                virtual_kind: o.chance(),
                ..FilesystemFacts::default()
            }),
            devices: (0..self.below(3))
                .map(|_| DeviceFacts {
                    name: "sda".to_owned(),
                    kind: self.pick(&["disk", "loop", "zram"]).to_owned(),
                    ..DeviceFacts::default()
                })
                .collect(),
            ..TargetFingerprint::default()
        }
    }

    fn trial(&mut self) -> TrialRecord {
        let mut trial = RecordBuilder::reads()
            .with(|b| {
                b.seconds = 0;
                b.observed = false;
            })
            .trial();
        let sim = Target::Sim("ssd".to_owned());
        trial.spec.target = self.pick(&[Target::Path("/x".into()), Target::Null, sim]);
        trial.spec.iteration = self.number() as u32;
        let workload = &mut trial.spec.workload;
        workload.engine = self.pick(&EngineKind::ALL);
        workload.mix = self.pick(&[
            OpMix::READ,
            OpMix::WRITE,
            OpMix {
                read_percent: 40,
                write_percent: 40,
                trim_percent: 20,
            },
        ]);
        let size = self.number();
        let sizes = [
            BlockSizes::Fixed(4096),
            BlockSizes::Fixed(size),
            BlockSizes::Weighted(vec![]),
        ];
        workload.block = self.pick(&sizes);
        workload.workers = self.number() as u32;
        workload.queue_depth = self.number() as u32;
        workload.cache = self.pick(&[CacheMode::Direct, CacheMode::Buffered]);
        workload.sync.every_writes = self.pick(&[0, 1, 7]);
        workload.sync.final_flush = self.chance();
        workload.think_ns = self.pick(&[0, 0, 5]);
        workload.poll = self.chance();
        workload.bounds.time_ns = self.maybe(Odd::number);
        workload.verify = self.maybe(|o| Verify {
            on_read: o.chance(),
            after: o.chance(),
            ..Verify::default()
        });
        workload.rate = self.maybe(|o| Rate {
            per_second: o.pick(&[0.0, 1e-300, 1000.0, 1e300, -5.0]),
            unit: o.pick(&[RateUnit::Ops, RateUnit::Bytes]),
            arrival: o.pick(&[Arrival::Constant, Arrival::Poisson]),
        });
        trial.state = self.pick(&[
            RunState::Complete,
            RunState::Running,
            RunState::Interrupted,
            RunState::Failed,
        ]);
        let seconds = self.pick(&[0, 1, 2, 5, 14]);
        trial.samples = (0..seconds).map(|i| self.sample(i)).collect();
        trial.observations = (0..u64::from(seconds))
            .map(|i| self.observation(i))
            .collect();
        trial.target_before = self.maybe(Odd::fingerprint);
        trial.end = self.maybe(Odd::end);
        trial
    }

    fn record(&mut self) -> RunRecord {
        let trials = (0..self.below(4)).map(|_| self.trial()).collect();
        let mut host = RecordBuilder::reads().host;
        host.memory_bytes = self.number();
        host.clock_read_ns = self.maybe(Odd::float);
        let mut record = run_of(trials, host);
        if self.chance() {
            record.trials.iter_mut().for_each(|t| t.spec.row = 0);
        }
        record
    }
}

/// A plausible trial, sound or with something wrong that only shows in what was
/// observed of the host.
fn plausible(seed: u64) -> TrialRecord {
    let mut odd = Odd(Rng::new(seed));
    let builder = match odd.below(3) {
        0 => RecordBuilder::writes(),
        1 => RecordBuilder::reads().buffered(),
        _ => RecordBuilder::reads(),
    };
    let builder = builder.with(|b| {
        b.seconds = odd.pick(&[3, 12, 40]);
        b.ops_per_second = odd.pick(&[20, 300]);
        b.noise = odd.pick(&[0.005, 0.3]);
        b.device_share = odd.pick(&[1.0, 1.0, 0.9, 0.1]);
        b.foreign_read_bytes = odd.pick(&[0, 0, 200_000, 50_000_000]);
        b.workload.queue_depth = odd.pick(&[1, 32]);
    });
    let builder = match odd.below(4) {
        0 => builder.on("tmpfs", true),
        1 => builder.on("nfs4", true),
        _ => builder,
    };
    let mut trial = builder.trial();
    let steal = odd.pick(&[0, 0, 300_000_000]);
    for cpu in trial.observations.iter_mut().filter_map(|o| o.cpu.as_mut()) {
        cpu.steal_ns += steal;
    }
    trial
}

/// Ways to know less of the same trial.
const FORGET: [fn(&mut TrialRecord); 5] = [
    |trial| trial.observations.clear(),
    |trial| {
        trial
            .observations
            .iter_mut()
            .for_each(|o| o.devices.clear());
    },
    |trial| trial.target_before = None,
    |trial| {
        for observation in &mut trial.observations {
            (observation.cpu, observation.pressure) = (None, None);
        }
        trial.samples.iter_mut().for_each(|s| s.run_delay_ns = 0);
    },
    |trial| {
        trial.observations.clear();
        trial.target_before = None;
        trial.samples.iter_mut().for_each(|s| s.run_delay_ns = 0);
    },
];

/// Floats show in the debug text as these when they are not numbers.
const NOT_NUMBERS: [&str; 6] = ["(NaN)", ": NaN", "(inf)", "(-inf)", ": inf", ": -inf"];

proptest! {
    #![proptest_config(ProptestConfig { cases: 40, ..ProptestConfig::default() })]

    #[test]
    fn any_record_is_judged_in_finite_numbers(seed in any::<u64>()) {
        let record = Odd(Rng::new(seed)).record();
        let judged = judge(&record);
        let text = format!("{judged:?}");
        for not_number in NOT_NUMBERS {
            prop_assert!(!text.contains(not_number), "{not_number} in the result of {seed}");
        }
        let json = serde_json::to_string(&judged).unwrap();
        let back: Result<fathom_model::JudgedRun, _> = serde_json::from_str(&json);
        prop_assert!(back.is_ok(), "{:?}", back.err());
    }

    #[test]
    fn verdicts_and_estimates_are_consistent(seed in any::<u64>()) {
        let record = Odd(Rng::new(seed)).record();
        let judged = judge(&record);
        prop_assert_eq!(judged.trials.len(), record.trials.len());
        for trial in &judged.trials {
            let statuses: Vec<FindingStatus> =
                trial.verdict.findings.iter().map(|f| f.status).collect();
            prop_assert!(statuses.is_sorted_by(|a, b| a >= b), "worst first");
            for op in &trial.summary.ops {
                let percentiles = op.service.percentiles.iter().map(|p| &p.latency_ns);
                for estimate in percentiles.chain([&op.ops_per_second, &op.service.mean_ns]) {
                    if let (Some(low), Some(value), Some(high)) =
                        (estimate.low, estimate.value, estimate.high)
                    {
                        prop_assert!(low <= value && value <= high, "{estimate:?}");
                    } else {
                        prop_assert!(estimate.reason.is_some(), "{estimate:?}");
                    }
                }
            }
        }
    }

    /// What shows a number to be wrong may be what was forgotten: then it is at
    /// least not trusted without reserve.
    #[test]
    fn knowing_less_never_makes_a_number_more_trusted(seed in any::<u64>()) {
        let judged = |trial: TrialRecord| {
            let judged = judge(&run_of(vec![trial], RecordBuilder::reads().host));
            let of_row = judged.rows.first().map(|row| row.verdict.validity);
            assert_eq!(of_row.into_iter().max(), judged.trials.iter().map(|t| t.verdict.validity).max());
            judged.verdict.validity
        };
        let whole = plausible(seed);
        let known = judged(whole.clone());
        for (way, forget) in FORGET.iter().enumerate() {
            let mut less = whole.clone();
            forget(&mut less);
            let doubted = judged(less);
            let allowed = doubted >= known
                || known == Validity::NotTrusted && doubted >= Validity::Caveats;
            prop_assert!(allowed, "seed {seed}, way {way}: {known:?} became {doubted:?}");
        }
    }
}
