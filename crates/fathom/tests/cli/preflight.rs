//! What cannot work is refused before the first trial.

use std::fs;

use crate::bench::Bench;
use crate::devices::{Loop, can_use_devices, sparse_file};

/// Trials that are in the store after a command.
fn stored_runs(bench: &Bench) -> usize {
    let listed = bench.fathom(["runs", "list", "--json"]);
    listed.json().as_array().map_or(0, Vec::len)
}

#[test]
fn a_device_is_refused_before_the_rows_that_only_read() {
    if !can_use_devices() {
        return;
    }
    let bench = Bench::new();
    let image = bench.path().join("image");
    sparse_file(&image, 64 << 20);
    let device = Loop::over(&image);
    let before = fs::metadata(&image).unwrap().modified().unwrap();
    let output = bench.fathom(["quick", &device.device, "--seconds", "1"]);
    assert_eq!(output.status, Some(1), "{}", output.stderr);
    assert!(output.stderr.contains("--destructive"), "{}", output.stderr);
    assert!(output.stderr.contains("5 of 9 trials"), "{}", output.stderr);
    assert!(output.stderr.contains("--read-only"), "{}", output.stderr);
    assert!(output.stdout.is_empty(), "{}", output.stdout);
    assert_eq!(stored_runs(&bench), 0);
    assert_eq!(fs::metadata(&image).unwrap().modified().unwrap(), before);
}

#[test]
fn read_only_measures_the_read_rows_of_a_device_and_leaves_its_data() {
    if !can_use_devices() {
        return;
    }
    let bench = Bench::new();
    let image = bench.path().join("image");
    let content: Vec<u8> = (0..64u32 << 18).flat_map(u32::to_le_bytes).collect();
    fs::write(&image, &content).unwrap();
    let device = Loop::over(&image);
    let words = ["quick", &device.device, "--seconds", "1s", "--read-only"];
    let (output, result) = bench.json(words);
    output.expect_measured();
    assert_eq!(result["trials"].as_array().unwrap().len(), 4);
    drop(device);
    assert!(
        fs::read(&image).unwrap() == content,
        "the data are as before"
    );
}

#[test]
fn a_later_trial_that_cannot_fit_is_refused_first() {
    let bench = Bench::new();
    let plan = bench.path().join("plan.yaml");
    let text = format!(
        "plan: 1\ntargets: [{}]\nworkloads:\n  - name: small\n    rw: read\n    bs: 4k\n    size: 1m\n    \
         runtime: 1s\n  - name: huge\n    rw: write\n    bs: 4k\n    size: 4000t\n    runtime: 1s\n",
        bench.path().display()
    );
    fs::write(&plan, text).unwrap();
    let output = bench.fathom(["run", plan.to_str().unwrap()]);
    assert_ne!(output.status, Some(0));
    assert!(output.stderr.contains("free"), "{}", output.stderr);
    assert_eq!(stored_runs(&bench), 0);
    let made: Vec<_> = fs::read_dir(bench.path())
        .unwrap()
        .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
        .filter(|name| name.starts_with("fathom-test"))
        .collect();
    assert!(made.is_empty(), "{made:?}");
}

#[test]
fn seconds_take_a_unit_and_errors_say_what_is_expected() {
    let bench = Bench::new();
    let refused = bench.fathom(["quick", ".", "--seconds", "soon"]);
    assert_eq!(refused.status, Some(2));
    let expected = "whole number of seconds from 1 to 86400, such as 30s or 2m";
    assert!(refused.stderr.contains(expected), "{}", refused.stderr);
    let bucket = bench.fathom(["s3", "put", "x", "--bucket", "data"]);
    assert!(bucket.stderr.contains("s3://data/"), "{}", bucket.stderr);
}

#[test]
fn no_two_commands_of_a_group_have_the_same_description() {
    let bench = Bench::new();
    for group in ["snia", "curve", "runs", "plan", "fleet", "net"] {
        let help = bench.fathom([group, "--help"]).stdout;
        let (_, commands) = help.split_once("Commands:").unwrap_or_default();
        let commands = commands.split("\n\n").next().unwrap_or_default();
        let mut seen = std::collections::BTreeSet::new();
        for line in commands.lines().filter(|line| !line.trim().is_empty()) {
            let (_, about) = line.trim().split_once("  ").unwrap_or_default();
            assert!(
                about.is_empty() || seen.insert(about.trim()),
                "{group}: {line}"
            );
        }
    }
}
