//! `fathom ping`: latency request by request.

use std::io::Read;
use std::process::Command;

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

use crate::bench::{Bench, finish};

/// Lines of `--json`, each an object and nothing else.
fn lines(text: &str) -> Vec<Value> {
    text.lines()
        .map(|line| serde_json::from_str(line).unwrap_or_else(|e| panic!("{line}: {e}")))
        .collect()
}

#[test]
fn a_directory_is_pinged_and_nothing_is_left_in_it() {
    let bench = Bench::new();
    let args = ["ping", "data", "-c", "30", "-i", "1ms", "-S", "4M"];
    let output = bench.fathom(args);
    output.expect_status(0);
    let requests = output.stdout.lines().filter(|l| l.contains("request="));
    assert_eq!(requests.count(), 30, "{}", output.stdout);
    for part in [
        "4 KiB <<< data (",
        "request=1 time=",
        "(warm-up)",
        "ping statistics",
        "min/avg/max/mdev = ",
        "p50 ",
        "29 requests counted",
        "█",
    ] {
        assert!(
            output.stdout.contains(part),
            "{part} is not in\n{}",
            output.stdout
        );
    }
    // 29 requests support no p99, and it is said.
    assert!(!output.stdout.contains("p99 "), "{}", output.stdout);
    assert!(output.stdout.contains("takes"), "{}", output.stdout);
    assert!(bench.data_files().is_empty());
}

#[test]
fn machine_output_is_one_object_a_line() {
    let bench = Bench::new();
    let output = bench.fathom(["ping", "sim:ssd", "-c", "500", "--json"]);
    output.expect_status(0);
    assert_eq!(output.stderr, "");
    let lines = lines(&output.stdout);
    assert_eq!(lines.len(), 502);
    assert_eq!(lines[0]["schema"], "fathom.ping/1");
    assert_eq!(lines[1]["event"], "request");
    let summary = lines.last().unwrap();
    assert_eq!(summary["event"], "summary");
    assert_eq!(summary["requests"], 500);
    assert_eq!(summary["requests_counted"], 499);
    let counted: u64 = summary["histogram"]
        .as_array()
        .unwrap()
        .iter()
        .map(|bin| bin["count"].as_u64().unwrap())
        .sum();
    assert_eq!(counted, 499);
    let percentile = |percent: f64| {
        let all = summary["percentiles"].as_array().unwrap();
        let found = all.iter().find(|p| p["percent"] == percent);
        found.unwrap()["latency_ns"].clone()
    };
    assert!(percentile(50.0).is_number());
    assert!(percentile(99.99).is_null());
}

#[test]
fn a_simulated_drive_answers_in_its_own_time_and_ends_by_itself() {
    let bench = Bench::new();
    let output = bench.fathom(["ping", "sim:hdd"]);
    output.expect_status(0);
    let requests = output.stdout.lines().filter(|l| l.contains("request="));
    assert_eq!(requests.count(), 20);
    let deadline = bench.fathom(["ping", "sim:hdd", "-w", "1h", "-i", "1m", "-q"]);
    deadline.expect_status(0);
    assert!(
        deadline.stdout.contains("60 requests in "),
        "{}",
        deadline.stdout
    );
}

#[test]
fn writes_go_into_a_file_of_its_own_or_need_a_word() {
    let bench = Bench::new();
    let args = [
        "ping", "data", "--write", "--sync", "-c", "3", "-i", "0", "-S", "1M",
    ];
    let output = bench.fathom(args);
    output.expect_status(0);
    assert!(
        output.stdout.contains("4 KiB >>> data"),
        "{}",
        output.stdout
    );
    let file = bench.path().join("mine");
    std::fs::write(&file, vec![7; 1 << 20]).unwrap();
    bench
        .fathom(["ping", "mine", "--write", "-c", "1"])
        .expect_status(1)
        .expect_in_stderr("--destructive");
    assert_eq!(std::fs::read(&file).unwrap(), vec![7; 1 << 20]);
    bench
        .fathom(["ping", "mine", "-c", "3", "-i", "0", "--cached"])
        .expect_status(0);
    bench
        .fathom([
            "ping",
            "mine",
            "--write",
            "--destructive",
            "-c",
            "3",
            "-i",
            "0",
        ])
        .expect_status(0);
    assert_ne!(std::fs::read(&file).unwrap(), vec![7; 1 << 20]);
}

#[test]
fn the_page_cache_is_named_when_it_answers() {
    let bench = Bench::new();
    let output = bench.fathom(["ping", "data", "-c", "5", "-i", "0", "--cached", "-S", "1M"]);
    output.expect_status(0);
    let named = ["page cache took part", "are in memory"];
    assert!(
        named.iter().any(|words| output.stdout.contains(words)),
        "{}",
        output.stdout
    );
}

#[test]
fn a_host_answers_connections() {
    let bench = Bench::new();
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let target = format!("tcp://{}", listener.local_addr().unwrap());
    let output = bench.fathom(["ping", &target, "-c", "5", "-i", "10ms"]);
    output.expect_status(0);
    for words in [
        "connect <-> tcp://127.0.0.1:",
        "4 connections counted",
        "min/avg/max/mdev",
    ] {
        assert!(output.stdout.contains(words), "{}", output.stdout);
    }
    drop(listener);
    let output = bench.fathom(["ping", &target, "-c", "2", "-i", "10ms", "--json"]);
    output.expect_status(1);
    assert!(output.stdout.contains("\"connect\""), "{}", output.stdout);
}

#[test]
fn what_is_wrong_is_told() {
    let bench = Bench::new();
    for (target, words) in [
        ("http://host:80", "cannot be pinged; name"),
        ("storage.example.com", "tcp://storage.example.com:22"),
        ("tcp://storage", "at a port"),
        ("tcp://no-such-host.invalid:22", "cannot be found"),
        ("sim:nothing", "no simulated drive"),
        ("./nowhere/at/all", "does not exist"),
    ] {
        let output = bench.fathom(["ping", target, "-c", "1"]);
        assert!(matches!(output.status, Some(1 | 2)), "{:?}", output.status);
        output.expect_in_stderr(words);
        assert_eq!(output.stdout, "");
    }
    bench
        .fathom(["ping", "/dev/zero", "-c", "3", "-i", "0"])
        .expect_status(0);
    for command in ["ping", "disks", "at_io_iops"] {
        let help = bench.fathom([command, "--help"]);
        help.expect_status(0);
        assert!(help.stdout.contains("Examples:"), "{}", help.stdout);
    }
    bench
        .fathom(["ping", "data", "--sync"])
        .expect_status(2)
        .expect_in_stderr("--write");
}

#[test]
fn ctrl_c_ends_with_the_summary() {
    let bench = Bench::new();
    let mut child = bench
        .command(["ping", "null:", "-i", "10ms"])
        .spawn()
        .unwrap();
    // The first line is there: the requests have begun.
    let mut out = child.stdout.take().unwrap();
    let mut first = [0; 64];
    out.read_exact(&mut first).unwrap();
    kill_process(Pid::from_child(&child), Signal::INT).unwrap();
    let mut rest = String::new();
    out.read_to_string(&mut rest).unwrap();
    let output = finish(child);
    assert!(rest.contains("ping statistics"), "{rest}");
    output.expect_status(0);
}

#[test]
fn on_a_terminal_the_lines_are_whole_and_slow_ones_coloured() {
    let bench = Bench::new();
    let fathom = env!("CARGO_BIN_EXE_fathom");
    // A drive whose tail is long: some requests are slow for certain.
    let line = format!("{fathom} ping sim:hdd -c 60");
    let script = Command::new("script")
        .args(["-q", "-e", "-c", &line, "/dev/null"])
        .env_remove("NO_COLOR")
        .current_dir(bench.path())
        .stdin(std::process::Stdio::null())
        .output();
    let Ok(script) = script else {
        println!("skipped: script(1) is not installed");
        return;
    };
    let text = String::from_utf8(script.stdout).unwrap();
    let requests = text.lines().filter(|l| l.contains("request=")).count();
    assert_eq!(requests, 60, "{text}");
    assert!(text.contains("min/avg/max/mdev"), "{text}");
    let slow = text.lines().filter(|l| l.contains("(slow)"));
    assert!(slow.clone().all(|l| l.contains("\x1b[33m")), "{text}");
}

#[test]
fn one_request_has_no_deviation() {
    let bench = Bench::new();
    let once = ["ping", "sim:ssd", "-c", "2"];
    let text = bench.fathom(once).stdout;
    assert!(text.contains("1 request counted"), "{text}");
    let figures = text
        .lines()
        .find(|line| line.starts_with("min/avg/max/mdev"));
    assert!(figures.unwrap().ends_with("/ —"), "{text}");
    let json = bench.fathom(once.into_iter().chain(["--json"])).stdout;
    let summary = lines(&json).pop().unwrap();
    assert_eq!(summary["requests_counted"], 1);
    assert_eq!(summary["standard_deviation_ns"], Value::Null);
    let twice = bench
        .fathom(["ping", "sim:ssd", "-c", "3", "--json"])
        .stdout;
    assert!(lines(&twice).pop().unwrap()["standard_deviation_ns"].is_f64());
}

#[test]
fn names_do_not_reach_the_terminal_as_they_are() {
    let bench = Bench::new();
    let name = "x\u{1b}]0;y\u{7}\u{202e}z";
    std::fs::create_dir(bench.path().join(name)).unwrap();
    let pinged = bench.fathom(["ping", name, "-c", "1", "-S", "4M"]);
    pinged.expect_status(0);
    assert!(pinged.stdout.contains("x?]0;y??z"), "{}", pinged.stdout);
    let missing = format!("{name}/missing");
    let deeper = format!("{missing}/deeper");
    let calls: [&[&str]; 6] = [
        &["ping", &missing],
        &["io", &missing],
        &["stack", &deeper],
        &["quick", name, name, name],
        &["runs", name],
        &["io", name, "--rw", name],
    ];
    for arguments in calls {
        let output = bench.fathom(arguments.iter().copied());
        assert_ne!(output.status, Some(0), "{arguments:?}");
        for text in [&output.stdout, &output.stderr] {
            let raw = text.contains(['\u{1b}', '\u{7}', '\u{202e}']);
            assert!(!raw, "{arguments:?}: {text:?}");
        }
    }
}
