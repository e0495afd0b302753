//! Files that runs made by names that users chose, so that later runs may
//! write to them again and `fathom clean` may remove them.
//!
//! The list lies beside the store, one line a file: device, inode, time of
//! birth, path. Each is noted before and right after it is made, so that a
//! killed run leaves no file that nobody knows. A file is fathom's if all of it
//! is as it was noted; whoever replaces it takes it over. Nothing is put into
//! the user's directory: scripts remove theirs with `rmdir`.

use std::collections::{BTreeMap, HashSet};
use std::fs::{File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use fathom_deadline::paths;
use fathom_engine::FileIdentity;
use fathom_engine::prepare::is_private;
use rustix::fs::OFlags;

const NAME: &str = "made-files";
/// More than a million files.
const SIZE_LIMIT: u64 = 256 << 20;

/// The list of files that runs made by name.
#[derive(Debug)]
pub struct MadeFiles {
    list: PathBuf,
    files: BTreeMap<PathBuf, FileIdentity>,
    identities: HashSet<FileIdentity>,
    /// Where a run was making a file when it was killed. What lies there is looked
    /// at when it is asked for: the others may be on mounts that hang.
    making: HashSet<PathBuf>,
}

impl MadeFiles {
    /// Reads the list beside a store. What cannot be read, or may have been
    /// written by others, counts as empty: then files are a stranger's, which
    /// is the safe side.
    pub fn beside(store: &Path) -> MadeFiles {
        let list = store.with_file_name(NAME);
        let mut text = String::new();
        if is_private(&list)
            && let Ok(file) = open(OpenOptions::new().read(true), &list)
        {
            // A line that a crash cut off is left out.
            let _ = file.take(SIZE_LIMIT).read_to_string(&mut text);
        }
        let mut files = BTreeMap::new();
        let mut making = HashSet::new();
        for (path, identity) in text.lines().filter_map(entry) {
            match identity {
                Some(identity) => {
                    files.insert(path, identity);
                }
                None => {
                    making.insert(path);
                }
            }
        }
        MadeFiles {
            list,
            identities: files.values().copied().collect(),
            files,
            making,
        }
    }

    /// What tells the file that a run made at `path` from others.
    pub fn noted(&self, path: &Path) -> Option<FileIdentity> {
        let path = absolute(path);
        let made = self.files.get(&path).copied();
        made.or_else(|| self.left_empty(&path))
    }

    /// The file that a killed run was making at `path`: it is the run's as long
    /// as it is empty.
    fn left_empty(&self, path: &Path) -> Option<FileIdentity> {
        let known = self.making.contains(path);
        known.then(|| identity_of(path, true)).flatten()
    }

    /// Whether a run made the file that is at `path` now.
    pub fn is_ours(&self, path: &Path) -> bool {
        let noted = self.noted(path);
        noted.is_some() && noted == identity_of(path, false)
    }

    /// Whether a run made the file with this identity, which is at `path`. One that a
    /// killed run left empty is noted first: once it is written to, nothing else would
    /// tell it from a stranger's.
    pub fn knows(&mut self, path: &Path, identity: &FileIdentity) -> bool {
        self.identities.contains(identity)
            || (self.left_empty(&absolute(path)).as_ref() == Some(identity)
                && self.note(path, identity).is_ok())
    }

    /// Notes a file that is about to be made.
    ///
    /// # Errors
    /// When the list cannot be written.
    pub fn note_making(&mut self, path: &Path) -> io::Result<()> {
        self.write(path, None)
    }

    /// Notes a file that a run has just made.
    ///
    /// # Errors
    /// When the list cannot be written.
    pub fn note(&mut self, path: &Path, identity: &FileIdentity) -> io::Result<()> {
        self.write(path, Some(identity))?;
        self.files.insert(absolute(path), *identity);
        self.identities.insert(*identity);
        Ok(())
    }

    fn write(&self, path: &Path, identity: Option<&FileIdentity>) -> io::Result<()> {
        let path = absolute(path);
        let Some(name) = path.to_str().filter(|name| !name.contains('\n')) else {
            return Ok(());
        };
        let text = identity.map_or_else(
            || format!("0 0 0 {name}\n"),
            |identity| {
                let born_ns = identity.born_ns.unwrap_or(0);
                format!("{} {} {born_ns} {name}\n", identity.device, identity.inode)
            },
        );
        if let Some(parent) = self.list.parent() {
            fathom_outputs::make_folder(parent)?;
        }
        if self.list.symlink_metadata().is_ok() && !is_private(&self.list) {
            return Err(io::Error::other(format!(
                "{}: others may write to it; give it to yourself with mode 0600, or move it away",
                self.list.display()
            )));
        }
        let mut list = fathom_outputs::append(&self.list)?;
        // One call, so that a kill leaves the line or nothing of it.
        list.write_all(text.as_bytes())
    }
}

fn open(options: &mut OpenOptions, list: &Path) -> io::Result<File> {
    let flags = OFlags::NOFOLLOW | OFlags::NONBLOCK;
    options.custom_flags(flags.bits() as i32).open(list)
}

/// A line: the path, and which file it is unless it was still to be made.
fn entry(line: &str) -> Option<(PathBuf, Option<FileIdentity>)> {
    let mut fields = line.splitn(4, ' ');
    let device: u64 = fields.next()?.parse().ok()?;
    let inode: u64 = fields.next()?.parse().ok()?;
    let born_ns: u64 = fields.next()?.parse().ok()?;
    let identity = FileIdentity {
        device,
        inode,
        born_ns: Some(born_ns).filter(|at| *at > 0),
    };
    let noted = (inode > 0).then_some(identity);
    Some((PathBuf::from(fields.next()?), noted))
}

/// The identity of a plain file with one name, which is this user's and empty
/// if that is wanted; `None` for anything else, and where nothing responds.
fn identity_of(path: &Path, fresh: bool) -> Option<FileIdentity> {
    let look = move |path: &Path| -> io::Result<Option<FileIdentity>> {
        let flags = OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let file = File::from(rustix::fs::open(path, flags, rustix::fs::Mode::empty())?);
        let facts = file.metadata()?;
        let own = facts.uid() == rustix::process::geteuid().as_raw();
        let plain = facts.is_file() && facts.nlink() == 1;
        if plain && (!fresh || (own && facts.len() == 0)) {
            FileIdentity::of(&file).map(Some)
        } else {
            Ok(None)
        }
    };
    paths::on(path, look).ok().flatten()
}

fn absolute(path: &Path) -> PathBuf {
    std::path::absolute(path).unwrap_or_else(|_| path.to_owned())
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    fn noted(made: &mut MadeFiles, path: &Path) {
        let identity = identity_of(path, false).unwrap();
        made.note(path, &identity).unwrap();
    }

    #[test]
    fn only_the_very_file_that_was_made_is_ours() {
        let dir = tempfile::tempdir().unwrap();
        let store = dir.path().join("store.db");
        let file = dir.path().join("a file");
        std::fs::write(&file, "x").unwrap();
        let mut made = MadeFiles::beside(&store);
        assert!(!made.is_ours(&file), "nobody has noted it");
        noted(&mut made, &file);
        assert!(!made.is_ours(&dir.path().join("missing")));
        assert!(MadeFiles::beside(&store).is_ours(&file));
        let identity = identity_of(&file, false).unwrap();
        assert!(made.knows(&file, &identity) && made.noted(&file) == Some(identity));

        std::fs::hard_link(&file, dir.path().join("b")).unwrap();
        assert!(!made.is_ours(&file), "it has a second name");
        std::fs::remove_file(dir.path().join("b")).unwrap();
        assert!(made.is_ours(&file));

        let other = dir.path().join("other");
        std::fs::write(&other, "y").unwrap();
        std::fs::rename(&other, &file).unwrap();
        assert!(!made.is_ours(&file), "somebody replaced it");
    }

    #[test]
    fn a_file_that_was_being_made_is_ours_as_long_as_it_is_empty() {
        let dir = tempfile::tempdir().unwrap();
        let store = dir.path().join("store.db");
        let file = dir.path().join("a");
        let mut made = MadeFiles::beside(&store);
        made.note_making(&file).unwrap();
        assert!(!MadeFiles::beside(&store).is_ours(&file), "it was not made");
        std::fs::write(&file, "").unwrap();
        assert!(MadeFiles::beside(&store).is_ours(&file));
        std::fs::write(&file, "mine").unwrap();
        assert!(!MadeFiles::beside(&store).is_ours(&file));
    }

    #[test]
    fn a_file_that_a_later_run_takes_over_is_ours_when_it_is_written_to() {
        let dir = tempfile::tempdir().unwrap();
        let store = dir.path().join("store.db");
        let file = dir.path().join("a");
        MadeFiles::beside(&store).note_making(&file).unwrap();
        std::fs::write(&file, "").unwrap();
        let identity = identity_of(&file, true).unwrap();
        assert!(MadeFiles::beside(&store).knows(&file, &identity));
        std::fs::write(&file, "of the later run").unwrap();
        assert!(MadeFiles::beside(&store).is_ours(&file));
        let other = FileIdentity {
            inode: identity.inode + 1,
            ..identity
        };
        assert!(!MadeFiles::beside(&store).knows(&file, &other));
    }

    #[test]
    fn a_broken_list_makes_nothing_ours() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join(NAME), "1 2\nx y z w\n\n1 2 3 /dev/null\n").unwrap();
        let made = MadeFiles::beside(&dir.path().join("store.db"));
        assert!(!made.is_ours(Path::new("/dev/null")));
        assert_eq!(made.files.len(), 1);
    }

    #[test]
    fn a_list_that_others_may_have_written_makes_nothing_ours() {
        let dir = tempfile::tempdir().unwrap();
        let store = dir.path().join("store.db");
        let file = dir.path().join("a");
        std::fs::write(&file, "x").unwrap();
        let mut made = MadeFiles::beside(&store);
        noted(&mut made, &file);
        let list = dir.path().join(NAME);
        let mode = |mode| std::fs::set_permissions(&list, PermissionsExt::from_mode(mode)).unwrap();
        mode(0o666);
        assert!(!MadeFiles::beside(&store).is_ours(&file));
        let refused = made.note_making(&file).unwrap_err().to_string();
        assert!(refused.contains("others may write"), "{refused}");
        mode(0o600);
        assert!(MadeFiles::beside(&store).is_ours(&file));
        let elsewhere = dir.path().join("elsewhere");
        std::fs::rename(&list, &elsewhere).unwrap();
        std::os::unix::fs::symlink(&elsewhere, &list).unwrap();
        assert!(!MadeFiles::beside(&store).is_ours(&file));
        assert!(made.note_making(&file).is_err());
    }
}
