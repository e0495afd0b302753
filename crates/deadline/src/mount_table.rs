//! On which mount a path lies, by the text of the mount table alone.

use std::ffi::OsString;
use std::fs;
use std::path::{Component, Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use crate::bounded_call::{NotResponding, ask};
use crate::mount::{Mount, mount_of, parse_mountinfo};
use crate::probe::ask_mount;

/// For how long the table is taken as it was read.
const FRESH: Duration = Duration::from_millis(200);
/// Links that are followed before a path counts as a circle, as in the kernel.
const LINKS_MAX: u32 = 40;

/// File systems whose answers come from this kernel and its own devices. All
/// others need somebody else: a server, a user process, a hypervisor.
const OWN: [&str; 34] = [
    "ext2",
    "ext3",
    "ext4",
    "xfs",
    "btrfs",
    "zfs",
    "f2fs",
    "vfat",
    "exfat",
    "msdos",
    "ntfs3",
    "bcachefs",
    "jfs",
    "nilfs2",
    "reiserfs",
    "squashfs",
    "erofs",
    "iso9660",
    "udf",
    "tmpfs",
    "ramfs",
    "devtmpfs",
    "overlay",
    "proc",
    "sysfs",
    "cgroup",
    "cgroup2",
    "devpts",
    "mqueue",
    "hugetlbfs",
    "debugfs",
    "tracefs",
    "securityfs",
    "bpf",
];
/// Kernel interfaces of which a look may start something.
const LEFT_ALONE: [&str; 8] = [
    "autofs",
    "binfmt_misc",
    "configfs",
    "efivarfs",
    "fusectl",
    "nsfs",
    "pstore",
    "rpc_pipefs",
];

impl Mount {
    /// Whether its answers depend on a server or another process.
    pub fn needs_others(&self) -> bool {
        let kind = self.kind.as_str();
        !OWN.contains(&kind) && !LEFT_ALONE.contains(&kind)
    }

    /// Its name where it does not answer.
    pub fn name(&self) -> String {
        self.mount_point.display().to_string()
    }
}

/// The mounts that this process sees.
#[derive(Debug, Clone, Default)]
pub struct MountTable {
    mounts: Vec<Mount>,
}

impl MountTable {
    /// Reads the table of this process; no mount is asked for that.
    pub fn read() -> MountTable {
        let text = fs::read("/proc/self/mountinfo").unwrap_or_default();
        MountTable {
            mounts: parse_mountinfo(&String::from_utf8_lossy(&text)),
        }
    }

    /// The table as it was a moment ago at most.
    pub fn recent() -> Arc<MountTable> {
        static RECENT: Mutex<Option<(Instant, Arc<MountTable>)>> = Mutex::new(None);
        let mut recent = RECENT.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, table)) = recent.as_ref().filter(|(at, _)| at.elapsed() < FRESH) {
            return Arc::clone(table);
        }
        let table = Arc::new(MountTable::read());
        *recent = Some((Instant::now(), Arc::clone(&table)));
        table
    }

    /// All mounts.
    pub fn mounts(&self) -> &[Mount] {
        &self.mounts
    }

    /// The mounts that need others, each file system once.
    pub fn needing_others(&self) -> Vec<Mount> {
        let mut found: Vec<Mount> = Vec::new();
        for mount in self.mounts.iter().filter(|mount| mount.needs_others()) {
            if !found.iter().any(|other| other.device == mount.device) {
                found.push(mount.clone());
            }
        }
        found
    }

    /// The mount of a path without links.
    pub fn of(&self, path: &Path) -> Option<&Mount> {
        mount_of(&self.mounts, path)
    }

    /// A path made absolute, with all links resolved as far as it exists. Each
    /// mount on the way is asked before it is entered.
    ///
    /// # Errors
    /// [`NotResponding`] with the first mount on the way that does not answer.
    pub fn resolve(&self, path: &Path) -> Result<PathBuf, NotResponding> {
        let absolute = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
        let mut left = parts(&absolute);
        let mut resolved = PathBuf::from("/");
        let mut links = 0;
        while let Some(part) = left.pop() {
            if part == ".." {
                resolved.pop();
                continue;
            }
            let here = resolved.join(&part);
            match self.link(&here)? {
                Some(target) if links < LINKS_MAX => {
                    links += 1;
                    if target.is_absolute() {
                        resolved = PathBuf::from("/");
                    }
                    left.extend(parts(&target));
                }
                _ => resolved = here,
            }
        }
        if let Some(mount) = self.of(&resolved).filter(|mount| mount.needs_others()) {
            ask_mount(mount)?;
        }
        Ok(resolved)
    }

    /// Whether something is mounted at a path, links before its last part followed.
    ///
    /// # Errors
    /// As for [`MountTable::resolve`].
    pub(crate) fn is_mount_point(&self, path: &Path) -> Result<bool, NotResponding> {
        let (Some(folder), Some(name)) = (path.parent(), path.file_name()) else {
            return Ok(false);
        };
        let here = self.resolve(folder)?.join(name);
        Ok(self.mounts.iter().any(|mount| mount.mount_point == here))
    }

    /// Where a symbolic link leads; `None` for all else.
    fn link(&self, path: &Path) -> Result<Option<PathBuf>, NotResponding> {
        // A name is looked up in its folder. A mount point is no link.
        let Some(folder) = path.parent() else {
            return Ok(None);
        };
        if self.mounts.iter().any(|mount| mount.mount_point == path) {
            return Ok(None);
        }
        let Some(mount) = self.of(folder) else {
            return Ok(fs::read_link(path).ok());
        };
        // Links of /proc/PID/fd lead to what they show by name, and elsewhere.
        if mount.kind == "proc" && folder != mount.mount_point {
            return Ok(None);
        }
        if mount.needs_others() {
            ask_mount(mount)?;
        }
        let asked = path.to_owned();
        ask(&mount.name(), move || fs::read_link(asked).ok())
    }

    /// The name of the mount of a path, which was asked whether it answers.
    pub(crate) fn enter(&self, path: &Path) -> Result<String, NotResponding> {
        let resolved = self.resolve(path)?;
        // Each device file answers, or does not, for itself.
        let mount = self.of(&resolved).filter(|mount| mount.kind != "devtmpfs");
        Ok(mount.map_or_else(|| resolved.display().to_string(), Mount::name))
    }
}

/// The parts of a path below the root, the first one last.
fn parts(path: &Path) -> Vec<OsString> {
    let named = path.components().filter_map(|part| match part {
        Component::Normal(name) => Some(name.to_owned()),
        Component::ParentDir => Some(OsString::from("..")),
        Component::Prefix(_) | Component::RootDir | Component::CurDir => None,
    });
    let mut parts: Vec<OsString> = named.collect();
    parts.reverse();
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_resolved_as_the_kernel_does_it() {
        let root = tempfile::tempdir().unwrap();
        let root = root.path().canonicalize().unwrap();
        fs::create_dir_all(root.join("a/b")).unwrap();
        fs::write(root.join("a/b/file"), "x").unwrap();
        std::os::unix::fs::symlink("a/b", root.join("relative")).unwrap();
        std::os::unix::fs::symlink(root.join("a"), root.join("a/b/absolute")).unwrap();
        std::os::unix::fs::symlink("circle", root.join("circle")).unwrap();
        let table = MountTable::read();
        for path in ["relative/file", "relative/absolute/b/../b/file", "a/./b"] {
            let path = root.join(path);
            let resolved = table.resolve(&path).unwrap();
            assert_eq!(resolved, path.canonicalize().unwrap(), "{path:?}");
        }
        let missing = root.join("relative/none/deeper");
        assert_eq!(
            table.resolve(&missing).unwrap(),
            root.join("a/b/none/deeper")
        );
        assert_eq!(
            table.resolve(&root.join("circle")).unwrap(),
            root.join("circle")
        );
        assert_eq!(table.resolve(Path::new("/")).unwrap(), Path::new("/"));
    }

    #[test]
    fn servers_and_user_processes_are_others() {
        let table = "\
22 1 259:2 / / rw - ext4 /dev/sda rw\n\
23 22 0:40 / /a rw - nfs4 server:/a rw\n\
24 22 0:40 / /b rw - nfs4 server:/a rw\n\
25 22 0:41 / /c rw - fuse.sshfs server: rw\n\
26 22 0:42 / /d rw - autofs auto rw\n\
27 22 0:43 / /e rw - unheard_of x rw\n";
        let table = MountTable {
            mounts: parse_mountinfo(table),
        };
        let asked = table.needing_others();
        let asked: Vec<u64> = asked.iter().map(|mount| mount.id).collect();
        assert_eq!(asked, [23, 25, 27]);
        assert_eq!(table.of(Path::new("/c/x")).unwrap().name(), "/c");
    }
}
