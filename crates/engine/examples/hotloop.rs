//! Drives one workload on one target and prints operations and CPU time per
//! operation: what the comparison in `benches/` is made of.
//!
//! `hotloop TARGET ENGINE BLOCK DEPTH OPS [WORKERS [SIZE [WRITE_PERCENT [BATCH]]]]`
//!
//! `hotloop recording` prints what recording one latency costs.

#![allow(clippy::print_stdout)]

use std::process::ExitCode;

use fathom_engine::{Error, Group, GroupEnd, prepare, prepare::NoHooks};
use fathom_model::workload::{Bounds, CacheMode, Distribution, EngineKind, OpMix, Pattern};
use fathom_model::{Job, Phase, Sample, Target, Workload, unit};

const USAGE: &str =
    "hotloop TARGET ENGINE BLOCK DEPTH OPS [WORKERS [SIZE [WRITE_PERCENT [BATCH]]]]";

fn job(arguments: &[String]) -> Option<Job> {
    let number = |at: usize, default: u64| match arguments.get(at) {
        Some(text) => unit::parse_bytes(text).ok(),
        None => Some(default),
    };
    let mut workload = Workload::example("hotloop");
    let engine = arguments.get(1)?;
    workload.engine = EngineKind::ALL.into_iter().find(|k| k.name() == engine)?;
    let block = number(2, 4096)?;
    workload.block = fathom_model::workload::BlockSizes::Fixed(block);
    workload.align_bytes = block;
    workload.queue_depth = number(3, 1)? as u32;
    workload.bounds = Bounds {
        ops: Some(number(4, 1)?),
        ..Bounds::default()
    };
    workload.workers = number(5, 1)? as u32;
    workload.data_set.size_bytes = Some(number(6, 1 << 30)?);
    let write_percent = number(7, 0)? as u8;
    workload.mix = OpMix {
        read_percent: 100u8.checked_sub(write_percent)?,
        write_percent,
        trim_percent: 0,
    };
    workload.batch = number(8, 0)? as u32;
    workload.pattern = Pattern::Random(Distribution::Uniform);
    if std::env::var_os("BUFFERED").is_some() {
        workload.cache = CacheMode::Buffered;
    }
    Some(Job {
        workload,
        target: arguments.first()?.parse::<Target>().ok()?,
        seed: 1,
        run_tag: 1,
        destructive: std::env::var_os("DESTRUCTIVE").is_some(),
        keep_files: true,
        file_prefix: "hotloop".to_owned(),
    })
}

fn run(job: &Job) -> Result<GroupEnd, Error> {
    let prepared = prepare(job, &mut NoHooks)?;
    let mut group = Group::start(job, &prepared)?;
    group.go();
    Ok(group.finish())
}

fn recording() -> ExitCode {
    match fathom_engine::measure_recording(200) {
        Ok(cost) => {
            println!(
                "worker_ns={:.2} histogram_ns={:.2}",
                cost.worker_ns, cost.histogram_ns
            );
            ExitCode::SUCCESS
        }
        Err(error) => {
            println!("{error}");
            ExitCode::FAILURE
        }
    }
}

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if arguments.first().is_some_and(|first| first == "recording") {
        return recording();
    }
    let Some(job) = job(&arguments) else {
        println!("{USAGE}");
        return ExitCode::FAILURE;
    };
    let end = match run(&job) {
        Ok(end) => end,
        Err(error) => {
            println!("{error}");
            return ExitCode::FAILURE;
        }
    };
    let measured: Vec<&Sample> = end
        .samples
        .iter()
        .filter(|s| s.phase == Phase::Measure)
        .collect();
    let ops: u64 = measured.iter().map(|s| s.data_ops()).sum();
    let time_ns: u64 = measured.iter().map(|s| s.duration_ns).sum();
    let user_ns: u64 = measured.iter().map(|s| s.cpu_user_ns).sum();
    let system_ns: u64 = measured.iter().map(|s| s.cpu_system_ns).sum();
    for line in &end.report.fallbacks {
        println!("note: {line}");
    }
    for error in end.report.errors.iter().take(3) {
        println!("error: {}", error.message);
    }
    let per_op = |ns: u64| ns as f64 / ops.max(1) as f64;
    println!(
        "ops={ops} seconds={:.3} cpu_ns_per_op={:.1} user_ns={:.1} system_ns={:.1}",
        time_ns as f64 / 1e9,
        per_op(user_ns + system_ns),
        per_op(user_ns),
        per_op(system_ns),
    );
    ExitCode::SUCCESS
}
