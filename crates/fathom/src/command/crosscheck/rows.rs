//! The workloads to be measured, each with what fio is told.

use std::path::Path;

use fathom_analysis::{CrossPair, CrossRow, CrossSide};
use fathom_compat::fio::job_file::{FioExport, FioFiles, FioTrial, export_trial, fio_job_file};
use fathom_deadline::paths;
use fathom_model::rng::derive_seed;
use fathom_model::run::RunRecord;
use fathom_model::schedule::Pause;
use fathom_model::workload::Bounds;
use fathom_model::{Schedule, ScheduledTrial, Target};
use fathom_plan::{Diagnostics, Plan};

use super::Crosscheck;
use super::repeats::Repeats;
use crate::command::plan::complain_of;
use crate::command::run::{read_plan, schedule};
use crate::pipeline::FILE_PREFIX;
use crate::{present, surroundings};

/// What fio is to state beside its defaults: percentiles of the total latency,
/// which begins where fathom's service latency does.
const STATED: [(&str, &str); 3] = [
    ("lat_percentiles", "1"),
    ("clat_percentiles", "0"),
    ("percentile_list", "50:99:99.9"),
];

/// One workload on one target.
pub(super) struct Row {
    pub(super) trial: ScheduledTrial,
    /// Wait between two trials.
    pub(super) pause: Pause,
    fio: FioTrial,
    /// What was measured before stays in the page cache for neither tool.
    pub(super) drop_cache: bool,
}

/// All of them.
pub(super) struct Rows {
    pub(super) plan: Plan,
    pub(super) schedule: Schedule,
    pub(super) rows: Vec<Row>,
}

/// What fio gave: row, pair, job.
pub(super) type Results = [(usize, u32, CrossSide)];

impl Rows {
    /// The rows that the command line asks for; `None` when it asks wrongly,
    /// or for what fio cannot do, which has then been said.
    pub(super) fn of(args: &Crosscheck) -> anyhow::Result<Option<Rows>> {
        let color = present::use_color(args.output.color, &std::io::stderr());
        let Some(plan) = plan(args, color)? else {
            return Ok(None);
        };
        let Some(schedule) = schedule(&plan, color) else {
            return Ok(None);
        };
        let surroundings = surroundings::of(&plan);
        let export = FioExport {
            facts: &surroundings.facts,
            files: FioFiles::Given(FILE_PREFIX),
        };
        let mut refusals = Vec::new();
        let mut rows = Vec::new();
        let first = |trial: &&ScheduledTrial| trial.iteration == 0 && !trial.role.is_probe();
        for trial in schedule.trials.iter().filter(first) {
            if trial.together.is_some() {
                present::complain(&format!(
                    "{}: runs at the same time as others; trials are compared one at a time",
                    trial.label
                ));
                return Ok(None);
            }
            let trial = adapted(trial, args.seconds);
            match export_trial(&trial, &export) {
                Ok(fio) => rows.push(Row::new(trial, fio)),
                Err(mut why) => refusals.append(&mut why),
            }
        }
        if !refusals.is_empty() {
            complain_of(&refusals);
            return Ok(None);
        }
        if rows.is_empty() {
            present::complain("the plan has no workload that could be compared");
            return Ok(None);
        }
        Ok(Some(Rows {
            plan,
            schedule,
            rows,
        }))
    }

    /// fathom's trials in order: row by row, pair by pair.
    pub(super) fn trials(&self, pairs: u32) -> Vec<ScheduledTrial> {
        let numbered = (0u32..).zip(&self.rows);
        let each =
            numbered.flat_map(|(row, of)| (0..pairs).map(move |pair| of.trial_of(row, pair)));
        let mut trials: Vec<ScheduledTrial> = each.collect();
        for (index, trial) in (0u32..).zip(&mut trials) {
            trial.index = index;
        }
        trials
    }

    /// What was measured, ready to be compared.
    pub(super) fn compared<'a>(
        &self,
        record: &'a RunRecord,
        results: &'a Results,
        repeats: &Repeats,
    ) -> Vec<CrossRow<'a>> {
        let row = |(number, row): (usize, &Row)| {
            let trials = record.trials.iter();
            let pairs = trials.filter(|t| t.spec.row as usize == number);
            let pairs = pairs.filter(|t| !repeats.is_aside(number, t.spec.iteration));
            let mut pairs: Vec<CrossPair<'a>> = pairs
                .map(|trial| {
                    let pair = trial.spec.iteration;
                    let peer = results.iter().find(|(r, p, _)| (*r, *p) == (number, pair));
                    CrossPair {
                        pair,
                        peer_first: peer_first(pair),
                        fathom: Some(trial),
                        peer: peer.map(|(_, _, side)| side),
                    }
                })
                .collect();
            pairs.sort_by_key(|pair| pair.pair);
            CrossRow {
                label: row.trial.label.clone(),
                target: row.trial.target.to_string(),
                differences: row.fio.differences.clone(),
                pairs,
            }
        };
        self.rows.iter().enumerate().map(row).collect()
    }
}

/// Pairs take turns. fathom is the first of all: it makes the files.
pub(super) fn peer_first(pair: u32) -> bool {
    pair % 2 == 1
}

impl Row {
    fn new(mut trial: ScheduledTrial, fio: FioTrial) -> Row {
        let workload = &trial.workload;
        let directory = trial.target.path().is_some_and(paths::is_dir);
        let direct = workload.cache == fathom_model::workload::CacheMode::Direct;
        let pause = match trial.target {
            Target::Path(_) => trial.pause,
            Target::Null | Target::Sim(_) | Target::Peer(_) | Target::Bucket(_) => NO_PAUSE,
        };
        // Pauses are made here, so that both tools get the same.
        trial.pause = NO_PAUSE;
        Row {
            // fathom forgets what earlier trials left of its test files.
            drop_cache: directory || direct || workload.drop_cache,
            trial,
            pause,
            fio,
        }
    }

    /// fathom's trial of one pair.
    pub(super) fn trial_of(&self, row: u32, pair: u32) -> ScheduledTrial {
        let mut spec = self.trial.clone();
        (spec.row, spec.iteration) = (row, pair);
        spec.seed = derive_seed(self.trial.seed, u64::from(pair));
        spec
    }

    /// The job file of one pair. Each has a seed of its own: no trial must find
    /// in a cache what the one before has left there.
    pub(super) fn job_text(&self, pair: u32) -> String {
        let mut fio = self.fio.clone();
        let seed = derive_seed(self.trial.seed, (1 << 32) + u64::from(pair)) & 0x7fff_ffff;
        for section in &mut fio.sections {
            section.options.retain(|(name, _)| name != "randseed");
            let text = |(name, value): (&str, &str)| (name.to_owned(), value.to_owned());
            section
                .options
                .push(("randseed".to_owned(), seed.to_string()));
            section.options.extend(STATED.map(text));
        }
        fio_job_file(&fio)
    }

    /// fio lays data down before its trial, for an unknown time.
    pub(super) fn prepares(&self) -> bool {
        !self.fio.before.is_empty()
    }
}

const NO_PAUSE: Pause = Pause {
    floor_ns: 0,
    ceiling_ns: 0,
    until_quiet: false,
};

/// The trial as both tools can do it.
fn adapted(trial: &ScheduledTrial, seconds: Option<u32>) -> ScheduledTrial {
    let mut trial = trial.clone();
    if let Some(seconds) = seconds {
        trial.workload.bounds = Bounds {
            time_ns: Some(u64::from(seconds) * 1_000_000_000),
            bytes: None,
            ops: None,
        };
    }
    // Both go to the same bounds.
    trial.workload.until = None;
    // fio runs in a directory of its own.
    if let Target::Path(path) = &trial.target
        && let Ok(path) = std::path::absolute(path)
    {
        trial.target = Target::Path(path);
    }
    trial
}

/// The plan: from a file, or from flags for a target.
fn plan(args: &Crosscheck, color: bool) -> anyhow::Result<Option<Plan>> {
    let path = Path::new(&args.plan);
    let extension = path.extension().and_then(|e| e.to_str());
    let is_plan = args.plan == "-" || matches!(extension, Some("yaml" | "yml"));
    let made = if is_plan {
        let Some(mut plan) = read_plan(path, args.output.color, false)? else {
            return Ok(None);
        };
        if let Some(target) = &args.target {
            let Some(target) = target_of(target) else {
                return Ok(None);
            };
            plan.set_targets(vec![target]);
        }
        args.flags.apply(&plan)
    } else {
        if args.target.is_some() {
            present::complain("--target goes with a plan; the target is named already");
            return Ok(None);
        }
        let Some(target) = target_of(&args.plan) else {
            return Ok(None);
        };
        args.flags.to_plan(target)
    };
    let made = made.and_then(|plan| args.plan_flags.apply(&plan));
    Ok(told(made, color))
}

fn told(made: Result<Plan, Diagnostics>, color: bool) -> Option<Plan> {
    match made {
        Ok(plan) => Some(plan),
        Err(problems) => {
            present::write_stderr(&problems.render(color));
            None
        }
    }
}

fn target_of(text: &str) -> Option<Target> {
    match text.parse() {
        Ok(target) => Some(target),
        Err(error) => {
            present::complain(&format!("{error}"));
            None
        }
    }
}
