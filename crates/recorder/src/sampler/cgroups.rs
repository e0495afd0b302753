//! Control groups that read and write: `io.stat` and `io.pressure` of version 2
//! (Documentation/admin-guide/cgroup-v2.rst), `blkio.throttle.io_service_bytes`
//! and `blkio.throttle.io_serviced` of version 1. Only groups without children:
//! those above count the same.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use fathom_observe::{KeptFile, Sysroot, parse_mountinfo, parse_total_us};

use super::Reading;
use super::limits::Limits;
use crate::frame::Row;
use crate::kind::{ABSENT, Kind, group};

/// Groups that are looked at.
const MOST_GROUPS: usize = 256;
/// Looked at in one frame.
const AT_ONCE: usize = 32;
/// Recorded in one frame.
const MOST_RECORDED: usize = 10;
/// Depth of folders that is walked.
const MOST_DEPTH: usize = 8;

#[derive(Debug, Clone, Copy, Default)]
struct CgroupCounters {
    read_bytes: u64,
    write_bytes: u64,
    reads: u64,
    writes: u64,
    stalled_us: Option<u64>,
}

#[derive(Debug)]
struct Group {
    name: Arc<str>,
    files: [KeptFile; 2],
    unified: bool,
    last: Option<(u64, CgroupCounters)>,
    folder: PathBuf,
    limits: Limits,
}

#[derive(Debug, Default)]
pub(super) struct Cgroups {
    groups: Vec<Group>,
    next: usize,
}

impl Cgroups {
    pub(super) fn read(&mut self, reading: &mut Reading<'_>) {
        if reading.slow() {
            self.list(reading.sys);
        }
        let count = self.groups.len().min(AT_ONCE);
        let mut rows = Vec::new();
        for _ in 0..count {
            self.next = (self.next + 1) % self.groups.len();
            let group = &mut self.groups[self.next];
            rows.extend(group.look(reading.buffer, reading.now_ns));
        }
        rows.sort_by_key(|row: &Row| {
            let bytes =
                row.values[group::READ_BYTES].saturating_add(row.values[group::WRITE_BYTES]);
            std::cmp::Reverse(bytes)
        });
        rows.truncate(MOST_RECORDED);
        reading.rows.append(&mut rows);
    }

    /// Looks for groups that came and went.
    fn list(&mut self, sys: &Sysroot) {
        let mounts = parse_mountinfo(&sys.text("/proc/self/mountinfo").unwrap_or_default());
        let top = |unified: bool| {
            let mount = mounts.iter().find(|mount| match unified {
                true => mount.kind == "cgroup2",
                false => mount.kind == "cgroup" && mount.options.iter().any(|o| o == "blkio"),
            })?;
            let folder = mount.mount_point.clone();
            // Version 2 without the io controller has no `io.stat` anywhere.
            let controllers = sys.text(folder.join("cgroup.controllers"));
            let has_io = !unified
                || controllers.is_some_and(|c| c.split_ascii_whitespace().any(|one| one == "io"));
            has_io.then_some((folder, unified))
        };
        let Some((top, unified)) = top(true).or_else(|| top(false)) else {
            self.groups.clear();
            return;
        };
        let mut found = Vec::new();
        walk(sys, &top, Path::new(""), 0, &mut found);
        let names: HashSet<&str> = found.iter().filter_map(|path| path.to_str()).collect();
        self.groups.retain(|group| names.contains(&*group.name));
        let mut known: HashMap<Arc<str>, ()> = HashMap::new();
        known.extend(self.groups.iter().map(|g| (Arc::clone(&g.name), ())));
        for path in &found {
            if let Some(name) = path.to_str().filter(|name| !known.contains_key(*name)) {
                self.groups.push(Group::open(sys, &top, name, unified));
            }
        }
        for group in &mut self.groups {
            group.limits.refresh(sys, &group.folder, unified);
        }
        self.next = self.next.min(self.groups.len().saturating_sub(1));
    }
}

/// Folders without children, relative to `top`. In version 1 every folder
/// counts its own tasks only, so that the ones above matter too; they are rare.
fn walk(sys: &Sysroot, top: &Path, at: &Path, depth: usize, found: &mut Vec<PathBuf>) {
    if depth > MOST_DEPTH || found.len() >= MOST_GROUPS {
        return;
    }
    let folder = top.join(at);
    let children: Vec<String> = match std::fs::read_dir(sys.locate(&folder)) {
        Ok(entries) => entries
            .flatten()
            .filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()))
            .filter_map(|entry| entry.file_name().into_string().ok())
            .take(MOST_GROUPS)
            .collect(),
        Err(_) => return,
    };
    if children.is_empty() && depth > 0 {
        found.push(at.to_path_buf());
    }
    for child in children {
        walk(sys, top, &at.join(child), depth + 1, found);
    }
}

impl Group {
    fn open(sys: &Sysroot, top: &Path, name: &str, unified: bool) -> Group {
        let names = match unified {
            true => ["io.stat", "io.pressure"],
            false => [
                "blkio.throttle.io_service_bytes",
                "blkio.throttle.io_serviced",
            ],
        };
        Group {
            files: names.map(|file| KeptFile::open(sys, top.join(name).join(file))),
            name: name.into(),
            unified,
            last: None,
            folder: top.join(name),
            limits: Limits::default(),
        }
    }

    fn look(&mut self, buffer: &mut Vec<u8>, now_ns: u64) -> Option<Row> {
        let last_ns = self.last.as_ref().map(|(last_ns, _)| *last_ns);
        let passed_ns = last_ns.and_then(|last_ns| now_ns.checked_sub(last_ns));
        let seconds = passed_ns.unwrap_or(0) as f64 / 1e9;
        let (now, limit_used) = self.counters(buffer, seconds)?;
        let (_, last) = self.last.replace((now_ns, now))?;
        if seconds <= 0.0 {
            return None;
        }
        let rate = |now: u64, last: u64| (now.saturating_sub(last) as f64 / seconds).round() as u64;
        let stalled = now.stalled_us.zip(last.stalled_us);
        let mut values = vec![ABSENT; group::FIELDS.len()];
        values[group::READ_BYTES] = rate(now.read_bytes, last.read_bytes);
        values[group::WRITE_BYTES] = rate(now.write_bytes, last.write_bytes);
        values[group::READS] = rate(now.reads, last.reads);
        values[group::WRITES] = rate(now.writes, last.writes);
        if let Some((now, last)) = stalled {
            values[group::IO_STALLED] = rate(now, last) / 1000;
        }
        values[group::LIMIT_USED] = limit_used.unwrap_or(ABSENT);
        let any = values.iter().any(|value| *value != 0 && *value != ABSENT);
        any.then(|| Row {
            kind: Kind::Group,
            name: Arc::clone(&self.name),
            values,
        })
    }

    /// Counters, and how much of its limits was used in so many seconds.
    fn counters(
        &mut self,
        buffer: &mut Vec<u8>,
        seconds: f64,
    ) -> Option<(CgroupCounters, Option<u64>)> {
        let mut counters = CgroupCounters::default();
        let [first, second] = &mut self.files;
        // A group without any operation has an empty file.
        let text = first.read(buffer).unwrap_or_default();
        if self.unified {
            for pair in text
                .split_ascii_whitespace()
                .filter_map(|f| f.split_once('='))
            {
                let place = match pair.0 {
                    "rbytes" => &mut counters.read_bytes,
                    "wbytes" => &mut counters.write_bytes,
                    "rios" => &mut counters.reads,
                    "wios" => &mut counters.writes,
                    _ => continue,
                };
                *place = place.saturating_add(pair.1.parse().unwrap_or(0));
            }
            let used = self.limits.used([text, ""], true, seconds);
            let pressure = second.read(buffer).unwrap_or_default();
            counters.stalled_us = parse_total_us(pressure, "some");
            Some((counters, used))
        } else {
            (counters.read_bytes, counters.write_bytes) = by_direction(text);
            // The buffer is for one file at a time.
            let of_bytes = match self.limits.is_empty() {
                true => String::new(),
                false => text.to_owned(),
            };
            let text = second.read(buffer).unwrap_or_default();
            (counters.reads, counters.writes) = by_direction(text);
            let used = self.limits.used([&of_bytes, text], false, seconds);
            Some((counters, used))
        }
    }
}

/// `8:0 Read 4096` of version 1, all devices together.
fn by_direction(text: &str) -> (u64, u64) {
    let mut sums = (0_u64, 0_u64);
    for line in text.lines() {
        let mut fields = line.split_ascii_whitespace().skip(1);
        let (Some(direction), Some(value)) = (fields.next(), fields.next()) else {
            continue;
        };
        let value = value.parse().unwrap_or(0);
        match direction {
            "Read" => sums.0 = sums.0.saturating_add(value),
            "Write" => sums.1 = sums.1.saturating_add(value),
            _ => {}
        }
    }
    sums
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn version_1_is_summed_over_devices() {
        let text = "8:0 Read 10\n8:0 Write 20\n8:0 Sync 30\n8:0 Total 30\n9:0 Read 1\nTotal 31\n";
        assert_eq!(by_direction(text), (11, 20));
    }
}
