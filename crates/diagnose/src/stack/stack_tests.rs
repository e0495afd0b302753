use fathom_model::fingerprint::{DeviceFacts, FilesystemFacts};
use fathom_model::stack::{FilesystemLayout, MountServer, Place, StackDevice};

use super::*;

fn device(name: &str, kind: &str, below: &[(&str, Option<u64>)]) -> StackDevice {
    StackDevice {
        facts: DeviceFacts {
            name: name.to_owned(),
            kind: kind.to_owned(),
            below: below.iter().map(|(name, _)| (*name).to_owned()).collect(),
            logical_block_bytes: Some(512),
            physical_block_bytes: Some(4096),
            ..DeviceFacts::default()
        },
        layer: kind.to_owned(),
        places: below
            .iter()
            .map(|(name, offset_bytes)| Place {
                below: (*name).to_owned(),
                offset_bytes: *offset_bytes,
            })
            .collect(),
        ..StackDevice::default()
    }
}

fn stack(devices: Vec<StackDevice>) -> Stack {
    Stack {
        target: "/data".to_owned(),
        top: vec![devices[0].facts.name.clone()],
        devices,
        ..Stack::default()
    }
}

fn rules(mut stack: Stack) -> Vec<(String, String)> {
    judge_stack(&mut stack);
    let found = stack.findings.into_iter();
    found.map(|finding| (finding.rule, finding.at)).collect()
}

fn has(found: &[(String, String)], rule: &str, at: &str) -> bool {
    found.iter().any(|(r, a)| r == rule && a == at)
}

#[test]
fn an_offset_is_followed_through_all_layers() {
    // 63 sectors, as partitions began until 2010; LVM adds 1 MiB.
    let devices = vec![
        device("dm-0", "lvm", &[("sda1", Some(1 << 20))]),
        device("sda1", "partition", &[("sda", Some(63 * 512))]),
        device("sda", "disk", &[]),
    ];
    let found = rules(stack(devices.clone()));
    assert!(has(&found, "misaligned", "sda1"), "{found:?}");
    let mut aligned = devices.clone();
    aligned[1].places[0].offset_bytes = Some(1 << 20);
    assert!(
        !rules(stack(aligned))
            .iter()
            .any(|(rule, _)| rule == "misaligned")
    );
    // What is not known is not guessed.
    let mut unknown = devices;
    unknown[0].places[0].offset_bytes = None;
    assert!(
        !rules(stack(unknown))
            .iter()
            .any(|(rule, _)| rule == "misaligned")
    );
}

#[test]
fn a_file_system_that_believes_in_another_stripe() {
    let mut array = device(
        "md0",
        "raid",
        &[("sda1", Some(1 << 20)), ("sdb1", Some(1 << 20))],
    );
    array.stripe = Some(fathom_model::stack::Stripe {
        level: "raid5".to_owned(),
        chunk_bytes: 512 << 10,
        members: 4,
        data_members: 3,
        parity: true,
    });
    let part = device("md0p1", "partition", &[("md0", Some(1 << 20))]);
    let mut on_it = stack(vec![part, array]);
    on_it.layout = Some(FilesystemLayout {
        kind: "xfs".to_owned(),
        block_bytes: Some(4096),
        stripe_unit_bytes: Some(64 << 10),
        stripe_width_bytes: Some(192 << 10),
        ..FilesystemLayout::default()
    });
    let found = rules(on_it.clone());
    assert!(has(&found, "stripe-offset", "md0p1"), "{found:?}");
    assert!(has(&found, "stripe-mismatch", "/data"), "{found:?}");
    assert!(has(&found, "parity-read-modify-write", "md0"), "{found:?}");
    on_it.layout = Some(FilesystemLayout {
        stripe_unit_bytes: None,
        stripe_width_bytes: None,
        ..on_it.layout.unwrap()
    });
    assert!(has(&rules(on_it), "stripe-unknown", "/data"));
}

#[test]
fn danger_comes_first() {
    let mut disk = device("sda", "disk", &[]);
    disk.facts.write_cache = Some("write back".to_owned());
    let mut mounted = stack(vec![disk]);
    mounted.filesystem = Some(FilesystemFacts {
        kind: "ext4".to_owned(),
        mount_point: "/data".to_owned(),
        options: vec!["rw".to_owned(), "nobarrier".to_owned()],
        ..FilesystemFacts::default()
    });
    let found = rules(mounted);
    assert_eq!(found[0], ("nobarrier".to_owned(), "/data".to_owned()));
    assert!(has(&found, "emulated-sectors", "sda"), "{found:?}");
}

#[test]
fn a_network_mount_is_judged_by_its_options() {
    let options = "rw,soft,noac,proto=udp"
        .split(',')
        .map(str::to_owned)
        .collect();
    let mounted = Stack {
        filesystem: Some(FilesystemFacts {
            kind: "nfs".to_owned(),
            mount_point: "/mnt".to_owned(),
            options,
            ..FilesystemFacts::default()
        }),
        server: Some(MountServer {
            protocol: "nfs".to_owned(),
            server: "nas".to_owned(),
            transport: Some("udp".to_owned()),
            read_bytes: Some(8192),
            ..MountServer::default()
        }),
        ..Stack::default()
    };
    let found = rules(mounted);
    for rule in ["nfs-udp", "nfs-soft", "nfs-no-cache", "nfs-small-requests"] {
        assert!(has(&found, rule, "/mnt"), "{rule}: {found:?}");
    }
}

#[test]
fn a_stack_that_bites_its_tail_ends() {
    let devices = vec![
        device("dm-0", "lvm", &[("dm-1", Some(512))]),
        device("dm-1", "lvm", &[("dm-0", Some(512))]),
    ];
    assert!(landings(&stack(devices)).len() < 100);
}
