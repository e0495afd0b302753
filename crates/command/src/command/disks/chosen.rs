//! Which disks are tested, and how each is loaded.

use std::collections::BTreeMap;

use fathom_deadline::paths;
use fathom_model::fingerprint::DeviceFacts;
use fathom_model::{Target, unit};
use fathom_observe::{DiskUse, Sysroot, WholeDisk};
use fathom_rules::method::disks::FREE_SHARE;
use fathom_studies::disks::{DiskKind, DiskLoad, DiskMachine, LoadedDisk};

use crate::exit::CommandError;
use crate::{distinct_files, surroundings};

/// Room on the null target.
const NULL_ROOM_BYTES: u64 = 1 << 40;

/// A disk that is tested.
pub(super) struct Disk {
    pub(super) target: Target,
    /// Names of the drives under it.
    pub(super) drives: Vec<String>,
    pub(super) kind_name: &'static str,
    /// Of the drive or the file system.
    pub(super) size_bytes: Option<u64>,
    pub(super) load: DiskLoad,
    /// Writing harms nothing, or was allowed.
    pub(super) may_be_written: bool,
}

impl Disk {
    /// What the study needs of it.
    pub(super) fn loaded(&self) -> LoadedDisk {
        LoadedDisk {
            target: self.target.clone(),
            load: self.load,
        }
    }
}

/// The disks, and what was not chosen.
pub(super) struct Chosen {
    pub(super) disks: Vec<Disk>,
    pub(super) left_out: Vec<(String, String)>,
    pub(super) notes: Vec<String>,
}

/// The disks that were named, or the data disks of this machine.
pub(super) fn choose(
    named: &[String],
    machine: &DiskMachine,
    size_bytes: Option<u64>,
    destructive: bool,
) -> Result<Chosen, CommandError> {
    let sys = Sysroot::host();
    let mut left_out = Vec::new();
    let targets: Vec<Target> = match named.is_empty() {
        true => found(fathom_observe::whole_disks(&sys), &mut left_out),
        false => named
            .iter()
            .map(|name| parse(name))
            .collect::<Result<_, _>>()?,
    };
    for (at, target) in targets.iter().enumerate() {
        if targets[..at].contains(target) {
            return Err(CommandError::Usage(format!("{target} is named twice")));
        }
    }
    distinct_files::check_targets(&targets)?;
    let disks: Vec<Disk> = targets
        .into_iter()
        .map(|target| disk(&sys, target, machine, size_bytes, destructive))
        .collect();
    Ok(Chosen {
        notes: shared(&disks),
        disks,
        left_out,
    })
}

fn parse(name: &str) -> Result<Target, CommandError> {
    let target: Target = name.parse().map_err(CommandError::usage)?;
    let Some(path) = target.path() else {
        return Ok(target);
    };
    match paths::find(path) {
        Ok(Some(_)) => Ok(target),
        Ok(None) => Err(CommandError::Usage(format!(
            "{name} does not exist\nhelp: name a device, directory or file that is there; without a \
             name all data disks are found"
        ))),
        Err(silent) => Err(CommandError::usage(silent)),
    }
}

/// The targets of the data disks; why others are none goes to `left_out`.
fn found(disks: Vec<WholeDisk>, left_out: &mut Vec<(String, String)>) -> Vec<Target> {
    let mut targets = Vec::new();
    for disk in disks {
        match disk.used {
            DiskUse::Free => targets.push(Target::Path(disk.path)),
            DiskUse::Mounted(place) => targets.push(Target::Path(place)),
            DiskUse::LeftOut(why) => left_out.push((disk.path.display().to_string(), why)),
        }
    }
    targets
}

fn disk(
    sys: &Sysroot,
    target: Target,
    machine: &DiskMachine,
    size_bytes: Option<u64>,
    destructive: bool,
) -> Disk {
    let path = target.path();
    let directory = path.is_some_and(paths::is_dir);
    let facts = path.map(|path| fathom_observe::target_fingerprint(sys, path));
    let devices = facts.as_ref().map(|f| &f.devices[..]).unwrap_or_default();
    let leaves: Vec<&DeviceFacts> = devices.iter().filter(|d| d.below.is_empty()).collect();
    let (kind, kind_name) = kind(&target, &leaves);
    let own_bytes = match (path, directory) {
        (None, _) => simulated_bytes(&target),
        (Some(_), true) => facts
            .as_ref()
            .and_then(|f| f.filesystem.as_ref())
            .map(|f| f.total_bytes),
        (Some(path), false) => match paths::metadata(path) {
            Ok(file) if file.is_file() => Some(file.len()),
            _ => devices.first().map(|device| device.size_bytes),
        },
    };
    let room_bytes = match (path, directory) {
        (Some(path), true) => surroundings::room_for_files(path).unwrap_or(0) / FREE_SHARE,
        _ => own_bytes.unwrap_or(NULL_ROOM_BYTES),
    };
    let load = DiskLoad::by_rule(kind, machine, room_bytes);
    Disk {
        drives: leaves.iter().map(|device| device.name.clone()).collect(),
        kind_name,
        size_bytes: own_bytes,
        load: size_bytes.map_or(load, |bytes| load.sized(bytes, room_bytes)),
        may_be_written: directory || path.is_none() || destructive,
        target,
    }
}

/// Size of a simulated drive; one that there is not is for the run to tell.
fn simulated_bytes(target: &Target) -> Option<u64> {
    let Target::Sim(model) = target else {
        return None;
    };
    let drive = fathom_drives::open_drive(model, 0).ok()?;
    Some(drive.capacity_bytes())
}

fn kind(target: &Target, leaves: &[&DeviceFacts]) -> (DiskKind, &'static str) {
    let rotates = match target {
        Target::Sim(model) => model.starts_with("hdd"),
        Target::Null | Target::Path(_) | Target::Peer(_) | Target::Bucket(_) => {
            leaves.iter().any(|d| d.rotational == Some(true))
        }
    };
    match leaves.iter().any(|device| device.name.starts_with("nvme")) {
        _ if rotates => (DiskKind::Hdd, "HDD"),
        true => (DiskKind::Ssd, "NVMe"),
        false => (DiskKind::Ssd, "SSD"),
    }
}

/// Targets on one drive are no two disks.
fn shared(disks: &[Disk]) -> Vec<String> {
    let mut by_drive: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for disk in disks {
        for drive in &disk.drives {
            let targets = by_drive.entry(drive).or_default();
            targets.push(disk.target.to_string());
        }
    }
    let shared = by_drive
        .into_iter()
        .filter(|(_, targets)| targets.len() > 1);
    let mut notes: Vec<String> = shared
        .map(|(drive, targets)| {
            format!(
                "{} lie on the same drive ({drive}): all at once they share it",
                targets.join(", ")
            )
        })
        .collect();
    // Of a device the whole is used; of a file system not all that is wanted.
    let cut = |disk: &&Disk| disk.load.cut && disk.target.path().is_some_and(paths::is_dir);
    notes.extend(disks.iter().filter(cut).map(|disk| {
        format!(
            "{}: the data set is {}, half of the free space and less than was wanted",
            disk.target,
            unit::bytes(disk.load.size_bytes)
        )
    }));
    notes
}
