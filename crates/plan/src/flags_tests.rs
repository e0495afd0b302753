//! Tests of the flags: fio's habits are understood, mistakes name the flag.

use super::*;
use crate::{ScheduleContext, parse};
use clap::error::ErrorKind;
use clap::{Command, CommandFactory, Parser};

/// As a command takes the flags in.
#[derive(clap::Parser)]
#[command(name = "run")]
struct Run {
    target: String,
    #[command(flatten)]
    io: IoFlags,
    #[command(flatten)]
    plan: PlanFlags,
}

fn command() -> Command {
    Run::command()
}

fn flags(line: &str) -> Result<IoFlags, clap::Error> {
    let words = ["run"].into_iter().chain(line.split_whitespace());
    let run = Run::try_parse_from(words)?;
    assert!(!run.target.is_empty());
    Ok(run.io)
}

fn workload(line: &str) -> fathom_model::Workload {
    let flags = flags(&format!("{line} /mnt/a")).unwrap_or_else(|e| panic!("{e}"));
    let plan = flags.to_plan("/mnt/a".parse().unwrap());
    let plan = plan.unwrap_or_else(|e| panic!("{e}"));
    let schedule = plan.schedule(&ScheduleContext::default()).unwrap();
    assert_eq!(schedule.trials.len(), 1);
    schedule.trials[0].workload.clone()
}

fn refused(line: &str) -> String {
    let flags = flags(&format!("{line} /mnt/a")).unwrap_or_else(|e| panic!("{e}"));
    flags
        .to_plan("/mnt/a".parse().unwrap())
        .unwrap_err()
        .to_string()
}

#[test]
fn the_command_line_is_well_formed() {
    command().debug_assert();
}

#[test]
fn flags_and_plan_files_mean_the_same() {
    let from_flags = workload(
        "--rw randrw --rwmixread 70 --bs 4k/70:64k/30 --iodepth 32 --numjobs 4 --size 16g \
         --runtime 30s --direct=1 --fdatasync=1 --engine libaio --rate 1000/s --arrival poisson \
         --cpus 0-1 --compress 50 --verify on-read",
    );
    let plan = parse(
        "x",
        "plan: 1\ntarget: /mnt/a\nworkloads:\n  - {rw: randrw, rwmixread: 70, \
         bs: {4k: 70, 64k: 30}, iodepth: 32, numjobs: 4, size: 16g, runtime: 30s, direct: true, \
         fdatasync: 1, engine: libaio, rate: 1000/s, arrival: poisson, cpus: [0, 1], \
         payload: {compress: 50}, verify: on_read}",
    );
    let plan = plan.unwrap_or_else(|e| panic!("{e}"));
    let schedule = plan.schedule(&ScheduleContext::default()).unwrap();
    assert_eq!(schedule.trials[0].workload, from_flags);
}

#[test]
fn the_habits_of_fio_are_understood() {
    let known = workload(
        "--readwrite=randrw --rwmixwrite=30 --blocksize=4k --ioengine=io_uring --iodepth=256 \
         --numjobs=1 --size=1GiB --runtime=60 --time_based --group_reporting --direct=1 \
         --rate_iops=1000 --ramp_time=5 --random_distribution=zipf:1.2 --end_fsync=1",
    );
    let canonical = workload(
        "--rw randrw --rwmixread 70 --bs 4k --engine uring --iodepth 256 --numjobs 1 --size 1g \
         --runtime 1m --direct --rate 1000/s --warmup 5s --distribution zipf:1.2 --end-fsync",
    );
    assert_eq!(known.mix, canonical.mix);
    let name = canonical.name.clone();
    assert_eq!(fathom_model::Workload { name, ..known }, canonical);
}

#[test]
fn a_switch_does_not_swallow_the_target() {
    let flags = flags("--direct /mnt/a").unwrap();
    assert_eq!(flags.keys.direct, Some(Located::new(Switch(true))));
    assert_eq!(
        workload("--direct=0 --rw write").cache,
        fathom_model::workload::CacheMode::Buffered
    );
}

#[test]
fn a_workload_without_bound_runs_half_a_minute() {
    assert_eq!(workload("--rw read").bounds.time_ns, Some(30_000_000_000));
    assert_eq!(workload("--rw read --io-size 1g").bounds.time_ns, None);
}

#[test]
fn a_wrong_value_names_its_flag() {
    let error = flags("--bs 4q /mnt/a").unwrap_err();
    assert_eq!(error.kind(), ErrorKind::ValueValidation);
    let told = error.to_string();
    assert!(told.contains("--bs") && told.contains("4096, 4k"), "{told}");
    let told = flags("--iodpeth 4 /mnt/a").unwrap_err().to_string();
    assert!(told.contains("--iodepth"), "{told}");
}

#[test]
fn wrong_combinations_name_their_flags() {
    for (line, parts) in [
        (
            "--rw randread --rwmixread 70",
            ["--rwmixread", "--rw randrw"],
        ),
        ("--engine psync --iodepth 8", ["--iodepth 8", "--numjobs 8"]),
        ("--rate 10/s --think-time 1ms", ["--think-time", "remove"]),
        ("--size 1k --bs 4k", ["--size is 1 KiB", "4 KiB"]),
        ("--runtime 0", ["no end", "--runtime 30s"]),
        ("--numjobs 5000", ["--numjobs is 5,000", "4,096"]),
    ] {
        let told = refused(line);
        for part in parts {
            assert!(told.contains(part), "{line} lacks {part}: {told}");
        }
        assert!(!told.contains('`'), "plan spelling in: {told}");
    }
}

fn plan_flags(words: &[&str]) -> PlanFlags {
    let words = ["run", "x"].iter().chain(words);
    Run::try_parse_from(words).unwrap().plan
}

#[test]
fn plan_flags_change_a_plan() {
    let plan = parse("x", "plan: 1\nworkloads: [{rw: read, runtime: 9s}]").unwrap();
    let flags = plan_flags(&["--iterations", "5", "--seed=9", "--order=fixed"]);
    let changed = flags.apply(&plan).unwrap();
    assert_eq!((changed.iterations(), changed.seed()), (5, Some(9)));
    assert!(!changed.destructive());
    let told = plan_flags(&["--iterations=0"]).apply(&plan).unwrap_err();
    assert_eq!(told.items()[0].id, "limit");
}

#[test]
fn flags_take_the_place_of_keys_and_of_a_matrix() {
    let text = "plan: 1\ntarget: /a\nmatrix: {bs: [4k, 8k], numjobs: [1, 2]}\n\
                workloads: [{rw: read, runtime: 9s}, {rw: write, runtime: 9s}]";
    let plan = parse("x", text).unwrap();
    let changed = flags("--bs 1m --runtime 1s x")
        .unwrap()
        .apply(&plan)
        .unwrap();
    let schedule = changed.schedule(&ScheduleContext::default()).unwrap();
    assert_eq!(schedule.trials.len(), 2 * 2 * 3);
    for trial in &schedule.trials {
        assert_eq!(trial.workload.block.max_bytes(), 1 << 20);
        assert_eq!(trial.workload.bounds.time_ns, Some(1_000_000_000));
    }
    let told = flags("--size 1k x").unwrap().apply(&plan).unwrap_err();
    assert_eq!(told.items()[0].id, "size_below_block");
}

#[test]
fn unsupported_names_are_answered_with_what_to_do() {
    for line in [
        "--fill_device=1 x",
        "--fill-device 1 x",
        "--steadystate=iops x",
    ] {
        let told = flags(line).unwrap_err().to_string();
        assert!(told.contains("not supported; use"), "{told}");
    }
    assert!(flags("--rw read --time_based --thread=1 x").is_ok());
}

#[test]
fn every_flag_has_help_and_the_help_is_readable() {
    let help = command().render_long_help().to_string();
    for key in WorkloadKeys::keys().iter().filter(|key| has_flag(key)) {
        assert!(help.contains(&format!("--{}", key.flag())), "{}", key.name);
        assert!(key.text().ends_with('.'), "{}: {}", key.name, key.text());
    }
    assert!(help.contains("Example: --iodepth 32"), "{help}");
    assert!(!help.contains("--group-reporting"), "hidden");
    assert!(help.contains("What is done:"));
}

#[test]
fn a_state_to_end_at_brings_an_upper_bound_in_time() {
    use fathom_model::workload::Until;
    let steady = workload("--rw randwrite --until steady");
    assert_eq!(steady.until, Some(Until::Steady));
    assert_eq!(steady.bounds.time_ns, Some(3_600_000_000_000));
    let precise = workload("--rw randread --until=precision=2%");
    assert_eq!(precise.until, Some(Until::Precision { percent: 2.0 }));
    assert_eq!(precise.bounds.time_ns, Some(600_000_000_000));
    let bounded = workload("--rw randread --until steady --runtime 5m --io-size 1g");
    assert_eq!(bounded.bounds.time_ns, Some(300_000_000_000));
    assert_eq!(bounded.bounds.bytes, Some(1 << 30));
}

#[test]
fn a_flush_of_a_load_that_only_reads_is_refused() {
    for (line, flags) in [
        ("--rw randread --fdatasync 1", "--fdatasync"),
        ("--rw read --fsync 8 --end-fsync", "--fsync and --end-fsync"),
    ] {
        let said = refused(line);
        assert!(said.contains("nothing to flush"), "{said}");
        let help = format!("leave {flags} out, or write: --rw randwrite");
        assert!(said.contains(&help), "{said}");
    }
    workload("--rw randrw --rwmixread 99 --fdatasync 1");
}
