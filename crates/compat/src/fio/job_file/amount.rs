//! When a trial begins to count and when it ends.

use fathom_model::settled::{Figure, Settled};
use fathom_model::workload::{BlockSizes, Until};
use fathom_model::{ScheduledTrial, Workload};

use super::draft::Draft;

pub(super) fn write(workload: &Workload, draft: &mut Draft) {
    let bounds = workload.bounds;
    if workload.warmup_ns > 0 {
        draft.set("ramp_time", time(workload.warmup_ns));
    }
    if let Some(ns) = bounds.time_ns {
        draft.set("runtime", time(ns));
    }
    let each = |whole: u64| whole.div_ceil(u64::from(workload.workers.max(1)));
    match (bounds.bytes, bounds.ops) {
        (None, None) if workload.replay().is_some() => laps(workload, draft),
        (None, None) if workload.each_worker.is_bounded() => each_worker(workload, draft),
        // A bound of work would have no effect.
        (None, None) => draft.set("time_based", 1),
        _ if workload.each_worker.is_bounded() => draft.refuse(
            "per_worker",
            "fio has bounds of each job, not bounds of all of them together beside those",
        ),
        (bytes, ops) => {
            let moved = ops.map(|ops| each(ops).saturating_mul(workload.block.max_bytes()));
            let bytes = bytes.map(each);
            let least = bytes.into_iter().chain(moved).min().unwrap_or(0);
            draft.set("io_size", least);
            if let Some(ops) = ops
                && !matches!(workload.block, BlockSizes::Fixed(_))
            {
                draft.set("number_ios", each(ops));
            }
            if workload.workers > 1 {
                draft.differs(
                    "each of fio's jobs does an equal share of the work; fathom's workers draw on \
                     it together",
                );
            }
            if workload.warmup_ns > 0 {
                draft.differs("fio counts the warm-up in the work to be done");
            }
        }
    }
    match workload.until {
        None => {}
        Some(Until::Steady) => {
            draft.differs("fio goes on to its bounds; fathom ends once the result is steady");
        }
        Some(Until::Settled(rule)) => settled(&rule, draft),
        Some(Until::Precision { .. }) => {
            draft.differs("fio goes on to its bounds; fathom ends once the result is precise");
        }
    }
}

/// Bounds of each worker are those of fio's jobs.
fn each_worker(workload: &Workload, draft: &mut Draft) {
    let bounds = workload.each_worker;
    if let Some(bytes) = bounds.bytes {
        draft.set("io_size", bytes);
    }
    if let Some(ops) = bounds.ops {
        draft.set("number_ios", ops);
    }
    laps(workload, draft);
    if bounds.passes.is_none() && bounds.bytes.is_none() {
        draft.differs("a job of fio ends after one pass at the latest, also before its operations");
    }
    if workload.warmup_ns > 0 {
        draft.differs("fio counts the warm-up in the work to be done");
    }
}

fn laps(workload: &Workload, draft: &mut Draft) {
    if let Some(passes) = workload.each_worker.passes.filter(|passes| *passes > 1) {
        draft.set("loops", passes);
    }
}

/// fio's own rule for a figure that has settled.
fn settled(rule: &Settled, draft: &mut Draft) {
    let figure = match rule.figure {
        Figure::Iops => "iops",
        Figure::Throughput => "bw",
        Figure::Latency => {
            return draft.refuse("until", "only newer versions of fio look at latency");
        }
    };
    let slope = if rule.slope { "_slope" } else { "" };
    let unit = if rule.percent { "%" } else { "" };
    draft.set(
        "steadystate",
        format!("{figure}{slope}:{}{unit}", rule.limit),
    );
    draft.set("steadystate_duration", time(rule.window_ns));
    if rule.ramp_ns > 0 {
        draft.set("steadystate_ramp_time", time(rule.ramp_ns));
    }
}

/// What a trial of a set does to the others; whom it follows is known to who
/// writes the whole set.
pub(super) fn release(trial: &ScheduledTrial, draft: &mut Draft) {
    if trial.start_delay_ns > 0 {
        draft.set("startdelay", time(trial.start_delay_ns));
    }
    if trial.ends_others {
        draft.set("exitall", 1);
    }
}

/// A time in the largest unit in which it is whole; at least a microsecond.
pub(super) fn time(ns: u64) -> String {
    let us = ns.div_ceil(1000).max(1);
    match us {
        us if us.is_multiple_of(1_000_000) => format!("{}s", us / 1_000_000),
        us if us.is_multiple_of(1000) => format!("{}ms", us / 1000),
        us => format!("{us}us"),
    }
}
