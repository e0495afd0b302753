use fathom_model::judged::JudgedRun;
use fathom_model::verdict::FindingStatus::{Caveat, NotMeasured, Pass};
use fathom_model::workload::Pattern;

use crate::test_records::{RecordBuilder, run_of};

/// Reads 4 MB/s over a range of so many seconds.
fn reads(range_seconds: u64, ops_per_second: u64) -> RecordBuilder {
    RecordBuilder::reads()
        .with(|b| {
            b.ops_per_second = ops_per_second;
            b.workload.pattern = Pattern::Sequential;
        })
        .with_end(|end| end.data.active_bytes = range_seconds * 1000 * 4096)
}

fn iterations(builders: &[RecordBuilder]) -> JudgedRun {
    let trials = builders.iter().map(RecordBuilder::trial).collect();
    let mut record = run_of(trials, builders[0].host.clone());
    for (iteration, trial) in (0..).zip(&mut record.trials) {
        (trial.spec.row, trial.spec.iteration) = (0, iteration);
    }
    crate::judge(&record)
}

fn status(judged: &JudgedRun) -> fathom_model::verdict::FindingStatus {
    let findings = &judged.trials.last().unwrap().verdict.findings;
    findings.iter().find(|f| f.id == "V08").unwrap().status
}

#[test]
fn a_later_iteration_that_is_faster_is_found() {
    let same = iterations(&[reads(100, 1000), reads(100, 1050)]);
    assert_eq!(status(&same), Pass);
    let faster = iterations(&[reads(100, 1000), reads(100, 1500)]);
    assert_eq!(status(&faster), Caveat);
    let little = iterations(&[reads(10_000, 1000), reads(10_000, 1500)]);
    assert_eq!(status(&little), NotMeasured, "0.6 % of the range was read");
}

#[test]
fn a_second_pass_within_a_trial_is_found() {
    let even = reads(20, 1000);
    assert_eq!(even.status("V08"), Some(Pass));
    let cached = reads(20, 1000).edit(|t| {
        for sample in t.samples.iter_mut().skip(20) {
            for op in &mut sample.ops {
                op.ops *= 2;
                op.bytes *= 2;
            }
        }
    });
    assert_eq!(cached.status("V08"), Some(Caveat));
    assert_eq!(
        reads(100, 1000).status("V08"),
        Some(NotMeasured),
        "one pass"
    );
    assert_eq!(RecordBuilder::writes().status("V08"), None);
}
