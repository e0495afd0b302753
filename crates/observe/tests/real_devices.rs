//! Counters and data states of real loop devices on this machine, against I/O
//! of known size. Needs root and loop devices; says so when it has to skip.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::fs::{File, OpenOptions};
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use fathom_observe::{
    Observer, Sysroot, data_state, drop_page_cache, monotonic_ns, target_fingerprint,
};

const DEVICE_BYTES: u64 = 64 << 20;
const BLOCK_BYTES: usize = 64 << 10;
const BLOCKS: u64 = 128;

/// A loop device on a file of its own; detached when dropped.
struct LoopDevice {
    path: PathBuf,
    _backing: tempfile::NamedTempFile,
}

impl LoopDevice {
    fn attach(folder: &str) -> Option<Self> {
        let backing = tempfile::NamedTempFile::new_in(folder).ok()?;
        backing.as_file().set_len(DEVICE_BYTES).ok()?;
        let path = run(
            "losetup",
            &["-f", "--show", "--direct-io=on", backing.path().to_str()?],
        )?;
        Some(LoopDevice {
            path: PathBuf::from(path.trim()),
            _backing: backing,
        })
    }

    fn name(&self) -> &str {
        self.path.file_name().unwrap().to_str().unwrap()
    }
}

impl Drop for LoopDevice {
    fn drop(&mut self) {
        run("losetup", &["-d", self.path.to_str().unwrap()]);
    }
}

/// What a command printed; `None` when it failed or is not there.
fn run(command: &str, arguments: &[&str]) -> Option<String> {
    let output = Command::new(command).args(arguments).output().ok()?;
    output
        .status
        .success()
        .then(|| String::from_utf8_lossy(&output.stdout).into_owned())
}

fn open_direct(path: &Path) -> File {
    let mut options = OpenOptions::new();
    options.read(true).write(true).custom_flags(libc::O_DIRECT);
    options.open(path).unwrap()
}

/// Block-aligned memory within `memory`.
fn aligned(memory: &mut [u8]) -> &mut [u8] {
    let start = memory.as_ptr().align_offset(BLOCK_BYTES);
    &mut memory[start..start + BLOCK_BYTES]
}

fn write_blocks(file: &File, first: u64, byte: u8) {
    let mut memory = vec![0; BLOCK_BYTES * 2];
    let block = aligned(&mut memory);
    block.fill(byte);
    for index in first..first + BLOCKS {
        file.write_all_at(block, index * BLOCK_BYTES as u64)
            .unwrap();
    }
}

fn read_blocks(file: &File, first: u64) {
    let mut memory = vec![0; BLOCK_BYTES * 2];
    let block = aligned(&mut memory);
    for index in first..first + BLOCKS {
        file.read_exact_at(block, index * BLOCK_BYTES as u64)
            .unwrap();
    }
}

#[test]
fn counters_agree_with_direct_writes_and_reads() {
    let Some(device) = LoopDevice::attach("/var/tmp") else {
        println!("skipped: no loop device can be attached (not root?)");
        return;
    };
    let sys = Sysroot::host();
    let target = target_fingerprint(&sys, &device.path);
    assert_eq!(target.devices[0].name, device.name());
    assert_eq!(target.devices[0].kind, "loop");
    assert_eq!(target.devices[0].size_bytes, DEVICE_BYTES);
    assert!(target.filesystem.is_none());
    let file = open_direct(&device.path);
    let mut observer = Observer::new(&sys, &target);
    let origin = monotonic_ns();
    observer.sample(None);

    write_blocks(&file, 0, 7);
    let observation = observer.sample(Some(origin));
    let expected = BLOCKS * BLOCK_BYTES as u64;
    let activity = &observation.devices[0];
    assert_eq!(activity.write_bytes, expected);
    assert!(activity.writes > 0 && activity.write_time_ns < 600_000_000_000);
    assert!(observation.start_ns >= 0 && observation.duration_ns > 0);

    read_blocks(&file, 0);
    let activity = observer.sample(Some(origin)).devices.swap_remove(0);
    assert!(activity.read_bytes >= expected, "{}", activity.read_bytes);
    assert_eq!(activity.write_bytes, 0);
    assert_eq!(observer.sample(Some(origin)).devices[0].in_flight, 0);
    println!("busy: {:?}", observer.busy(Duration::from_millis(50)));

    // The loop device counts only where nothing below it does.
    let lower = target.devices.len() > 1;
    assert_eq!(activity.leaf, !lower);
    if lower {
        assert_eq!(target.devices[0].below, [target.devices[1].name.clone()]);
    }
}

#[test]
fn a_loop_device_in_memory_is_its_own_leaf() {
    let Some(device) = LoopDevice::attach("/dev/shm") else {
        println!("skipped: no loop device can be attached in /dev/shm");
        return;
    };
    let sys = Sysroot::host();
    let target = target_fingerprint(&sys, &device.path);
    assert_eq!(target.devices.len(), 1);
    assert!(target.devices[0].facts["backing_file"].starts_with("/dev/shm/"));
    let mut observer = Observer::new(&sys, &target);
    assert_eq!(observer.leaves().collect::<Vec<_>>(), [device.name()]);
    write_blocks(&open_direct(&device.path), 0, 9);
    let activity = observer.sample(None).devices.swap_remove(0);
    assert_eq!(
        (activity.leaf, activity.write_bytes),
        (true, BLOCKS * BLOCK_BYTES as u64)
    );
}

#[test]
fn blocks_of_zeros_and_cached_blocks_of_a_device_are_found() {
    let Some(device) = LoopDevice::attach("/var/tmp") else {
        println!("skipped: no loop device can be attached (not root?)");
        return;
    };
    let paths = [device.path.clone()];
    write_blocks(&open_direct(&device.path), 0, 7);
    let written = BLOCKS * BLOCK_BYTES as u64;
    let state = data_state(&paths, Some(0..written));
    assert_eq!(
        state.unwritten_share,
        Some(0.0),
        "{}",
        state.unwritten_method
    );
    let share = data_state(&paths, Some(0..4 * written))
        .unwritten_share
        .unwrap();
    assert!((share - 0.75).abs() < 0.01, "{share}");

    let mut buffered = File::open(&device.path).unwrap();
    std::io::copy(
        &mut std::io::Read::take(&mut buffered, written),
        &mut std::io::sink(),
    )
    .unwrap();
    let cached = data_state(&paths, Some(0..written)).cached_share.unwrap();
    assert!(cached > 0.99, "{cached}");
    let report = drop_page_cache(&paths, false);
    assert_eq!((report.files, report.failures.len()), (1, 0));
    let left = report.left_share.unwrap();
    assert!(left < 0.01, "{left}");
}

/// A mounted file system; unmounted when dropped.
struct MountedAt(tempfile::TempDir);

impl Drop for MountedAt {
    fn drop(&mut self) {
        run("umount", &[self.0.path().to_str().unwrap()]);
    }
}

#[test]
fn a_file_system_on_a_loop_device_leads_down_to_the_disk() {
    let Some(device) = LoopDevice::attach("/var/tmp") else {
        println!("skipped: no loop device can be attached (not root?)");
        return;
    };
    let path = device.path.to_str().unwrap();
    let folder = tempfile::tempdir().unwrap();
    let place = folder.path().to_str().unwrap().to_owned();
    let made = run("mkfs.ext4", &["-q", path]).and_then(|_| run("mount", &[path, &place]));
    if made.is_none() {
        println!("skipped: no ext4 can be made and mounted");
        return;
    }
    let mounted = MountedAt(folder);
    let target = target_fingerprint(&Sysroot::host(), &mounted.0.path().join("not/yet/made"));
    let filesystem = target.filesystem.unwrap();
    assert_eq!(
        (filesystem.kind.as_str(), filesystem.source.as_str()),
        ("ext4", path)
    );
    assert_eq!(
        Path::new(&filesystem.mount_point),
        mounted.0.path().canonicalize().unwrap()
    );
    assert!(filesystem.total_bytes > DEVICE_BYTES / 2 && !filesystem.virtual_kind);
    assert_eq!(target.devices[0].name, device.name());
}
