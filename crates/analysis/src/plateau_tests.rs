use fathom_model::verdict::Limiter;

use super::*;
use crate::statistics::noise::{Noise, seeded};
use crate::test_records::RecordBuilder;

#[test]
fn only_figures_that_people_choose_are_round() {
    assert_eq!(
        round_figure(3001.0, 3001.0 * 4096.0).as_deref(),
        Some("3,000 ops/s")
    );
    assert_eq!(round_figure(9_995.0, 1e6).as_deref(), Some("10,000 ops/s"));
    assert_eq!(
        round_figure(125.0 * 4.1, 131_072_000.0).as_deref(),
        Some("125 MiB/s")
    );
    assert_eq!(round_figure(3_061.0, 3_061.0 * 4096.0), None);
    assert_eq!(round_figure(87_412.0, 87_412.0 * 4096.0), None);
}

/// Share of series that pass for held to a line.
fn share_on_a_line(make: impl Fn(&mut Noise) -> Vec<f64>) -> f64 {
    let mut noise = seeded(11);
    let passed = (0..4000).filter(|_| bridge(&make(&mut noise)).is_some_and(|b| b < LINE_QUANTILE));
    passed.count() as f64 / 4000.0
}

#[test]
fn a_wandering_rate_is_hardly_ever_on_a_line_and_a_bucket_is() {
    let independent = share_on_a_line(|noise| (0..60).map(|_| 1e4 + noise.normal()).collect());
    assert!(independent <= 0.004, "{independent}");
    let persistent = share_on_a_line(|noise| {
        let series = noise.ar1(0.5, 60);
        series.iter().map(|v| 1e4 + v).collect()
    });
    assert!(persistent <= 0.001, "{persistent}");
    // A bucket: the count is on the line but for a bounded error at each edge.
    let bucket = |seconds: u32| {
        share_on_a_line(|noise| {
            let edges: Vec<f64> = (0..=seconds).map(|_| 10.0 * noise.normal()).collect();
            edges.windows(2).map(|e| 1e4 + e[1] - e[0]).collect()
        })
    };
    let (minute, two) = (bucket(60), bucket(120));
    assert!(minute >= 0.75 && two >= 0.95, "{minute}, {two}");
}

fn in_a_guest(ops: u64) -> RecordBuilder {
    RecordBuilder::reads().with(|b| {
        b.ops_per_second = ops;
        b.seconds = 90;
        b.noise = 0.001;
        b.observed = false;
        b.host.virtualization = Some("kvm".to_owned());
    })
}

/// Counts that deviate from the line by at most one operation.
fn held_to_a_line(trial: &mut fathom_model::run::TrialRecord) {
    for (second, sample) in trial.samples.iter_mut().enumerate() {
        for op in &mut sample.ops {
            let ops = 3170 + [1, 0, -1, 0][second % 4];
            let mut service = fathom_model::Histogram::new();
            (0..ops).for_each(|_| service.record(32_000_000_000 / 3170));
            op.ops = ops as u64;
            op.bytes = op.ops * 4096;
            op.service = service;
        }
    }
}

#[test]
fn a_cap_that_is_no_round_figure_is_named_by_its_line() {
    assert_eq!(in_a_guest(3170).limiter(), Limiter::Unknown, "steady only");
    let held = in_a_guest(3170).edit(held_to_a_line);
    assert_eq!(held.limiter(), Limiter::Cap);
    let evidence = crate::judge(&held.run()).trials[0]
        .verdict
        .limiter_evidence
        .clone();
    assert!(evidence.contains("3,170 ops/s"), "{evidence}");
    let short = held.clone().with(|b| b.seconds = 40);
    assert_eq!(
        short.limiter(),
        Limiter::Unknown,
        "forty seconds prove less"
    );
    let bare = held.with(|b| b.host.virtualization = None);
    assert_eq!(bare.limiter(), Limiter::Unknown, "no caps on bare metal");
}

#[test]
fn a_burst_before_the_plateau_is_set_aside() {
    let burst = in_a_guest(3000).edit(|trial| {
        for sample in trial.samples.iter_mut().take(12) {
            for op in &mut sample.ops {
                op.ops *= 3;
                op.bytes *= 3;
            }
        }
    });
    assert_eq!(burst.limiter(), Limiter::Cap);
    let evidence = crate::judge(&burst.run()).trials[0]
        .verdict
        .limiter_evidence
        .clone();
    assert!(evidence.contains("3,000 ops/s after 12 s"), "{evidence}");
    let slow_start = in_a_guest(3000).edit(|trial| {
        for sample in trial.samples.iter_mut().take(12) {
            for op in &mut sample.ops {
                op.ops /= 3;
                op.bytes /= 3;
            }
        }
    });
    assert_eq!(slow_start.limiter(), Limiter::Unknown);
}
