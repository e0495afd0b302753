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
use fathom_model::schedule::Purpose;
use fathom_model::view::View;

pub use arrange::{CurveOptions, default_block_sizes, default_working_sets};
pub use conductor::CurveConductor;

use crate::study::Study;

/// A figure against a swept quantity.
pub(crate) struct CurveStudy;

impl Study for CurveStudy {
    fn owns(&self, purpose: &Purpose) -> bool {
        matches!(purpose, Purpose::Curve { .. })
    }

    fn judge(&self, run: &mut JudgedRun, _: &RunRecord) {
        judge::draw(run);
    }

    fn view(&self, run: &JudgedRun) -> Option<View> {
        view::view(run)
    }
}
