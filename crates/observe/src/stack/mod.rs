//! The layers under a path or device with the settings that matter at each.
//!
//! Facts of files and devices are those of a fingerprint; what a stack adds is
//! where each layer begins on the one below it (partition start, md's data
//! offset, device mapper's table), how arrays stripe, how the file system is
//! laid out, which adapter a drive hangs on, and which server a mount is from.

mod controller;
mod dm_table;
mod places;
mod server;
mod superblock;

pub(crate) use controller::{adapter, is_pci_address, transfers};
pub use dm_table::{DmSegment, DmTable, parse_dm_table};
pub use superblock::parse_superblock;

use std::path::Path;
use std::time::Duration;

use fathom_deadline::{answer_of, find_program};
use fathom_model::fingerprint::{DeviceFacts, FilesystemFacts};
use fathom_model::stack::{FilesystemLayout, STACK_SCHEMA, Stack, StackDevice};

use crate::Sysroot;
use crate::device::device_dir;
use crate::filesystem::devices_under_path;
use crate::target::{block_device, mounts, target_fingerprint};

const PATIENCE: Duration = Duration::from_secs(2);

/// Reads the layers under `path`: a file, a folder, one that is yet to be made
/// (the nearest folder above it counts) or a block device. Findings are empty.
pub fn read_stack(sys: &Sysroot, path: &Path) -> Stack {
    let mut fingerprint = target_fingerprint(sys, path);
    let absolute = match sys.is_host() {
        true => std::path::absolute(path).unwrap_or_else(|_| path.to_owned()),
        false => path.to_owned(),
    };
    let top = match block_device(sys, &absolute) {
        Some(name) => vec![name],
        None => devices_under_path(sys, &mounts(sys), &absolute, 0),
    };
    let mut notes = unseen(sys);
    let tables = dm_tables(sys, &fingerprint.devices, &mut notes);
    let mut stack = Stack {
        schema: STACK_SCHEMA.to_owned(),
        target: fingerprint.target.clone(),
        top,
        ..Stack::default()
    };
    for facts in std::mem::take(&mut fingerprint.devices) {
        let mut device = of_device(sys, &tables, facts);
        if device.facts.below.is_empty()
            && let Some(found) = controller::controller(sys, &device.facts.name)
        {
            device.controller = Some(found.name.clone());
            if !stack.controllers.iter().any(|one| one.name == found.name) {
                stack.controllers.push(found);
            }
        }
        stack.devices.push(device);
    }
    stack.server = fingerprint.filesystem.as_ref().and_then(server::server);
    stack.layout = layout(sys, &fingerprint.filesystem, &stack.top);
    stack.filesystem = fingerprint.filesystem;
    if sys.is_host() {
        let silent = fathom_deadline::not_responding();
        notes.extend(
            silent
                .iter()
                .map(|silent| format!("{silent}: what lies on it, or below it, is not known")),
        );
    }
    stack.notes = notes;
    stack
}

/// Why nothing can be seen, where the kernel's own file systems are not there.
fn unseen(sys: &Sysroot) -> Vec<String> {
    let looked_at = [
        ("/proc/self/mountinfo", "/proc", "what is mounted where"),
        ("/sys/devices", "/sys", "devices and their settings"),
    ];
    let missing = looked_at.into_iter().filter(|(file, ..)| !sys.exists(file));
    missing
        .map(|(_, top, what)| format!("{what}: {top} is not mounted here, or cannot be read"))
        .collect()
}

/// Device mapper's tables. sysfs does not tell where a mapping begins.
fn dm_tables(sys: &Sysroot, devices: &[DeviceFacts], notes: &mut Vec<String>) -> Vec<DmTable> {
    if !devices.iter().any(|device| device.kind == "dm") {
        return Vec::new();
    }
    let text = match sys.is_host() {
        false => sys.text("/dmsetup-table").ok_or_else(String::new),
        true => asked("dmsetup", &["table"]).map_err(|why| why.to_string()),
    };
    match text {
        Ok(text) => parse_dm_table(&text),
        Err(why) => {
            let why = match why.is_empty() {
                true => String::new(),
                false => format!(" ({why})"),
            };
            notes.push(format!(
                "where mappings of the device mapper begin is not known: `dmsetup table` could \
                 not be asked{why}"
            ));
            Vec::new()
        }
    }
}

/// Why a program of the system gave no answer.
#[derive(Debug, thiserror::Error)]
enum NoAnswer<'p> {
    #[error("{0} is not installed")]
    NotInstalled(&'p str),
    #[error("{0}")]
    NotRun(#[from] std::io::Error),
    #[error("{program} ended with {status}; are you root?")]
    Failed {
        program: &'p str,
        status: std::process::ExitStatus,
    },
}

/// What a program of the system prints.
fn asked<'p>(program: &'p str, arguments: &[&str]) -> Result<String, NoAnswer<'p>> {
    let path = find_program(program).ok_or(NoAnswer::NotInstalled(program))?;
    let answer = answer_of(&path, arguments, PATIENCE)?;
    match answer.status.success() {
        true => Ok(answer.text),
        false => Err(NoAnswer::Failed {
            program,
            status: answer.status,
        }),
    }
}

fn of_device(sys: &Sysroot, tables: &[DmTable], facts: DeviceFacts) -> StackDevice {
    let dir = device_dir(&facts.name);
    let queue = |file: &str| sys.number(dir.join("queue").join(file));
    let table = facts.facts.get("dm_name");
    let table = table.and_then(|name| tables.iter().find(|table| &table.name == name));
    let is_partition = facts.kind == "partition";
    StackDevice {
        layer: places::layer(sys, &facts, table),
        places: places::places(sys, &facts, table),
        minimum_io_bytes: queue("minimum_io_size"),
        alignment_offset_bytes: sys
            .text(dir.join("alignment_offset"))
            .and_then(|text| text.parse().ok()),
        discard_granularity_bytes: queue("discard_granularity"),
        discard_alignment_bytes: sys
            .number(dir.join("discard_alignment"))
            // Of a partition without discards the kernel prints 2^32 - 1.
            .filter(|bytes| *bytes < 1 << 31 && (!is_partition || *bytes > 0)),
        device_queue_depth: sys.number(dir.join("device/queue_depth")),
        stripe: places::stripe(sys, &facts, table),
        controller: None,
        facts,
    }
}

/// From the superblock where the device may be read, else from what the mount
/// table and sysfs tell.
fn layout(
    sys: &Sysroot,
    filesystem: &Option<FilesystemFacts>,
    top: &[String],
) -> Option<FilesystemLayout> {
    let first = top.first()?;
    let read = superblock::read_superblock(sys, first);
    let Some(filesystem) = filesystem else {
        return read;
    };
    // An overlay's device holds the file system of its upper layer.
    let of_it = read.filter(|read| {
        read.kind == filesystem.kind || (read.kind == "ext4" && filesystem.kind.starts_with("ext"))
    });
    of_it.or_else(|| superblock::layout_of_mount(sys, filesystem, first))
}
