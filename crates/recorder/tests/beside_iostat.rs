//! The counters of this host as iostat shows them, read between two of our own
//! readings: iostat's must lie between ours, for every device.

// A test panics where it must, and prints why it was skipped.
#![allow(clippy::unwrap_used, clippy::print_stdout)]

use std::process::Command;

use fathom_observe::Sysroot;
use fathom_recorder::kind::{Kind, disk};
use fathom_recorder::{Frame, Instant, Sampler};

fn of(frame: &Frame, name: &str, place: usize) -> Option<u64> {
    let row = frame.of(Kind::Disk).find(|row| &*row.name == name)?;
    row.value(place)
}

#[test]
fn bytes_since_start_lie_between_two_readings() {
    let mut sampler = Sampler::new(&Sysroot::host());
    let before = sampler.sample(Instant::now());
    let output = Command::new("iostat")
        .args(["-d", "-k", "-o", "JSON"])
        .env("LC_ALL", "C")
        .output();
    let after = sampler.sample(Instant::now());
    let Some(output) = output.ok().filter(|output| output.status.success()) else {
        println!("skipped: iostat is not installed, or too old for JSON");
        return;
    };
    let value: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let disks = value.pointer("/sysstat/hosts/0/statistics/0/disk");
    let mut compared = 0;
    for shown in disks.and_then(|d| d.as_array()).into_iter().flatten() {
        let name = shown["disk_device"].as_str().unwrap();
        for (key, place) in [
            ("kB_read", disk::READ_BYTES),
            ("kB_wrtn", disk::WRITE_BYTES),
        ] {
            let (Some(kib), Some(first), Some(last)) = (
                shown[key].as_u64(),
                of(&before, name, place),
                of(&after, name, place),
            ) else {
                continue;
            };
            // iostat leaves out what is no whole kB.
            assert!(
                first / 1024 <= kib && kib <= last / 1024,
                "{name} {key}: {first} {kib} {last}"
            );
            compared += 1;
        }
    }
    if compared == 0 {
        println!("skipped: no device of this host was used");
    }
}
