//! States of a host at a moment: space, arrays, drives' health, links.

use std::path::Path;

use fathom_deadline::{Mount, MountAnswer, MountTable, ask_mounts};
use fathom_model::machine::HostReading;

use super::Readings;
use crate::Sysroot;
use crate::device::{device_dir, device_facts};
use crate::filesystem::virtual_reason;
use crate::smart::smart_answers;
use crate::stack::{adapter, transfers};
use crate::target::mounts;
use crate::whole_disks::whole_disks;

/// Network file systems of clusters, whose number of files is a limit.
const CLUSTERS: [&str; 8] = [
    "ceph",
    "fuse.ceph",
    "fuse.ceph-fuse",
    "glusterfs",
    "fuse.glusterfs",
    "lustre",
    "beegfs",
    "fuse.vstorage",
];
/// Parts of the machine that are looked at.
const PARTS_MAX: usize = 4096;

/// The states, each at the moment 0.
pub fn read_states(sys: &Sysroot) -> Vec<HostReading> {
    let mut out = Readings {
        readings: Vec::new(),
        at_seconds: 0.0,
        seconds: 0.0,
    };
    space(sys, &mut out);
    arrays(sys, &mut out);
    for disk in whole_disks(sys) {
        drive(&disk.device.name, &disk.device.facts, &mut out);
    }
    for (name, below) in links_below_rated(sys) {
        out.add("link_below_rated", &name, f64::from(u8::from(below)));
    }
    out.readings
}

/// What smartctl tells of SATA and SAS disks at the moment 0, and in words what
/// it does not tell. NVMe drives are among the states.
pub fn read_smart(sys: &Sysroot) -> (Vec<HostReading>, Vec<String>) {
    let answers = match sys.is_host().then(smart_answers) {
        None => return (Vec::new(), Vec::new()),
        Some(Err(reason)) => {
            // A host without such disks misses nothing.
            let has_any = sys.names("/sys/block").iter().any(|n| n.starts_with("sd"));
            let reason = has_any.then(|| reason.to_string());
            return (Vec::new(), reason.into_iter().collect());
        }
        Some(Ok(answers)) => answers,
    };
    let mut out = Readings {
        readings: Vec::new(),
        at_seconds: 0.0,
        seconds: 0.0,
    };
    let mut silent = Vec::new();
    for answer in answers {
        match answer.health {
            Ok(health) => {
                for (quantity, value) in health.quantities() {
                    out.add(quantity, &answer.name, value);
                }
            }
            Err(reason) => silent.push(format!("SMART of {}: {reason}", answer.name)),
        }
    }
    (out.readings, silent)
}

/// Whether each mount that needs a server or another process answers.
pub(super) fn silence(answers: &[MountAnswer], out: &mut Readings) {
    for (name, answer) in answers {
        out.add("mount_silent", name, f64::from(u8::from(answer.is_err())));
    }
}

/// Each file system once, however often it is mounted.
fn space(sys: &Sysroot, out: &mut Readings) {
    let mut seen = Vec::new();
    // All at the same time: each that does not answer takes seconds.
    let others = match sys.is_host() {
        true => MountTable::read().needing_others(),
        false => Vec::new(),
    };
    let answers = ask_mounts(&others);
    let named: Vec<_> = others.iter().map(Mount::name).zip(answers).collect();
    silence(&named, out);
    for mount in mounts(sys).into_iter().take(PARTS_MAX) {
        let on_server = CLUSTERS.contains(&mount.kind.as_str());
        let covered = ["squashfs", "iso9660", "erofs", "swap"].contains(&mount.kind.as_str());
        if covered || seen.contains(&mount.device) {
            continue;
        }
        if !on_server && virtual_reason(&mount.kind).is_some() {
            continue;
        }
        let Some(space) = sys.space(&mount.mount_point).filter(|s| s.blocks > 0) else {
            continue;
        };
        seen.push(mount.device);
        let name = mount.mount_point.display().to_string();
        let free = space.available.min(space.blocks) as f64 / space.blocks as f64;
        out.add("space_used", &name, 1.0 - free);
        if let Some(free) = space.inodes_free.filter(|_| space.inodes > 0) {
            let used = space.inodes.saturating_sub(free) as f64;
            out.add("inodes_used", &name, used / space.inodes as f64);
            if on_server {
                out.add("cluster_files", &name, used);
            }
        }
    }
}

fn arrays(sys: &Sysroot, out: &mut Readings) {
    for name in sys.names("/sys/class/block") {
        let dir = device_dir(&name).join("md");
        let Some(action) = sys.text(dir.join("sync_action")) else {
            continue;
        };
        let running = ["resync", "recover", "check", "repair", "reshape"];
        let running = running.contains(&action.as_str());
        out.add("array_resync", &name, f64::from(u8::from(running)));
        if let Some(missing) = sys.number(dir.join("degraded")) {
            out.add("array_degraded", &name, missing as f64);
        }
        if let Some(sectors) = sys.number(dir.join("mismatch_cnt")) {
            out.add("array_mismatches", &name, sectors as f64);
        }
    }
}

fn drive(name: &str, facts: &std::collections::BTreeMap<String, String>, out: &mut Readings) {
    let number = |key: &str| -> Option<f64> {
        let text = facts.get(key)?;
        text.split_whitespace().next()?.parse().ok()
    };
    for (quantity, key, scale) in [
        ("drive_worn", "health_percentage_used", 0.01),
        ("drive_spare", "health_available_spare_percent", 0.01),
        ("drive_warning", "health_critical_warning", 1.0),
        ("drive_media_errors", "health_media_errors", 1.0),
        ("pcie_errors", "pcie_errors_nonfatal", 1.0),
        ("pcie_errors_fatal", "pcie_errors_fatal", 1.0),
    ] {
        if let Some(value) = number(key) {
            out.add(quantity, name, value * scale);
        }
    }
}

/// Of PCIe links of drives and interfaces, and of SATA links, whether they run
/// below what both ends can do or were slowed down after errors.
pub fn links_below_rated(sys: &Sysroot) -> Vec<(String, bool)> {
    let mut found = Vec::new();
    let addresses = sys.names("/sys/bus/pci/devices").into_iter();
    for address in addresses.take(PARTS_MAX) {
        let link = Path::new("/sys/bus/pci/devices").join(&address);
        let Some(real) = sys.resolve(&link) else {
            continue;
        };
        let part = adapter(sys, &real);
        if part.kind == "adapter" {
            continue;
        }
        let speeds = part
            .link_speed
            .as_deref()
            .zip(part.link_speed_max.as_deref());
        let widths = part.link_width.zip(part.link_width_max);
        if let Some(((speed, most), (width, widest))) = speeds.zip(widths) {
            let below = transfers(speed) < transfers(most) || width < widest;
            found.push((address, below));
        }
    }
    for name in sys.names("/sys/class/block").into_iter().take(PARTS_MAX) {
        if sys.exists(device_dir(&name).join("partition")) || !name.starts_with("sd") {
            continue;
        }
        let facts = device_facts(sys, &name).facts;
        let slowed = facts
            .get("sata_link_slowdowns")
            .and_then(|n| n.parse::<u64>().ok());
        found.extend(slowed.map(|slowed| (name, slowed > 0)));
    }
    found
}
