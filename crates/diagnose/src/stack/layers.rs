//! Alignment, blocks, discards, loops, paths and links.

use fathom_model::stack::{Stack, StackDevice, Stripe};
use fathom_model::unit::{bytes_exact, counted};
use fathom_rules::stack;
use fathom_rules::stack::loop_offset::BLOCK_BYTES;

use super::{Findings, landings};

pub(super) fn judge(stack: &Stack, found: &mut Findings) {
    alignment(stack, found);
    for device in &stack.devices {
        blocks(stack, device, found);
        loops(device, found);
        discards(stack, device, found);
        paths(device, found);
        array(device, found);
    }
    links(stack, found);
}

fn alignment(stack: &Stack, found: &mut Findings) {
    for landing in landings(stack) {
        let device = stack
            .devices
            .iter()
            .find(|d| d.facts.name == landing.device);
        let physical = device.and_then(|d| d.facts.physical_block_bytes);
        let (Some(offset), Some(physical)) = (landing.offset_bytes, physical) else {
            continue;
        };
        let off = offset.checked_rem(physical).unwrap_or(0);
        if off as f64 > stack::misaligned::THRESHOLD {
            // The layer that a user can move is the last partition on the way.
            let at = landing.way.last().unwrap_or(&landing.device);
            let way = landing.way.join(" > ");
            found.add(
                stack::MISALIGNED,
                at,
                format!(
                    "begins at {offset} of {}, which is {off} bytes into a physical block of \
                     {physical} bytes: a write of one block touches two, and the drive reads both \
                     first{}",
                    landing.device,
                    match landing.way.len() > 1 {
                        true => format!(" (through {way})"),
                        false => String::new(),
                    }
                ),
            );
        }
    }
    for device in &stack.devices {
        let words = match device.alignment_offset_bytes {
            Some(-1) => "is misaligned, says the kernel".to_owned(),
            Some(off) if off as f64 > stack::misaligned::THRESHOLD => {
                format!("begins {off} bytes off the drive's blocks, says the kernel")
            }
            _ => continue,
        };
        found.add(stack::MISALIGNED, &device.facts.name, words);
    }
}

fn blocks(stack: &Stack, device: &StackDevice, found: &mut Findings) {
    let facts = &device.facts;
    let (Some(logical), Some(physical)) = (facts.logical_block_bytes, facts.physical_block_bytes)
    else {
        return;
    };
    let layout = stack.layout.as_ref();
    let block = layout.and_then(|layout| layout.block_bytes);
    if let Some(block) = block.filter(|block| *block < physical) {
        let words = format!(
            "blocks of the file system have {block} bytes, those of the drive {physical}: most \
             writes make it read first"
        );
        found.add(stack::SMALL_BLOCKS, &facts.name, words);
    }
    if facts.below.is_empty() && logical < physical {
        let words = format!(
            "reports blocks of {logical} bytes and writes {physical}: smaller direct writes make \
             it read first"
        );
        found.add(stack::EMULATED_SECTORS, &facts.name, words);
    }
}

fn loops(device: &StackDevice, found: &mut Findings) {
    let fact = |name: &str| device.facts.facts.get(name).map(String::as_str);
    if device.facts.kind != "loop" {
        return;
    }
    if fact("dio") == Some("0") {
        let words = "reads and writes its file through the page cache, so data are cached twice";
        found.add(stack::LOOP_PAGE_CACHE, &device.facts.name, words.to_owned());
    }
    let offset: u64 = fact("offset")
        .and_then(|text| text.parse().ok())
        .unwrap_or(0);
    if (offset % BLOCK_BYTES) as f64 > stack::loop_offset::THRESHOLD {
        let words =
            format!("begins at {offset} of its file, inside a block of {BLOCK_BYTES} bytes");
        found.add(stack::LOOP_OFFSET, &device.facts.name, words);
    }
}

fn discards(stack: &Stack, device: &StackDevice, found: &mut Findings) {
    let facts = &device.facts;
    let able = |name: &str| {
        let below = stack.devices.iter().find(|d| d.facts.name == name);
        below.is_some_and(|d| {
            d.facts.discard_max_bytes.is_some_and(|most| most > 0)
                || d.facts.below.iter().any(|under| {
                    let under = stack.devices.iter().find(|d| &d.facts.name == under);
                    under.is_some_and(|u| u.facts.discard_max_bytes.is_some_and(|m| m > 0))
                })
        })
    };
    let stops = facts.discard_max_bytes == Some(0) && facts.kind != "partition";
    if stops && facts.kind != "loop" && facts.below.iter().any(|name| able(name)) {
        let words = format!("passes no discards on to {}", facts.below.join(", "));
        found.add(stack::DISCARD_BLOCKED, &facts.name, words);
    }
    if let Some(off) = device.discard_alignment_bytes
        && off as f64 > stack::discard_misaligned::THRESHOLD
    {
        let words = format!("discards are {off} bytes off their unit");
        found.add(stack::DISCARD_MISALIGNED, &facts.name, words);
    }
}

fn paths(device: &StackDevice, found: &mut Findings) {
    let paths = device.facts.below.len();
    if device.layer == "multipath" && (paths as f64) < stack::multipath_one_path::THRESHOLD {
        let words = format!("has {}", counted(paths as u64, "path"));
        found.add(stack::MULTIPATH_ONE_PATH, &device.facts.name, words);
    }
}

fn array(device: &StackDevice, found: &mut Findings) {
    let missing = device.facts.facts.get("degraded");
    let missing: u64 = missing.and_then(|text| text.parse().ok()).unwrap_or(0);
    if missing > 0 {
        let words = format!("has lost {missing} of its members");
        found.add(stack::ARRAY_DEGRADED, &device.facts.name, words);
    }
    if device
        .facts
        .read_ahead_bytes
        .zip(device.stripe.as_ref())
        .is_some_and(|(ahead, stripe)| ahead < stripe.width_bytes())
    {
        let (ahead, stripe) = (device.facts.read_ahead_bytes, device.stripe.as_ref());
        let words = format!(
            "read-ahead of {} covers less than one stripe of {}",
            bytes_exact(ahead.unwrap_or(0)),
            bytes_exact(stripe.map_or(0, Stripe::width_bytes))
        );
        found.add(stack::READ_AHEAD_SMALL, &device.facts.name, words);
    }
}

fn links(stack: &Stack, found: &mut Findings) {
    for controller in &stack.controllers {
        let speed = |text: &Option<String>| -> Option<f64> {
            text.as_ref()?.split_whitespace().next()?.parse().ok()
        };
        let now = speed(&controller.link_speed).zip(controller.link_width);
        let most = speed(&controller.link_speed_max).zip(controller.link_width_max);
        let (Some(now), Some(most)) = (now, most) else {
            continue;
        };
        if now.0 < most.0 || now.1 < most.1 {
            let words = format!(
                "runs at {} GT/s x{} and could run at {} GT/s x{}",
                now.0, now.1, most.0, most.1
            );
            found.add(stack::LINK_BELOW_RATED, &controller.name, words);
        }
    }
}
