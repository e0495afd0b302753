//! How much faster is the same work on more hosts?

mod answers;
mod judge;
mod law;
mod plan;
mod view;

use fathom_analysis::judgement::over_trials;
use fathom_model::JudgedRun;
use fathom_model::run::RunRecord;
use fathom_model::schedule::{Purpose, Schedule};
use fathom_model::view::View;

pub use plan::{NumbersError, ScaleNumbers};

use crate::study::Study;

/// The same work on growing numbers of hosts.
pub(crate) struct Scale;

impl Study for Scale {
    fn owns(&self, schedule: &Schedule) -> bool {
        matches!(schedule.purpose, Purpose::Scale { .. })
    }

    fn judge(&self, run: &mut JudgedRun, record: &RunRecord) {
        over_trials(record, |record, trials| judge::draw(run, record, trials));
    }

    fn view(&self, run: &JudgedRun) -> Option<View> {
        run.scale.as_ref().map(view::view)
    }
}
