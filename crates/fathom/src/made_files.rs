//! Files that runs made by names that users chose, so that later runs may
//! write to them again and `fathom clean` may remove them.
//!
//! The list lies beside the store, one line a file: device, inode, time of
//! birth, path. A file is fathom's if all of it is as it was noted; whoever
//! replaces it takes it over. Nothing is put into the user's directory: scripts
//! remove theirs with `rmdir`.

use std::collections::BTreeMap;
use std::fs::OpenOptions;
use std::io::{Read, Write};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

const NAME: &str = "made-files";
/// More than a million files.
const SIZE_LIMIT: u64 = 256 << 20;

/// What tells a file from another of the same name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Identity {
    device: u64,
    inode: u64,
    /// Nanoseconds since 1970; 0 where the file system keeps no birth.
    born_ns: u128,
}

/// The list of files that runs made by name.
#[derive(Debug)]
pub(crate) struct MadeFiles {
    list: PathBuf,
    files: BTreeMap<PathBuf, Identity>,
}

impl MadeFiles {
    /// Reads the list beside a store. What cannot be read counts as empty:
    /// then files are a stranger's, which is the safe side.
    pub(crate) fn beside(store: &Path) -> MadeFiles {
        let list = store.with_file_name(NAME);
        let mut text = String::new();
        if let Ok(file) = std::fs::File::open(&list) {
            // A line that a crash cut off is left out.
            let _ = file.take(SIZE_LIMIT).read_to_string(&mut text);
        }
        MadeFiles {
            list,
            files: text.lines().filter_map(entry).collect(),
        }
    }

    /// Whether a run made the file that is at `path` now.
    pub(crate) fn is_ours(&self, path: &Path) -> bool {
        let path = absolute(path);
        let noted = self.files.get(&path);
        noted.is_some() && noted.copied() == identity(&path)
    }

    /// Notes files that a run has just made.
    ///
    /// # Errors
    /// When the list cannot be written.
    pub(crate) fn note(&mut self, paths: &[PathBuf]) -> std::io::Result<()> {
        let mut text = String::new();
        for path in paths {
            let path = absolute(path);
            let Some(found) = identity(&path) else {
                continue;
            };
            let Some(name) = path.to_str().filter(|name| !name.contains('\n')) else {
                continue;
            };
            let Identity {
                device,
                inode,
                born_ns,
            } = found;
            text += &format!("{device} {inode} {born_ns} {name}\n");
            self.files.insert(path, found);
        }
        if text.is_empty() {
            return Ok(());
        }
        if let Some(parent) = self.list.parent() {
            std::fs::create_dir_all(parent)?;
        }
        let mut list = OpenOptions::new()
            .append(true)
            .create(true)
            .open(&self.list)?;
        list.write_all(text.as_bytes())?;
        list.sync_data()
    }
}

fn entry(line: &str) -> Option<(PathBuf, Identity)> {
    let mut fields = line.splitn(4, ' ');
    let found = Identity {
        device: fields.next()?.parse().ok()?,
        inode: fields.next()?.parse().ok()?,
        born_ns: fields.next()?.parse().ok()?,
    };
    Some((PathBuf::from(fields.next()?), found))
}

/// The identity of a plain file with one name; `None` for anything else.
fn identity(path: &Path) -> Option<Identity> {
    let facts = path.symlink_metadata().ok()?;
    if !facts.is_file() || facts.nlink() != 1 {
        return None;
    }
    let born = facts.created().ok();
    let born = born.and_then(|at| at.duration_since(UNIX_EPOCH).ok());
    Some(Identity {
        device: facts.dev(),
        inode: facts.ino(),
        born_ns: born.map_or(0, |since| since.as_nanos()),
    })
}

fn absolute(path: &Path) -> PathBuf {
    std::path::absolute(path).unwrap_or_else(|_| path.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_very_file_that_was_made_is_ours() {
        let dir = tempfile::tempdir().unwrap();
        let store = dir.path().join("store.db");
        let file = dir.path().join("a file");
        std::fs::write(&file, "x").unwrap();
        let mut made = MadeFiles::beside(&store);
        assert!(!made.is_ours(&file), "nobody has noted it");
        made.note(&[file.clone(), dir.path().join("missing")])
            .unwrap();
        assert!(MadeFiles::beside(&store).is_ours(&file));

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
    fn a_broken_list_makes_nothing_ours() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join(NAME), "1 2\nx y z w\n\n1 2 3 /dev/null\n").unwrap();
        let made = MadeFiles::beside(&dir.path().join("store.db"));
        assert!(!made.is_ours(Path::new("/dev/null")));
        assert_eq!(made.files.len(), 1);
    }
}
