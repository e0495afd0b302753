//! What was looked at for one trial of a set need not be looked at again for
//! another one on the same target.

use std::collections::HashMap;
use std::ops::Range;
use std::path::{Path, PathBuf};

use fathom_engine::Prepared;
use fathom_engine::access::TargetKind;
use fathom_model::fingerprint::TargetFingerprint;
use fathom_model::run::DataReport;
use fathom_model::{Job, Target};
use fathom_observe::{DataFile, DataState, Sysroot};

/// Files and the part of them that is accessed.
type TargetData = (Vec<PathBuf>, Option<Range<u64>>);

/// What has been looked at.
pub(crate) struct TargetFacts {
    sysroot: Sysroot,
    targets: HashMap<PathBuf, TargetFingerprint>,
    /// The same of files that have been made, by what tells their devices.
    places: HashMap<PathBuf, TargetFingerprint>,
    states: HashMap<TargetData, DataState>,
    cached: HashMap<TargetData, (Option<f64>, String)>,
}

impl TargetFacts {
    /// Nothing yet.
    pub(crate) fn new(sysroot: &Sysroot) -> TargetFacts {
        TargetFacts {
            sysroot: sysroot.clone(),
            targets: HashMap::new(),
            places: HashMap::new(),
            states: HashMap::new(),
            cached: HashMap::new(),
        }
    }

    /// The facts of a target; `None` when it is no real one.
    pub(crate) fn target(&mut self, target: &Target) -> Option<TargetFingerprint> {
        let path = target.path()?;
        Some(self.path(path))
    }

    fn path(&mut self, path: &Path) -> TargetFingerprint {
        if let Some(known) = self.targets.get(path) {
            return known.clone();
        }
        let facts = fathom_observe::target_fingerprint(&self.sysroot, path);
        self.targets.insert(path.to_owned(), facts.clone());
        facts
    }

    /// The facts of what a prepared trial loads. Files that exist now tell the
    /// devices.
    pub(crate) fn prepared(&mut self, job: &Job, prepared: &Prepared) -> TargetFingerprint {
        let Some(target) = job.target.path() else {
            return TargetFingerprint::default();
        };
        let file = paths_of(prepared).into_iter().next();
        let place = file.unwrap_or_else(|| target.to_owned());
        // Files of one directory lie on the same devices.
        let folder = match place.parent() {
            Some(folder) if folder == target => target.to_owned(),
            _ => place.clone(),
        };
        if let Some(known) = self.places.get(&folder) {
            return known.clone();
        }
        let facts = self.path(&place);
        self.places.insert(folder, facts.clone());
        facts
    }

    /// Takes the state of page cache and extents right before the load.
    /// Returns what went wrong, in words.
    pub(crate) fn data(
        &mut self,
        job: &Job,
        prepared: &Prepared,
        report: &mut DataReport,
    ) -> Vec<String> {
        if job.workload.files_work().is_some() {
            return drop_for_files(job, report);
        }
        let paths = paths_of(prepared);
        if paths.is_empty() {
            return Vec::new();
        }
        let files = files_of(prepared);
        let failures = match job.workload.drop_cache {
            true => fathom_observe::drop_page_cache_of_files(&files, false).failures,
            false => Vec::new(),
        };
        let first = prepared.layout.files.first();
        let range =
            first.map(|file| file.start_bytes..file.start_bytes.saturating_add(file.span_bytes));
        let data = (paths, range);
        // What was never written the preparation may have had to find out.
        if report.unwritten_share.is_some() {
            let (share, method) = self.cached.entry(data).or_insert_with_key(|(_, range)| {
                fathom_observe::cached_share_of_files(&files, range.clone())
            });
            report.cached_share = *share;
            report.cached_method = Some(method.clone());
        } else {
            let state = self.states.entry(data).or_insert_with_key(|(_, range)| {
                fathom_observe::state_of_files(&files, range.clone())
            });
            state.clone().enter(report);
        }
        failures
    }
}

/// Names and inodes are in caches of the whole machine, which are dropped as
/// one; how much of them there is of a tree nobody can tell.
fn drop_for_files(job: &Job, report: &mut DataReport) -> Vec<String> {
    if !job.workload.drop_cache || job.target.path().is_none() {
        return Vec::new();
    }
    let dropped = fathom_observe::drop_page_cache(&[], true);
    report.cached_method = Some(match dropped.whole_machine {
        true => "sync and drop_caches=3 for the whole machine".to_owned(),
        false => "the caches could not be dropped".to_owned(),
    });
    report.cached_share = dropped.whole_machine.then_some(0.0);
    dropped.failures
}

/// The files of a trial, opened as what was prepared and not by their paths,
/// which others may lead elsewhere meanwhile.
fn files_of(prepared: &Prepared) -> Vec<DataFile<'_>> {
    let files = prepared.layout.files.iter();
    let placed = files.filter_map(|file| file.file.as_ref());
    let data = placed.map(|file| DataFile::new(file.path(), || file.open_to_read()));
    data.collect()
}

/// The real files of a trial; none for targets that are no real I/O.
pub(crate) fn paths_of(prepared: &Prepared) -> Vec<PathBuf> {
    match prepared.layout.kind {
        TargetKind::Null | TargetKind::Sim | TargetKind::Stream => Vec::new(),
        TargetKind::Directory | TargetKind::File | TargetKind::Device => prepared
            .layout
            .files
            .iter()
            .map(|file| file.path.clone())
            .collect(),
    }
}
