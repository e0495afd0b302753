//! What killed agents left behind on their hosts.
//!
//! An agent notes each file before it is made, in a list of its own; the list
//! goes when all its files have gone. A list that stays tells what to remove.
//! Whether a file still is the one that was made, and whether somebody uses
//! it, the list of test files beside it says.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs;
use std::io::{ErrorKind, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use fathom_deadline::paths;
use fathom_engine::FileIdentity;
use fathom_engine::prepare::{
    CreationRefused, FileAtPath, PrepareHooks, PrepareProgress, is_private, remove_file_if,
    remove_files_of_run,
};
use fathom_observe::unix_now_ns;
use serde::{Deserialize, Serialize};

use crate::credentials::make_directory;

/// Longest list that is read.
const LIST_BYTES: u64 = 64 << 20;

/// Lists that are looked at.
const MAX_LISTS: usize = 4096;

/// One file, noted before it is made.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
struct JournalEntry {
    path: PathBuf,
    /// What marks the files of the run.
    run_tag: u64,
    /// The user wanted it to stay.
    kept: bool,
    /// What tells it from others, where no list beside it does: it has a name
    /// that the user chose.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    identity: Option<FileIdentity>,
}

/// The list of an agent's run.
#[derive(Debug)]
pub(crate) struct Journal {
    list: PathBuf,
    run_tag: u64,
    kept: bool,
    there: Mutex<BTreeSet<PathBuf>>,
}

impl Journal {
    /// A list in `directory`, which is made with the first file.
    pub(crate) fn begin(directory: &Path, run_tag: u64, kept: bool) -> Journal {
        let host = rustix::system::uname();
        let host = host.nodename().to_string_lossy().replace('/', "_");
        let name = format!("{host}.{}.{}", std::process::id(), unix_now_ns());
        Journal {
            list: directory.join(name),
            run_tag,
            kept,
            there: Mutex::default(),
        }
    }

    /// Notes a file that is about to be made. What cannot be noted is made all
    /// the same: a list is a help, not a condition.
    pub(crate) fn making(&self, path: &Path) {
        self.note(path, None);
    }

    /// Notes which file it is that was made by a name that the user chose.
    pub(crate) fn made(&self, path: &Path, identity: &FileIdentity) {
        self.note(path, Some(*identity));
    }

    fn note(&self, path: &Path, identity: Option<FileIdentity>) {
        let noted = JournalEntry {
            path: path.to_owned(),
            run_tag: self.run_tag,
            kept: self.kept,
            identity,
        };
        let write = move |list: &Path| {
            if let Some(parent) = list.parent() {
                make_directory(parent).map_err(std::io::Error::other)?;
            }
            let line = serde_json::to_string(&noted)? + "\n";
            let mut list = fathom_outputs::append(list)?;
            list.write_all(line.as_bytes())
        };
        if paths::change(&self.list, write).is_ok()
            && let Ok(mut there) = self.there.lock()
        {
            there.insert(path.to_owned());
        }
    }

    /// The file is gone.
    pub(crate) fn removed(&self, path: &Path) {
        let Ok(mut there) = self.there.lock() else {
            return;
        };
        if there.remove(path) && there.is_empty() {
            remove_list(&self.list);
        }
    }
}

/// What is to be done about leftovers.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CleanOrder {
    /// Remove them, instead of only listing them.
    pub remove: bool,
    /// Also what runs were told to keep.
    pub kept: bool,
}

/// What was found on a host.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CleaningReport {
    /// Files that are there.
    pub found: Vec<PathBuf>,
    /// Files that were there and are removed.
    pub removed: Vec<PathBuf>,
    /// What could not be removed, and why.
    pub problems: Vec<String>,
}

/// Looks through the lists that agents left in `directory`.
pub fn clean_after_agents(directory: &Path, order: CleanOrder) -> CleaningReport {
    let mut cleaned = CleaningReport::default();
    let lists = paths::on(directory, |directory| {
        let entries = fs::read_dir(directory)?.flatten();
        let lists = entries
            .map(|entry| entry.path())
            .filter(|path| is_list(path));
        Ok(lists.take(MAX_LISTS).collect::<Vec<PathBuf>>())
    });
    if let Some(silent) = lists.as_ref().err().and_then(paths::silent) {
        cleaned.problems.push(silent.to_string());
    }
    for list in lists.unwrap_or_default() {
        clean_list(&list, order, &mut cleaned);
    }
    for paths in [&mut cleaned.found, &mut cleaned.removed] {
        paths.sort();
        paths.dedup();
    }
    cleaned
}

/// Whether an agent of this user wrote a list: it has the name of one, and nobody
/// else could have written it.
fn is_list(path: &Path) -> bool {
    let name = path.file_name().and_then(OsStr::to_str).unwrap_or_default();
    let mut parts = name.rsplitn(3, '.');
    let is_number = |part: &str| !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit());
    let numbered = parts.by_ref().take(2).all(is_number);
    numbered && parts.next().is_some_and(|host| !host.is_empty()) && is_private(path)
}

fn clean_list(list: &Path, order: CleanOrder, cleaned: &mut CleaningReport) {
    let Some(noted) = read(list) else {
        return;
    };
    let there: Vec<&JournalEntry> = noted.iter().filter(|noted| exists(&noted.path)).collect();
    if there.is_empty() {
        // A file may be on a file system that is not mounted now.
        let gone = |noted: &JournalEntry| noted.path.parent().is_some_and(paths::exists);
        if order.remove && noted.iter().all(gone) {
            remove_list(list);
        }
        return;
    }
    let wanted: Vec<&JournalEntry> = there
        .into_iter()
        .filter(|noted| order.kept || !noted.kept)
        .collect();
    if !order.remove {
        cleaned
            .found
            .extend(wanted.into_iter().map(|noted| noted.path.clone()));
        return;
    }
    let sets: BTreeSet<(PathBuf, String, u64)> =
        wanted.iter().copied().filter_map(set_of).collect();
    for noted in &wanted {
        remove_named(noted, cleaned);
    }
    for (directory, prefix, run_tag) in sets {
        if let Err(silent) = paths::accept_changes(&directory) {
            cleaned.problems.push(silent.to_string());
            continue;
        }
        let mut gone = RemovedFiles::default();
        let removed = remove_files_of_run(&directory, &prefix, run_tag, &mut gone);
        cleaned.removed.extend(gone.0);
        if let Err(error) = removed {
            cleaned.problems.push(error.to_string());
        }
    }
    if noted.iter().all(|noted| !exists(&noted.path)) {
        remove_list(list);
    }
}

/// Removes a list whose files are gone. One that stays is looked at again.
fn remove_list(list: &Path) {
    let _ = paths::change(list, |list| fs::remove_file(list));
}

/// Removes a file of a name that the user chose, if it still is the one.
fn remove_named(noted: &JournalEntry, cleaned: &mut CleaningReport) {
    let Some(identity) = &noted.identity else {
        return;
    };
    match remove_file_if(&noted.path, identity) {
        Ok(FileAtPath::Removed) => cleaned.removed.push(noted.path.clone()),
        Ok(FileAtPath::Missing) => {}
        Ok(FileAtPath::Replaced) => cleaned.problems.push(format!(
            "{}: another file has this name now; left alone",
            noted.path.display()
        )),
        Err(error) => cleaned.problems.push(error.to_string()),
    }
}

/// Whether a file is there, or may be: a mount that does not answer is no proof.
fn exists(path: &Path) -> bool {
    match paths::symlink_metadata(path) {
        Ok(_) => true,
        Err(error) => error.kind() == ErrorKind::TimedOut,
    }
}

/// Directory, beginning of the names (`PREFIX.NUMBER`, `PREFIX.manifest`) and
/// run of a file.
fn set_of(noted: &JournalEntry) -> Option<(PathBuf, String, u64)> {
    let prefix = noted.path.file_stem()?.to_str()?.to_owned();
    Some((noted.path.parent()?.to_owned(), prefix, noted.run_tag))
}

/// The files of a list; `None` for what cannot be read, or is something else. A
/// line that a crash cut off is left out.
fn read(list: &Path) -> Option<Vec<JournalEntry>> {
    let text = paths::read(list, |list| {
        let mut text = String::new();
        let file = fs::File::open(list)?;
        file.take(LIST_BYTES).read_to_string(&mut text)?;
        Ok(text)
    });
    let text = text.ok()?;
    let whole = text.rsplit_once('\n').map_or("", |(whole, _)| whole);
    let noted = whole.lines().map(|line| serde_json::from_str(line).ok());
    let noted: Vec<JournalEntry> = noted.collect::<Option<_>>()?;
    let fits = noted.iter().all(|noted| noted.path.is_absolute());
    fits.then_some(noted)
}

/// Takes note of what was removed.
#[derive(Default)]
struct RemovedFiles(Vec<PathBuf>);

impl PrepareHooks for RemovedFiles {
    fn progress(&mut self, _: PrepareProgress<'_>) {}

    fn creating(&mut self, _: &Path) -> Result<(), CreationRefused> {
        Err(CreationRefused::CleaningUp)
    }

    fn removed(&mut self, path: &Path) {
        self.0.push(path.to_owned());
    }

    fn stop_requested(&self) -> bool {
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_lives_as_long_as_its_files() {
        let directory = tempfile::tempdir().unwrap();
        let (lists, data) = (
            directory.path().join("lists"),
            directory.path().join("data"),
        );
        fs::create_dir(&data).unwrap();
        let (one, two) = (data.join("t.0"), data.join("t.manifest"));
        let journal = Journal::begin(&lists, 7, false);
        for path in [&one, &two] {
            journal.making(path);
            fs::write(path, "x").unwrap();
        }
        let found = clean_after_agents(&lists, CleanOrder::default());
        assert_eq!(found.found, [one.clone(), two.clone()]);
        journal.removed(&one);
        assert_eq!(fs::read_dir(&lists).unwrap().count(), 1);
        journal.removed(&two);
        assert_eq!(fs::read_dir(&lists).unwrap().count(), 0);
    }

    #[test]
    fn what_is_kept_stays_unless_asked_for_and_strangers_are_left_alone() {
        let directory = tempfile::tempdir().unwrap();
        let lists = directory.path().join("lists");
        let path = directory.path().join("t.manifest");
        Journal::begin(&lists, 7, true).making(&path);
        fs::write(&path, "no list of fathom").unwrap();
        assert_eq!(
            clean_after_agents(&lists, CleanOrder::default()),
            CleaningReport::default()
        );
        let kept = CleanOrder {
            remove: false,
            kept: true,
        };
        assert_eq!(
            clean_after_agents(&lists, kept).found,
            std::slice::from_ref(&path)
        );
        let removed = clean_after_agents(
            &lists,
            CleanOrder {
                remove: true,
                kept: true,
            },
        );
        assert!(
            removed.removed.is_empty() && !removed.problems.is_empty(),
            "{removed:?}"
        );
        assert!(path.exists());
    }

    #[test]
    fn a_file_that_the_user_named_goes_only_if_it_still_is_the_one() {
        let directory = tempfile::tempdir().unwrap();
        let lists = directory.path().join("lists");
        let (ours, taken) = (directory.path().join("a"), directory.path().join("b"));
        let journal = Journal::begin(&lists, 7, false);
        for path in [&ours, &taken] {
            journal.making(path);
            fs::write(path, "x").unwrap();
            let identity = FileIdentity::of(fs::File::open(path).unwrap()).unwrap();
            journal.made(path, &identity);
        }
        let other = directory.path().join("c");
        fs::write(&other, "precious").unwrap();
        fs::rename(&other, &taken).unwrap();
        let order = CleanOrder {
            remove: true,
            kept: false,
        };
        let cleaned = clean_after_agents(&lists, order);
        assert_eq!(cleaned.removed, std::slice::from_ref(&ours));
        assert_eq!(cleaned.problems.len(), 1, "{cleaned:?}");
        assert_eq!(fs::read_to_string(&taken).unwrap(), "precious");
    }

    #[test]
    fn what_is_no_list_of_an_agent_is_left_alone() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path();
        let relative = r#"{"path":"rel","run_tag":1,"kept":false}"#;
        let gone = r#"{"path":"/none/of/it","run_tag":1,"kept":false}"#;
        for (name, text) in [
            ("notes.txt", "my notes\n"),
            ("config.yaml", ""),
            ("v1.2", ""),
            ("host.1.1", "x\n"),
            ("host.1.2", relative),
            ("host.1.3", &format!("{gone}\n{relative}\n{{\"pa")),
        ] {
            fathom_outputs::replace(&path.join(name), text.as_bytes()).unwrap();
        }
        std::os::unix::fs::symlink("notes.txt", path.join("host.1.4")).unwrap();
        let names = || -> BTreeSet<_> {
            let entries = fs::read_dir(path).unwrap();
            entries.map(|entry| entry.unwrap().file_name()).collect()
        };
        let before = names();
        let order = CleanOrder {
            remove: true,
            kept: true,
        };
        assert_eq!(clean_after_agents(path, order), CleaningReport::default());
        let mut left = before.clone();
        // It holds only a truncated line: the agent died before its first file.
        left.remove(OsStr::new("host.1.2"));
        assert_eq!(names(), left);
        let missing = path.join("none");
        assert_eq!(
            clean_after_agents(&missing, order),
            CleaningReport::default()
        );
    }

    #[test]
    fn a_list_that_others_may_have_written_removes_nothing() {
        use std::os::unix::fs::PermissionsExt;
        let directory = tempfile::tempdir().unwrap();
        let lists = directory.path().join("lists");
        let file = directory.path().join("a");
        fs::write(&file, "precious").unwrap();
        let identity = FileIdentity::of(fs::File::open(&file).unwrap()).unwrap();
        Journal::begin(&lists, 7, false).made(&file, &identity);
        let list = fs::read_dir(&lists).unwrap().next().unwrap().unwrap();
        fs::set_permissions(list.path(), fs::Permissions::from_mode(0o666)).unwrap();
        let order = CleanOrder {
            remove: true,
            kept: true,
        };
        assert_eq!(clean_after_agents(&lists, order), CleaningReport::default());
        assert!(file.exists() && list.path().exists());
        fs::set_permissions(list.path(), fs::Permissions::from_mode(0o600)).unwrap();
        assert_eq!(clean_after_agents(&lists, order).removed, [file]);
    }
}
