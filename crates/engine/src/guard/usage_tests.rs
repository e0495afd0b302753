//! The tables of `/proc` and `/sys`, as they look elsewhere.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::symlink;

use super::backing::{Backing, backing_of};
use super::usage::*;

fn write(root: &std::path::Path, path: &str, text: &str) {
    let path = root.join(path);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

fn host() -> tempfile::TempDir {
    let root = tempfile::tempdir().unwrap();
    let disk = "sys/devices/pci/block/sda";
    write(root.path(), &format!("{disk}/dev"), "8:0\n");
    for (n, partition) in [(1, "sda1"), (2, "sda2")] {
        write(root.path(), &format!("{disk}/{partition}/partition"), "1\n");
        write(
            root.path(),
            &format!("{disk}/{partition}/dev"),
            &format!("8:{n}\n"),
        );
    }
    write(
        root.path(),
        &format!("{disk}/sda2/holders/dm-0/dm/name"),
        "vg-root\n",
    );
    fs::create_dir_all(root.path().join("sys/dev/block")).unwrap();
    symlink(
        root.path().join(disk),
        root.path().join("sys/dev/block/8:0"),
    )
    .unwrap();
    symlink(
        root.path().join(disk).join("sda2"),
        root.path().join("sys/dev/block/8:2"),
    )
    .unwrap();
    write(
        root.path(),
        "proc/self/mountinfo",
        "22 1 8:1 / /mnt/my\\040disk rw,relatime shared:1 - ext4 /nonexistent/sda1 rw\n\
         23 1 8:16 / /other rw - xfs /nonexistent/sdb rw\n\
         garbage\n",
    );
    write(
        root.path(),
        "proc/swaps",
        "Filename\tType\tSize\tUsed\tPriority\n/dev/sda9 partition 1 0 -2\n/swap\\040file file 1 0 -3\n",
    );
    write(
        root.path(),
        "sys/block/loop3/loop/backing_file",
        "/images/a\n",
    );
    fs::create_dir_all(root.path().join("sys/block/sda")).unwrap();
    root
}

#[test]
fn partitions_and_holders_belong_to_the_family() {
    let root = host();
    let disk = family(root.path(), (8, 0)).unwrap();
    let names: Vec<&str> = disk.members.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["sda", "sda1", "sda2"]);
    assert_eq!(disk.holders, BTreeSet::from(["dm-0 (vg-root)".to_owned()]));
    let partition = family(root.path(), (8, 2)).unwrap();
    assert_eq!(partition.members.len(), 1);
    assert_eq!(partition.holders.len(), 1);
    assert_eq!(family(root.path(), (8, 99)), None);
}

#[test]
fn a_mounted_partition_is_found_from_its_disk() {
    let root = host();
    let disk = family(root.path(), (8, 0)).unwrap();
    assert_eq!(
        mounts(root.path(), &disk),
        ["sda1 is mounted at /mnt/my disk"]
    );
    let partition = family(root.path(), (8, 2)).unwrap();
    assert!(mounts(root.path(), &partition).is_empty());
}

#[test]
fn a_mount_in_another_namespace_is_found() {
    let root = host();
    let table = "30 1 8:2 / /inside rw - ext4 /nonexistent/sda2 rw\n";
    write(root.path(), "proc/77/mountinfo", table);
    fs::create_dir_all(root.path().join("proc/77/ns")).unwrap();
    symlink("mnt:[2]", root.path().join("proc/77/ns/mnt")).unwrap();
    let disk = family(root.path(), (8, 0)).unwrap();
    assert_eq!(
        mounts(root.path(), &disk),
        [
            "sda1 is mounted at /mnt/my disk",
            "sda2 is mounted at /inside in the namespace of process 77"
        ]
    );
}

#[test]
fn swap_and_loop_devices_are_found() {
    let root = host();
    let users = swaps(root.path(), |path| {
        path == std::path::Path::new("/swap file")
    });
    assert_eq!(users, ["/swap file is in use as swap space"]);
    let on_a = |backing: &Backing| matches!(backing, Backing::File { path, .. } if path == std::path::Path::new("/images/a"));
    let users = loops(root.path(), &backing_of, on_a);
    assert_eq!(users, ["loop device loop3 lies on it"]);
    assert!(loops(root.path(), &backing_of, |_| false).is_empty());
}

#[test]
fn a_host_without_proc_and_sys_gives_nothing() {
    let root = tempfile::tempdir().unwrap();
    let family = DeviceFamily {
        members: vec![("sda".to_owned(), (8, 0))],
        holders: BTreeSet::new(),
    };
    assert!(mounts(root.path(), &family).is_empty());
    assert!(swaps(root.path(), |_| true).is_empty());
    assert!(loops(root.path(), &backing_of, |_| true).is_empty());
    assert!(openers(root.path(), &family).is_empty());
}
