//! `fathom meta`: operations on many files, from flags and from plans.

use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

use crate::bench::{Bench, finish, op};

/// Total operations of a trial.
fn ops(result: &Value, trial: usize, kind: &str) -> u64 {
    op(result, trial, kind)["ops"].as_u64().unwrap()
}

#[test]
fn phases_visit_every_file_once_and_leave_nothing_behind() {
    let bench = Bench::new();
    let (output, result) = bench.json([
        "meta",
        "data",
        "--files",
        "300",
        "--threads",
        "2",
        "--files-per-dir",
        "50",
        "--phases",
        "create,stat,read,readdir-stat,rename,unlink",
        "--shift",
        "1",
        "--verify",
        "on_read",
    ]);
    output.expect_measured();
    for (trial, kind) in ["create", "stat", "read_file"].into_iter().enumerate() {
        assert_eq!(ops(&result, trial, kind), 600, "{kind}");
    }
    assert_eq!(ops(&result, 3, "readdir_stat"), 12);
    assert_eq!(ops(&result, 4, "rename"), 600);
    assert_eq!(ops(&result, 5, "unlink"), 600);
    let read = op(&result, 2, "read_file");
    assert_eq!(read["bytes"], 600 * 4096);
    let finishers = &result["trials"][0]["summary"]["finishers"];
    assert_eq!(finishers["ops"], 600);
    assert!(finishers["first_ns"].as_u64() <= finishers["last_ns"].as_u64());
    assert!(bench.data_files().is_empty(), "{:?}", bench.data_files());
}

#[test]
fn the_text_shows_a_line_for_each_operation_and_both_finishers() {
    let bench = Bench::new();
    let output = bench.fathom(["meta", "data", "--files", "500", "--threads", "2"]);
    output.expect_measured();
    for word in [
        "create j2",
        "stat j2",
        "read_file j2",
        "unlink j2",
        "first done",
        "CPU/op",
    ] {
        assert!(output.stdout.contains(word), "{word}:\n{}", output.stdout);
    }
    let tree = "1,000 files of 4 KiB by 2 workers, in one directory of each worker's own";
    let text = output
        .stdout
        .split_whitespace()
        .collect::<Vec<_>>()
        .join(" ");
    assert!(text.contains(tree), "{text}");
    let table = bench.fathom(["runs", "export", "--format", "mdtest"]);
    let lines: Vec<&str> = table.stdout.lines().collect();
    assert_eq!(lines[0], "SUMMARY rate (in ops/sec): (of 1 iterations)");
    assert!(
        lines[3].starts_with("   File creation "),
        "{}",
        table.stdout
    );
    assert_eq!(lines.len(), 7, "{}", table.stdout);
    let numbers: Vec<f64> = lines[3][21..]
        .split_whitespace()
        .map(|number| number.parse().unwrap())
        .collect();
    assert!(numbers[0] > 0.0 && numbers[0] == numbers[2] && numbers[3] == 0.0);
}

#[test]
fn a_plan_says_the_same() {
    let bench = Bench::new();
    let plan = "
plan: 1
targets: data
iterations: 2
pause: {floor: 0s, ceiling: 0s, until_quiet: false}
probe: no
defaults: {engine: meta, files: 100, file_size: exp:2k, numjobs: 2}
workloads:
  - operation: create
  - operation: {stat: 60, create: 20, unlink: 20}
    number_ios: 1000
  - operation: unlink
";
    let file = bench.path().join("files.yaml");
    std::fs::write(&file, plan).unwrap();
    let (output, result) = bench.json(["run", "files.yaml"]);
    output.expect_measured();
    assert_eq!(ops(&result, 0, "create"), 200);
    let mix = ["stat", "create", "unlink"].map(|kind| ops(&result, 1, kind));
    assert_eq!(mix.iter().sum::<u64>(), 1000);
    assert!(mix[0] > 500 && mix[1] > 120 && mix[2] > 100, "{mix:?}");
    assert!(ops(&result, 2, "unlink") > 0);
    assert_eq!(
        ops(&result, 3, "create"),
        200,
        "the second iteration begins anew"
    );
    assert!(bench.data_files().is_empty());
}

#[test]
fn kept_files_are_used_again_and_cleaned_on_request() {
    let bench = Bench::new();
    let run = |phases: &str| {
        let args = [
            "meta",
            "data",
            "--files",
            "100",
            "--keep-files",
            "--phases",
            phases,
        ];
        bench.fathom(args).expect_measured();
        bench.json(["runs", "show", "latest"]).1
    };
    run("create");
    let made = std::fs::metadata(bench.data().join("fathom-test.tree/w0/f-0-0")).unwrap();
    let result = run("stat");
    assert_eq!(ops(&result, 0, "stat"), 100);
    let again = std::fs::metadata(bench.data().join("fathom-test.tree/w0/f-0-0")).unwrap();
    assert_eq!(made.modified().unwrap(), again.modified().unwrap());
    let cleaned = bench.fathom(["clean", "--kept", "--yes"]);
    assert!(
        cleaned.stdout.contains("fathom-test.tree"),
        "{}",
        cleaned.stdout
    );
    assert!(bench.data_files().is_empty(), "{:?}", bench.data_files());
}

#[test]
fn ctrl_c_leaves_a_readable_result_and_no_files() {
    let bench = Bench::new();
    let args = [
        "meta",
        "data",
        "--files",
        "200",
        "--phases",
        "create,stat",
        "--runtime",
        "60s",
    ];
    let mut command = bench.command(args);
    command.arg("--json");
    let child = command.spawn().unwrap();
    for _ in 0..600 {
        std::thread::sleep(Duration::from_millis(50));
        let shown = bench.fathom(["runs", "show", "latest", "--json"]);
        if let Ok(result) = serde_json::from_str::<Value>(&shown.stdout)
            && result["trials"][1]["intervals"]
                .as_array()
                .is_some_and(|intervals| !intervals.is_empty())
        {
            break;
        }
    }
    let pid = Pid::from_raw(child.id() as i32).unwrap();
    kill_process(pid, Signal::INT).unwrap();
    let output = finish(child);
    output.expect_status(5);
    let result = output.json();
    assert_eq!(ops(&result, 0, "create"), 200);
    assert!(ops(&result, 1, "stat") > 200, "what was measured is kept");
    assert!(bench.data_files().is_empty());
}

#[test]
fn a_killed_run_leaves_a_tree_that_clean_finds() {
    let bench = Bench::new();
    let args = [
        "meta",
        "data",
        "--files",
        "200",
        "--phases",
        "create,stat",
        "--runtime",
        "60s",
    ];
    let mut child = bench.command(args).spawn().unwrap();
    let leaf = bench.data().join("fathom-test.tree/w0/f-0-199");
    for _ in 0..600 {
        std::thread::sleep(Duration::from_millis(20));
        if leaf.exists() {
            break;
        }
    }
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(!bench.data_files().is_empty());
    std::fs::write(bench.data().join("mine.txt"), "mine").unwrap();
    let listed = bench.fathom(["clean"]);
    assert!(
        listed.stdout.contains("fathom-test.tree"),
        "{}",
        listed.stdout
    );
    bench.fathom(["clean", "--yes"]).expect_status(0);
    assert_eq!(bench.data_files(), [bench.data().join("mine.txt")]);
}

#[test]
fn what_cannot_run_is_told_before_anything_is_made() {
    let bench = Bench::new();
    let told = |args: &[&str]| {
        let output = bench.fathom(args);
        output.expect_status(2);
        output.stderr.clone()
    };
    assert!(told(&["meta", "data", "--phases", "craete"]).contains("did you mean create?"));
    assert!(told(&["meta", "data", "--operation", "stat:1,create:1"]).contains("no end"));
    let deep = ["meta", "data", "--files-per-dir", "1", "--tree-depth", "1"];
    assert!(told(&deep).contains("hold 10"));
    let io = [
        "io",
        "data",
        "--engine",
        "meta",
        "--operation",
        "stat",
        "--iodepth",
        "4",
    ];
    assert!(told(&io).contains("--iodepth has no effect"));
    assert!(bench.data_files().is_empty());
}
