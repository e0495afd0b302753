//! From a device down to the drives: partitions, loop devices, device mapper,
//! md, bcache and NVMe multipath.

use std::collections::VecDeque;
use std::path::Path;

use fathom_model::fingerprint::DeviceFacts;

use crate::Sysroot;
use crate::device::{device_dir, device_facts, disk_of_partition, nvme_paths};
use crate::filesystem::devices_under_path;
use fathom_deadline::{Mount, mount_of, paths};

/// No real stack is larger; a broken sysfs must not fill the memory.
const DEVICE_LIMIT: usize = 512;

/// How many loop devices and overlays may lie on one another.
pub(crate) const NESTING_LIMIT: u32 = 8;

/// The device with this number.
pub(crate) fn device_by_number(sys: &Sysroot, (major, minor): (u32, u32)) -> Option<String> {
    let link = format!("/sys/dev/block/{major}:{minor}");
    if let Some(name) = sys.resolve(link).as_deref().and_then(Path::file_name) {
        return name.to_str().map(str::to_owned);
    }
    // Very old or partly recorded trees lack the links.
    let number = format!("{major}:{minor}");
    let names = sys.names("/sys/class/block");
    names
        .into_iter()
        .find(|name| sys.text(device_dir(name).join("dev")).as_ref() == Some(&number))
}

/// The device that a path below `/dev` means, by its name alone.
pub(crate) fn device_by_path(sys: &Sysroot, path: &Path) -> Option<String> {
    let in_dev = path.strip_prefix("/dev").ok()?;
    let known = |name: &str| sys.exists(device_dir(name));
    if let Some(name) = in_dev
        .to_str()
        .map(|name| name.replace('/', "!"))
        .filter(|name| known(name))
    {
        return Some(name);
    }
    let real = sys.resolve(path);
    let linked = real
        .as_deref()
        .and_then(Path::file_name)
        .and_then(|name| name.to_str());
    if let Some(name) = linked.filter(|name| known(name)) {
        return Some(name.to_owned());
    }
    // /dev/mapper/NAME is a node of its own on hosts without udev.
    let mapped = in_dev.strip_prefix("mapper").ok()?.to_str()?.to_owned();
    let names = sys.names("/sys/class/block");
    names
        .into_iter()
        .find(|name| sys.text(device_dir(name).join("dm/name")).as_ref() == Some(&mapped))
}

/// The facts of `tops` and of everything below them, top first, each once.
pub(crate) fn device_stack(
    sys: &Sysroot,
    mounts: &[Mount],
    tops: &[String],
    nesting: u32,
) -> Vec<DeviceFacts> {
    let mut waiting: VecDeque<String> = tops.iter().cloned().collect();
    let mut stack: Vec<DeviceFacts> = Vec::new();
    while let Some(name) = waiting.pop_front() {
        if stack.iter().any(|facts| facts.name == name) || stack.len() == DEVICE_LIMIT {
            continue;
        }
        let mut facts = device_facts(sys, &name);
        facts.below = directly_below(sys, mounts, &facts, nesting);
        waiting.extend(facts.below.iter().cloned());
        name_backing_filesystem(mounts, &mut facts);
        stack.push(facts);
    }
    stack
}

/// A loop device below which there is no device lies in memory or on a server:
/// the type of the file system of its file tells, as the mount table shows it.
fn name_backing_filesystem(mounts: &[Mount], facts: &mut DeviceFacts) {
    let Some(file) = facts.facts.get("backing_file") else {
        return;
    };
    let path = Path::new(file.strip_suffix(" (deleted)").unwrap_or(file));
    let mount = mount_of(mounts, path).filter(|_| facts.below.is_empty());
    if let Some(mount) = mount {
        let kind = mount.kind.clone();
        facts.facts.insert("backing_filesystem".to_owned(), kind);
    }
}

fn directly_below(
    sys: &Sysroot,
    mounts: &[Mount],
    facts: &DeviceFacts,
    nesting: u32,
) -> Vec<String> {
    let name = facts.name.as_str();
    if let Some(disk) = disk_of_partition(sys, name) {
        return vec![disk];
    }
    if facts.kind == "loop" {
        let Some(file) = facts.facts.get("backing_file") else {
            return Vec::new();
        };
        let mut below = below_backing_file(sys, mounts, file, nesting);
        below.retain(|lower| lower != name);
        return below;
    }
    let mut below = sys.names(device_dir(name).join("slaves"));
    below.extend(nvme_paths(sys, name));
    if let Some(device) = facts
        .facts
        .get("backing_dev")
        .filter(|_| facts.kind == "zram")
    {
        below.extend(device_by_path(sys, Path::new(device)));
    }
    below.retain(|lower| lower != name && sys.exists(device_dir(lower)));
    below.dedup();
    below
}

/// The devices below a loop device's file. A file that this mount namespace
/// does not show is no answer: the same path may mean another file system.
fn below_backing_file(sys: &Sysroot, mounts: &[Mount], file: &str, nesting: u32) -> Vec<String> {
    let path = match file.strip_suffix(" (deleted)") {
        Some(gone) => Path::new(gone).parent().unwrap_or(Path::new("/")),
        None => Path::new(file),
    };
    // Where it does not answer, the mount table still tells on what it lies.
    let missing = |error: std::io::Error| error.kind() != std::io::ErrorKind::TimedOut;
    if sys.is_host() && paths::metadata(path).is_err_and(missing) {
        return Vec::new();
    }
    devices_under_path(sys, mounts, path, nesting + 1)
}
