//! The standard's report of a run, and which of its requirements were kept.

use std::collections::BTreeMap;

use fathom_analysis::judgement::Trial;
use fathom_model::judged::JudgedTrial;
use fathom_model::run::RunRecord;
use fathom_model::schedule::{Purpose, Schedule, TrialRole};
use fathom_model::snia::{SniaPart, SniaReport, SniaSettings, SniaTest};

use super::{conformance, facts, rounds, saturation};

/// A run of a test as its parts see it.
pub(super) struct Test<'a> {
    pub(super) test: SniaTest,
    pub(super) settings: &'a SniaSettings,
    pub(super) record: &'a RunRecord,
    pub(super) trials: &'a [Trial<'a>],
    pub(super) judged: &'a [JudgedTrial],
}

/// The test of a schedule and what was decided before it began.
fn test_of(schedule: &Schedule) -> Option<(SniaTest, &SniaSettings)> {
    match &schedule.purpose {
        Purpose::Snia { test, settings } => Some((SniaTest::of_name(test)?, settings)),
        _ => None,
    }
}

/// The trials outside of the measurement window, by their place: they become what
/// they were, preconditioning.
pub(super) fn roles(schedule: &Schedule, trials: &[Trial<'_>]) -> BTreeMap<usize, TrialRole> {
    match test_of(schedule) {
        None | Some((SniaTest::Wsat, _)) => BTreeMap::new(),
        Some((test, settings)) => rounds::roles(test, settings, trials),
    }
}

/// The report of a run that is a test of the standard.
pub(super) fn of_run(
    record: &RunRecord,
    trials: &[Trial<'_>],
    judged: &[JudgedTrial],
) -> Option<SniaReport> {
    let (test, settings) = test_of(&record.meta.schedule)?;
    let parts: Vec<SniaPart> = match test {
        SniaTest::Wsat => saturation::parts(settings, trials),
        _ => rounds::parts(test, settings, trials),
    };
    let test = Test {
        test,
        settings,
        record,
        trials,
        judged,
    };
    let requirements = conformance::requirements(&test, &parts);
    let conforming = requirements.iter().all(|r| r.kept);
    Some(SniaReport {
        test: test.test,
        conforming,
        claim: conformance::claim(&test, conforming, &requirements),
        facts: facts::all(&test, &parts),
        requirements,
        parts,
    })
}
