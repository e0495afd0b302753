//! The locks of lists of test files over a whole run: between two trials nobody uses the
//! files, and another fathom that took the list then would end the run.

use std::fs::File;
use std::sync::{Mutex, MutexGuard, PoisonError};

use rustix::fs::{FlockOperation, flock};

use crate::target_file::FileIdentity;

/// While one of these lives, this process gives no lock of a list back.
#[derive(Debug)]
pub struct HeldLists(());

impl HeldLists {
    /// Holds from now on what is locked.
    pub fn begin() -> HeldLists {
        held().runs += 1;
        HeldLists(())
    }
}

impl Drop for HeldLists {
    fn drop(&mut self) {
        let mut held = held();
        held.runs = held.runs.saturating_sub(1);
        if held.runs == 0 {
            held.lists.drain(..).for_each(|(_, file)| unlock(&file));
        }
    }
}

/// What this process holds.
struct Held {
    runs: usize,
    /// Lists that no trial uses, locked.
    lists: Vec<(FileIdentity, File)>,
}

fn held() -> MutexGuard<'static, Held> {
    static HELD: Mutex<Held> = Mutex::new(Held {
        runs: 0,
        lists: Vec::new(),
    });
    HELD.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Gives the lock back at once. Closing the file would not, while a program that this
/// process starts holds a copy of its descriptors, which it does until it is loaded.
fn unlock(list: &File) {
    // What is closed next loses its lock then, if this should fail.
    let _ = flock(list, FlockOperation::Unlock);
}

/// The list, locked, where this process holds it for the next trial.
pub(super) fn take(list: &FileIdentity) -> Option<File> {
    let mut held = held();
    let at = held.lists.iter().position(|(other, _)| other.is(list))?;
    Some(held.lists.swap_remove(at).1)
}

/// An open, locked list of test files. Its lock is given back, or held while a run goes
/// on.
#[derive(Debug)]
pub(super) struct LockedList {
    pub(super) file: File,
    pub(super) identity: FileIdentity,
}

impl Drop for LockedList {
    fn drop(&mut self) {
        let mut held = held();
        if held.runs == 0 {
            return unlock(&self.file);
        }
        // A list that was removed has no link any more, and nobody finds its lock.
        let is_there = rustix::fs::fstat(&self.file).is_ok_and(|facts| facts.st_nlink > 0);
        if let (true, Ok(file)) = (is_there, self.file.try_clone()) {
            held.lists.push((self.identity, file));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::manifest::Manifest;
    use super::*;
    use crate::target_file::open_directory;
    use rustix::fs::OFlags;

    #[test]
    fn a_list_is_free_although_a_program_being_started_has_a_copy() {
        let dir = tempfile::tempdir().unwrap();
        let file = File::create(dir.path().join("t.manifest")).unwrap();
        flock(&file, FlockOperation::NonBlockingLockExclusive).unwrap();
        let copy = file.try_clone().unwrap();
        unlock(&file);
        let other = File::open(dir.path().join("t.manifest")).unwrap();
        flock(&other, FlockOperation::NonBlockingLockExclusive).unwrap();
        drop(copy);
    }

    #[test]
    fn a_list_stays_locked_until_the_run_ends() {
        let dir = tempfile::tempdir().unwrap();
        let fd = open_directory(dir.path(), OFlags::RDONLY).unwrap();
        let is_free = || {
            let other = File::open(dir.path().join("t.manifest")).unwrap();
            flock(&other, FlockOperation::NonBlockingLockExclusive).is_ok()
        };
        let run = HeldLists::begin();
        drop(Manifest::open(&fd, dir.path(), "t").unwrap());
        assert!(!is_free(), "between two trials");
        let next = Manifest::open(&fd, dir.path(), "t").unwrap();
        assert!(Manifest::open(&fd, dir.path(), "t").is_err(), "in use");
        drop(next);
        drop(run);
        // Another test of this process may hold lists as well.
        if held().runs == 0 {
            assert!(is_free(), "after the run");
        }
    }
}
