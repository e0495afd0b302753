//! Trials that run at the same time may share a target: what one of them has
//! made ready is there for the next. Its lock and its claim are the same
//! process's own, test files only grow, and contents that one trial checks are
//! kept from the others.

use std::path::Path;

use fathom_model::Job;
use fathom_model::workload::Precondition;

use super::manifest::Manifest;
use super::{Claim, Prepared};
use crate::Error;
use crate::access::{Layout, LayoutFile, TargetKind};

/// What the earlier trials of the same set have made ready.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Beside<'a> {
    pub(crate) others: &'a [&'a Prepared],
}

/// What a trial does to contents.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Contents {
    pub(crate) verifies: bool,
    pub(crate) modifies: bool,
    /// What it checks may have been written by others that say the same.
    pub(crate) by_anybody: bool,
}

impl Contents {
    pub(crate) fn of(job: &Job) -> Contents {
        let workload = &job.workload;
        Contents {
            verifies: workload.verify.is_some(),
            modifies: workload.mix.modifies()
                || workload.data_set.precondition != Precondition::None,
            by_anybody: workload.verify.is_some_and(|verify| verify.by_anybody),
        }
    }
}

impl Beside<'_> {
    /// The list of test files that one of them holds locked.
    pub(crate) fn manifest(&self, path: &Path) -> Option<&Manifest> {
        let mut lists = self.others.iter().filter_map(|o| o.test_files.as_ref());
        lists.find_map(|files| (files.manifest.path == path).then_some(&files.manifest))
    }

    /// The claim on a device that one of them holds.
    pub(crate) fn claim(&self, path: &Path) -> Option<Claim> {
        let mut claims = self.others.iter().flat_map(|other| &other.claims);
        claims.find(|claim| claim.path == path).cloned()
    }

    /// Refuses a trial that would change what another one checks.
    pub(crate) fn check_contents(&self, job: &Job, layout: &Layout) -> Result<(), Error> {
        if matches!(layout.kind, TargetKind::Null | TargetKind::Sim) {
            return Ok(());
        }
        let own = Contents::of(job);
        for other in self.others {
            let theirs = other.contents;
            if own.by_anybody && theirs.by_anybody {
                continue;
            }
            // Each who checks stamps its blocks in its own way.
            let clash = (own.verifies && (theirs.modifies || theirs.verifies))
                || (theirs.verifies && own.modifies);
            let path = clash.then(|| common(layout, &other.layout)).flatten();
            if let Some(file) = path {
                return Err(Error::Workload(format!(
                    "{}: one trial checks its contents while another one that runs at the same \
                     time changes them; give each a file or a part (offset and size) of its own, \
                     or do not verify",
                    file.path.display()
                )));
            }
        }
        Ok(())
    }
}

/// A file of which both access the same part.
fn common<'l>(one: &'l Layout, other: &Layout) -> Option<&'l LayoutFile> {
    let overlap = |a: &LayoutFile, b: &LayoutFile| {
        a.path == b.path
            && a.start_bytes < b.start_bytes.saturating_add(b.span_bytes)
            && b.start_bytes < a.start_bytes.saturating_add(a.span_bytes)
    };
    let mut files = one.files.iter();
    files.find(|a| other.files.iter().any(|b| overlap(a, b)))
}

#[cfg(test)]
#[path = "beside_tests.rs"]
mod tests;
