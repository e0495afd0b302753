//! File systems with known properties: in memory, compressing, nearly full.

use std::fs;
use std::path::{Path, PathBuf};

use super::{LoopDevice, tool};
use crate::Error;

/// A mounted file system. Dropping it unmounts it and what lies below it.
#[derive(Debug)]
pub struct FileSystem {
    at: PathBuf,
    umount: PathBuf,
    /// Detached after the unmount.
    _below: Option<LoopDevice>,
}

impl FileSystem {
    /// A tmpfs of `bytes` at `folder/tmpfs`.
    ///
    /// # Errors
    /// [`Error::Absent`] without root, [`Error::Program`] when the mount fails.
    pub fn in_memory(folder: &Path, bytes: u64) -> Result<FileSystem, Error> {
        let at = folder.join("tmpfs");
        mount(
            &at,
            None,
            &["-t", "tmpfs", "-o", &format!("size={bytes}"), "tmpfs"],
        )
    }

    /// A btrfs of `bytes` (at least 128 MiB) at `folder/compressing`, that
    /// compresses everything with zstd.
    ///
    /// # Errors
    /// As [`FileSystem::in_memory`]; [`Error::Absent`] also without btrfs.
    pub fn compressing(folder: &Path, bytes: u64) -> Result<FileSystem, Error> {
        kernel_has("btrfs")?;
        let mkfs = tool::need("mkfs.btrfs", "btrfs-progs")?;
        let device = sparse_device(folder, bytes)?;
        let path = device.path().display().to_string();
        tool::run(&mkfs, ["-q", "-f", &path])?;
        let options = "compress-force=zstd:1";
        mount(
            &folder.join("compressing"),
            Some(device),
            &["-t", "btrfs", "-o", options, &path],
        )
    }

    /// An ext4 of `bytes` at `folder/full`, filled until about `free_bytes`
    /// are left.
    ///
    /// # Errors
    /// As [`FileSystem::in_memory`]; [`Error::Absent`] also without ext4.
    pub fn nearly_full(folder: &Path, bytes: u64, free_bytes: u64) -> Result<FileSystem, Error> {
        kernel_has("ext4")?;
        let mkfs = tool::need("mkfs.ext4", "e2fsprogs")?;
        let device = sparse_device(folder, bytes)?;
        let path = device.path().display().to_string();
        // No blocks reserved for root, or its tests see other room than users.
        tool::run(&mkfs, ["-q", "-F", "-m", "0", &path])?;
        let full = mount(&folder.join("full"), Some(device), &[&path])?;
        let free = full.free_bytes()?;
        let filler = full.path().join("filler");
        let file = fs::File::create(&filler).map_err(Error::io("make", &filler))?;
        let bytes = free.saturating_sub(free_bytes);
        rustix::fs::fallocate(&file, rustix::fs::FallocateFlags::empty(), 0, bytes)
            .map_err(|error| Error::io("fill", &filler)(error.into()))?;
        Ok(full)
    }

    /// An ext4 on `device`, complete from the start, at `at`.
    ///
    /// # Errors
    /// As [`FileSystem::in_memory`]; [`Error::Absent`] also without ext4.
    pub fn on(at: &Path, device: &Path) -> Result<FileSystem, Error> {
        kernel_has("ext4")?;
        let mkfs = tool::need("mkfs.ext4", "e2fsprogs")?;
        let path = device.display().to_string();
        let complete = "lazy_itable_init=0,lazy_journal_init=0,nodiscard";
        tool::run(&mkfs, ["-q", "-F", "-E", complete, &path])?;
        mount(at, None, &["-o", "noatime", &path])
    }

    /// Where it is mounted.
    pub fn path(&self) -> &Path {
        &self.at
    }

    /// What an ordinary user may still write.
    ///
    /// # Errors
    /// [`Error::Io`] when it cannot be asked.
    pub fn free_bytes(&self) -> Result<u64, Error> {
        let stat = rustix::fs::statvfs(&self.at)
            .map_err(|error| Error::io("ask", &self.at)(error.into()))?;
        Ok(stat.f_bavail * stat.f_frsize)
    }
}

impl Drop for FileSystem {
    fn drop(&mut self) {
        let at = [std::ffi::OsStr::new("-l"), self.at.as_os_str()];
        let _ = tool::run(&self.umount, at);
        let _ = fs::remove_dir(&self.at);
    }
}

fn mount(at: &Path, below: Option<LoopDevice>, args: &[&str]) -> Result<FileSystem, Error> {
    tool::need_root("mounting a file system")?;
    let program = tool::need("mount", "mount")?;
    let umount = tool::need("umount", "mount")?;
    fathom_outputs::make_folder(at).map_err(Error::io("make", at))?;
    let at_text = at.display().to_string();
    let all = args.iter().copied().chain([at_text.as_str()]);
    tool::run(&program, all)?;
    Ok(FileSystem {
        at: at.to_owned(),
        umount,
        _below: below,
    })
}

/// A loop device over a new sparse file.
fn sparse_device(folder: &Path, bytes: u64) -> Result<LoopDevice, Error> {
    tool::need_root("a loop device")?;
    let image = folder.join("image");
    fs::File::create(&image)
        .and_then(|file| file.set_len(bytes))
        .map_err(Error::io("make", &image))?;
    LoopDevice::over(&image, None)
}

fn kernel_has(file_system: &str) -> Result<(), Error> {
    let known = fs::read_to_string("/proc/filesystems").unwrap_or_default();
    if known.split_whitespace().any(|word| word == file_system) {
        Ok(())
    } else {
        Err(Error::Absent(format!("this kernel has no {file_system}")))
    }
}
