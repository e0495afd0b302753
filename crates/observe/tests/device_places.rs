//! Where the devices of recorded machines are mounted, and what they lie on.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

#[allow(dead_code, reason = "not all of it is needed here")]
mod recording;

use fathom_observe::device_places;
use recording::Machine;

#[test]
fn mounts_are_found_through_all_layers() {
    let places = device_places(&Machine::open("nvme-multipath-luks-lvm").sys);
    let drive = &places["nvme0n1"];
    assert!(drive.mounts.iter().any(|at| at == "/mnt/data"), "{drive:?}");
    assert!(
        drive.above.iter().any(|name| name.starts_with("dm-")),
        "{drive:?}"
    );
    let mapping = &places[&drive.above[0]];
    assert!(
        mapping.below.iter().any(|one| one.starts_with("nvme0n1 (")),
        "{mapping:?}"
    );
}

#[test]
fn a_plain_disk_lies_on_nothing() {
    let places = device_places(&Machine::open("vm-virtio").sys);
    let disk = &places["vda"];
    assert_eq!(disk.mounts.first().map(String::as_str), Some("/"));
    assert!(disk.below.is_empty() && disk.above.is_empty(), "{disk:?}");
    assert!(disk.size_bytes > 0);
}
