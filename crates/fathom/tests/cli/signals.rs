//! Runs that are ended: by the user, by the system, by kill -9; and a
//! generator that is stopped for a while.

use std::process::Child;
use std::thread::sleep;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

use crate::bench::{Bench, finding, finish, op};

fn signal(child: &Child, signal: Signal) {
    let pid = Pid::from_raw(child.id() as i32).expect("a process id");
    kill_process(pid, signal).expect("the child lives");
}

fn long_read(bench: &Bench) -> Child {
    let mut command = bench.command([
        "io",
        "data",
        "--rw",
        "randread",
        "--bs",
        "4k",
        "--size",
        "8M",
        "--runtime",
        "60s",
        "--json",
    ]);
    command.spawn().expect("fathom starts")
}

/// Waits until the run has stored something, so that a signal hits the load.
fn wait_for_interval(bench: &Bench) {
    for _ in 0..600 {
        sleep(Duration::from_millis(50));
        let shown = bench.fathom(["runs", "show", "latest", "--json"]);
        if let Ok(result) = serde_json::from_str::<Value>(&shown.stdout)
            && result["trials"][0]["intervals"]
                .as_array()
                .is_some_and(|i| !i.is_empty())
        {
            return;
        }
    }
    panic!("the run did not store an interval within 30 s");
}

#[test]
fn ctrl_c_and_sigterm_leave_a_readable_result_and_no_files() {
    for kind in [Signal::INT, Signal::TERM] {
        let bench = Bench::new();
        let child = long_read(&bench);
        wait_for_interval(&bench);
        signal(&child, kind);
        let output = finish(child);
        output.expect_status(5);
        let result = output.json();
        assert_eq!(result["run"]["state"], "interrupted");
        assert!(op(&result, 0, "read")["ops"].as_u64().unwrap() > 0);
        assert!(
            finding(&result["verdict"], "V29").is_some(),
            "{:#}",
            result["verdict"]
        );
        assert!(bench.data_files().is_empty(), "test files are removed");
    }
}

#[test]
fn ctrl_c_twice_ends_at_once_with_what_was_measured() {
    let bench = Bench::new();
    let child = long_read(&bench);
    wait_for_interval(&bench);
    signal(&child, Signal::INT);
    signal(&child, Signal::INT);
    let output = finish(child);
    output.expect_status(5);
    assert_eq!(output.json()["run"]["state"], "interrupted");
}

#[test]
fn kill_9_at_any_moment_loses_at_most_the_last_second() {
    for milliseconds in [3, 20, 60, 150, 400, 900, 1400, 2600] {
        let bench = Bench::new();
        let mut child = long_read(&bench);
        sleep(Duration::from_millis(milliseconds));
        child.kill().expect("the child can be killed");
        child.wait().expect("the child ends");
        let list = bench
            .fathom(["runs", "list", "--json"])
            .expect_status(0)
            .json();
        for run in list.as_array().unwrap() {
            assert_eq!(
                run["state"], "interrupted",
                "killed after {milliseconds} ms"
            );
            let id = run["id"].as_str().unwrap();
            let shown = bench.fathom(["runs", "show", id, "--json"]);
            shown.expect_status(5);
        }
        let listed = bench.fathom(["clean"]);
        listed.expect_status(0);
        for file in bench.data_files() {
            let name = file.file_name().unwrap().to_str().unwrap().to_owned();
            assert!(
                listed.stdout.contains(&name),
                "{name} is not in:\n{}",
                listed.stdout
            );
        }
        bench.fathom(["clean", "--yes"]).expect_status(0);
        assert!(
            bench.data_files().is_empty(),
            "killed after {milliseconds} ms"
        );
        assert!(bench.fathom(["clean"]).stdout.contains("nothing to clean"));
    }
}

#[test]
fn kill_9_keeps_the_seconds_before_it() {
    let bench = Bench::new();
    let mut child = long_read(&bench);
    wait_for_interval(&bench);
    child.kill().expect("the child can be killed");
    child.wait().expect("the child ends");
    let result = bench.fathom(["runs", "show", "latest", "--json"]).json();
    assert_eq!(result["run"]["state"], "interrupted");
    assert!(op(&result, 0, "read")["ops"].as_u64().unwrap() > 0);
}

#[test]
fn a_stopped_generator_shows_in_response_latency_and_as_a_finding() {
    let bench = Bench::new();
    let child = bench
        .command([
            "io",
            "data",
            "--rw",
            "randread",
            "--bs",
            "4k",
            "--size",
            "8M",
            "--runtime",
            "6s",
            "--rate-iops",
            "200",
            "--json",
        ])
        .spawn()
        .expect("fathom starts");
    wait_for_interval(&bench);
    signal(&child, Signal::STOP);
    sleep(Duration::from_millis(1100));
    signal(&child, Signal::CONT);
    let output = finish(child);
    output.expect_measured();
    let result = output.json();
    let reads = op(&result, 0, "read");
    let response_max = reads["response"]["max_ns"].as_u64().unwrap();
    assert!(
        response_max > 1_000_000_000,
        "the stop is in the response latency: {response_max}"
    );
    let stall = finding(&result["trials"][0]["verdict"], "V27").expect("a finding names the stop");
    assert_ne!(stall["status"], "pass", "{stall}");
}

#[test]
fn one_signal_ends_a_command_that_waits_for_a_pipe() {
    let bench = Bench::new();
    let pipe = bench.path().join("pipe");
    let made = std::process::Command::new("mkfifo").arg(&pipe).status();
    assert!(made.expect("mkfifo runs").success());
    for line in [
        "fio --name=a --filename=data/a --size=1m --rw=read --read_iolog=pipe",
        "io null: --replay pipe --runtime 1s",
        "judge pipe",
        "s3 get s3://b/p --endpoint http://127.0.0.1:1 --credentials-file pipe",
        "s3 get s3://b/p --endpoint https://127.0.0.1:1 --ca-file pipe",
        "agent --allow . --keys keys --token-file pipe",
    ] {
        for kind in [Signal::INT, Signal::TERM] {
            let mut child = bench.command(line.split(' ')).spawn().expect("it starts");
            sleep(Duration::from_secs(1));
            assert!(
                child.try_wait().expect("it can be asked").is_none(),
                "{line}"
            );
            let begun = Instant::now();
            signal(&child, kind);
            let status = child.wait().expect("it ends");
            assert!(!status.success(), "{line}: {status}");
            // Without the signal it would wait for ten seconds.
            let took = begun.elapsed();
            assert!(took < Duration::from_secs(6), "{line}: {took:?}");
        }
    }
}

#[test]
fn a_pipe_whose_writer_is_silent_is_an_error() {
    let bench = Bench::new();
    let pipe = bench.path().join("pipe");
    let made = std::process::Command::new("mkfifo").arg(&pipe).status();
    assert!(made.expect("mkfifo runs").success());
    let both = std::fs::OpenOptions::new()
        .read(true)
        .write(true)
        .open(&pipe);
    let _silent = both.expect("the pipe opens");
    let line =
        "s3 get s3://bucket/prefix --endpoint https://127.0.0.1:1 --ca-file pipe --runtime 1s";
    let output = bench.fathom(line.split(' '));
    output.expect_status(1);
    assert!(
        output.stderr.contains("nothing was written"),
        "{}",
        output.stderr
    );
}

#[test]
fn a_run_that_is_ended_before_it_measured_anything_is_not_stored() {
    let bench = Bench::new();
    let line = "io data --rw read --size 8g --runtime 60s";
    let child = bench.command(line.split(' ')).spawn().expect("it starts");
    // Filling a file of this size takes much longer than the signal.
    while bench.data_files().is_empty() {
        sleep(Duration::from_millis(20));
    }
    signal(&child, Signal::INT);
    let output = finish(child);
    output.expect_status(5);
    assert!(
        output.stderr.contains("before anything was measured"),
        "{}",
        output.stderr
    );
    let listed = bench.fathom(["runs", "list"]);
    assert!(!listed.stdout.contains("interrupted"), "{}", listed.stdout);
}

#[test]
fn the_limit_of_cpu_time_ends_a_run_in_order_and_is_named() {
    let bench = Bench::new();
    let fathom = env!("CARGO_BIN_EXE_fathom");
    let line =
        format!("ulimit -S -t 2; exec {fathom} io null: --rw read --runtime 60s --workers 1");
    let output = std::process::Command::new("bash")
        .args(["-c", &line])
        .current_dir(bench.path())
        .env("FATHOM_STORE", bench.path().join("limited.db"))
        .output()
        .expect("it runs");
    let text = String::from_utf8_lossy(&output.stdout);
    assert_eq!(output.status.code(), Some(5), "{output:?}");
    assert!(text.contains("limit of CPU time"), "{text}");
}
