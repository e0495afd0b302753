use fathom_model::fingerprint::{DeviceFacts, FilesystemFacts};
use fathom_model::stack::{FilesystemLayout, Place, StackController, StackFinding, Stripe};

use super::*;

fn device(name: &str, layer: &str, below: &[(&str, u64)]) -> StackDevice {
    StackDevice {
        facts: DeviceFacts {
            name: name.to_owned(),
            kind: layer.to_owned(),
            below: below.iter().map(|(name, _)| (*name).to_owned()).collect(),
            size_bytes: 1 << 40,
            scheduler: Some("mq-deadline".to_owned()),
            queue_requests: Some(256),
            logical_block_bytes: Some(512),
            physical_block_bytes: Some(4096),
            ..DeviceFacts::default()
        },
        layer: layer.to_owned(),
        places: below
            .iter()
            .map(|(name, offset)| Place {
                below: (*name).to_owned(),
                offset_bytes: Some(*offset),
            })
            .collect(),
        ..StackDevice::default()
    }
}

fn example() -> Stack {
    let mut array = device("md0", "raid", &[("sda1", 1 << 20), ("sdb1", 1 << 20)]);
    array
        .facts
        .facts
        .insert("level".to_owned(), "raid0".to_owned());
    array
        .facts
        .facts
        .insert("raid_disks".to_owned(), "2".to_owned());
    array.stripe = Some(Stripe {
        level: "raid0".to_owned(),
        chunk_bytes: 512 << 10,
        members: 2,
        data_members: 2,
        parity: false,
    });
    let mut disk = device("sda", "disk", &[]);
    disk.controller = Some("0000:00:1f.2".to_owned());
    Stack {
        target: "/srv/data".to_owned(),
        filesystem: Some(FilesystemFacts {
            kind: "xfs".to_owned(),
            mount_point: "/srv".to_owned(),
            source: "/dev/md0".to_owned(),
            options: vec!["rw".to_owned(), "noatime".to_owned()],
            total_bytes: 2 << 40,
            available_bytes: 1 << 40,
            ..FilesystemFacts::default()
        }),
        layout: Some(FilesystemLayout {
            kind: "xfs".to_owned(),
            block_bytes: Some(4096),
            ..FilesystemLayout::default()
        }),
        top: vec!["md0".to_owned()],
        devices: vec![
            array,
            device("sda1", "partition", &[("sda", 63 * 512)]),
            device("sdb1", "partition", &[("sda", 1 << 20)]),
            disk,
        ],
        controllers: vec![StackController {
            name: "0000:00:1f.2".to_owned(),
            kind: "SATA (AHCI)".to_owned(),
            driver: Some("ahci".to_owned()),
            ..StackController::default()
        }],
        findings: vec![StackFinding {
            rule: "misaligned".to_owned(),
            gravity: Gravity::Costs,
            at: "sda1".to_owned(),
            found: "begins at 32256 of sda".to_owned(),
            remedy: "make it again".to_owned(),
            source: "sysfs".to_owned(),
        }],
        ..Stack::default()
    }
}

#[test]
fn the_tree_is_readable() {
    insta::assert_snapshot!(text(&example(), 80));
}

#[test]
fn no_line_is_wider_than_asked() {
    let mut stack = example();
    stack.filesystem.as_mut().unwrap().options = vec!["relatime".to_owned(); 40];
    for line in text(&stack, 60).lines() {
        assert!(line.chars().count() <= 80, "{line}");
    }
    stack.target = "/a\u{1b}[2J".to_owned();
    assert!(!text(&stack, 80).contains('\u{1b}'));
}

#[test]
fn json_has_numbers_as_numbers() {
    let value: serde_json::Value = serde_json::from_str(&json(&example()).unwrap()).unwrap();
    assert_eq!(value["devices"][1]["places"][0]["offset_bytes"], 32_256);
    assert_eq!(value["devices"][0]["name"], "md0");
    assert_eq!(value["devices"][0]["stripe"]["chunk_bytes"], 524_288);
}

#[test]
fn layers_that_could_not_be_seen_are_not_called_right() {
    let nothing = Stack {
        target: "/srv".to_owned(),
        notes: vec!["devices and their settings: /sys is not mounted here".to_owned()],
        ..Stack::default()
    };
    let shown = text(&nothing, 80);
    assert!(shown.contains("No layer could be seen"), "{shown}");
    assert!(
        shown.contains("Not known: devices and their settings"),
        "{shown}"
    );
    let without_devices = Stack {
        filesystem: example().filesystem,
        ..nothing
    };
    let shown = text(&without_devices, 80);
    assert!(shown.contains("No device could be seen"), "{shown}");
    // A file system in memory has no devices.
    let memory = Stack {
        notes: Vec::new(),
        ..without_devices
    };
    assert!(text(&memory, 80).contains("Nothing is wrong"));
}
