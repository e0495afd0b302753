//! Frames of machines that were recorded: old and new kernels, LVM, RAID,
//! bcache, multipath, containers.

// A test panics where it must.
#![allow(clippy::unwrap_used)]

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use fathom_observe::Sysroot;
use fathom_recorder::kind::{Kind, cpu, disk, pressure};
use fathom_recorder::{Frame, Instant, Moments, Sampler};

/// Lays a recorded machine out: `== PATH` begins a file, `== PATH -> TARGET` is
/// a link.
fn lay_out(name: &str) -> tempfile::TempDir {
    let file = format!("../observe/tests/fixtures/{name}.rec");
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(file);
    let text = format!("\n{}", fs::read_to_string(path).unwrap());
    let folder = tempfile::tempdir().unwrap();
    for entry in text.split("\n== ").skip(1) {
        let (head, content) = entry.split_once('\n').unwrap_or((entry, ""));
        let (head, target) = match head.split_once(" -> ") {
            Some((head, target)) => (head, Some(target)),
            None => (head, None),
        };
        let path = folder.path().join(head.trim_start_matches('/'));
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        match target {
            Some(target) => symlink(target, path).unwrap(),
            None => fs::write(path, content).unwrap(),
        }
    }
    folder
}

fn at(second: u64) -> Instant {
    Instant {
        unix_ms: 1_795_275_930_000 + second as i64 * 1000,
        monotonic_ns: second * 1_000_000_000,
    }
}

fn frame(folder: &tempfile::TempDir) -> Frame {
    Sampler::new(&Sysroot::at(folder.path())).sample(at(1))
}

fn names(frame: &Frame, kind: Kind) -> Vec<&str> {
    frame.of(kind).map(|row| &*row.name).collect()
}

#[test]
fn linux_3_10_has_no_pressure_no_discards_and_no_flushes() {
    let folder = lay_out("centos7-lvm");
    let frame = frame(&folder);
    let disks = names(&frame, Kind::Disk);
    assert!(
        disks.contains(&"sda") && disks.contains(&"cciss/c0d0"),
        "{disks:?}"
    );
    assert!(disks.contains(&"dm-0"), "{disks:?}");
    assert!(
        !disks
            .iter()
            .any(|name| *name == "sda1" || *name == "cciss/c0d0p1"),
        "{disks:?}"
    );
    let sda = frame.of(Kind::Disk).next().unwrap();
    assert!(sda.value(disk::READS).unwrap() > 0);
    assert_eq!(
        (sda.value(disk::DISCARDS), sda.value(disk::FLUSHES)),
        (None, None)
    );
    assert_eq!(frame.of(Kind::Pressure).count(), 0);
    assert_eq!(names(&frame, Kind::Cpu), ["all", "0", "1"]);
}

#[test]
fn newer_kernels_tell_flushes_steal_and_pressure() {
    for machine in ["vm-virtio", "md-loop-btrfs", "bcache-nvme"] {
        let folder = lay_out(machine);
        let frame = frame(&folder);
        let disks: Vec<_> = frame.of(Kind::Disk).collect();
        assert!(!disks.is_empty(), "{machine}");
        for row in disks {
            assert!(row.value(disk::FLUSHES).is_some(), "{machine} {}", row.name);
            assert!(!row.name.starts_with("zram"), "{machine} {}", row.name);
        }
        let stalls = frame.of(Kind::Pressure).next().unwrap();
        assert!(stalls.value(pressure::IO_SOME).unwrap() > 0, "{machine}");
        let all = frame.of(Kind::Cpu).next().unwrap();
        assert!(all.value(cpu::IDLE).unwrap() > 0, "{machine}");
    }
    let folder = lay_out("vm-virtio");
    assert_eq!(
        frame(&folder)
            .of(Kind::Cpu)
            .next()
            .unwrap()
            .value(cpu::STEAL),
        Some(997)
    );
}

#[test]
fn every_machine_is_recorded_and_becomes_a_moment() {
    let machines = [
        "bcache-nvme",
        "centos7-lvm",
        "container-overlay",
        "md-loop-btrfs",
        "nvme-multipath-luks-lvm",
        "rhel8-numa",
        "ubuntu22-cgroup2",
        "vm-virtio",
    ];
    for machine in machines {
        let folder = lay_out(machine);
        let mut sampler = Sampler::new(&Sysroot::at(folder.path()));
        let mut moments = Moments::new(1_000_000_000);
        assert!(moments.advance(&sampler.sample(at(1))).is_none());
        let moment = moments.advance(&sampler.sample(at(2))).unwrap();
        assert!(!moment.disks.is_empty(), "{machine}");
        // Nothing moved between the two.
        assert!(
            moment.disks.iter().all(|disk| disk.operations() == 0.0),
            "{machine}"
        );
        assert!(!sampler.host().kernel.is_empty(), "{machine}");
    }
}

/// What a machine did in the second after it was recorded.
fn moment(
    folder: &tempfile::TempDir,
    change: impl Fn(&Path),
) -> fathom_diagnose::recording::Moment {
    let mut sampler = Sampler::new(&Sysroot::at(folder.path()));
    let mut moments = Moments::new(1_000_000_000);
    assert!(moments.advance(&sampler.sample(at(1))).is_none());
    change(folder.path());
    moments.advance(&sampler.sample(at(2))).unwrap()
}

/// Replaces a part of a file, which must be there.
fn edit(root: &Path, path: &str, from: &str, to: &str) {
    let path = root.join(path.trim_start_matches('/'));
    let text = fs::read_to_string(&path).unwrap();
    assert!(text.contains(from), "{path:?}: {from}");
    fs::write(&path, text.replace(from, to)).unwrap();
}

#[test]
fn linux_4_18_has_discards_no_flushes_and_pressure_only_when_asked_for() {
    let folder = lay_out("rhel8-numa");
    let first = frame(&folder);
    assert_eq!(names(&first, Kind::Disk), ["nvme0n1", "nvme1n1"]);
    let disk = first.of(Kind::Disk).next().unwrap();
    assert_eq!(disk.value(disk::DISCARDS), Some(120));
    assert_eq!(disk.value(disk::FLUSHES), None);
    assert_eq!(first.of(Kind::Pressure).count(), 0);
    // All 64 CPUs of its eight nodes, and all together.
    assert_eq!(first.of(Kind::Cpu).count(), 65);
    let host = Sampler::new(&Sysroot::at(folder.path())).host();
    assert_eq!((host.cpus, host.name.as_str()), (64, "numa8"));
    let group = "/sys/fs/cgroup/blkio/machine.slice/backup";
    let moment = moment(&folder, |root| {
        edit(
            root,
            "/proc/diskstats",
            "7711002 0 987008256 1542200",
            "7711202 0 987009856 1542300",
        );
        edit(root, "/proc/diskstats", "880000 2202220", "880090 2202320");
        edit(
            root,
            &format!("{group}/blkio.throttle.io_serviced"),
            "1000",
            "1198",
        );
        edit(
            root,
            &format!("{group}/blkio.throttle.io_service_bytes"),
            "4096000",
            "4907008",
        );
    });
    let disk = &moment.disks[1];
    assert_eq!((disk.reads, disk.read_wait_ms), (200.0, Some(0.5)));
    assert_eq!((disk.read_bytes, disk.queue), (819_200.0, Some(0.1)));
    assert_eq!(moment.io_pressure_some, None);
    let backup = moment
        .groups
        .iter()
        .find(|g| g.name == "machine.slice/backup")
        .unwrap();
    assert_eq!(backup.limit_used, Some(0.99));
}

#[test]
fn linux_5_15_has_flushes_and_groups_of_version_2_with_pressure_and_limits() {
    let folder = lay_out("ubuntu22-cgroup2");
    let first = frame(&folder);
    let sda = first
        .of(Kind::Disk)
        .find(|row| &*row.name == "sda")
        .unwrap();
    assert_eq!(sda.value(disk::FLUSHES), Some(60_000));
    assert_eq!(sda.value(disk::FLUSH_MS), Some(48_000));
    let group = "/sys/fs/cgroup/system.slice/mysql.service";
    let moment = moment(&folder, |root| {
        edit(
            root,
            &format!("{group}/io.stat"),
            "wbytes=819200 rios=100 wios=200",
            "wbytes=1200000 rios=100 wios=293",
        );
        edit(
            root,
            &format!("{group}/io.pressure"),
            "total=5000000",
            "total=5800000",
        );
        edit(
            root,
            "/proc/pressure/io",
            "total=234567890",
            "total=235367890",
        );
    });
    let mysql = moment
        .groups
        .iter()
        .find(|g| g.name == "system.slice/mysql.service")
        .unwrap();
    assert_eq!((mysql.limit_used, mysql.io_wait), (Some(0.93), Some(0.8)));
    assert_eq!(moment.io_pressure_some, Some(0.8));
    assert_eq!(moment.lock_waiters, Some(2.0));
    // The reader itself is not counted.
    assert_eq!((moment.runnable, moment.blocked), (Some(1.0), Some(1.0)));
}
