//! What every study has.

use fathom_model::JudgedRun;
use fathom_model::run::RunRecord;
use fathom_model::schedule::Purpose;
use fathom_model::view::View;

/// A study, once its run is measured.
///
/// Plans and conductors have no place here: each study is asked in its own way.
pub(crate) trait Study {
    /// Whether a run of this purpose belongs to the study.
    fn owns(&self, purpose: &Purpose) -> bool;

    /// Adds the study's answer to a judged run. `record` is what was measured.
    fn judge(&self, run: &mut JudgedRun, record: &RunRecord);

    /// The answer as every format shows it; `None` where there is none.
    fn view(&self, run: &JudgedRun) -> Option<View>;
}
