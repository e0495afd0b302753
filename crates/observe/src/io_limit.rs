//! What a control group may do to a device, to be changed for a while and set
//! back: `io.max` of version 2 (Documentation/admin-guide/cgroup-v2.rst) and
//! `blkio.throttle.*_iops_device` of version 1
//! (Documentation/admin-guide/cgroup-v1/blkio-controller.rst).

use std::fs;
use std::io::{self, Read as _};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use rustix::fs::OFlags;

use crate::Sysroot;
use crate::cgroup::folder_of;
use crate::target::mounts;

const READS: &str = "blkio.throttle.read_iops_device";
const WRITES: &str = "blkio.throttle.write_iops_device";
/// A line for each device that is limited.
const LIMITS_BYTES: u64 = 1 << 20;
/// Ticks of `/proc/PID/stat`: 100 a second on all that fathom runs on.
const TICKS_PER_SECOND: f64 = 100.0;

/// Why the volume of a process cannot be made smaller; what to do instead.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum GroupLimitError {
    /// No process has this number.
    #[error("there is no process {0}")]
    NoProcess(u32),
    /// A limit would hold back fathom, too.
    #[error(
        "process {pid} is in the control group {group}, together with fathom itself; it takes a \
         group of its own, for example by `systemd-run --scope -p IOAccounting=yes COMMAND`"
    )]
    OwnGroup {
        /// The process.
        pid: u32,
        /// Its group.
        group: String,
    },
    /// Version 2 without the controller for devices.
    #[error(
        "the control group of process {0} has no io.max: the io controller is not on there. \
         `systemctl set-property UNIT IOAccounting=yes` turns it on for a service, and `echo +io > \
         cgroup.subtree_control` in the groups above it by hand (it must not be bound to a \
         hierarchy of version 1); without it a smaller volume cannot be tried"
    )]
    ControllerOff(u32),
    /// Neither version has a controller for devices.
    #[error(
        "the control group of process {0} cannot be limited: no hierarchy with a controller for \
         block devices is mounted (version 2 with io, or blkio of version 1); without it a smaller \
         volume cannot be tried"
    )]
    NoHierarchy(u32),
}

/// A control group and a device.
#[derive(Debug, Clone)]
pub struct GroupLimit {
    sys: Sysroot,
    /// Folder of the group, on the described machine.
    folder: PathBuf,
    /// Version 2.
    unified: bool,
    /// `254:0`.
    device: String,
    /// For people, from the root of its hierarchy.
    name: String,
}

/// A line that sets a limit back to what it was, and the file to write it to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LimitLine {
    /// The file of the kernel.
    pub path: PathBuf,
    /// What is written.
    pub line: String,
}

impl LimitLine {
    /// Writes it.
    ///
    /// # Errors
    /// What the kernel says; a group that is gone is [`io::ErrorKind::NotFound`].
    pub fn write(&self) -> io::Result<()> {
        // The file must be there: a group that is gone is not made again.
        let mut file = fs::OpenOptions::new()
            .write(true)
            .truncate(true)
            .custom_flags(OFlags::NOFOLLOW.bits() as i32)
            .open(&self.path)?;
        io::Write::write_all(&mut file, self.line.as_bytes())
    }

    /// What the file says of the device now; `None` where it says nothing, which
    /// is no limit.
    ///
    /// # Errors
    /// What the kernel says; a group that is gone is [`io::ErrorKind::NotFound`].
    pub fn found(&self) -> io::Result<Option<String>> {
        let file = fs::OpenOptions::new()
            .read(true)
            .custom_flags(OFlags::NOFOLLOW.bits() as i32)
            .open(&self.path)?;
        let mut text = String::new();
        file.take(LIMITS_BYTES).read_to_string(&mut text)?;
        let device = self.line.split(' ').next().unwrap_or_default();
        let mut lines = text.lines();
        let found = lines.find(|line| line.split(' ').next() == Some(device));
        Ok(found.map(str::to_owned))
    }

    /// Whether the file has what the line sets, and nothing else was set since.
    ///
    /// # Errors
    /// As [`LimitLine::found`].
    pub fn stands(&self) -> io::Result<bool> {
        let found = self.found()?.unwrap_or_default();
        let found: Vec<&str> = found.split_whitespace().skip(1).collect();
        let mut wanted = self.line.split_whitespace().skip(1);
        // A file without a line for the device sets no limit.
        let no_limit = |wanted: &str| wanted == "0" || wanted.ends_with("=max");
        Ok(wanted.all(|wanted| match found.is_empty() {
            true => no_limit(wanted),
            false => found.contains(&wanted),
        }))
    }
}

impl GroupLimit {
    /// The group in which a process is.
    ///
    /// # Errors
    /// There is no such process, or no group that limits devices.
    pub fn of_process(
        sys: &Sysroot,
        pid: u32,
        device: &str,
    ) -> Result<GroupLimit, GroupLimitError> {
        let groups = sys.text(format!("/proc/{pid}/cgroup"));
        let groups = groups.ok_or(GroupLimitError::NoProcess(pid))?;
        let own = sys.text("/proc/self/cgroup").unwrap_or_default();
        let mounts = mounts(sys);
        for (controller, unified) in [("blkio", false), ("", true)] {
            let Some((top, folder)) = folder_of(&mounts, &groups, controller) else {
                continue;
            };
            let found = GroupLimit {
                sys: sys.clone(),
                name: name_of(&top, &folder),
                folder,
                unified,
                device: device.to_owned(),
            };
            if !found.is_there() {
                continue;
            }
            let ours = folder_of(&mounts, &own, controller).map(|(_, folder)| folder);
            if found.folder == top || ours.is_some_and(|ours| ours.starts_with(&found.folder)) {
                return Err(GroupLimitError::OwnGroup {
                    pid,
                    group: found.name,
                });
            }
            return Ok(found);
        }
        match mounts.iter().any(|mount| mount.kind == "cgroup2") {
            true => Err(GroupLimitError::ControllerOff(pid)),
            false => Err(GroupLimitError::NoHierarchy(pid)),
        }
    }

    fn is_there(&self) -> bool {
        let file = if self.unified { "io.max" } else { READS };
        self.sys.exists(self.folder.join(file))
    }

    /// The group, from the root of its hierarchy.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The file or files that hold the limit, for people.
    pub fn mechanism(&self) -> &'static str {
        match self.unified {
            true => "io.max",
            false => "blkio.throttle",
        }
    }

    /// The group's own limits on reads and writes per second.
    pub fn now(&self) -> [Option<u64>; 2] {
        if !self.unified {
            return [READS, WRITES].map(|file| {
                let text = self.text(file);
                let value = self.line(&text)?.trim().parse().ok();
                value.filter(|limit| *limit > 0)
            });
        }
        let text = self.text("io.max");
        ["riops=", "wiops="].map(|key| {
            let fields = self.line(&text)?.split(' ');
            fields
                .filter_map(|field| field.strip_prefix(key))
                .find_map(|value| value.parse().ok())
        })
    }

    /// What sets both limits back to what they are now.
    pub fn set_back(&self) -> Vec<LimitLine> {
        self.lines(self.now())
    }

    /// Limits reads and writes per second.
    ///
    /// # Errors
    /// What the kernel says.
    pub fn set(&self, reads: u64, writes: u64) -> io::Result<()> {
        let lines = self.setting(reads, writes);
        lines.iter().try_for_each(LimitLine::write)
    }

    /// What [`GroupLimit::set`] writes, in the order of [`GroupLimit::set_back`].
    pub fn setting(&self, reads: u64, writes: u64) -> Vec<LimitLine> {
        self.lines([Some(reads), Some(writes)])
    }

    fn lines(&self, [reads, writes]: [Option<u64>; 2]) -> Vec<LimitLine> {
        let device = &self.device;
        let line = |file: &str, line: String| LimitLine {
            path: self.sys.locate(self.folder.join(file)),
            line,
        };
        if !self.unified {
            // 0 takes a limit off.
            return vec![
                line(READS, format!("{device} {}", reads.unwrap_or(0))),
                line(WRITES, format!("{device} {}", writes.unwrap_or(0))),
            ];
        }
        let word = |limit: Option<u64>| limit.map_or("max".to_owned(), |n| n.to_string());
        let text = format!("{device} riops={} wiops={}", word(reads), word(writes));
        vec![line("io.max", text)]
    }

    /// Reads and writes of the group on the device so far, where they are
    /// counted.
    pub fn operations(&self) -> Option<f64> {
        let sum = |values: Vec<Option<f64>>| values.into_iter().sum::<Option<f64>>();
        if self.unified {
            let text = self.text("io.stat");
            let fields: Vec<&str> = self.line(&text)?.split(' ').collect();
            let of = |key: &str| {
                let found = fields.iter().find_map(|field| field.strip_prefix(key));
                found.and_then(|value| value.parse().ok())
            };
            return sum(vec![of("rios="), of("wios=")]);
        }
        let text = self.text("blkio.throttle.io_serviced");
        let of = |kind: &str| {
            let mut lines = text.lines().filter_map(|line| self.of_device(line));
            lines.find_map(|rest| rest.strip_prefix(kind)?.trim().parse().ok())
        };
        sum(vec![of("Read"), of("Write")])
    }

    /// CPU time of the group in seconds: as the group counts it, or the sum over
    /// its processes that live, in hundredths.
    pub fn cpu_seconds(&self) -> Option<f64> {
        let text = self.text("cpu.stat");
        let of_group = text.lines().find_map(|l| l.strip_prefix("usage_usec "));
        if let Some(us) = of_group.and_then(|us| us.parse::<f64>().ok()) {
            return Some(us / 1e6);
        }
        let pids = self.text("cgroup.procs");
        let ticks = pids.lines().filter_map(|pid| {
            let text = self.sys.text(format!("/proc/{}/stat", pid.trim()))?;
            // The command in brackets may hold blanks.
            let (_, after) = text.rsplit_once(')')?;
            let mut fields = after.split_ascii_whitespace().skip(11);
            let user: f64 = fields.next()?.parse().ok()?;
            let system: f64 = fields.next()?.parse().ok()?;
            Some(user + system)
        });
        let ticks: Vec<f64> = ticks.collect();
        (!ticks.is_empty()).then(|| ticks.iter().sum::<f64>() / TICKS_PER_SECOND)
    }

    fn text(&self, file: &str) -> String {
        self.sys.text(self.folder.join(file)).unwrap_or_default()
    }

    fn of_device<'l>(&self, line: &'l str) -> Option<&'l str> {
        line.strip_prefix(&self.device)?.strip_prefix(' ')
    }

    fn line<'t>(&self, text: &'t str) -> Option<&'t str> {
        text.lines().find_map(|line| self.of_device(line))
    }
}

fn name_of(top: &Path, folder: &Path) -> String {
    let inside = folder.strip_prefix(top).unwrap_or(folder);
    Path::new("/").join(inside).display().to_string()
}

#[cfg(test)]
#[path = "io_limit_tests.rs"]
mod tests;
