//! How much memory the control groups of this process leave it (cgroups(7): the file
//! `memory.max` of version 2, `memory.limit_in_bytes` of version 1).

use std::fs;
use std::path::{Path, PathBuf};

/// A limit above this is none: version 1 writes the largest number of pages.
const NO_LIMIT_BYTES: u64 = 1 << 60;

/// The tightest of the groups.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct GroupRoom {
    /// What all of its processes may have.
    pub(super) limit_bytes: u64,
    /// What they do not use. The page cache makes room.
    pub(super) free_bytes: u64,
}

/// The room that is left; `None` where nothing limits it.
pub(super) fn room() -> Option<GroupRoom> {
    let groups = fs::read_to_string("/proc/self/cgroup").ok()?;
    let folders = groups.lines().filter_map(|line| {
        let (controllers, path) = line.split_once(':')?.1.split_once(':')?;
        let mount = match controllers {
            "" => "/sys/fs/cgroup",
            _ if controllers.split(',').any(|c| c == "memory") => "/sys/fs/cgroup/memory",
            _ => return None,
        };
        Some((
            PathBuf::from(mount),
            path.trim_start_matches('/').to_owned(),
        ))
    });
    let rooms = folders.filter_map(|(mount, path)| tightest(&mount, &mount.join(path)));
    rooms.min_by_key(|room| room.free_bytes)
}

/// Of a group and those above it.
fn tightest(mount: &Path, group: &Path) -> Option<GroupRoom> {
    let above = group.ancestors().take_while(|at| at.starts_with(mount));
    above
        .filter_map(of_group)
        .min_by_key(|room| room.free_bytes)
}

fn of_group(group: &Path) -> Option<GroupRoom> {
    let text = |file: &str| fs::read_to_string(group.join(file)).ok();
    let limit = text("memory.max").or_else(|| text("memory.limit_in_bytes"))?;
    let limit_bytes = limit
        .trim()
        .parse()
        .ok()
        .filter(|limit| *limit < NO_LIMIT_BYTES)?;
    let used = used_bytes(&text("memory.stat").unwrap_or_default());
    Some(GroupRoom {
        limit_bytes,
        free_bytes: limit_bytes.saturating_sub(used),
    })
}

/// Memory that cannot be given up, of a group and all below it.
fn used_bytes(stat: &str) -> u64 {
    let value = |wanted: &str| {
        let line = stat.lines().find_map(|line| line.strip_prefix(wanted));
        line.and_then(|rest| rest.trim().parse::<u64>().ok())
    };
    value("anon ").or_else(|| value("total_rss ")).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tightest_group_counts_in_both_versions() {
        let mount = tempfile::tempdir().unwrap();
        let group = mount.path().join("outer/inner");
        fs::create_dir_all(&group).unwrap();
        assert_eq!(tightest(mount.path(), &group), None);
        let outer = mount.path().join("outer");
        fs::write(outer.join("memory.max"), "67108864\n").unwrap();
        fs::write(outer.join("memory.stat"), "anon 7340032\nfile 50000000\n").unwrap();
        fs::write(group.join("memory.max"), "max\n").unwrap();
        let found = tightest(mount.path(), &group).unwrap();
        assert_eq!(found.limit_bytes, 64 << 20);
        assert_eq!(found.free_bytes, 57 << 20);
        fs::remove_file(group.join("memory.max")).unwrap();
        fs::write(group.join("memory.limit_in_bytes"), "33554432").unwrap();
        fs::write(
            group.join("memory.stat"),
            "cache 5\nrss 1\ntotal_rss 1048576\n",
        )
        .unwrap();
        let found = tightest(mount.path(), &group).unwrap();
        assert_eq!(found.free_bytes, 31 << 20);
        fs::write(group.join("memory.limit_in_bytes"), "9223372036854771712").unwrap();
        assert_eq!(
            tightest(mount.path(), &group).unwrap().limit_bytes,
            64 << 20
        );
    }
}
