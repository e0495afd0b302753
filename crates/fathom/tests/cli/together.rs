//! Workloads that run at the same time.

use std::fs;
use std::process::Child;
use std::thread::sleep;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

use crate::bench::{Bench, finding, finish, op};

/// A reader and a writer at the same time on a target.
fn plan(target: &str, runtime: &str) -> String {
    format!(
        "plan: 1
name: mixed
target: {target}
iterations: 1
pause: {{floor: 0s, ceiling: 0s}}
probe: no
defaults: {{engine: psync, direct: false, size: 4M, runtime: {runtime}, think_time: 200us}}
workloads:
  - {{name: reader, together: mixed, rw: randread}}
  - {{name: writer, together: mixed, rw: randwrite, end_fsync: true}}
"
    )
}

fn with_plan(text: &str) -> Bench {
    let bench = Bench::new();
    fs::write(bench.path().join("plan.yaml"), text).unwrap();
    bench
}

#[test]
fn a_reader_and_a_writer_are_two_rows_and_a_sum() {
    let text = plan("data", "2s").replace("iterations: 1", "iterations: 2");
    let bench = with_plan(&text.replace("rw: randwrite", "rw: randwrite, start_delay: 300ms"));
    let (output, result) = bench.json(["run", "plan.yaml"]);
    output.expect_measured();
    assert_eq!(result["trials"].as_array().unwrap().len(), 4);
    assert_eq!(result["rows"].as_array().unwrap().len(), 2);
    assert!(op(&result, 0, "read")["ops"].as_u64().unwrap() > 0);
    assert!(op(&result, 1, "write")["ops"].as_u64().unwrap() > 0);
    for (trial, began_ns) in [(0, 0), (1, 300_000_000), (3, 300_000_000)] {
        let place = &result["trials"][trial]["in_set"];
        assert_eq!(place["load_started_ns"], began_ns);
        let said = finding(&result["trials"][trial]["verdict"], "V75");
        assert_eq!(said.expect("it had company")["status"], "info");
    }
    let set = &result["sets"][0];
    assert_eq!(set["trials"], serde_json::json!([[0, 1], [2, 3]]));
    let kinds: Vec<&str> = set["sum"]["ops"]
        .as_array()
        .unwrap()
        .iter()
        .map(|op| op["kind"].as_str().unwrap())
        .collect();
    assert!(kinds.starts_with(&["read", "write"]), "{kinds:?}");
    assert!(set["sum"]["ops_per_second"]["value"].as_f64().unwrap() > 0.0);
    assert!(bench.data_files().is_empty(), "test files are removed");
    let shown = bench.fathom(["runs", "show", "latest"]);
    assert!(shown.stdout.contains("at the same time as writer"));
    assert!(shown.stdout.contains("Sum of what ran at the same time"));
    let csv = bench.fathom(["runs", "show", "latest", "--csv"]);
    let sums = csv
        .stdout
        .lines()
        .filter(|l| l.contains("sum of reader + writer"));
    assert!(sums.count() >= 3, "{}", csv.stdout);
}

#[test]
fn two_workloads_share_a_file_that_the_user_named() {
    let bench = with_plan(&plan("data/file", "1s"));
    let file = bench.data().join("file");
    fs::write(&file, vec![7; 4 << 20]).unwrap();
    let refused = bench.fathom(["run", "plan.yaml"]);
    assert_ne!(
        refused.status,
        Some(0),
        "a file of the user is not overwritten"
    );
    assert!(fs::read(&file).unwrap().iter().all(|byte| *byte == 7));
    let (output, result) = bench.json(["run", "plan.yaml", "--destructive"]);
    output.expect_measured();
    assert!(op(&result, 0, "read")["ops"].as_u64().unwrap() > 0);
    assert!(op(&result, 1, "write")["ops"].as_u64().unwrap() > 0);
    assert_eq!(fs::metadata(&file).unwrap().len(), 4 << 20);
}

/// Starts a set and waits until both of its trials have stored something.
fn under_way(bench: &Bench) -> Child {
    let mut command = bench.command(["run", "plan.yaml", "--json"]);
    let mut child = command.spawn().expect("fathom starts");
    for _ in 0..600 {
        sleep(Duration::from_millis(50));
        let shown = bench.fathom(["runs", "show", "latest", "--json"]);
        let Ok(result) = serde_json::from_str::<Value>(&shown.stdout) else {
            continue;
        };
        let stored = |trial: usize| {
            let intervals = result["trials"][trial]["intervals"].as_array();
            intervals.is_some_and(|intervals| !intervals.is_empty())
        };
        if stored(0) && stored(1) {
            return child;
        }
    }
    let _ = child.kill();
    let _ = child.wait();
    panic!("the set did not store an interval within 30 s");
}

#[test]
fn ctrl_c_in_the_middle_ends_both_and_keeps_what_they_measured() {
    let bench = with_plan(&plan("data", "60s"));
    let child = under_way(&bench);
    let pid = Pid::from_raw(child.id() as i32).expect("a process id");
    kill_process(pid, Signal::INT).expect("the child lives");
    let output = finish(child);
    output.expect_status(5);
    let result = output.json();
    for (trial, kind) in [(0, "read"), (1, "write")] {
        assert_eq!(result["trials"][trial]["state"], "interrupted");
        assert!(op(&result, trial, kind)["ops"].as_u64().unwrap() > 0);
    }
    assert!(bench.data_files().is_empty(), "test files are removed");
}

#[test]
fn a_killed_set_reopens_as_interrupted_with_all_its_trials() {
    let bench = with_plan(&plan("data", "60s"));
    let mut child = under_way(&bench);
    child.kill().expect("the child can be killed");
    child.wait().expect("the child ends");
    let result = bench.fathom(["runs", "show", "latest", "--json"]).json();
    assert_eq!(result["run"]["state"], "interrupted");
    for (trial, kind) in [(0, "read"), (1, "write")] {
        assert_eq!(result["trials"][trial]["state"], "interrupted");
        assert!(op(&result, trial, kind)["ops"].as_u64().unwrap() > 0);
    }
    bench.fathom(["clean", "--yes"]).expect_status(0);
    assert!(bench.data_files().is_empty());
}

#[test]
fn the_schedule_shows_who_runs_with_whom() {
    let text = plan("'null:'", "1s").replace("rw: randwrite", "rw: randwrite, start_delay: 5s");
    let bench = with_plan(
        &text
            .replace("engine: psync, direct: false, ", "")
            .replace(", end_fsync: true", ""),
    );
    let shown = bench.fathom(["plan", "show", "plan.yaml"]);
    shown.expect_status(0);
    assert!(shown.stdout.contains("set") && shown.stdout.contains("begins after"));
    let check = bench.fathom(["plan", "check", "plan.yaml"]);
    check.expect_status(0);
    assert!(check.stdout.contains("about 6 s"), "{}", check.stdout);
}
