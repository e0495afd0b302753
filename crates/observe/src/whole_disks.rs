//! The whole disks of a host, and what each is used for: which of them hold
//! data and no system.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use fathom_model::fingerprint::DeviceFacts;

use crate::Sysroot;
use crate::device::{device_dir, device_facts};
use crate::device_stack::{device_by_path, device_stack};
use crate::filesystem::{devices_under_mount, devices_under_path};
use crate::target::mounts;
use fathom_deadline::Mount;

/// A disk with one of these mounted is the system's.
const SYSTEM_PLACES: [&str; 6] = ["/", "/boot", "/efi", "/usr", "/var", "/home"];

/// One whole disk.
#[derive(Debug, Clone, PartialEq)]
pub struct WholeDisk {
    /// Its facts: name, model, size, whether it rotates.
    pub device: DeviceFacts,
    /// Its node below `/dev`.
    pub path: PathBuf,
    /// What it is used for.
    pub used: DiskUse,
}

/// What a disk is used for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DiskUse {
    /// Nothing is mounted from it and nothing lies on it that the kernel knows.
    Free,
    /// A file system on it is mounted here, and none of the system's.
    Mounted(PathBuf),
    /// It is not to be tested unless it is named; why.
    LeftOut(String),
}

/// Every whole disk that is a drive of its own: no loop device, memory disk,
/// mapping or array.
pub fn whole_disks(sys: &Sysroot) -> Vec<WholeDisk> {
    let mounts = mounts(sys);
    let users = Users::find(sys, &mounts);
    drives(sys)
        .into_iter()
        .map(|name| {
            let device = device_facts(sys, &name);
            WholeDisk {
                path: Path::new("/dev").join(name.replace('!', "/")),
                used: users.of(sys, &device),
                device,
            }
        })
        .collect()
}

/// Names of the drives: what has hardware behind it. Optical and floppy drives
/// and the single paths of a multipath drive aside.
fn drives(sys: &Sysroot) -> Vec<String> {
    let names = sys.names("/sys/class/block");
    let is_drive = |name: &String| {
        let dir = device_dir(name);
        let real = sys.resolve(&dir);
        let made_up = real.is_none_or(|real| real.to_string_lossy().contains("/virtual/block/"));
        let path = name.strip_prefix("nvme").is_some_and(|n| n.contains('c'));
        let kept_out = ["sr", "fd"].iter().any(|kind| name.starts_with(kind));
        !(made_up || path || kept_out || sys.exists(dir.join("partition")))
    };
    names.into_iter().filter(is_drive).collect()
}

/// Who uses which drive.
struct Users {
    /// Places at which something of the drive is mounted, by drive.
    mounted: BTreeMap<String, Vec<PartitionPlace>>,
    swap: BTreeSet<String>,
}

struct PartitionPlace {
    mount_point: PathBuf,
    /// The whole file system is mounted there, and not a folder of it.
    whole: bool,
    /// The drive is the only one under it.
    alone: bool,
}

impl Users {
    fn find(sys: &Sysroot, mounts: &[Mount]) -> Users {
        let drives: BTreeSet<String> = drives(sys).into_iter().collect();
        let under = |tops: &[String]| -> Vec<String> {
            if tops.is_empty() {
                return Vec::new();
            }
            let stack = device_stack(sys, mounts, tops, 0);
            let names = stack.into_iter().map(|device| device.name);
            names.filter(|name| drives.contains(name)).collect()
        };
        let mut mounted: BTreeMap<String, Vec<PartitionPlace>> = BTreeMap::new();
        for mount in mounts {
            let tops = devices_under_mount(sys, mounts, mount, 0);
            let found = under(&tops);
            for drive in &found {
                mounted
                    .entry(drive.clone())
                    .or_default()
                    .push(PartitionPlace {
                        mount_point: mount.mount_point.clone(),
                        whole: mount.root == "/" && mount.kind != "overlay",
                        alone: found.len() == 1,
                    });
            }
        }
        let swaps = sys.text("/proc/swaps").unwrap_or_default();
        let swap = swaps.lines().skip(1).filter_map(|line| {
            let path = Path::new(line.split_whitespace().next()?);
            let tops = match device_by_path(sys, path) {
                Some(name) => vec![name],
                None => devices_under_path(sys, mounts, path, 0),
            };
            Some(under(&tops))
        });
        Users {
            swap: swap.flatten().collect(),
            mounted,
        }
    }

    fn of(&self, sys: &Sysroot, device: &DeviceFacts) -> DiskUse {
        let dir = device_dir(&device.name);
        let set = |file: &str| sys.number(dir.join(file)).is_some_and(|value| value != 0);
        let places = self.mounted.get(&device.name);
        let places = places.map(Vec::as_slice).unwrap_or_default();
        let system = |place: &&PartitionPlace| {
            let below_boot = place.mount_point.starts_with("/boot");
            below_boot
                || SYSTEM_PLACES
                    .iter()
                    .any(|s| place.mount_point == Path::new(s))
        };
        let left_out = |why: &str| DiskUse::LeftOut(why.to_owned());
        if device.size_bytes == 0 {
            return left_out("it has no medium");
        }
        if let Some(place) = places.iter().find(system) {
            let place = place.mount_point.display();
            return DiskUse::LeftOut(format!("{place} of the system is on it"));
        }
        if self.swap.contains(&device.name) {
            return left_out("it holds swap space");
        }
        if set("ro") {
            return left_out("it is read-only");
        }
        if set("removable") {
            return left_out("it is removable");
        }
        let own = places.iter().filter(|place| place.whole);
        if let Some(place) = own.clone().find(|place| place.alone) {
            return DiskUse::Mounted(place.mount_point.clone());
        }
        if let Some(place) = places.first() {
            let place = place.mount_point.display();
            return DiskUse::LeftOut(format!("it is one of several drives under {place}"));
        }
        match holders(sys, &device.name) {
            names if names.is_empty() => DiskUse::Free,
            names => DiskUse::LeftOut(format!("it is part of {}", names.join(", "))),
        }
    }
}

/// What the kernel has built on a disk or its partitions: arrays, mappings.
fn holders(sys: &Sysroot, name: &str) -> Vec<String> {
    let dir = device_dir(name);
    let mut names = sys.names(dir.join("holders"));
    for part in sys.names(&dir) {
        if sys.exists(dir.join(&part).join("partition")) {
            names.extend(sys.names(dir.join(part).join("holders")));
        }
    }
    names.sort();
    names.dedup();
    names
}
