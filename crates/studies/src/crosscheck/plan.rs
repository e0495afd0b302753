//! The workloads to be measured, each with what fio is told.

use std::path::Path;

use fathom_compat::fio::job_file::{FioExport, FioTrial, Refusal, export_trial, fio_job_file};
use fathom_model::host_mode::HostMode;
use fathom_model::rng::derive_seed;
use fathom_model::schedule::Pause;
use fathom_model::workload::{Bounds, CacheMode, Workload};
use fathom_model::{Schedule, ScheduledTrial, Target};

/// What fio is to state beside its defaults: percentiles of the total latency,
/// which begins where fathom's service latency does.
const STATED: [(&str, &str); 3] = [
    ("lat_percentiles", "1"),
    ("clat_percentiles", "0"),
    ("percentile_list", "50:99:99.9"),
];

/// What is said where fathom flushes as fio does, and not as the plan says.
const UNDRAINED: &str = "fio flushes while other writes are in flight, and fathom did so here, too; \
                         without fio beside it a flush follows all writes that it makes durable \
                         (sync_drain)";

/// All workloads, each on its target.
pub struct CrossPlan {
    schedule: Schedule,
    pub(super) rows: Vec<PlannedRow>,
}

/// One workload on one target.
pub struct PlannedRow {
    trial: ScheduledTrial,
    /// Wait between two trials.
    pub(super) pause: Pause,
    pub(super) fio: FioTrial,
    drop_cache: bool,
}

/// Why a plan cannot be cross-checked.
#[derive(Debug, thiserror::Error)]
pub enum NotComparable {
    /// A workload has company.
    #[error("{label}: runs at the same time as others; trials are compared one at a time")]
    Together {
        /// Which workload.
        label: String,
    },
    /// fio cannot do it.
    #[error("fio cannot run this plan")]
    NotInFio(Vec<Refusal>),
    /// There is no workload.
    #[error("the plan has no workload that could be compared")]
    Nothing,
}

impl CrossPlan {
    /// The rows of a schedule, measured for so many seconds each or to their own
    /// bounds. `is_folder` says whether a path is one.
    ///
    /// # Errors
    /// They cannot be compared.
    pub fn of(
        schedule: Schedule,
        seconds: Option<u32>,
        export: &FioExport<'_>,
        is_folder: impl Fn(&Path) -> bool,
    ) -> Result<CrossPlan, NotComparable> {
        let mut refusals = Vec::new();
        let mut rows = Vec::new();
        let first = |trial: &&ScheduledTrial| trial.iteration == 0 && !trial.role.is_probe();
        for trial in schedule.trials.iter().filter(first) {
            if trial.together.is_some() {
                let label = trial.label.clone();
                return Err(NotComparable::Together { label });
            }
            let drained = flushes_drained(&trial.workload);
            let trial = adapted(trial, seconds);
            match export_trial(&trial, export) {
                Ok(mut fio) => {
                    let difference = drained.then(|| UNDRAINED.to_owned());
                    fio.differences.extend(difference);
                    rows.push(PlannedRow::new(trial, fio, &is_folder));
                }
                Err(mut why) => refusals.append(&mut why),
            }
        }
        if !refusals.is_empty() {
            return Err(NotComparable::NotInFio(refusals));
        }
        match rows.is_empty() {
            true => Err(NotComparable::Nothing),
            false => Ok(CrossPlan { schedule, rows }),
        }
    }

    /// The schedule of fathom's trials, as stored.
    pub fn schedule(&self, pairs: u32) -> Schedule {
        Schedule {
            trials: self.trials(pairs),
            depth_probe: false,
            host_mode: HostMode::default(),
            ..self.schedule.clone()
        }
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
}

impl PlannedRow {
    fn new(
        mut trial: ScheduledTrial,
        fio: FioTrial,
        is_folder: impl Fn(&Path) -> bool,
    ) -> PlannedRow {
        let workload = &trial.workload;
        let directory = trial.target.path().is_some_and(is_folder);
        let direct = workload.cache == CacheMode::Direct;
        let pause = match trial.target {
            Target::Path(_) => trial.pause,
            Target::Null | Target::Sim(_) | Target::Peer(_) | Target::Bucket(_) => Pause::NONE,
        };
        let drop_cache = directory || direct || workload.drop_cache;
        // The conductor waits, so that both tools get the same pauses.
        trial.pause = Pause::NONE;
        PlannedRow {
            drop_cache,
            trial,
            pause,
            fio,
        }
    }

    /// The trial, as it stands in no pair.
    pub fn trial(&self) -> &ScheduledTrial {
        &self.trial
    }

    /// Whether fathom forgets what earlier trials left of its test files in the page
    /// cache: neither tool is to find it.
    pub fn drops_cache(&self) -> bool {
        self.drop_cache
    }

    /// fio lays data down before its trial, for an unknown time.
    pub fn prepares(&self) -> bool {
        !self.fio.before.is_empty()
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
    pub fn job_text(&self, pair: u32) -> String {
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
}

/// Whether flushes wait for the writes beside them, which those of fio never do.
fn flushes_drained(workload: &Workload) -> bool {
    let sync = workload.sync;
    sync.every_writes > 0 && workload.queue_depth > 1 && !sync.undrained
}

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
    trial.workload.sync.undrained |= flushes_drained(&trial.workload);
    // fio runs in a directory of its own.
    if let Target::Path(path) = &trial.target
        && let Ok(path) = std::path::absolute(path)
    {
        trial.target = Target::Path(path);
    }
    trial
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use fathom_compat::fio::job_file::FioFiles;
    use fathom_model::workload::OpMix;

    use super::*;

    /// The workload that is compared, and whether it is said that its flushes are
    /// otherwise drained.
    fn compared(queue_depth: u32, every_writes: u32) -> (Workload, bool) {
        let mut workload = Workload::example("writes");
        workload.mix = OpMix::WRITE;
        workload.queue_depth = queue_depth;
        workload.sync.every_writes = every_writes;
        let target = Target::Path("/nonexistent".into());
        let trial = ScheduledTrial::new("writes", target, workload);
        let export = FioExport {
            facts: &BTreeMap::new(),
            files: FioFiles::Given("data"),
        };
        let schedule = Schedule::new("writes", vec![trial]);
        let plan = CrossPlan::of(schedule, Some(1), &export, |_| true).unwrap();
        let row = &plan.rows[0];
        let is_said = row.fio.differences.iter().any(|text| text == UNDRAINED);
        (row.trial.workload.clone(), is_said)
    }

    #[test]
    fn fathom_flushes_as_fio_does_and_says_so() {
        let (workload, is_said) = compared(4, 4);
        assert!(workload.sync.undrained && is_said);
        // Nothing is in flight beside a flush, or nothing is flushed.
        for (queue_depth, every_writes) in [(1, 4), (4, 0)] {
            let (workload, is_said) = compared(queue_depth, every_writes);
            assert!(!workload.sync.undrained && !is_said, "{queue_depth}");
        }
    }
}
