use std::collections::BTreeMap;

use fathom_model::sample::OpSample;
use fathom_model::{ErrorClass, OpKind, Phase};
use serde_json::Value as Json;

use super::*;

/// Series by their whole name, from the text that Prometheus reads.
fn scraped(text: &str) -> BTreeMap<String, f64> {
    let mut series = BTreeMap::new();
    let mut family = String::new();
    for line in text.lines() {
        if let Some(rest) = line.strip_prefix("# TYPE ") {
            family = rest.split(' ').next().unwrap().to_owned();
            continue;
        }
        if line.starts_with('#') {
            continue;
        }
        let (name, value) = line.rsplit_once(' ').unwrap();
        assert!(
            name.starts_with(&family),
            "{name} after the type of {family}"
        );
        let before = series.insert(name.to_owned(), value.parse().unwrap());
        assert_eq!(before, None, "{name} comes once");
    }
    series
}

fn spec(index: u32, label: &str) -> ScheduledTrial {
    let plan = fathom_model::Workload::example("w");
    ScheduledTrial {
        index,
        seed: 1,
        ..ScheduledTrial::new(label, fathom_model::Target::Null, plan)
    }
}

fn second(index: u32, latencies_ns: &[u64]) -> Sample {
    let mut op = OpSample::new(OpKind::Read, false);
    for ns in latencies_ns {
        op.ops += 1;
        op.bytes += 4096;
        op.service.record(*ns);
    }
    op.errors.add(ErrorClass::Io);
    let mut sample = Sample::new(Phase::Measure, index, 0);
    sample.duration_ns = 1_000_000_000;
    sample.workers = 3;
    sample.in_flight_ns = 1_500_000_000;
    sample.ops.push(op);
    sample
}

fn some_run() -> Metrics {
    let mut metrics = Metrics::of_run("r1", "p \"q\"", "0.1", 2);
    metrics.begin(&spec(0, "a\\b\nc"), "h");
    metrics.interval(0, &[second(0, &[500, 1500, 3000])], &[]);
    metrics.interval(0, &[second(1, &[900_000_000_000])], &[]);
    metrics
}

#[test]
fn counters_are_the_sums_of_all_intervals() {
    let mut metrics = some_run();
    let text = metrics.to_prometheus();
    let series = scraped(&text);
    let of = |part: &str| {
        let found: Vec<f64> = series
            .iter()
            .filter(|(name, _)| name.contains(part))
            .map(|(_, value)| *value)
            .collect();
        assert_eq!(found.len(), 1, "{part}: {found:?}\n{text}");
        found[0]
    };
    assert_eq!(of("fathom_operations_total{"), 4.0);
    assert_eq!(of("fathom_bytes_total{"), 16384.0);
    assert_eq!(of("fathom_errors_total{"), 2.0);
    assert_eq!(of("fathom_load_seconds_total{"), 2.0);
    assert_eq!(of("fathom_operations_in_flight{"), 1.5);
    assert_eq!(of("fathom_service_latency_seconds_count{"), 4.0);
    assert!((of("fathom_service_latency_seconds_sum{") - 900.000005).abs() < 1e-6);
    assert_eq!(
        of(
            "latency_seconds_bucket{engine=\"uring\",host=\"h\",operation=\"read\",\
        phase=\"measure\",target=\"null:\",workload=\"a\\\\b\\nc\",le=\"0.000001024\"}"
        ),
        1.0
    );
    assert_eq!(of("le=\"0.000002048\"}"), 2.0);
    assert_eq!(of("le=\"0.000004096\"}"), 3.0);
    assert_eq!(of("le=\"68.719476736\"}"), 3.0);
    assert_eq!(of("fathom_run_info{plan=\"p \\\"q\\\"\""), 1.0);
    assert_eq!(of("fathom_trial_active{"), 1.0);
    metrics.end(0, RunState::Complete);
    let series = scraped(&metrics.to_prometheus());
    let active = series
        .iter()
        .find(|(name, _)| name.starts_with("fathom_trial_active"));
    assert_eq!(active.map(|(_, value)| *value), Some(0.0));
    assert_eq!(series["fathom_trials_total{state=\"complete\"}"], 1.0);
}

#[test]
fn buckets_never_fall_and_end_with_all() {
    let series = scraped(&some_run().to_prometheus());
    let mut buckets: Vec<(f64, f64)> = series
        .iter()
        .filter(|(name, _)| name.starts_with("fathom_service_latency_seconds_bucket"))
        .map(|(name, value)| {
            let bound = name.split("le=\"").nth(1).unwrap().trim_end_matches("\"}");
            (bound.parse().unwrap(), *value)
        })
        .collect();
    buckets.sort_by(|a, b| a.0.total_cmp(&b.0));
    assert_eq!(buckets.len(), BOUNDS + 1);
    assert!(buckets.windows(2).all(|pair| pair[0].1 <= pair[1].1));
    assert_eq!(buckets.last(), Some(&(f64::INFINITY, 4.0)));
}

#[test]
fn the_collector_gets_the_same_figures() {
    let document: Json = serde_json::from_str(&some_run().to_otlp(5, 7)).unwrap();
    let metrics = &document["resourceMetrics"][0]["scopeMetrics"][0]["metrics"];
    let of = |name: &str| {
        let mut all = metrics.as_array().unwrap().iter();
        all.find(|metric| metric["name"] == name).unwrap().clone()
    };
    let operations = of("fathom_operations_total");
    assert_eq!(operations["sum"]["dataPoints"][0]["asDouble"], 4.0);
    assert_eq!(operations["sum"]["isMonotonic"], true);
    assert_eq!(operations["sum"]["dataPoints"][0]["timeUnixNano"], "7");
    let latency = of("fathom_service_latency_seconds");
    let point = &latency["histogram"]["dataPoints"][0];
    assert_eq!(point["count"], "4");
    let bounds = point["explicitBounds"].as_array().unwrap().len();
    assert_eq!(point["bucketCounts"].as_array().unwrap().len(), bounds + 1);
}

#[test]
fn the_number_of_series_is_limited() {
    let mut metrics = Metrics::of_run("r", "p", "0", 1);
    for index in 0..MOST_SERIES as u32 + 10 {
        metrics.begin(&spec(index, &format!("w{index}")), "h");
    }
    assert_eq!(metrics.series.len(), MOST_SERIES);
    let series = scraped(&metrics.to_prometheus());
    assert!(series["fathom_metrics_series_dropped_total"] >= 10.0);
}

#[test]
fn the_page_lists_every_metric() {
    let page = include_str!("../../../docs/guide/metrics.md");
    for family in FAMILIES {
        let kind = format!("{:?}", family.kind).to_lowercase();
        let row = format!(
            "| `{}` | {kind} | {} | {} |",
            family.name, family.labels, family.help
        );
        assert!(page.contains(&row), "docs/guide/metrics.md lacks\n{row}");
    }
}
