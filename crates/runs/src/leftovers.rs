//! Files that killed runs left behind, removed as far as they are theirs.

use std::collections::BTreeSet;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use fathom_deadline::{ChangeWatch, paths};
use fathom_engine::prepare::{
    CreationRefused, FileAtPath, PrepareHooks, PrepareProgress, remove_file_if,
    remove_files_of_run, remove_surplus_files,
};
use fathom_fleet::MadeFiles;
use fathom_store::{Leftover, Store};

use crate::present;

/// Told of each file that was removed.
type Tell<'t> = &'t mut dyn FnMut(&Path) -> anyhow::Result<()>;

/// Removes what runs left that are noted in the store at this path. Complains
/// about what stays; false when something does.
///
/// # Errors
/// The store cannot be written, or nothing can be told.
pub fn remove(
    store: &mut Store,
    path: &Path,
    leftovers: Vec<Leftover>,
    tell: Tell<'_>,
) -> anyhow::Result<bool> {
    let all = leftovers.len();
    let mut leftovers = within_reach(leftovers);
    let mut failed = leftovers.len() < all;
    let made = MadeFiles::beside(path);
    // Where something was left, and why was said.
    let mut explained = BTreeSet::new();
    for (directory, prefix, run_id) in places(&leftovers) {
        let mut gone = Removed::default();
        let tag = fathom_model::run::tag_of(&run_id);
        let removed = remove_files_of_run(&directory, &prefix, tag, &mut gone);
        for path in &gone.paths {
            tell(path)?;
        }
        if let Err(error) = removed {
            present::complain(&error.to_string());
            failed = true;
            explained.insert((directory, prefix, run_id));
        }
    }
    failed |= !remove_named(store, &made, &leftovers, tell)?;
    leftovers.retain(|leftover| place(leftover).is_none_or(|place| !explained.contains(&place)));
    failed |= !forget_missing(store, &leftovers)?;
    Ok(!failed)
}

/// Those whose directories accept changes now. Complains about each other one.
fn within_reach(mut leftovers: Vec<Leftover>) -> Vec<Leftover> {
    let parents = leftovers
        .iter()
        .filter_map(|leftover| leftover.path.parent());
    let directories: BTreeSet<PathBuf> = parents.map(Path::to_owned).collect();
    for directory in directories {
        if let Err(silent) = paths::accept_changes(&directory) {
            let directory_name = directory.display();
            present::complain(&format!(
                "{directory_name}: {silent}; run `fathom clean` again later"
            ));
            leftovers.retain(|leftover| leftover.path.parent() != Some(&directory));
        }
    }
    leftovers
}

/// Forgets files that are gone: a note outlives its file when the process was
/// killed between the two. False when one is still there.
fn forget_missing(store: &mut Store, leftovers: &[Leftover]) -> anyhow::Result<bool> {
    let mut all_gone = true;
    for leftover in leftovers {
        let path = leftover.path.display();
        match paths::symlink_metadata(&leftover.path) {
            Err(error) if error.kind() == ErrorKind::TimedOut => {
                present::complain(&format!("{path}: {error}; run `fathom clean` again later"));
                all_gone = false;
            }
            Err(_) => store.forget_file(&leftover.path)?,
            Ok(_) => {
                present::complain(&format!(
                    "{path} is not the file that the run made any more; left alone"
                ));
                all_gone = false;
            }
        }
    }
    Ok(all_gone)
}

/// Removes files that a user named and a run made, if they still are the ones
/// that were made. False when one could not be removed.
fn remove_named(
    store: &mut Store,
    made: &MadeFiles,
    leftovers: &[Leftover],
    tell: Tell<'_>,
) -> anyhow::Result<bool> {
    let mut all = true;
    for leftover in leftovers {
        let Some(identity) = made.noted(&leftover.path) else {
            continue;
        };
        match remove_file_if(&leftover.path, &identity) {
            Ok(FileAtPath::Removed) => {
                store.forget_file(&leftover.path)?;
                tell(&leftover.path)?;
            }
            Ok(FileAtPath::Missing | FileAtPath::Replaced) => {}
            Err(error) => {
                present::complain(&error.to_string());
                all = false;
            }
        }
    }
    Ok(all)
}

/// The directories that have leftovers, how their names begin, and of which
/// run they are.
fn places(leftovers: &[Leftover]) -> BTreeSet<(PathBuf, String, String)> {
    leftovers.iter().filter_map(place).collect()
}

fn place(leftover: &Leftover) -> Option<(PathBuf, String, String)> {
    let directory = leftover.path.parent()?.to_owned();
    // A name is `PREFIX.NUMBER` or `PREFIX.manifest`.
    let prefix = leftover.path.file_stem()?.to_str()?.to_owned();
    Some((directory, prefix, leftover.run_id.clone()))
}

/// Removes files that were to go after the run, as far as they are what the run
/// made. Complains about what stays.
pub fn unlink(files: impl IntoIterator<Item = PathBuf>, store_path: &Path) {
    let made = MadeFiles::beside(store_path);
    let mut gone = Vec::new();
    for path in files {
        let Some(identity) = made.noted(&path) else {
            continue;
        };
        match remove_file_if(&path, &identity) {
            Ok(FileAtPath::Removed | FileAtPath::Missing) => gone.push(path),
            Ok(FileAtPath::Replaced) => present::complain(&format!(
                "{} is not the file that the job made any more; left alone",
                path.display()
            )),
            Err(error) => present::complain(&error.to_string()),
        }
    }
    let gone: Vec<PathBuf> = gone.iter().flat_map(std::path::absolute).collect();
    if let Ok(mut store) = Store::open(store_path) {
        // A note that stays only makes `fathom clean` look for the file.
        let _ = store.forget_files(gone.iter().map(PathBuf::as_path));
    }
}

/// Takes note of what was removed.
#[derive(Debug, Default)]
pub struct Removed {
    /// In the order of their removal.
    pub paths: Vec<PathBuf>,
}

impl PrepareHooks for Removed {
    fn progress(&mut self, _: PrepareProgress<'_>) {}

    fn creating(&mut self, _: &Path) -> Result<(), CreationRefused> {
        Err(CreationRefused::CleaningUp)
    }

    fn removed(&mut self, path: &Path) {
        self.paths.push(path.to_owned());
    }

    fn stop_requested(&self) -> bool {
        false
    }
}

/// Removes files of a larger set that earlier runs made and kept.
///
/// # Errors
/// One cannot be removed.
pub fn remove_surplus(
    directory: &Path,
    prefix: &str,
    count: u32,
    store: Option<Store>,
) -> anyhow::Result<()> {
    let mut gone = Gone { store };
    let _held_up = ChangeWatch::start(directory, present::complain);
    remove_surplus_files(directory, prefix, count, &mut gone)?;
    Ok(())
}

/// Takes removed files off the store's list.
struct Gone {
    store: Option<Store>,
}

impl PrepareHooks for Gone {
    fn progress(&mut self, _: PrepareProgress<'_>) {}

    fn creating(&mut self, _: &Path) -> Result<(), CreationRefused> {
        Err(CreationRefused::CleaningUp)
    }

    fn removed(&mut self, path: &Path) {
        let path = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
        if let Some(store) = &mut self.store {
            // A note that stays only makes `fathom clean` look for the file.
            let _ = store.forget_file(&path);
        }
    }

    fn stop_requested(&self) -> bool {
        false
    }
}
