//! Counts of our own recordings beside those of `iostat` on a device that nobody
//! else uses. All three watch before the load begins and after it has ended, so
//! that sums over the whole watch are of the same operations whenever each of
//! them looked.

use std::fs::OpenOptions;
use std::io::{Read, Seek, SeekFrom, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use fathom_diagnose::recording::DiskMoment;
use fathom_lab::real::{LoopDevice, or_skip, tool};
use serde_json::Value;

use crate::bench::Bench;

const DEVICE_BYTES: u64 = 64 << 20;
/// Long enough for the load, also where the machine stands still at times.
const WATCH_SECONDS: &str = "8";
const READS: u64 = 1_500;
const WRITES: u64 = 700;
/// Rounds in which the load may outlast the watch.
const ROUNDS: usize = 3;

/// What was done to a device, summed over the watch.
#[derive(Debug, Clone, Copy, Default)]
struct Sums {
    reads: f64,
    writes: f64,
    flushes: f64,
    read_kib: f64,
    write_kib: f64,
    /// Summed over operations.
    read_wait_ms: f64,
    write_wait_ms: f64,
    /// Operations in flight times seconds.
    queue_seconds: f64,
}

/// Waits for something; a minute at most.
fn wait_until(what: &str, mut so: impl FnMut() -> bool) {
    let start = Instant::now();
    while !so() {
        assert!(start.elapsed() < Duration::from_secs(60), "{what}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

fn iostat(flags: &[&str], device: &str, into: &Path) -> Child {
    let out = std::fs::File::create(into).unwrap();
    Command::new("iostat")
        .args(flags)
        .args(["-o", "JSON", WATCH_SECONDS, "2", device])
        .env("LC_ALL", "C")
        .stdout(Stdio::from(out))
        .spawn()
        .expect("iostat starts")
}

/// It has read its first counters: it has printed what they were since boot.
fn watches(into: &Path, device: &str) -> bool {
    let text = std::fs::read_to_string(into).unwrap_or_default();
    text.contains(&format!("\"disk_device\": \"{device}\""))
}

/// Direct reads, writes and flushes.
fn load(device: &Path) {
    const DIRECT: i32 = rustix::fs::OFlags::DIRECT.bits() as i32;
    let mut file = OpenOptions::new()
        .read(true)
        .write(true)
        .custom_flags(DIRECT)
        .open(device)
        .unwrap();
    let mut bytes = vec![0x5a_u8; 3 * 8192];
    let at = bytes.as_ptr().align_offset(8192);
    let buffer = &mut bytes[at..at + 8192];
    let place = |file: &mut std::fs::File, i: u64| {
        let offset = (i * 7_919 * 8192) % DEVICE_BYTES;
        file.seek(SeekFrom::Start(offset)).unwrap();
    };
    for i in 0..READS {
        place(&mut file, i);
        file.read_exact(&mut buffer[..4096]).unwrap();
    }
    for i in 0..WRITES {
        place(&mut file, i);
        file.write_all(buffer).unwrap();
        if i % 50 == 0 {
            file.sync_data().unwrap();
        }
    }
    file.sync_data().unwrap();
}

/// The second sample: the first one is of all time since boot.
fn sample(path: &Path, device: &str) -> Value {
    let text = std::fs::read_to_string(path).unwrap();
    let value: Value = serde_json::from_str(&text).unwrap_or_else(|e| panic!("{e}: {text}"));
    let samples = &value["sysstat"]["hosts"][0]["statistics"];
    let disks = samples[1]["disk"].as_array().unwrap();
    let found = disks.iter().find(|disk| disk["disk_device"] == device);
    found.unwrap_or_else(|| panic!("{text}")).clone()
}

/// From rates, whose interval iostat does not tell, and the kibibytes of the
/// same watch, which it does.
fn of_iostat(rates: &Value, totals: &Value) -> Sums {
    let rate = |key: &str| {
        rates[key]
            .as_f64()
            .unwrap_or_else(|| panic!("{key}: {rates}"))
    };
    let total = |key: &str| {
        totals[key]
            .as_f64()
            .unwrap_or_else(|| panic!("{key}: {totals}"))
    };
    let both = rate("rkB/s") + rate("wkB/s");
    let seconds = (total("kB_read") + total("kB_wrtn")) / both;
    let (reads, writes) = (rate("r/s") * seconds, rate("w/s") * seconds);
    Sums {
        reads,
        writes,
        flushes: rates["f/s"].as_f64().map_or(0.0, |f| f * seconds),
        read_kib: total("kB_read"),
        write_kib: total("kB_wrtn"),
        read_wait_ms: rate("r_await") * reads,
        write_wait_ms: rate("w_await") * writes,
        queue_seconds: rate("aqu-sz") * seconds,
    }
}

fn of_recording(path: &Path, device: &str) -> Sums {
    let recording = fathom_recorder::recording(path).unwrap();
    let mut sums = Sums::default();
    for moment in &recording.moments {
        let seconds = moment.seconds.unwrap();
        let disks = moment.disks.iter().filter(|disk| disk.name == device);
        for disk in disks {
            let DiskMoment { reads, writes, .. } = disk;
            sums.reads += reads * seconds;
            sums.writes += writes * seconds;
            sums.flushes += disk.flushes * seconds;
            sums.read_kib += disk.read_bytes / 1024.0 * seconds;
            sums.write_kib += disk.write_bytes / 1024.0 * seconds;
            sums.read_wait_ms += disk.read_wait_ms.unwrap_or(0.0) * reads * seconds;
            sums.write_wait_ms += disk.write_wait_ms.unwrap_or(0.0) * writes * seconds;
            sums.queue_seconds += disk.queue.unwrap_or(0.0) * seconds;
        }
    }
    sums
}

/// One watch of all three; nothing when the load outlasted one of them.
fn watched(bench: &Bench, round: usize, device: &Path, name: &str) -> Option<(Sums, Sums)> {
    let recording = bench.path().join(format!("{round}.frec"));
    let mut ours = bench
        .command(["record", "--every", "500ms", "--output"])
        .arg(&recording)
        .spawn()
        .unwrap();
    let size = || recording.metadata().map_or(0, |m| m.len());
    wait_until("the recorder writes nothing", || size() > 0);
    let first = size();
    wait_until("the recorder writes no second reading", || size() > first);
    let (rates, totals) = (bench.path().join("rates"), bench.path().join("totals"));
    let mut with_rates = iostat(&["-x", "-t"], name, &rates);
    let mut with_totals = iostat(&["-d", "-k"], name, &totals);
    wait_until("iostat prints nothing", || {
        watches(&rates, name) && watches(&totals, name)
    });
    load(device);
    let in_time =
        [&mut with_rates, &mut with_totals].map(|child| child.try_wait().unwrap().is_none());
    assert!(with_rates.wait().unwrap().success());
    assert!(with_totals.wait().unwrap().success());
    // All has long ended: two readings more see the last of it.
    let last = size();
    wait_until("the recorder stops writing", || size() > last);
    let last = size();
    wait_until("the recorder stops writing", || size() > last);
    let pid = rustix::process::Pid::from_child(&ours);
    rustix::process::kill_process(pid, rustix::process::Signal::TERM).unwrap();
    ours.wait().unwrap();
    (in_time == [true, true]).then(|| {
        (
            of_iostat(&sample(&rates, name), &sample(&totals, name)),
            of_recording(&recording, name),
        )
    })
}

#[test]
fn recordings_agree_with_iostat() {
    if or_skip(tool::need("iostat", "sysstat")).is_none() {
        return;
    }
    let bench = Bench::new();
    let file = bench.path().join("disk");
    std::fs::File::create(&file)
        .unwrap()
        .set_len(DEVICE_BYTES)
        .unwrap();
    let Some(device) = or_skip(LoopDevice::over(&file, None)) else {
        return;
    };
    let name = device.path().file_name().unwrap().to_str().unwrap();
    let mut rounds = (0..ROUNDS).filter_map(|i| watched(&bench, i, device.path(), name));
    let Some((theirs, ours)) = rounds.next() else {
        println!("skipped: the machine stands still: a load of 2,200 operations took over 8 s");
        return;
    };
    println!("iostat {theirs:?}\nfathom {ours:?}");
    assert!(ours.reads >= READS as f64 - 0.5 && ours.writes >= WRITES as f64 - 0.5);
    let within = |what: &str, ours: f64, theirs: f64, rounding: f64| {
        let most = 0.01 * theirs.abs() + rounding;
        assert!((ours - theirs).abs() <= most, "{what}: {ours} and {theirs}");
    };
    // iostat prints two digits of rates per second, of means and of the queue.
    let seconds = 8.0;
    within("reads", ours.reads, theirs.reads, 0.005 * seconds);
    within("writes", ours.writes, theirs.writes, 0.005 * seconds);
    within("flushes", ours.flushes, theirs.flushes, 0.005 * seconds);
    within("KiB read", ours.read_kib, theirs.read_kib, 1.0);
    within("KiB written", ours.write_kib, theirs.write_kib, 1.0);
    within(
        "wait of reads",
        ours.read_wait_ms,
        theirs.read_wait_ms,
        0.005 * theirs.reads,
    );
    within(
        "wait of writes",
        ours.write_wait_ms,
        theirs.write_wait_ms,
        0.005 * theirs.writes,
    );
    within(
        "queue",
        ours.queue_seconds,
        theirs.queue_seconds,
        0.005 * seconds,
    );
}
