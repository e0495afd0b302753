//! `fathom disks`: each disk alone, then all at once.

use serde_json::Value;

use crate::bench::{Bench, finding, is_root};

fn workload<'a>(result: &'a Value, name: &str) -> &'a Value {
    let all = result["disks"]["workloads"].as_array();
    let all = all.unwrap_or_else(|| panic!("no disks: {result:#}"));
    let found = all.iter().find(|workload| workload["name"] == name);
    found.unwrap_or_else(|| panic!("no {name}: {result:#}"))
}

fn value(estimate: &Value) -> f64 {
    estimate["value"]
        .as_f64()
        .unwrap_or_else(|| panic!("no value: {estimate:#}"))
}

#[test]
fn simulated_disks_alone_and_at_once_and_the_slow_one_is_named() {
    let bench = Bench::new();
    let slow = "sim:hdd?rpm=2700";
    let (output, result) = bench.json([
        "disks",
        "sim:hdd",
        "sim:hdd?rpm=7200",
        slow,
        "--workload",
        "randread",
        "--seconds",
        "30",
        "--size",
        "64G",
        "--seed",
        "3",
    ]);
    output.expect_measured();
    let randread = workload(&result, "randread");
    let disks = randread["disks"].as_array().unwrap();
    assert_eq!(disks.len(), 3);
    let sum: f64 = disks.iter().map(|disk| value(&disk["alone"])).sum();
    assert!((sum - value(&randread["sum_alone"])).abs() < 1e-6 * sum);
    // Simulated disks share nothing.
    let ratio = value(&randread["together_over_alone"]);
    assert!((0.9..1.1).contains(&ratio), "{ratio}");
    let named: Vec<&Value> = disks.iter().filter(|d| !d["slow"].is_null()).collect();
    assert_eq!(named.len(), 1, "{randread:#}");
    assert_eq!(named[0]["target"], slow);
    let finding = finding(&result["verdict"], "V72").expect("a finding");
    assert_eq!(finding["status"], "info");
    assert!(finding["evidence"].as_str().unwrap().contains(slow));
    let shown = bench.fathom(["runs", "show", "latest"]);
    assert!(
        shown.stdout.contains(&format!("{slow} is slow: randread")),
        "{}",
        shown.stdout
    );
    let html = bench.path().join("disks.html");
    bench
        .fathom(["report", "latest", "-o", "disks.html"])
        .expect_status(0);
    assert!(
        std::fs::read_to_string(html)
            .unwrap()
            .contains("is slow: randread")
    );
}

#[test]
fn directories_get_test_files_that_are_removed() {
    let bench = Bench::new();
    for name in ["one", "two"] {
        std::fs::create_dir(bench.path().join(name)).unwrap();
    }
    let args = ["disks", "one", "two", "--seconds", "1", "--size", "8M"];
    let (output, result) = bench.json(args);
    output.expect_measured();
    for name in ["randread", "seqread", "randwrite", "seqwrite"] {
        let workload = workload(&result, name);
        assert!(value(&workload["sum_together"]) > 0.0);
    }
    assert_eq!(result["trials"].as_array().unwrap().len(), 16);
    // Both lie on one drive, and that is said.
    let drives = &workload(&result, "randread")["disks"][0]["drives"];
    if drives.as_array().is_some_and(|drives| !drives.is_empty()) {
        output.expect_in_stderr("lie on the same drive");
        assert!(workload(&result, "randread")["sum_alone"]["value"].is_null());
    }
    for name in ["one", "two"] {
        let left = std::fs::read_dir(bench.path().join(name)).unwrap();
        assert_eq!(left.count(), 0, "{name}");
    }
}

#[test]
fn one_directory_under_two_names_is_no_two_disks() {
    let bench = Bench::new();
    std::fs::create_dir(bench.path().join("one")).unwrap();
    std::os::unix::fs::symlink("one", bench.path().join("link")).unwrap();
    for other in ["./one", "link", "one/../one"] {
        let output = bench.fathom(["disks", "one", other, "--seconds", "1"]);
        assert_ne!(output.status, Some(0));
        output.expect_in_stderr("are the same directory");
    }
    let left = std::fs::read_dir(bench.path().join("one")).unwrap();
    assert_eq!(left.count(), 0);
}

#[test]
fn what_would_be_done_is_shown_and_nothing_is_done() {
    let bench = Bench::new();
    let output = bench.fathom(["disks", "--show", "data", "sim:hdd"]);
    output.expect_status(0);
    for words in [
        "workers",
        "HDD",
        "randread, seqread, randwrite, seqwrite",
        "alone, then all",
    ] {
        assert!(output.stdout.contains(words), "{words}: {}", output.stdout);
    }
    assert!(bench.data_files().is_empty());
    assert!(!bench.store().exists());
    // Whatever this machine has: disks, or the reason why there is none.
    let found = bench.fathom(["disks", "--show"]);
    assert!(matches!(found.status, Some(0 | 1)), "{}", found.stderr);
}

#[test]
fn nothing_is_overwritten_unasked() {
    let bench = Bench::new();
    let file = bench.path().join("image");
    std::fs::write(&file, vec![9; 8 << 20]).unwrap();
    let args = [
        "disks",
        "image",
        "--workload",
        "randwrite",
        "--seconds",
        "1",
    ];
    bench
        .fathom(args)
        .expect_status(2)
        .expect_in_stderr("--destructive");
    assert_eq!(std::fs::read(&file).unwrap(), vec![9; 8 << 20]);
    // Found disks are never written to: they must be named.
    bench.fathom(["disks", "--destructive"]).expect_status(2);
    bench
        .fathom(["disks", "data", "data"])
        .expect_status(2)
        .expect_in_stderr("named twice");
}

#[test]
fn loop_devices_are_read_and_written_only_with_a_word() {
    use fathom_lab::real::{LoopDevice, or_skip};
    if !is_root() {
        println!("skipped: loop devices need root");
        return;
    }
    let bench = Bench::new();
    let mut devices = Vec::new();
    for name in ["a", "b"] {
        let image = bench.path().join(name);
        std::fs::write(&image, vec![5; 16 << 20]).unwrap();
        let Some(device) = or_skip(LoopDevice::over(&image, None)) else {
            return;
        };
        devices.push(device);
    }
    let paths: Vec<String> = devices
        .iter()
        .map(|device| device.path().display().to_string())
        .collect();
    // By default devices are only read from.
    let args = ["disks", &paths[0], &paths[1], "--seconds", "1"];
    let (output, result) = bench.json(args);
    output.expect_measured();
    let names: Vec<&str> = result["disks"]["workloads"]
        .as_array()
        .unwrap()
        .iter()
        .map(|workload| workload["name"].as_str().unwrap())
        .collect();
    assert_eq!(names, ["randread", "seqread"]);
    let args = args
        .iter()
        .chain(&["--destructive", "--workload", "randwrite", "--together"]);
    let (output, result) = bench.json(args);
    output.expect_measured();
    let randwrite = workload(&result, "randwrite");
    assert!(value(&randwrite["sum_together"]) > 0.0);
    assert!(randwrite["sum_alone"].is_null());
}
