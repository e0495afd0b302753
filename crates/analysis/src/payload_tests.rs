use fathom_model::judged::JudgedRun;
use fathom_model::schedule::TrialRole;
use fathom_model::verdict::FindingStatus::{Info, Invalid, Pass};
use fathom_model::workload::Content;

use crate::test_records::{RecordBuilder, run_of};

/// A row that writes, and four probes at these rates.
fn probed(content: Content, rates: &[(Content, u64)]) -> JudgedRun {
    let row = RecordBuilder::writes().with(|b| b.workload.payload.content = content);
    let host = row.host.clone();
    let mut trials = vec![row.trial()];
    for (content, ops_per_second) in rates {
        let probe = RecordBuilder::writes().with(|b| {
            b.workload.payload.content = content.clone();
            b.ops_per_second = *ops_per_second;
            b.seconds = 10;
        });
        trials.push(probe.trial());
    }
    let mut record = run_of(trials, host);
    for trial in &mut record.trials[1..] {
        trial.spec.role = TrialRole::PayloadProbe;
        trial.spec.row = 0;
    }
    crate::judge(&record)
}

fn status(judged: &JudgedRun) -> fathom_model::verdict::FindingStatus {
    let findings = &judged.rows[0].verdict.findings;
    findings.iter().find(|f| f.id == "V05").unwrap().status
}

const fn abba(random: u64, zeros: u64) -> [(Content, u64); 4] {
    [
        (Content::Random, random),
        (Content::Zeros, zeros),
        (Content::Zeros, zeros),
        (Content::Random, random),
    ]
}

#[test]
fn zeros_that_are_faster_ask_for_the_payload() {
    assert_eq!(status(&probed(Content::Random, &abba(1000, 1020))), Pass);
    assert_eq!(status(&probed(Content::Random, &abba(1000, 2000))), Info);
    assert_eq!(status(&probed(Content::Zeros, &abba(1000, 2000))), Invalid);
    // The payload compresses, but nothing makes use of it.
    assert_eq!(status(&probed(Content::Zeros, &abba(1000, 1000))), Pass);
}

#[test]
fn drift_cancels_and_half_a_block_says_nothing() {
    let drifting = [
        (Content::Random, 1000),
        (Content::Zeros, 1100),
        (Content::Zeros, 1200),
        (Content::Random, 1300),
    ];
    assert_eq!(status(&probed(Content::Random, &drifting)), Pass);
    let half = probed(Content::Random, &abba(1000, 2000)[..2]);
    let findings = &half.rows[0].verdict.findings;
    let finding = findings.iter().find(|f| f.id == "V05").unwrap();
    assert!(!finding.evidence.contains("ABBA"), "{finding:?}");
}
