//! Limits of control groups that a command changed for a while, noted before
//! they are changed so that `fathom clean` can set them back after a kill.
//!
//! The note lies beside the store, one line a file: the process that changed
//! it (number and start in ticks since boot), the file, the line to write. It
//! is removed once everything is as it was. What is noted by a process that
//! lives is its own business.

use std::fs;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use fathom_engine::prepare::is_private;
use fathom_observe::{LimitLine, Sysroot};

const NAME: &str = "changed-limits";
/// Two lines for each group that was ever forgotten.
const SIZE_LIMIT: u64 = 1 << 20;

/// Who changed something.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Owner {
    pid: u32,
    /// Tells a process from a later one of the same number.
    started_ticks: u64,
}

impl Owner {
    fn of(pid: u32) -> Option<Owner> {
        let text = Sysroot::host().text(format!("/proc/{pid}/stat"))?;
        let (_, after) = text.rsplit_once(')')?;
        let started_ticks = after.split_ascii_whitespace().nth(19)?.parse().ok()?;
        Some(Owner { pid, started_ticks })
    }

    fn lives(self) -> bool {
        Owner::of(self.pid) == Some(self)
    }
}

/// Changed limits of this process. Dropping it sets them back.
#[derive(Debug)]
pub(crate) struct ChangedLimits {
    note: PathBuf,
    back: Vec<LimitLine>,
}

impl ChangedLimits {
    /// Notes what sets the limits back. Nothing may be changed before.
    ///
    /// # Errors
    /// The note cannot be written, or an earlier one is not settled.
    pub(crate) fn note(store: &Path, back: Vec<LimitLine>) -> io::Result<ChangedLimits> {
        let note = note_of(store);
        if !read(&note).is_empty() {
            return Err(io::Error::other(
                "limits were changed by another test that goes on or was killed; `fathom clean` shows \
                 and settles it",
            ));
        }
        let owner = Owner::of(std::process::id())
            .ok_or_else(|| io::Error::other("/proc does not tell of this process"))?;
        if let Some(folder) = note.parent() {
            fathom_outputs::make_folder(folder)?;
        }
        let mut text = String::new();
        for LimitLine { path, line } in &back {
            let path = path.display();
            text += &format!("{} {}\t{path}\t{line}\n", owner.pid, owner.started_ticks);
        }
        fathom_outputs::replace(&note, text.as_bytes())?;
        restore_on_panic(&back);
        Ok(ChangedLimits { note, back })
    }

    /// Writes what was before, and keeps the note: the limit will be changed
    /// again.
    ///
    /// # Errors
    /// What the kernel says.
    pub(crate) fn write_back(&self) -> io::Result<()> {
        restore(&self.back)
    }

    /// Sets everything back to what it was.
    ///
    /// # Errors
    /// What the kernel says; the note stays then.
    pub(crate) fn set_back(&self) -> io::Result<()> {
        restore(&self.back)?;
        match fs::remove_file(&self.note) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            _ => Ok(()),
        }
    }
}

impl Drop for ChangedLimits {
    fn drop(&mut self) {
        // A failure leaves the note, and `fathom clean` tells.
        let _ = self.set_back();
    }
}

/// A release build ends on a panic without unwinding.
fn restore_on_panic(back: &[LimitLine]) {
    let back = back.to_vec();
    let before = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |info| {
        let _ = restore(&back);
        before(info);
    }));
}

/// Writes all lines, also after one that fails; a group that is gone needs none.
fn restore(back: &[LimitLine]) -> io::Result<()> {
    let mut result = Ok(());
    for line in back {
        match line.write() {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => result = Err(error),
            Ok(()) => {}
        }
    }
    result
}

/// What a killed test left changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Forgotten {
    note: PathBuf,
    pub(crate) back: Vec<LimitLine>,
}

impl Forgotten {
    /// What is noted beside a store by processes that are gone.
    pub(crate) fn beside(store: &Path) -> Option<Forgotten> {
        let note = note_of(store);
        let noted = read(&note);
        let back: Vec<LimitLine> = noted
            .into_iter()
            .filter(|(owner, _)| !owner.lives())
            .map(|(_, line)| line)
            .collect();
        (!back.is_empty()).then_some(Forgotten { note, back })
    }

    /// Sets everything back.
    ///
    /// # Errors
    /// What the kernel says; the note stays then.
    pub(crate) fn set_back(&self) -> io::Result<()> {
        restore(&self.back)?;
        fs::remove_file(&self.note)
    }
}

fn note_of(store: &Path) -> PathBuf {
    store.with_file_name(NAME)
}

/// What is noted. A note that others may have written says nothing.
fn read(note: &Path) -> Vec<(Owner, LimitLine)> {
    let mut text = String::new();
    if is_private(note)
        && let Ok(file) = fs::File::open(note)
    {
        // A line that a crash cut off comes before any change.
        let _ = file.take(SIZE_LIMIT).read_to_string(&mut text);
    }
    text.lines().filter_map(entry).collect()
}

fn entry(line: &str) -> Option<(Owner, LimitLine)> {
    let mut fields = line.splitn(3, '\t');
    let (pid, started) = fields.next()?.split_once(' ')?;
    let owner = Owner {
        pid: pid.parse().ok()?,
        started_ticks: started.parse().ok()?,
    };
    let path = PathBuf::from(fields.next()?);
    let line = fields.next()?.to_owned();
    // The note is the user's own, but only limits are ever written.
    let name = path.file_name()?.to_str()?;
    let limit = name == "io.max" || name.starts_with("blkio.throttle.");
    limit.then_some((owner, LimitLine { path, line }))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn limits(folder: &Path) -> (PathBuf, Vec<LimitLine>) {
        let path = folder.join("io.max");
        fs::write(&path, "254:0 riops=900 wiops=900").unwrap();
        let line = "254:0 riops=max wiops=max".to_owned();
        let back = vec![LimitLine {
            path: path.clone(),
            line,
        }];
        (path, back)
    }

    #[test]
    fn limits_are_set_back_at_the_end() {
        let folder = tempfile::tempdir().unwrap();
        let store = folder.path().join("fathom.db");
        let (path, back) = limits(folder.path());
        let changed = ChangedLimits::note(&store, back.clone()).unwrap();
        assert_eq!(Forgotten::beside(&store), None, "its owner lives");
        assert!(ChangedLimits::note(&store, back).is_err(), "one at a time");
        drop(changed);
        let text = fs::read_to_string(&path).unwrap();
        assert_eq!(text, "254:0 riops=max wiops=max");
        assert!(!note_of(&store).exists());
    }

    #[test]
    fn what_a_killed_process_changed_is_found_and_set_back() {
        let folder = tempfile::tempdir().unwrap();
        let store = folder.path().join("fathom.db");
        let (path, back) = limits(folder.path());
        let changed = ChangedLimits::note(&store, back.clone()).unwrap();
        let note = fs::read_to_string(note_of(&store)).unwrap();
        // The same number, another start.
        let pid = std::process::id().to_string();
        let rest = note.split_once('\t').unwrap().1;
        std::mem::forget(changed);
        fs::write(note_of(&store), format!("{pid} 1\t{rest}")).unwrap();
        let forgotten = Forgotten::beside(&store).unwrap();
        assert_eq!(forgotten.back, back);
        forgotten.set_back().unwrap();
        let text = fs::read_to_string(&path).unwrap();
        assert_eq!(text, "254:0 riops=max wiops=max");
        assert_eq!(Forgotten::beside(&store), None);
    }

    #[test]
    fn a_note_that_others_may_have_written_changes_nothing() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().unwrap();
        let store = folder.path().join("fathom.db");
        let (path, _) = limits(folder.path());
        let note = note_of(&store);
        fs::write(&note, format!("1 1\t{}\tanything\n", path.display())).unwrap();
        assert!(Forgotten::beside(&store).is_some());
        fs::set_permissions(&note, fs::Permissions::from_mode(0o666)).unwrap();
        assert_eq!(Forgotten::beside(&store), None);
        let elsewhere = folder.path().join("elsewhere");
        fs::set_permissions(&note, fs::Permissions::from_mode(0o600)).unwrap();
        fs::rename(&note, &elsewhere).unwrap();
        std::os::unix::fs::symlink(&elsewhere, &note).unwrap();
        assert_eq!(Forgotten::beside(&store), None);
    }

    #[test]
    fn a_link_in_place_of_a_limit_is_not_followed() {
        let folder = tempfile::tempdir().unwrap();
        let precious = folder.path().join("precious");
        fs::write(&precious, "mine").unwrap();
        let path = folder.path().join("io.max");
        std::os::unix::fs::symlink(&precious, &path).unwrap();
        let line = "254:0 riops=max".to_owned();
        assert!(LimitLine { path, line }.write().is_err());
        assert_eq!(fs::read_to_string(&precious).unwrap(), "mine");
    }

    #[test]
    fn only_limits_are_ever_written() {
        let folder = tempfile::tempdir().unwrap();
        let store = folder.path().join("fathom.db");
        fs::write(note_of(&store), "1 1\t/etc/passwd\troot\nx\n\n1\t2\t3\n").unwrap();
        assert_eq!(Forgotten::beside(&store), None);
    }
}
