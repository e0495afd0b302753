//! Numbers by name from dumps of Ceph, for the alarms.

use fathom_model::machine::HostReading;
use fathom_rules::method::stretches::SINCE_START_SECONDS;
use fathom_stats::quantile::nearest_rank;
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
            let latencies = commit_latencies(value);
            for (id, ns) in &latencies {
                add("member_wait", &format!("osd.{id}"), ns / 1e9);
            }
            let times: Vec<f64> = latencies.iter().map(|(_, ns)| ns / 1e9).collect();
            if let Some(p95) = nearest_rank(&times, 0.95) {
                add("commit_latency", "", p95);
            }
        }
        CephDump::OsdDf(value) => {
            for (id, used) in used_shares(value) {
                add("space_used", &format!("osd.{id}"), used);
            }
        }
        CephDump::Df(value) => {
            let used = value.pointer("/stats/total_used_raw_ratio");
            if let Some(used) = used.and_then(Value::as_f64) {
                add("space_used", "the cluster", used);
            }
            if let Some(objects) = objects(value) {
                add("cluster_chunks", "", objects);
            }
        }
        CephDump::Counters(value) => counters(value, &mut readings),
        CephDump::Operations(_) => {}
    }
    readings
}

/// Objects of all pools.
fn objects(df: &Value) -> Option<f64> {
    let pools = df.get("pools")?.as_array()?.iter();
    pools
        .filter_map(|pool| pool.pointer("/stats/objects")?.as_f64())
        .reduce(|sum, objects| sum + objects)
}

/// Means since the service was started.
fn counters(value: &Value, readings: &mut Vec<HostReading>) {
    for (quantity, instance, pointer) in [
        ("member_wait", "OSD", "/osd/op_latency"),
        ("gateway_latency", "GET", "/rgw/get_initial_lat"),
        ("gateway_latency", "PUT", "/rgw/put_initial_lat"),
    ] {
        let of = |name: &str| value.pointer(&format!("{pointer}/{name}"))?.as_f64();
        let counted = of("sum").zip(of("avgcount"));
        if let Some((sum, count)) = counted.filter(|(_, count)| *count > 0.0) {
            readings.push(HostReading {
                quantity: quantity.to_owned(),
                instance: instance.to_owned(),
                value: sum / count,
                at_seconds: 0.0,
                seconds: SINCE_START_SECONDS,
                operations: count,
            });
        }
    }
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
