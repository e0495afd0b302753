//! How does a figure change with a swept quantity, and up to where is it good
//! enough?
//!
//! A [`CurveConductor`] chooses the trials of a new curve; the answer is drawn from
//! the rows of the run, so that a stored run gives it again.

mod answers;
mod arrange;
mod conductor;
mod holds;
mod judge;
mod knee;
mod levels;
mod plan;
mod point;
mod search;
mod series;
mod sweep;
mod view;
mod zones;

#[cfg(test)]
mod curve_tests;

use fathom_model::JudgedRun;
use fathom_model::run::RunRecord;
use fathom_model::schedule::{Purpose, Schedule};
use fathom_model::view::View;

pub use arrange::CurveOptions;
pub use conductor::CurveConductor;
pub use plan::{
    CurveError, DataRoom, Swept, TargetLook, fill_in, options, point_seconds, refuse_conflict,
    swept_keys,
};

use crate::study::Study;

/// A figure against a swept quantity.
pub(crate) struct CurveStudy;

impl Study for CurveStudy {
    fn owns(&self, schedule: &Schedule) -> bool {
        matches!(schedule.purpose, Purpose::Curve { .. })
    }

    fn judge(&self, run: &mut JudgedRun, _: &RunRecord) {
        judge::draw(run);
    }

    fn view(&self, run: &JudgedRun) -> Option<View> {
        view::view(run)
    }
}
