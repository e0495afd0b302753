//! A ping for machines: one JSON object a line, schema `fathom.ping/1`.
//!
//! Three kinds of lines, told apart by `event`: `target` once at the start,
//! `request` for each, `summary` once at the end. Times are nanoseconds, sizes
//! bytes. A figure that the requests do not support is null, with its reason.

use std::path::Path;

use fathom_console::write_stdout;
use fathom_engine::{OneByOneFacts, Single};
use fathom_model::OpKind;
use fathom_model::histogram::bucket_range;
use serde_json::{Value, json};

use super::described::Described;
use super::lines::{failure, notes};
use super::tally::{Tally, Told};

const SCHEMA: &str = "fathom.ping/1";

/// Prints JSON.
pub(super) struct Json {
    described: Described,
}

impl Json {
    pub(super) fn new(described: &Described) -> Json {
        Json {
            described: described.clone(),
        }
    }

    pub(super) fn opened(&mut self, facts: &OneByOneFacts) -> anyhow::Result<()> {
        let files: Vec<String> = facts.files.iter().map(|path| text(path)).collect();
        print(&json!({
            "schema": SCHEMA,
            "event": "target",
            "target": self.described.target,
            "description": self.described.what,
            "simulated": self.described.simulated,
            "active_bytes": facts.active_bytes,
            "direct": facts.direct,
            "files": files,
            "notes": notes(facts),
        }))
    }

    pub(super) fn request(&mut self, single: &Single, told: &Told) -> anyhow::Result<()> {
        print(&json!({
            "event": "request",
            "number": told.number,
            "operation": operation(single.kind),
            "offset": single.offset,
            "bytes": single.bytes,
            "started_ns": single.started_ns,
            "latency_ns": single.latency_ns,
            "flush_ns": single.flush_ns,
            "warmup": told.warmup,
            "slow": told.slow,
            "error": single.failed.map(failure),
        }))
    }

    pub(super) fn summary(&mut self, tally: &Tally) -> anyhow::Result<()> {
        let latencies = tally.latencies();
        let summary = tally.summary();
        let percentiles: Vec<Value> = summary
            .percentiles
            .iter()
            .map(|p| {
                json!({
                    "percent": p.percent,
                    "latency_ns": p.latency_ns.value,
                    "low_ns": p.latency_ns.low,
                    "high_ns": p.latency_ns.high,
                    "reason": p.latency_ns.reason,
                })
            })
            .collect();
        let histogram: Vec<Value> = latencies
            .buckets()
            .map(|(bucket, count)| {
                let (from_ns, to_ns) = bucket_range(bucket);
                json!({ "from_ns": from_ns, "to_ns": to_ns, "count": count })
            })
            .collect();
        let (overlong, missed) = tally.overlong();
        let unanswered = tally.unanswered_request();
        print(&json!({
            "event": "summary",
            "requests": tally.shown(),
            "requests_counted": latencies.count(),
            "requests_failed": tally.failures(),
            "requests_slow": tally.slow(),
            "requests_longer_than_interval": overlong,
            "requests_missed": missed,
            "request_unanswered": unanswered.map(|(number, _)| number),
            "bytes": tally.shown_bytes(),
            "bytes_counted": tally.bytes(),
            "elapsed_ns": tally.elapsed_ns(),
            "in_flight_ns": u64::try_from(latencies.sum()).unwrap_or(u64::MAX),
            "min_ns": latencies.min(),
            "mean_ns": latencies.mean(),
            "max_ns": latencies.max(),
            "standard_deviation_ns": latencies.standard_deviation(),
            "percentiles": percentiles,
            "histogram": histogram,
        }))
    }
}

fn operation(kind: OpKind) -> &'static str {
    match kind {
        OpKind::Write => "write",
        OpKind::Connect => "connect",
        _ => "read",
    }
}

fn text(path: &Path) -> String {
    path.display().to_string()
}

fn print(value: &Value) -> anyhow::Result<()> {
    write_stdout(&format!("{value}\n"))
}
