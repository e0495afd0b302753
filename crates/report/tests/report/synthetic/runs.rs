//! Whole synthetic runs.

use fathom_model::run::{ErrorDetail, StuckOp};
use fathom_model::verdict::FindingStatus;
use fathom_model::workload::{Arrival, BlockSizes, OpMix, Pattern, Rate, RateUnit};
use fathom_model::{
    ErrorClass, JudgedRun, JudgedTrial, Limiter, OpKind, RunState, Target, Workload,
};

use super::base::{finding, objected, run};
use super::latency::Mode;
use super::trial::{OpSpec, STARTED, TrialSpec};

fn modes(median_us: f64) -> Vec<Mode> {
    let mode = |share, times, sigma| Mode {
        share,
        median_ns: median_us * 1e3 * times,
        sigma,
    };
    vec![
        mode(0.93, 1.0, 0.12),
        mode(0.066, 2.4, 0.3),
        mode(0.004, 14.0, 0.5),
    ]
}

pub(super) fn op(kind: OpKind, per_second: f64, median_us: f64) -> OpSpec {
    OpSpec {
        kind,
        per_second,
        modes: modes(median_us),
    }
}

pub(super) fn shape(mix: OpMix, sequential: bool, block: u64, depth: u32) -> Workload {
    let mut workload = Workload::example("cell");
    workload.mix = mix;
    if sequential {
        workload.pattern = Pattern::Sequential;
    }
    workload.block = BlockSizes::Fixed(block);
    workload.queue_depth = depth;
    workload.bounds.time_ns = Some(5_000_000_000);
    workload
}

/// The `quick` plan on a fast drive, nothing to object to.
pub(crate) fn quick() -> JudgedRun {
    let cells = [
        (true, 1 << 20, 8, 3_412.0, 2_330.0, 2_981.0, 2_610.0),
        (true, 1 << 20, 1, 1_734.0, 571.0, 1_622.0, 612.0),
        (false, 4096, 32, 341_210.0, 92.1, 287_300.0, 110.4),
        (false, 4096, 1, 12_140.0, 81.2, 38_720.0, 24.9),
    ];
    let mut trials = Vec::new();
    for (sequential, block, depth, reads, read_us, writes, write_us) in cells {
        for (kind, mix, rate, us) in [
            (OpKind::Read, OpMix::READ, reads, read_us),
            (OpKind::Write, OpMix::WRITE, writes, write_us),
        ] {
            let index = trials.len() as u32;
            let label = format!("cell-{index}");
            let workload = shape(mix, sequential, block, depth);
            let mut spec = TrialSpec::new(index, &label, workload, vec![op(kind, rate, us)]);
            spec.seconds = 5;
            let mut trial = spec.build();
            if depth == 1 {
                trial.verdict.limiter = Limiter::QueueDepth;
                trial.verdict.limiter_evidence = "one operation in flight".to_owned();
            }
            trials.push(trial);
        }
    }
    trials.push(durable(trials.len() as u32));
    let mut run = run("quick", trials);
    run.run.label = Some("burst".to_owned());
    with_grid(run)
}

/// The run as a grid, which shows its rows as they are now.
pub(crate) fn with_grid(mut run: JudgedRun) -> JudgedRun {
    run.view = Some(fathom_studies::quick::view(&run));
    run
}

fn durable(index: u32) -> JudgedTrial {
    let mut workload = shape(OpMix::WRITE, false, 4096, 1);
    workload.sync.every_writes = 1;
    let ops = vec![
        op(OpKind::Write, 812.0, 26.0),
        op(OpKind::Sync, 812.0, 1_190.0),
        op(OpKind::Commit, 812.0, 1_220.0),
    ];
    let mut spec = TrialSpec::new(index, "durable-4k", workload, ops);
    spec.seconds = 5;
    let mut trial = spec.build();
    trial.verdict.limiter = Limiter::Flush;
    trial
}

/// The same with two caveats.
pub(crate) fn quick_caveats() -> JudgedRun {
    let mut run = quick();
    let verdict = objected(
        vec![
            finding(
                "V03",
                "WORKING_SET",
                FindingStatus::Caveat,
                (
                    "the data set is 1.00 GiB, 0.008 times the memory of the host; a cache in the \
                     device or below may hold it (trials 1 to 9)",
                    "use a data set of at least twice the memory: --size 256G",
                ),
            ),
            finding(
                "V16",
                "CI_WIDTH",
                FindingStatus::Caveat,
                (
                    "the interval of SEQ1M Q1T1 write is \u{b1}3.4 %, more than 2 %",
                    "measure longer: --time 30s",
                ),
            ),
        ],
        (
            Limiter::Device,
            "the queue was full while the generator idled",
        ),
    );
    for i in [1, 3] {
        run.trials[i].verdict = verdict.clone();
        run.rows[i].verdict = verdict.clone();
    }
    run.verdict = verdict;
    with_grid(run)
}

/// Reads that the page cache answered.
pub(crate) fn not_trusted_cache() -> JudgedRun {
    let mut spec = TrialSpec::new(
        0,
        "randread",
        shape(OpMix::READ, false, 4096, 32),
        vec![op(OpKind::Read, 1_120_000.0, 2.1)],
    );
    spec.device_share = 0.02;
    let mut trial = spec.build();
    trial.summary.direct = false;
    trial.verdict = objected(
        vec![finding(
            "V01",
            "APP_VS_DEVICE_BYTES",
            FindingStatus::Invalid,
            (
                "devices read 0.020 times the bytes of the workload (threshold 0.80): a cache \
                 answered",
                "use direct I/O (--direct), or a data set larger than memory",
            ),
        )],
        (Limiter::Cache, "98 % of the bytes never reached the device"),
    );
    run("run", vec![trial])
}

/// A rate that the target cannot keep: starts lag behind.
pub(crate) fn open_loop_lag() -> JudgedRun {
    let mut workload = shape(
        OpMix {
            read_percent: 70,
            write_percent: 30,
            trim_percent: 0,
        },
        false,
        8192,
        16,
    );
    workload.rate = Some(Rate {
        per_second: 20_000.0,
        unit: RateUnit::Ops,
        arrival: Arrival::Poisson,
    });
    let ops = vec![
        op(OpKind::Read, 13_300.0, 140.0),
        op(OpKind::Write, 5_700.0, 60.0),
    ];
    let mut spec = TrialSpec::new(0, "mixed 70/30 rate=20k", workload, ops);
    spec.seconds = 30;
    spec.warmup = 5;
    spec.speed = |s| if (18..21).contains(&s) { 0.55 } else { 1.0 };
    let mut trial = spec.build();
    trial.verdict = objected(
        vec![finding(
            "V23",
            "COORD_OMISSION",
            FindingStatus::Caveat,
            (
                "19,000 of 20,000 operations per second were reached; starts were up to 2.9 ms \
                 late at p99",
                "ask for a lower rate, or allow a greater depth",
            ),
        )],
        (Limiter::Device, "the queue was full when starts were late"),
    );
    run("openloop", vec![trial])
}

/// A matrix of depths and block sizes, three iterations each.
pub(crate) fn matrix() -> JudgedRun {
    let mut trials = Vec::new();
    let mut row = 0;
    for block in [4096u64, 16_384, 65_536, 262_144] {
        for depth in [1u32, 4, 16, 64] {
            for iteration in 0..3 {
                let rate =
                    9_000.0 * f64::from(depth).powf(0.85) * (4096.0 / block as f64).powf(0.6);
                let us = f64::from(depth) / rate * 1e6;
                let label = format!("randread bs={} qd={depth}", block / 1024);
                let workload = shape(OpMix::READ, false, block, depth);
                let index = trials.len() as u32;
                let ops = vec![op(OpKind::Read, rate, us)];
                let mut spec = TrialSpec::new(index, &label, workload, ops);
                (spec.row, spec.iteration) = (row, iteration);
                let mut trial = spec.build();
                if depth < 16 {
                    trial.verdict.limiter = Limiter::QueueDepth;
                }
                trials.push(trial);
            }
            row += 1;
        }
    }
    run("matrix", trials)
}

/// One hour of mixed load with the end of a write cache and a stall.
pub(crate) fn long_run(seconds: u32) -> JudgedRun {
    let mix = OpMix {
        read_percent: 50,
        write_percent: 50,
        trim_percent: 0,
    };
    let mut workload = shape(mix, false, 65_536, 16);
    workload.data_set.size_bytes = Some(512 << 30);
    workload.bounds.time_ns = Some(u64::from(seconds) * 1_000_000_000);
    let ops = vec![
        op(OpKind::Read, 21_000.0, 310.0),
        op(OpKind::Write, 21_000.0, 180.0),
    ];
    let mut spec = TrialSpec::new(0, "mixed 50/50 64K", workload, ops);
    spec.seconds = seconds;
    spec.warmup = 60.min(seconds / 10);
    spec.draws = if seconds > 600 { 500 } else { 60 };
    spec.speed = |s| match s {
        2400..=2403 => 0.004,
        0..=1270 => 1.0,
        _ => 0.31 + 0.05 * f64::from(s % 90 / 45),
    };
    let mut trial = spec.build();
    trial.verdict = objected(
        vec![finding(
            "V13",
            "CLIFF",
            FindingStatus::Caveat,
            (
                "throughput fell by 67 % after 1,271 s and 3.26 TiB; the mean describes neither \
                 part",
                "judge the parts before and after the cliff separately",
            ),
        )],
        (Limiter::Device, "the queue was full for the whole trial"),
    );
    let mut run = run("sustained", vec![trial]);
    run.run.label = Some("sustained".to_owned());
    run.run.ended_unix_ns = Some(STARTED + (u64::from(seconds) + 61) * 1_000_000_000);
    run
}

/// Killed in its third of twelve trials.
pub(crate) fn interrupted() -> JudgedRun {
    let mut run = matrix();
    run.trials.truncate(3);
    run.rows.truncate(1);
    let last = &mut run.trials[2];
    last.state = RunState::Interrupted;
    last.reason = Some("an operation did not come back within 60 s".to_owned());
    last.stuck = vec![StuckOp {
        message: "read of 4 KiB at offset 8,192 of /data/fathom-0".to_owned(),
        age_ns: 60_400_000_000,
    }];
    last.intervals.truncate(4);
    run.run.state = RunState::Interrupted;
    run.run.reason = Some("an operation did not come back within 60 s".to_owned());
    run.run.planned_trials = 12;
    run
}

/// One trial could not be carried out at all.
pub(crate) fn failed() -> JudgedRun {
    let mut run = matrix();
    run.trials.truncate(2);
    run.trials[1].row = 1;
    run.trials[1].label = "randwrite bs=4 qd=1".to_owned();
    let trial = &mut run.trials[1];
    trial.state = RunState::Failed;
    trial.reason = Some(
        "no space left on /data: 1.00 GiB are needed, 212 MiB are free; choose a smaller --size"
            .to_owned(),
    );
    trial.summary.ops.clear();
    trial.intervals.clear();
    trial.charts = fathom_model::judged::Charts::default();
    let trials = run.trials;
    let mut run = super::base::run("matrix", trials);
    run.run.state = RunState::Failed;
    run.run.reason = Some("1 of 2 trials could not be carried out".to_owned());
    run
}

/// A device that fails some reads.
pub(crate) fn errors() -> JudgedRun {
    let mut workload = shape(OpMix::READ, false, 4096, 8);
    workload.on_error = fathom_model::workload::OnError::Continue;
    let ops = vec![op(OpKind::Read, 48_000.0, 160.0)];
    let mut spec = TrialSpec::new(0, "randread", workload, ops);
    spec.seconds = 20;
    spec.errors = |s| if s % 6 == 4 { 7 } else { 0 };
    let mut trial = spec.build();
    trial.errors = (0..5)
        .map(|i| ErrorDetail {
            class: ErrorClass::Io,
            message: format!(
                "read of 4 KiB at offset {} of /data/fathom-0: input/output error (EIO)",
                i * 1_048_576
            ),
            at_ns: 4_000_000_000 + i * 6_000_000_000,
        })
        .collect();
    trial.verdict = objected(
        vec![finding(
            "V26",
            "IO_ERRORS",
            FindingStatus::Invalid,
            (
                "21 reads failed with EIO",
                "look at the kernel log and the health of nvme0n1",
            ),
        )],
        (Limiter::Unknown, "operations failed"),
    );
    run("run", vec![trial])
}

/// Names that try to break out of every format.
pub(crate) fn hostile() -> JudgedRun {
    let evil = "<script>alert('x')</script>\x1b[31m|\"&,`@you\nnext";
    let mut run = errors();
    run.run.name = evil.to_owned();
    run.run.plan_yaml = format!("plan: 1\n# {evil} ```\n</code></pre>");
    run.run.command_line.push(evil.to_owned());
    run.run.reason = Some(evil.to_owned());
    run.run.state = RunState::Interrupted;
    run.host.hostname = evil.to_owned();
    run.host.facts.insert(evil.to_owned(), evil.to_owned());
    run.verdict.limiter_evidence = evil.to_owned();
    run.verdict.findings[0].evidence = evil.to_owned();
    run.verdict.findings[0].remedy = evil.to_owned();
    run.rows[0].label = evil.to_owned();
    run.rows[0].target = Target::Path(evil.into());
    let trial = &mut run.trials[0];
    trial.label = evil.to_owned();
    trial.target = Target::Path(evil.into());
    trial.reason = Some(evil.to_owned());
    trial.state = RunState::Interrupted;
    trial.errors[0].message = evil.to_owned();
    if let Some(before) = &mut trial.target_before {
        before.devices[1].model = Some(evil.to_owned());
    }
    run
}
