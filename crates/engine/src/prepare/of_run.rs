//! Removing the test files of a whole run, whichever of its trials made them.

use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustix::fs::OFlags;

use super::cleanup::{OwnFile, OwnFiles, Removal};
use super::hooks::PrepareHooks;
use super::manifest::{FileState, ListedFile, Manifest};
use super::test_files::TestFiles;
use crate::Error;
use crate::target_file::{FileFacts, open_directory};

/// A directory in which a run has made test files. It is held open, so that
/// they are found again also when the directory was moved.
#[derive(Debug, Clone)]
pub struct TestDirectory {
    pub(crate) dir: Arc<OwnedFd>,
    pub(crate) path: PathBuf,
    pub(crate) file_prefix: String,
}

impl TestDirectory {
    /// Removes the test files that the run with `run_tag` made in it, as
    /// [`remove_files_of_run`] does. Their list must be there.
    ///
    /// # Errors
    /// As [`remove_files_of_run`]; also when the list is gone.
    pub fn remove_files_of_run(
        &self,
        run_tag: u64,
        hooks: &mut dyn PrepareHooks,
    ) -> Result<Removal, Error> {
        let list = self.path.join(Manifest::name(&self.file_prefix));
        match remove_matching(self, |_, entry| entry.run_tag == run_tag, hooks)? {
            Some(removal) => Ok(removal),
            // An earlier trial of the run has removed the last of them.
            None if Manifest::was_removed_here(&list) => Ok(Removal::default()),
            None => Err(Error::target(
                &list,
                "is not there any more: somebody else removed or moved the list of the test files \
                 that this run had made. Files that are still there are left alone",
            )),
        }
    }

    /// Whether its path is a link, which somebody may have put in its place.
    fn is_link(&self) -> bool {
        let facts = self.path.symlink_metadata();
        facts.is_ok_and(|facts| facts.file_type().is_symlink())
    }

    /// Whether its path leads elsewhere now, or nowhere.
    pub fn was_moved(&self) -> bool {
        let here = FileFacts::of(&*self.dir);
        let there = open_directory(&self.path, OFlags::PATH).and_then(FileFacts::of);
        match (here, there) {
            (Ok(here), Ok(there)) => !here.identity.is(&there.identity),
            _ => true,
        }
    }
}

/// Removes the test files that the run with `run_tag` made in a directory,
/// and the list of test files when it lists nothing any more. Files of other
/// runs and files that took the name of a test file stay.
///
/// # Errors
/// [`Error::Target`] when another fathom uses the files or their list cannot
/// be trusted, [`Error::Io`] when a file could not be removed.
pub fn remove_files_of_run(
    dir: &Path,
    file_prefix: &str,
    run_tag: u64,
    hooks: &mut dyn PrepareHooks,
) -> Result<Removal, Error> {
    let Some(place) = place(dir, file_prefix)? else {
        return Ok(Removal::default());
    };
    let removal = remove_matching(&place, |_, entry| entry.run_tag == run_tag, hooks)?;
    Ok(removal.unwrap_or_default())
}

/// Removes the test files of a directory whose number is `count` or more,
/// whichever run made them: the rest of a larger set. Returns how many there
/// were. Files that took the name of a test file stay.
///
/// # Errors
/// As [`remove_files_of_run`].
pub fn remove_surplus_files(
    dir: &Path,
    file_prefix: &str,
    count: u32,
    hooks: &mut dyn PrepareHooks,
) -> Result<usize, Error> {
    let surplus = |name: &str, _: &ListedFile| {
        let number = name.strip_prefix(file_prefix);
        let number = number.and_then(|number| number.strip_prefix('.'));
        let number = number.and_then(|number| number.parse::<u32>().ok());
        number.is_some_and(|number| number >= count)
    };
    let Some(place) = place(dir, file_prefix)? else {
        return Ok(0);
    };
    let removal = remove_matching(&place, surplus, hooks)?.unwrap_or_default();
    Ok(removal.removed + removal.missing.len() + removal.replaced.len())
}

/// The directory, opened; `None` when it is not there.
fn place(dir: &Path, file_prefix: &str) -> Result<Option<TestDirectory>, Error> {
    let resolved = match dir.canonicalize() {
        Ok(resolved) => resolved,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(Error::io("open", dir)(error)),
    };
    let opened = open_directory(&resolved, OFlags::RDONLY).map_err(Error::io("open", dir))?;
    Ok(Some(TestDirectory {
        dir: Arc::new(opened),
        path: dir.to_owned(),
        file_prefix: file_prefix.to_owned(),
    }))
}

/// Removes the listed files that are meant. `None` when there is no list.
fn remove_matching(
    place: &TestDirectory,
    meant: impl Fn(&str, &ListedFile) -> bool,
    hooks: &mut dyn PrepareHooks,
) -> Result<Option<Removal>, Error> {
    if FileFacts::at(&*place.dir, Manifest::name(&place.file_prefix)).is_err() {
        return Ok(None);
    }
    let mut manifest = Manifest::open(&place.dir, &place.path, &place.file_prefix)?;
    let mut files = Vec::new();
    let mut never_made = Vec::new();
    for (name, entry) in manifest.entries.iter().filter(|(name, e)| meant(name, e)) {
        let mut identity = manifest.identity_of(entry);
        // It was about to be created: what is there is the one, or nothing is.
        if entry.state == FileState::Creating {
            match FileFacts::at(&*place.dir, name.as_str()) {
                Ok(facts) if manifest.owns(name, &facts) => identity = facts.identity,
                _ => {
                    never_made.push(name.clone());
                    continue;
                }
            }
        }
        files.push(OwnFile {
            name: name.clone(),
            identity,
        });
    }
    let here = |file: &OwnFile| {
        let facts = FileFacts::at(&*place.dir, file.name.as_str());
        facts.is_ok_and(|facts| file.identity.is(&facts.identity))
    };
    if !files.is_empty() && place.is_link() && !files.iter().any(here) {
        return Err(Error::target(
            &place.path,
            "is a symbolic link, and none of the test files that the run made is where it leads: \
             the list of them that lies there was left alone",
        ));
    }
    for name in never_made {
        manifest.entries.remove(&name);
    }
    manifest.save()?;
    let own = OwnFiles {
        dir: Arc::clone(&place.dir),
        dir_path: place.path.clone(),
        owner: manifest.owner(),
        files,
    };
    let mut files = TestFiles {
        own,
        manifest,
        in_use: false,
    };
    files.remove(hooks).map(Some)
}
