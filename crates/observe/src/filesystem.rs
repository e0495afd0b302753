//! The file system under a path: its facts and the devices below it.

use std::collections::BTreeMap;
use std::io::ErrorKind;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use fathom_model::fingerprint::FilesystemFacts;

use crate::Sysroot;
use crate::block_link::insert;
use crate::device_stack::{NESTING_LIMIT, device_by_number, device_by_path};
use fathom_deadline::{Mount, mount_of, paths};

/// The mount that a path lies on. On the running host the kernel names it
/// (statx(2), since 5.8), which is right even for a path in a subvolume, a
/// bind mount or below a covered mount point.
pub(crate) fn mount_under_path<'a>(
    sys: &Sysroot,
    mounts: &'a [Mount],
    path: &Path,
) -> Option<&'a Mount> {
    let named = sys.is_host().then(|| mount_id(path)).flatten();
    let named = named.and_then(|id| mounts.iter().find(|mount| mount.id == id));
    named.or_else(|| mount_of(mounts, path))
}

fn mount_id(path: &Path) -> Option<u64> {
    use rustix::fs::{AtFlags, CWD, StatxFlags, statx};
    let stat = paths::on(path, |path| {
        Ok(statx(CWD, path, AtFlags::empty(), StatxFlags::MNT_ID)?)
    });
    let stat = stat.ok()?;
    let known = stat.stx_mask & StatxFlags::MNT_ID.bits() != 0;
    known.then_some(stat.stx_mnt_id)
}

/// The path itself or the nearest folder above it that exists, links resolved.
pub(crate) fn nearest_existing(sys: &Sysroot, path: &Path) -> PathBuf {
    if !sys.is_host() {
        return path.to_path_buf();
    }
    let absolute = std::path::absolute(path).unwrap_or_else(|_| path.to_path_buf());
    for above in absolute.ancestors() {
        match paths::canonicalize(above) {
            Ok(found) => return found,
            // The mount table still tells on what it lies.
            Err(error) if error.kind() == ErrorKind::TimedOut => break,
            Err(_) => {}
        }
    }
    absolute
}

/// Names of the devices directly under the file system that holds `path`.
/// Empty for virtual file systems and where it cannot be told.
pub(crate) fn devices_under_path(
    sys: &Sysroot,
    mounts: &[Mount],
    path: &Path,
    nesting: u32,
) -> Vec<String> {
    let path = nearest_existing(sys, path);
    let mount = mount_under_path(sys, mounts, &path);
    let names = mount.map_or_else(Vec::new, |mount| {
        devices_under_mount(sys, mounts, mount, nesting)
    });
    if !names.is_empty() || !sys.is_host() {
        return names;
    }
    // Inside a chroot the mount table may not show the mount.
    let number = paths::metadata(&path).map(|metadata| metadata.dev());
    let number = number.map(|number| (rustix::fs::major(number), rustix::fs::minor(number)));
    number
        .ok()
        .and_then(|number| device_by_number(sys, number))
        .into_iter()
        .collect()
}

/// Names of the devices directly under a mounted file system.
pub(crate) fn devices_under_mount(
    sys: &Sysroot,
    mounts: &[Mount],
    mount: &Mount,
    nesting: u32,
) -> Vec<String> {
    if nesting > NESTING_LIMIT {
        return Vec::new();
    }
    let mut names = Vec::new();
    if mount.device.0 != 0 {
        names.extend(device_by_number(sys, mount.device));
    }
    if mount.kind == "overlay"
        && let Upper::Mount(upper) = overlay_upper(sys, mounts, mount)
    {
        return devices_under_mount(sys, mounts, upper, nesting + 1);
    }
    if names.is_empty() {
        // Anonymous device number: btrfs, bcachefs (`/dev/a:/dev/b`), fuseblk.
        let sources = mount.source.split(':');
        names.extend(sources.filter_map(|source| device_by_path(sys, Path::new(source))));
    }
    if mount.kind == "btrfs" {
        add_btrfs_members(sys, &mut names);
    }
    for option in ["logdev", "rtdev"] {
        // XFS keeps its log or the data of real-time files on a second device.
        let device = mount
            .option(option)
            .and_then(|path| device_by_path(sys, Path::new(path)));
        names.extend(device);
    }
    names.dedup();
    names
}

/// A btrfs may span devices; the mount table names one of them.
fn add_btrfs_members(sys: &Sysroot, names: &mut Vec<String>) {
    for uuid in sys.names("/sys/fs/btrfs") {
        let members = sys.names(format!("/sys/fs/btrfs/{uuid}/devices"));
        if members.iter().any(|member| names.contains(member)) {
            names.extend(members);
            names.sort();
            return;
        }
    }
}

/// What the upper layer of an overlay lies on.
pub(crate) enum Upper<'a> {
    Mount(&'a Mount),
    ReadOnly,
    Unknown,
}

/// Finds the file system of an overlay's upper layer. Seen from where the
/// overlay was mounted that is a look at the mount table. In a container the
/// layer's path is not ours; but a file system that shows through another mount
/// (as `/etc/hosts` does in most containers) and has exactly the overlay's
/// block size, block count and inode count is the upper's: an overlay reports
/// the sizes of its upper layer. Two different candidates are no answer, unless both
/// are in memory: those that were given no size are all of one. The path may also be
/// one from the folder in which somebody stood who mounted the overlay.
pub(crate) fn overlay_upper<'a>(sys: &Sysroot, mounts: &'a [Mount], overlay: &Mount) -> Upper<'a> {
    let Some(upper) = overlay.option("upperdir") else {
        return Upper::ReadOnly;
    };
    let direct = mount_of(mounts, Path::new(upper)).filter(|mount| mount.kind != "overlay");
    let visible = !sys.is_host() || paths::metadata(Path::new(upper)).is_ok();
    if let Some(mount) = direct.filter(|_| visible) {
        return Upper::Mount(mount);
    }
    let Some(space) = sys.space(&overlay.mount_point) else {
        return Upper::Unknown;
    };
    let mut found: Option<&Mount> = None;
    for mount in mounts
        .iter()
        .filter(|mount| virtual_reason(&mount.kind).is_none() || is_memory(&mount.kind))
    {
        let same = sys
            .space(&mount.mount_point)
            .is_some_and(|other| other.same_size(&space));
        if same && space.inodes > 0 {
            match found {
                Some(first) if is_memory(&first.kind) && is_memory(&mount.kind) => {}
                Some(first) if first.device != mount.device => return Upper::Unknown,
                _ => found = Some(mount),
            }
        }
    }
    found.map_or(Upper::Unknown, Upper::Mount)
}

/// Facts of the file system that holds `path` (which exists) by its mount.
pub(crate) fn filesystem_facts(
    sys: &Sysroot,
    mounts: &[Mount],
    mount: &Mount,
    path: &Path,
) -> FilesystemFacts {
    // Project quotas narrow the space of a folder, and a mount point may be
    // covered by another mount.
    let space = sys.space(if sys.is_host() {
        path
    } else {
        &mount.mount_point
    });
    let bytes = |blocks: u64| space.map_or(0, |space| blocks.saturating_mul(space.block_bytes));
    let mut facts = BTreeMap::new();
    let reason = virtual_reason(&mount.kind);
    insert(&mut facts, "virtual_reason", reason.map(str::to_owned));
    if mount.kind == "overlay" {
        let upper = match overlay_upper(sys, mounts, mount) {
            Upper::Mount(upper) => format!("{} on {}", upper.kind, upper.source),
            Upper::ReadOnly => "none: the overlay is read-only".to_owned(),
            Upper::Unknown => "cannot be told from inside this container".to_owned(),
        };
        facts.insert("upper_layer".to_owned(), upper);
    }
    if mount.root != "/" {
        facts.insert("root".to_owned(), mount.root.clone());
    }
    if mount.kind == "zfs" {
        let text = "the pool's devices are known to zpool only".to_owned();
        facts.insert("devices".to_owned(), text);
    }
    FilesystemFacts {
        kind: mount.kind.clone(),
        mount_point: mount.mount_point.display().to_string(),
        source: mount.source.clone(),
        options: mount.options.clone(),
        total_bytes: space.map_or(0, |space| bytes(space.blocks)),
        available_bytes: space.map_or(0, |space| bytes(space.available)),
        virtual_kind: reason.is_some(),
        facts,
    }
}

/// Whether files of this kind of file system are in memory.
fn is_memory(kind: &str) -> bool {
    matches!(kind, "tmpfs" | "ramfs")
}

/// Why data on this kind of file system are not simply on a local block device.
pub(crate) fn virtual_reason(kind: &str) -> Option<&'static str> {
    Some(match kind {
        "tmpfs" | "ramfs" | "devtmpfs" | "hugetlbfs" | "rootfs" => {
            "data are in memory; no device is measured"
        }
        "overlay" | "aufs" | "unionfs" => {
            "a union of folders; the first write to a file copies it, and the data are on the upper layer's file system"
        }
        "fuseblk" | "fuse.ntfs-3g" | "fuse.exfat" => {
            "a user process serves the file system on a block device"
        }
        "nfs" | "nfs4" | "cifs" | "smb3" | "smbfs" | "ceph" | "lustre" | "gpfs" | "beegfs"
        | "glusterfs" | "afs" | "ocfs2_dlmfs" | "orangefs" | "pvfs2" | "wekafs" | "daosfs"
        | "fuse.sshfs" | "fuse.glusterfs" | "fuse.ceph" | "fuse.ceph-fuse" | "fuse.rclone"
        | "fuse.s3fs" | "fuse.juicefs" | "fuse.cephfs" => {
            "data are on a server; the client's caches and the network take part"
        }
        "9p" | "virtiofs" | "vboxsf" | "fuse.vmhgfs-fuse" | "vmhgfs" | "prl_fs" | "drvfs" => {
            "data are in a folder of the hypervisor's host, whose page cache takes part"
        }
        "ecryptfs" | "encfs" | "fuse.encfs" | "fuse.gocryptfs" | "shiftfs" => {
            "a layer on another file system, which is not resolved"
        }
        "proc" | "sysfs" | "cgroup" | "cgroup2" | "debugfs" | "tracefs" | "securityfs"
        | "devpts" | "mqueue" | "bpf" | "configfs" | "pstore" | "efivarfs" | "autofs"
        | "binfmt_misc" | "nsfs" | "fusectl" => "a kernel interface; it holds no data",
        kind if kind == "fuse" || kind.starts_with("fuse.") => {
            "a user process serves the file system, wherever its data are"
        }
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn file_systems_on_devices_are_not_virtual() {
        for kind in [
            "ext4", "xfs", "btrfs", "f2fs", "zfs", "ntfs3", "vfat", "bcachefs",
        ] {
            assert_eq!(virtual_reason(kind), None, "{kind}");
        }
        for kind in [
            "tmpfs", "overlay", "fuse.x", "fuse", "fuseblk", "nfs4", "9p", "virtiofs",
        ] {
            assert!(virtual_reason(kind).is_some(), "{kind}");
        }
    }
}
