//! The tests of the SNIA specification on simulated drives whose truth is
//! known, under the virtual clock; and what they refuse.

use fathom_drives::open_drive;
use serde_json::Value;

use crate::bench::Bench;
use crate::devices::{Loop, Mount, can_use_devices, sparse_file, tool};

fn snia(bench: &Bench, args: &[&str]) -> Value {
    let (output, value) = bench.json(["snia"].iter().chain(args).copied());
    assert!(matches!(output.status, Some(0 | 4)), "{}", output.stderr);
    value
}

fn number(value: &Value) -> f64 {
    value
        .as_f64()
        .unwrap_or_else(|| panic!("{value} is not a number"))
}

fn kept(run: &Value, name: &str) -> bool {
    let all = run["snia"]["requirements"].as_array().unwrap();
    let one = all.iter().find(|r| r["name"] == name);
    one.unwrap_or_else(|| panic!("no requirement {name}"))["kept"]
        .as_bool()
        .unwrap()
}

/// Random writes cost a fresh drive nothing, and a used one its collection of
/// garbage: the truth says how much.
#[test]
fn write_saturation_comes_to_the_truth_of_a_drive() {
    let bench = Bench::new();
    let model = "enterprise?size=512MiB,media_mibs=1,tail=0";
    let run = snia(&bench, &["wsat", &format!("sim:{model}"), "--seed", "3"]);
    let part = &run["snia"]["parts"][0];
    let rounds: Vec<f64> = part["series"][0]["values"]
        .as_array()
        .unwrap()
        .iter()
        .map(number)
        .collect();
    let fresh = 1048576.0 / 4096.0;
    assert!((rounds[1] / fresh - 1.0).abs() < 0.02, "{}", rounds[1]);
    let truth = open_drive(model, 3).unwrap().truth().expected;
    let steady = fresh / truth.steady_write_amplification.unwrap();
    let last = &rounds[rounds.len() - 10..];
    let late = last.iter().sum::<f64>() / last.len() as f64;
    assert!((late / steady - 1.0).abs() < 0.1, "{late} of {steady}");
    assert!(kept(&run, "four capacities or 24 hours"));
    let written = number(part["written_bytes"].as_array().unwrap().last().unwrap());
    assert!(written > 3.9 * 512.0 * 1048576.0, "{written}");
    assert_eq!(run["snia"]["conforming"], false);
}

#[test]
fn the_matrix_of_a_drive_is_complete_and_true() {
    let bench = Bench::new();
    // 32 in flight at 20 ms are 1,600 operations a second, whatever they are.
    let run = snia(
        &bench,
        &[
            "iops",
            "sim:ideal?size=64MiB,latency_us=20000,parallel=32",
            "--round-seconds",
            "1",
        ],
    );
    let part = &run["snia"]["parts"][0];
    let cells = part["cells"].as_array().unwrap();
    assert_eq!(cells.len(), 56);
    for cell in cells {
        let rate = number(&cell["ops_per_second"]);
        assert!((rate / 1600.0 - 1.0).abs() < 0.03, "{cell}");
        assert_eq!(cell["rounds"], 5);
    }
    assert_eq!(part["steady"], true);
    assert!(kept(&run, "steady state") && kept(&run, "preconditioning (WIPC)"));
    assert!(!kept(&run, "rounds of one minute") && !kept(&run, "whole device"));
    let csv = bench.fathom(["runs", "show", "latest", "--csv"]).stdout;
    assert_eq!(csv.lines().count(), 57);
    let text = bench.fathom(["runs", "show", "latest"]).stdout;
    assert!(text.contains("not conforming"), "{text}");
    assert!(
        text.lines().all(|line| line.chars().count() <= 80),
        "{text}"
    );
    let markdown = bench
        .fathom(["runs", "show", "latest", "--markdown"])
        .stdout;
    assert!(markdown.contains("| 4 KiB | 1,"), "{markdown}");
}

/// A drive whose speed is another one in every second.
#[test]
fn what_is_never_steady_is_told_so() {
    let bench = Bench::new();
    let run = snia(
        &bench,
        &[
            "latency",
            "sim:ideal?size=64MiB,latency_us=2000,parallel=1,noise_cv=0.8",
            "--round-seconds",
            "1",
            "--seed",
            "2",
        ],
    );
    let part = &run["snia"]["parts"][0];
    assert_eq!(part["series"][0]["values"].as_array().unwrap().len(), 25);
    assert_eq!(part["steady"], false);
    assert!(!kept(&run, "steady state"));
    assert_eq!(part["cells"].as_array().unwrap().len(), 9);
}

#[test]
fn a_plan_of_a_test_is_said_and_nothing_is_done() {
    let bench = Bench::new();
    let data = bench.data();
    let output = bench.fathom([
        "snia",
        "throughput",
        data.to_str().unwrap(),
        "--size",
        "64M",
        "--dry-run",
    ]);
    output.expect_status(0);
    assert!(
        output
            .stdout
            .contains("SNIA-style on a file, not conforming")
    );
    assert!(output.stdout.contains("2 cells") || output.stdout.contains("4 cells"));
    assert!(bench.data_files().is_empty() && !bench.store().exists());
    for (args, words) in [
        (vec!["iops", "null:"], "stores nothing"),
        (vec!["latency", "sim:ssd", "--threads", "4"], "one thread"),
        (vec!["iops", "sim:ssd", "--size", "1G"], "--active-range"),
        (vec!["iops", "sim:ssd", "--active-range", "1M"], "at least"),
    ] {
        let output = bench.fathom(["snia"].into_iter().chain(args));
        output.expect_status(2);
        assert!(output.stderr.contains(words), "{}", output.stderr);
    }
}

#[test]
fn a_device_is_not_touched_without_permission() {
    if !can_use_devices() {
        return;
    }
    let bench = Bench::new();
    let image = bench.path().join("image");
    sparse_file(&image, 128 << 20);
    let disk = Loop::over(&image);
    tool("mkfs.ext4", &["-q", "-F", &disk.device]);
    let _mount = Mount::new(&[&disk.device], &bench.path().join("mounted"));
    let short = ["--rounds-max", "1", "--round-seconds", "1"];
    for (permission, words) in [
        (vec![], "--destructive"),
        (vec!["--destructive"], "mounted"),
    ] {
        let args = ["snia", "iops", &disk.device].into_iter().chain(short);
        let output = bench.fathom(args.chain(permission));
        output.expect_status(1);
        let all = output.stdout.clone() + &output.stderr;
        assert!(all.contains(words), "{words}: {all}");
    }
    let plan = ["snia", "iops", &disk.device, "--destructive", "--dry-run"];
    let plan = bench.fathom(plan.into_iter().chain(short));
    plan.expect_status(1);
    assert!(plan.stderr.contains("would not run"), "{}", plan.stderr);
}
