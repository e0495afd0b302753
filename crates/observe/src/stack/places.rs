//! What a device is for, where it begins on those below, and how it stripes.

use fathom_model::fingerprint::DeviceFacts;
use fathom_model::stack::{Place, Stripe};

use super::DmTable;
use crate::Sysroot;
use crate::device::device_dir;
use crate::device_stack::device_by_number;

const SECTOR_BYTES: u64 = 512;

/// What a device is for. The first part of a device mapper UUID names who made
/// it, its end what LVM keeps in it.
pub(super) fn layer(sys: &Sysroot, facts: &DeviceFacts, table: Option<&DmTable>) -> String {
    let word = match facts.kind.as_str() {
        "md" => "raid",
        "dm" => {
            let target = table
                .and_then(|t| t.segments.first())
                .map(|s| s.target.as_str());
            match target {
                Some("linear") | None => mapping(sys, facts),
                Some("striped") => "striped",
                Some("thin-pool") => "thin-pool",
                Some(other) => return other.to_owned(),
            }
        }
        other => other,
    };
    word.to_owned()
}

fn mapping(sys: &Sysroot, facts: &DeviceFacts) -> &'static str {
    let uuid = facts.facts.get("dm_uuid").map_or("", String::as_str);
    let made_by = uuid.split('-').next().unwrap_or("");
    let below = |end: &str| {
        facts.below.iter().any(|name| {
            let uuid = sys.text(device_dir(name).join("dm/uuid"));
            uuid.is_some_and(|uuid| uuid.ends_with(end))
        })
    };
    match made_by {
        "CRYPT" => "crypt",
        "mpath" => "multipath",
        part if part.starts_with("part") => "partition",
        "LVM" if uuid.ends_with("-tpool") => "thin-pool",
        "LVM" if below("-tpool") => "thin",
        "LVM" if below("-corig") || below("-cpool") || below("-cvol") => "cache",
        "LVM" => "lvm",
        _ => "dm",
    }
}

/// Where the first byte of a device lies on those below it.
pub(super) fn places(sys: &Sysroot, facts: &DeviceFacts, table: Option<&DmTable>) -> Vec<Place> {
    let dir = device_dir(&facts.name);
    let sectors = |path: String| {
        let sectors = sys.number(dir.join(path))?;
        Some(sectors.saturating_mul(SECTOR_BYTES))
    };
    let place = |below: &String| {
        let offset_bytes = match facts.kind.as_str() {
            "partition" => sectors("start".to_owned()),
            // The first byte of an array is at the data offset of one member,
            // and what follows begins there on the others.
            "md" => sectors(format!("md/dev-{below}/offset")),
            // A path of an NVMe drive is the drive.
            "nvme" => Some(0),
            "dm" => mapped(sys, below, facts, table),
            _ => None,
        };
        Place {
            below: below.clone(),
            offset_bytes,
        }
    };
    facts.below.iter().map(place).collect()
}

fn mapped(sys: &Sysroot, below: &str, facts: &DeviceFacts, table: Option<&DmTable>) -> Option<u64> {
    let uuid = facts.facts.get("dm_uuid").map_or("", String::as_str);
    if uuid.starts_with("mpath-") {
        // Every path shows the whole drive.
        return Some(0);
    }
    let segments = table?.segments.iter();
    let on_it = segments.flat_map(|segment| {
        let start = segment.start_bytes;
        segment
            .below
            .iter()
            .map(move |(number, at)| (start, number, at))
    });
    let first = on_it
        .filter(|(_, number, _)| device_by_number(sys, **number).as_deref() == Some(below))
        .min_by_key(|(start, _, _)| *start)?;
    // A segment that begins later lies as if the mapping began before it.
    let (start, _, at) = first;
    let at = (*at)?;
    Some(at.checked_sub(start).unwrap_or(at))
}

/// How an array spreads data over its members; nothing for mirrors.
pub(super) fn stripe(
    sys: &Sysroot,
    facts: &DeviceFacts,
    table: Option<&DmTable>,
) -> Option<Stripe> {
    if facts.kind == "md" {
        let level = facts.facts.get("level")?;
        let members = facts.facts.get("raid_disks")?.parse().ok()?;
        let chunk_bytes = facts.facts.get("chunk_bytes")?.parse().ok()?;
        let near = sys.number(device_dir(&facts.name).join("md/layout"));
        return striped(level, chunk_bytes, members, near);
    }
    let segment = table?.segments.first()?;
    let members = segment.below.len() as u64;
    match segment.target.as_str() {
        "striped" => striped("raid0", segment.chunk_bytes?, members, None).map(|stripe| Stripe {
            level: "striped".to_owned(),
            ..stripe
        }),
        "raid" => {
            // Each member comes with a device for its metadata.
            let level = segment.words.first()?.split('_').next()?.to_owned();
            striped(&level, segment.chunk_bytes?, members / 2, None)
        }
        _ => None,
    }
}

fn striped(level: &str, chunk_bytes: u64, members: u64, layout: Option<u64>) -> Option<Stripe> {
    // Of RAID 10 the low byte of the layout counts near copies, the next far.
    let copies = layout.map_or(2, |layout| {
        (layout & 255).max(1) * (layout >> 8 & 255).max(1)
    });
    let (data_members, parity) = match level {
        "raid0" => (members, false),
        "raid4" | "raid5" => (members.checked_sub(1)?, true),
        "raid6" => (members.checked_sub(2)?, true),
        "raid10" => (members / copies, false),
        _ => return None,
    };
    (chunk_bytes > 0 && data_members > 0).then(|| Stripe {
        level: level.to_owned(),
        chunk_bytes,
        members,
        data_members,
        parity,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn levels_have_their_data_members() {
        let width = |level: &str, members, layout| {
            let stripe = striped(level, 65_536, members, layout)?;
            Some((stripe.data_members, stripe.parity))
        };
        assert_eq!(width("raid0", 4, None), Some((4, false)));
        assert_eq!(width("raid5", 4, None), Some((3, true)));
        assert_eq!(width("raid6", 6, None), Some((4, true)));
        assert_eq!(width("raid10", 4, Some(0x102)), Some((2, false)));
        assert_eq!(width("raid1", 2, None), None);
        assert_eq!(width("raid6", 2, None), None);
        assert_eq!(striped("raid0", 0, 2, None), None);
    }
}
