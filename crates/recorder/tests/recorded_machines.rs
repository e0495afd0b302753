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
