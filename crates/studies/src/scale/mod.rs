//! How much faster is the same work on more hosts?

mod view;

use fathom_model::JudgedRun;
use fathom_model::run::RunRecord;
use fathom_model::schedule::Purpose;
use fathom_model::view::View;

use crate::study::Study;

/// The same work on growing numbers of hosts. Its answer is drawn by analysis, from
/// the trials themselves.
pub(crate) struct Scale;

impl Study for Scale {
    fn owns(&self, purpose: &Purpose) -> bool {
        matches!(purpose, Purpose::Scale { .. })
    }

    fn judge(&self, _: &mut JudgedRun, _: &RunRecord) {}

    fn view(&self, run: &JudgedRun) -> Option<View> {
        run.scale.as_ref().map(view::view)
    }
}
