//! What a path is, and why it cannot be a target.

use std::fs::{File, Metadata};
use std::io::ErrorKind;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf};

use fathom_deadline::{ask_device, device_patience, paths};
use rustix::fs::{FileType, OFlags};

use crate::Error;
use crate::error::attribute_refusal;
use crate::target_file::TargetFile;

/// What a path turned out to be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Directory,
    File,
    Device,
    /// A character device that gives data at any offset.
    Stream,
}

/// Character devices that answer reads at any offset without end: `zero`,
/// `random` and `urandom` (major number 1 of every Linux).
const STREAMS: [(u32, u32); 3] = [(1, 5), (1, 8), (1, 9)];

/// Resolves a path and says what it is.
///
/// # Errors
/// [`Error::Missing`], or [`Error::Target`] for what cannot be measured.
pub(crate) fn classify(path: &Path) -> Result<(PathBuf, Kind), Error> {
    let resolved = match paths::canonicalize(path) {
        Ok(resolved) => resolved,
        Err(error) if error.kind() == ErrorKind::NotFound => {
            return Err(Error::Missing {
                path: path.to_owned(),
                nearest: nearest_existing(path),
            });
        }
        Err(error) => return Err(not_permitted(path, "look at", error)),
    };
    let facts = paths::metadata(&resolved).map_err(Error::io("examine", path))?;
    let kind = facts.file_type();
    let number = || {
        (
            rustix::fs::major(facts.rdev()),
            rustix::fs::minor(facts.rdev()),
        )
    };
    if kind.is_dir() {
        Ok((resolved, Kind::Directory))
    } else if kind.is_file() {
        Ok((resolved, Kind::File))
    } else if kind.is_block_device() {
        // Nothing has been read of it so far.
        let answer = ask_device(&resolved, device_patience(&resolved));
        answer.map_err(|silent| Error::io("read", path)(silent.into()))?;
        Ok((resolved, Kind::Device))
    } else if kind.is_char_device() && STREAMS.contains(&number()) {
        Ok((resolved, Kind::Stream))
    } else {
        Err(Error::target(
            path,
            format!(
                "is a {}; name a directory, a regular file or a block device",
                name_of(&facts)
            ),
        ))
    }
}

/// Whether a path is `null`, which takes writes without end and gives nothing.
pub(crate) fn is_sink(path: &Path) -> bool {
    paths::metadata(path).is_ok_and(|facts| {
        let number = facts.rdev();
        let here = (rustix::fs::major(number), rustix::fs::minor(number));
        facts.file_type().is_char_device() && here == (1, 3)
    })
}

fn name_of(facts: &Metadata) -> &'static str {
    let kind = facts.file_type();
    if kind.is_char_device() {
        "character device"
    } else if kind.is_fifo() {
        "pipe"
    } else if kind.is_socket() {
        "socket"
    } else {
        "special file"
    }
}

/// The longest existing part of a path; `.` when a relative path starts with
/// something that does not exist.
fn nearest_existing(path: &Path) -> PathBuf {
    path.ancestors()
        .skip(1)
        .find(|parent| paths::exists(parent))
        .filter(|parent| !parent.as_os_str().is_empty())
        .unwrap_or(Path::new("."))
        .to_owned()
}

/// Finds what a resolved path leads to: from here on only this file is opened.
pub(crate) fn find(resolved: &Path, kind: Kind) -> Result<TargetFile, Error> {
    let (file, facts) =
        TargetFile::look(resolved).map_err(|error| not_permitted(resolved, "look at", error))?;
    let found = match facts.kind {
        FileType::Directory => Some(Kind::Directory),
        FileType::RegularFile => Some(Kind::File),
        FileType::BlockDevice => Some(Kind::Device),
        FileType::CharacterDevice => Some(Kind::Stream),
        _ => None,
    };
    match found == Some(kind) {
        true => Ok(file),
        false => Err(Error::target(
            resolved,
            "another file has taken its place while fathom looked at it; look who else writes to \
             its directory",
        )),
    }
}

/// Opens a file or device for reading, with an error that says who may.
pub(crate) fn open_readable(file: &TargetFile) -> Result<File, Error> {
    file.open(OFlags::RDONLY)
        .map_err(|error| not_permitted(file.path(), "read", error))
}

/// Turns a refusal into advice.
pub(crate) fn not_permitted(path: &Path, action: &'static str, error: std::io::Error) -> Error {
    match error.kind() {
        ErrorKind::PermissionDenied => {
            let own = rustix::process::geteuid().as_raw();
            let owner = paths::symlink_metadata(path).ok().map(|facts| facts.uid());
            let facts = paths::metadata(path);
            let is_device = facts.is_ok_and(|facts| facts.file_type().is_block_device());
            let why = attribute_refusal(path, &error).unwrap_or_else(|| match is_device {
                true if own != 0 => device_refusal(own),
                _ => refusal(own, owner),
            });
            Error::target(path, format!("not permitted to {action} it: {why}"))
        }
        ErrorKind::ReadOnlyFilesystem => Error::target(
            path,
            "its file system is mounted read-only; choose another target, or a workload that only reads",
        ),
        _ => Error::io(action, path)(error),
    }
}

/// Why a device is refused. udev sets its owner and mode, so that the advice leaves them alone.
fn device_refusal(own: u32) -> String {
    format!(
        "fathom runs as uid {own}, and devices belong to root; run it with sudo, or as a member of \
         the group that may use the device (disk on most systems)"
    )
}

/// Why the kernel refused the user `own` a path of the user `owner`, and what
/// to do about it.
fn refusal(own: u32, owner: Option<u32>) -> String {
    match owner {
        // Modes never stop root: what is left are policies of the kernel.
        _ if own == 0 => "fathom runs as root, so a policy of the kernel refuses it (the device \
                          list of a container, a security module, or a root-squashing server); \
                          allow the path there, or run fathom outside of the container"
            .to_owned(),
        Some(owner) if owner == own => {
            "its mode refuses its own owner; change it with chmod".to_owned()
        }
        Some(owner) => format!(
            "it belongs to uid {owner} and fathom runs as uid {own}; change its owner or mode, or \
             run as its owner or as root"
        ),
        None => format!(
            "fathom runs as uid {own}; change the owner or mode of a directory above it, or run \
             as root"
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refusal_names_what_can_be_changed() {
        assert!(refusal(0, Some(0)).contains("container"));
        assert!(refusal(1000, Some(0)).contains("belongs to uid 0"));
        assert!(refusal(1000, Some(1000)).contains("chmod"));
        assert!(!device_refusal(1000).contains("change its owner"));
        assert!(refusal(1000, None).contains("directory above"));
    }

    #[test]
    fn each_kind_is_told() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("f");
        std::fs::write(&file, "x").unwrap();
        let link = dir.path().join("l");
        std::os::unix::fs::symlink(&file, &link).unwrap();
        let kind = |path: &Path| classify(path).map(|(_, kind)| kind);
        assert_eq!(kind(dir.path()).unwrap(), Kind::Directory);
        assert_eq!(kind(&file).unwrap(), Kind::File);
        assert_eq!(kind(&link).unwrap(), Kind::File);
        assert_eq!(kind(Path::new("/dev/zero")).unwrap(), Kind::Stream);
        let error = kind(Path::new("/dev/null")).unwrap_err().to_string();
        assert!(error.contains("is a character device"), "{error}");
    }

    #[test]
    fn a_missing_path_names_its_nearest_parent() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a/b/c");
        match classify(&path) {
            Err(Error::Missing { nearest, .. }) => assert_eq!(nearest, dir.path()),
            other => panic!("{other:?}"),
        }
        match classify(Path::new("no-such-directory/x")) {
            Err(Error::Missing { nearest, .. }) => assert_eq!(nearest, Path::new(".")),
            other => panic!("{other:?}"),
        }
    }
}
