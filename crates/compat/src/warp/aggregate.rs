//! What warp writes without `--full`: one JSON document (`*.json.zst`) with sums
//! by kind of request, throughput by second, and the times of requests by
//! client and stretches of ten seconds, each with percentiles of its own.
//!
//! Sums, the mean and the extremes can be had from it; percentiles of the whole
//! cannot, because those of parts cannot be put together. They lie between the
//! lowest and the highest of the parts, which is told. Where requests failed the
//! document mixes them with those that did not: their bytes are added, and their
//! times stand among the others; what that spoils is left out, with the reason.

use crate::results::{
    ResultDirection, ResultDocument, ResultJob, ResultLatency, ResultSeries, SeriesKind,
};
use fathom_model::unit;
use serde_json::Value;

use super::requests::{kind_of, unix_ns};

const NS_OF_MS: f64 = 1e6;
const NS_OF_S: u64 = 1_000_000_000;
/// Kinds of requests that are told apart at most.
const MOST_KINDS: usize = 32;
/// Percentiles of a stretch, and the names of their fields.
const STATED: [(f64, &str); 3] = [
    (50.0, "dur_median_millis"),
    (90.0, "dur_90_millis"),
    (99.0, "dur_99_millis"),
];

/// Whether a document is one of these.
pub(crate) fn looks_like(document: &Value) -> bool {
    let has = |name: &str| document.get(name).is_some();
    has("by_op_type") && has("total") && has("v") && has("commandline")
}

/// The results of a document.
pub(crate) fn read(name: &str, document: &Value) -> ResultDocument {
    let text = |name: &str| {
        document
            .get(name)
            .and_then(Value::as_str)
            .unwrap_or_default()
    };
    let version = text("warp_version");
    let mut result = ResultDocument {
        source: name.to_owned(),
        tool: Some(match version {
            "" | "(dev)" => "warp".to_owned(),
            version => format!("warp {version}"),
        }),
        ..ResultDocument::default()
    };
    let command: String = text("commandline").chars().take(300).collect();
    result
        .remarks
        .extend((!command.is_empty()).then_some(command));
    if document.get("final").and_then(Value::as_bool) == Some(false) {
        let damage = "the recording was not ended: it holds what there was until then";
        result.damage.push(damage.to_owned());
    }
    result.remarks.push(
        "only sums and stretches of 10 s are in this recording; `warp … --full` writes each request, \
         of which every percentile can be had"
            .to_owned(),
    );
    let kinds = document.get("by_op_type").and_then(Value::as_object);
    for (op, of) in kinds.into_iter().flatten().take(MOST_KINDS) {
        result.jobs.push(job(op, of, &mut result.remarks));
    }
    result
}

fn number(of: &Value, name: &str) -> Option<f64> {
    of.get(name)?
        .as_f64()
        .filter(|n| n.is_finite() && *n >= 0.0)
}

fn time(of: &Value, name: &str) -> Option<u64> {
    unix_ns(of.get(name)?.as_str()?)
}

fn job(op: &str, of: &Value, remarks: &mut Vec<String>) -> ResultJob {
    let direction = kind_of(op);
    let all = number(of, "total_requests").unwrap_or(0.0);
    let failed = number(of, "total_errors").unwrap_or(0.0);
    let bytes = number(of, "total_bytes").filter(|bytes| failed == 0.0 && *bytes > 0.0);
    let span_ns = time(of, "end_time")
        .zip(time(of, "start_time"))
        .and_then(|(end, start)| end.checked_sub(start))
        .filter(|ns| *ns > 0);
    let rate = |count: f64| span_ns.map(|ns| count * NS_OF_S as f64 / ns as f64);
    let parts = parts(of);
    told(op, of, all, failed, &parts, remarks);
    ResultJob {
        name: op.to_owned(),
        failures_ignored: Some(failed as u64),
        directions: vec![ResultDirection {
            kind: Some(direction),
            bytes,
            ops: Some((all - failed).max(0.0)),
            bytes_per_second: bytes.and_then(rate),
            ops_per_second: rate((all - failed).max(0.0)),
            duration_ns: span_ns.map(|ns| ns as f64),
            total: latency(&parts, all, failed),
            ..ResultDirection::default()
        }],
        series: series(of, direction, all, failed).into_iter().collect(),
        ..ResultJob::default()
    }
}

/// The times of the requests of one client in one stretch.
struct ClientTimes<'d> {
    of: &'d Value,
    requests: f64,
}

fn parts(of: &Value) -> Vec<ClientTimes<'_>> {
    let clients = of.get("requests_by_client").and_then(Value::as_object);
    let stretches = clients.into_iter().flat_map(|clients| clients.values());
    let stretches = stretches.filter_map(Value::as_array).flatten();
    let single = stretches.filter_map(|stretch| stretch.get("single_sized_requests"));
    let parts = single.filter_map(|of| {
        let requests = number(of, "requests").filter(|requests| *requests > 0.0)?;
        Some(ClientTimes { of, requests })
    });
    parts.collect()
}

/// What the parts say of all requests together; `None` where some requests are
/// in no part, or failed ones are among them.
fn latency(parts: &[ClientTimes<'_>], all: f64, failed: f64) -> Option<ResultLatency> {
    let counted: f64 = parts.iter().map(|part| part.requests).sum();
    if failed > 0.0 || parts.is_empty() || counted != all {
        return None;
    }
    let each = |name: &str| -> Option<Vec<f64>> {
        parts.iter().map(|part| number(part.of, name)).collect()
    };
    let sum: f64 = each("dur_avg_millis")?
        .iter()
        .zip(parts)
        .map(|(mean, part)| mean * part.requests)
        .sum();
    let extreme = |name: &str, of: fn(f64, f64) -> f64| each(name)?.into_iter().reduce(of);
    let percentiles = match parts {
        [only] => STATED
            .iter()
            .filter_map(|(percent, name)| Some((*percent, number(only.of, name)? * NS_OF_MS)))
            .collect(),
        _ => Vec::new(),
    };
    Some(ResultLatency {
        count: Some(counted),
        min_ns: extreme("fastest_millis", f64::min).map(|ms| ms * NS_OF_MS),
        max_ns: extreme("slowest_millis", f64::max).map(|ms| ms * NS_OF_MS),
        mean_ns: Some(sum / counted * NS_OF_MS),
        percentiles,
        bin_count: None,
    })
}

/// What cannot be had from the document and why, and what is known instead.
fn told(
    op: &str,
    of: &Value,
    all: f64,
    failed: f64,
    parts: &[ClientTimes<'_>],
    remarks: &mut Vec<String>,
) {
    if let Some(threads) = number(of, "concurrency").filter(|n| *n > 0.0) {
        remarks.push(format!("{op}: {threads} requests in flight at most"));
    }
    if failed > 0.0 {
        let first = of.pointer("/first_errors/0").and_then(Value::as_str);
        let first: String = first.unwrap_or("not told").chars().take(200).collect();
        remarks.push(format!(
            "{op}: {} of {} requests failed (the first: {first}); the recording adds their bytes and \
             times to those of the others, so neither bytes nor latencies can be had from it",
            unit::count(failed),
            unit::count(all)
        ));
        return;
    }
    let counted: f64 = parts.iter().map(|part| part.requests).sum();
    if parts.is_empty() {
        remarks.push(format!(
            "{op}: objects of different sizes: the recording holds throughputs by size instead of \
             latencies"
        ));
    } else if counted != all {
        remarks.push(format!(
            "{op}: the latencies of {} of {} requests are not in the recording, so none are shown",
            unit::count((all - counted).max(0.0)),
            unit::count(all)
        ));
    }
    if parts.len() > 1 {
        for (percent, name) in STATED {
            let each: Option<Vec<f64>> = parts.iter().map(|part| number(part.of, name)).collect();
            let Some(each) = each else { continue };
            let low = each.iter().copied().fold(f64::INFINITY, f64::min);
            let high = each.iter().copied().fold(0.0, f64::max);
            remarks.push(format!(
                "{op}: p{percent} lies between {low:.2} and {high:.2} ms, the lowest and highest of {} \
                 parts (clients and stretches of 10 s); warp prints the mean of theirs",
                parts.len()
            ));
        }
    }
    let throughput = of.get("throughput");
    let of_throughput = |name: &str| throughput.and_then(|of| number(of, name));
    if let (Some(objects), Some(millis)) = (
        of_throughput("objects"),
        of_throughput("measure_duration_millis").filter(|ms| *ms > 0.0),
    ) {
        remarks.push(format!(
            "{op}: warp's own {} objects/s leave out the first and last two seconds; the rate here is of \
             all requests over the time from the first to the last",
            unit::count(objects / millis * 1000.0)
        ));
    }
}

/// Objects by second, in order.
fn series(
    of: &Value,
    direction: fathom_model::OpKind,
    requests: f64,
    failed: f64,
) -> Option<ResultSeries> {
    // What is counted by second are objects, failed ones among them.
    if failed > 0.0 || number(of, "total_objects") != Some(requests) {
        return None;
    }
    let segmented = of.pointer("/throughput/segmented")?;
    let interval_ns = number(segmented, "segment_duration_millis")? * NS_OF_MS;
    let mut all: Vec<(u64, f64)> = segmented
        .get("segments")?
        .as_array()?
        .iter()
        .filter_map(|one| Some((time(one, "start")?, number(one, "obj_per_sec")?)))
        .collect();
    all.sort_by_key(|(start, _)| *start);
    let regular = all
        .windows(2)
        .all(|pair| (pair[1].0 - pair[0].0) as f64 == interval_ns);
    let usable = all.len() > 1 && regular && interval_ns >= 1.0;
    usable.then(|| ResultSeries {
        kind: SeriesKind::Operations,
        direction,
        interval_ns: interval_ns as u64,
        values: all.into_iter().map(|(_, rate)| rate).collect(),
        logs: 1,
    })
}

#[cfg(test)]
#[path = "aggregate_tests.rs"]
mod tests;
