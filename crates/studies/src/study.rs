//! What every study has, and the list of them.

use fathom_model::JudgedRun;
use fathom_model::run::RunRecord;
use fathom_model::schedule::Purpose;
use fathom_model::view::View;

use crate::curve::CurveStudy;
use crate::enumerate::Enumerate;

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

/// The studies that answer here. A run belongs to one of them at most.
const STUDIES: &[&dyn Study] = &[&CurveStudy, &Enumerate];

/// Judges a run, and answers the question of its study.
pub fn judge(record: &RunRecord) -> JudgedRun {
    let mut run = fathom_analysis::judge(record);
    let study = STUDIES.iter().find(|study| study.owns(&run.run.purpose));
    if let Some(study) = study {
        study.judge(&mut run, record);
        run.view = study.view(&run);
    }
    run
}
