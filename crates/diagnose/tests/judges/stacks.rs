//! Layers of storage that are drawn: what is wrong with them, and where targets land.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use fathom_diagnose::{judge_stack, landings};
use fathom_model::fingerprint::{DeviceFacts, FilesystemFacts};
use fathom_model::stack::{
    FilesystemLayout, MountServer, Place, Stack, StackController, StackDevice, Stripe,
};

use crate::draw::Draw;
use crate::kept::{is_as_kept, of_document, of_text};

/// Stacks of which every finding is kept, and those of which a digest is.
const READ: u64 = 60;
const DIGESTS: u64 = 400;

const NAMES: [&str; 6] = ["dm-0", "md0", "loop0", "sda1", "sda", "sdb"];
const OFFSETS: [u64; 10] = [0, 0, 512, 1024, 4095, 4096, 4608, 65_536, 1 << 20, u64::MAX];

fn facts(draw: &mut Draw, entries: &[(&str, &[&str])]) -> BTreeMap<String, String> {
    let drawn = entries.iter().filter_map(|(name, values)| {
        let value = draw.maybe(values)?;
        Some(((*name).to_owned(), value.to_owned()))
    });
    drawn.collect()
}

fn stripe(draw: &mut Draw) -> Stripe {
    Stripe {
        level: draw.pick(&["raid0", "raid5", "raid6"]).to_owned(),
        chunk_bytes: draw.pick(&[0, 4096, 65_536]),
        members: draw.pick(&[3, 4]),
        data_members: draw.pick(&[1, 2]),
        parity: draw.one_in(2),
    }
}

fn device(draw: &mut Draw, place: usize, below: &[&str]) -> StackDevice {
    let count = draw.below(3).min(below.len() as u64);
    let start = draw.below(1 + below.len() as u64 - count) as usize;
    let below: Vec<String> = below[start..start + count as usize]
        .iter()
        .map(|name| (*name).to_owned())
        .collect();
    let places = below.iter().filter(|_| !draw.one_in(6)).cloned();
    let places: Vec<String> = places.collect();
    let places = places.into_iter().map(|below| Place {
        below,
        offset_bytes: draw.maybe(&OFFSETS),
    });
    let places = places.collect();
    let kinds = ["disk", "partition", "loop", "dm", "md"];
    StackDevice {
        facts: DeviceFacts {
            name: NAMES[place].to_owned(),
            kind: draw.pick(&kinds).to_owned(),
            below,
            read_ahead_bytes: draw.maybe(&[4096, 65_536, 131_072, 131_073]),
            write_cache: draw
                .maybe(&["write back", "write through"])
                .map(str::to_owned),
            logical_block_bytes: draw.maybe(&[512, 4096]),
            physical_block_bytes: draw.maybe(&[0, 512, 4096, 4096]),
            discard_max_bytes: draw.maybe(&[0, 0, 1, 1 << 30]),
            facts: facts(
                draw,
                &[
                    ("dio", &["0", "1"]),
                    ("offset", &["0", "1", "4096", "8193", "x"]),
                    ("degraded", &["0", "1", "2", "x"]),
                ],
            ),
            ..DeviceFacts::default()
        },
        layer: draw.pick(&["multipath", "raid", "disk"]).to_owned(),
        places,
        alignment_offset_bytes: draw.maybe(&[-2, -1, 0, 1, 3584]),
        discard_alignment_bytes: draw.maybe(&[0, 1, 512]),
        stripe: draw.one_in(2).then(|| stripe(draw)),
        ..StackDevice::default()
    }
}

fn filesystem(draw: &mut Draw) -> FilesystemFacts {
    let words = [
        "rw",
        "nobarrier",
        "barrier=0",
        "noac",
        "actimeo=0",
        "sync",
        "soft",
    ];
    let options = words.iter().filter(|_| draw.one_in(2));
    FilesystemFacts {
        options: options.map(|word| (*word).to_owned()).collect(),
        kind: draw.pick(&["ext4", "overlay", "nfs4"]).to_owned(),
        mount_point: "/data".to_owned(),
        facts: facts(draw, &[("virtual_reason", &["it lies in memory"])]),
        ..FilesystemFacts::default()
    }
}

fn server(draw: &mut Draw) -> MountServer {
    MountServer {
        protocol: draw.pick(&["nfs", "nfs", "smb"]).to_owned(),
        server: "filer".to_owned(),
        transport: draw.maybe(&["tcp", "udp", "rdma"]).map(str::to_owned),
        read_bytes: draw.maybe(&[65_535, 65_536, 65_537, 1 << 20]),
        write_bytes: draw.maybe(&[65_535, 65_536, 65_537, 1 << 20]),
        connections: draw.maybe(&[0, 1, 2, 3]),
        ..MountServer::default()
    }
}

fn controller(draw: &mut Draw) -> StackController {
    let speeds = ["8.0 GT/s PCIe", "16.0 GT/s PCIe", "Unknown", ""];
    StackController {
        name: "0000:01:00.0".to_owned(),
        link_speed: draw.maybe(&speeds).map(str::to_owned),
        link_speed_max: draw.maybe(&speeds[..2]).map(str::to_owned),
        link_width: draw.maybe(&[4, 8]),
        link_width_max: draw.maybe(&[4, 8]),
        ..StackController::default()
    }
}

fn layout(draw: &mut Draw) -> FilesystemLayout {
    let kinds = ["xfs", "ext2", "ext3", "ext4", "btrfs"];
    FilesystemLayout {
        kind: draw.pick(&kinds).to_owned(),
        block_bytes: draw.maybe(&[512, 1024, 4096, 8192]),
        stripe_unit_bytes: draw.maybe(&[4096, 65_536]).filter(|_| draw.one_in(2)),
        stripe_width_bytes: draw.maybe(&[4096, 131_072]).filter(|_| draw.one_in(2)),
        ..FilesystemLayout::default()
    }
}

fn stack(case: u64) -> Stack {
    let mut draw = Draw::of(0x57AC, case);
    let first = draw.below(7) as usize;
    let devices = (first..NAMES.len()).map(|place| device(&mut draw, place, &NAMES[place + 1..]));
    let devices: Vec<StackDevice> = devices.collect();
    let top = devices.iter().take(1 + draw.below(2) as usize);
    Stack {
        target: "/data/file".to_owned(),
        top: top.map(|device| device.facts.name.clone()).collect(),
        filesystem: (!draw.one_in(5)).then(|| filesystem(&mut draw)),
        layout: draw.one_in(2).then(|| layout(&mut draw)),
        server: draw.one_in(3).then(|| server(&mut draw)),
        controllers: (0..draw.below(2)).map(|_| controller(&mut draw)).collect(),
        devices,
        ..Stack::default()
    }
}

#[test]
fn what_is_said_of_drawn_stacks_is_as_kept() {
    let mut said = String::new();
    for case in 0..READ {
        let mut stack = stack(case);
        judge_stack(&mut stack);
        let _ = writeln!(said, "stack {case}: {}", of_document(&stack));
        for finding in &stack.findings {
            let (rule, at, found) = (&finding.rule, &finding.at, &finding.found);
            let _ = writeln!(said, "  {:?} {rule} at {at}: {found}", finding.gravity);
        }
    }
    for case in READ..READ + DIGESTS {
        let mut stack = stack(case);
        let lands = of_text(&format!("{:?}", landings(&stack)));
        judge_stack(&mut stack);
        let _ = writeln!(said, "stack {case}: {} {lands}", of_document(&stack));
    }
    is_as_kept("stacks.txt", &said);
}

/// Devices that lie so on the ones after them.
fn layered(count: usize, below: impl Fn(usize) -> Vec<usize>) -> Stack {
    let device = |place: usize| StackDevice {
        facts: DeviceFacts {
            name: format!("dm-{place}"),
            ..DeviceFacts::default()
        },
        places: below(place)
            .into_iter()
            .map(|below| Place {
                below: format!("dm-{below}"),
                offset_bytes: Some(512),
            })
            .collect(),
        ..StackDevice::default()
    };
    Stack {
        top: vec!["dm-0".to_owned()],
        devices: (0..count).map(device).collect(),
        ..Stack::default()
    }
}

#[test]
fn a_circle_and_a_thicket_of_layers_end() {
    let circle = landings(&layered(1, |_| vec![0]));
    assert_eq!(circle.len(), 33);
    assert_eq!(
        circle.last().and_then(|last| last.offset_bytes),
        Some(32 * 512)
    );
    let thicket = landings(&layered(20, |place| vec![place + 1, place + 1]));
    assert_eq!(thicket.len(), 4096);
    let deep = landings(&layered(10, |place| vec![place + 1]));
    assert_eq!(deep.len(), 11);
    assert_eq!(deep[10].way.len(), 10);
}
