//! Files of a target, by what tells them from every other file: device, inode
//! and birth time. A name may lead elsewhere a moment later, so a file is
//! looked at once, and every descriptor is checked against that look before
//! anything is done through it.

use std::ffi::OsStr;
use std::fs::File;
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustix::fs::{
    AtFlags, CWD, FileType, Mode, OFlags, ResolveFlags, Stat, StatxFlags, fcntl_getfl, fcntl_setfl,
    fstat, open, openat, openat2, statat, statx,
};
use rustix::io::Errno;
use serde::{Deserialize, Serialize};

/// Tries of a lookup that a rename elsewhere in the tree disturbed.
const TRIES: u32 = 16;

/// What tells a file from another one of the same name, and from a later file
/// that got its inode.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct FileIdentity {
    /// The file system.
    pub device: u64,
    /// The file on it.
    pub inode: u64,
    /// When the file was created, nanoseconds since 1970. `None` where the file
    /// system does not keep it; device and inode have to do there.
    pub born_ns: Option<u64>,
}

impl FileIdentity {
    /// That of an open file.
    ///
    /// # Errors
    /// What the system says.
    pub fn of(file: impl AsFd) -> io::Result<FileIdentity> {
        Ok(FileFacts::of(file)?.identity)
    }

    /// Whether two looks saw one file. A birth time that only one of them got
    /// (another kernel, another mount of it) decides nothing.
    pub(crate) fn is(&self, other: &FileIdentity) -> bool {
        let born = match (self.born_ns, other.born_ns) {
            (Some(one), Some(other)) => one == other,
            _ => true,
        };
        (self.device, self.inode) == (other.device, other.inode) && born
    }
}

/// What one look at a file gives.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct FileFacts {
    pub(crate) identity: FileIdentity,
    pub(crate) kind: FileType,
    pub(crate) links: u64,
    pub(crate) owner: u32,
    pub(crate) mode: u32,
    pub(crate) size_bytes: u64,
    pub(crate) allocated_bytes: u64,
    /// When its content was changed last, nanoseconds since 1970.
    pub(crate) modified_ns: u64,
}

impl FileFacts {
    /// Looks at an open file.
    pub(crate) fn of(file: impl AsFd) -> io::Result<FileFacts> {
        let file = file.as_fd();
        match statx(file, "", AtFlags::EMPTY_PATH, wanted()) {
            Err(Errno::NOSYS | Errno::PERM) => Ok(FileFacts::from_stat(&fstat(file)?)),
            found => Ok(FileFacts::from_statx(&found?)),
        }
    }

    /// Looks at a name in a directory; a symbolic link is not followed.
    pub(crate) fn at(dir: impl AsFd, name: impl AsRef<OsStr>) -> io::Result<FileFacts> {
        let (dir, name) = (dir.as_fd(), name.as_ref());
        match statx(dir, name, AtFlags::SYMLINK_NOFOLLOW, wanted()) {
            Err(Errno::NOSYS | Errno::PERM) => {
                let found = statat(dir, name, AtFlags::SYMLINK_NOFOLLOW)?;
                Ok(FileFacts::from_stat(&found))
            }
            found => Ok(FileFacts::from_statx(&found?)),
        }
    }

    /// A regular file with one name.
    pub(crate) fn is_plain(&self) -> bool {
        self.kind == FileType::RegularFile && self.links == 1
    }

    fn from_statx(found: &rustix::fs::Statx) -> FileFacts {
        let born = found.stx_mask & StatxFlags::BTIME.bits() != 0;
        let born_ns = nanoseconds(found.stx_btime.tv_sec, found.stx_btime.tv_nsec);
        let device = rustix::fs::makedev(found.stx_dev_major, found.stx_dev_minor);
        FileFacts {
            identity: FileIdentity {
                device,
                inode: found.stx_ino,
                // Some file systems say that they know it and give 1970.
                born_ns: Some(born_ns).filter(|at| born && *at > 0),
            },
            kind: FileType::from_raw_mode(u32::from(found.stx_mode)),
            links: u64::from(found.stx_nlink),
            owner: found.stx_uid,
            mode: u32::from(found.stx_mode) & 0o7777,
            size_bytes: found.stx_size,
            allocated_bytes: found.stx_blocks.saturating_mul(512),
            modified_ns: nanoseconds(found.stx_mtime.tv_sec, found.stx_mtime.tv_nsec),
        }
    }

    #[allow(clippy::unnecessary_cast)] // The types differ between architectures.
    fn from_stat(found: &Stat) -> FileFacts {
        FileFacts {
            identity: FileIdentity {
                device: found.st_dev,
                inode: found.st_ino,
                born_ns: None,
            },
            kind: FileType::from_raw_mode(found.st_mode),
            links: found.st_nlink as u64,
            owner: found.st_uid,
            mode: found.st_mode & 0o7777,
            size_bytes: u64::try_from(found.st_size).unwrap_or(0),
            allocated_bytes: u64::try_from(found.st_blocks)
                .unwrap_or(0)
                .saturating_mul(512),
            modified_ns: nanoseconds(found.st_mtime as i64, found.st_mtime_nsec as u32),
        }
    }
}

fn wanted() -> StatxFlags {
    StatxFlags::BASIC_STATS | StatxFlags::BTIME
}

fn nanoseconds(seconds: i64, part: u32) -> u64 {
    let whole = u64::try_from(seconds).unwrap_or(0);
    whole
        .saturating_mul(1_000_000_000)
        .saturating_add(u64::from(part))
}

/// Opens a directory by a path that was resolved before: a symbolic link that
/// took the place of one of its parts since is refused.
pub(crate) fn open_directory(resolved: &Path, flags: OFlags) -> io::Result<OwnedFd> {
    let flags = flags | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let resolve = ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_MAGICLINKS;
    match openat2(CWD, resolved, flags, Mode::empty(), resolve) {
        Err(Errno::NOSYS | Errno::PERM | Errno::INVAL) => Ok(open(resolved, flags, Mode::empty())?),
        opened => Ok(opened?),
    }
}

/// Opens a name in a directory, or creates it; never what a symbolic link
/// leads to.
pub(crate) fn open_beneath(
    dir: impl AsFd,
    name: impl AsRef<OsStr>,
    flags: OFlags,
    mode: Mode,
) -> Result<OwnedFd, Errno> {
    let (dir, name) = (dir.as_fd(), name.as_ref());
    let flags = flags | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS;
    for _ in 0..TRIES {
        match openat2(dir, name, flags, mode, resolve) {
            Err(Errno::AGAIN) => continue,
            Err(Errno::NOSYS | Errno::PERM | Errno::INVAL) => break,
            opened => return opened,
        }
    }
    openat(dir, name, flags, mode)
}

/// Opens a directory below another one, if it lies in the same mount: what is
/// mounted on the way, even another folder of the same file system, is not
/// fathom's, whatever the names in it are.
///
/// # Errors
/// [`Errno::XDEV`] where something is mounted on the way, else what the system
/// says.
pub(crate) fn open_in_mount(dir: impl AsFd, name: impl AsRef<OsStr>) -> Result<OwnedFd, Errno> {
    let (dir, name) = (dir.as_fd(), name.as_ref());
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_XDEV;
    for _ in 0..TRIES {
        match openat2(dir, name, flags, Mode::empty(), resolve) {
            Err(Errno::AGAIN) => continue,
            Err(Errno::NOSYS | Errno::PERM | Errno::INVAL) => break,
            opened => return opened,
        }
    }
    open_step_by_step(dir, name)
}

/// As [`open_in_mount`] where the kernel cannot be asked for it.
fn open_step_by_step(dir: BorrowedFd<'_>, name: &OsStr) -> Result<OwnedFd, Errno> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let here = place_of(dir)?;
    let mut opened: Option<OwnedFd> = None;
    for step in Path::new(name) {
        let from = opened.as_ref().map_or(dir, AsFd::as_fd);
        let next = openat(from, step, flags, Mode::empty())?;
        if place_of(next.as_fd())? != here {
            return Err(Errno::XDEV);
        }
        opened = Some(next);
    }
    opened.ok_or(Errno::INVAL)
}

/// The file system and the mount in which an open file lies. The mount is `None`
/// where the kernel does not report it.
fn place_of(file: BorrowedFd<'_>) -> Result<(u64, Option<u64>), Errno> {
    let device = fstat(file)?.st_dev;
    let found = statx(file, "", AtFlags::EMPTY_PATH, StatxFlags::MNT_ID);
    let mount = found
        .ok()
        .filter(|found| found.stx_mask & StatxFlags::MNT_ID.bits() != 0);
    let mount = mount
        .map(|found| found.stx_mnt_id)
        .or_else(|| noted_mount(file));
    Ok((device, mount))
}

/// The mount of an open file, as `/proc` notes it.
fn noted_mount(file: BorrowedFd<'_>) -> Option<u64> {
    let info = format!("/proc/self/fdinfo/{}", file.as_raw_fd());
    let text = std::fs::read_to_string(info).ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("mnt_id:"))?;
    line.trim().parse().ok()
}

/// One file of a target, found once. Whatever its name leads to later, only
/// this file is opened.
#[derive(Debug, Clone)]
pub struct TargetFile {
    dir: Arc<OwnedFd>,
    path: PathBuf,
    identity: FileIdentity,
}

impl PartialEq for TargetFile {
    fn eq(&self, other: &TargetFile) -> bool {
        (&self.path, self.identity) == (&other.path, other.identity)
    }
}

impl Eq for TargetFile {}

impl TargetFile {
    /// The file `path` in an open directory, which has this identity.
    pub(crate) fn new(dir: &Arc<OwnedFd>, path: &Path, identity: FileIdentity) -> TargetFile {
        TargetFile {
            dir: Arc::clone(dir),
            path: path.to_owned(),
            identity,
        }
    }

    /// Looks at a file whose path was resolved before.
    pub(crate) fn look(resolved: &Path) -> io::Result<(TargetFile, FileFacts)> {
        let parent = resolved.parent().unwrap_or(Path::new("/"));
        let dir = Arc::new(open_directory(parent, OFlags::PATH)?);
        TargetFile::look_in(&dir, resolved)
    }

    /// Looks at the file with the name of `path` in its directory.
    pub(crate) fn look_in(dir: &Arc<OwnedFd>, path: &Path) -> io::Result<(TargetFile, FileFacts)> {
        let found = FileFacts::at(&**dir, name_of(path)?)?;
        if found.kind == FileType::Symlink {
            return Err(Errno::LOOP.into());
        }
        Ok((TargetFile::new(dir, path, found.identity), found))
    }

    /// Its path, for messages.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// What tells it from others.
    pub fn identity(&self) -> FileIdentity {
        self.identity
    }

    /// Opens it.
    ///
    /// # Errors
    /// What the system says, or that another file has taken its place.
    pub(crate) fn open(&self, flags: OFlags) -> io::Result<File> {
        let name = name_of(&self.path)?;
        // A descriptor that only names the file: opening it does nothing to a
        // pipe or a device that may have taken the name.
        let anchor = open_beneath(&*self.dir, name, OFlags::PATH, Mode::empty());
        let anchor = anchor.map_err(|errno| match errno {
            Errno::LOOP => replaced(),
            errno => errno.into(),
        })?;
        self.check(&anchor)?;
        let flags = flags | OFlags::CLOEXEC;
        let link = format!("/proc/self/fd/{}", anchor.as_raw_fd());
        match open(link, flags, Mode::empty()) {
            // There is no /proc.
            Err(Errno::NOENT | Errno::NOTDIR) => self.open_by_name(name, flags),
            opened => Ok(opened?.into()),
        }
    }

    /// Opens it for reading.
    ///
    /// # Errors
    /// What the system says, or that another file has taken its place.
    pub fn open_to_read(&self) -> io::Result<File> {
        self.open(OFlags::RDONLY)
    }

    /// Whether its name still leads to it.
    pub(crate) fn still_there(&self) -> io::Result<bool> {
        let facts = FileFacts::at(&*self.dir, name_of(&self.path)?)?;
        Ok(facts.identity.is(&self.identity))
    }

    fn open_by_name(&self, name: &OsStr, flags: OFlags) -> io::Result<File> {
        // Does not wait for the other end of a pipe.
        let opened = open_beneath(&*self.dir, name, flags | OFlags::NONBLOCK, Mode::empty())?;
        self.check(&opened)?;
        if !flags.contains(OFlags::NONBLOCK) {
            fcntl_setfl(&opened, fcntl_getfl(&opened)? - OFlags::NONBLOCK)?;
        }
        Ok(opened.into())
    }

    fn check(&self, opened: &OwnedFd) -> io::Result<()> {
        match FileIdentity::of(opened)?.is(&self.identity) {
            true => Ok(()),
            false => Err(replaced()),
        }
    }
}

fn replaced() -> io::Error {
    io::Error::other("another file has taken its place since fathom prepared it")
}

fn name_of(path: &Path) -> io::Result<&OsStr> {
    path.file_name().ok_or_else(|| Errno::INVAL.into())
}

/// A folder that is seen at a second place, until this is dropped.
#[cfg(test)]
pub(crate) struct BindMount(PathBuf);

#[cfg(test)]
impl BindMount {
    /// `None` where nothing may be mounted.
    pub(crate) fn make(from: &Path, at: &Path) -> Option<BindMount> {
        let mut mount = std::process::Command::new("mount");
        let made = mount.arg("--bind").args([from, at]).status();
        if made.is_ok_and(|status| status.success()) {
            return Some(BindMount(at.to_owned()));
        }
        println!("skipped: nothing can be mounted here");
        None
    }
}

#[cfg(test)]
impl Drop for BindMount {
    fn drop(&mut self) {
        let _ = std::process::Command::new("umount").arg(&self.0).status();
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::io::Read;
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn only_the_file_that_was_looked_at_is_opened() {
        let dir = tempfile::tempdir().unwrap();
        let top = dir.path().canonicalize().unwrap();
        let (path, victim) = (top.join("f"), top.join("victim"));
        fs::write(&path, "ours").unwrap();
        fs::write(&victim, "precious").unwrap();
        let (file, facts) = TargetFile::look(&path).unwrap();
        assert!(facts.is_plain() && facts.size_bytes == 4);
        let mut text = String::new();
        let mut opened = file.open(OFlags::RDWR).unwrap();
        opened.read_to_string(&mut text).unwrap();
        assert_eq!(text, "ours");
        fs::rename(&path, top.join("moved")).unwrap();
        assert_eq!(
            file.open(OFlags::RDONLY).unwrap_err().kind(),
            io::ErrorKind::NotFound
        );
        symlink(&victim, &path).unwrap();
        let error = file.open(OFlags::RDWR).unwrap_err().to_string();
        assert!(error.contains("taken its place"), "{error}");
        assert!(
            TargetFile::look(&path).is_err(),
            "a link is not looked through"
        );
        fs::remove_file(&path).unwrap();
        fs::hard_link(&victim, &path).unwrap();
        assert!(file.open(OFlags::RDWR).is_err());
        // Without /proc.
        assert!(file.open_by_name(OsStr::new("f"), OFlags::RDWR).is_err());
        fs::remove_file(&path).unwrap();
        fs::rename(top.join("moved"), &path).unwrap();
        let again = file.open_by_name(OsStr::new("f"), OFlags::RDWR).unwrap();
        assert!(!fcntl_getfl(&again).unwrap().contains(OFlags::NONBLOCK));
    }

    #[test]
    fn a_directory_that_became_a_link_is_not_entered() {
        let dir = tempfile::tempdir().unwrap();
        let top = dir.path().canonicalize().unwrap();
        fs::create_dir_all(top.join("a/b")).unwrap();
        let resolved = top.join("a/b");
        open_directory(&resolved, OFlags::RDONLY).unwrap();
        fs::rename(top.join("a"), top.join("c")).unwrap();
        symlink(top.join("c"), top.join("a")).unwrap();
        assert!(open_directory(&resolved, OFlags::RDONLY).is_err());
    }

    #[test]
    fn a_mount_is_not_entered() {
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir_all(dir.path().join("a/b/c")).unwrap();
        fs::create_dir_all(dir.path().join("other/c")).unwrap();
        let top = open_directory(&dir.path().canonicalize().unwrap(), OFlags::RDONLY).unwrap();
        let both = |name: &str| {
            let steps = open_step_by_step(top.as_fd(), OsStr::new(name)).map(drop);
            [open_in_mount(&top, name).map(drop), steps]
        };
        assert_eq!(both("a/b/c"), [Ok(()); 2]);
        assert_eq!(noted_mount(top.as_fd()), place_of(top.as_fd()).unwrap().1);
        let Some(_mount) = BindMount::make(&dir.path().join("other"), &dir.path().join("a/b"))
        else {
            return;
        };
        for name in ["a/b", "a/b/c"] {
            assert_eq!(both(name), [Err(Errno::XDEV); 2]);
        }
        assert_eq!(both("a"), [Ok(()); 2]);
    }

    #[test]
    fn a_birth_time_tells_two_files_of_one_inode_apart() {
        let one = FileIdentity {
            device: 1,
            inode: 2,
            born_ns: Some(3),
        };
        let later = FileIdentity {
            born_ns: Some(4),
            ..one
        };
        let unknown = FileIdentity {
            born_ns: None,
            ..one
        };
        assert!(one.is(&one) && !one.is(&later) && one.is(&unknown));
        let elsewhere = FileIdentity { device: 9, ..one };
        assert!(!one.is(&elsewhere));
    }
}
