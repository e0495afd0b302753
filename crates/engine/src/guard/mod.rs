//! Keeping somebody's data from being overwritten.
//!
//! A block device is written to only if nothing on it and nobody around it
//! says that it is in use: no signature of a file system, RAID, volume manager,
//! encryption or partition table, no mount, holder, swap, loop device or open
//! file. Permission of the user does not override this: the user has to clear
//! the device first, which this room explains. Reading is always allowed.

mod backing;
mod layouts;
mod signature;
mod storage;
mod usage;

pub use signature::{Signature, scan_signatures};

use std::collections::BTreeSet;
use std::fs::File;
use std::io::{Seek, SeekFrom};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use fathom_deadline::{device_patience, paths};
use rustix::fs::{FileType, OFlags};
use rustix::io::Errno;

use crate::Error;
use crate::target_file::TargetFile;
use backing::{Backing, backing_of, below_overlay};
use storage::Storage;
use usage::{
    WritingProcess, family, is_fellow_agent, loops, mounts, number_of, openers, swaps, swaps_of,
    writers,
};

/// What is known about a block device before anything is written to it.
#[derive(Debug)]
pub struct DeviceGuard {
    /// The device, with symbolic links resolved.
    pub path: PathBuf,
    /// Its size.
    pub size_bytes: u64,
    /// Smallest addressable unit.
    pub logical_block_bytes: u32,
    /// The kernel refuses writes to it.
    pub read_only: bool,
    /// What was recognised on it.
    pub signatures: Vec<Signature>,
    /// Why it must not be written to, and the remedies, in words. Empty when
    /// it may be.
    pub reasons: Vec<String>,
    /// What was looked at: nothing else is ever opened, whatever the path leads to
    /// by then.
    file: TargetFile,
}

/// A device that this process alone may mount, format or claim. Given up when
/// it is dropped.
#[derive(Debug)]
pub struct DeviceClaim {
    _file: File,
}

/// Looks at a block device without changing it.
///
/// # Errors
/// [`Error::Io`] when it cannot be opened or read, [`Error::Target`] when it
/// is no block device.
pub fn inspect_device(path: &Path) -> Result<DeviceGuard, Error> {
    let resolved = paths::canonicalize(path).map_err(Error::io("open", path))?;
    let looked = paths::on(&resolved, TargetFile::look);
    let (file, facts) = looked.map_err(Error::io("examine", path))?;
    if facts.kind != FileType::BlockDevice {
        return Err(Error::target(path, "is not a block device"));
    }
    inspect(&file)
}

/// Looks at a block device that was found before, without changing it.
///
/// # Errors
/// As for [`inspect_device`].
pub(crate) fn inspect(file: &TargetFile) -> Result<DeviceGuard, Error> {
    let (number, size_bytes, logical_block_bytes, signatures) = read_device(file)?;
    let mut guard = DeviceGuard {
        size_bytes,
        logical_block_bytes,
        read_only: false,
        reasons: Vec::new(),
        signatures,
        path: file.path().to_owned(),
        file: file.clone(),
    };
    guard.find_users(number);
    guard.try_exclusive();
    guard.explain_signatures();
    Ok(guard)
}

/// Number, size, block size and signatures of a device.
type Read = (usage::DeviceNumber, u64, u32, Vec<Signature>);

/// Reads a device. One that sleeps takes seconds to answer, one that hangs never
/// does.
fn read_device(file: &TargetFile) -> Result<Read, Error> {
    let path = file.path();
    let file = file.clone();
    let read = paths::on_device_within(device_patience(path), path, move |path| {
        let mut file = match file.open_to_read() {
            Ok(file) => file,
            Err(error) => return Ok(Err(Error::io("open", path)(error))),
        };
        let number = number_of(file.metadata()?.rdev());
        let size_bytes = file.seek(SeekFrom::End(0))?;
        let signatures = scan_signatures(&file, size_bytes)?;
        let block_bytes = rustix::fs::ioctl_blksszget(&file).unwrap_or(512);
        Ok(Ok((number, size_bytes, block_bytes, signatures)))
    });
    read.map_err(Error::io("read", path))?
}

impl DeviceGuard {
    fn find_users(&mut self, number: usage::DeviceNumber) {
        let root = Path::new("/");
        let family = family(root, number).unwrap_or_else(|| usage::DeviceFamily {
            members: vec![(self.path.display().to_string(), number)],
            holders: BTreeSet::new(),
        });
        for mount in mounts(root, &family) {
            self.reasons.push(format!("{mount}; unmount it first"));
        }
        for swap in swaps_of(root, &family) {
            self.reasons
                .push(format!("{swap}; switch it off with swapoff first"));
        }
        let on_member = |backing: &Backing| {
            let is = |number: &usage::DeviceNumber| *backing == Backing::Device(*number);
            family.members.iter().any(|(_, member)| is(member))
        };
        for found in loops(root, &backing_of, on_member) {
            self.reasons
                .push(format!("{found}; detach it with losetup -d first"));
        }
        for holder in &family.holders {
            self.reasons.push(format!(
                "{holder} is built on it; take that apart first (or name it as the target)"
            ));
        }
        self.reasons
            .extend(Storage::new(root, &backing_of).shared(&family, number));
        self.find_users_of_file(root, number);
        let partitions: Vec<&str> = family.members[1..]
            .iter()
            .map(|(name, _)| name.as_str())
            .collect();
        if !partitions.is_empty() {
            self.reasons.push(format!(
                "it has the partitions {}; name one of them, or remove the partition table",
                partitions.join(", ")
            ));
        }
        for opener in patient_openers(&family) {
            self.reasons.push(format!("{opener}; end that first"));
        }
    }

    /// Who uses the file that the device, a loop device, lies on.
    fn find_users_of_file(&mut self, root: &Path, number: usage::DeviceNumber) {
        let dir = root.join(format!("sys/dev/block/{}:{}", number.0, number.1));
        let backing = dir.canonicalize().ok().and_then(|dir| backing_of(&dir));
        let Some(Backing::File { path, identity }) = backing else {
            return;
        };
        let Some(identity) = identity else {
            self.reasons.push(format!(
                "it lies on {}, which cannot be examined from here",
                path.display()
            ));
            return;
        };
        let shown = path.display();
        for swap in swaps(root, |other| is_file(other, identity)) {
            self.reasons
                .push(format!("{swap}; switch it off with swapoff first"));
        }
        for writer in writers_of(root, &path, identity) {
            self.reasons.push(format!(
                "the file below it, {shown}, is open for writing in {}; end that first",
                writer.shown
            ));
        }
    }

    /// The kernel grants an exclusive open only if nobody has mounted or
    /// claimed the device, in whatever namespace.
    fn try_exclusive(&mut self) {
        match open_exclusive(&self.file) {
            Ok(_) => {}
            Err(Errno::BUSY) => {
                if self.reasons.is_empty() {
                    self.reasons.push(
                        "the kernel says that it is in use (mounted elsewhere, or claimed)"
                            .to_owned(),
                    );
                }
            }
            Err(Errno::ROFS | Errno::PERM) => self.read_only = true,
            // Without permission to write there is nothing to claim.
            Err(_) => {}
        }
    }

    fn explain_signatures(&mut self) {
        for signature in &self.signatures {
            self.reasons.push(format!(
                "it holds: {} (mark at byte {}); if nobody needs that any more, erase it with \
                 '{}'",
                signature.what,
                signature.offset,
                signature.erase_command(&self.path)
            ));
        }
    }

    /// Whether the device may be written to.
    ///
    /// # Errors
    /// [`Error::Refused`] with every reason when it is in use or holds data.
    pub fn permit(&self) -> Result<(), Error> {
        if self.reasons.is_empty() {
            return Ok(());
        }
        Err(Error::Refused {
            path: self.path.clone(),
            reason: self.reasons.join("; also, "),
        })
    }

    /// Claims the device for writing.
    ///
    /// # Errors
    /// [`Error::Refused`] with every reason when it is in use or holds data,
    /// [`Error::Io`] when it cannot be opened for writing.
    pub fn claim(&self) -> Result<DeviceClaim, Error> {
        self.permit()?;
        match open_exclusive(&self.file) {
            Ok(file) => Ok(DeviceClaim { _file: file }),
            Err(Errno::BUSY) => Err(Error::Refused {
                path: self.path.clone(),
                reason: "somebody has just claimed it".to_owned(),
            }),
            Err(errno) => Err(Error::io("open for writing", &self.path)(errno.into())),
        }
    }
}

/// Device managers open a device for a moment whenever it changes; only what
/// stays is reported.
fn patient_openers(family: &usage::DeviceFamily) -> Vec<String> {
    lasting(|| openers(Path::new("/"), family))
}

/// What is still found after a while.
fn lasting(look: impl Fn() -> Vec<String>) -> Vec<String> {
    let mut found = look();
    for _ in 0..10 {
        if found.is_empty() {
            break;
        }
        std::thread::sleep(Duration::from_millis(50));
        found = look();
    }
    found
}

/// Opens a device for reading and writing as nobody else may at the same time.
fn open_exclusive(file: &TargetFile) -> Result<File, Errno> {
    let opened = file.open(OFlags::RDWR | OFlags::EXCL);
    opened.map_err(|error| Errno::from_io_error(&error).unwrap_or(Errno::IO))
}

/// Why a regular file that the user allowed to be overwritten must not be:
/// it is swap space, or a loop device lies on it. Empty when it may be.
pub fn file_users(path: &Path) -> Vec<String> {
    let Ok(facts) = paths::metadata(path) else {
        return Vec::new();
    };
    let own = (number_of(facts.dev()), facts.ino());
    let identity = below_overlay(path).unwrap_or(own);
    let this = Backing::File {
        path: path.to_owned(),
        identity: Some(identity),
    };
    let root = Path::new("/");
    let mut users = swaps(root, |other| is_file(other, identity));
    users.extend(loops(root, &backing_of, |backing| backing.is_same(&this)));
    users
}

/// Other processes that have a regular file open for writing, which the user
/// allowed to be overwritten: the disk of a virtual machine that runs. A process
/// that is being started has what its parent has, for a moment; only what stays
/// is reported.
pub fn file_writers(path: &Path) -> Vec<String> {
    let Ok(facts) = paths::metadata(path) else {
        return Vec::new();
    };
    let own = (number_of(facts.dev()), facts.ino());
    let identity = below_overlay(path).unwrap_or(own);
    let root = Path::new("/");
    lasting(|| {
        let found = writers_of(root, path, identity).into_iter();
        // Agents of one host that work for the same run share its files.
        let others = found.filter(|writer| !is_fellow_agent(root, &writer.process));
        let told = |writer: WritingProcess| {
            let shown = writer.shown;
            format!("{shown} has it open for writing; end that first")
        };
        others.map(told).collect()
    })
}

/// Who has a file open for writing. On an overlay it is open by another device and
/// inode than its data have.
fn writers_of(
    root: &Path,
    path: &Path,
    identity: (usage::DeviceNumber, u64),
) -> BTreeSet<WritingProcess> {
    let visible = paths::metadata(path).map(|f| (number_of(f.dev()), f.ino()));
    let names = BTreeSet::from_iter([identity].into_iter().chain(visible));
    let of_name = |(device, inode)| writers(root, device, inode);
    names.into_iter().flat_map(of_name).collect()
}

/// Whether the file at a path is the one of this device and inode.
fn is_file(path: &Path, identity: (usage::DeviceNumber, u64)) -> bool {
    let facts = paths::metadata(path);
    let own = facts.map(|facts| (number_of(facts.dev()), facts.ino()));
    own.is_ok_and(|own| own == identity) || below_overlay(path) == Some(identity)
}

#[cfg(test)]
#[path = "guard_tests.rs"]
mod tests;
#[cfg(test)]
pub(crate) use tests::Loop;
#[cfg(test)]
#[path = "signature_tests.rs"]
mod signature_tests;
#[cfg(test)]
#[path = "usage_tests.rs"]
mod usage_tests;
