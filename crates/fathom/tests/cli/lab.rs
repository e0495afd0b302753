//! The laboratory end to end: fathom and other tools on drives whose truth is
//! known. What is asserted is held against the drive's own record of what it
//! did, never against the clock of a busy machine.

use std::os::unix::fs::FileTypeExt;
use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use fathom_lab::real::{Faults, FaultyFile, LoopDevice, or_skip, tool};
use fathom_lab::{Description, OperationTruth, Options, SimulatedDrive, Truth};
use serde_json::Value;

use crate::bench::{Bench, finish, is_root, op};

/// What is compared takes its turn: two generators on a small machine wait for
/// each other.
static TURN: Mutex<()> = Mutex::new(());

pub(crate) fn turn() -> MutexGuard<'static, ()> {
    TURN.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Mounts a drive below the bench, or says why not.
pub(crate) fn mount(bench: &Bench, model: &str) -> Option<SimulatedDrive> {
    let at = bench.path().join("mnt");
    or_skip(SimulatedDrive::mount(&Options::new(
        Description::new(model, 1),
        &at,
    )))
}

/// Measures the drive with fathom.
pub(crate) fn measure(bench: &Bench, drive: &SimulatedDrive, flags: &[&str]) -> Value {
    let path = drive.path().display().to_string();
    let mut args = vec!["io", path.as_str()];
    args.extend(flags);
    let (output, result) = bench.json(args);
    output.expect_measured();
    result
}

pub(crate) fn rate(result: &Value, unit: &str) -> f64 {
    let ops = op(result, 0, "read");
    ops[unit]["value"].as_f64().expect("a rate")
}

#[track_caller]
pub(crate) fn assert_near(measured: f64, truth: f64, share: f64, what: &str) {
    assert!(
        (measured / truth - 1.0).abs() <= share,
        "{what}: measured {measured}, in truth {truth}"
    );
}

/// Fathom counts what the drive did, but for the few reads with which it tried
/// the target before.
#[track_caller]
pub(crate) fn assert_counts(result: &Value, given: &OperationTruth) {
    let ops = op(result, 0, "read")["ops"].as_u64().unwrap();
    let bytes = op(result, 0, "read")["bytes"].as_u64().unwrap();
    assert!(
        (ops..ops + 4).contains(&given.ops),
        "{ops} of {}",
        given.ops
    );
    assert!(bytes <= given.bytes, "{bytes} of {}", given.bytes);
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

/// What a call of `fathom-lab drive … -- COMMAND` needs, or why it cannot be.
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
    let output = bench.lab([
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
    let mut command = bench.lab_command(["drive", "--file", "drive.toml", "--at", "mnt"]);
    command.args(["--truth", "truth.json"]);
    if is_root() {
        command.arg("--loop");
    }
    let child = command.spawn().expect("fathom-lab starts");
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
    let drive = ["drive", "ideal?latency_us=100,size=4MiB", "--loop"];
    let command = ["--", "sh", "-c", script, "{}"];
    let output = bench.lab([&drive[..], &command].concat());
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
    let wrong = bench.lab(["drive", "hxd"]);
    wrong.expect_status(2).expect_in_stderr("hdd");
    bench.lab(["drive"]).expect_status(2);
    std::fs::write(bench.data().join("precious"), b"x").unwrap();
    if can_mount() {
        let over = bench.lab(["drive", "hdd", "--at", "data"]);
        over.expect_status(2).expect_in_stderr("not empty");
    }
    let models = bench.lab(["models"]);
    models.expect_status(0);
    for model in ["ideal", "hdd", "ssd", "slc", "cloud", "rpm=7200"] {
        assert!(
            models.stdout.contains(model),
            "{model} is not in:\n{}",
            models.stdout
        );
    }
}
