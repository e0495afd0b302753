//! Limits that control groups set on one block device: `io.max` of version 2
//! (Documentation/admin-guide/cgroup-v2.rst) and `blkio.throttle.*_device` of
//! version 1 (Documentation/admin-guide/cgroup-v1/blkio-controller.rst). Of
//! all groups from this process up to the root the smallest limit holds.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use fathom_model::fingerprint::DeviceFacts;

use crate::Sysroot;
use crate::cgroup::{DEPTH_LIMIT, folder_of};
use crate::device::device_dir;
use fathom_deadline::Mount;

/// Fact, key in `io.max`, file of version 1.
const LIMITS: [(&str, &str, &str); 4] = [
    ("read_bytes", "rbps", "blkio.throttle.read_bps_device"),
    ("write_bytes", "wbps", "blkio.throttle.write_bps_device"),
    ("read_ops", "riops", "blkio.throttle.read_iops_device"),
    ("write_ops", "wiops", "blkio.throttle.write_iops_device"),
];

/// Adds `device_number`, and per limit `cgroup_{read,write}_{bytes,ops}` (per
/// second) with `…_group` to every device that has one.
pub(crate) fn add_io_limits(sys: &Sysroot, mounts: &[Mount], devices: &mut [DeviceFacts]) {
    let groups = sys.text("/proc/self/cgroup").unwrap_or_default();
    let hierarchies: Vec<(PathBuf, PathBuf, bool)> = [("", true), ("blkio", false)]
        .into_iter()
        .filter_map(|(controller, unified)| {
            let (top, group) = folder_of(mounts, &groups, controller)?;
            Some((top, group, unified))
        })
        .collect();
    for device in devices {
        let Some(number) = sys.text(device_dir(&device.name).join("dev")) else {
            continue;
        };
        for (top, group, unified) in &hierarchies {
            for folder in group.ancestors().take(DEPTH_LIMIT) {
                let name = Path::new("/").join(folder.strip_prefix(top).unwrap_or(folder));
                let name = name.display().to_string();
                for (fact, value) in limits_in(sys, folder, *unified, &number) {
                    keep_smallest(&mut device.facts, fact, value, &name);
                }
                if folder == top {
                    break;
                }
            }
        }
        device.facts.insert("device_number".to_owned(), number);
    }
}

fn limits_in(
    sys: &Sysroot,
    folder: &Path,
    unified: bool,
    number: &str,
) -> Vec<(&'static str, u64)> {
    if unified {
        let text = sys.text(folder.join("io.max")).unwrap_or_default();
        return parse_io_max(&text, number);
    }
    LIMITS
        .iter()
        .filter_map(|(fact, _, file)| {
            let text = sys.text(folder.join(file))?;
            Some((*fact, parse_throttle(&text, number)?))
        })
        .collect()
}

/// The limits of one device in `259:0 rbps=max wbps=1048576 riops=500`.
fn parse_io_max(text: &str, number: &str) -> Vec<(&'static str, u64)> {
    let line = text
        .lines()
        .find_map(|line| line.strip_prefix(number)?.strip_prefix(' '));
    line.unwrap_or_default()
        .split(' ')
        .filter_map(|field| {
            let (key, value) = field.split_once('=')?;
            let (fact, ..) = LIMITS.iter().find(|(_, known, _)| *known == key)?;
            Some((*fact, value.parse().ok()?))
        })
        .collect()
}

/// The limit of one device in lines of `254:0 500`.
fn parse_throttle(text: &str, number: &str) -> Option<u64> {
    let line = text
        .lines()
        .find_map(|line| line.strip_prefix(number)?.strip_prefix(' '))?;
    line.trim().parse().ok()
}

fn keep_smallest(facts: &mut BTreeMap<String, String>, fact: &str, value: u64, group: &str) {
    let name = format!("cgroup_{fact}");
    let known = facts.get(&name).and_then(|text| text.parse::<u64>().ok());
    if value > 0 && known.is_none_or(|known| value < known) {
        facts.insert(format!("{name}_group"), group.to_owned());
        facts.insert(name, value.to_string());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fathom_deadline::parse_mountinfo;

    fn limits(mountinfo: &str, files: &[(&str, &str)]) -> BTreeMap<String, String> {
        let root = tempfile::tempdir().unwrap();
        let number = ("sys/class/block/vda/dev", "254:0\n");
        for (path, text) in files.iter().chain([&number]) {
            let path = root.path().join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
        let mut devices = [DeviceFacts {
            name: "vda".to_owned(),
            ..DeviceFacts::default()
        }];
        let sys = Sysroot::at(root.path());
        add_io_limits(&sys, &parse_mountinfo(mountinfo), &mut devices);
        devices[0].facts.clone()
    }

    #[test]
    fn the_smallest_limit_of_all_groups_holds() {
        let mounts = "30 22 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw";
        let found = limits(
            mounts,
            &[
                ("proc/self/cgroup", "0::/a/b\n"),
                (
                    "sys/fs/cgroup/a/b/io.max",
                    "8:0 riops=9\n254:0 rbps=max wbps=max riops=700 wiops=800\n",
                ),
                ("sys/fs/cgroup/a/io.max", "254:0 rbps=2097152 riops=500\n"),
            ],
        );
        assert_eq!(found["device_number"], "254:0");
        assert_eq!(found["cgroup_read_ops"], "500");
        assert_eq!(found["cgroup_read_ops_group"], "/a");
        assert_eq!(found["cgroup_write_ops"], "800");
        assert_eq!(found["cgroup_write_ops_group"], "/a/b");
        assert_eq!(found["cgroup_read_bytes"], "2097152");
        assert!(!found.contains_key("cgroup_write_bytes"));
    }

    #[test]
    fn version_1_has_a_file_for_each_limit() {
        let mounts = "38 31 0:35 / /cg/blkio rw - cgroup cgroup rw,blkio";
        let found = limits(
            mounts,
            &[
                ("proc/self/cgroup", "7:blkio:/x\n"),
                (
                    "cg/blkio/x/blkio.throttle.write_iops_device",
                    "254:01 5\n254:0 250\n",
                ),
            ],
        );
        assert_eq!(found["cgroup_write_ops"], "250");
        assert_eq!(found["cgroup_write_ops_group"], "/x");
        assert_eq!(found.len(), 3);
    }

    #[test]
    fn without_control_groups_only_the_number_is_known() {
        assert_eq!(limits("", &[]).len(), 1);
    }
}
