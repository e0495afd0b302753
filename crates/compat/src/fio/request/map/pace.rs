//! Depth, rates, pauses, limits, and where workers run.

use fathom_model::workload::{Arrival, ByKind, EngineKind, Flow, Rate, RateUnit, Workload};

use super::asked::Asked;
use super::engine::Chosen;
use super::steady;
use crate::fio::request::surroundings::FioSurroundings;
use crate::fio::request::value::lists;
use fathom_model::limits::MAX_DEPTH;

/// Fills in depth, rates, pauses, limits and CPUs. `clones` run in one trial.
pub(super) fn fill(
    asked: &mut Asked<'_>,
    workload: &mut Workload,
    engine: &Chosen,
    clones: u32,
    surroundings: &dyn FioSurroundings,
) {
    depth(asked, workload, engine);
    flushes(asked, workload);
    rate(asked, workload, clones);
    pauses(asked, workload);
    limits(asked, workload, clones);
    cpus(asked, workload, surroundings);
    steady::fill(asked, workload);
    steady::latency(asked, workload);
    flow(asked, workload);
}

fn flow(asked: &mut Asked<'_>, workload: &mut Workload) {
    let Some(weight) = asked.count("flow").filter(|weight| *weight > 0) else {
        return;
    };
    workload.flow = Some(Flow {
        id: u32::try_from(asked.count("flow_id").unwrap_or(0)).unwrap_or(u32::MAX),
        weight: u32::try_from(weight).unwrap_or(u32::MAX),
        pause_ns: asked.micro_ns("flow_sleep").unwrap_or(0),
    });
}

fn depth(asked: &mut Asked<'_>, workload: &mut Workload, engine: &Chosen) {
    let depth = asked.count("iodepth").unwrap_or(1).max(1);
    if depth > MAX_DEPTH {
        asked.problem(
            "iodepth",
            format!("the depth is {depth}; the limit is {MAX_DEPTH}"),
        );
    }
    workload.queue_depth = u32::try_from(depth.min(MAX_DEPTH)).unwrap_or(1);
    if engine.synchronous && depth > 1 {
        workload.queue_depth = 1;
        asked.mapped("iodepth", "1: this engine does one operation at a time");
    }
    let batch = asked.count("iodepth_batch").filter(|batch| *batch > 1);
    workload.batch = u32::try_from(batch.unwrap_or(0).min(depth)).unwrap_or(0);
    let polls = asked.flag("hipri", false);
    workload.poll = polls && engine.kind == EngineKind::Uring;
    if polls && !workload.poll {
        asked.ignored("hipri", "only io_uring polls here");
    }
}

/// Where several operations are in flight, a flush does not wait for them. With
/// one there is nothing to wait for, and commits are timed.
fn flushes(asked: &mut Asked<'_>, workload: &mut Workload) {
    workload.sync.undrained = workload.sync.every_writes > 0 && workload.queue_depth > 1;
    if workload.sync.undrained {
        for name in ["fsync", "fdatasync"] {
            asked.mapped(
                name,
                "as in fio, a flush does not wait for the writes in flight and covers only those that have ended",
            );
        }
    }
}

/// Each kind of a job may have a rate of its own.
fn rate(asked: &mut Asked<'_>, workload: &mut Workload, clones: u32) {
    let mix = workload.mix;
    let shares = [mix.read_percent, mix.write_percent, mix.trim_percent];
    let (name, unit, values): (&'static str, RateUnit, lists::Three<f64>) =
        if let Some(values) = asked.three_integers("rate_iops") {
            (
                "rate_iops",
                RateUnit::Ops,
                values.map(|v| v.map(|n| n as f64)),
            )
        } else if let Some(values) = asked.three_bytes("rate") {
            ("rate", RateUnit::Bytes, values.map(|v| v.map(|n| n as f64)))
        } else {
            return;
        };
    let arrival = match asked.word("rate_process", "linear") {
        "poisson" => Arrival::Poisson,
        _ => Arrival::Constant,
    };
    let of = |per_second: f64| Rate {
        per_second: per_second * f64::from(clones),
        unit,
        arrival,
    };
    let used: Vec<(usize, Option<f64>)> = (0..3)
        .filter(|kind| shares[*kind] > 0)
        .map(|kind| (kind, values[kind].filter(|rate| *rate > 0.0)))
        .collect();
    if used.iter().all(|(_, rate)| rate.is_none()) {
        return;
    }
    if used.len() > 1 && !workload.trim_first && used.iter().all(|(_, rate)| rate.is_some()) {
        let each = |kind: usize| used.iter().find(|(k, _)| *k == kind)?.1.map(of);
        workload.rate_by_kind = ByKind {
            read: each(0),
            write: each(1),
            trim: each(2),
        };
        return;
    }
    // The kind that is bounded most tightly sets the pace of the mix.
    let totals = used
        .iter()
        .filter_map(|(kind, rate)| Some((*rate)? * 100.0 / f64::from(shares[*kind])));
    let total = totals.fold(f64::INFINITY, f64::min);
    if used.len() > 1 {
        asked.mapped(
            name,
            "kinds without a rate of their own keep their share of the mix",
        );
    }
    workload.rate = Some(of(total));
}

fn pauses(asked: &mut Asked<'_>, workload: &mut Workload) {
    let think_ns = asked.micro_ns("thinktime").unwrap_or(0);
    if think_ns == 0 {
        return;
    }
    if workload.rate.is_some() || !workload.rate_by_kind.is_empty() {
        asked.ignored(
            "thinktime",
            "operations of a rate have their intended starts",
        );
        return;
    }
    workload.think_ns = think_ns;
    let blocks = asked.count("thinktime_blocks").unwrap_or(1).max(1);
    workload.think_every_ops = u32::try_from(blocks).unwrap_or(u32::MAX);
    workload.think_spin_ns = asked.micro_ns("thinktime_spin").unwrap_or(0).min(think_ns);
}

fn limits(asked: &mut Asked<'_>, workload: &mut Workload, clones: u32) {
    let smallest = |values: lists::Three<f64>| {
        let given = values.into_iter().flatten().filter(|value| *value > 0.0);
        let total: f64 = given.fold(f64::INFINITY, f64::min);
        total.is_finite().then_some(total * f64::from(clones))
    };
    let bytes = asked.three_bytes("rate_min");
    let ops = asked.three_integers("rate_iops_min");
    workload.fail_if.bytes_per_second_below =
        bytes.and_then(|values| smallest(values.map(|v| v.map(|n| n as f64))));
    workload.fail_if.ops_per_second_below =
        ops.and_then(|values| smallest(values.map(|v| v.map(|n| n as f64))));
    workload.fail_if.latency_above_ns = asked.text("max_latency").and_then(|text| {
        let read = |t: &str| crate::fio::request::value::number::time_ns(t, 1000);
        let values = lists::three(text, read).ok()?;
        values.into_iter().flatten().filter(|ns| *ns > 0).min()
    });
}

fn cpus(asked: &mut Asked<'_>, workload: &mut Workload, surroundings: &dyn FioSurroundings) {
    if let Some(text) = asked.text("cpus_allowed") {
        workload.cpus = lists::cpus(text).unwrap_or_default();
    } else if let Some(mask) = asked.count("cpumask") {
        workload.cpus = (0..64).filter(|cpu| mask >> cpu & 1 == 1).collect();
    } else if let Some(text) = asked.text("numa_cpu_nodes") {
        let nodes = match text.trim() {
            "all" => Vec::new(),
            text => lists::cpus(text).unwrap_or_default(),
        };
        let cpus = nodes
            .into_iter()
            .flat_map(|node| surroundings.cpus_of_node(node));
        workload.cpus = cpus.collect();
    }
    let known = surroundings.cpus();
    let missing = workload.cpus.iter().any(|cpu| u64::from(*cpu) >= known);
    if missing {
        workload.cpus.retain(|cpu| u64::from(*cpu) < known);
        for name in ["cpus_allowed", "cpumask"] {
            let left = workload.cpus.len();
            asked.mapped(
                name,
                format!("this machine has {known} CPUs; {left} of them are used"),
            );
        }
    }
}
