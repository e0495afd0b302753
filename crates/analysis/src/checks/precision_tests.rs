use fathom_model::verdict::FindingStatus::{Caveat, Info, NotMeasured, Pass};

use crate::test_records::RecordBuilder;

fn seconds(seconds: u32, noise: f64) -> RecordBuilder {
    RecordBuilder::reads().with(|b| {
        b.seconds = seconds;
        b.noise = noise;
    })
}

#[test]
fn few_independent_seconds_are_information_with_a_hint() {
    assert_eq!(seconds(60, 0.01).status("V15"), Some(Pass));
    let wide = seconds(5, 0.01).finding("V15").unwrap();
    assert_eq!(wide.status, Info);
    assert!(wide.evidence.contains("the interval is wide"), "{wide:?}");
    let none = seconds(2, 0.01).finding("V15").unwrap();
    assert!(
        none.evidence.contains("no interval is printed; measure"),
        "{none:?}"
    );
    assert_eq!(seconds(0, 0.0).status("V15"), Some(NotMeasured));
}

#[test]
fn only_a_wide_interval_is_a_caveat() {
    assert_eq!(seconds(60, 0.01).status("V16"), Some(Pass));
    assert_eq!(seconds(60, 0.13).status("V16"), Some(Info));
    assert_eq!(seconds(60, 0.8).status("V16"), Some(Caveat));
    assert_eq!(seconds(1, 0.0).status("V16"), Some(NotMeasured));
}

#[test]
fn ten_steady_seconds_are_not_condemned() {
    for noise in [0.0, 0.01, 0.03, 0.1, 0.15] {
        let finding = seconds(10, noise).finding("V16").unwrap();
        assert!(finding.status <= Info, "{noise}: {finding:?}");
    }
    // As much noise in a minute is another matter: a minute can say more.
    let reference = seconds(10, 0.15).finding("V16").unwrap();
    assert!(reference.measured > Some(0.10), "{reference:?}");
    assert_eq!(seconds(10, 0.5).status("V16"), Some(Caveat));
}

#[test]
fn an_interval_that_is_not_printed_above_is_not_printed_below() {
    for builder in [seconds(5, 0.5), seconds(9, 0.9)] {
        let finding = builder.finding("V16").unwrap();
        assert!(!finding.evidence.contains('±'), "{finding:?}");
    }
    let finding = seconds(60, 0.1).finding("V16").unwrap();
    assert!(finding.evidence.contains('±'), "{finding:?}");
}

#[test]
fn left_out_percentiles_are_listed() {
    let finding = seconds(10, 0.01).finding("V17").unwrap();
    assert_eq!(finding.status, Info);
    assert!(finding.evidence.contains("p99.99"), "{finding:?}");
    // 60,000 operations are enough for p99.99.
    assert_eq!(seconds(60, 0.01).status("V17"), Some(Pass));
    assert_eq!(seconds(0, 0.0).status("V17"), Some(NotMeasured));
}
