//! Who uses whose data, so that nobody reads what it was the last to write.
//!
//! All hosts move by the same number of places (the shift of ranks that
//! parallel metadata benchmarks use). A step that only writes stays where the
//! data were last written; a step that reads moves on, by another number of
//! places than the readers before it, as far as there are others.

use fathom_model::{OpKind, ScheduledTrial};

/// How far the hosts have moved.
pub(super) struct Rotation {
    hosts: usize,
    /// Shift of those who wrote last; `None` before anything was written.
    written: Option<usize>,
    /// Steps that have read since.
    readers: usize,
}

impl Rotation {
    /// Among two hosts or more.
    pub(super) fn new(hosts: usize) -> Rotation {
        Rotation {
            hosts: hosts.max(2),
            written: None,
            readers: 0,
        }
    }

    /// Whether the set reads and there is nothing yet that others have written.
    pub(super) fn needs_layout(&mut self, set: &[ScheduledTrial]) -> bool {
        let needs = self.written.is_none() && reads(set);
        if needs {
            self.written = Some(0);
        }
        needs
    }

    /// By how many places the hosts move for a set.
    pub(super) fn shift(&mut self, set: &[ScheduledTrial]) -> usize {
        let written = self.written.unwrap_or(0);
        let mut shift = written;
        if reads(set) {
            shift = (written + 1 + self.readers % (self.hosts - 1)) % self.hosts;
            self.readers += 1;
            // A host that reads what it wrote itself measures its own cache.
            debug_assert!(
                shift != written && shift < self.hosts,
                "{} hosts move by {shift} after {written}",
                self.hosts
            );
        }
        if writes(set) {
            self.written = Some(shift);
            self.readers = 0;
        }
        shift
    }
}

/// Whether any of the set looks at what was there before.
fn reads(set: &[ScheduledTrial]) -> bool {
    set.iter().any(|spec| match spec.workload.files_work() {
        // Making files is the only work on a tree that needs nothing before it.
        Some(meta) => !matches!(meta.phase(), Some(OpKind::Create | OpKind::Mkdir)),
        None => spec.workload.may_do(OpKind::Read),
    })
}

/// Whether any of the set leaves something behind in its own cache that was
/// not there before.
fn writes(set: &[ScheduledTrial]) -> bool {
    set.iter().any(|spec| match spec.workload.files_work() {
        Some(meta) => !meta.only_looks(),
        None => spec.workload.may_modify(),
    })
}
