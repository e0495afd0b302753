//! Each component does what it is for, and leaves nothing behind.

use std::fs::{self, File};
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::time::{Duration, Instant};

use super::{
    Behind, Disturber, Faults, FaultyFile, FileSystem, LimitedFile, Limits, LoopDevice, Throttle,
    or_skip,
};

fn mounts_below(folder: &Path) -> usize {
    let mounts = fs::read_to_string("/proc/self/mounts").expect("mounts");
    let folder = folder.display().to_string();
    mounts.lines().filter(|line| line.contains(&folder)).count()
}

fn wait_until(true_now: impl Fn() -> bool) {
    while !true_now() {
        std::thread::sleep(Duration::from_millis(1));
    }
}

#[test]
fn a_limited_file_keeps_its_limit_and_changes_it_under_way() {
    let folder = tempfile::tempdir().expect("a folder");
    let limits = |iops| Limits {
        iops: Some(iops),
        ..Limits::default()
    };
    let started = LimitedFile::start(folder.path(), 16 << 20, Behind::File, limits(100));
    let Some(limited) = or_skip(started) else {
        return;
    };
    let reader = Disturber::reading(limited.path(), 4096).expect("it opens");
    // Lower bounds only: a busy machine makes it slower, never faster.
    let start = Instant::now();
    wait_until(|| reader.done() >= 40);
    let slow = start.elapsed();
    assert!(
        slow >= Duration::from_millis(200),
        "40 at 100/s took {slow:?}"
    );
    limited.set_limits(Limits::default()).expect("changed");
    let before = reader.done();
    wait_until(|| reader.done() >= before + 100);
    drop(reader);
    drop(limited);
    assert_eq!(mounts_below(folder.path()), 0);
}

#[test]
fn a_faulty_file_delays_fails_and_counts() {
    let folder = tempfile::tempdir().expect("a folder");
    let faults = Faults {
        read_delay: Duration::from_millis(20),
        ..Faults::default()
    };
    let Some(faulty) = or_skip(FaultyFile::start(folder.path(), 1 << 20, faults)) else {
        return;
    };
    let file = File::open(faulty.path()).expect("it opens");
    let start = Instant::now();
    file.read_exact_at(&mut [0; 4096], 0).expect("read");
    assert!(start.elapsed() >= Duration::from_millis(20));
    faulty.fail(true).expect("set");
    let error = file
        .read_at(&mut [0; 4096], 512 << 10)
        .expect_err("an error");
    assert_eq!(error.raw_os_error(), Some(libc::EIO));
    faulty.fail(false).expect("unset");
    file.read_exact_at(&mut [0; 4096], 768 << 10).expect("read");
    drop(file);
    let counts = faulty.counts().expect("counted");
    assert!(counts["read"] >= 2, "{counts:?}");
    assert_eq!(mounts_below(folder.path()), 0);
}

#[test]
fn a_throttle_holds_a_program_back() {
    let folder = tempfile::tempdir().expect("a folder");
    let image = folder.path().join("image");
    fs::write(&image, vec![1; 4 << 20]).expect("an image");
    let Some(device) = or_skip(LoopDevice::over(&image, None)) else {
        return;
    };
    let number = device.number().expect("its number");
    let Some(throttle) = or_skip(Throttle::iops(&number, 50)) else {
        return;
    };
    let start = Instant::now();
    let status = throttle
        .command(Path::new("dd"))
        .arg(format!("if={}", device.path().display()))
        .args([
            "of=/dev/null",
            "bs=4k",
            "count=20",
            "iflag=direct",
            "status=none",
        ])
        .status();
    assert!(status.expect("dd runs").success());
    assert!(
        start.elapsed() >= Duration::from_millis(200),
        "{:?}",
        start.elapsed()
    );
}

#[test]
fn file_systems_are_what_they_are_called_and_vanish() {
    let folder = tempfile::tempdir().expect("a folder");
    let Some(memory) = or_skip(FileSystem::in_memory(folder.path(), 8 << 20)) else {
        return;
    };
    assert!(memory.free_bytes().expect("free") <= 8 << 20);
    if let Some(full) = or_skip(FileSystem::nearly_full(folder.path(), 64 << 20, 4 << 20)) {
        let free = full.free_bytes().expect("free");
        assert!((2 << 20..6 << 20).contains(&free), "{free}");
    }
    if let Some(compressing) = or_skip(FileSystem::compressing(folder.path(), 128 << 20)) {
        fs::write(compressing.path().join("x"), vec![b'x'; 1 << 20]).expect("written");
    }
    drop(memory);
    assert_eq!(mounts_below(folder.path()), 0);
}

#[test]
fn disturbers_disturb_until_they_are_dropped() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("data");
    fs::write(&path, vec![1; 1 << 20]).expect("data");
    let reader = Disturber::reading(&path, 64 << 10).expect("it opens");
    let hog = or_skip(Disturber::on_core(0, 1));
    wait_until(|| reader.done() >= 20 && hog.as_ref().is_none_or(|hog| hog.done() >= 2));
}
