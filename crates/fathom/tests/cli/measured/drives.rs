//! Simulated drives measured in real time, by fathom and by fio.

use std::path::Path;
use std::process::{Command, Stdio};

use fathom_lab::HistogramTruth;
use fathom_lab::real::tool;
use serde_json::Value;

use super::{expect_mostly, near};
use crate::bench::{Bench, op};
use crate::lab::{assert_counts, measure, mount, rate, turn};

/// The smallest value that a share of the counts does not exceed.
fn quantile(buckets: &[(u64, u64)], share: f64) -> f64 {
    let total: u64 = buckets.iter().map(|(_, count)| count).sum();
    let wanted = (total as f64 * share).ceil() as u64;
    let mut seen = 0;
    let found = buckets.iter().find(|(_, count)| {
        seen += count;
        seen >= wanted
    });
    found.map_or(f64::NAN, |(ns, _)| *ns as f64)
}

/// Latencies of all reads of the last run, from its stored histograms, and how
/// long its worker waited for a processor.
fn measured_latencies(bench: &Bench) -> (Vec<(u64, u64)>, u64) {
    let series = bench.fathom(["runs", "export", "latest"]).json();
    let samples = series["trials"][0]["samples"].as_array().unwrap();
    let waits = samples.iter().filter_map(|s| s["run_delay_ns"].as_u64());
    let waited_ns = waits.sum();
    let reads = samples
        .iter()
        .filter(|sample| sample["phase"] == "measure")
        .flat_map(|sample| sample["ops"].as_array().unwrap())
        .filter(|op| op["kind"] == "read");
    let mut buckets: Vec<(u64, u64)> = reads
        .flat_map(|op| op["service"]["buckets"].as_array().unwrap())
        .map(|bucket| {
            let part = |n: usize| bucket[n].as_u64().unwrap();
            (part(0).midpoint(part(1)), part(2))
        })
        .collect();
    buckets.sort_unstable();
    (buckets, waited_ns)
}

#[test]
#[ignore = "measured: `scripts/run-tests measured` runs it alone"]
fn percentiles_are_measured_as_the_drive_gave_them() {
    expect_mostly("percentiles of a drive", percentiles_of_a_drive);
}

fn percentiles_of_a_drive() -> Result<(), String> {
    let _turn = turn();
    let bench = Bench::new();
    let Some(drive) = mount(&bench, "ssd?read_us=8000,tail=0.5,size=64MiB") else {
        return Ok(());
    };
    let flags = ["--rw", "randread", "--bs", "4k", "--iodepth", "8"];
    let result = measure(
        &bench,
        &drive,
        &[&flags[..], &["--number-ios", "3000"]].concat(),
    );
    let truth = drive.unmount();
    let given = &truth.operations["read"];
    let iops = rate(&result, "ops_per_second");
    near("IOPS", iops, truth.rate("read").unwrap(), 0.02)?;
    let (measured, waited_ns) = measured_latencies(&bench);
    let count: u64 = measured.iter().map(|(_, count)| count).sum();
    assert_counts(&result, given);
    assert_eq!(
        op(&result, 0, "read")["ops"],
        count,
        "every operation has its latency"
    );
    // While the worker waits for a processor, up to all eight operations in
    // flight get older: that is in its figures and not in the drive's.
    let waited_per_op = 8.0 * waited_ns as f64 / count as f64;
    for share in [0.5, 0.99] {
        let in_truth = quantile(&given.delivered.buckets, share);
        let bound = 0.03 + waited_per_op / in_truth;
        let found = quantile(&measured, share);
        // A machine that stands still makes latencies longer, never shorter.
        assert!(found >= 0.97 * in_truth, "p{share}: {found} of {in_truth}");
        near(&format!("p{share}"), found, in_truth, bound)?;
    }
    // The drive spreads as its model says, within what 3000 draws allow.
    let spread = |of: &HistogramTruth| quantile(&of.buckets, 0.9) / quantile(&of.buckets, 0.5);
    let modelled = (0.5f64 * 1.2816).exp();
    near("p90/p50", spread(&given.modelled), modelled, 0.1)
}

#[test]
#[ignore = "measured: `scripts/run-tests measured` runs it alone"]
fn zones_of_a_hard_disk_are_measured_as_the_drive_gave_them() {
    expect_mostly("zones of a hard disk", zones_of_a_hard_disk);
}

fn zones_of_a_hard_disk() -> Result<(), String> {
    let _turn = turn();
    let bench = Bench::new();
    let Some(drive) = mount(&bench, "hdd?outer_mibs=40,inner_mibs=20,size=256MiB") else {
        return Ok(());
    };
    let mut spells_before = 0;
    let mut rates = |offset: &str| {
        let flags = ["--rw", "read", "--bs", "1m", "--iodepth", "1"];
        let place = ["--number-ios", "16", "--offset", offset];
        let result = measure(&bench, &drive, &[&flags[..], &place].concat());
        // The spells of this measurement, without the reads that tried the
        // target before it.
        let spells = drive.truth().spells.split_off(spells_before);
        spells_before += spells.len();
        let mut main = spells
            .iter()
            .skip_while(|spell| spell.replies < 4)
            .peekable();
        let from_ns = main.peek().expect("it was busy").from_ns;
        let reads: u64 = main.clone().map(|spell| spell.read_ops).sum();
        let to_ns = main.last().expect("it was busy").to_ns;
        let given = (reads << 20) as f64 * 1e9 / (to_ns - from_ns) as f64;
        (rate(&result, "bytes_per_second"), given)
    };
    let (outer, outer_given) = rates("0");
    let (inner, inner_given) = rates("240m");
    let truth = drive.unmount();
    for part in [0, 15] {
        assert!(
            truth.regions[part].read_bytes >= 16 << 20,
            "part {part} was read"
        );
    }
    let given = outer_given / inner_given;
    near("outer over inner", outer / inner, given, 0.03)
}

#[test]
#[ignore = "measured: `scripts/run-tests measured` runs it alone"]
fn fio_finds_the_same_truth() {
    let Some(fio) = tool::find("fio") else {
        println!("skipped: fio is not installed");
        return;
    };
    expect_mostly("fio on a drive", || fio_on_a_drive(&fio));
}

fn fio_on_a_drive(fio: &Path) -> Result<(), String> {
    let _turn = turn();
    let bench = Bench::new();
    let Some(drive) = mount(&bench, "cloud?iops=400,latency_us=3000,tail=0.3,size=64MiB") else {
        return Ok(());
    };
    let output = Command::new(fio)
        .args(["--name=x", "--direct=1", "--rw=randread", "--bs=4k"])
        .args(["--ioengine=libaio", "--iodepth=8", "--number_ios=800"])
        .args(["--norandommap", "--io_size=1g", "--output-format=json"])
        .arg(format!("--filename={}", drive.path().display()))
        .stdin(Stdio::null())
        .output()
        .expect("fio runs");
    let said = String::from_utf8_lossy(&output.stdout);
    let result: Value =
        serde_json::from_str(&said).unwrap_or_else(|error| panic!("{error}: {said}"));
    let truth = drive.unmount();
    let read = &result["jobs"][0]["read"];
    let given = &truth.operations["read"];
    assert_eq!(read["total_ios"], given.ops);
    let iops = read["iops"].as_f64().unwrap();
    near("IOPS", iops, truth.rate("read").unwrap(), 0.02)?;
    let median = read["clat_ns"]["percentile"]["50.000000"].as_f64().unwrap();
    let in_truth = given.delivered.p50_ns.unwrap() as f64;
    // Fio does not say how long it waited for a processor itself.
    assert!(median >= 0.94 * in_truth, "p50: {median} of {in_truth}");
    near("p50", median, in_truth, 0.06)
}
