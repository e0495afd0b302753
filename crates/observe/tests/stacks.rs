//! Stacks of recorded machines.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]
#![allow(dead_code, reason = "the machines are shared with other tests")]

mod recording;

use std::path::Path;

use fathom_model::stack::Stack;
use fathom_observe::stack::read_stack;
use recording::Machine;

fn stack(machine: &Machine, path: &str) -> Stack {
    read_stack(&machine.sys, Path::new(path))
}

fn layers(stack: &Stack) -> Vec<String> {
    let words = stack.devices.iter();
    words
        .map(|d| format!("{} {}", d.facts.name, d.layer))
        .collect()
}

#[test]
fn an_array_tells_its_stripe_and_where_data_begin_on_members() {
    let machine = Machine::open("md-loop-btrfs");
    let md = "/sys/devices/virtual/block/md0/md";
    machine.write(&format!("{md}/level"), "raid5\n");
    machine.write(&format!("{md}/raid_disks"), "3\n");
    machine.write(&format!("{md}/chunk_size"), "524288\n");
    // Metadata of version 0.90 begins data at 0; an odd place is misaligned.
    machine.write(&format!("{md}/dev-sda/offset"), "2048\n");
    machine.write(&format!("{md}/dev-sdb/offset"), "63\n");
    let found = stack(&machine, "/mnt/md/data");
    assert_eq!(found.top, ["md0"]);
    assert_eq!(layers(&found)[0], "md0 raid");
    let array = &found.devices[0];
    let stripe = array.stripe.as_ref().unwrap();
    assert_eq!((stripe.data_members, stripe.parity), (2, true));
    assert_eq!(stripe.width_bytes(), 1 << 20);
    let place = |name: &str| array.places.iter().find(|p| p.below == name).unwrap();
    assert_eq!(place("sda").offset_bytes, Some(1 << 20));
    assert_eq!(place("sdb").offset_bytes, Some(63 * 512));
    assert_eq!(
        found.controllers.len(),
        1,
        "both drives hang on one adapter"
    );
    assert_eq!(found.controllers[0].name, "0000:00:1f.2");
}

#[test]
fn luks_on_multipath_is_named_and_followed_by_its_tables() {
    let machine = Machine::open("nvme-multipath-luks-lvm");
    let found = stack(&machine, "/mnt/data/x");
    let names = layers(&found);
    assert!(names[0].ends_with(" lvm"), "{names:?}");
    assert!(names.iter().any(|one| one.ends_with(" crypt")), "{names:?}");
    assert!(
        found.notes[0].contains("dmsetup table"),
        "{:?}",
        found.notes
    );
    assert_eq!(found.devices[0].places[0].offset_bytes, None);
    // With the tables every place is known.
    let below = found.devices[0].facts.below[0].clone();
    let number = machine.text(&format!("/sys/class/block/{below}/dev"));
    let table = format!("vg-data: 0 1024 linear {number} 2048\n");
    machine.write("/dmsetup-table", &table);
    let found = stack(&machine, "/mnt/data/x");
    assert_eq!(found.devices[0].places[0].offset_bytes, Some(1 << 20));
    assert!(found.notes.is_empty());
}

#[test]
fn a_mount_of_a_server_has_no_devices_and_tells_its_server() {
    let machine = Machine::open("vm-virtio");
    let table = machine.text("/proc/self/mountinfo");
    let line = "900 1 0:77 / /mnt/nas rw,relatime - nfs4 nas:/vol/a \
                rw,vers=4.2,rsize=1048576,wsize=1048576,hard,proto=tcp,addr=10.0.0.9\n";
    machine.write("/proc/self/mountinfo", &format!("{table}\n{line}"));
    let found = stack(&machine, "/mnt/nas/x");
    let server = found.server.unwrap();
    assert_eq!(
        (server.server.as_str(), server.export.as_str()),
        ("nas", "/vol/a")
    );
    assert_eq!(server.version.as_deref(), Some("4.2"));
    assert!(found.devices.is_empty());
}

#[test]
fn a_partition_begins_where_sysfs_says() {
    let machine = Machine::open("centos7-lvm");
    let found = stack(&machine, "/boot");
    assert!(
        layers(&found)[0].ends_with(" partition"),
        "{:?}",
        layers(&found)
    );
    let dir = format!("/sys/class/block/{}", found.devices[0].facts.name);
    machine.write(&format!("{dir}/start"), "63\n");
    let found = stack(&machine, "/boot");
    assert_eq!(found.devices[0].places[0].offset_bytes, Some(63 * 512));
}
