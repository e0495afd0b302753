//! What every study has.

use std::collections::BTreeMap;

use fathom_analysis::judgement::Trial;
use fathom_model::JudgedRun;
use fathom_model::run::RunRecord;
use fathom_model::schedule::{Schedule, TrialRole};
use fathom_model::view::View;

/// A study, once its run is measured.
///
/// Plans and conductors have no place here: each study is asked in its own way.
pub(crate) trait Study {
    /// Whether a run of this schedule belongs to the study: by its purpose, or where
    /// that is to measure rows by its name.
    fn owns(&self, schedule: &Schedule) -> bool;

    /// Trials that turned out to be something else than they were scheduled for, by
    /// their place, before rows are made of them.
    fn roles(&self, _: &Schedule, _: &[Trial<'_>]) -> BTreeMap<usize, TrialRole> {
        BTreeMap::new()
    }

    /// Adds the study's answer to a judged run. `record` is what was measured.
    fn judge(&self, run: &mut JudgedRun, record: &RunRecord);

    /// The answer as every format shows it; `None` where there is none.
    fn view(&self, run: &JudgedRun) -> Option<View>;
}
