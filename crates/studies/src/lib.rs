//! Studies: questions that take several trials.
//!
//! Each has a folder with up to four parts, so that reading or
//! adding one study needs no other:
//!
//! - `plan`: what was typed, as a plan and its trials
//! - `conductor`: which trial comes next, where that depends on the earlier ones
//! - `judge`: the answer, from the judged run
//! - `view`: the answer as charts, tables and sentences, for every format of a report
//!
//! [`judge`] judges a run and then lets the study that the run belongs to answer
//! its question. Nothing here starts a load, opens the store or prints.

pub mod ab;
pub mod calibrate;
pub mod causal;
pub mod crosscheck;
pub mod curve;
pub mod disks;
pub mod enumerate;
pub mod quick;
pub mod scale;
pub mod snia;

mod study;

use fathom_analysis::judgement::judge_with_roles;
use fathom_model::JudgedRun;
use fathom_model::run::RunRecord;

use study::Study;

/// The studies that answer here, those that own a purpose before those that own a
/// name. A run belongs to the first that owns it.
const STUDIES: &[&dyn Study] = &[
    &curve::CurveStudy,
    &disks::Disks,
    &enumerate::Enumerate,
    &scale::Scale,
    &snia::Snia,
    &quick::Quick,
];

/// Judges a run, and answers the question of its study.
pub fn judge(record: &RunRecord) -> JudgedRun {
    let schedule = &record.meta.schedule;
    let Some(study) = STUDIES.iter().find(|study| study.owns(schedule)) else {
        return fathom_analysis::judge(record);
    };
    let mut run = judge_with_roles(record, |trials| study.roles(schedule, trials));
    study.judge(&mut run, record);
    run.view = study.view(&run);
    run
}
