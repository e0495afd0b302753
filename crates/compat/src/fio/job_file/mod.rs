//! A schedule as a job file of fio, to check a result with the real fio.
//!
//! Meanings are those of fio's HOWTO. Every field of a workload is written,
//! written with a remark on what differs (a comment in the file), or refused
//! with its key and the reason; nothing is left out in silence. fio counts
//! sizes, amounts and rates for each of its jobs, fathom for all workers
//! together: what is whole here is a share there.

mod amount;
mod by_kind;
mod contents;
mod draft;
mod known;
mod load;
mod named;
mod operations;
mod place;
mod text;
mod vocabulary;

use std::collections::BTreeMap;

use fathom_model::{Schedule, ScheduledTrial, Target};

pub use self::draft::{FioSection, Refusal};

use self::draft::Draft;
use fathom_plan::TargetFacts;

/// Which files fio uses in a directory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FioFiles<'a> {
    /// Files of its own, which fio makes: `PREFIX.JOB` or `PREFIX.JOB.FILE`.
    Own(&'a str),
    /// The files that fathom has made, `PREFIX.NUMBER`; fio makes none.
    Given(&'a str),
}

impl FioFiles<'_> {
    /// How the names of a set of files begin.
    fn prefix(&self, set: u32) -> String {
        let (FioFiles::Own(prefix) | FioFiles::Given(prefix)) = self;
        match set {
            0 => (*prefix).to_owned(),
            set => format!("{prefix}-{set}"),
        }
    }
}

/// What has to be known beside the schedule.
#[derive(Debug, Clone, Copy)]
pub struct FioExport<'a> {
    /// What the targets are, as in
    /// [`ScheduleContext`](fathom_plan::ScheduleContext).
    pub facts: &'a BTreeMap<Target, TargetFacts>,
    /// Files of directory targets.
    pub files: FioFiles<'a>,
}

/// A trial as sections of one job file. Several sections run at the same time
/// and are reported as one group.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FioTrial {
    /// Sections that bring the target into a state first, one after the other.
    pub before: Vec<FioSection>,
    /// Sections that are the trial.
    pub sections: Vec<FioSection>,
    /// What fio does otherwise, in words.
    pub differences: Vec<String>,
}

/// The sections of one trial.
///
/// # Errors
/// Everything that fio cannot express.
pub fn export_trial(
    trial: &ScheduledTrial,
    export: &FioExport<'_>,
) -> Result<FioTrial, Vec<Refusal>> {
    let workload = &trial.workload;
    let mut draft = Draft::new(&trial.label);
    known::check(workload, &mut draft);
    operations::write(workload, &mut draft);
    load::write(workload, trial.seed, &mut draft);
    amount::write(workload, &mut draft);
    contents::write(workload, &mut draft);
    vocabulary::write(workload, &mut draft);
    amount::release(trial, &mut draft);
    let prefix = export.files.prefix(trial.file_set);
    let files = match export.files {
        FioFiles::Own(_) => FioFiles::Own(&prefix),
        FioFiles::Given(_) => FioFiles::Given(&prefix),
    };
    let export = FioExport { files, ..*export };
    let placed = place::write(trial, &export, &mut draft);
    let before = contents::before(workload, &draft, placed.as_ref());
    draft.finish(before, placed.map_or_else(Vec::new, |p| p.each))
}

/// The whole schedule as a job file: trial after trial, with a stonewall
/// between them.
///
/// # Errors
/// Everything that fio cannot express, of all trials; the same thing of the
/// same row once.
pub fn export_fio(schedule: &Schedule, export: &FioExport<'_>) -> Result<String, Vec<Refusal>> {
    let mut refusals: Vec<Refusal> = Vec::new();
    let mut trials = Vec::new();
    for trial in schedule.trials.iter().filter(|t| !t.role.is_probe()) {
        match export_trial(trial, export) {
            Ok(done) => trials.push((trial, done)),
            Err(why) => {
                for refusal in why {
                    if !refusals.contains(&refusal) {
                        refusals.push(refusal);
                    }
                }
            }
        }
    }
    let probes = schedule.trials.iter().filter(|t| t.role.is_probe()).count();
    match refusals.is_empty() {
        true => Ok(text::whole(schedule, &trials, probes)),
        false => Err(refusals),
    }
}

/// The job file of one trial alone.
pub fn fio_job_file(trial: &FioTrial) -> String {
    text::one(trial)
}

#[cfg(test)]
#[path = "real_fio_tests.rs"]
mod real_fio_tests;
#[cfg(test)]
mod schedule_tests;
#[cfg(test)]
#[path = "export_tests.rs"]
mod tests;
#[cfg(test)]
mod vocabulary_tests;
