//! `dump_historic_ops`, `dump_historic_slow_ops` and `dump_ops_in_flight`: the
//! steps of the slowest operations of an OSD. Times between events are taken
//! from their time stamps; the `duration` of some versions overflows.

use std::collections::BTreeMap;

use fathom_model::cluster::{ClusterLook, OperationStep};
use fathom_model::unit::latency;
use fathom_rules::cluster;
use jiff::civil::DateTime;
use serde_json::Value;

use super::add;

/// Operations and events that are looked at.
const OPERATIONS_MAX: usize = 100_000;
const EVENTS_MAX: usize = 1000;

/// `2026-11-21T12:55:06.622244+0000`; before Octopus with a space and no offset.
fn time(text: &str) -> Option<DateTime> {
    let formats = ["%Y-%m-%dT%H:%M:%S%.f%z", "%Y-%m-%d %H:%M:%S%.f"];
    formats.iter().find_map(|format| {
        jiff::fmt::strtime::parse(format, text)
            .ok()?
            .to_datetime()
            .ok()
    })
}

/// Adds where the time of operations went.
pub(super) fn steps(look: &mut ClusterLook, value: &Value) {
    let operations = value.get("ops").or_else(|| value.get("Ops"));
    let operations = operations.and_then(Value::as_array).into_iter().flatten();
    let mut sums: BTreeMap<String, (u64, f64)> = BTreeMap::new();
    let (mut count, mut longest, mut longest_words) = (0_u64, 0.0_f64, String::new());
    for operation in operations.take(OPERATIONS_MAX) {
        count += 1;
        let took = operation
            .get("duration")
            .and_then(Value::as_f64)
            .unwrap_or(0.0);
        if took > longest {
            longest = took;
            let words = operation
                .get("description")
                .and_then(Value::as_str)
                .unwrap_or("");
            longest_words = words.chars().take(80).collect();
        }
        for (name, ns) in between(operation) {
            let sum = sums.entry(name).or_default();
            sum.0 += 1;
            sum.1 += ns;
        }
    }
    let all: f64 = sums.values().map(|(_, ns)| ns).sum();
    let mut found: Vec<OperationStep> = sums
        .into_iter()
        .map(|(name, (count, time_ns))| OperationStep {
            name,
            count,
            time_ns,
            share: if all > 0.0 { time_ns / all } else { 0.0 },
        })
        .collect();
    found.sort_by(|a, b| b.time_ns.total_cmp(&a.time_ns));
    let queued = found
        .iter()
        .filter(|step| step.name.starts_with("queued_for_pg"));
    let queued: f64 = queued.map(|step| step.share).sum();
    if queued > cluster::queue_wait::THRESHOLD {
        let words = format!(
            "{:.0} % of the time of the {count} slowest operations went by in the OSD's queue",
            100.0 * queued
        );
        add(look, cluster::QUEUE_WAIT, words);
    }
    if longest > cluster::slow_operations::THRESHOLD {
        let words = format!(
            "an operation took {}: {longest_words}",
            latency(longest * 1e9)
        );
        add(look, cluster::SLOW_OPERATIONS, words);
    } else if count > 0 {
        look.notes.push(format!(
            "the slowest of {count} operations took {}: {longest_words}",
            latency(longest * 1e9)
        ));
    }
    look.steps.extend(found);
}

/// Name of each step (the events at its ends) and its nanoseconds.
fn between(operation: &Value) -> Vec<(String, f64)> {
    let events = operation
        .pointer("/type_data/events")
        .and_then(Value::as_array);
    let events: Vec<(&str, DateTime)> = events
        .into_iter()
        .flatten()
        .take(EVENTS_MAX)
        .filter_map(|event| {
            let name = event.get("event")?.as_str()?;
            Some((name, time(event.get("time")?.as_str()?)?))
        })
        .collect();
    let pairs = events.windows(2).map(|pair| {
        let ns = pair[1].1.duration_since(pair[0].1).as_secs_f64() * 1e9;
        // `waiting for subops from 3,7` and the like name OSDs; the kind counts.
        let kind = |name: &str| name.split(" from ").next().unwrap_or(name).to_owned();
        (
            format!("{} > {}", kind(pair[0].0), kind(pair[1].0)),
            ns.max(0.0),
        )
    });
    pairs.collect()
}
