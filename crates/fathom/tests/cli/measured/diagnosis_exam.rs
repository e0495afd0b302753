//! `fathom-lab diagnosis`: a few of its families, and that nothing is left
//! behind. What this machine cannot set up is skipped with the reason.

use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

use crate::bench::{Bench, laboratory};
use crate::measured::expect_mostly;

/// Disturbed rounds that are set aside before the test gives up.
const DISTURBED_MAX: u32 = 2;

/// One case of a family.
fn sit(bench: &Bench, family: &str, seed: u64) -> Value {
    let output = Command::new(laboratory())
        .args(["diagnosis", "--cases", "1", "--patience", "5s"])
        .args(["--format", "json", "--only", family])
        .args(["--seed", &seed.to_string()])
        .arg("--folder")
        .arg(bench.path())
        .output()
        .expect("fathom starts");
    let told = String::from_utf8_lossy(&output.stderr);
    println!("{told}");
    serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{error}: {told}"))
}

/// Sits a family with other figures in each round. A YES that is not true fails
/// at once; a round in which others were at work on this machine is neither
/// right nor wrong.
#[track_caller]
fn expect_named(family: &str) {
    let bench = Bench::new();
    let mut disturbed = 0;
    let mut seeds = 1..;
    expect_mostly(family, || {
        loop {
            let paper = sit(&bench, family, seeds.next().unwrap_or(u64::MAX));
            let case = &paper["cases"][0];
            assert_eq!(case["family"], family, "{paper:#}");
            assert_eq!(paper["false_yes"], 0, "{paper:#}");
            match case["grade"].as_str() {
                Some("right") => return Ok(()),
                Some("skipped") => {
                    println!("skipped: {}", case["reason"]);
                    return Ok(());
                }
                Some("disturbed") if disturbed < DISTURBED_MAX => disturbed += 1,
                Some("disturbed") => {
                    println!("skipped: others were at work on this machine each time");
                    return Ok(());
                }
                _ => return Err(format!("{case:#}")),
            }
        }
    });
}

#[test]
#[ignore = "measured: `scripts/run-tests measured` runs it alone"]
fn a_volume_at_its_known_cap_is_the_bottleneck() {
    expect_named("volume with a cap that is known");
}

#[test]
#[ignore = "measured: `scripts/run-tests measured` runs it alone"]
fn programs_that_want_more_cpus_are_named() {
    expect_named("CPU hog");
}

#[test]
#[ignore = "measured: `scripts/run-tests measured` runs it alone"]
fn a_thread_that_waits_for_fsync_is_named() {
    expect_named("one thread bound by fsync");
}

#[test]
#[ignore = "measured: `scripts/run-tests measured` runs it alone"]
fn tasks_that_wait_for_a_file_lock_are_named() {
    expect_named("wait for a file lock");
}

#[test]
fn an_unknown_family_is_refused_with_those_that_there_are() {
    let bench = Bench::new();
    let output = bench.lab(["diagnosis", "--only", "no such trouble"]);
    assert_eq!(output.status, Some(2), "{}", output.stderr);
    for family in ["idle", "CPU hog", "volume with a cap"] {
        assert!(output.stderr.contains(family), "{}", output.stderr);
    }
    assert_eq!(output.stdout, "");
}

#[test]
fn an_application_that_makes_no_sense_is_refused() {
    let bench = Bench::new();
    let output = bench.lab(["application", "{\"does\":\"nothing\"}"]);
    assert_eq!(output.status, Some(2), "{}", output.stderr);
    assert!(
        output.stderr.contains("the application: "),
        "{}",
        output.stderr
    );
}

#[test]
fn what_a_case_set_up_is_gone_after_ctrl_c() {
    let bench = Bench::new();
    let mut child = Command::new(laboratory())
        .args(["diagnosis", "--only", "file lock", "--patience", "1ms"])
        .arg("--folder")
        .arg(bench.path())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("fathom starts");
    // The file that is locked lies two folders below.
    let is_set_up = || {
        let desks = std::fs::read_dir(bench.path())
            .into_iter()
            .flatten()
            .flatten();
        let rooms = desks.filter_map(|desk| std::fs::read_dir(desk.path()).ok());
        rooms
            .flatten()
            .flatten()
            .any(|room| room.path().join("file").exists())
    };
    let started = Instant::now();
    while !is_set_up() {
        assert!(started.elapsed() < Duration::from_secs(60), "nothing came");
        std::thread::sleep(Duration::from_millis(20));
    }
    let pid = Pid::from_raw(child.id() as i32).expect("a process id");
    kill_process(pid, Signal::INT).expect("it lives");
    let status = loop {
        if let Some(status) = child.try_wait().expect("a child") {
            break status;
        }
        assert!(started.elapsed() < Duration::from_secs(120), "it goes on");
        std::thread::sleep(Duration::from_millis(20));
    };
    assert_eq!(status.code(), Some(5));
    let left: Vec<_> = std::fs::read_dir(bench.path())
        .expect("the bench")
        .flatten()
        .map(|entry| entry.file_name())
        .filter(|name| name.to_string_lossy().starts_with("fathom-diagnosis-"))
        .collect();
    assert!(left.is_empty(), "{left:?}");
}
