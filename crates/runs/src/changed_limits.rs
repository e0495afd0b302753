//! Limits of control groups that a command changed for a while, noted before
//! they are changed so that `fathom clean` can set them back after a kill.
//!
//! The note lies beside the store, one line a file: the process that changed
//! it (number and start in ticks since boot), the file, the line to write, the
//! line that the test writes, device and inode of the group's folder, and the
//! id of the boot. It is removed once everything is as it was. What is noted by
//! a process that lives is its own business.
//!
//! A limit that is not as the test wrote it is somebody else's by now, and so is
//! one of another group or boot. It is left alone.

use std::fs;
use std::io::{self, Read};
use std::os::unix::fs::MetadataExt;
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

/// A limit that a test changes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Changed {
    /// What it was.
    pub back: LimitLine,
    /// Notes of older versions have none.
    mark: Option<Mark>,
}

/// What tells the limit of a test from one that was set by somebody else.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Mark {
    /// What the test writes.
    wrote: String,
    /// Device and inode of the group's folder.
    group: (u64, u64),
    boot_id: String,
}

/// How a limit is found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Standing {
    /// As the test wrote it.
    Changed,
    /// As it was before the test, or its group is gone.
    Settled,
    /// Not the test's to set back; why.
    Left(String),
}

impl Changed {
    fn new(back: LimitLine, wrote: &LimitLine) -> io::Result<Changed> {
        let path = back.path.to_str().unwrap_or("\n");
        if path.contains(['\t', '\n']) {
            let message = "the name of its control group has characters that cannot be noted";
            return Err(io::Error::other(message));
        }
        let mark = Mark {
            wrote: wrote.line.clone(),
            group: group_of(&back)?,
            boot_id: boot_id().unwrap_or_default(),
        };
        let mark = Some(mark);
        Ok(Changed { back, mark })
    }

    /// How it is now.
    ///
    /// # Errors
    /// What the kernel says.
    pub fn standing(&self) -> io::Result<Standing> {
        match self.look() {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Standing::Settled),
            looked => looked,
        }
    }

    fn look(&self) -> io::Result<Standing> {
        let left = |why: &str| Ok(Standing::Left(why.to_owned()));
        if let Some(mark) = &self.mark {
            if boot_id().as_ref() != Some(&mark.boot_id) {
                return left("the host was restarted since, and limits do not outlast that");
            }
            if group_of(&self.back)? != mark.group {
                return left("another control group has its name now");
            }
        }
        if self.back.stands()? {
            return Ok(Standing::Settled);
        }
        let found = self.back.found()?;
        let found = found.unwrap_or_else(|| "no limit".to_owned());
        let Some(mark) = &self.mark else {
            return left(&format!(
                "it has '{found}', and the note of an older fathom does not say whether the test wrote that"
            ));
        };
        let wrote = LimitLine {
            path: self.back.path.clone(),
            line: mark.wrote.clone(),
        };
        match wrote.stands()? {
            true => Ok(Standing::Changed),
            false => left(&format!("it has '{found}', which the test did not write")),
        }
    }

    /// Sets it back where it is as the test wrote it, and returns how it was found.
    fn restore(&self) -> io::Result<Standing> {
        let standing = self.standing()?;
        if standing == Standing::Changed {
            match self.back.write() {
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                written => written?,
            }
        }
        Ok(standing)
    }

    fn line(&self, owner: Owner) -> String {
        let Owner { pid, started_ticks } = owner;
        let LimitLine { path, line } = &self.back;
        let mut text = format!("{pid} {started_ticks}\t{}\t{line}", path.display());
        if let Some(Mark {
            wrote,
            group: (device, inode),
            boot_id,
        }) = &self.mark
        {
            text += &format!("\t{wrote}\t{device} {inode}\t{boot_id}");
        }
        text + "\n"
    }
}

/// What tells the control group of a limit from a later one of its name.
fn group_of(limit: &LimitLine) -> io::Result<(u64, u64)> {
    let folder = limit.path.parent().unwrap_or(Path::new("/"));
    let facts = fathom_deadline::paths::metadata(folder)?;
    Ok((facts.dev(), facts.ino()))
}

fn boot_id() -> Option<String> {
    let text = Sysroot::host().text("/proc/sys/kernel/random/boot_id")?;
    Some(text.trim().to_owned())
}

/// Limits that somebody else changed while a test ran. They were left as they stand.
#[derive(Debug, thiserror::Error)]
#[error("{}", .0.join("; "))]
pub struct LeftAsTheyStand(Vec<String>);

impl LeftAsTheyStand {
    /// Whether that is why limits were not set back, and which ones they are.
    pub fn of(error: &io::Error) -> Option<&LeftAsTheyStand> {
        error.get_ref()?.downcast_ref()
    }
}

/// Changed limits of this process. Dropping it sets them back.
#[derive(Debug)]
pub struct ChangedLimits {
    note: PathBuf,
    changed: Vec<Changed>,
}

impl ChangedLimits {
    /// Notes what sets the limits back, and what the test writes in place of each.
    /// Nothing may be changed before.
    ///
    /// # Errors
    /// The note cannot be written, or an earlier one is not settled.
    pub fn note(
        store: &Path,
        back: Vec<LimitLine>,
        wrote: &[LimitLine],
    ) -> io::Result<ChangedLimits> {
        let note = note_of(store);
        if !read(&note).is_empty() {
            return Err(io::Error::other(
                "limits were changed by another test that goes on or was killed; `fathom clean` shows \
                 and settles it",
            ));
        }
        let owner = Owner::of(std::process::id())
            .ok_or_else(|| io::Error::other("/proc lacks this process"))?;
        if let Some(folder) = note.parent() {
            fathom_outputs::make_folder(folder)?;
        }
        let changed = back.into_iter().zip(wrote);
        let changed: Vec<Changed> = changed
            .map(|(back, wrote)| Changed::new(back, wrote))
            .collect::<io::Result<_>>()?;
        let text: String = changed.iter().map(|limit| limit.line(owner)).collect();
        fathom_outputs::replace(&note, text.as_bytes())?;
        restore_on_panic(&changed);
        Ok(ChangedLimits { note, changed })
    }

    /// Whether all is as it was before the test or as the test wrote it, so that the
    /// test may change it. It may want the same limit twice in a row.
    ///
    /// # Errors
    /// What the kernel says, or that somebody else changed a limit meanwhile.
    pub fn are_own(&self) -> io::Result<()> {
        self.changed
            .iter()
            .try_for_each(|limit| match limit.look()? {
                Standing::Settled | Standing::Changed => Ok(()),
                Standing::Left(why) => Err(io::Error::other(why)),
            })
    }

    /// Writes what was before, and keeps the note: the limit will be changed
    /// again.
    ///
    /// # Errors
    /// What the kernel says, or why a limit is left as it is.
    pub fn write_back(&self) -> io::Result<()> {
        restore(&self.changed)
    }

    /// Sets everything back to what it was.
    ///
    /// # Errors
    /// As [`ChangedLimits::write_back`]. The note stays then, unless all that is left
    /// is somebody else's: there is nothing to be set back later.
    pub fn set_back(&self) -> io::Result<()> {
        let restored = restore(&self.changed);
        if let Err(error) = &restored
            && LeftAsTheyStand::of(error).is_none()
        {
            return restored;
        }
        match fs::remove_file(&self.note) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            _ => restored,
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
fn restore_on_panic(changed: &[Changed]) {
    let changed = changed.to_vec();
    let before = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |info| {
        let _ = restore(&changed);
        before(info);
    }));
}

/// Sets all of them back, also after one that fails.
fn restore(changed: &[Changed]) -> io::Result<()> {
    let (mut failed, mut left) = (None, Vec::new());
    for limit in changed {
        let LimitLine { path, line } = &limit.back;
        match limit.restore() {
            Err(error) => failed = Some(error),
            Ok(Standing::Left(why)) => left.push(format!(
                "{}: {why} (before the test: '{line}')",
                path.display()
            )),
            Ok(_) => {}
        }
    }
    match (failed, left.is_empty()) {
        (Some(error), _) => Err(error),
        (None, true) => Ok(()),
        (None, false) => Err(io::Error::other(LeftAsTheyStand(left))),
    }
}

/// What a killed test left changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Forgotten {
    note: PathBuf,
    /// What is noted.
    pub limits: Vec<Changed>,
}

impl Forgotten {
    /// What is noted beside a store by processes that are gone.
    pub fn beside(store: &Path) -> Option<Forgotten> {
        let note = note_of(store);
        let noted = read(&note);
        let limits: Vec<Changed> = noted
            .into_iter()
            .filter(|(owner, _)| !owner.lives())
            .map(|(_, limit)| limit)
            .collect();
        (!limits.is_empty()).then_some(Forgotten { note, limits })
    }

    /// Sets back what is as the test wrote it, and returns how each was found.
    /// What is somebody else's is left, and no longer noted.
    ///
    /// # Errors
    /// What the kernel says; the note stays then.
    pub fn set_back(&self) -> io::Result<Vec<Standing>> {
        let mut found = Vec::new();
        let mut failed = None;
        for limit in &self.limits {
            match limit.restore() {
                Ok(standing) => found.push(standing),
                Err(error) => failed = Some(error),
            }
        }
        match failed {
            Some(error) => Err(error),
            None => fs::remove_file(&self.note).map(|()| found),
        }
    }
}

fn note_of(store: &Path) -> PathBuf {
    store.with_file_name(NAME)
}

/// What is noted. A note that others may have written says nothing.
fn read(note: &Path) -> Vec<(Owner, Changed)> {
    let mut text = String::new();
    if is_private(note)
        && let Ok(file) = fs::File::open(note)
    {
        // A line that a crash cut off comes before any change.
        let _ = file.take(SIZE_LIMIT).read_to_string(&mut text);
    }
    text.lines().filter_map(entry).collect()
}

fn entry(line: &str) -> Option<(Owner, Changed)> {
    let mut fields = line.split('\t');
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
    let back = LimitLine { path, line };
    let mark = mark(fields);
    limit.then_some((owner, Changed { back, mark }))
}

fn mark<'l>(mut fields: impl Iterator<Item = &'l str>) -> Option<Mark> {
    let wrote = fields.next()?.to_owned();
    let (device, inode) = fields.next()?.split_once(' ')?;
    Some(Mark {
        wrote,
        group: (device.parse().ok()?, inode.parse().ok()?),
        boot_id: fields.next()?.to_owned(),
    })
}

#[cfg(test)]
#[path = "changed_limits_tests.rs"]
mod tests;
