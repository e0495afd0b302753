//! A volume profile of Gluster, judged.

use std::collections::BTreeMap;

use fathom_model::cluster::{
    BrickLoad, CLUSTER_SCHEMA, ClusterLook, ClusterMember, ClusterOperation, SizeCount,
};
use fathom_model::unit::latency;
use fathom_rules::cluster;
use fathom_rules::cluster::slow_member::CALLS_LEAST;
use fathom_rules::cluster::small_writes::SMALL_BYTES;
use fathom_stats::median::median;

use super::outlier::high;
use super::{add, sort};

/// Judges what the bricks of a volume did.
pub fn judge_bricks(sources: Vec<String>, bricks: &[BrickLoad]) -> ClusterLook {
    let mut look = ClusterLook {
        schema: CLUSTER_SCHEMA.to_owned(),
        kind: "gluster".to_owned(),
        sources,
        operations: operations(bricks),
        writes: writes(bricks),
        members: members(bricks),
        ..ClusterLook::default()
    };
    let calls: u64 = look
        .operations
        .iter()
        .map(|operation| operation.calls)
        .sum();
    let lookups = look
        .operations
        .iter()
        .find(|operation| operation.name == "LOOKUP");
    let lookups = lookups.map_or(0, |operation| operation.calls);
    let share = lookups as f64 / calls.max(1) as f64;
    if share > cluster::lookup_share::THRESHOLD {
        let words = format!(
            "{lookups} of {calls} operations ({:.0} %) are lookups",
            100.0 * share
        );
        add(&mut look, cluster::LOOKUP_SHARE, words);
    }
    let all: u64 = look.writes.iter().map(|size| size.count).sum();
    let small = look
        .writes
        .iter()
        .filter(|size| size.from_bytes < SMALL_BYTES);
    let small: u64 = small.map(|size| size.count).sum();
    let share = small as f64 / all.max(1) as f64;
    if share > cluster::small_writes::THRESHOLD {
        let words = format!(
            "{small} of {all} writes ({:.0} %) are smaller than 4 KiB",
            100.0 * share
        );
        add(&mut look, cluster::SMALL_WRITES, words);
    }
    for member in look.members.clone().iter().filter(|member| member.slow) {
        let words = format!(
            "{} takes {:.1} times as long as the middle brick for the same operations (mean {})",
            member.name,
            member.times_middle.unwrap_or(0.0),
            latency(member.mean_ns.unwrap_or(0.0))
        );
        add(&mut look, cluster::SLOW_MEMBER, words);
    }
    if calls == 0 {
        look.notes
            .push("no operation was counted; is the profile of a volume in use?".to_owned());
    }
    sort(&mut look);
    look
}

fn operations(bricks: &[BrickLoad]) -> Vec<ClusterOperation> {
    let mut sums: BTreeMap<&str, (u64, f64)> = BTreeMap::new();
    for one in bricks.iter().flat_map(|brick| &brick.calls) {
        let sum = sums.entry(&one.name).or_default();
        sum.0 = sum.0.saturating_add(one.calls);
        sum.1 += one.time_ns;
    }
    let all: f64 = sums.values().map(|(_, time)| time).sum();
    let mut found: Vec<ClusterOperation> = sums
        .into_iter()
        .map(|(name, (calls, time_ns))| ClusterOperation {
            name: name.to_owned(),
            calls,
            mean_ns: time_ns / calls.max(1) as f64,
            time_share: if all > 0.0 { time_ns / all } else { 0.0 },
        })
        .collect();
    found.sort_by(|a, b| {
        b.time_share
            .total_cmp(&a.time_share)
            .then(b.calls.cmp(&a.calls))
    });
    found
}

fn writes(bricks: &[BrickLoad]) -> Vec<SizeCount> {
    let mut sums: BTreeMap<u64, u64> = BTreeMap::new();
    for size in bricks.iter().flat_map(|brick| &brick.writes) {
        let sum = sums.entry(size.from_bytes).or_default();
        *sum = sum.saturating_add(size.count);
    }
    let some = sums.into_iter().filter(|(_, count)| *count > 0);
    some.map(|(from_bytes, count)| SizeCount { from_bytes, count })
        .collect()
}

fn members(bricks: &[BrickLoad]) -> Vec<ClusterMember> {
    // The middle time of each operation over the bricks that did it often.
    let mut times: BTreeMap<&str, Vec<f64>> = BTreeMap::new();
    let mean = |calls: u64, time_ns: f64| time_ns / calls as f64;
    for one in bricks.iter().flat_map(|brick| &brick.calls) {
        if one.calls >= CALLS_LEAST && one.time_ns > 0.0 {
            times
                .entry(&one.name)
                .or_default()
                .push(mean(one.calls, one.time_ns));
        }
    }
    let middle: BTreeMap<&str, f64> = times
        .iter()
        .filter(|(_, each)| each.len() > 1)
        .filter_map(|(name, each)| Some((*name, median(each)?)))
        .collect();
    let ratio = |brick: &BrickLoad| {
        let shared = brick.calls.iter().filter(|one| one.calls >= CALLS_LEAST);
        let (mut took, mut would) = (0.0, 0.0);
        for one in shared {
            if let Some(middle) = middle.get(one.name.as_str()).filter(|_| one.time_ns > 0.0) {
                took += one.time_ns;
                would += middle * one.calls as f64;
            }
        }
        (would > 0.0).then(|| took / would)
    };
    let ratios: Vec<Option<f64>> = bricks.iter().map(ratio).collect();
    let known: Vec<f64> = ratios.iter().copied().flatten().collect();
    let mut slow = high(&known, cluster::slow_member::THRESHOLD).into_iter();
    bricks
        .iter()
        .zip(ratios)
        .map(|(brick, times_middle)| {
            let calls: u64 = brick.calls.iter().map(|one| one.calls).sum();
            let timed = brick.calls.iter().filter(|one| one.time_ns > 0.0);
            let count: u64 = timed.clone().map(|one| one.calls).sum();
            let time: f64 = timed.map(|one| one.time_ns).sum();
            ClusterMember {
                name: brick.name.clone(),
                calls: Some(calls),
                mean_ns: (count > 0).then(|| time / count as f64),
                slow: times_middle.is_some() && slow.next().unwrap_or(false),
                times_middle,
                used: None,
            }
        })
        .collect()
}
