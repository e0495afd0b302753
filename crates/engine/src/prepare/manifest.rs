//! The list beside the test files that says which of them fathom made.
//!
//! ```text
//! fathom test files 1
//! <state> <inode> <run tag, hex> <name>
//! ```
//!
//! A file is fathom's if it is listed and has the listed inode. A file that is
//! listed as `creating` has no inode yet: it is fathom's as long as it is empty
//! (a crash between creating it and noting its inode leaves it so). The list
//! is locked while a trial uses the files, so that two never share them.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::os::fd::OwnedFd;
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::{Path, PathBuf};

use rustix::fs::{FlockOperation, Mode, OFlags, flock, openat};
use rustix::io::Errno;

use crate::Error;

const HEADER: &str = "fathom test files 1";
const SIZE_LIMIT: u64 = 64 << 20;

/// How far a test file came.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FileState {
    /// It is about to be created.
    Creating,
    /// It is there; not all of it is known to be written.
    Allocated,
    /// All of it was written and made durable.
    Written,
}

/// One listed file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Entry {
    pub(crate) state: FileState,
    pub(crate) inode: u64,
    /// Tag of the run that created it.
    pub(crate) run_tag: u64,
}

/// The open, locked list.
#[derive(Debug)]
pub(crate) struct Manifest {
    file: File,
    pub(crate) path: PathBuf,
    pub(crate) name: String,
    pub(crate) entries: BTreeMap<String, Entry>,
}

impl Manifest {
    /// Name of the list for files with this prefix.
    pub(crate) fn name(prefix: &str) -> String {
        format!("{prefix}.manifest")
    }

    /// Opens and locks the list in a directory, or creates an empty one.
    pub(crate) fn open(dir: &OwnedFd, dir_path: &Path, prefix: &str) -> Result<Manifest, Error> {
        let name = Manifest::name(prefix);
        let path = dir_path.join(&name);
        let flags = OFlags::RDWR | OFlags::CREATE | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let mode = Mode::RUSR | Mode::WUSR;
        let file: File = openat(dir, &name, flags, mode)
            .map_err(|errno| Error::io("open", &path)(errno.into()))?
            .into();
        // Some network file systems have no locks; then nobody has one.
        if flock(&file, FlockOperation::NonBlockingLockExclusive) == Err(Errno::WOULDBLOCK) {
            return Err(Error::target(
                &path,
                "another fathom is using these test files; wait for it, or choose another \
                 directory or file prefix",
            ));
        }
        let facts = file.metadata().map_err(Error::io("examine", &path))?;
        let mut text = String::new();
        let read = if facts.is_file() && facts.nlink() == 1 && facts.len() <= SIZE_LIMIT {
            (&file).read_to_string(&mut text).is_ok()
        } else {
            false
        };
        match read.then(|| parse(&text)).flatten() {
            Some(entries) => Ok(Manifest {
                file,
                path,
                name,
                entries,
            }),
            None => Err(Error::target(
                &path,
                "is not a list of test files that fathom wrote; remove it, or choose another \
                 directory or file prefix",
            )),
        }
    }

    /// The same list once more, under the same lock, as it is now.
    pub(crate) fn again(&self) -> Result<Manifest, Error> {
        let file = self
            .file
            .try_clone()
            .map_err(Error::io("open", &self.path))?;
        let mut again = Manifest {
            file,
            path: self.path.clone(),
            name: self.name.clone(),
            entries: self.entries.clone(),
        };
        again.reload();
        Ok(again)
    }

    /// Takes over what another holder of the lock has written to the list.
    pub(crate) fn reload(&mut self) {
        let mut text = String::new();
        let read = (&self.file)
            .seek(SeekFrom::Start(0))
            .and_then(|_| (&self.file).take(SIZE_LIMIT).read_to_string(&mut text));
        if let (Ok(_), Some(entries)) = (read, parse(&text)) {
            self.entries = entries;
        }
    }

    /// Writes the list.
    pub(crate) fn save(&self) -> Result<(), Error> {
        let text = render(&self.entries);
        let write = || {
            self.file.write_all_at(text.as_bytes(), 0)?;
            self.file.set_len(text.len() as u64)?;
            self.file.sync_data()
        };
        write().map_err(Error::io("write", &self.path))
    }

    /// Device and inode of the list itself.
    pub(crate) fn identity(&self) -> Result<(u64, u64), Error> {
        let facts = self
            .file
            .metadata()
            .map_err(Error::io("examine", &self.path))?;
        Ok((facts.dev(), facts.ino()))
    }
}

fn render(entries: &BTreeMap<String, Entry>) -> String {
    let mut text = format!("{HEADER}\n");
    for (name, entry) in entries {
        let state = match entry.state {
            FileState::Creating => "creating",
            FileState::Allocated => "allocated",
            FileState::Written => "written",
        };
        text += &format!("{state} {} {:016x} {name}\n", entry.inode, entry.run_tag);
    }
    text
}

/// `None` when the text is not a list. Lines that a crash cut off are left out,
/// which makes their files somebody else's.
fn parse(text: &str) -> Option<BTreeMap<String, Entry>> {
    if text.is_empty() {
        return Some(BTreeMap::new());
    }
    let (header, rest) = text.split_once('\n')?;
    if header != HEADER {
        return None;
    }
    let entry = |line: &str| {
        let mut fields = line.splitn(4, ' ');
        let state = match fields.next()? {
            "creating" => FileState::Creating,
            "allocated" => FileState::Allocated,
            "written" => FileState::Written,
            _ => return None,
        };
        let inode = fields.next()?.parse().ok()?;
        let run_tag = u64::from_str_radix(fields.next()?, 16).ok()?;
        let name = fields.next()?.to_owned();
        let entry = Entry {
            state,
            inode,
            run_tag,
        };
        Some((name, entry))
    };
    Some(rest.lines().filter_map(entry).collect())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn dir() -> (tempfile::TempDir, OwnedFd) {
        let dir = tempfile::tempdir().unwrap();
        let fd = File::open(dir.path()).unwrap().into();
        (dir, fd)
    }

    #[test]
    fn what_is_saved_is_opened_again() {
        let (dir, fd) = dir();
        let entry = Entry {
            state: FileState::Written,
            inode: 77,
            run_tag: 0xABC,
        };
        let mut manifest = Manifest::open(&fd, dir.path(), "t").unwrap();
        assert!(manifest.entries.is_empty());
        manifest.entries.insert("t.0 with space".to_owned(), entry);
        manifest.save().unwrap();
        drop(manifest);
        let manifest = Manifest::open(&fd, dir.path(), "t").unwrap();
        assert_eq!(manifest.entries["t.0 with space"], entry);
    }

    #[test]
    fn a_second_user_is_turned_away() {
        let (dir, fd) = dir();
        let _held = Manifest::open(&fd, dir.path(), "t").unwrap();
        let error = Manifest::open(&fd, dir.path(), "t").unwrap_err();
        assert!(error.to_string().contains("another fathom"), "{error}");
        Manifest::open(&fd, dir.path(), "other").unwrap();
    }

    #[test]
    fn a_strangers_file_is_left_alone() {
        let (dir, fd) = dir();
        for content in ["hello\n", "fathom test files 2\n", "\0\u{fe}"] {
            let path = dir.path().join("t.manifest");
            std::fs::write(&path, content).unwrap();
            let error = Manifest::open(&fd, dir.path(), "t").unwrap_err();
            assert!(error.to_string().contains("not a list"), "{error}");
            assert_eq!(std::fs::read_to_string(&path).unwrap(), content);
        }
        let secret = dir.path().join("secret");
        std::fs::write(&secret, "").unwrap();
        std::os::unix::fs::symlink(&secret, dir.path().join("u.manifest")).unwrap();
        assert!(Manifest::open(&fd, dir.path(), "u").is_err());
    }

    #[test]
    fn a_line_that_was_cut_off_is_left_out() {
        let text = format!("{HEADER}\nwritten 5 00ff t.0\nwritten 6 0");
        let entries = parse(&text).unwrap();
        assert_eq!(entries.keys().collect::<Vec<_>>(), ["t.0"]);
    }

    proptest! {
        #[test]
        fn no_text_breaks_the_reader(text in any::<String>(), tail in any::<String>()) {
            let _ = parse(&text);
            let listed = format!("{HEADER}\n{tail}");
            prop_assert!(parse(&listed).is_some());
        }
    }
}
