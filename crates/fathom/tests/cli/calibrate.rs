//! `fathom diagnose --calibrate`: what a volume of known truth gives, and a load
//! as a share of it.

use std::path::{Path, PathBuf};
use std::process::Child;
use std::time::{Duration, Instant};

use fathom_lab::real::{Throttle, or_skip};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

use crate::bench::{Bench, Output, finish};

fn ticket() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/iostat/ticket.json")
}

fn diagnose(bench: &Bench, flags: &[&str]) -> Output {
    let mut args = vec!["diagnose".into(), ticket().into_os_string()];
    args.extend(flags.iter().map(Into::into));
    bench.fathom(args)
}

#[track_caller]
fn assert_near(value: &Value, truth: f64, share: f64) {
    let value = value.as_f64().unwrap();
    assert!(
        (value / truth - 1.0).abs() <= share,
        "{value}, in truth {truth}"
    );
}

#[test]
fn a_load_is_a_share_of_what_the_volume_gives() {
    let bench = Bench::new();
    let volume = "--calibrate=sim:cloud?iops=1000";
    let output = diagnose(&bench, &[volume, "--yes", "--json"]);
    output.expect_status(0);
    let found = output.json();
    // The load of the ticket: 4 KiB, 83 % reads, 240 at most.
    let calibration = &found["calibration"];
    assert_eq!(calibration["block_bytes"], 4096);
    assert_near(&calibration["read_share"], 0.83, 0.02);
    assert_near(&calibration["operations"], 1_000.0, 0.02);
    assert_near(&calibration["paced"], 850.0, 0.02);
    assert_eq!(calibration["pace_kept"], true);
    // At the cap an operation waits in a queue of 32 or more; below it the
    // volume takes 0.6 ms.
    assert_near(&calibration["wait_ms"], 0.6, 0.1);
    assert!(calibration["wait_at_cap_ms"].as_f64().unwrap() > 20.0);
    let ceiling = &found["ceiling"];
    assert_eq!(ceiling["comparable"], true);
    assert_near(&ceiling["peak_share"], 0.24, 0.02);
    let words = ceiling["words"].as_str().unwrap();
    assert!(
        words.starts_with("sda peaks at 240 of 1,000 IOPS (24 %) at 4 KiB and 8"),
        "{words}"
    );
    assert_eq!(found["answer"], "no");

    // That of a simulated drive is no ceiling of another load.
    let id = calibration["run"].as_str().unwrap();
    for named in ["calibration", "latest", id] {
        diagnose(&bench, &["--ceiling", named])
            .expect_status(2)
            .expect_in_stderr("a simulated drive is not a disk");
    }
    for format in ["text", "markdown", "html"] {
        let shown = diagnose(&bench, &[volume, "--yes", "--format", format]).stdout;
        assert!(
            shown.contains("peaks at 240 of 1,000 IOPS"),
            "{format}: {shown}"
        );
    }
    let text = diagnose(&bench, &[volume, "--yes"]).stdout;
    assert!(text.contains("Volume capacity:"), "{text}");
    assert!(
        text.lines().all(|line| line.chars().count() <= 80),
        "{text}"
    );
}

#[test]
fn credit_is_not_taken_for_the_cap() {
    let bench = Bench::new();
    // 3,000 a second for as long as 20,000 saved operations last, then 500.
    let volume = "--calibrate=sim:cloud?iops=500,burst_iops=3000,credit_ops=20000";
    let found = diagnose(&bench, &[volume, "--yes", "--json"]).json();
    assert_near(&found["calibration"]["operations"], 500.0, 0.05);
    assert_near(&found["ceiling"]["peak_share"], 0.48, 0.05);
}

#[test]
fn nothing_is_loaded_without_consent_or_at_the_wrong_place() {
    let bench = Bench::new();
    let asked = diagnose(&bench, &["--calibrate=data"]);
    asked
        .expect_status(2)
        .expect_in_stderr("with --yes it does not ask");
    diagnose(&bench, &["--calibrate", "--yes"])
        .expect_status(2)
        .expect_in_stderr("cubes was recorded, and this is");
    let letter = bench.path().join("letter");
    std::fs::write(&letter, "dear").unwrap();
    diagnose(&bench, &["--calibrate=letter", "--yes"])
        .expect_status(2)
        .expect_in_stderr("not a folder");
    assert_eq!(std::fs::read(&letter).unwrap(), b"dear");
    let both = ["--calibrate=data", "--yes", "--ceiling-iops", "1000"];
    diagnose(&bench, &both)
        .expect_status(2)
        .expect_in_stderr("cannot be used with");
    diagnose(&bench, &["--ceiling", "calibration"])
        .expect_status(2)
        .expect_in_stderr("nothing has been calibrated yet");
    let cluster = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../observe/tests/fixtures/gluster/three-hosts.txt");
    let cluster = cluster.to_str().unwrap();
    bench
        .fathom(["diagnose", cluster, "--calibrate=data", "--yes"])
        .expect_status(2)
        .expect_in_stderr("a dump of a cluster has none");
    assert!(!bench.store().exists() && bench.data_files().is_empty());
}

fn start(bench: &Bench) -> Child {
    let mut command = bench.command(["diagnose", "--json", "--yes", "--calibrate=data"]);
    command.args(["--calibrate-size", "16MiB", "--calibrate-seconds", "60"]);
    command.arg(ticket()).spawn().unwrap()
}

fn wait_for_a_file(bench: &Bench) {
    let start = Instant::now();
    while bench.data_files().is_empty() {
        assert!(start.elapsed() < Duration::from_secs(60), "no file is made");
        std::thread::sleep(Duration::from_millis(20));
    }
}

fn signal(child: &Child, signal: Signal) {
    kill_process(Pid::from_child(child), signal).unwrap();
}

#[test]
fn an_early_end_leaves_no_file_and_no_ceiling() {
    let bench = Bench::new();
    let child = start(&bench);
    wait_for_a_file(&bench);
    signal(&child, Signal::INT);
    let output = finish(child);
    output.expect_status(5);
    let found = output.json();
    assert!(found["ceiling"].is_null() && found["calibration"].is_null());
    let remarks = found["remarks"].to_string();
    assert!(
        remarks.contains("the calibration gives no ceiling"),
        "{remarks}"
    );
    assert!(bench.data_files().is_empty());

    let child = start(&bench);
    wait_for_a_file(&bench);
    signal(&child, Signal::KILL);
    finish(child);
    assert!(!bench.data_files().is_empty());
    bench.fathom(["clean", "--yes"]).expect_status(0);
    assert!(bench.data_files().is_empty());
}

/// The device under a folder: name and number.
fn device_under(folder: &Path) -> Option<(String, String)> {
    let sys = fathom_observe::Sysroot::host();
    let devices = fathom_observe::target_fingerprint(&sys, folder).devices;
    let leaf = devices.into_iter().find(|device| device.below.is_empty())?;
    let number = leaf.facts.get("device_number")?.clone();
    Some((leaf.name, number))
}

#[test]
fn the_kernels_own_cap_on_a_real_volume_is_found() {
    let bench = Bench::new();
    let Some((name, number)) = device_under(&bench.data()) else {
        println!("skipped: no block device lies under the folder of the tests");
        return;
    };
    let Some(throttle) = or_skip(Throttle::iops(&number, 300)) else {
        return;
    };
    // The ticket as it would be of this device.
    let text = std::fs::read_to_string(ticket()).unwrap();
    let of_device = text.replace("\"sda\"", &format!("\"{name}\""));
    let recording = bench.path().join("load.json");
    std::fs::write(&recording, of_device).unwrap();
    let calibrate = || {
        let mut command = throttle.command(Path::new(env!("CARGO_BIN_EXE_fathom")));
        command
            .arg("diagnose")
            .arg(&recording)
            .args(["--yes", "--json", "--calibrate=data"])
            .args(["--calibrate-size", "32MiB", "--calibrate-seconds", "6"])
            .env("FATHOM_STORE", bench.store())
            .current_dir(bench.path());
        let output = command.output().unwrap();
        let found: Value = serde_json::from_slice(&output.stdout)
            .unwrap_or_else(|_| panic!("{}", String::from_utf8_lossy(&output.stderr)));
        // A machine that stood still has measured nothing that can be believed,
        // and says so.
        let refused = found["remarks"].to_string().contains("can be believed");
        assert!(found["calibration"].is_object() || refused, "{found}");
        (!refused).then_some(found)
    };
    let Some(found) = (0..3).find_map(|_| calibrate()) else {
        println!(
            "skipped: nothing that was measured here can be believed; the machine is too busy"
        );
        return;
    };
    let calibration = &found["calibration"];
    // Reads reach their 300 a second first; writes come with them.
    let reads = calibration["read_share"].as_f64().unwrap();
    let others = calibration["others"].as_f64().unwrap();
    let own = calibration["operations"].as_f64().unwrap() - others;
    let truth = 300.0 / reads;
    println!("{own} of {truth}: {calibration}");
    assert!((own / truth - 1.0).abs() < 0.1, "{own}, in truth {truth}");
    assert!(bench.data_files().is_empty());
}
