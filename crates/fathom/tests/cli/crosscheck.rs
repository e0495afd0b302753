//! `fathom plan export --fio` and `fathom crosscheck`, against the installed fio.

use std::fs;
use std::process::Command;

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

use crate::bench::{Bench, finish};

/// Whether there is a fio to check against.
fn has_fio() -> bool {
    let there = Command::new("fio").arg("--version").output().is_ok();
    if !there {
        println!("skipped: fio is not installed");
    }
    there
}

const PLAN: &str = "
plan: 1
name: both
targets: data
pause: {floor: 0s, ceiling: 0s}
defaults: {size: 8M, number_ios: 4000}
workloads:
  - {name: reads, rw: randread, bs: 4k, numjobs: 2}
  - {name: mixed, rw: randrw, bs: 4k, iodepth: 4, direct: false}
";

fn with_plan(text: &str) -> Bench {
    let bench = Bench::new();
    fs::write(bench.path().join("plan.yaml"), text).unwrap();
    bench
}

#[test]
fn an_exported_plan_runs_in_fio() {
    let bench = with_plan(PLAN);
    let args = ["plan", "export", "--fio", "plan.yaml", "--out", "job.fio"];
    bench.fathom(args).expect_status(0);
    let text = fs::read_to_string(bench.path().join("job.fio")).unwrap();
    // Three iterations of two workloads.
    assert_eq!(text.matches("stonewall").count(), 5, "{text}");
    assert!(text.contains("# differs: "), "{text}");
    if !has_fio() {
        return;
    }
    let fio = Command::new("fio")
        .args(["--output-format=json", "job.fio"])
        .current_dir(bench.path())
        .output()
        .unwrap();
    assert!(
        fio.status.success(),
        "{}",
        String::from_utf8_lossy(&fio.stderr)
    );
    let result: Value = serde_json::from_slice(&fio.stdout).unwrap();
    let jobs = result["jobs"].as_array().unwrap();
    assert_eq!(jobs.len(), 6);
    // What is asked of all workers together, each job's share summed.
    assert_eq!(jobs[0]["read"]["total_ios"], 4000);
    let mixed = jobs.iter().find(|job| job["jobname"] == "mixed").unwrap();
    let ops = |kind: &str| mixed[kind]["total_ios"].as_u64().unwrap();
    assert_eq!(ops("read") + ops("write"), 4000);
}

#[test]
fn what_fio_cannot_do_is_an_error_with_key_and_reason() {
    let bench = with_plan(PLAN);
    let output = bench.fathom([
        "plan",
        "export",
        "--fio",
        "plan.yaml",
        "--target",
        "sim:ssd",
    ]);
    output.expect_status(2).expect_in_stderr("fathom alone");
    assert_eq!(output.stdout, "");
    let mix = "--mix=50/25/25";
    if has_fio() {
        let output = bench.fathom(["crosscheck", "data", mix, "--size", "8M", "--runtime", "1s"]);
        output
            .expect_status(2)
            .expect_in_stderr("fio cannot express");
        output.expect_in_stderr("mix: ");
    }
    let output = bench.fathom(["crosscheck", "plan.yaml", "--fio", "no-such-fio"]);
    output.expect_status(2).expect_in_stderr("install fio");
}

#[test]
fn both_tools_measure_the_same_files_in_turns() {
    if !has_fio() {
        return;
    }
    let bench = with_plan(PLAN);
    // fio would take a job of that name for it, if it saw it.
    fs::create_dir(bench.path().join("reads")).unwrap();
    // As many pairs as asked for, also on a host whose CPUs are stolen.
    let args = [
        "crosscheck",
        "plan.yaml",
        "--pairs",
        "2",
        "--json",
        "--steal",
        "100%",
    ];
    let output = bench.fathom(args);
    output.expect_status(0);
    let result = output.json();
    assert_eq!(result["schema"], "fathom.crosscheck/1");
    assert_eq!(result["state"], "complete", "{result:#}");
    // Two pairs decide nothing.
    assert_eq!(result["outcome"], "inconclusive");
    let rows = result["rows"].as_array().unwrap();
    assert_eq!(rows.len(), 2);
    for row in rows {
        let figures = row["figures"].as_array().unwrap();
        assert!(row["differences"].as_array().is_some_and(|d| !d.is_empty()));
        for figure in figures.iter().filter(|f| f["ratio"]["value"].is_number()) {
            let pairs = figure["pairs"].as_array().unwrap();
            assert_eq!(pairs.len(), 2, "{figure:#}");
            assert_eq!(pairs[0]["peer_first"], false);
            assert_eq!(pairs[1]["peer_first"], true);
            let value = |side: &str| figure[side]["value"].as_f64().unwrap();
            let ratio = value("fathom") / value("peer");
            // Not a matter of speed: the same unit and the same amount.
            assert!((0.001..1000.0).contains(&ratio), "{figure:#}");
            assert!((figure["ratio"]["value"].as_f64().unwrap() / ratio - 1.0).abs() < 1e-6);
        }
        let ops = &figures[0];
        assert_eq!(
            (&ops["figure"], &ops["decides"]),
            (&"ops_per_second".into(), &true.into())
        );
    }
    let p99 = |row: &Value, op: &str| {
        let figures = row["figures"].as_array().unwrap();
        figures
            .iter()
            .any(|f| f["figure"] == "latency_p99" && f["op"] == op)
    };
    assert!(p99(&rows[1], "read") && p99(&rows[1], "write"));
    kept(&bench, &result);
}

/// fathom's trials are in the store, fio's documents beside it.
fn kept(bench: &Bench, result: &Value) {
    let run = result["run"].as_str().unwrap();
    let stored = bench.fathom(["runs", "show", run, "--json"]).json();
    assert_eq!(stored["trials"].as_array().unwrap().len(), 4);
    let folder = result["documents"].as_str().unwrap();
    let names: Vec<String> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    assert_eq!(
        names.iter().filter(|name| name.ends_with(".fio")).count(),
        4,
        "{names:?}"
    );
    assert_eq!(
        names.iter().filter(|name| name.ends_with(".json")).count(),
        5,
        "{names:?}"
    );
    let job = names.iter().find(|name| name.ends_with(".fio")).unwrap();
    let text = fs::read_to_string(format!("{folder}/{job}")).unwrap();
    assert!(text.contains("allow_file_create=0"), "{text}");
    // The test files are gone.
    assert_eq!(fs::read_dir(bench.data()).unwrap().count(), 0);
}

#[test]
fn an_interrupt_leaves_a_readable_result() {
    if !has_fio() {
        return;
    }
    let bench = Bench::new();
    let args = [
        "crosscheck",
        "data",
        "--size",
        "8M",
        "--runtime",
        "60s",
        "--json",
    ];
    let child = bench.command(args).spawn().unwrap();
    // Test files are made after the signals have their handlers.
    while fs::read_dir(bench.data()).unwrap().count() == 0 {
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    let pid = Pid::from_raw(i32::try_from(child.id()).unwrap()).unwrap();
    kill_process(pid, Signal::INT).unwrap();
    let output = finish(child);
    output.expect_status(5);
    assert_eq!(output.json()["state"], "interrupted");
    assert_eq!(fs::read_dir(bench.data()).unwrap().count(), 0);
}
