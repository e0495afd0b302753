//! How much memory very many files and objects need: names, places, sizes and
//! orders are computed, so it is as much as for few.

use std::time::{Duration, Instant};

use crate::bench::Bench;

/// What ten million files or a hundred million objects may need.
const MOST_BYTES: u64 = 100 << 20;
/// Longer than any of this takes.
const PATIENCE: Duration = Duration::from_secs(240);

/// The largest resident set of a call that measures the null target, bytes.
fn peak_bytes(bench: &Bench, words: &[&str]) -> u64 {
    let mut command = bench.command(words);
    let output = bench.path().join("output");
    command
        .stdout(std::fs::File::create(&output).unwrap())
        .stderr(std::process::Stdio::null());
    let mut child = command.spawn().unwrap();
    let status = format!("/proc/{}/status", child.id());
    let (began, mut peak_kib) = (Instant::now(), 0);
    let ended = loop {
        let text = std::fs::read_to_string(&status).unwrap_or_default();
        let line = text.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        let kib = line.and_then(|rest| rest.trim().trim_end_matches(" kB").parse().ok());
        peak_kib = peak_kib.max(kib.unwrap_or(0));
        if let Some(ended) = child.try_wait().unwrap() {
            break ended;
        }
        if began.elapsed() > PATIENCE {
            child.kill().unwrap();
            panic!("{words:?} has not come to its end");
        }
        std::thread::sleep(Duration::from_millis(5));
    };
    assert!(
        matches!(ended.code(), Some(0 | 3 | 4)),
        "{words:?}: {ended}"
    );
    let text = std::fs::read_to_string(&output).unwrap();
    let result: serde_json::Value = serde_json::from_str(&text).unwrap();
    let ops = result["trials"][0]["summary"]["ops"][0]["ops"].as_u64();
    assert!(ops >= Some(100_000), "{words:?}: {ops:?}");
    assert!(peak_kib > 1000, "{peak_kib} KiB were never seen");
    peak_kib << 10
}

#[test]
fn ten_million_files_are_planned_in_little_memory() {
    let bench = Bench::new();
    let words = [
        "meta",
        "null:",
        "--files",
        "10m",
        "--phases",
        "stat",
        "--visit",
        "random",
        "--files-per-dir",
        "1000",
        "--number-ios",
        "200k",
        "--quiet",
        "--json",
    ];
    let peak = peak_bytes(&bench, &words);
    assert!(peak < MOST_BYTES, "{} MiB", peak >> 20);
}

#[test]
fn a_hundred_million_objects_are_planned_in_little_memory() {
    let bench = Bench::new();
    let words = [
        "s3",
        "get",
        "null:",
        "--objects",
        "100m",
        "--object-size",
        "log2:1k",
        "--key-layout",
        "tree:3x100",
        "--iodepth",
        "8",
        "--number-ios",
        "100k",
        "--quiet",
        "--json",
    ];
    let peak = peak_bytes(&bench, &words);
    assert!(peak < MOST_BYTES, "{} MiB", peak >> 20);
}
