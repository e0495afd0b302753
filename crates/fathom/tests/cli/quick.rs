//! `fathom quick`, shortened.

use crate::bench::{Bench, op};

#[test]
fn measures_the_grid_and_durable_writes_and_leaves_nothing_behind() {
    let bench = Bench::new();
    let (output, result) = bench.json(["quick", "data", "--seconds", "1", "--size", "32MiB"]);
    output.expect_measured();
    assert_eq!(result["schema"], "fathom.run/1");
    assert_eq!(result["run"]["label"], "burst");
    let labels: Vec<&str> = result["rows"]
        .as_array()
        .unwrap()
        .iter()
        .filter_map(|r| r["label"].as_str())
        .collect();
    for expected in [
        "SEQ1M Q8T1 read",
        "SEQ1M Q8T1 write",
        "SEQ1M Q1T1 read",
        "RND4K Q32T1 read",
        "RND4K Q1T1 write",
        "DURABLE 4K",
    ] {
        assert!(
            labels.contains(&expected),
            "{expected} is not in {labels:?}"
        );
    }
    let durable = labels
        .iter()
        .position(|label| *label == "DURABLE 4K")
        .unwrap();
    let commits = op(&result, durable, "commit");
    assert!(commits["ops"].as_u64().unwrap() > 0, "{commits}");
    let writes = op(&result, durable, "write")["ops"].as_u64().unwrap();
    let committed = commits["ops"].as_u64().unwrap();
    // The phase may begin or end between a write and its flush.
    assert!(
        writes.abs_diff(committed) <= 1,
        "{committed} of {writes} are committed"
    );
    assert_eq!(
        bench.data_files(),
        Vec::<std::path::PathBuf>::new(),
        "test files are removed"
    );
}

#[test]
fn prints_a_grid_that_says_what_it_is() {
    let bench = Bench::new();
    let output = bench.fathom(["quick", "data", "--seconds", "1", "--size", "32MiB"]);
    output.expect_measured();
    for expected in [
        "SEQ1M Q8T1",
        "RND4K Q32T1",
        "DURABLE 4K",
        "burst",
        "Validity",
        "Limiter",
    ] {
        assert!(
            output.stdout.contains(expected),
            "{expected} is missing:\n{}",
            output.stdout
        );
    }
    assert!(
        output
            .stdout
            .lines()
            .all(|line| line.chars().count() <= 100),
        "{}",
        output.stdout
    );
    let mut lines = output.stdout.lines();
    let report = lines
        .find_map(|line| line.strip_prefix("Report:"))
        .unwrap()
        .trim();
    let html = std::fs::read_to_string(report)
        .unwrap_or_else(|error| panic!("{report}: {error}\n{}", output.stdout));
    assert!(html.starts_with("<!DOCTYPE html>") || html.starts_with("<!doctype html>"));
}

#[test]
fn what_is_no_storage_is_of_no_class() {
    let bench = Bench::new();
    let quick = ["quick", "null:", "--seconds", "1", "--size", "32MiB"];
    let output = bench.fathom(quick);
    output.expect_measured();
    assert!(output.stdout.contains("RND4K Q32T1"), "{}", output.stdout);
    assert!(!output.stdout.contains("Use it for"), "{}", output.stdout);
    // Each row has its result in a pipe, too.
    let results = output.stderr.lines().filter(|line| line.contains("IOPS"));
    assert!(results.count() >= 9, "{}", output.stderr);
}

/// Deep writes fill the cache of the drive, and the row of durable writes comes after them.
#[test]
fn durable_writes_do_not_pay_for_those_before_them() {
    let bench = Bench::new();
    let drive = "sim:hdd?cache=256MB";
    let (_, result) = bench.json(["quick", drive, "--for", "3s", "--seed", "1"]);
    let rows = result["rows"].as_array().unwrap();
    let durable = rows.iter().find(|row| row["label"] == "DURABLE 4K");
    let ops = durable.unwrap()["ops"].as_array().unwrap();
    let commit = ops.iter().find(|op| op["kind"] == "commit").unwrap();
    let rate = commit["ops_per_second"]["value"].as_f64().unwrap();
    // A turn of the platter takes 8.3 ms: 120 and more of them a second.
    assert!((120.0..1000.0).contains(&rate), "{rate}");
}

#[test]
fn reads_go_over_all_of_a_drive_that_is_full() {
    let bench = Bench::new();
    let shown = |drive: &str| {
        let output = bench.fathom(["quick", drive, "--for", "1s", "--quiet"]);
        output.expect_status(0);
        output.stdout
    };
    let full = shown("sim:array");
    assert!(full.contains("reads over 931 GiB, writes"), "{full}");
    let empty = shown("sim:thin");
    assert!(empty.contains("1 GiB file"), "{empty}");
    assert!(
        !empty.contains('!'),
        "what was never written is written first: {empty}"
    );
}
