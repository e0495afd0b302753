//! What Ceph prints as JSON: `ceph status`, `ceph health detail`,
//! `ceph osd perf`, `ceph osd df`, `ceph df` (each with `-f json`), and of one
//! OSD `dump_historic_ops` and `perf dump`.

use fathom_model::cluster::{CLUSTER_SCHEMA, ClusterLook, ClusterMember, ClusterOperation};
use fathom_model::unit::latency;
use fathom_rules::cluster;
use fathom_stats::median::median;
use serde_json::Value;

use crate::recording::takes_too_much;

use super::ceph_operations::steps;
use super::outlier::high;
use super::{add, sort};

/// OSDs that are looked at.
pub(super) const OSDS_MAX: usize = 100_000;

/// A dump, recognised by what is in it.
#[derive(Debug, Clone, PartialEq)]
pub enum CephDump {
    /// `ceph status`.
    Status(Value),
    /// `ceph health detail`.
    Health(Value),
    /// `ceph osd perf`.
    OsdPerf(Value),
    /// `ceph osd df`.
    OsdDf(Value),
    /// `ceph df`.
    Df(Value),
    /// `ceph daemon osd.N dump_historic_ops` and its neighbours.
    Operations(Value),
    /// `ceph daemon osd.N perf dump`.
    Counters(Value),
}

impl CephDump {
    /// What is in it.
    pub(super) fn value(&self) -> &Value {
        match self {
            CephDump::Status(value)
            | CephDump::Health(value)
            | CephDump::OsdPerf(value)
            | CephDump::OsdDf(value)
            | CephDump::Df(value)
            | CephDump::Operations(value)
            | CephDump::Counters(value) => value,
        }
    }

    /// The command that prints it.
    pub fn source(&self) -> &'static str {
        match self {
            CephDump::Status(_) => "ceph status",
            CephDump::Health(_) => "ceph health detail",
            CephDump::OsdPerf(_) => "ceph osd perf",
            CephDump::OsdDf(_) => "ceph osd df",
            CephDump::Df(_) => "ceph df",
            CephDump::Operations(_) => "dump_historic_ops",
            CephDump::Counters(_) => "perf dump",
        }
    }
}

/// Reads a dump; `None` when the text is none of them.
pub fn parse_ceph(text: &str) -> Option<CephDump> {
    let text = text.trim_start_matches('\u{feff}').trim_start();
    if !text.starts_with('{') || takes_too_much(text) {
        return None;
    }
    let value: Value = serde_json::from_str(text).ok()?;
    let has = |pointer: &str| value.pointer(pointer).is_some();
    Some(if has("/pgmap") && has("/health") {
        CephDump::Status(value)
    } else if has("/osdstats/osd_perf_infos") || has("/osd_perf_infos") {
        CephDump::OsdPerf(value)
    } else if has("/nodes/0/utilization") {
        CephDump::OsdDf(value)
    } else if has("/ops/0/initiated_at") || has("/Ops/0/initiated_at") {
        CephDump::Operations(value)
    } else if has("/osd/op_latency") || has("/rgw/get_initial_lat") {
        CephDump::Counters(value)
    } else if has("/stats/total_bytes") && has("/pools") {
        CephDump::Df(value)
    } else if has("/checks") && has("/status") {
        CephDump::Health(value)
    } else {
        return None;
    })
}

/// Judges dumps of one cluster together.
pub fn judge_ceph(dumps: &[CephDump]) -> ClusterLook {
    let mut look = ClusterLook {
        schema: CLUSTER_SCHEMA.to_owned(),
        kind: "ceph".to_owned(),
        sources: dumps.iter().map(|dump| dump.source().to_owned()).collect(),
        ..ClusterLook::default()
    };
    for dump in dumps {
        match dump {
            CephDump::Status(value) => {
                if let Some(checks) = value.get("health") {
                    health(&mut look, checks);
                }
                own_work(&mut look, value);
            }
            CephDump::Health(value) => health(&mut look, value),
            CephDump::OsdPerf(value) => commits(&mut look, value),
            CephDump::OsdDf(value) => space(&mut look, value),
            CephDump::Operations(value) => steps(&mut look, value),
            CephDump::Counters(value) => counters(&mut look, value),
            CephDump::Df(_) => {}
        }
    }
    look.findings.dedup();
    sort(&mut look);
    look
}

fn health(look: &mut ClusterLook, value: &Value) {
    let checks = value.get("checks").and_then(Value::as_object);
    for (name, check) in checks.into_iter().flatten().take(1000) {
        let summary = check.pointer("/summary/message").and_then(Value::as_str);
        let words = format!("{name}: {}", summary.unwrap_or("no summary"));
        let rule = if name == "SLOW_OPS" {
            cluster::SLOW_OPERATIONS
        } else {
            cluster::HEALTH
        };
        if !look.findings.iter().any(|finding| finding.found == words) {
            add(look, rule, words);
        }
    }
}

/// Placement groups that do something beside serving clients, by what.
pub(super) fn busy_groups(value: &Value) -> Vec<(String, u64)> {
    let states = value
        .pointer("/pgmap/pgs_by_state")
        .and_then(Value::as_array);
    let mut found: Vec<(String, u64)> = Vec::new();
    for state in states.into_iter().flatten().take(10_000) {
        let name = state
            .get("state_name")
            .and_then(Value::as_str)
            .unwrap_or("");
        let count = state.get("count").and_then(Value::as_u64).unwrap_or(0);
        // `active+clean+scrubbing+deep`: the longest word that is work.
        for word in name.split('+') {
            let work = [
                "recovering",
                "recovery_wait",
                "backfilling",
                "backfill_wait",
                "scrubbing",
            ];
            if !work.contains(&word) || count == 0 {
                continue;
            }
            match found.iter_mut().find(|(known, _)| known == word) {
                Some((_, sum)) => *sum = sum.saturating_add(count),
                None => found.push((word.to_owned(), count)),
            }
        }
    }
    found
}

fn own_work(look: &mut ClusterLook, value: &Value) {
    let busy = busy_groups(value);
    let count: u64 = busy.iter().map(|(_, count)| count).sum();
    if count as f64 > cluster::work_of_its_own::THRESHOLD {
        let words: Vec<String> = busy.iter().map(|(word, n)| format!("{n} {word}")).collect();
        let all = value
            .pointer("/pgmap/num_pgs")
            .and_then(Value::as_u64)
            .unwrap_or(0);
        let words = format!("of {all} placement groups {}", words.join(", "));
        add(look, cluster::WORK_OF_ITS_OWN, words);
    }
}

/// Commit latency by OSD in nanoseconds; older versions have milliseconds.
pub(super) fn commit_latencies(value: &Value) -> Vec<(u64, f64)> {
    let infos = value
        .pointer("/osdstats/osd_perf_infos")
        .or_else(|| value.get("osd_perf_infos"));
    let infos = infos
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
        .take(OSDS_MAX);
    let one = |info: &Value| {
        let of = |name: &str| info.pointer(&format!("/perf_stats/{name}"))?.as_f64();
        let ns = of("commit_latency_ns").or_else(|| Some(of("commit_latency_ms")? * 1e6))?;
        Some((info.get("id")?.as_u64()?, ns))
    };
    infos.filter_map(one).collect()
}

fn commits(look: &mut ClusterLook, value: &Value) {
    let found = commit_latencies(value);
    let times: Vec<f64> = found.iter().map(|(_, ns)| *ns).collect();
    let middle = median(&times);
    let slow = high(&times, cluster::slow_member::THRESHOLD);
    for ((id, ns), slow) in found.iter().zip(slow) {
        let times_middle = middle
            .filter(|middle| *middle > 0.0)
            .map(|middle| ns / middle);
        if slow {
            let words = format!(
                "osd.{id} commits in {}, {:.1} times the middle of {} OSDs",
                latency(*ns),
                times_middle.unwrap_or(0.0),
                found.len()
            );
            add(look, cluster::SLOW_MEMBER, words);
        }
        let member = member(look, &format!("osd.{id}"));
        member.mean_ns = Some(*ns);
        member.times_middle = times_middle;
        member.slow = slow;
    }
    if let Some(middle) = middle.filter(|ns| ns / 1e9 > cluster::commit_latency::THRESHOLD) {
        let words = format!(
            "half of {} OSDs need {} or more to commit",
            found.len(),
            latency(middle)
        );
        add(look, cluster::COMMIT_LATENCY, words);
    }
    if middle == Some(0.0) {
        let words = "ceph osd perf shows 0: nothing was written in its last seconds, or less than \
                     it can show";
        look.notes.push(words.to_owned());
    }
}

fn member<'a>(look: &'a mut ClusterLook, name: &str) -> &'a mut ClusterMember {
    let place = look.members.iter().position(|member| member.name == name);
    let place = place.unwrap_or_else(|| {
        look.members.push(ClusterMember {
            name: name.to_owned(),
            ..ClusterMember::default()
        });
        look.members.len() - 1
    });
    &mut look.members[place]
}

/// Used share by OSD.
pub(super) fn used_shares(value: &Value) -> Vec<(u64, f64)> {
    let nodes = value
        .get("nodes")
        .and_then(Value::as_array)
        .into_iter()
        .flatten();
    let one = |node: &Value| {
        Some((
            node.get("id")?.as_u64()?,
            node.get("utilization")?.as_f64()? / 100.0,
        ))
    };
    nodes.take(OSDS_MAX).filter_map(one).collect()
}

fn space(look: &mut ClusterLook, value: &Value) {
    for (id, used) in used_shares(value) {
        let name = format!("osd.{id}");
        if used > cluster::osd_full::THRESHOLD {
            add(
                look,
                cluster::OSD_FULL,
                format!("{name} is {:.0} % full", 100.0 * used),
            );
        }
        member(look, &name).used = Some(used);
    }
}

/// Counters since the OSD was started.
fn counters(look: &mut ClusterLook, value: &Value) {
    let of = |pointer: &str| -> Option<(u64, f64)> {
        let found = value.pointer(pointer)?;
        Some((
            found.get("avgcount")?.as_u64()?,
            found.get("sum")?.as_f64()? * 1e9,
        ))
    };
    let kinds = [
        ("read", "op_r_latency"),
        ("write", "op_w_latency"),
        ("read-write", "op_rw_latency"),
    ];
    let found: Vec<(&str, u64, f64)> = kinds
        .iter()
        .filter_map(|(name, key)| of(&format!("/osd/{key}")).map(|(n, ns)| (*name, n, ns)))
        .filter(|(_, count, _)| *count > 0)
        .collect();
    let all: f64 = found.iter().map(|(.., ns)| ns).sum();
    for (name, calls, time_ns) in found {
        look.operations.push(ClusterOperation {
            name: name.to_owned(),
            calls,
            mean_ns: time_ns / calls as f64,
            time_share: if all > 0.0 { time_ns / all } else { 0.0 },
        });
    }
    look.operations
        .sort_by(|a, b| b.time_share.total_cmp(&a.time_share));
    if let Some(((_, waited), (count, took))) =
        of("/osd/op_before_dequeue_op_lat").zip(of("/osd/op_latency"))
    {
        let share = if took > 0.0 { waited / took } else { 0.0 };
        if share > cluster::queue_wait::THRESHOLD {
            let words = format!(
                "{:.0} % of the time of {count} operations went by before they left the queue",
                100.0 * share
            );
            add(look, cluster::QUEUE_WAIT, words);
        }
    }
    let number = |pointer: &str| {
        value
            .pointer(pointer)
            .and_then(Value::as_f64)
            .unwrap_or(0.0)
    };
    // One device for all reports everything on it as the database's.
    if number("/bluefs/slow_used_bytes") > cluster::spillover::THRESHOLD
        && number("/bluefs/db_total_bytes") > 0.0
    {
        let bytes = fathom_model::unit::bytes_exact(number("/bluefs/slow_used_bytes") as u64);
        add(
            look,
            cluster::SPILLOVER,
            format!("{bytes} of the database are on the slow device"),
        );
    }
    look.notes
        .push("counts of a perf dump are those since the OSD was started".to_owned());
}
