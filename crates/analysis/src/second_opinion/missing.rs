//! Facts that the files do not hold, and the option that would supply each.

use fathom_model::foreign::SeriesKind;
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

fn worked(entry: &Entry<'_>) -> bool {
    entry.job.directions.iter().any(|d| d.ops() > 0.0)
}

/// Every fact that an entry of the document lacks, once.
pub(super) fn of(entries: &[Entry<'_>]) -> Vec<MissingFact> {
    RULES
        .iter()
        .filter(|(_, _, missing)| entries.iter().any(missing))
        .map(|(fact, supplied_by, _)| MissingFact {
            fact: (*fact).to_owned(),
            supplied_by: (*supplied_by).to_owned(),
        })
        .collect()
}
