//! Operations from a recorded list.
//!
//! The list is read before the load begins and kept in memory, 24 bytes an
//! operation, so that the loop neither reads nor parses. Workers that share
//! files take turns on it (worker w of W takes operation w, w + W, …), each in
//! the recorded order; a worker with files of its own does all of it.

mod parse;
mod source;

pub(crate) use source::ReplaySource;

use std::io::BufReader;
use std::os::unix::fs::FileTypeExt;

use fathom_deadline::paths::{metadata, open_soon, read_soon};
use fathom_model::OpKind;
use fathom_model::unit::bytes_exact;
use fathom_model::workload::{Replay, Workload};

use crate::Error;
use crate::access::Layout;

/// Longest list that may come through a pipe, which is read into memory.
const PIPED_BYTES_MAX: u64 = 256 << 20;

/// What a recorded list asks of its files.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListedFiles {
    /// Their names, in the order in which they were added.
    pub names: Vec<String>,
    /// Bytes that the largest of them has to have.
    pub reach_bytes: u64,
}

/// Reads which files a list names, and how far it reaches into them.
///
/// # Errors
/// It cannot be read, with the place of what is wrong, or holds no operation.
pub fn listed_files(replay: &Replay) -> Result<ListedFiles, Error> {
    let recorded = Recorded::read(replay)?;
    Ok(ListedFiles {
        reach_bytes: recorded.reach_bytes(),
        names: recorded.files.into_vec(),
    })
}

/// One recorded operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct RecordedOp {
    /// When it was due, from the start of the list, nanoseconds.
    pub(crate) at_ns: u64,
    /// Offset, bytes.
    pub(crate) offset: u64,
    /// Length, bytes; 0 for a flush.
    pub(crate) len: u32,
    /// Index of its file, in the order in which files were added.
    pub(crate) file: u16,
    pub(crate) action: Action,
}

/// What an operation does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Action {
    Read,
    Write,
    Trim,
    Fsync,
    Fdatasync,
}

impl Action {
    pub(crate) fn kind(self) -> OpKind {
        match self {
            Action::Read => OpKind::Read,
            Action::Write => OpKind::Write,
            Action::Trim => OpKind::Trim,
            Action::Fsync | Action::Fdatasync => OpKind::Sync,
        }
    }
}

/// A list that was read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Recorded {
    pub(crate) ops: Box<[RecordedOp]>,
    /// Files that were added, in this order.
    pub(crate) files: Box<[String]>,
    /// When the list ends, nanoseconds.
    pub(crate) span_ns: u64,
}

impl Recorded {
    /// Reads the list of a workload, if it has one.
    pub(crate) fn of(workload: &Workload) -> Result<Option<Recorded>, Error> {
        workload.replay().map(Recorded::read).transpose()
    }

    fn read(replay: &Replay) -> Result<Recorded, Error> {
        let path = &replay.path;
        let failed = Error::io("open the recorded list", path);
        let name = path.display().to_string();
        let is_pipe = metadata(path).is_ok_and(|facts| facts.file_type().is_fifo());
        let recorded = match is_pipe {
            true => {
                let list = read_soon(path, PIPED_BYTES_MAX).map_err(failed)?;
                parse::parse(list.as_slice(), &name, replay)
            }
            false => {
                let file = open_soon(path).map_err(failed)?;
                parse::parse(BufReader::new(file), &name, replay)
            }
        };
        let recorded = recorded.map_err(|error| Error::Workload(error.to_string()))?;
        if recorded.ops.is_empty() {
            return Err(Error::Workload(format!(
                "{name}: the list holds no operation that is not left out"
            )));
        }
        Ok(recorded)
    }

    /// Checks that the list fits the files.
    pub(crate) fn check(&self, workload: &Workload, layout: &Layout) -> Result<(), Error> {
        let name = workload.replay().map(|replay| replay.path.display());
        let name = name.map_or_else(String::new, |name| name.to_string());
        if workload.verify.is_some() {
            return Err(Error::Workload(format!(
                "{name}: contents cannot be verified where operations come from a list"
            )));
        }
        let files = layout.files_per_worker as usize;
        if self.files.len() > files && files > 1 {
            return Err(Error::Workload(format!(
                "{name}: the list names {} files and there are {files}; give as many, or one to \
                 which all operations go",
                self.files.len()
            )));
        }
        let reach = self.reach_bytes();
        let room = layout.files.first().map_or(0, |file| file.span_bytes);
        if reach > room {
            return Err(Error::Workload(format!(
                "{name}: the list reaches {} into the target, where {} are accessed; take a \
                 larger size, or shrink the offsets",
                bytes_exact(reach),
                bytes_exact(room)
            )));
        }
        Ok(())
    }

    /// Where the operation ends that reaches furthest into a file.
    fn reach_bytes(&self) -> u64 {
        let ends = self.ops.iter().map(|op| op.offset + u64::from(op.len));
        ends.max().unwrap_or(0)
    }

    /// Whether there are operations of a kind.
    pub(crate) fn holds(&self, kind: OpKind) -> bool {
        self.ops.iter().any(|op| op.action.kind() == kind)
    }

    /// The largest block that is moved, bytes.
    pub(crate) fn max_block_bytes(&self) -> u64 {
        let moved = |op: &&RecordedOp| matches!(op.action, Action::Read | Action::Write);
        let sizes = self.ops.iter().filter(moved).map(|op| u64::from(op.len));
        sizes.max().unwrap_or(1)
    }

    /// The first value that direct I/O in units of `unit` cannot take.
    pub(crate) fn unaligned(&self, unit: u64) -> Option<u64> {
        let moved = |op: &&RecordedOp| matches!(op.action, Action::Read | Action::Write);
        let values = self.ops.iter().filter(moved);
        let mut values = values.flat_map(|op| [op.offset, u64::from(op.len)]);
        values.find(|value| !value.is_multiple_of(unit))
    }
}
