//! Jobs become trials.
//!
//! The clones of a job (`numjobs`) are trials of one worker each, or one trial
//! of as many workers where fio would report them together and no log is
//! written for each. Jobs that fio runs at the same time are a set of trials;
//! `stonewall` begins the next one. What nobody says is as fio has it, not as
//! fathom would.

mod asked;
mod bounds;
mod content;
pub(crate) mod engine;
mod files;
pub(crate) mod http;
mod kinds;
mod names;
mod net;
mod pace;
mod record;
mod replay;
mod stages;
mod steady;
mod zones;

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use fathom_model::limits::MAX_WORKERS;
use fathom_model::schedule::Purpose;
use fathom_model::workload::{EngineKind, NamedFiles};
use fathom_model::{OpKind, Schedule, ScheduledTrial, Target, Workload};

use self::asked::Asked;
use self::stages::Stages;
use super::account::{FioAccount, FioEntry, OptionOutcome};
use super::command_line::FioRequest;
use super::jobs::{FioJob, MAX_JOBS};
use super::place::{FioPlace, FioProblem, FioProblems};
use super::surroundings::FioSurroundings;
use super::switches::FioRun;
use fathom_plan::MAX_TRIALS;

/// An operation that takes longer than this ends the run; fio would wait for
/// ever.
const DEADLINE_NS: u64 = 600_000_000_000;

/// What a fio run becomes.
#[derive(Debug, Clone, PartialEq)]
pub struct FioMapped {
    /// The trials. Whether files that are there may be written to is left to
    /// whoever looks at them: see [`FioMappedJob::modifies`].
    pub schedule: Schedule,
    /// The jobs in the order of the trials.
    pub jobs: Vec<FioMappedJob>,
    /// What became of every option.
    pub account: FioAccount,
    /// What signs requests to object stores.
    pub keys: Vec<http::FioKeys>,
}

/// One trial as a user of fio knows it.
#[derive(Debug, Clone, PartialEq)]
pub struct FioMappedJob {
    /// Which of the jobs, from 0.
    pub section: usize,
    /// Number of the trial.
    pub trial: u32,
    /// Number of the job over all clones, from 1.
    pub number: u32,
    /// Clones in the trial.
    pub clones: u32,
    /// Number of its reporting group.
    pub group: u32,
    /// Its files; empty for the null engine.
    pub files: Vec<PathBuf>,
    /// It changes them.
    pub modifies: bool,
    /// They are removed after the run.
    pub unlink: bool,
}

/// Maps the jobs of a request to trials. `seed` serves jobs that ask for
/// fresh randomness.
///
/// # Errors
/// Everything that cannot be run, each with its place and what to do instead.
/// The account is complete all the same.
pub fn map_fio(
    request: &FioRequest,
    surroundings: &dyn FioSurroundings,
    seed: u64,
) -> (FioAccount, Result<FioMapped, FioProblems>) {
    let mut mapping = Mapping {
        run: &request.run,
        surroundings,
        account: FioAccount::default(),
        problems: Vec::new(),
        trials: Vec::new(),
        jobs: Vec::new(),
        stages: Stages::new(&request.jobs.jobs),
        clones: 0,
        files: 0,
        seen: HashSet::new(),
        grown: HashSet::new(),
        keys: Vec::new(),
        seed,
    };
    for (section, job) in request.jobs.jobs.iter().enumerate() {
        mapping.job(section, job);
    }
    request
        .jobs
        .unknown
        .iter()
        .cloned()
        .for_each(|entry| mapping.account.entries.push(entry));
    switches_in_account(&request.run, &mut mapping.account);
    if request.run.strict || request.run.warnings_fatal {
        let ignored = mapping.account.left_out();
        let ignored = ignored.filter(|entry| matches!(entry.outcome, OptionOutcome::Ignored(_)));
        let problems = ignored.map(|entry| FioProblem {
            place: entry.place.clone(),
            message: format!(
                "{} would be ignored: {}",
                entry.option,
                entry.outcome.remark()
            ),
            help: Some("run without --strict to leave it out".to_owned()),
        });
        mapping.problems.extend(problems);
    }
    mapping.finish(request)
}

/// Switches that have no effect are told as well.
fn switches_in_account(run: &FioRun, account: &mut FioAccount) {
    for (name, why) in &run.without_effect {
        account.entries.push(FioEntry {
            job: "global".to_owned(),
            option: format!("--{name}"),
            value: None,
            place: None,
            outcome: OptionOutcome::Ignored((*why).to_owned()),
        });
    }
}

impl FioMapped {
    /// A plan that stands for the run where one is needed: its name.
    pub fn plan(&self) -> fathom_plan::Plan {
        fathom_plan::Plan::trusted(fathom_plan::Plan::build(&self.schedule.name, Vec::new()))
    }
}

struct Mapping<'a> {
    run: &'a FioRun,
    surroundings: &'a dyn FioSurroundings,
    account: FioAccount,
    problems: Vec<FioProblem>,
    trials: Vec<ScheduledTrial>,
    jobs: Vec<FioMappedJob>,
    stages: Stages,
    /// Clones of all jobs so far.
    clones: u32,
    /// Files of all jobs so far.
    files: u64,
    /// Entries that the account has.
    seen: HashSet<(Option<FioPlace>, String, OptionOutcome)>,
    /// Files that a job lets grow until the disk is full.
    grown: HashSet<PathBuf>,
    keys: Vec<http::FioKeys>,
    seed: u64,
}

impl Mapping<'_> {
    fn job(&mut self, section: usize, job: &FioJob) {
        let mut asked = Asked::new(job);
        self.clones_of(section, &mut asked);
        let (entries, problems) = asked.account();
        for entry in entries {
            self.account_for(entry);
        }
        for problem in problems {
            if !self.problems.contains(&problem) {
                self.problems.push(problem);
            }
        }
    }

    /// Adds an entry, unless the same option at the same place already came to
    /// the same end for another job.
    fn account_for(&mut self, entry: FioEntry) {
        let key = (
            entry.place.clone(),
            entry.option.clone(),
            entry.outcome.clone(),
        );
        if self.seen.insert(key) {
            self.account.entries.push(entry);
        }
    }

    fn clones_of(&mut self, section: usize, asked: &mut Asked<'_>) {
        let clones = asked.count("numjobs").unwrap_or(1);
        if !(1..=MAX_WORKERS).contains(&clones) {
            asked.problem(
                "numjobs",
                format!("{clones} clones; 1 to {MAX_WORKERS} are possible"),
            );
            return;
        }
        let clones = u32::try_from(clones).unwrap_or(1);
        let most = self.run.max_jobs.unwrap_or(MAX_JOBS as u64);
        if u64::from(self.clones) + u64::from(clones) > most {
            asked.problem(
                "numjobs",
                format!("there are more than {most} jobs, clones included"),
            );
            return;
        }
        let each = asked.count("nrfiles").unwrap_or(1).max(1);
        let each = each.max(asked.job.settings_of("filename").count() as u64);
        self.files = self
            .files
            .saturating_add(each.saturating_mul(u64::from(clones)));
        if self.files > files::MAX_FILES {
            let message = format!("the jobs have more than {} files", files::MAX_FILES);
            asked.problem("nrfiles", message);
            return;
        }
        self.stages.begin(asked);
        let together = clones > 1 && record::may_be_one_trial(asked);
        let step = if together { clones } else { 1 };
        for first in (0..clones).step_by(step as usize) {
            let range = first..first + step;
            let number = self.clones + first + 1;
            if !self.trial(section, asked, range, number, clones) {
                break;
            }
        }
        self.stages.end(asked, &mut self.trials);
        self.clones += clones;
    }

    /// Adds a trial for some clones. False when the job cannot be run.
    fn trial(
        &mut self,
        section: usize,
        asked: &mut Asked<'_>,
        range: std::ops::Range<u32>,
        number: u32,
        all_clones: u32,
    ) -> bool {
        let Some(engine) = engine::choose(asked) else {
            return false;
        };
        let clones = range.end - range.start;
        if let Some(kind) = engine.names {
            let workload = bare(&asked.job.name, clones, engine.kind);
            return self.on_names(section, asked, workload, (&engine, kind), &range, number);
        }
        let Some((mut workload, files)) = self.workload(asked, &engine, range.clone()) else {
            return false;
        };
        let target = match workload.peer() {
            Some(peer) => Target::Peer(peer.name()),
            None if engine.null => Target::Null,
            None if workload.store().is_some() => http::target(&mut workload, &files.paths),
            None => self.place(asked, &mut workload, &files),
        };
        let index = u32::try_from(self.trials.len()).unwrap_or(u32::MAX);
        self.jobs.push(FioMappedJob {
            section,
            trial: index,
            number,
            clones,
            group: self.stages.group(),
            files: match engine.null || workload.store().is_some() {
                true => Vec::new(),
                false => files.paths.clone(),
            },
            modifies: workload.mix.modifies() || workload.replay().is_some(),
            unlink: asked.flag("unlink", false),
        });
        let label = label(&asked.job.name, &range, all_clones);
        let seed = record::seed(asked, self.seed, number);
        self.trials.push(ScheduledTrial {
            index,
            row: index,
            seed,
            together: Some(self.stages.stage()),
            start_delay_ns: record::start_delay_ns(asked, seed),
            follows: self.stages.follows(),
            ends_others: asked.flag("exitall", false),
            spares_others: !asked.flag("exitall_on_error", false),
            ..ScheduledTrial::new(label, target, workload)
        });
        true
    }

    /// What some clones of a job do, and with which files. `None` when the job
    /// cannot be run.
    fn workload(
        &mut self,
        asked: &mut Asked<'_>,
        engine: &engine::Chosen,
        range: std::ops::Range<u32>,
    ) -> Option<(Workload, files::CloneFiles)> {
        let clones = range.end - range.start;
        let mut workload = bare(&asked.job.name, clones, engine.kind);
        zones::fill(asked, &mut workload);
        kinds::fill(asked, &mut workload);
        if workload.engine == EngineKind::Net && !net::fill(asked, &mut workload) {
            return None;
        }
        if workload.engine == EngineKind::S3 {
            let number = self.clones + range.start + 1;
            self.keys.push(http::fill(asked, &mut workload, number)?);
        }
        let (files, extent) = self.extent(asked, &mut workload, &range)?;
        content::fill(asked, &mut workload, self.surroundings);
        bounds::fill(asked, &mut workload, &extent);
        replay::fill(asked, &mut workload, range.start);
        pace::fill(asked, &mut workload, engine, clones, self.surroundings);
        record::fill(asked, &mut workload);
        if self.run.readonly && workload.mix.modifies() {
            asked.problem("rw", "it would write, and --readonly forbids that");
            return None;
        }
        Some((workload, files))
    }

    /// Adds a trial of operations on names for some clones. False when it
    /// cannot be run.
    fn on_names(
        &mut self,
        section: usize,
        asked: &mut Asked<'_>,
        mut workload: Workload,
        (engine, kind): (&engine::Chosen, OpKind),
        clones: &std::ops::Range<u32>,
        number: u32,
    ) -> bool {
        let count = clones.end - clones.start;
        pace::fill(asked, &mut workload, engine, count, self.surroundings);
        record::fill(asked, &mut workload);
        let Some(directory) = names::fill(asked, &mut workload, kind, clones.start) else {
            return false;
        };
        if self.run.readonly {
            asked.problem("ioengine", "it makes files, and --readonly forbids that");
            return false;
        }
        let index = u32::try_from(self.trials.len()).unwrap_or(u32::MAX);
        self.jobs.push(FioMappedJob {
            section,
            trial: index,
            number,
            clones: count,
            group: self.stages.group(),
            files: Vec::new(),
            modifies: false,
            unlink: false,
        });
        let seed = record::seed(asked, self.seed, number);
        self.trials.push(ScheduledTrial {
            index,
            row: index,
            seed,
            together: Some(self.stages.stage()),
            start_delay_ns: record::start_delay_ns(asked, seed),
            follows: self.stages.follows(),
            ends_others: asked.flag("exitall", false),
            // Each has a tree of its own.
            file_set: index.saturating_add(1),
            spares_others: !asked.flag("exitall_on_error", false),
            ..ScheduledTrial::new(
                label(&asked.job.name, clones, count),
                Target::Path(directory),
                workload,
            )
        });
        true
    }

    /// Names the files of a workload, and what stands for them in results.
    fn place(
        &self,
        asked: &Asked<'_>,
        workload: &mut Workload,
        files: &files::CloneFiles,
    ) -> Target {
        let named = files::named(asked, files);
        workload.data_set.named = Some(NamedFiles {
            // Whoever lets files grow makes them.
            create: named.create && workload.data_set.size_bytes.is_some(),
            ..named
        });
        let first = files.paths.first().map_or(Path::new("."), PathBuf::as_path);
        Target::Path(place_of(first, self.surroundings))
    }

    /// Files and sizes of some clones; `None` when the job cannot be run.
    fn extent(
        &mut self,
        asked: &mut Asked<'_>,
        workload: &mut Workload,
        range: &std::ops::Range<u32>,
    ) -> Option<(files::CloneFiles, files::Extent)> {
        let mut files = files::name(asked, workload, range.clone(), self.surroundings)?;
        files.grows = files.paths.iter().any(|path| self.grown.contains(path));
        let extent = files::fill(asked, workload, &files, range.clone())?;
        if workload.data_set.ends_when_full {
            self.grown.extend(files.paths.iter().cloned());
        }
        Some((files, extent))
    }

    fn finish(mut self, request: &FioRequest) -> (FioAccount, Result<FioMapped, FioProblems>) {
        if self.trials.len() as u64 > MAX_TRIALS {
            let message = format!("{} trials; the limit is {MAX_TRIALS}", self.trials.len());
            self.problems.push(FioProblem::nowhere(message));
        }
        net::meet(&mut self.trials);
        stages::alone(&mut self.trials);
        if let Err(problems) = FioProblems::result(self.problems) {
            return (self.account, Err(problems));
        }
        let name = request.jobs.jobs.first().map_or("fio", |job| &job.name);
        let schedule = Schedule {
            name: name.to_owned(),
            seed: self.seed,
            destructive: self.run.destructive,
            // Files that the jobs name are the user's; trees of names are not.
            keep_files: self
                .trials
                .iter()
                .all(|trial| trial.workload.files_work().is_none()),
            purpose: Purpose::Measure,
            trials: self.trials,
            depth_probe: false,
            host_mode: fathom_model::host_mode::HostMode::default(),
        };
        let mapped = FioMapped {
            schedule,
            jobs: self.jobs,
            account: self.account.clone(),
            keys: self.keys,
        };
        (self.account, Ok(mapped))
    }
}

/// A workload before anything is asked of it.
fn bare(name: &str, workers: u32, engine: EngineKind) -> Workload {
    Workload {
        engine,
        workers,
        io_deadline_ns: DEADLINE_NS,
        ..Workload::example(name)
    }
}

/// What stands for a file in results: itself if it is there, else where it
/// will be.
fn place_of(path: &Path, surroundings: &dyn FioSurroundings) -> PathBuf {
    use super::surroundings::FioPath;
    match surroundings.look(path) {
        FioPath::Missing => match path.parent() {
            Some(parent) if !parent.as_os_str().is_empty() => parent.to_owned(),
            _ => PathBuf::from("."),
        },
        _ => path.to_owned(),
    }
}

/// What the trial of some clones of a job is called.
fn label(name: &str, clones: &std::ops::Range<u32>, all_clones: u32) -> String {
    match (clones.end - clones.start, all_clones) {
        (1, 1) => name.to_owned(),
        (1, all) => format!("{name} {}/{all}", clones.start + 1),
        (count, _) => format!("{name} j{count}"),
    }
}
