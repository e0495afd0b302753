//! The list beside the test files that says which of them fathom made.
//!
//! A file is fathom's if it is listed, lies on the file system of the list and
//! has the listed inode and birth time. Where a file system keeps no birth
//! times the owner has to be that of the list instead. A file that is listed
//! as `creating` has no inode yet: it is fathom's as long as it is empty and
//! belongs to the list's owner (a crash between creating it and noting its
//! inode leaves it so).
//!
//! The list lies where others may write, so it is believed only if nobody else
//! can have written it ([`super::trust`]), and a name in it never leads out of
//! the directory. It is locked while a run uses the files, so that two never
//! share them.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::Read;
use std::os::fd::OwnedFd;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use rustix::fs::{AtFlags, FileType, FlockOperation, Mode, OFlags, flock, unlinkat};
use rustix::io::Errno;

use super::held_lists::{self, LockedList};
pub(crate) use super::list_text::{FileState, ListedFile};
use super::list_text::{HEADER, ListFault, TREE, parse, render};
use super::trust;
use crate::Error;
use crate::target_file::{FileFacts, FileIdentity, open_beneath};

const SIZE_LIMIT: u64 = 64 << 20;
/// A list that is this much longer than what it says is written anew.
const HISTORY_BYTES: u64 = 1 << 20;
/// Tries to open a list that others make and remove at the same time.
const TRIES: u32 = 16;
/// How long a lock of others is waited for, and how long between two tries.
const LOCK_PATIENCE: Duration = Duration::from_millis(500);
const LOCK_AGAIN: Duration = Duration::from_millis(5);

/// The open, locked list.
#[derive(Debug)]
pub(crate) struct Manifest {
    list: Arc<LockedList>,
    pub(crate) path: PathBuf,
    pub(crate) name: String,
    prefix: String,
    identity: FileIdentity,
    owner: u32,
    pub(crate) entries: BTreeMap<String, ListedFile>,
    /// What the file says.
    noted: BTreeMap<String, ListedFile>,
}

impl Manifest {
    /// Name of the list for files with this prefix.
    pub(crate) fn name(prefix: &str) -> String {
        format!("{prefix}.manifest")
    }

    /// Opens and locks the list in a directory, or creates an empty one.
    pub(crate) fn open(dir: &OwnedFd, dir_path: &Path, prefix: &str) -> Result<Manifest, Error> {
        check_prefix(prefix)?;
        let name = Manifest::name(prefix);
        let path = dir_path.join(&name);
        let io = |action| {
            let path = path.clone();
            move |error: std::io::Error| Error::io(action, &path)(error)
        };
        let list = open_locked(dir, &name, &path)?;
        removed_here().remove(&path);
        let facts = FileFacts::of(&list.file).map_err(io("examine"))?;
        trust::check(dir, &facts).map_err(|reason| untrusted(&path, &reason.to_string()))?;
        let mut manifest = Manifest {
            list: Arc::new(list),
            name,
            prefix: prefix.to_owned(),
            identity: facts.identity,
            owner: facts.owner,
            entries: BTreeMap::new(),
            noted: BTreeMap::new(),
            path,
        };
        let text = manifest.read()?;
        manifest.entries = manifest.parse(&text)?;
        manifest.noted = manifest.entries.clone();
        manifest.complete(dir, facts.modified_ns);
        let lines = render(&BTreeMap::new(), &manifest.entries);
        let history = (text.len() as u64).saturating_sub(lines.len() as u64);
        if text.starts_with(HEADER) && history < HISTORY_BYTES.max(lines.len() as u64) {
            manifest.save()?;
        } else {
            let written = manifest.rewrite(&lines, facts.size_bytes);
            if written.is_err() && facts.size_bytes == 0 {
                // A list of nothing that could not be begun would stay behind.
                let _ = unlinkat(dir, manifest.name.as_str(), AtFlags::empty());
            }
            written?;
        }
        Ok(manifest)
    }

    /// Notes that this process has removed the list.
    pub(crate) fn note_removed(&self) {
        removed_here().insert(self.path.clone());
    }

    /// Whether this process has removed the list at this path, and made none there
    /// since.
    pub(crate) fn was_removed_here(path: &Path) -> bool {
        removed_here().contains(path)
    }

    /// The list once more, under the lock that is held, as it is now.
    pub(crate) fn again(&self) -> Result<Manifest, Error> {
        let mut again = Manifest {
            list: Arc::clone(&self.list),
            path: self.path.clone(),
            name: self.name.clone(),
            prefix: self.prefix.clone(),
            identity: self.identity,
            owner: self.owner,
            entries: self.entries.clone(),
            noted: self.noted.clone(),
        };
        again.reload()?;
        Ok(again)
    }

    /// Takes over what another holder of the lock has written to the list.
    pub(crate) fn reload(&mut self) -> Result<(), Error> {
        let text = self.read()?;
        self.entries = self.parse(&text)?;
        self.noted = self.entries.clone();
        Ok(())
    }

    /// Writes what has changed.
    pub(crate) fn save(&mut self) -> Result<(), Error> {
        let mut lines = render(&self.noted, &self.entries);
        if lines.is_empty() {
            return Ok(());
        }
        let mut write = || {
            let end = self.list.file.metadata()?.len();
            let mut last = [b'\n'];
            if end > 0 {
                self.list.file.read_exact_at(&mut last, end - 1)?;
            }
            // The line that a crash cut off ends here.
            if last != [b'\n'] {
                lines.insert(0, '\n');
            }
            self.list.file.write_all_at(lines.as_bytes(), end)?;
            self.list.file.sync_data()
        };
        write().map_err(Error::io("write", &self.path))?;
        self.noted = self.entries.clone();
        Ok(())
    }

    /// Whether the file `name`, which has these facts, is the listed one.
    pub(crate) fn owns(&self, name: &str, facts: &FileFacts) -> bool {
        let Some(entry) = self.entries.get(name) else {
            return false;
        };
        let tree = name == format!("{}.{TREE}", self.prefix);
        let private = facts.owner == self.owner && facts.mode & 0o022 == 0;
        let kind = match tree {
            true => facts.kind == FileType::Directory && private,
            false => facts.is_plain(),
        };
        let same = match entry.state {
            FileState::Creating => private && (tree || facts.size_bytes == 0),
            _ => {
                let listed = self.identity_of(entry);
                let known = listed.born_ns.is_some() && facts.identity.born_ns.is_some();
                listed.is(&facts.identity) && (known || facts.owner == self.owner)
            }
        };
        kind && same
    }

    /// What tells the file of an entry from others.
    pub(crate) fn identity_of(&self, entry: &ListedFile) -> FileIdentity {
        FileIdentity {
            // Files lie beside their list. The number of a device is not kept:
            // it may be another one after each mount.
            device: self.identity.device,
            inode: entry.inode,
            born_ns: entry.born_ns,
        }
    }

    /// What tells the list itself from others.
    pub(crate) fn identity(&self) -> FileIdentity {
        self.identity
    }

    /// What the names of its files begin with.
    pub(crate) fn prefix(&self) -> &str {
        &self.prefix
    }

    /// Whom the list and the files belong to.
    pub(crate) fn owner(&self) -> u32 {
        self.owner
    }

    fn read(&self) -> Result<String, Error> {
        let facts = FileFacts::of(&self.list.file).map_err(Error::io("examine", &self.path))?;
        if facts.owner != self.owner || facts.mode & 0o022 != 0 {
            let reason = "its owner or mode was changed during the run";
            return Err(untrusted(&self.path, reason));
        }
        let mut bytes = Vec::new();
        let read = ReadAt(&self.list.file, 0)
            .take(SIZE_LIMIT + 1)
            .read_to_end(&mut bytes);
        read.map_err(Error::io("read", &self.path))?;
        match String::from_utf8(bytes) {
            Ok(text) if text.len() as u64 <= SIZE_LIMIT => Ok(text),
            _ => Err(no_list(&self.path)),
        }
    }

    fn parse(&self, text: &str) -> Result<BTreeMap<String, ListedFile>, Error> {
        parse(text, &self.prefix).map_err(|fault| match fault {
            ListFault::NoList => no_list(&self.path),
            ListFault::Name(line) => untrusted(
                &self.path,
                &format!("line {line} names a file that fathom does not make"),
            ),
        })
    }

    /// Finds the birth times that the list does not have yet. A file that was
    /// created after the list was written last is not the listed one, whatever
    /// its inode.
    fn complete(&mut self, dir: &OwnedFd, written_ns: u64) {
        let mut later = Vec::new();
        for (name, entry) in &mut self.entries {
            if entry.born_ns.is_some() || entry.state == FileState::Creating {
                continue;
            }
            let Ok(facts) = FileFacts::at(dir, name.as_str()) else {
                continue;
            };
            match facts.identity.born_ns {
                Some(born_ns) if facts.identity.inode == entry.inode => {
                    entry.born_ns = Some(born_ns);
                    if born_ns > written_ns {
                        later.push(name.clone());
                    }
                }
                _ => {}
            }
        }
        for name in later {
            self.entries.remove(&name);
        }
    }

    /// Writes the whole list anew over one of `before_bytes`. What is left of
    /// the old one becomes empty lines in the same call.
    fn rewrite(&mut self, lines: &str, before_bytes: u64) -> Result<(), Error> {
        let mut text = format!("{HEADER}\n{lines}");
        let length = text.len();
        let rest = (before_bytes as usize).saturating_sub(length);
        text.extend(std::iter::repeat_n('\n', rest));
        let write = || {
            self.list.file.write_all_at(text.as_bytes(), 0)?;
            self.list.file.set_len(length as u64)?;
            self.list.file.sync_data()
        };
        write().map_err(Error::io("write", &self.path))?;
        self.noted = self.entries.clone();
        Ok(())
    }
}

/// Refuses what cannot be the start of a test file's name.
pub(crate) fn check_prefix(prefix: &str) -> Result<(), Error> {
    if prefix.is_empty() || prefix.contains(['/', '\0', '\n']) || prefix.starts_with('.') {
        return Err(Error::Workload(format!(
            "'{}' cannot be the start of a file name",
            prefix.escape_default()
        )));
    }
    Ok(())
}

/// Lists that this process has removed, by where they lay.
fn removed_here() -> MutexGuard<'static, BTreeSet<PathBuf>> {
    static REMOVED: Mutex<BTreeSet<PathBuf>> = Mutex::new(BTreeSet::new());
    REMOVED.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Opens the list, or creates it, and locks it.
fn open_locked(dir: &OwnedFd, name: &str, path: &Path) -> Result<LockedList, Error> {
    let io = |action| {
        let path = path.to_owned();
        move |errno: Errno| Error::io(action, &path)(errno.into())
    };
    // A pipe that somebody put there does not keep anybody waiting.
    let flags = OFlags::RDWR | OFlags::NONBLOCK | OFlags::NOCTTY;
    let mode = Mode::RUSR | Mode::WUSR;
    for _ in 0..TRIES {
        let created = open_beneath(dir, name, flags | OFlags::CREATE | OFlags::EXCL, mode);
        let opened = match created {
            Err(Errno::EXIST) => open_beneath(dir, name, flags, Mode::empty()),
            created => created,
        };
        let file = match opened {
            Ok(file) => file,
            Err(Errno::NOENT) => continue,
            Err(Errno::LOOP) => return Err(untrusted(path, "it is a symbolic link")),
            Err(errno) => return Err(io("open")(errno)),
        };
        let identity = FileIdentity::of(&file).map_err(Error::io("examine", path))?;
        let file = match held_lists::take(&identity) {
            Some(held) => held,
            // Some network file systems have no locks; then nobody has one.
            None if is_locked_by_others(&file) => {
                return Err(Error::target(path, used_by_another(&identity)));
            }
            None => file.into(),
        };
        let locked = LockedList { file, identity };
        // Whoever held the lock may have removed the list.
        if FileFacts::at(dir, name).is_ok_and(|facts| facts.identity.is(&identity)) {
            return Ok(locked);
        }
    }
    Err(Error::target(
        path,
        "others create and remove it all the time; choose another directory or file prefix",
    ))
}

/// That another process has locked the list, and which one where the kernel tells.
fn used_by_another(list: &FileIdentity) -> String {
    let locks = std::fs::read_to_string("/proc/locks").unwrap_or_default();
    let holder = locks.lines().find_map(|line| lock_holder(line, list.inode));
    let process = holder.map_or(String::new(), |id| format!(" (process {id})"));
    format!(
        "another fathom{process} measures with these test files; wait for it, or name another \
         directory"
    )
}

/// The process that holds a lock of a whole file with this inode, from a line of
/// `/proc/locks`: `2: FLOCK ADVISORY WRITE 4711 fe:00:1234 0 EOF`.
fn lock_holder(line: &str, inode: u64) -> Option<u32> {
    let words: Vec<&str> = line.split_whitespace().collect();
    let [_, "FLOCK", _, _, process, file, ..] = words.as_slice() else {
        return None;
    };
    let is_it = file.rsplit(':').next()?.parse() == Ok(inode);
    process.parse().ok().filter(|_| is_it)
}

/// Tries to lock a list. A program that this process starts holds a copy of each of
/// its descriptors until it is loaded, and with it a lock that was given up already.
fn is_locked_by_others(list: &OwnedFd) -> bool {
    let begun = Instant::now();
    loop {
        let locked = flock(list, FlockOperation::NonBlockingLockExclusive);
        if locked != Err(Errno::WOULDBLOCK) || begun.elapsed() > LOCK_PATIENCE {
            return locked == Err(Errno::WOULDBLOCK);
        }
        std::thread::sleep(LOCK_AGAIN);
    }
}

fn no_list(path: &Path) -> Error {
    Error::target(
        path,
        "is not a list of test files that fathom wrote; remove it, or choose another \
         directory or file prefix",
    )
}

fn untrusted(path: &Path, reason: &str) -> Error {
    Error::target(
        path,
        format!(
            "cannot be trusted as a list of test files: {reason}. Nothing that it lists was \
             touched; look at it and remove it, or choose another directory or file prefix"
        ),
    )
}

/// Reads a file from an offset of its own, which no other descriptor shares.
struct ReadAt<'f>(&'f File, u64);

impl Read for ReadAt<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let read = self.0.read_at(buffer, self.1)?;
        self.1 += read as u64;
        Ok(read)
    }
}

#[cfg(test)]
#[path = "manifest_tests.rs"]
mod tests;
