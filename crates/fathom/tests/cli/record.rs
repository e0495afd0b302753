//! `fathom record`: recordings of this host, and the answer that they give.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use crate::bench::{Bench, finish};

/// Waits until something is so; a minute at most.
fn wait_until(what: &str, mut so: impl FnMut() -> bool) {
    let start = Instant::now();
    while !so() {
        assert!(start.elapsed() < Duration::from_secs(60), "{what}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

fn record(bench: &Bench, name: &str, flags: &[&str]) -> PathBuf {
    let path = bench.path().join(name);
    let mut args = vec!["record", "--output", name];
    args.extend(flags);
    let output = bench.fathom(args);
    assert_eq!(output.status, Some(0), "{}", output.stderr);
    assert_eq!(output.stdout, "");
    path
}

fn size(path: &Path) -> u64 {
    path.metadata().map_or(0, |metadata| metadata.len())
}

#[test]
fn a_recording_is_shown_exported_and_diagnosed() {
    let bench = Bench::new();
    let flags = ["--for", "2s", "--every", "100ms"];
    let path = record(&bench, "a.frec", &flags);
    let mode = std::os::unix::fs::MetadataExt::mode(&path.metadata().unwrap());
    assert_eq!(mode & 0o777, 0o600);

    let shown = bench.fathom(["record", "show", "a.frec"]);
    assert_eq!(shown.status, Some(0), "{}", shown.stderr);
    for part in ["readings from", "stopped in order", "cpu ", "memory "] {
        assert!(shown.stdout.contains(part), "{part}: {}", shown.stdout);
    }

    let lines = bench
        .fathom(["record", "export", "a.frec", "--kind", "cpu"])
        .stdout;
    let values: Vec<serde_json::Value> = lines
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert!(values.len() >= 2, "{lines}");
    assert!(values.iter().all(|value| value["kind"] == "cpu"));
    assert!(
        values[0]["idle_ticks_per_second"].is_number(),
        "{}",
        values[0]
    );
    let csv = bench.fathom(["record", "export", "a.frec", "--csv"]).stdout;
    assert!(csv.starts_with("at,kind,name,field,value\n"), "{csv}");
    assert!(
        csv.lines().all(|line| line.split(',').count() >= 5),
        "{csv}"
    );

    let found = bench.fathom(["diagnose", "a.frec", "--json"]);
    assert_eq!(found.status, Some(0), "{}", found.stderr);
    let found = found.json();
    assert_eq!(found["schema"], "fathom.diagnosis/1");
    assert!(found["samples"].as_u64().unwrap() >= 1, "{found}");
    assert!(found["cpu"]["cpus"].as_u64().unwrap() >= 1);
}

#[test]
fn an_existing_file_is_overwritten_by_force_only() {
    let bench = Bench::new();
    std::fs::write(bench.path().join("letter"), "dear").unwrap();
    let refused = bench.fathom(["record", "--for", "1s", "--output", "letter"]);
    assert_eq!(refused.status, Some(2));
    assert!(
        refused.stderr.contains("not overwritten"),
        "{}",
        refused.stderr
    );
    let args = [
        "record",
        "--for",
        "1s",
        "--output",
        "letter",
        "--rotate-size",
        "64KiB",
    ];
    let refused = bench.fathom(args);
    assert_eq!(refused.status, Some(1));
    assert!(
        refused.stderr.contains("is not a recording and stays"),
        "{}",
        refused.stderr
    );
    assert_eq!(
        std::fs::read_to_string(bench.path().join("letter")).unwrap(),
        "dear"
    );
    let forced = ["record", "--for", "1s", "--output", "letter", "--force"];
    bench.fathom(forced).expect_status(0);
    bench.fathom(["record", "show", "letter"]).expect_status(0);
}

#[test]
fn with_rotation_the_recording_before_is_kept_beside() {
    let bench = Bench::new();
    let flags = [
        "--for",
        "300ms",
        "--every",
        "100ms",
        "--rotate-size",
        "1MiB",
        "--keep",
        "2",
    ];
    for _ in 0..3 {
        record(&bench, "host.frec", &flags);
    }
    let folder = bench.path().to_str().unwrap().to_owned();
    let listed = bench.fathom(["record", "list", "--folder", &folder]).stdout;
    assert!(listed.contains("host.frec"), "{listed}");
    assert!(listed.contains("host.1.frec"), "{listed}");
    assert!(!listed.contains("host.2.frec"), "{listed}");
}

#[test]
fn rotation_leaves_recordings_of_other_commands() {
    let bench = Bench::new();
    let short = ["--for", "300ms", "--every", "100ms"];
    let before: Vec<_> = ["web.1.frec", "web.2.frec", "web.frec"]
        .map(|name| {
            record(&bench, name, &short);
            std::fs::read(bench.path().join(name)).unwrap()
        })
        .into();
    let rotated = [&short[..], &["--rotate-size", "64KiB", "--keep", "2"]].concat();
    for _ in 0..4 {
        record(&bench, "web.frec", &rotated);
    }
    // The one that had the name has the next number, and stays.
    for (name, content) in ["web.1.frec", "web.2.frec", "web.3.frec"]
        .iter()
        .zip(before)
    {
        assert!(
            std::fs::read(bench.path().join(name)).unwrap() == content,
            "{name}"
        );
    }
    for (number, there) in [(4, true), (5, false)] {
        let part = bench.path().join(format!("web.{number}.frec"));
        assert_eq!(part.exists(), there);
    }
    let args = ["record", "--output", "web.frec"];
    let told = bench.fathom([&args[..], &rotated].concat()).stderr;
    assert!(
        told.contains("web.1.frec is not part of this recording and stays"),
        "{told}"
    );
}

#[test]
fn without_a_name_it_lies_beside_the_store_and_is_listed() {
    let bench = Bench::new();
    assert!(
        bench
            .fathom(["record", "list"])
            .stdout
            .contains("no recordings")
    );
    let output = bench.fathom(["record", "--for", "300ms", "--every", "100ms"]);
    assert_eq!(output.status, Some(0), "{}", output.stderr);
    assert!(
        output.stderr.contains("fathom diagnose "),
        "{}",
        output.stderr
    );
    let listed = bench.fathom(["record", "list"]).stdout;
    assert!(listed.contains(".frec"), "{listed}");
}

#[test]
fn pipes_in_a_folder_of_recordings_are_left_alone() {
    let bench = Bench::new();
    std::fs::create_dir(bench.path().join("taken")).unwrap();
    record(
        &bench,
        "taken/db1.frec",
        &["--for", "300ms", "--every", "100ms"],
    );
    for name in ["taken/a.frec", "taken/q"] {
        let made = std::process::Command::new("mkfifo")
            .arg(bench.path().join(name))
            .status();
        assert!(made.unwrap().success());
    }
    for (args, words) in [
        (&["diagnose", "taken"][..], "NO"),
        (&["alarms", "taken"], "not measurable"),
        (&["record", "list", "--folder", "taken"], "db1.frec"),
    ] {
        // Each would wait for a writer that never comes.
        let output = bench.fathom(args);
        assert!(
            output.stdout.contains(words),
            "{}{}",
            output.stdout,
            output.stderr
        );
        assert!(!output.stderr.contains("waiting"), "{}", output.stderr);
    }
}

#[test]
fn a_killed_recorder_leaves_what_it_recorded() {
    let bench = Bench::new();
    let path = bench.path().join("k.frec");
    let args = ["record", "--every", "100ms", "--output", "k.frec"];
    let mut child = bench.command(args).spawn().unwrap();
    // The header takes some 2 KiB, then there are readings.
    wait_until("readings", || size(&path) > 3_000);
    child.kill().unwrap();
    child.wait().unwrap();
    let shown = bench.fathom(["record", "show", "k.frec"]).stdout;
    assert!(
        shown.contains("not stopped") || shown.contains("cut off"),
        "{shown}"
    );
    assert!(shown.contains("readings from"), "{shown}");
    assert_eq!(bench.fathom(["diagnose", "k.frec"]).status, Some(0));
}

#[test]
fn sigterm_ends_a_recording_in_order() {
    let bench = Bench::new();
    let path = bench.path().join("t.frec");
    let args = ["record", "--every", "100ms", "--output", "t.frec"];
    let mut child = bench.command(args).spawn().unwrap();
    wait_until("readings", || size(&path) > 3_000);
    let pid = rustix::process::Pid::from_child(&child);
    rustix::process::kill_process(pid, rustix::process::Signal::TERM).unwrap();
    let mut status = None;
    wait_until("the end", || {
        status = child.try_wait().unwrap();
        status.is_some()
    });
    assert!(status.unwrap().success());
    let shown = bench.fathom(["record", "show", "t.frec"]).stdout;
    assert!(shown.contains("stopped in order"), "{shown}");
}

#[test]
fn this_host_is_diagnosed_live() {
    let bench = Bench::new();
    let output = bench.fathom(["diagnose", "--for", "3s", "--json"]);
    assert_eq!(output.status, Some(0), "{}", output.stderr);
    let found = output.json();
    assert_eq!(found["sources"][0], "this host, live");
    assert!(found["samples"].as_u64().unwrap() >= 1, "{found}");
}

#[test]
fn without_a_terminal_watching_gives_blocks_of_text() {
    let bench = Bench::new();
    let output = bench.fathom(["watch", "--count", "2", "--every", "100ms"]);
    assert_eq!(output.status, Some(0), "{}", output.stderr);
    let blocks = output.stdout.matches("\nCPU     ").count();
    assert_eq!(blocks, 2, "{}", output.stdout);
    assert!(output.stdout.starts_with("== "), "{}", output.stdout);
}

#[test]
fn recorders_of_one_second_have_files_of_their_own() {
    let bench = Bench::new();
    let args = ["record", "--for", "300ms", "--every", "100ms"];
    let start = |_| bench.command(args).spawn().unwrap();
    let all: Vec<_> = (0..4).map(start).collect();
    for child in all {
        finish(child).expect_status(0);
    }
    let made = std::fs::read_dir(bench.path().join("recordings")).unwrap();
    assert_eq!(made.count(), 4);
}

#[test]
fn what_nobody_can_use_is_no_success() {
    let bench = Bench::new();
    let short = ["record", "--for", "20ms", "--output", "short.frec"];
    bench
        .fathom(short)
        .expect_status(1)
        .expect_in_stderr("short.frec: 1 reading, ")
        .expect_in_stderr("it takes two readings");
    // Shorter than the distance of readings, which gives way.
    record(&bench, "half.frec", &["--for", "500ms"]);
    bench.fathom(["diagnose", "half.frec"]).expect_status(0);

    let path = bench.path().join("gone.frec");
    let args = ["record", "--every", "100ms", "--output", "gone.frec"];
    let child = bench.command(args).spawn().unwrap();
    wait_until("readings", || size(&path) > 3_000);
    std::fs::remove_file(&path).unwrap();
    finish(child)
        .expect_status(1)
        .expect_in_stderr("gone.frec: ")
        .expect_in_stderr("was removed or moved while it was written");
}

#[test]
fn where_nothing_can_be_made_another_place_is_named() {
    let bench = Bench::new();
    let args = ["record", "--for", "1s", "--output", "no/such/a.frec"];
    bench
        .fathom(args)
        .expect_status(2)
        .expect_in_stderr("cannot make no/such/a.frec; give another --output: No such file");
}

#[test]
fn on_a_terminal_a_host_is_watched_with_the_time_that_is_left() {
    let bench = Bench::new();
    let fathom = env!("CARGO_BIN_EXE_fathom");
    for (call, told) in [
        ("alarms --for 1s", true),
        ("use --for 1s", true),
        ("diagnose --for 2s", true),
        ("alarms --for 1s --quiet", false),
    ] {
        let script = std::process::Command::new("script")
            .args(["-q", "-c", &format!("{fathom} {call}"), "/dev/null"])
            .current_dir(bench.path())
            .stdin(std::process::Stdio::null())
            .output();
        let Ok(script) = script else {
            println!("skipped: script(1) is not installed");
            return;
        };
        let text = String::from_utf8_lossy(&script.stdout);
        assert_eq!(
            text.contains("watching this host: "),
            told,
            "{call}: {text}"
        );
    }
}
