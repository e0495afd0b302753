//! SMART of SATA and SAS disks, from a stand-in for smartctl to the alarm.

use std::path::{Path, PathBuf};

use crate::bench::{Bench, Output, finish};

fn fixture(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../observe/tests/fixtures/smartctl");
    folder.join(format!("{name}.json"))
}

/// A folder with a `smartctl` that knows three disks and notes how it was
/// called.
fn stand_in(bench: &Bench) -> PathBuf {
    let folder = bench.path().join("bin");
    std::fs::create_dir(&folder).unwrap();
    let script = format!(
        r#"#!/bin/sh
echo "$@" >> {calls}
case "$*" in
  *--scan*) echo '{{"smartctl": {{}}, "devices": [
    {{"name": "/dev/sda", "info_name": "/dev/sda", "type": "scsi", "protocol": "SCSI"}},
    {{"name": "/dev/sdf", "info_name": "/dev/sdf", "type": "scsi", "protocol": "SCSI"}},
    {{"name": "/dev/nvme0", "info_name": "/dev/nvme0", "type": "nvme", "protocol": "NVMe"}},
    {{"name": "/dev/bus/0", "info_name": "/dev/bus/0 [megaraid_disk_02]", "type": "megaraid,2", "protocol": "SCSI"}}]}}' ;;
  *megaraid,2*) cat {sas}; exit 8 ;;
  */dev/sda) cat {hdd} ;;
  */dev/sdf) cat {asleep}; exit 2 ;;
esac
"#,
        calls = bench.path().join("calls").display(),
        sas = fixture("sas-ssd-failing").display(),
        hdd = fixture("ata-hdd-worn").display(),
        asleep = fixture("asleep").display(),
    );
    let program = folder.join("smartctl");
    crate::bench::program(&program, &script);
    folder
}

fn with_stand_in<const N: usize>(bench: &Bench, folder: &Path, args: [&str; N]) -> Output {
    let path = std::env::var("PATH").unwrap_or_default();
    let mut command = bench.command(args);
    command.env("PATH", format!("{}:{path}", folder.display()));
    finish(command.spawn().unwrap())
}

/// State of a rule, and its instances.
fn state(found: &serde_json::Value, rule: &str) -> (String, Vec<String>) {
    let alarms = found["alarms"].as_array().unwrap();
    let alarm = alarms.iter().find(|alarm| alarm["rule"] == rule).unwrap();
    let instances = alarm["instances"].as_array().unwrap().iter();
    let names = instances.map(|one| one["name"].as_str().unwrap().to_owned());
    (alarm["state"].as_str().unwrap().to_owned(), names.collect())
}

#[test]
fn smart_of_disks_is_recorded_and_raises_alarms_then_and_now() {
    let bench = Bench::new();
    let bin = stand_in(&bench);
    let args = [
        "record", "--for", "3s", "--every", "100ms", "--output", "a.frec",
    ];
    with_stand_in(&bench, &bin, args).expect_status(0);
    let calls = std::fs::read_to_string(bench.path().join("calls")).unwrap();
    let of_sda = calls.lines().filter(|call| call.ends_with(" /dev/sda"));
    // Once in ten minutes, and never a disk that sleeps.
    assert_eq!(of_sda.clone().count(), 1, "{calls}");
    assert!(
        of_sda.clone().all(|call| call.contains("-n standby")),
        "{calls}"
    );
    assert!(!calls.contains("/dev/nvme0"), "{calls}");

    let shown = bench.fathom(["record", "show", "a.frec"]).stdout;
    let line = shown
        .lines()
        .find(|line| line.starts_with("smart "))
        .unwrap();
    assert!(
        line.contains("sda") && line.contains("megaraid_disk_02"),
        "{line}"
    );
    assert!(!line.contains("sdf"), "{line}");

    let recorded = bench.fathom(["alarms", "a.frec", "--json"]);
    assert_eq!(recorded.status, Some(10), "{}", recorded.stderr);
    let live = with_stand_in(&bench, &bin, ["alarms", "--for", "200ms", "--json"]);
    let sda = ("firing".to_owned(), vec!["sda".to_owned()]);
    let behind = (
        "firing".to_owned(),
        vec!["bus/0 [megaraid_disk_02]".to_owned()],
    );
    for found in [recorded.json(), live.json()] {
        assert_eq!(state(&found, "drive-unreadable"), sda);
        assert_eq!(state(&found, "drive-reallocated"), sda);
        assert_eq!(state(&found, "drive-media-errors"), sda);
        assert_eq!(state(&found, "drive-worn"), behind);
        assert_eq!(state(&found, "drive-warning"), behind);
    }
    let (cable, _) = state(&recorded.json(), "drive-cable");
    assert_eq!(
        cable, "ok",
        "an old count says nothing of the cable of today"
    );
    let notes = live.json()["notes"].to_string();
    assert!(
        notes.contains("SMART of sdf: Device is in STANDBY mode"),
        "{notes}"
    );

    let table = bench.fathom(["use", "a.frec"]);
    table.expect_status(0);
    for part in [
        "unreadable 24",
        "replaced 1,288",
        "CRC 7",
        "worn 91 %",
        "! warns yes",
    ] {
        assert!(table.stdout.contains(part), "{part}:\n{}", table.stdout);
    }
}

#[test]
fn what_smartctl_wrote_is_judged_and_silence_is_told() {
    let bench = Bench::new();
    let file = |name: &str| fixture(name).to_str().unwrap().to_owned();
    let worn = bench.fathom(["alarms", &file("ata-ssd-worn")]);
    assert_eq!(worn.status, Some(10), "{}", worn.stderr);
    assert!(worn.stdout.contains("drive-worn"), "{}", worn.stdout);
    assert!(
        !worn.stdout.contains("drive-reallocated"),
        "{}",
        worn.stdout
    );
    let refused = bench.fathom(["alarms", &file("not-permitted")]);
    // Nothing is known of this drive, which is not good news.
    refused.expect_status(1);
    assert!(
        refused.stdout.contains("Permission denied"),
        "{}",
        refused.stdout
    );
}
