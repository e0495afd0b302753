//! The tests of the SNIA Solid State Storage Performance Test Specification
//! (2.0.2): IOPS, throughput, latency and write saturation.
//!
//! [`SniaRounds`] hands out the trials: purge, preconditioning independent of
//! the workload (twice the capacity in sequence), then rounds of the test's
//! own loop until the tracked variable is steady over five rounds, at most 25.
//! The judge makes the standard's report of the trials, and says which of its
//! requirements were kept; it never claims more.

mod conductor;
mod conformance;
mod estimate;
mod facts;
mod judge;
mod plan;
mod rounds;
mod saturation;
mod settings;
mod tracked;
mod view;

use std::collections::BTreeMap;

use fathom_analysis::judgement::{Trial, over_trials};
use fathom_model::JudgedRun;
use fathom_model::run::RunRecord;
use fathom_model::schedule::{Purpose, Schedule, TrialRole};
use fathom_model::view::View;

pub use conductor::SniaRounds;
pub use estimate::{LEAST_ROUNDS, estimate};
pub use plan::SniaOptions;
pub use settings::{ActiveRange, SettingsError, SniaChoices, SniaPlace, plan, settings};

use crate::study::Study;

/// A test of the standard.
pub(crate) struct Snia;

impl Study for Snia {
    fn owns(&self, schedule: &Schedule) -> bool {
        matches!(schedule.purpose, Purpose::Snia { .. })
    }

    fn roles(&self, schedule: &Schedule, trials: &[Trial<'_>]) -> BTreeMap<usize, TrialRole> {
        judge::roles(schedule, trials)
    }

    fn judge(&self, run: &mut JudgedRun, record: &RunRecord) {
        run.snia = over_trials(record, |record, trials| {
            judge::of_run(record, trials, &run.trials)
        });
    }

    fn view(&self, run: &JudgedRun) -> Option<View> {
        run.snia.as_ref().map(|report| view::view(run, report))
    }
}

#[cfg(test)]
mod snia_tests;
