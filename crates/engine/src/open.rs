//! Opening the target's files for the load.

use std::fs::File;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use fathom_model::Workload;
use fathom_model::workload::{CacheMode, SyncOpen};
use rustix::fs::OFlags;

use crate::Error;
use crate::access::{Layout, TargetKind};
use crate::prepare::Prepared;
use crate::target_file::TargetFile;

/// Above this many descriptors workers share the open files; below it each
/// worker has its own, so that they do not contend for a reference count.
const MAX_OWN_FILES: u64 = 4096;

/// How the files of a trial are opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct OpenMode {
    pub(crate) write: bool,
    pub(crate) direct: bool,
    pub(crate) sync: SyncOpen,
}

impl OpenMode {
    /// For targets that are not opened.
    pub(crate) const NOTHING: OpenMode = OpenMode {
        write: false,
        direct: false,
        sync: SyncOpen::No,
    };

    /// How the files of `workload` are to be opened, after what preparing
    /// found out about the target. What cannot be had goes to `fallbacks`.
    pub(crate) fn choose(
        workload: &Workload,
        prepared: &Prepared,
        fallbacks: &mut Vec<String>,
    ) -> Result<OpenMode, Error> {
        let write = workload.may_modify();
        let Some(first) = prepared.layout.files.first() else {
            return Err(Error::Workload("the layout has no files".to_owned()));
        };
        if write && !prepared.open.writable {
            return Err(Error::target(
                &first.path,
                "it cannot be opened for writing; choose a workload that only reads, or another target",
            ));
        }
        let mut mode = OpenMode {
            write,
            direct: workload.cache == CacheMode::Direct,
            sync: workload.sync.open,
        };
        if mode.direct && !prepared.open.direct_works {
            fallbacks.push(format!(
                "{} refuses O_DIRECT: the page cache is used",
                first.path.display()
            ));
            mode.direct = false;
        }
        if mode.direct {
            check_alignment(workload, prepared)?;
        }
        Ok(mode)
    }

    /// Opens one file: the one that was prepared, or none.
    pub(crate) fn open(&self, file: &TargetFile) -> io::Result<File> {
        let mut flags = match self.write {
            true => OFlags::RDWR,
            false => OFlags::RDONLY,
        };
        if self.direct {
            flags |= OFlags::DIRECT;
        }
        flags |= match self.sync {
            SyncOpen::No => OFlags::empty(),
            SyncOpen::Dsync => OFlags::DSYNC,
            SyncOpen::Sync => OFlags::SYNC,
        };
        file.open(flags)
    }
}

/// Direct I/O at odd offsets fails operation by operation; say so before.
fn check_alignment(workload: &Workload, prepared: &Prepared) -> Result<(), Error> {
    let unit = u64::from(prepared.open.direct_align_bytes.max(1));
    if let Some(recorded) = prepared.ready.recorded() {
        return match recorded.unaligned(unit) {
            None => Ok(()),
            Some(value) => Err(Error::Workload(format!(
                "direct I/O on this target needs multiples of {unit} bytes and the recorded list \
                 has an offset or length of {value}: align it, or use the page cache"
            ))),
        };
    }
    let blocks = workload.blocks().flat_map(|sizes| {
        [
            ("the smallest block", sizes.min_bytes()),
            ("the largest block", sizes.max_bytes()),
        ]
    });
    let values = [
        ("the alignment", workload.align_bytes),
        ("the misalignment", workload.misalign_bytes),
    ];
    for (what, bytes) in blocks.chain(values) {
        if !bytes.is_multiple_of(unit) {
            return Err(Error::Workload(format!(
                "direct I/O on this target needs multiples of {unit} bytes and {what} is {bytes}: \
                 change it, or use the page cache"
            )));
        }
    }
    Ok(())
}

/// The open files of one worker, in the order in which its operations count
/// them: file `first` of the layout is file 0 here.
#[derive(Debug, Clone)]
pub(crate) struct WorkerFiles {
    pub(crate) files: Arc<[File]>,
}

/// Opens files for workers.
#[derive(Debug, Clone)]
pub(crate) struct Opener {
    mode: OpenMode,
    /// Nothing is opened (null and simulated targets).
    pub(crate) nothing: bool,
    shared: Option<WorkerFiles>,
    /// The open files that it may need.
    room: Option<Arc<Room>>,
}

impl Opener {
    /// Raises the limit of open files where needed; opens files that all
    /// workers must share because there would be too many otherwise.
    pub(crate) fn new(mode: OpenMode, layout: &Layout, workers: u32) -> Result<Opener, Error> {
        let nothing = matches!(layout.kind, TargetKind::Null | TargetKind::Sim);
        let mut opener = Opener {
            mode,
            nothing,
            shared: None,
            room: None,
        };
        if nothing {
            return Ok(opener);
        }
        let own = u64::from(layout.files_per_worker) * u64::from(workers);
        let share = layout.shared && workers > 1 && own > MAX_OWN_FILES;
        let needed = if share {
            layout.files.len() as u64
        } else {
            own
        };
        // A ring, the statistics and a margin for the rest of the process.
        opener.room = Some(Arc::new(Room::take(needed + 3 * u64::from(workers) + 64)));
        if share {
            opener.shared = Some(opener.open_range(layout, 0..layout.files.len() as u32)?);
        }
        Ok(opener)
    }

    /// The files of one worker.
    pub(crate) fn open_for(&self, layout: &Layout, worker: u32) -> Result<WorkerFiles, Error> {
        match &self.shared {
            Some(files) => Ok(files.clone()),
            None => self.open_range(layout, layout.files_of(worker)),
        }
    }

    fn open_range(
        &self,
        layout: &Layout,
        range: std::ops::Range<u32>,
    ) -> Result<WorkerFiles, Error> {
        let part = layout
            .files
            .get(range.start as usize..range.end as usize)
            .ok_or_else(|| Error::Workload("a worker has no files".to_owned()))?;
        let files: Result<Arc<[File]>, Error> = if self.nothing {
            Ok(Arc::from([]))
        } else {
            part.iter()
                .map(|file| {
                    self.mode
                        .open(file.opened()?)
                        .map_err(Error::io("open", &file.path))
                })
                .collect()
        };
        Ok(WorkerFiles { files: files? })
    }
}

/// Open files that the groups of this process need at the same time.
static NEEDED: AtomicU64 = AtomicU64::new(0);

/// A part of them.
#[derive(Debug)]
struct Room(u64);

impl Room {
    fn take(files: u64) -> Room {
        let before = NEEDED.fetch_add(files, Ordering::Relaxed);
        raise_file_limit(before.saturating_add(files));
        Room(files)
    }
}

impl Drop for Room {
    fn drop(&mut self) {
        NEEDED.fetch_sub(self.0, Ordering::Relaxed);
    }
}

/// Raises the soft limit of open files towards the hard one. Failing to is
/// no error here: opening will say what is wrong.
fn raise_file_limit(needed: u64) {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
    let limit = getrlimit(Resource::Nofile);
    let current = limit.current.unwrap_or(u64::MAX);
    let highest = limit.maximum.unwrap_or(u64::MAX);
    if current < needed.saturating_add(256) && current < highest {
        let raised = Rlimit {
            current: Some(highest.min(needed.saturating_add(1024))),
            maximum: limit.maximum,
        };
        let _ = setrlimit(Resource::Nofile, raised);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_limit_is_raised_not_lowered() {
        use rustix::process::{Resource, getrlimit};
        let before = getrlimit(Resource::Nofile).current.unwrap_or(u64::MAX);
        raise_file_limit(1);
        raise_file_limit(before.min(4096));
        assert!(getrlimit(Resource::Nofile).current.unwrap_or(u64::MAX) >= before);
    }
}
