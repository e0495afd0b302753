//! Words that are fio's own: zones, rates by kind, flows, latency targets, runs
//! between random draws, recorded lists.

use fathom_model::Workload;
use fathom_model::workload::{
    Allocation, Between, Distribution, Rate, RateUnit, Replay, ReplayTiming, SteadyFill, Zone,
    ZoneSize,
};

use super::amount::time;
use super::draft::Draft;

/// A rate that rounding changes by more than this is refused.
const MOST_ROUNDING: f64 = 0.01;

pub(super) fn write(workload: &Workload, draft: &mut Draft) {
    zones(workload, draft);
    rates(workload, draft);
    runs(workload, draft);
    if let Some(flow) = &workload.flow {
        draft.set("flow_id", flow.id);
        draft.set("flow", flow.weight);
        if flow.pause_ns > 0 {
            draft.set("flow_sleep", flow.pause_ns.div_ceil(1000));
        }
    }
    if let Some(target) = &workload.latency_target {
        draft.set("latency_target", time(target.latency_ns));
        draft.set("latency_window", time(target.window_ns));
        draft.set("latency_percentile", target.percentile);
        if target.goes_on {
            draft.set("latency_run", 1);
        }
        draft.differs("each tool searches for the depth in its own steps");
    }
    if workload.data_set.ends_when_full {
        draft.set("fill_device", 1);
    }
    let allocation = match workload.data_set.allocation {
        Allocation::Auto => None,
        Allocation::None => Some("none"),
        Allocation::Posix => Some("posix"),
        Allocation::KeepSize => Some("keep"),
        Allocation::Truncate => Some("truncate"),
    };
    if let Some(how) = allocation {
        draft.set("fallocate", how);
    }
}

fn zones(workload: &Workload, draft: &mut Draft) {
    let Some(walk) = &workload.zone_walk else {
        return;
    };
    draft.set("zonemode", "strided");
    draft.set("zonesize", walk.stay_bytes);
    draft.set("zonerange", walk.zone_bytes);
    draft.set("zoneskip", walk.skip_bytes);
}

/// Rates of each job and kind.
fn rates(workload: &Workload, draft: &mut Draft) {
    let by_kind = &workload.rate_by_kind;
    let all: Vec<&Rate> = by_kind.values().collect();
    let Some(first) = all.first() else {
        return;
    };
    if all.iter().any(|rate| rate.unit != first.unit) {
        let reason = "fio's rates are all in operations or all in bytes per second";
        return draft.refuse("rate_by_kind", reason);
    }
    let mut values = Vec::new();
    for rate in [by_kind.read, by_kind.write, by_kind.trim] {
        let Some(rate) = rate else {
            values.push(String::new());
            continue;
        };
        let each = rate.per_second / f64::from(workload.workers.max(1));
        let whole = each.round();
        if whole < 1.0 || (whole - each).abs() > each * MOST_ROUNDING {
            let reason = format!("each of fio's jobs has a whole rate, not {each} per second");
            return draft.refuse("rate_by_kind", reason);
        }
        values.push(format!("{whole:.0}"));
    }
    while values.last().is_some_and(String::is_empty) {
        values.pop();
    }
    let name = match first.unit {
        RateUnit::Ops => "rate_iops",
        RateUnit::Bytes => "rate",
    };
    draft.set(name, values.join(","));
    if first.arrival == fathom_model::workload::Arrival::Poisson {
        draft.set("rate_process", "poisson");
    }
    draft.differs(
        "fio's latency counts from submission: compare with fathom's service latency, not with \
         the response latency",
    );
}

/// What lies between random draws; the number itself follows `rw`.
fn runs(workload: &Workload, draft: &mut Draft) {
    let sequencer = &workload.sequencer;
    if !workload.pattern.is_random() {
        return;
    }
    if sequencer.each_kind {
        draft.refuse(
            "stream_per_kind",
            "fio's reads and writes share one sequence of random offsets",
        );
    }
    if sequencer.between == Between::Again && sequencer.draw_every_ops > 1 {
        draft.set("rw_sequencer", "identical");
    }
    let shares = &sequencer.random_percent;
    if !shares.is_empty() {
        let of = |share: Option<u8>| share.unwrap_or(100).to_string();
        let all = [of(shares.read), of(shares.write), of(shares.trim)];
        draft.set("percentage_random", all.join(","));
    }
}

/// Zones of a spread side by side.
pub(super) fn zoned(zones: &[Zone], draft: &mut Draft) {
    let whole = |percent: f64| (percent.fract() == 0.0).then_some(percent);
    let percents: Option<Vec<String>> = zones
        .iter()
        .map(|zone| match zone.size {
            ZoneSize::Percent(size) => {
                Some(format!("{}/{}", whole(zone.access_percent)?, whole(size)?))
            }
            ZoneSize::Bytes(_) => None,
        })
        .collect();
    let bytes: Option<Vec<String>> = zones
        .iter()
        .map(|zone| match zone.size {
            ZoneSize::Bytes(size) => Some(format!("{}/{size}", whole(zone.access_percent)?)),
            ZoneSize::Percent(_) => None,
        })
        .collect();
    let text = match (percents, bytes) {
        (Some(parts), _) => format!("zoned:{}", parts.join(":")),
        (None, Some(parts)) => format!("zoned_abs:{}", parts.join(":")),
        (None, None) => {
            let reason = "fio's zones are in whole percent, all with sizes in percent or in bytes";
            return draft.refuse("distribution", reason);
        }
    };
    draft.set("norandommap", 1);
    draft.set("random_distribution", text);
}

/// A given order of blocks, which only newer versions of fio have.
pub(super) fn sequence(distribution: &Distribution, draft: &mut Draft) {
    if let Distribution::Sequence { blocks, advances } = distribution {
        let list: Vec<String> = blocks.iter().map(u64::to_string).collect();
        draft.set(
            "random_distribution",
            format!("sequence:{}", list.join(",")),
        );
        draft.set("random_sequence_stride", u8::from(*advances));
        draft.differs("only versions of fio from 3.42 on know given orders of blocks");
    }
}

/// One filling to the steady state, which only newer versions of fio have.
pub(super) fn steady_fill(fill: &SteadyFill, draft: &mut Draft) {
    draft.set("norandommap", 1);
    draft.set("random_generator", "lfsr");
    draft.set("sprandom", 1);
    draft.set("spr_op", fill.over_provisioning_percent / 100.0);
    draft.set("spr_num_regions", fill.regions);
    if fill.later {
        draft.set("spr_cs", 1);
    }
    draft.differs("only the newest versions of fio know fillings to the steady state");
}

/// The operations of a recorded list, all of them on `target`.
pub(super) fn replay(replay: &Replay, target: Option<&str>, draft: &mut Draft) {
    let Some(path) = replay
        .path
        .to_str()
        .filter(|p| !p.contains([':', ';', '#', '$']))
    else {
        return draft.refuse("replay", "a job file cannot hold the name of this list");
    };
    draft.set("read_iolog", path);
    match replay.timing {
        ReplayTiming::AsFastAsPossible => draft.set("replay_no_stall", 1),
        ReplayTiming::Recorded {
            speed_percent: 100.0,
        } => {}
        ReplayTiming::Recorded { speed_percent } if speed_percent.fract() == 0.0 => {
            draft.set("replay_time_scale", speed_percent);
        }
        ReplayTiming::Recorded { .. } => {
            draft.refuse(
                "replay_speed",
                "fio's replay_time_scale is in whole percent",
            );
        }
    }
    if replay.shrink > 1 {
        draft.set("replay_scale", replay.shrink);
    }
    if replay.align_bytes > 1 {
        draft.set("replay_align", replay.align_bytes);
    }
    let skipped = [
        (replay.skip_reads, "read"),
        (replay.skip_writes, "write"),
        (replay.skip_trims, "trim"),
        (replay.skip_syncs, "sync"),
    ];
    let skipped = skipped.iter().filter(|(skips, _)| *skips);
    let skipped: Vec<&str> = skipped.map(|(_, name)| *name).collect();
    if !skipped.is_empty() {
        draft.set("replay_skip", skipped.join(","));
    }
    if let Some(target) = target {
        draft.set("replay_redirect", target);
    }
}
