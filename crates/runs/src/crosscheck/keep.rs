//! Where job files, documents and the result are kept.

use std::path::{Path, PathBuf};

use anyhow::Context;
use fathom_outputs::{Mark, Refused};

use crate::output_flags::StorePath;
use crate::present;

/// The result.
const RESULT: &str = "crosscheck.json";
/// Stands above what fio prints.
pub(super) const MESSAGES: &str = "fathom crosscheck: what fio printed";

/// The directory of one cross-check.
pub struct Keep {
    dir: PathBuf,
}

/// Files of one call of fio.
pub(super) struct Kept {
    job: PathBuf,
    pub(super) document: PathBuf,
    pub(super) messages: PathBuf,
}

impl Keep {
    /// Makes the directory: the chosen one, or one named after the run beside
    /// the store.
    ///
    /// # Errors
    /// It cannot be made, or holds the result of something else.
    pub fn make(chosen: Option<&Path>, store: &StorePath, id: &str) -> anyhow::Result<Keep> {
        let dir = match chosen {
            Some(dir) => dir.to_owned(),
            None => {
                let store = present::store_path(store)?;
                let folder = store.parent().unwrap_or(Path::new("."));
                folder.join("crosscheck").join(id)
            }
        };
        fathom_deadline::paths::change(&dir, fathom_outputs::make_folder)
            .with_context(|| format!("cannot create {}", dir.display()))?;
        let dir = std::path::absolute(&dir).unwrap_or(dir);
        present::admit(&dir.join(RESULT), Mark::Document)?;
        Ok(Keep { dir })
    }

    /// The directory.
    #[must_use]
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// Writes the job file of a pair.
    pub(super) fn job_file(&self, kept: &Kept, text: &str) -> Result<PathBuf, Refused> {
        let path = &kept.job;
        present::write_file(path, Mark::JobFile, text)?;
        // fio writes its document and messages itself, into files of ours.
        present::write_file(&kept.document, Mark::FioResult, "")?;
        let head = format!("{MESSAGES}\n");
        present::write_file(&kept.messages, Mark::Line(MESSAGES), &head)?;
        Ok(path.clone())
    }

    /// Names for what fio writes in one pair.
    pub(super) fn of_pair(&self, row: usize, label: &str, pair: u32) -> Kept {
        let stem = format!("{}-pair{}", name(row, label), pair + 1);
        Kept {
            job: self.dir.join(format!("{stem}.fio")),
            document: self.dir.join(format!("{stem}.json")),
            messages: self.dir.join(format!("{stem}.txt")),
        }
    }

    /// Writes the result.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn result(&self, json: &str) -> anyhow::Result<()> {
        let path = self.dir.join(RESULT);
        present::write_file(&path, Mark::Document, json)?;
        Ok(())
    }
}

fn name(row: usize, label: &str) -> String {
    format!("{:02}-{}", row + 1, file_name(label).display())
}

/// A name that can be a file name.
fn file_name(label: &str) -> PathBuf {
    let plain = |c: char| {
        if c.is_ascii_alphanumeric() || c == '.' {
            c
        } else {
            '-'
        }
    };
    let name: String = label.chars().map(plain).take(60).collect();
    PathBuf::from(name.trim_matches(['-', '.']))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_become_file_names() {
        assert_eq!(
            file_name("randread-4k q1 on /a/../b"),
            PathBuf::from("randread-4k-q1-on--a-..-b")
        );
        assert_eq!(file_name("../x"), PathBuf::from("x"));
    }
}
