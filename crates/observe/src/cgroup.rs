//! Limits that control groups set on this process: I/O, CPU and memory, in both
//! versions of the interface (Documentation/admin-guide/cgroup-v2.rst).
//!
//! A limit of any group above counts as well, so each one found on the way up
//! is named with its group.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use crate::Sysroot;
use fathom_deadline::Mount;

/// Name of the fact, controller of version 1 (empty: version 2), file.
const LIMITS: [(&str, &str, &str); 9] = [
    ("cgroup_io_max", "", "io.max"),
    ("cgroup_cpu_max", "", "cpu.max"),
    ("cgroup_memory_max", "", "memory.max"),
    ("cgroup_io_max", "blkio", "blkio.throttle.read_bps_device"),
    ("cgroup_io_max", "blkio", "blkio.throttle.read_iops_device"),
    ("cgroup_io_max", "blkio", "blkio.throttle.write_bps_device"),
    ("cgroup_io_max", "blkio", "blkio.throttle.write_iops_device"),
    ("cgroup_cpu_max", "cpu", "cpu.cfs_quota_us"),
    ("cgroup_memory_max", "memory", "memory.limit_in_bytes"),
];
/// Version 1 shows "no limit" as a number near 2^63.
const NO_LIMIT: u64 = 1 << 60;
/// Groups above one another that are looked at.
pub(crate) const DEPTH_LIMIT: usize = 32;

/// The limits that hold for this process, by the name of the fact.
pub(crate) fn limit_facts(sys: &Sysroot, mounts: &[Mount]) -> BTreeMap<String, String> {
    let groups = sys.text("/proc/self/cgroup").unwrap_or_default();
    let mut facts: BTreeMap<String, String> = BTreeMap::new();
    for (name, controller, file) in LIMITS {
        let Some((top, group)) = folder_of(mounts, &groups, controller) else {
            continue;
        };
        for folder in group.ancestors().take(DEPTH_LIMIT) {
            let limit = sys.text(folder.join(file)).filter(|text| is_limit(text));
            if let Some(limit) = limit {
                let what = file.strip_prefix("blkio.throttle.").unwrap_or(file);
                let limit = limit.replace('\n', ", ");
                let group = Path::new("/").join(folder.strip_prefix(&top).unwrap_or(folder));
                let text = format!("{what} {limit} (group {})", group.display());
                let fact = facts.entry(name.to_owned()).or_default();
                let separator = if fact.is_empty() { "" } else { "; " };
                fact.push_str(separator);
                fact.push_str(&text);
            }
            if folder == top {
                break;
            }
        }
    }
    facts
}

/// Where the hierarchy of a controller is mounted, and this process's folder.
pub(crate) fn folder_of(
    mounts: &[Mount],
    groups: &str,
    controller: &str,
) -> Option<(PathBuf, PathBuf)> {
    let path = groups.lines().find_map(|line| {
        let mut fields = line.splitn(3, ':').skip(1);
        let named = fields.next()?.split(',').any(|name| name == controller);
        fields.next().filter(|_| named)
    })?;
    let mount = mounts.iter().find(|mount| match controller {
        "" => mount.kind == "cgroup2",
        _ => mount.kind == "cgroup" && mount.options.iter().any(|option| option == controller),
    })?;
    // In a container the mount shows only the part below its root.
    let inside = Path::new(path)
        .strip_prefix(&mount.root)
        .unwrap_or(Path::new(""));
    Some((mount.mount_point.clone(), mount.mount_point.join(inside)))
}

fn is_limit(text: &str) -> bool {
    let unlimited = text == "-1" || text.split_whitespace().next() == Some("max");
    !unlimited && text.parse::<u64>().map_or(true, |number| number < NO_LIMIT)
}

#[cfg(test)]
mod tests {
    use super::*;
    use fathom_deadline::parse_mountinfo;

    fn facts(mountinfo: &str, files: &[(&str, &str)]) -> BTreeMap<String, String> {
        let root = tempfile::tempdir().unwrap();
        for (path, text) in files {
            let path = root.path().join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
        limit_facts(&Sysroot::at(root.path()), &parse_mountinfo(mountinfo))
    }

    #[test]
    fn version_2_limits_are_collected_on_the_way_up() {
        let mounts = "30 22 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw";
        let found = facts(
            mounts,
            &[
                ("proc/self/cgroup", "0::/user.slice/run.scope\n"),
                (
                    "sys/fs/cgroup/user.slice/run.scope/io.max",
                    "259:0 rbps=max wbps=1048576 riops=500 wiops=max\n",
                ),
                ("sys/fs/cgroup/user.slice/run.scope/memory.max", "max\n"),
                ("sys/fs/cgroup/user.slice/memory.max", "1073741824\n"),
                ("sys/fs/cgroup/user.slice/cpu.max", "max 100000\n"),
            ],
        );
        let io =
            "io.max 259:0 rbps=max wbps=1048576 riops=500 wiops=max (group /user.slice/run.scope)";
        assert_eq!(found["cgroup_io_max"], io);
        assert_eq!(
            found["cgroup_memory_max"],
            "memory.max 1073741824 (group /user.slice)"
        );
        assert_eq!(found.len(), 2);
    }

    #[test]
    fn version_1_limits_are_found_by_their_controller() {
        let mounts = "38 31 0:35 / /cg/blkio rw - cgroup cgroup rw,blkio\n39 31 0:36 / /cg/memory rw - cgroup cgroup rw,memory";
        let found = facts(
            mounts,
            &[
                (
                    "proc/self/cgroup",
                    "7:blkio:/x\n4:memory:/\n1:cpu,cpuacct:/\n",
                ),
                (
                    "cg/blkio/x/blkio.throttle.read_iops_device",
                    "254:0 500\n8:0 9\n",
                ),
                ("cg/blkio/x/blkio.throttle.write_bps_device", "254:0 4096\n"),
                ("cg/memory/memory.limit_in_bytes", "9223372036854771712\n"),
            ],
        );
        let expected =
            "read_iops_device 254:0 500, 8:0 9 (group /x); write_bps_device 254:0 4096 (group /x)";
        assert_eq!(found["cgroup_io_max"], expected);
        assert_eq!(found.len(), 1);
    }

    #[test]
    fn a_container_sees_the_part_below_its_root() {
        let mounts = "30 22 0:26 /docker/abc /sys/fs/cgroup ro - cgroup cgroup rw,memory";
        let found = facts(
            mounts,
            &[
                ("proc/self/cgroup", "4:memory:/docker/abc\n"),
                ("sys/fs/cgroup/memory.limit_in_bytes", "536870912\n"),
            ],
        );
        assert_eq!(
            found["cgroup_memory_max"],
            "memory.limit_in_bytes 536870912 (group /)"
        );
        assert!(facts("", &[]).is_empty());
    }
}
