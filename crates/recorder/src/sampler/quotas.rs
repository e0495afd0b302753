//! CPU quotas of control groups, and in how many of their periods they held a group
//! back: `cpu.max` and `cpu.stat` of version 2 (Documentation/admin-guide/cgroup-v2.rst),
//! `cpu.cfs_quota_us` and `cpu.stat` of version 1
//! (Documentation/scheduler/sched-bwc.rst).

use std::path::{Path, PathBuf};
use std::sync::Arc;

use fathom_deadline::Mount;
use fathom_observe::{KeptFile, Sysroot, parse_mountinfo, parse_quota};

use super::Reading;
use crate::frame::Row;
use crate::kind::{Kind, quota};

/// Groups with a quota that are looked at.
const MOST_QUOTAS: usize = 64;
/// Groups that are asked for one.
const MOST_GROUPS: usize = 1024;
/// Depth of folders that is walked.
const MOST_DEPTH: usize = 8;

#[derive(Debug)]
struct Quota {
    name: Arc<str>,
    stat: KeptFile,
}

#[derive(Debug, Default)]
pub(super) struct Quotas {
    groups: Vec<Quota>,
}

impl Quotas {
    pub(super) fn read(&mut self, reading: &mut Reading<'_>) {
        if reading.slow() {
            self.list(reading.sys);
        }
        for group in &mut self.groups {
            let Some(text) = group.stat.read(reading.buffer) else {
                continue;
            };
            let Some(used) = parse_quota(text, String::new()) else {
                continue;
            };
            let mut row = Row::absent(Kind::Quota, Arc::clone(&group.name));
            row.values[quota::PERIODS] = used.periods;
            row.values[quota::HELD_BACK] = used.throttled_periods;
            reading.rows.push(row);
        }
    }

    /// Looks for groups that came and went, and for quotas that were set.
    fn list(&mut self, sys: &Sysroot) {
        let mounts = parse_mountinfo(&sys.text("/proc/self/mountinfo").unwrap_or_default());
        let mut found = Vec::new();
        let mut asked = 0;
        for (top, limit) in mounts.iter().filter_map(hierarchy) {
            let at = Place {
                sys,
                top: &top,
                limit,
            };
            walk(&at, Path::new(""), 0, &mut asked, &mut found);
        }
        self.groups
            .retain(|group| found.iter().any(|(name, _)| **name == *group.name));
        for (name, folder) in found {
            if self.groups.iter().all(|group| *group.name != *name) {
                self.groups.push(Quota {
                    name: name.into(),
                    stat: KeptFile::open(sys, folder.join("cpu.stat")),
                });
            }
        }
    }
}

/// Where groups have CPU quotas, and the file that holds one.
fn hierarchy(mount: &Mount) -> Option<(PathBuf, &'static str)> {
    let limit = match mount.kind.as_str() {
        "cgroup2" => "cpu.max",
        "cgroup" if mount.options.iter().any(|option| option == "cpu") => "cpu.cfs_quota_us",
        _ => return None,
    };
    Some((mount.mount_point.clone(), limit))
}

struct Place<'a> {
    sys: &'a Sysroot,
    top: &'a Path,
    limit: &'static str,
}

/// Groups with a quota; also those with children, which share it.
fn walk(
    at: &Place<'_>,
    group: &Path,
    depth: usize,
    asked: &mut usize,
    found: &mut Vec<(String, PathBuf)>,
) {
    if depth > MOST_DEPTH || *asked >= MOST_GROUPS || found.len() >= MOST_QUOTAS {
        return;
    }
    *asked += 1;
    let folder = at.top.join(group);
    let limit = at.sys.text(folder.join(at.limit)).unwrap_or_default();
    if depth > 0 && is_quota(&limit) {
        found.push((group.display().to_string(), folder.clone()));
    }
    // Beside its files, only the groups in a group have processes.
    let is_group = |name: &String| at.sys.exists(folder.join(name).join("cgroup.procs"));
    let children = at.sys.names(&folder).into_iter().filter(is_group);
    for child in children.take(MOST_GROUPS) {
        walk(at, &group.join(child), depth + 1, asked, found);
    }
}

/// `20000 100000` and `20000` are quotas, `max 100000` and `-1` are none.
fn is_quota(limit: &str) -> bool {
    let first = limit.split_ascii_whitespace().next();
    first.is_some_and(|first| first.parse::<u64>().is_ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(mountinfo: &str, files: &[(&str, &str)]) -> Vec<(String, Vec<u64>)> {
        let root = tempfile::tempdir().unwrap();
        for (path, text) in files.iter().chain([&("proc/self/mountinfo", mountinfo)]) {
            let path = root.path().join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
        let (mut buffer, mut rows) = (Vec::new(), Vec::new());
        let sys = Sysroot::at(root.path());
        let mut reading = Reading {
            sys: &sys,
            buffer: &mut buffer,
            rows: &mut rows,
            now_ns: 0,
            count: 0,
        };
        Quotas::default().read(&mut reading);
        let named = rows.into_iter();
        named
            .map(|row| (row.name.to_string(), row.values))
            .collect()
    }

    #[test]
    fn groups_with_a_quota_are_counted_in_both_versions() {
        let stat = "nr_periods 100\nnr_throttled 93\nthrottled_time 7\n";
        let first = rows(
            "38 31 0:35 / /cg/cpu rw - cgroup cgroup rw,cpu\n",
            &[
                ("cg/cpu/app/cpu.cfs_quota_us", "20000\n"),
                ("cg/cpu/app/cpu.stat", stat),
                ("cg/cpu/app/cgroup.procs", "7\n"),
                ("cg/cpu/free/cpu.cfs_quota_us", "-1\n"),
                ("cg/cpu/free/cpu.stat", stat),
                ("cg/cpu/free/cgroup.procs", "8\n"),
            ],
        );
        assert_eq!(first, [("app".to_owned(), vec![100, 93])]);
        let second = rows(
            "30 22 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw",
            &[
                ("sys/fs/cgroup/pod/cpu.max", "max 100000\n"),
                ("sys/fs/cgroup/pod/cgroup.procs", ""),
                ("sys/fs/cgroup/pod/one/cgroup.procs", "9\n"),
                ("sys/fs/cgroup/pod/one/cpu.max", "50000 100000\n"),
                (
                    "sys/fs/cgroup/pod/one/cpu.stat",
                    "usage_usec 5\nnr_periods 9\nnr_throttled 4\nthrottled_usec 7\n",
                ),
            ],
        );
        assert_eq!(second, [("pod/one".to_owned(), vec![9, 4])]);
    }
}
