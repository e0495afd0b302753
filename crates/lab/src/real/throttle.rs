//! A limit of the kernel on what some processes do to a device: a control
//! group with a throttle, of version 1 or 2.
//!
//! Only direct I/O of processes in the group is held back, and in slices of
//! about a tenth of a second: the mean is kept, the latency is a saw.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering};

use super::tool;
use crate::Error;

/// Where the controller of version 1 is.
const BLKIO: &str = "/sys/fs/cgroup/blkio";
/// Where the tree of version 2 is, alone or beside version 1.
const UNIFIED: [&str; 2] = ["/sys/fs/cgroup", "/sys/fs/cgroup/unified"];

/// A control group with a throttle. Dropping it moves its processes out and
/// removes it.
#[derive(Debug)]
pub struct Throttle {
    group: PathBuf,
}

impl Throttle {
    /// Limits reads and writes per second each, on the device with this
    /// number (`7:3`).
    ///
    /// # Errors
    /// [`Error::Absent`] without root or such a controller, [`Error::Io`] when
    /// the kernel refuses.
    pub fn iops(device: &str, iops: u64) -> Result<Throttle, Error> {
        tool::need_root("a throttle")?;
        let throttle = Throttle::new()?;
        if throttle.group.starts_with(BLKIO) {
            throttle.set("blkio.throttle.read_iops_device", device, iops)?;
            throttle.set("blkio.throttle.write_iops_device", device, iops)?;
        } else {
            let path = throttle.group.join("io.max");
            let line = format!("{device} riops={iops} wiops={iops}");
            fs::write(&path, line).map_err(Error::io("write", &path))?;
        }
        Ok(throttle)
    }

    fn new() -> Result<Throttle, Error> {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let name = format!("fathom-lab-{}-{number}", std::process::id());
        let group = parent()?.join(name);
        fs::create_dir(&group).map_err(Error::io("make", &group))?;
        Ok(Throttle { group })
    }

    fn set(&self, file: &str, device: &str, value: u64) -> Result<(), Error> {
        let path = self.group.join(file);
        fs::write(&path, format!("{device} {value}")).map_err(Error::io("write", &path))
    }

    /// The command, run so that it and its children are held back.
    pub fn command(&self, program: &Path) -> Command {
        let mut command = Command::new("sh");
        command
            .args(["-c", "echo $$ > \"$0\" && exec \"$@\""])
            .arg(self.group.join("cgroup.procs"))
            .arg(program);
        command
    }
}

/// The folder in which a group with a throttle can be made.
fn parent() -> Result<PathBuf, Error> {
    if Path::new(BLKIO).join("cgroup.procs").exists() {
        return Ok(PathBuf::from(BLKIO));
    }
    for tree in UNIFIED.map(Path::new) {
        let enabled = fs::read_to_string(tree.join("cgroup.subtree_control"));
        if enabled.is_ok_and(|text| text.split_whitespace().any(|word| word == "io")) {
            return Ok(tree.to_owned());
        }
    }
    Err(Error::Absent(
        "no control group controller for block I/O is mounted here".to_owned(),
    ))
}

impl Drop for Throttle {
    fn drop(&mut self) {
        let inside = fs::read_to_string(self.group.join("cgroup.procs")).unwrap_or_default();
        let above = self
            .group
            .parent()
            .map(|parent| parent.join("cgroup.procs"));
        if let Some(above) = above {
            for pid in inside.lines() {
                let _ = fs::write(&above, pid);
            }
        }
        let _ = fs::remove_dir(&self.group);
    }
}
