//! Whether a list in a directory of others may be believed: only if nobody but
//! the user of this process can have written it.

use std::os::fd::OwnedFd;
use std::path::Path;

use rustix::fs::{AtFlags, FileType, Mode, OFlags, openat, unlinkat};

use crate::target_file::{FileFacts, open_beneath, open_directory};

/// Group and others may write.
const FOREIGN_WRITE: u32 = 0o022;

/// Why a list cannot be trusted, as the end of a sentence about it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Untrusted {
    #[error("it is not a regular file")]
    NotAFile,
    #[error("it has a second name (hard link)")]
    Linked,
    #[error("others may write to it (mode {mode:04o})")]
    Writable { mode: u32 },
    #[error("it belongs to uid {owner} and fathom runs as uid {own}")]
    Foreign { owner: u32, own: u32 },
}

/// Whether a list with these facts, which lies in `dir`, can be trusted.
///
/// # Errors
/// The reason why it cannot.
pub(crate) fn check(dir: &OwnedFd, facts: &FileFacts) -> Result<(), Untrusted> {
    if facts.kind != FileType::RegularFile {
        return Err(Untrusted::NotAFile);
    }
    if facts.links > 1 {
        return Err(Untrusted::Linked);
    }
    if facts.mode & FOREIGN_WRITE != 0 {
        return Err(Untrusted::Writable {
            mode: facts.mode & 0o7777,
        });
    }
    let own = rustix::process::geteuid().as_raw();
    if facts.owner != own && owner_of_new_files(dir) != Some(facts.owner) {
        return Err(Untrusted::Foreign {
            owner: facts.owner,
            own,
        });
    }
    Ok(())
}

/// Whether a private file of this user is what lies at `path`: a regular file
/// with one name that belongs to this process' user and that others cannot
/// write to.
pub fn is_private(path: &Path) -> bool {
    let parent = path
        .parent()
        .filter(|parent| !parent.as_os_str().is_empty());
    let parent = parent.unwrap_or(Path::new(".")).canonicalize();
    let opened = parent.and_then(|parent| open_directory(&parent, OFlags::RDONLY));
    let (Ok(dir), Some(name)) = (opened, path.file_name()) else {
        return false;
    };
    FileFacts::at(&dir, name).is_ok_and(|facts| check(&dir, &facts).is_ok())
}

/// Whom a file belongs to that is created in a directory: another user than
/// that of the process where a server or a mount option maps users.
fn owner_of_new_files(dir: &OwnedFd) -> Option<u32> {
    let mode = Mode::RUSR | Mode::WUSR;
    let flags = OFlags::RDWR | OFlags::CLOEXEC;
    if let Ok(nameless) = openat(dir, ".", flags | OFlags::TMPFILE, mode) {
        return FileFacts::of(&nameless).ok().map(|facts| facts.owner);
    }
    let name = format!(".fathom-owner-{}", std::process::id());
    let named = open_beneath(dir, &name, flags | OFlags::CREATE | OFlags::EXCL, mode).ok()?;
    let owner = FileFacts::of(&named).ok().map(|facts| facts.owner);
    let _ = unlinkat(dir, &name, AtFlags::empty());
    owner
}
