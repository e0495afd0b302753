//! File systems on striped arrays.

use fathom_model::stack::{FilesystemLayout, Stack, StackDevice, Stripe};
use fathom_model::unit::bytes_exact;
use fathom_rules::stack;

use super::{Findings, landings};

pub(super) fn judge(stack: &Stack, found: &mut Findings) {
    for landing in landings(stack) {
        let device = stack
            .devices
            .iter()
            .find(|d| d.facts.name == landing.device);
        let Some((device, stripe)) = device.and_then(|d| Some((d, d.stripe.as_ref()?))) else {
            continue;
        };
        if let Some(offset) = landing.offset_bytes {
            begins(landing.way.last(), offset, device, stripe, found);
        }
        if let Some(layout) = &stack.layout {
            believes(stack, layout, device, stripe, found);
        }
        if stripe.parity {
            let words = format!(
                "{} of {} members: a write of less than {} reads old data and parity first",
                stripe.level,
                stripe.members,
                bytes_exact(stripe.width_bytes())
            );
            found.add(stack::PARITY_READ_MODIFY_WRITE, &device.facts.name, words);
        }
    }
}

fn begins(
    above: Option<&String>,
    offset: u64,
    device: &StackDevice,
    stripe: &Stripe,
    found: &mut Findings,
) {
    let (unit, what) = match stripe.parity {
        true => (stripe.width_bytes(), "stripe"),
        false => (stripe.chunk_bytes, "chunk"),
    };
    let off = offset.checked_rem(unit).unwrap_or(0);
    if off as f64 > stack::stripe_offset::THRESHOLD {
        let words = format!(
            "begins {} into a {what} of {} of {}",
            bytes_exact(off),
            bytes_exact(unit),
            device.facts.name
        );
        found.add(
            stack::STRIPE_OFFSET,
            above.unwrap_or(&device.facts.name),
            words,
        );
    }
}

fn believes(
    stack: &Stack,
    layout: &FilesystemLayout,
    device: &StackDevice,
    stripe: &Stripe,
    found: &mut Findings,
) {
    // btrfs and those without a stripe of their own choose as they write.
    if !matches!(layout.kind.as_str(), "xfs" | "ext2" | "ext3" | "ext4") {
        return;
    }
    let at = match &stack.filesystem {
        Some(filesystem) => filesystem.mount_point.clone(),
        None => stack.target.clone(),
    };
    let of_array = format!(
        "{} has chunks of {} and stripes of {}",
        device.facts.name,
        bytes_exact(stripe.chunk_bytes),
        bytes_exact(stripe.width_bytes())
    );
    match (layout.stripe_unit_bytes, layout.stripe_width_bytes) {
        (None, None) if stripe.parity => {
            found.add(
                stack::STRIPE_UNKNOWN,
                &at,
                format!("knows of no stripe, and {of_array}"),
            );
        }
        (None, None) => {}
        (unit, width) => {
            let other = |told: Option<u64>, true_one| told.is_some_and(|told| told != true_one);
            if other(unit, stripe.chunk_bytes) || other(width, stripe.width_bytes()) {
                let told = |bytes: Option<u64>| bytes.map_or("not told".to_owned(), bytes_exact);
                let words = format!(
                    "stripe unit {}, width {}, but {of_array}",
                    told(unit),
                    told(width)
                );
                found.add(stack::STRIPE_MISMATCH, &at, words);
            }
        }
    }
}
