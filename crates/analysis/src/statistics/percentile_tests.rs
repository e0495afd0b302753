use super::*;
use crate::statistics::noise::{Noise, seeded};

fn second(noise: &mut Noise, ops: usize, scale: f64) -> Histogram {
    let mut histogram = Histogram::new();
    for _ in 0..ops {
        histogram.record((scale * 1e5 * (0.5 * noise.normal()).exp()) as u64);
    }
    histogram
}

fn summary_of(seconds: &[Histogram]) -> LatencySummary {
    let parts = seconds.iter().map(|h| vec![h]).collect();
    Latencies::new(vec![parts], seconds.len() as u64 * 1_000_000_000).summary()
}

fn percentile(summary: &LatencySummary, percent: f64) -> &Estimate {
    let found = summary.percentiles.iter().find(|p| p.percent == percent);
    &found.unwrap().latency_ns
}

#[test]
fn unsupported_percentiles_are_refused_with_reason_and_hint() {
    let mut noise = seeded(1);
    let seconds: Vec<Histogram> = (0..10).map(|_| second(&mut noise, 100, 1.0)).collect();
    let summary = summary_of(&seconds);
    assert_eq!(summary.count, 1000);
    let p999 = percentile(&summary, 99.9);
    assert_eq!(p999.value, None);
    let reason = p999.reason.clone().unwrap();
    assert!(
        reason.contains("takes 3,688") && reason.contains("1,000"),
        "{reason}"
    );
    assert!(p999.run_longer_ns > Some(27_000_000_000), "{p999:?}");
    let p50 = percentile(&summary, 50.0);
    assert!(p50.low < p50.value && p50.value < p50.high, "{p50:?}");
}

#[test]
fn higher_percentiles_never_need_less_time() {
    for (ops, bursts) in [(40, 3), (200, 5), (500, 7), (2000, 4)] {
        let mut noise = seeded(ops);
        let scale = |s: u64| if s.is_multiple_of(bursts) { 20.0 } else { 1.0 };
        let seconds: Vec<Histogram> = (0..10)
            .map(|s| second(&mut noise, ops as usize, scale(s)))
            .collect();
        let summary = summary_of(&seconds);
        let times: Vec<u64> = summary
            .percentiles
            .iter()
            .filter_map(|p| p.latency_ns.run_longer_ns)
            .collect();
        assert!(times.is_sorted(), "{ops}: {times:?}");
        assert!(!times.is_empty());
    }
}

#[test]
fn values_agree_with_the_merged_histogram() {
    let mut noise = seeded(2);
    let seconds: Vec<Histogram> = (0..20).map(|_| second(&mut noise, 1000, 1.0)).collect();
    let summary = summary_of(&seconds);
    let mut merged = Histogram::new();
    seconds.iter().for_each(|s| merged.merge(s));
    for p in summary.percentiles.iter().take(4) {
        let expected = merged.quantile(p.percent / 100.0).map(|v| v as f64);
        assert_eq!(p.latency_ns.value, expected);
        assert!(p.latency_ns.low.is_some(), "{p:?}");
    }
    assert_eq!(summary.mean_ns.value, merged.mean());
}

#[test]
fn clustered_slow_operations_are_worth_less() {
    let mut noise = seeded(3);
    let even: Vec<Histogram> = (0..60).map(|_| second(&mut noise, 200, 1.0)).collect();
    let bursts: Vec<Histogram> = (0..60)
        .map(|s| second(&mut noise, 200, if s % 20 < 2 { 10.0 } else { 1.0 }))
        .collect();
    let worth = |seconds: &[Histogram]| percentile(&summary_of(seconds), 95.0).n_effective.unwrap();
    assert!(worth(&even) > 8_000.0);
    assert!(worth(&bursts) < 1_000.0, "{}", worth(&bursts));
}

#[test]
fn one_second_gives_values_without_interval() {
    let only = [second(&mut seeded(4), 5000, 1.0)];
    let p99 = percentile(&summary_of(&only), 99.0).clone();
    assert!(p99.value.is_some() && p99.low.is_none() && p99.reason.is_some());
}

#[test]
fn identical_latencies_have_an_interval_of_one_value() {
    let mut seconds = vec![Histogram::new(); 12];
    for second in &mut seconds {
        (0..1000).for_each(|_| second.record(250_000));
    }
    let p99 = percentile(&summary_of(&seconds), 99.0).clone();
    assert_eq!(
        (p99.low, p99.value, p99.high),
        (Some(250_000.0), Some(250_000.0), Some(250_000.0))
    );
}

#[test]
fn trials_that_differ_widen_the_interval() {
    let mut noise = seeded(5);
    let mut width = |scales: [f64; 4]| {
        let trials: Vec<Vec<Histogram>> = scales
            .iter()
            .map(|scale| (0..20).map(|_| second(&mut noise, 500, *scale)).collect())
            .collect();
        let parts = trials
            .iter()
            .map(|t| t.iter().map(|h| vec![h]).collect())
            .collect();
        let summary = Latencies::new(parts, 80_000_000_000).summary();
        let p50 = percentile(&summary, 50.0).clone();
        p50.relative_half_width().unwrap()
    };
    let alike = width([1.0, 1.0, 1.0, 1.0]);
    let apart = width([0.8, 1.0, 1.1, 1.3]);
    assert!(apart > 3.0 * alike, "{alike} {apart}");
}

#[test]
fn nothing_recorded_is_unknown_everywhere() {
    let summary = Latencies::new(vec![vec![vec![]]], 0).summary();
    assert_eq!(summary.mean_ns.value, None);
    assert!(
        summary
            .percentiles
            .iter()
            .all(|p| p.latency_ns.value.is_none())
    );
}
