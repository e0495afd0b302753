//! Numbers by name from dumps of Ceph, for the alarms.

use fathom_model::machine::HostReading;
use serde_json::Value;

use super::CephDump;
use super::ceph::{busy_groups, commit_latencies, used_shares};

/// What a dump tells that alarms ask for.
pub fn ceph_readings(dump: &CephDump) -> Vec<HostReading> {
    let mut readings = Vec::new();
    let mut add = |quantity: &str, instance: &str, value: f64| {
        readings.push(HostReading {
            quantity: quantity.to_owned(),
            instance: instance.to_owned(),
            value,
            ..HostReading::default()
        });
    };
    match dump {
        CephDump::Status(value) => {
            let busy: u64 = busy_groups(value).iter().map(|(_, count)| count).sum();
            add("recovery", "", busy as f64);
            let slow = value.pointer("/health/checks").and_then(slow_operations);
            add("slow_operations", "", slow.unwrap_or(0.0));
            if let Some(objects) = value.pointer("/pgmap/num_objects").and_then(Value::as_f64) {
                add("cluster_chunks", "", objects);
            }
        }
        CephDump::Health(value) => {
            let slow = value.get("checks").and_then(slow_operations);
            add("slow_operations", "", slow.unwrap_or(0.0));
        }
        CephDump::OsdPerf(value) => {
            let mut times: Vec<f64> = commit_latencies(value)
                .iter()
                .map(|(_, ns)| ns / 1e9)
                .collect();
            times.sort_by(f64::total_cmp);
            // Nearest rank: the smallest value that 95 % are at or below.
            let rank = (times.len() as f64 * 0.95).ceil() as usize;
            if let Some(p95) = times.get(rank.saturating_sub(1)) {
                add("commit_latency", "", *p95);
            }
        }
        CephDump::OsdDf(value) => {
            for (id, used) in used_shares(value) {
                add("space_used", &format!("osd.{id}"), used);
            }
        }
        CephDump::Df(_) | CephDump::Operations(_) | CephDump::Counters(_) => {}
    }
    readings
}

/// `12 slow ops, oldest one blocked for 34 sec, …`.
fn slow_operations(checks: &Value) -> Option<f64> {
    let message = checks.pointer("/SLOW_OPS/summary/message")?.as_str()?;
    let count = message
        .split_whitespace()
        .next()
        .and_then(|n| n.parse().ok());
    Some(count.unwrap_or(1.0))
}
