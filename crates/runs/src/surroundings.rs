//! What a plan needs to know about this host before it is unrolled.

use std::collections::BTreeMap;
use std::os::unix::fs::FileTypeExt;
use std::path::Path;

use fathom_deadline::paths;
use fathom_observe::Sysroot;
use fathom_plan::{Plan, ScheduleContext, TargetFacts, TargetKind};
use fathom_studies::quick::FileRoom;

use crate::run_identity;

/// The surroundings of a plan on this host.
pub fn of(plan: &Plan) -> ScheduleContext {
    let facts = plan.targets().into_iter().filter_map(|target| {
        let facts = look(target.path()?);
        Some((target, facts))
    });
    ScheduleContext {
        ram_bytes: memory_bytes(),
        facts: facts.collect(),
        ..elsewhere()
    }
}

/// The surroundings of a plan for other hosts. What this host knows of a path, and
/// its memory, say nothing about others; the path may not even answer here.
pub fn elsewhere() -> ScheduleContext {
    ScheduleContext {
        targets: Vec::new(),
        seed: run_identity::fresh_seed(),
        destructive: false,
        keep_files: false,
        ram_bytes: None,
        facts: BTreeMap::new(),
    }
}

/// The memory of the host.
pub fn memory_bytes() -> Option<u64> {
    let info = rustix::system::sysinfo();
    u64::from(info.mem_unit).checked_mul(info.totalram as u64)
}

/// CPU threads that this process may use.
pub fn cpu_threads() -> u32 {
    let threads = std::thread::available_parallelism();
    threads.map_or(1, |threads| {
        u32::try_from(threads.get()).unwrap_or(u32::MAX)
    })
}

/// What a path is. What cannot be told is left open: the trial itself says
/// what is wrong with its target.
fn look(path: &Path) -> TargetFacts {
    let Ok(metadata) = paths::metadata(path) else {
        return TargetFacts::default();
    };
    let kind = match metadata.file_type() {
        kind if kind.is_dir() => Some(TargetKind::Directory),
        kind if kind.is_block_device() => Some(TargetKind::Device),
        kind if kind.is_file() => Some(TargetKind::File),
        _ => None,
    };
    let devices = fathom_observe::target_fingerprint(&Sysroot::host(), path).devices;
    TargetFacts {
        kind,
        size_bytes: match kind {
            Some(TargetKind::Device) => devices.first().map(|device| device.size_bytes),
            Some(TargetKind::File) => Some(metadata.len()),
            Some(TargetKind::Directory) | None => None,
        },
        free_bytes: match kind {
            Some(TargetKind::Directory) => free_bytes(path),
            _ => None,
        },
        rotational: devices
            .iter()
            .find(|d| d.below.is_empty())
            .and_then(|d| d.rotational),
    }
}

/// What a file or block device holds; `None` for a directory and for what cannot
/// be read.
pub(crate) fn fixed_bytes(path: &Path) -> Option<u64> {
    use std::io::Seek;
    use std::os::unix::fs::FileTypeExt;
    let kind = paths::metadata(path).ok()?.file_type();
    if !(kind.is_file() || kind.is_block_device()) {
        return None;
    }
    let mut file = paths::open(path).ok()?;
    file.seek(std::io::SeekFrom::End(0)).ok()
}

/// Free space for this user on the file system of a path.
fn free_bytes(path: &Path) -> Option<u64> {
    let space = paths::space(path).ok()?;
    Some(space.available.saturating_mul(space.block_bytes))
}

/// Bytes of test files for which there is room on the file system of a path: what
/// is free, without what preparing them leaves free.
pub fn room_for_files(path: &Path) -> Option<u64> {
    free_bytes(path).map(fathom_engine::prepare::room_for_files)
}

/// How large a test file in this place is, where nobody says it.
pub fn test_file_bytes(path: Option<&Path>, sustained: bool) -> u64 {
    let fixed = path.and_then(fixed_bytes);
    let room = FileRoom {
        memory_bytes: memory_bytes(),
        fixed_bytes: fixed,
        room_bytes: match fixed {
            Some(_) => None,
            None => path.and_then(room_for_files),
        },
    };
    room.file_size(sustained)
}
