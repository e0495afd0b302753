//! A machine's `/proc`, `/sys` and `/dev` from one text file, laid out in a
//! temporary folder. `fixtures/record.sh` prints such files.
//!
//! `== PATH` begins a file, `== PATH -> TARGET` is a symbolic link, lines before
//! the first are comments.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use fathom_observe::Sysroot;

/// A recorded machine; its folder goes when this does.
pub(crate) struct Machine {
    pub(crate) sys: Sysroot,
    folder: tempfile::TempDir,
}

impl Machine {
    /// Lays out `fixtures/NAME.rec`.
    pub(crate) fn open(name: &str) -> Self {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/fixtures/{name}.rec"));
        let text = fs::read_to_string(&path).unwrap_or_else(|error| panic!("{path:?}: {error}"));
        let folder = tempfile::tempdir().unwrap();
        lay_out(folder.path(), &text);
        Machine {
            sys: Sysroot::at(folder.path()),
            folder,
        }
    }

    /// The content of one file.
    pub(crate) fn text(&self, path: &str) -> String {
        fs::read_to_string(inside(self.folder.path(), path))
            .unwrap()
            .trim_end()
            .to_owned()
    }

    /// Replaces or makes one file.
    pub(crate) fn write(&self, path: &str, text: &str) {
        write(&inside(self.folder.path(), path), text);
    }

    /// Removes a file or folder.
    #[expect(clippy::disallowed_methods, reason = "within a folder of the test")]
    pub(crate) fn remove(&self, path: &str) {
        let path = inside(self.folder.path(), path);
        let removed = if path.is_dir() {
            fs::remove_dir_all(&path)
        } else {
            fs::remove_file(&path)
        };
        removed.unwrap_or_else(|error| panic!("{path:?}: {error}"));
    }
}

fn inside(folder: &Path, path: &str) -> PathBuf {
    folder.join(path.trim_start_matches('/'))
}

fn write(path: &Path, text: &str) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

fn lay_out(folder: &Path, recording: &str) {
    let mut entries = recording.split("\n== ");
    let first = entries.next().unwrap();
    // A recording without comments begins with an entry at once.
    for entry in first.strip_prefix("== ").into_iter().chain(entries) {
        let (head, content) = entry.split_once('\n').unwrap_or((entry, ""));
        match head.split_once(" -> ") {
            Some((link, target)) => {
                let link = inside(folder, link);
                fs::create_dir_all(link.parent().unwrap()).unwrap();
                symlink(target, &link).unwrap_or_else(|error| panic!("{link:?}: {error}"));
            }
            None => write(&inside(folder, head), content),
        }
    }
}
