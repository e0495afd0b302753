//! Which block devices share storage with a target without being built on it:
//! a second loop device over the same file, another mapping of the same disk,
//! the disk below a loop device.
//!
//! Each device is traced down to pieces of disks and files. What overlaps with
//! a piece of the target is looked at: loop devices always count, others when
//! they are mounted, swap, or built upon. Logical volumes of LVM are pieces of
//! their own: LVM keeps the volumes of a group apart.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use super::backing::Backing;
use super::usage::{DeviceFamily, DeviceNumber, mounts, number_in, swaps_of};

/// Devices that are stacked on each other at most.
const MOST_LEVELS: u32 = 16;
const SECTOR_BYTES: u64 = 512;

/// A part of a disk or file, in bytes.
#[derive(Debug, Clone)]
struct Piece {
    of: Whole,
    from: u64,
    to: u64,
}

#[derive(Debug, Clone)]
enum Whole {
    /// A disk, or a logical volume.
    Disk(DeviceNumber),
    File(Backing),
}

impl Piece {
    fn overlaps(&self, other: &Piece) -> bool {
        let same = match (&self.of, &other.of) {
            (Whole::Disk(one), Whole::Disk(other)) => one == other,
            (Whole::File(one), Whole::File(other)) => one.is_same(other),
            _ => false,
        };
        same && self.from < other.to && other.from < self.to
    }
}

/// The block devices of a host.
pub(crate) struct Storage<'a> {
    root: &'a Path,
    /// What a loop device lies on, by its folder in sysfs.
    backing: &'a dyn Fn(&Path) -> Option<Backing>,
}

impl<'a> Storage<'a> {
    pub(crate) fn new(
        root: &'a Path,
        backing: &'a dyn Fn(&Path) -> Option<Backing>,
    ) -> Storage<'a> {
        Storage { root, backing }
    }

    /// Why writing to the device would change what is used by way of others.
    pub(crate) fn shared(&self, target: &DeviceFamily, number: DeviceNumber) -> Vec<String> {
        let mut reasons = Vec::new();
        let below = self.below(number);
        for (device, through_loop) in &below {
            let name = self.name(*device);
            for use_of in self.uses(*device) {
                reasons.push(format!("it lies on {name}, and {use_of}"));
            }
            if *through_loop {
                let holders = self.holders(*device);
                reasons.extend(holders.iter().map(|holder| {
                    format!("it lies on {name}, and {holder} is built on that as well")
                }));
            }
        }
        let own = self.pieces(number, MOST_LEVELS);
        for other in self.all() {
            let is_own = target.members.iter().any(|(_, member)| *member == other);
            let is_below = below.iter().any(|(device, _)| *device == other);
            let is_above = self
                .below(other)
                .iter()
                .any(|(device, _)| *device == number);
            if is_own || is_below || is_above {
                continue;
            }
            let pieces = self.pieces(other, MOST_LEVELS);
            if own
                .iter()
                .any(|piece| pieces.iter().any(|p| p.overlaps(piece)))
            {
                reasons.extend(self.why_not(other));
            }
        }
        reasons
    }

    /// Why a device that shares storage with the target is in the way.
    fn why_not(&self, other: DeviceNumber) -> Vec<String> {
        let name = self.name(other);
        let mut uses = self.uses(other);
        let holders = self.holders(other);
        uses.extend(
            holders
                .iter()
                .map(|holder| format!("{holder} is built on it")),
        );
        if self.dir(other).is_some_and(|dir| dir.join("loop").exists()) && uses.is_empty() {
            uses.push("detach it with losetup -d first".to_owned());
        }
        let told = |use_of| format!("{name} holds the same data as it does, and {use_of}");
        uses.into_iter().map(told).collect()
    }

    /// Where a device is mounted, in whatever namespace, or swapped to.
    fn uses(&self, number: DeviceNumber) -> Vec<String> {
        let family = DeviceFamily {
            members: vec![(self.name(number), number)],
            holders: BTreeSet::new(),
        };
        let mut uses = mounts(self.root, &family);
        uses.extend(swaps_of(self.root, &family));
        uses
    }

    /// Every device below this one, and whether a loop device lies between.
    fn below(&self, number: DeviceNumber) -> Vec<(DeviceNumber, bool)> {
        let mut found: Vec<(DeviceNumber, bool)> = Vec::new();
        let mut open = vec![(number, false)];
        while let Some((device, through_loop)) = open.pop() {
            let Some(dir) = self.dir(device) else {
                continue;
            };
            let mut next: Vec<(DeviceNumber, bool)> = self
                .slaves(&dir)
                .map(|slave| (slave, through_loop))
                .collect();
            if dir.join("partition").exists()
                && let Some(disk) = dir.parent().and_then(|disk| number_in(&disk.join("dev")))
            {
                next.push((disk, through_loop));
            }
            if let Some(Backing::Device(backing)) = (self.backing)(&dir) {
                next.push((backing, true));
            }
            for one in next {
                if one.0 != number && !found.iter().any(|(known, _)| *known == one.0) {
                    found.push(one);
                    open.push(one);
                }
            }
        }
        found
    }

    /// What a device is made of.
    fn pieces(&self, number: DeviceNumber, levels: u32) -> Vec<Piece> {
        let whole = |bytes| {
            vec![Piece {
                of: Whole::Disk(number),
                from: 0,
                to: bytes,
            }]
        };
        let (Some(dir), Some(levels)) = (self.dir(number), levels.checked_sub(1)) else {
            return whole(u64::MAX);
        };
        let bytes = self.sectors(&dir.join("size")).unwrap_or(u64::MAX);
        if dir.join("partition").exists()
            && let Some(disk) = dir.parent().and_then(|disk| number_in(&disk.join("dev")))
        {
            let start = self.sectors(&dir.join("start")).unwrap_or(0);
            return part(self.pieces(disk, levels), start, bytes);
        }
        match (self.backing)(&dir) {
            Some(backing) => {
                let start = number_at(&dir.join("loop/offset")).unwrap_or(0);
                let on = match backing {
                    Backing::Device(device) => self.pieces(device, levels),
                    file @ Backing::File { .. } => vec![Piece {
                        of: Whole::File(file),
                        from: 0,
                        to: u64::MAX,
                    }],
                };
                part(on, start, bytes)
            }
            None if is_lvm(&dir) => whole(bytes),
            None => {
                let slaves = self.slaves(&dir);
                let pieces: Vec<Piece> = slaves.flat_map(|s| self.pieces(s, levels)).collect();
                match pieces.is_empty() {
                    true => whole(bytes),
                    false => pieces,
                }
            }
        }
    }

    fn all(&self) -> Vec<DeviceNumber> {
        let entries = fs::read_dir(self.root.join("sys/dev/block"));
        let names = entries.into_iter().flatten().flatten();
        let numbers = names.filter_map(|entry| {
            let name = entry.file_name().into_string().ok()?;
            let (major, minor) = name.split_once(':')?;
            Some((major.parse().ok()?, minor.parse().ok()?))
        });
        numbers.collect()
    }

    fn dir(&self, number: DeviceNumber) -> Option<PathBuf> {
        let link = format!("sys/dev/block/{}:{}", number.0, number.1);
        fs::canonicalize(self.root.join(link)).ok()
    }

    fn name(&self, number: DeviceNumber) -> String {
        let dir = self.dir(number);
        let name = dir.as_deref().and_then(Path::file_name);
        match name {
            Some(name) => name.to_string_lossy().into_owned(),
            None => format!("{}:{}", number.0, number.1),
        }
    }

    fn slaves(&self, dir: &Path) -> impl Iterator<Item = DeviceNumber> + use<> {
        let entries = fs::read_dir(dir.join("slaves"));
        let entries = entries.into_iter().flatten().flatten();
        entries.filter_map(|entry| number_in(&entry.path().join("dev")))
    }

    fn holders(&self, number: DeviceNumber) -> Vec<String> {
        let dir = self.dir(number).unwrap_or_default();
        let entries = fs::read_dir(dir.join("holders"));
        let entries = entries.into_iter().flatten().flatten();
        let names = entries.map(|entry| entry.file_name().to_string_lossy().into_owned());
        names.collect()
    }

    fn sectors(&self, path: &Path) -> Option<u64> {
        Some(number_at(path)?.saturating_mul(SECTOR_BYTES))
    }
}

fn number_at(path: &Path) -> Option<u64> {
    fs::read_to_string(path).ok()?.trim().parse().ok()
}

fn is_lvm(dir: &Path) -> bool {
    fs::read_to_string(dir.join("dm/uuid")).is_ok_and(|uuid| uuid.starts_with("LVM-"))
}

/// A stretch of what lies below. Where that is several pieces, it is not known
/// in which of them the stretch is: all count.
fn part(pieces: Vec<Piece>, start: u64, bytes: u64) -> Vec<Piece> {
    match &pieces[..] {
        [one] => {
            let from = one.from.saturating_add(start);
            vec![Piece {
                of: one.of.clone(),
                from,
                to: from.saturating_add(bytes).min(one.to),
            }]
        }
        _ => pieces,
    }
}

#[cfg(test)]
#[path = "storage_tests.rs"]
mod tests;
