//! The tests of the SNIA Solid State Storage Performance Test Specification
//! (2.0.2): IOPS, throughput, latency and write saturation.
//!
//! [`SniaRounds`] hands out the trials: purge, preconditioning independent of
//! the workload (twice the capacity in sequence), then rounds of the test's
//! own loop until the tracked variable is steady over five rounds, at most 25.
//! [`of_run`] makes the standard's report of the trials, and says which of its
//! requirements were kept; it never claims more.

mod arrange;
mod conduct;
mod conformance;
mod facts;
mod rounds;
mod saturation;
mod tracked;

pub use arrange::{SniaOptions, blocks};
pub use conduct::SniaRounds;

use fathom_model::judged::JudgedTrial;
use fathom_model::run::RunRecord;
use fathom_model::schedule::Purpose;
use fathom_model::snia::{SniaPart, SniaReport, SniaSettings, SniaTest};

use crate::trial::Trial;

/// A run of a test as its parts see it.
struct Test<'a> {
    test: SniaTest,
    settings: &'a SniaSettings,
    record: &'a RunRecord,
    trials: &'a [Trial<'a>],
    judged: &'a [JudgedTrial],
}

/// The report of a run that is a test of the standard. The trials outside of
/// the measurement window become what they were: preconditioning.
pub(crate) fn of_run(
    record: &RunRecord,
    trials: &[Trial<'_>],
    judged: &mut [JudgedTrial],
) -> Option<SniaReport> {
    let Purpose::Snia { test, settings } = &record.meta.schedule.purpose else {
        return None;
    };
    let test = SniaTest::of_name(test)?;
    let parts: Vec<SniaPart> = match test {
        SniaTest::Wsat => saturation::parts(settings, trials),
        _ => rounds::parts(test, settings, trials, judged),
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

#[cfg(test)]
mod snia_tests;
