//! Facts that the files do not hold, and the option that would supply each.

use crate::results::{ResultDirection, SeriesKind};
use fathom_model::op::OpKind;
use fathom_model::opinion::{Aspect, Holds, MissingFact};

use super::Entry;
use super::device::flushes;
use super::precision::percentiles;
use super::said::{Counted, EngineWay};

/// A fact: what is unknown, what supplies it, when it is missing, and how much
/// of each side of the result can then hold at most.
type FactRule = (
    &'static str,
    &'static str,
    fn(&Entry<'_>) -> bool,
    &'static [(Aspect, Holds)],
);

/// The rate and what follows from it may be those of a cache.
const OF_A_CACHE: &[(Aspect, Holds)] = &[
    (Aspect::Throughput, Holds::WithinLimits),
    (Aspect::Latency, Holds::WithinLimits),
    (Aspect::Percentiles, Holds::WithinLimits),
];
const STEADINESS: &[(Aspect, Holds)] = &[(Aspect::Steadiness, Holds::Unknown)];
const LATENCY: &[(Aspect, Holds)] = &[(Aspect::Latency, Holds::Unknown)];
const PERCENTILES: &[(Aspect, Holds)] = &[(Aspect::Percentiles, Holds::Unknown)];
const DURABILITY: &[(Aspect, Holds)] = &[(Aspect::Durability, Holds::Unknown)];
const QUEUE_DEPTH: &[(Aspect, Holds)] = &[(Aspect::QueueDepth, Holds::Unknown)];

const RULES: [FactRule; 9] = [
    (
        "what was done: pattern, block size, depth, direct or buffered",
        "--output-format=json (the terse format and logs do not list options)",
        |e| !e.said.options_known && !e.job.sum_of_others,
        QUEUE_DEPTH,
    ),
    (
        "options without a value (time_based, norandommap, zero_buffers, ...): this version does \
         not list them",
        "the job file, kept beside the result",
        |e| e.said.options_known && !e.job.options.values().any(String::is_empty),
        &[],
    ),
    (
        "how the rate changed over time: intervals, cliffs, steady state",
        "write_iops_log=NAME and log_avg_msec=1000, the logs given with the result",
        |e| {
            let rates = [SeriesKind::Operations, SeriesKind::Bandwidth];
            !e.job.series.iter().any(|s| rates.contains(&s.kind)) && !e.job.sum_of_others
        },
        STEADINESS,
    ),
    (
        "latencies",
        "a run without gtod_reduce, disable_lat and disable_clat",
        |e| {
            worked(e)
                && e.job
                    .directions
                    .iter()
                    .any(|d| d.whole_latency_ns().is_none())
        },
        LATENCY,
    ),
    (
        "latency percentiles",
        "clat_percentiles=1 or lat_percentiles=1 (and --output-format=json+ for the whole \
         distribution)",
        |e| {
            let without = |d| percentiles(d).is_none();
            worked(e) && e.job.directions.iter().all(without)
        },
        PERCENTILES,
    ),
    (
        "whether the data came from or reached a device",
        "disk_util=1 on a local device; for network file systems the server's own counters",
        |e| {
            let none = e.result.devices.as_ref().is_none_or(Vec::is_empty);
            none && e.said.way != EngineWay::Nothing
        },
        OF_A_CACHE,
    ),
    (
        "bytes at the device: this version counts only requests",
        "a newer fio, whose disk_util holds sectors",
        |e| {
            let devices = e.result.devices.as_deref().unwrap_or(&[]);
            !devices.is_empty() && devices.iter().all(|d| d.read_bytes.is_none())
        },
        &[],
    ),
    (
        "whether what was written was durable",
        "end_fsync=1, or fsync=N to pay for it as the application does",
        |e| {
            let writes = e
                .job
                .directions
                .iter()
                .any(|d| d.kind == Some(OpKind::Write));
            writes && flushes(e).is_none() && e.said.way != EngineWay::Nothing
        },
        DURABILITY,
    ),
    (
        "how far fio itself was from its own limit",
        "the same job with ioengine=null",
        |e| worked(e) && e.said.way != EngineWay::Nothing && !e.job.sum_of_others,
        &[],
    ),
];

/// The same of recordings of warp.
const OF_WARP: [FactRule; 5] = [
    (
        "latencies",
        "warp … --full, which writes each request, and those that failed apart",
        |e| {
            let without = |d: &ResultDirection| d.total.is_none();
            worked(e) && e.job.directions.iter().any(without)
        },
        LATENCY,
    ),
    (
        "latency percentiles of all requests: those of parts cannot be put together",
        "warp … --full, which writes each request",
        |e| {
            let states = |d: &ResultDirection| d.total.is_some() && percentiles(d).is_none();
            worked(e) && e.job.directions.iter().any(states)
        },
        PERCENTILES,
    ),
    (
        "how the rate changed over time: intervals, cliffs, steady state",
        "a longer run; without --full its first and last two seconds are not recorded one by one",
        |e| e.job.series.is_empty(),
        STEADINESS,
    ),
    (
        "whether what was read came from a cache of the store",
        "more objects than its memory holds, each read once: warp draws them with repeats",
        |e| {
            let reads = |d: &ResultDirection| d.kind == Some(OpKind::Get);
            worked(e) && e.job.directions.iter().any(reads)
        },
        OF_A_CACHE,
    ),
    (
        "how far warp itself was from its own limit",
        "the CPU time of its host during the run; `fathom s3 MODE null:` for fathom's own",
        worked,
        &[],
    ),
];

fn worked(entry: &Entry<'_>) -> bool {
    entry.job.directions.iter().any(|d| d.ops() > 0.0)
}

/// Every fact that an entry of the document lacks, once.
pub(super) fn of(entries: &[Entry<'_>]) -> Vec<MissingFact> {
    rules(entries)
        .iter()
        .filter(|(_, _, missing, _)| entries.iter().any(missing))
        .map(|(fact, supplied_by, _, _)| MissingFact {
            fact: (*fact).to_owned(),
            supplied_by: (*supplied_by).to_owned(),
        })
        .collect()
}

/// How much of a side can hold at most, with the facts that the entry lacks.
pub(super) fn at_most(entry: &Entry<'_>, aspect: Aspect) -> Holds {
    let lacking = rules(std::slice::from_ref(entry)).iter();
    let lacking = lacking.filter(|(_, _, missing, _)| missing(entry));
    let bearing = lacking.flat_map(|(_, _, _, sides)| sides.iter());
    let worst = bearing.filter(|(side, _)| *side == aspect).map(|(_, h)| *h);
    worst.max().unwrap_or(Holds::Yes)
}

fn rules(entries: &[Entry<'_>]) -> &'static [FactRule] {
    let of_warp = |entry: &Entry<'_>| {
        let tool = entry.result.tool.as_deref();
        tool.is_some_and(|tool| tool.starts_with("warp"))
    };
    match entries.iter().any(of_warp) {
        true => &OF_WARP,
        false => &RULES,
    }
}
