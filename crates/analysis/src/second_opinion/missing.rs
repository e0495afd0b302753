//! Facts that the files do not hold, and the option that would supply each.

use fathom_model::foreign::{ForeignDirection, SeriesKind};
use fathom_model::op::OpKind;
use fathom_model::opinion::MissingFact;

use super::Entry;
use super::precision::percentiles;
use super::said::{Counted, EngineWay};

/// A fact: what is unknown, what supplies it, and when it is missing.
type Rule = (&'static str, &'static str, fn(&Entry<'_>) -> bool);

const RULES: [Rule; 9] = [
    (
        "what was done: pattern, block size, depth, direct or buffered",
        "--output-format=json (the terse format and logs do not list options)",
        |e| !e.said.options_known && !e.job.sum_of_others,
    ),
    (
        "options without a value (time_based, norandommap, zero_buffers, ...): this version does \
         not list them",
        "the job file, kept beside the result",
        |e| e.said.options_known && !e.job.options.values().any(String::is_empty),
    ),
    (
        "how the rate changed over time: intervals, cliffs, steady state",
        "write_iops_log=NAME and log_avg_msec=1000, the logs given with the result",
        |e| {
            let rates = [SeriesKind::Operations, SeriesKind::Bandwidth];
            !e.job.series.iter().any(|s| rates.contains(&s.kind)) && !e.job.sum_of_others
        },
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
    ),
    (
        "latency percentiles",
        "clat_percentiles=1 or lat_percentiles=1 (and --output-format=json+ for the whole \
         distribution)",
        |e| {
            let without = |d| percentiles(d).is_none();
            worked(e) && e.job.directions.iter().all(without)
        },
    ),
    (
        "whether the data came from or reached a device",
        "disk_util=1 on a local device; for network file systems the server's own counters",
        |e| {
            let none = e.result.devices.as_ref().is_none_or(Vec::is_empty);
            none && e.said.way != EngineWay::Nothing
        },
    ),
    (
        "bytes at the device: this version counts only requests",
        "a newer fio, whose disk_util holds sectors",
        |e| {
            let devices = e.result.devices.as_deref().unwrap_or(&[]);
            !devices.is_empty() && devices.iter().all(|d| d.read_bytes.is_none())
        },
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
            let safe = e.said.direct == Some(true) || e.job.flushes.is_some();
            let flushed = ["end_fsync", "fsync", "fdatasync", "sync"]
                .iter()
                .any(|key| e.job.options.get(*key).is_some_and(|v| v != "0"));
            writes && !safe && !flushed && e.said.way != EngineWay::Nothing
        },
    ),
    (
        "how far fio itself was from its own limit",
        "the same job with ioengine=null",
        |e| worked(e) && e.said.way != EngineWay::Nothing && !e.job.sum_of_others,
    ),
];

/// The same of recordings of warp.
const OF_WARP: [Rule; 5] = [
    (
        "latencies",
        "warp … --full, which writes each request, and those that failed apart",
        |e| {
            let without = |d: &ForeignDirection| d.total.is_none();
            worked(e) && e.job.directions.iter().any(without)
        },
    ),
    (
        "latency percentiles of all requests: those of parts cannot be put together",
        "warp … --full, which writes each request",
        |e| {
            let states = |d: &ForeignDirection| d.total.is_some() && percentiles(d).is_none();
            worked(e) && e.job.directions.iter().any(states)
        },
    ),
    (
        "how the rate changed over time: intervals, cliffs, steady state",
        "a longer run; without --full its first and last two seconds are not recorded one by one",
        |e| e.job.series.is_empty(),
    ),
    (
        "whether what was read came from a cache of the store",
        "more objects than its memory holds, each read once: warp draws them with repeats",
        |e| {
            let reads = |d: &ForeignDirection| d.kind == Some(OpKind::Get);
            worked(e) && e.job.directions.iter().any(reads)
        },
    ),
    (
        "how far warp itself was from its own limit",
        "the CPU time of its host during the run; `fathom s3 MODE null:` for fathom's own",
        worked,
    ),
];

fn worked(entry: &Entry<'_>) -> bool {
    entry.job.directions.iter().any(|d| d.ops() > 0.0)
}

/// Every fact that an entry of the document lacks, once.
pub(super) fn of(entries: &[Entry<'_>]) -> Vec<MissingFact> {
    let of_warp = |entry: &Entry<'_>| {
        let tool = entry.result.tool.as_deref();
        tool.is_some_and(|tool| tool.starts_with("warp"))
    };
    let rules: &[Rule] = match entries.iter().any(of_warp) {
        true => &OF_WARP,
        false => &RULES,
    };
    rules
        .iter()
        .filter(|(_, _, missing)| entries.iter().any(missing))
        .map(|(fact, supplied_by, _)| MissingFact {
            fact: (*fact).to_owned(),
            supplied_by: (*supplied_by).to_owned(),
        })
        .collect()
}
