//! Which drives of recorded machines hold data and no system.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

#[allow(dead_code, reason = "not all of it is needed here")]
mod recording;

use fathom_observe::{DiskUse, Sysroot, whole_disks};
use recording::Machine;

/// Name and use of each drive, as text.
fn uses(machine: &Machine) -> Vec<String> {
    let disks = whole_disks(&machine.sys).into_iter();
    let told = disks.map(|disk| match disk.used {
        DiskUse::Free => format!("{} free", disk.path.display()),
        DiskUse::Mounted(place) => format!("{} at {}", disk.path.display(), place.display()),
        DiskUse::LeftOut(why) => format!("{} left out: {why}", disk.path.display()),
    });
    told.collect()
}

#[test]
fn the_systems_drive_is_left_out() {
    let vm = uses(&Machine::open("vm-virtio"));
    assert_eq!(vm, ["/dev/vda left out: / of the system is on it"]);
    let lvm = uses(&Machine::open("centos7-lvm"));
    let expected = [
        "/dev/cciss/c0d0 left out: it has no medium",
        "/dev/sda left out: / of the system is on it",
    ];
    assert_eq!(lvm, expected);
}

#[test]
fn data_drives_are_found_with_their_mounts() {
    // Through a mapping and encryption, and through several paths to the drive.
    let mapped = uses(&Machine::open("nvme-multipath-luks-lvm"));
    assert_eq!(mapped, ["/dev/nvme0n1 at /mnt/data"]);
    let machine = Machine::open("vm-virtio");
    let mounts = machine.text("/proc/self/mountinfo");
    machine.write(
        "/proc/self/mountinfo",
        &mounts.replace(" / / rw", " / /srv/data rw"),
    );
    assert_eq!(uses(&machine), ["/dev/vda at /srv/data"]);
    let none: Vec<&str> = mounts.lines().filter(|l| !l.contains("254:0")).collect();
    machine.write("/proc/self/mountinfo", &none.join("\n"));
    assert_eq!(uses(&machine), ["/dev/vda free"]);
    machine.write(
        "/proc/swaps",
        "Filename Type Size Used Priority\n/dev/vda partition 9 0 -2\n",
    );
    assert_eq!(uses(&machine), ["/dev/vda left out: it holds swap space"]);
}

#[test]
fn parts_of_arrays_are_left_out() {
    let arrays = uses(&Machine::open("md-loop-btrfs"));
    let expected = [
        "/dev/nvme0n1 left out: it is one of several drives under /mnt/btr",
        "/dev/nvme1n1 left out: it is one of several drives under /mnt/btr",
        "/dev/sda left out: it is one of several drives under /mnt/md",
        "/dev/sdb left out: it is one of several drives under /mnt/md",
    ];
    assert_eq!(arrays, expected);
    let cached = uses(&Machine::open("bcache-nvme"));
    assert_eq!(cached.len(), 2, "{cached:?}");
    assert!(cached.iter().all(|told| told.contains("several drives")));
}

#[test]
fn this_machine_has_no_drive_twice() {
    let disks = whole_disks(&Sysroot::host());
    let mut names: Vec<&str> = disks.iter().map(|d| d.device.name.as_str()).collect();
    let all = names.len();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), all);
}
