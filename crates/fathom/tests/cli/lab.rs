//! The laboratory end to end: fathom and other tools on drives whose truth is
//! known. What is asserted is held against the drive's own record of what it
//! did, never against the clock of a busy machine.

use std::os::unix::fs::FileTypeExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use fathom_lab::real::{Faults, FaultyFile, LoopDevice, or_skip, tool};
use fathom_lab::{Description, HistogramTruth, OperationTruth, Options, SimulatedDrive, Truth};
use serde_json::Value;

use crate::bench::{Bench, finish, is_root, op};
use crate::stolen::Stolen;

/// What is compared takes its turn: two generators on a small machine wait for
/// each other.
static TURN: Mutex<()> = Mutex::new(());

fn turn() -> MutexGuard<'static, ()> {
    TURN.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Mounts a drive below the bench, or says why not.
fn mount(bench: &Bench, model: &str) -> Option<SimulatedDrive> {
    let at = bench.path().join("mnt");
    or_skip(SimulatedDrive::mount(&Options::new(
        Description::new(model, 1),
        &at,
    )))
}

/// Measures the drive with fathom.
fn measure(bench: &Bench, drive: &SimulatedDrive, flags: &[&str]) -> Value {
    let path = drive.path().display().to_string();
    let mut args = vec!["io", path.as_str()];
    args.extend(flags);
    let (output, result) = bench.json(args);
    output.expect_measured();
    result
}

fn rate(result: &Value, unit: &str) -> f64 {
    let ops = op(result, 0, "read");
    ops[unit]["value"].as_f64().expect("a rate")
}

#[track_caller]
fn assert_near(measured: f64, truth: f64, share: f64, what: &str) {
    assert!(
        (measured / truth - 1.0).abs() <= share,
        "{what}: measured {measured}, in truth {truth}"
    );
}

/// Fathom counts what the drive did, but for the few reads with which it tried
/// the target before.
#[track_caller]
fn assert_counts(result: &Value, given: &OperationTruth) {
    let ops = op(result, 0, "read")["ops"].as_u64().unwrap();
    let bytes = op(result, 0, "read")["bytes"].as_u64().unwrap();
    assert!(
        (ops..ops + 4).contains(&given.ops),
        "{ops} of {}",
        given.ops
    );
    assert!(bytes <= given.bytes, "{bytes} of {}", given.bytes);
}

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
fn a_cap_is_measured_as_the_drive_gave_it() {
    let _turn = turn();
    let bench = Bench::new();
    let Some(drive) = mount(&bench, "cloud?iops=500,latency_us=2000,tail=0,size=64MiB") else {
        return;
    };
    let flags = ["--rw", "randread", "--bs", "4k", "--iodepth", "16"];
    let result = measure(
        &bench,
        &drive,
        &[&flags[..], &["--number-ios", "1500"]].concat(),
    );
    let truth = drive.unmount();
    let given = &truth.operations["read"];
    assert_counts(&result, given);
    assert_eq!(truth.in_flight_max, 16);
    let in_truth = truth.rate("read").unwrap();
    assert_near(rate(&result, "ops_per_second"), in_truth, 0.01, "IOPS");
    let cap = truth.drive.as_ref().unwrap()["expected"]["cap_iops"].as_f64();
    assert_eq!(cap, Some(500.0));
    assert!(in_truth <= 505.0, "never above the cap: {in_truth}");
}

#[test]
fn percentiles_are_measured_as_the_drive_gave_them() {
    let _turn = turn();
    let bench = Bench::new();
    let Some(drive) = mount(&bench, "ssd?read_us=8000,tail=0.5,size=64MiB") else {
        return;
    };
    let flags = ["--rw", "randread", "--bs", "4k", "--iodepth", "8"];
    let stolen = Stolen::from_now();
    let result = measure(
        &bench,
        &drive,
        &[&flags[..], &["--number-ios", "3000"]].concat(),
    );
    let stood_still = stolen.was_much();
    let truth = drive.unmount();
    let given = &truth.operations["read"];
    assert_near(
        rate(&result, "ops_per_second"),
        truth.rate("read").unwrap(),
        0.02,
        "IOPS",
    );
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
        if !stood_still {
            assert_near(found, in_truth, bound, &format!("p{share}"));
        }
    }
    // The drive spreads as its model says, within what 3000 draws allow.
    let spread = |of: &HistogramTruth| quantile(&of.buckets, 0.9) / quantile(&of.buckets, 0.5);
    assert_near(
        spread(&given.modelled),
        (0.5f64 * 1.2816).exp(),
        0.1,
        "p90/p50",
    );
}

#[test]
fn zones_of_a_hard_disk_are_measured_as_the_drive_gave_them() {
    let _turn = turn();
    let bench = Bench::new();
    let Some(drive) = mount(&bench, "hdd?outer_mibs=40,inner_mibs=20,size=256MiB") else {
        return;
    };
    let stolen = Stolen::from_now();
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
    assert_near(
        outer / inner,
        outer_given / inner_given,
        if stolen.was_much() { 0.15 } else { 0.03 },
        "outer over inner",
    );
    let truth = drive.unmount();
    for part in [0, 15] {
        assert!(
            truth.regions[part].read_bytes >= 16 << 20,
            "part {part} was read"
        );
    }
}

#[test]
fn fio_finds_the_same_truth() {
    let Some(fio) = tool::find("fio") else {
        println!("skipped: fio is not installed");
        return;
    };
    let _turn = turn();
    let bench = Bench::new();
    let Some(drive) = mount(&bench, "cloud?iops=400,latency_us=3000,tail=0.3,size=64MiB") else {
        return;
    };
    let stolen = Stolen::from_now();
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
    assert_near(
        read["iops"].as_f64().unwrap(),
        truth.rate("read").unwrap(),
        0.02,
        "IOPS",
    );
    let median = read["clat_ns"]["percentile"]["50.000000"].as_f64().unwrap();
    let in_truth = given.delivered.p50_ns.unwrap() as f64;
    // Fio does not say how long it waited for a processor itself.
    assert!(median >= 0.94 * in_truth, "p50: {median} of {in_truth}");
    if !stolen.was_much() {
        assert_near(median, in_truth, 0.06, "p50");
    }
}

#[test]
fn errors_and_a_hanging_operation_reach_the_tool() {
    let bench = Bench::new();
    let mut options = Options::new(
        Description::new(
            "ideal?latency_us=500,eio_every=25,stuck_at=90,size=64MiB",
            1,
        ),
        &bench.path().join("mnt"),
    );
    options.hang = Some(Duration::from_secs(3));
    let Some(drive) = or_skip(SimulatedDrive::mount(&options)) else {
        return;
    };
    let path = drive.path().display().to_string();
    let flags = ["--rw", "randread", "--bs", "4k", "--iodepth", "4"];
    let ends = [
        "--number-ios",
        "1000",
        "--on-error",
        "continue",
        "--deadline",
        "1s",
    ];
    let (output, result) = bench.json([&["io", path.as_str()], &flags[..], &ends].concat());
    assert!(!matches!(output.status, Some(0)), "{}", output.stdout);
    let truth = drive.unmount();
    let given = &truth.operations["read"];
    assert_eq!(given.stuck, 1);
    let stuck = result["trials"][0]["stuck"].as_array().unwrap();
    // What was in flight with it at the end is listed as well.
    let oldest = stuck.iter().filter_map(|op| op["age_ns"].as_u64()).max();
    assert!(
        oldest >= Some(1_000_000_000),
        "the hanging one is named: {stuck:?}"
    );
    let errors = op(&result, 0, "read")["errors"].as_array().unwrap();
    let counted: u64 = errors
        .iter()
        .filter_map(|error| error["count"].as_u64())
        .sum();
    // The hanging one fails as well, after fathom gave up on it.
    assert!(counted >= 3, "errors are counted: {errors:?}");
    assert!(
        counted <= given.errors[&5],
        "{counted} of {:?}",
        given.errors
    );
}

#[test]
fn an_independent_server_counts_the_same_operations() {
    let bench = Bench::new();
    let started = FaultyFile::start(bench.path(), 8 << 20, Faults::default());
    let Some(faulty) = or_skip(started) else {
        return;
    };
    let Some(device) = or_skip(LoopDevice::over(faulty.path(), None)) else {
        return;
    };
    let path = device.path().display().to_string();
    let (output, result) = bench.json([
        "io",
        &path,
        "--rw",
        "randread",
        "--bs",
        "4k",
        "--number-ios",
        "4000",
        "--iodepth",
        "4",
    ]);
    output.expect_measured();
    assert_eq!(op(&result, 0, "read")["ops"], 4000);
    drop(device);
    let counts = faulty.counts().unwrap();
    // Before it the kernel looks for partitions and fathom for what is on the
    // device, with some hundred reads of a page.
    assert!((4000..5000).contains(&counts["read"]), "{counts:?}");
}

/// What a call of `fathom lab drive … -- COMMAND` needs, or why it cannot be.
fn can_mount() -> bool {
    or_skip(tool::need_fuse()).is_some()
}

fn read_truth(path: &Path) -> Truth {
    let text = std::fs::read_to_string(path).expect("the truth was written");
    serde_json::from_str(&text).expect("it is JSON")
}

#[test]
fn a_command_runs_on_the_drive_and_its_status_is_passed_on() {
    if !can_mount() {
        return;
    }
    let bench = Bench::new();
    let script = "dd if=$0 of=/dev/null bs=64k count=3 status=none; exit 7";
    let output = bench.fathom([
        "lab",
        "drive",
        "ideal?latency_us=1000",
        "--size",
        "1MiB",
        "--truth",
        "truth.json",
        "--",
        "sh",
        "-c",
        script,
        "{}",
    ]);
    output.expect_status(7);
    output.expect_in_stderr("What the drive did");
    output.expect_in_stderr("The laboratory");
    let truth = read_truth(&bench.path().join("truth.json"));
    assert_eq!(truth.schema, "fathom.lab.truth/1");
    assert_eq!(truth.operations["read"].bytes, 3 * 65536);
    assert_eq!(truth.capacity_bytes, 1 << 20);
}

#[test]
fn a_drive_is_served_until_it_is_told_to_end_and_nothing_stays() {
    if !can_mount() {
        return;
    }
    let bench = Bench::new();
    std::fs::write(
        bench.path().join("drive.toml"),
        "model = \"hdd\"\nseed = 9\nsize = \"8MiB\"\n",
    )
    .unwrap();
    let mut command = bench.command(["lab", "drive", "--file", "drive.toml", "--at", "mnt"]);
    command.args(["--truth", "truth.json"]);
    if is_root() {
        command.arg("--loop");
    }
    let child = command.spawn().expect("fathom starts");
    let drive = bench.path().join("mnt/drive");
    while std::fs::metadata(&drive).is_err() {
        std::thread::sleep(Duration::from_millis(5));
    }
    let mut block = [0u8; 4096];
    let file = std::fs::File::open(&drive).expect("it opens");
    std::os::unix::fs::FileExt::read_exact_at(&file, &mut block, 0).expect("it is read");
    drop(file);
    let beside = read_truth(&bench.path().join("mnt/truth.json"));
    assert_eq!((beside.seed, beside.capacity_bytes), (9, 8 << 20));
    let pid = rustix::process::Pid::from_raw(child.id() as i32).unwrap();
    rustix::process::kill_process(pid, rustix::process::Signal::TERM).unwrap();
    let output = finish(child);
    output.expect_status(0);
    assert!(output.stdout.contains("truth.json"), "{}", output.stdout);
    assert!(!bench.path().join("mnt").exists(), "unmounted and removed");
    assert!(read_truth(&bench.path().join("truth.json")).operations["read"].ops >= 1);
    if let Some(device) = output
        .stdout
        .lines()
        .find_map(|l| l.trim().strip_prefix("/dev/loop"))
    {
        let backing = format!("/sys/block/loop{device}/loop/backing_file");
        let backing = std::fs::read_to_string(backing).unwrap_or_default();
        let mine = bench.path().display().to_string();
        assert!(!backing.contains(&mine), "the loop device is detached");
    }
}

#[test]
fn a_loop_device_makes_it_a_block_device() {
    if !can_mount() || or_skip(tool::need_root("a loop device")).is_none() {
        return;
    }
    let bench = Bench::new();
    let script = "test -b $0 && dd if=$0 of=/dev/null bs=4k count=8 iflag=direct status=none";
    let drive = ["lab", "drive", "ideal?latency_us=100,size=4MiB", "--loop"];
    let command = ["--", "sh", "-c", script, "{}"];
    let output = bench.fathom([&drive[..], &command].concat());
    output.expect_status(0);
    assert!(
        Path::new("/dev/loop-control")
            .metadata()
            .is_ok_and(|m| m.file_type().is_char_device())
    );
}

#[test]
fn what_does_not_exist_is_answered_with_what_does() {
    let bench = Bench::new();
    let wrong = bench.fathom(["lab", "drive", "hxd"]);
    wrong.expect_status(2).expect_in_stderr("hdd");
    bench.fathom(["lab", "drive"]).expect_status(2);
    std::fs::write(bench.data().join("precious"), b"x").unwrap();
    if can_mount() {
        let over = bench.fathom(["lab", "drive", "hdd", "--at", "data"]);
        over.expect_status(2).expect_in_stderr("not empty");
    }
    let models = bench.fathom(["lab", "models"]);
    models.expect_status(0);
    for model in ["ideal", "hdd", "ssd", "slc", "cloud", "rpm=7200"] {
        assert!(
            models.stdout.contains(model),
            "{model} is not in:\n{}",
            models.stdout
        );
    }
}
