//! The list of studies, and the judgement of a run through the one that it belongs to.

use fathom_model::JudgedRun;
use fathom_model::run::RunRecord;

use crate::curve::CurveStudy;
use crate::disks::Disks;
use crate::enumerate::Enumerate;
use crate::scale::Scale;
use crate::study::Study;

/// The studies that answer here. A run belongs to one of them at most.
const STUDIES: &[&dyn Study] = &[&CurveStudy, &Disks, &Enumerate, &Scale];

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
