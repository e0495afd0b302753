//! Space and inodes of file systems on devices of this host. Network mounts are
//! not asked: a dead server would stop the recorder.

use std::collections::{HashMap, HashSet};
use std::path::Path;
use std::sync::Arc;

use fathom_observe::{Sysroot, parse_mountinfo};

use super::Reading;
use crate::frame::Row;
use crate::kind::Kind;

const MOST_FILESYSTEMS: usize = 128;
const LOCAL: [&str; 9] = [
    "ext2", "ext3", "ext4", "xfs", "btrfs", "zfs", "f2fs", "vfat", "bcachefs",
];

#[derive(Debug, Default)]
pub(super) struct Filesystems {
    names: HashMap<String, Arc<str>>,
}

impl Filesystems {
    pub(super) fn read(&mut self, reading: &mut Reading<'_>) {
        if !reading.slow() {
            return;
        }
        let mounts = parse_mountinfo(&reading.sys.text("/proc/self/mountinfo").unwrap_or_default());
        let mut seen = HashSet::new();
        for mount in mounts {
            let local = LOCAL.contains(&mount.kind.as_str());
            if !local || !seen.insert(mount.source.clone()) || seen.len() > MOST_FILESYSTEMS {
                continue;
            }
            let Some(values) = space(reading.sys, &mount.mount_point) else {
                continue;
            };
            let name = mount.mount_point.to_string_lossy().into_owned();
            let name = self
                .names
                .entry(name.clone())
                .or_insert_with(|| name.as_str().into());
            reading.rows.push(Row {
                kind: Kind::Filesystem,
                name: Arc::clone(name),
                values,
            });
        }
    }
}

/// Size, space for users, inodes and free ones.
fn space(sys: &Sysroot, mount_point: &Path) -> Option<Vec<u64>> {
    if sys.is_host() {
        let found = fathom_deadline::paths::space(mount_point).ok()?;
        let bytes = |blocks: u64| blocks.saturating_mul(found.block_bytes);
        return Some(vec![
            bytes(found.blocks),
            bytes(found.available),
            found.inodes,
            found.inodes_free,
        ]);
    }
    // Recorded: mount point, block size, blocks, free blocks, inodes.
    let table = sys.text("/statfs")?;
    let rest = table.lines().find_map(|line| {
        let (name, rest) = line.split_once(' ')?;
        (Path::new(name) == mount_point).then_some(rest)
    })?;
    let numbers: Vec<u64> = super::numbers(rest).map_while(|n| n).collect();
    let [block, blocks, free, inodes, ..] = numbers[..] else {
        return None;
    };
    Some(vec![
        block.saturating_mul(blocks),
        block.saturating_mul(free),
        inodes,
        crate::kind::ABSENT,
    ])
}
