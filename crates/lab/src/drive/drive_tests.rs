//! A mounted drive, used as a program uses it.

use std::fs::{File, OpenOptions};
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::time::Duration;

use rustix::fs::{FallocateFlags, fallocate};

use super::{Options, SimulatedDrive, Storing};
use crate::real::or_skip;
use crate::{Description, Error};

fn options(folder: &Path, model: &str) -> Options {
    Options::new(Description::new(model, 1), &folder.join("mnt"))
}

fn mount(folder: &Path, model: &str) -> Option<SimulatedDrive> {
    or_skip(SimulatedDrive::mount(&options(folder, model)))
}

fn open(drive: &SimulatedDrive) -> File {
    let file = OpenOptions::new().read(true).write(true).open(drive.path());
    file.expect("the drive opens")
}

/// The truth, once it tells of `replies`: each is noted shortly after it was sent.
fn truth_after(drive: &SimulatedDrive, replies: u64) -> crate::Truth {
    for _ in 0..1000 {
        let text = std::fs::read_to_string(drive.truth_path()).expect("the truth is readable");
        let truth: crate::Truth = serde_json::from_str(&text).expect("it is JSON");
        if truth.laboratory.replies >= replies {
            return truth;
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    panic!("the truth never told of {replies} replies");
}

#[test]
fn what_is_written_is_read_and_all_of_it_is_in_the_truth() {
    let folder = tempfile::tempdir().expect("a folder");
    let Some(drive) = mount(folder.path(), "ideal?latency_us=1000,size=64MiB") else {
        return;
    };
    let file = open(&drive);
    assert_eq!(file.metadata().expect("metadata").len(), 64 << 20);
    let block = [0xA5u8; 4096];
    file.write_all_at(&block, 8192).expect("written");
    file.sync_data().expect("synced");
    let mut back = [0u8; 12288];
    file.read_exact_at(&mut back, 4096).expect("read");
    assert_eq!(&back[4096..8192], &block);
    assert_eq!((back[0], back[12287]), (0, 0));
    let punch = FallocateFlags::PUNCH_HOLE | FallocateFlags::KEEP_SIZE;
    fallocate(&file, punch, 8192, 4096).expect("trimmed");
    file.read_exact_at(&mut back, 4096).expect("read");
    assert_eq!(back, [0; 12288]);

    let while_mounted = truth_after(&drive, 5);
    drop(file);
    let at = drive.path();
    let truth = drive.unmount();
    assert_eq!(truth.operations, while_mounted.operations);
    assert!(!at.exists(), "unmounted");
    assert!(
        !folder.path().join("mnt").exists(),
        "the folder that was made is removed"
    );
    let of = |kind: &str| &truth.operations[kind];
    assert_eq!((of("write").ops, of("write").bytes), (1, 4096));
    assert_eq!((of("read").ops, of("read").bytes), (2, 24576));
    assert_eq!((of("trim").ops, of("trim").bytes), (1, 4096));
    assert_eq!(of("sync").ops, 1);
    assert_eq!(of("read").modelled.p50_ns.map(|ns| ns / 10_000), Some(100));
    assert_eq!(truth.laboratory.replies, 5);
    // An answer leaves earlier by what its way usually takes, which may be more than this one took.
    let earliest_ns = 990_000_u64.saturating_sub(truth.laboratory.path.base_ns);
    assert!(
        of("read").delivered.min_ns >= Some(earliest_ns),
        "{truth:?}"
    );
}

#[test]
fn the_size_is_fixed_as_that_of_a_device() {
    let folder = tempfile::tempdir().expect("a folder");
    let Some(drive) = mount(folder.path(), "ideal?latency_us=100,size=1MiB") else {
        return;
    };
    let truncated = OpenOptions::new()
        .write(true)
        .truncate(true)
        .open(drive.path());
    let file = truncated.expect("truncation on opening is ignored");
    assert_eq!(file.metadata().expect("metadata").len(), 1 << 20);
    assert!(file.set_len(5 << 20).is_err());
    let error = file.write_at(b"x", 1 << 20).expect_err("the end");
    assert_eq!(error.raw_os_error(), Some(libc::ENOSPC));
    assert_eq!(
        file.write_at(&[1; 8192], (1 << 20) - 4096)
            .expect("the last block"),
        4096
    );
    assert!(std::fs::write(folder.path().join("mnt/other"), b"x").is_err());
    assert!(std::fs::remove_file(drive.path()).is_err());
}

#[test]
fn errors_and_hanging_operations_reach_the_program() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut options = options(
        folder.path(),
        "ideal?latency_us=100,size=1MiB,eio_at=2,stuck_at=3",
    );
    options.hang = Some(Duration::from_millis(50));
    let Some(drive) = or_skip(SimulatedDrive::mount(&options)) else {
        return;
    };
    let file = open(&drive);
    let mut block = [0u8; 4096];
    file.read_exact_at(&mut block, 0)
        .expect("the first is fine");
    for _ in 0..2 {
        let error = file.read_exact_at(&mut block, 0).expect_err("an error");
        assert_eq!(error.raw_os_error(), Some(libc::EIO));
    }
    drop(file);
    let truth = drive.unmount();
    let reads = &truth.operations["read"];
    assert_eq!(
        (reads.ops, reads.stuck, reads.errors[&libc::EIO]),
        (1, 1, 2)
    );
    assert_eq!(
        truth.laboratory.replies, 2,
        "a hanging operation is not a promise"
    );
}

#[test]
fn unmounting_frees_a_program_that_hangs() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut options = options(folder.path(), "ideal?latency_us=100,size=1MiB,stuck_at=1");
    options.hang = None;
    let Some(drive) = or_skip(SimulatedDrive::mount(&options)) else {
        return;
    };
    let file = open(&drive);
    let reader = std::thread::spawn(move || file.read_at(&mut [0; 512], 0));
    while drive
        .truth()
        .operations
        .get("read")
        .is_none_or(|reads| reads.stuck == 0)
    {
        std::thread::sleep(Duration::from_millis(1));
    }
    drive.unmount();
    let error = reader.join().expect("no panic").expect_err("it is gone");
    assert_eq!(error.raw_os_error(), Some(libc::EIO));
}

#[test]
fn operations_in_flight_overlap() {
    let folder = tempfile::tempdir().expect("a folder");
    let Some(drive) = mount(
        folder.path(),
        "ideal?latency_us=200000,parallel=64,size=1MiB",
    ) else {
        return;
    };
    let file = open(&drive);
    std::thread::scope(|scope| {
        for n in 0..32u64 {
            let file = &file;
            scope.spawn(move || file.read_at(&mut [0; 4096], n * 4096).expect("read"));
        }
    });
    let truth = drive.truth();
    assert_eq!(truth.operations["read"].ops, 32);
    // Not all 32: a busy machine may start the last ones late.
    assert!(truth.in_flight_max >= 4, "{}", truth.in_flight_max);
}

#[test]
fn a_drive_without_storage_says_so() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut options = options(folder.path(), "ideal?latency_us=100,size=8TiB");
    options.storing = Storing::Discard;
    let Some(drive) = or_skip(SimulatedDrive::mount(&options)) else {
        return;
    };
    let file = open(&drive);
    file.write_all_at(&[1; 4096], 7 << 40).expect("written");
    let mut back = [1; 4096];
    file.read_exact_at(&mut back, 7 << 40).expect("read");
    assert_eq!(back, [0; 4096]);
    assert!(!drive.truth().stores_data);
}

#[test]
fn what_cannot_be_mounted_is_refused_with_the_reason() {
    let folder = tempfile::tempdir().expect("a folder");
    let failed = |model: &str| match SimulatedDrive::mount(&options(folder.path(), model)) {
        Ok(_) => panic!("{model} was mounted"),
        Err(error) => error,
    };
    assert!(matches!(failed("hxx"), Error::Description(text) if text.contains("hdd")));
    assert!(matches!(failed("hdd?rpn=1"), Error::Description(text) if text.contains("rpm")));
    assert!(!folder.path().join("mnt").exists());
    std::fs::create_dir(folder.path().join("mnt")).expect("a folder");
    std::fs::write(folder.path().join("mnt/precious"), b"x").expect("a file");
    if crate::real::tool::need_fuse().is_ok() {
        let error = failed("hdd").to_string();
        assert!(error.contains("not empty"), "{error}");
    }
}
