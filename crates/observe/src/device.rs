//! Facts of one block device, from `/sys/class/block/NAME`
//! (Documentation/ABI/stable/sysfs-block).

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use fathom_model::fingerprint::DeviceFacts;

use crate::Sysroot;
use crate::block_link::{add_link_facts, insert};
use crate::nvme_health::add_health_facts;

/// Where sysfs describes a device.
pub(crate) fn device_dir(name: &str) -> PathBuf {
    Path::new("/sys/class/block").join(name)
}

/// The whole disk that a partition is part of.
pub(crate) fn disk_of_partition(sys: &Sysroot, name: &str) -> Option<String> {
    if !sys.exists(device_dir(name).join("partition")) {
        return None;
    }
    let real = sys.resolve(device_dir(name))?;
    let disk = real.parent()?.file_name()?.to_str()?.to_owned();
    // A Xen guest may have partitions without their disk.
    (disk != name && sys.exists(device_dir(&disk).join("queue"))).then_some(disk)
}

/// The paths `nvme0c0n1`, `nvme0c1n1` below the multipath head `nvme0n1`.
pub(crate) fn nvme_paths(sys: &Sysroot, name: &str) -> Vec<String> {
    let Some((subsystem, None, namespace)) = split_nvme(name) else {
        return Vec::new();
    };
    let is_path = |other: &String| {
        let parts = split_nvme(other);
        matches!(parts, Some((s, Some(_), n)) if s == subsystem && n == namespace)
    };
    sys.names("/sys/class/block")
        .into_iter()
        .filter(is_path)
        .collect()
}

/// `nvme1c2n3` to subsystem 1, controller 2, namespace 3.
fn split_nvme(name: &str) -> Option<(u32, Option<u32>, u32)> {
    let (before, namespace) = name.strip_prefix("nvme")?.rsplit_once('n')?;
    let (subsystem, controller) = match before.split_once('c') {
        Some((subsystem, controller)) => (subsystem, Some(controller.parse().ok()?)),
        None => (before, None),
    };
    Some((subsystem.parse().ok()?, controller, namespace.parse().ok()?))
}

/// All facts of a device but the devices below it.
pub(crate) fn device_facts(sys: &Sysroot, name: &str) -> DeviceFacts {
    let dir = device_dir(name);
    // A partition has no queue of its own; its disk's facts stand with the disk.
    let queue = dir.join("queue");
    let attribute = |file: &str| sys.text(queue.join(file));
    let number = |file: &str| sys.number(queue.join(file));
    let mut facts = BTreeMap::new();
    let kind = kind(sys, name);
    add_kind_facts(sys, kind, &dir, &mut facts);
    for file in [
        "nomerges",
        "io_poll",
        "wbt_lat_usec",
        "max_sectors_kb",
        "zoned",
        "dax",
        "fua",
    ] {
        insert(&mut facts, file, attribute(file));
    }
    insert(&mut facts, "iostats", attribute("iostats"));
    add_layout_facts(sys, &dir, &mut facts);
    insert(
        &mut facts,
        "read_only",
        sys.text(dir.join("ro")).filter(|ro| ro != "0"),
    );
    let queues = sys.names(dir.join("mq")).len();
    insert(
        &mut facts,
        "hardware_queues",
        (queues > 0).then(|| queues.to_string()),
    );
    if let Some(real) = sys.resolve(&dir) {
        add_link_facts(sys, &real, &mut facts);
    }
    if kind != "partition" {
        add_health_facts(sys, name, &mut facts);
    }
    DeviceFacts {
        name: name.to_owned(),
        kind: kind.to_owned(),
        below: Vec::new(),
        size_bytes: sys
            .number(dir.join("size"))
            .unwrap_or(0)
            .saturating_mul(512),
        model: model(sys, &dir),
        serial: serial(sys, &dir),
        firmware: sys
            .text(dir.join("device/firmware_rev"))
            .or_else(|| sys.text(dir.join("device/rev"))),
        rotational: number("rotational").map(|value| value != 0),
        scheduler: attribute("scheduler").map(|text| scheduler_in_use(&text).to_owned()),
        queue_requests: number("nr_requests"),
        read_ahead_bytes: number("read_ahead_kb").map(|kib| kib.saturating_mul(1024)),
        write_cache: attribute("write_cache"),
        logical_block_bytes: number("logical_block_size"),
        physical_block_bytes: number("physical_block_size"),
        optimal_io_bytes: number("optimal_io_size"),
        discard_max_bytes: number("discard_max_bytes"),
        facts,
    }
}

/// How the device lies on what is below it.
fn add_layout_facts(sys: &Sysroot, dir: &Path, facts: &mut BTreeMap<String, String>) {
    // Of a partition, for which it matters: bytes off the physical blocks.
    let offset = sys.text(dir.join("alignment_offset"));
    let offset = offset.filter(|offset| offset != "0");
    insert(facts, "alignment_offset", offset);
    // Newer kernels describe a VDO volume (compression, deduplication) here.
    let vdo = sys.exists(dir.join("vdo")).then(|| "yes".to_owned());
    insert(facts, "vdo", vdo);
}

fn kind(sys: &Sysroot, name: &str) -> &'static str {
    let has = |file: &str| sys.exists(device_dir(name).join(file));
    let named = |prefix: &str| {
        let rest = name.strip_prefix(prefix);
        rest.is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()))
    };
    if has("partition") {
        "partition"
    } else if has("dm") || named("dm-") {
        "dm"
    } else if has("md") || name.starts_with("md") {
        "md"
    } else {
        let known = [
            "loop", "zram", "bcache", "nvme", "nbd", "rbd", "drbd", "pmem", "mmcblk", "ram",
            "ublkb",
        ];
        let found = known.into_iter().find(|prefix| named(prefix));
        found.unwrap_or(if named("zd") { "zvol" } else { "disk" })
    }
}

fn add_kind_facts(sys: &Sysroot, kind: &str, dir: &Path, facts: &mut BTreeMap<String, String>) {
    // Name of the fact, file below the device's folder.
    let files: &[(&str, &str)] = match kind {
        "loop" => &[
            ("backing_file", "loop/backing_file"),
            ("dio", "loop/dio"),
            ("offset", "loop/offset"),
        ],
        "dm" => &[
            ("dm_name", "dm/name"),
            ("dm_uuid", "dm/uuid"),
            ("suspended", "dm/suspended"),
        ],
        "md" => &[
            ("level", "md/level"),
            ("raid_disks", "md/raid_disks"),
            ("chunk_bytes", "md/chunk_size"),
            ("degraded", "md/degraded"),
            ("sync_action", "md/sync_action"),
            ("mismatch_sectors", "md/mismatch_cnt"),
            ("array_state", "md/array_state"),
            ("consistency_policy", "md/consistency_policy"),
        ],
        "bcache" => &[
            ("cache_mode", "bcache/cache_mode"),
            ("state", "bcache/state"),
            ("dirty_data", "bcache/dirty_data"),
            ("sequential_cutoff", "bcache/sequential_cutoff"),
        ],
        "zram" => &[
            ("algorithm", "comp_algorithm"),
            ("backing_dev", "backing_dev"),
        ],
        "nvme" => &[
            ("transport", "device/transport"),
            ("address", "device/address"),
            ("state", "device/state"),
            ("iopolicy", "device/iopolicy"),
            ("ana_state", "ana_state"),
        ],
        _ => &[
            ("queue_depth", "device/queue_depth"),
            ("state", "device/state"),
        ],
    };
    for (name, file) in files {
        insert(facts, name, sys.text(dir.join(file)));
    }
    for name in ["cache_mode", "algorithm"] {
        if let Some(value) = facts.get_mut(name) {
            *value = scheduler_in_use(value).to_owned();
        }
    }
    if let Some(uuid) = facts.get("dm_uuid") {
        let layer = uuid.split('-').next().unwrap_or("").to_owned();
        facts.insert("dm_layer".to_owned(), layer);
    }
}

/// The choice in brackets of `none [mq-deadline] kyber`, or all of the text.
fn scheduler_in_use(text: &str) -> &str {
    let inside = text
        .split_once('[')
        .and_then(|(_, rest)| rest.split_once(']'));
    inside.map_or(text, |(name, _)| name)
}

fn model(sys: &Sysroot, dir: &Path) -> Option<String> {
    let vendor = sys.text(dir.join("device/vendor"));
    let model = sys
        .text(dir.join("device/model"))
        .or_else(|| sys.text(dir.join("device/name")))?;
    match vendor {
        // SATA disks have "ATA" there, virtio and NVMe a PCI number.
        Some(vendor) if vendor != "ATA" && !vendor.starts_with("0x") => {
            Some(format!("{vendor} {model}"))
        }
        _ => Some(model),
    }
}

fn serial(sys: &Sysroot, dir: &Path) -> Option<String> {
    let plain = ["device/serial", "serial"]
        .iter()
        .find_map(|file| sys.text(dir.join(file)));
    plain.or_else(|| unit_serial(&sys.bytes(dir.join("device/vpd_pg80"))?))
}

/// SCSI vital product data page 0x80 (SPC-5 7.7.18): four bytes of header, the
/// last two the length, then the serial number in ASCII.
fn unit_serial(page: &[u8]) -> Option<String> {
    let length = usize::from(u16::from_be_bytes([*page.get(2)?, *page.get(3)?]));
    let bytes = page.get(4..4 + length)?;
    let text = String::from_utf8_lossy(bytes);
    let text = text.trim_matches(|c: char| c.is_whitespace() || c == '\0');
    (!text.is_empty()).then(|| text.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nvme_names_split_into_head_and_path() {
        assert_eq!(split_nvme("nvme0n1"), Some((0, None, 1)));
        assert_eq!(split_nvme("nvme10c2n3"), Some((10, Some(2), 3)));
        assert_eq!(split_nvme("nvme0n1p1"), None);
        assert_eq!(split_nvme("sda"), None);
    }

    #[test]
    fn the_scheduler_is_the_one_in_brackets() {
        assert_eq!(scheduler_in_use("none [mq-deadline] kyber"), "mq-deadline");
        assert_eq!(scheduler_in_use("none"), "none");
        assert_eq!(scheduler_in_use("[none"), "[none");
    }

    #[test]
    fn a_unit_serial_page_is_cut_at_its_length() {
        assert_eq!(
            unit_serial(b"\0\x80\0\x08  WD-123junk").as_deref(),
            Some("WD-123")
        );
        assert_eq!(unit_serial(b"\0\x80\0\x40short"), None);
        assert_eq!(unit_serial(b"\0"), None);
    }
}
