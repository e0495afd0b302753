//! Operation files of warp (`--full`): one request a line, tab-separated, under
//! a header; in the file `*.csv.zst`, compressed.
//!
//! Columns: idx, thread, op, client_id, n_objects, bytes, endpoint, file, error,
//! start, first_byte, last_byte, end, duration_ns, cat (later versions); times
//! are RFC 3339 with nanoseconds. Lines that begin with `#` follow the data. A
//! request with an error is a failure, and nothing else: its bytes and its time
//! count nowhere. Percentiles are those of all requests, as they are in no other
//! output of warp.

use std::collections::{BTreeMap, BTreeSet};

use crate::results::{
    ResultDirection, ResultDocument, ResultJob, ResultLatency, ResultSeries, SeriesKind,
};
use fathom_model::{Histogram, OpKind};

use super::active::{self, Span};
use super::records::records;

/// Columns that must be there.
const NEEDED: [&str; 5] = ["op", "bytes", "error", "start", "end"];
/// Kinds of requests and endpoints that are told apart at most.
const MOST_KINDS: usize = 32;
const MOST_ENDPOINTS: usize = 1024;
/// Seconds of a series at most.
const MOST_SECONDS: usize = 1 << 20;
const NS_OF_S: u64 = 1_000_000_000;
const PERCENTS: [f64; 5] = [50.0, 90.0, 99.0, 99.9, 99.99];

/// What was found of one kind of request.
#[derive(Debug, Default)]
struct RequestKind {
    ops: u64,
    bytes: u64,
    failed: u64,
    latency: Histogram,
    first_byte: Histogram,
    /// Start and end of each request that succeeded, nanoseconds of the epoch.
    first_ns: Option<u64>,
    last_ns: u64,
    ends: BTreeMap<u64, u64>,
    threads: BTreeSet<(String, u32)>,
    endpoints: BTreeMap<String, u64>,
    first_error: Option<String>,
    objects_per_op: u64,
    spans: Vec<Span>,
}

impl RequestKind {
    /// From the start of the first request that succeeded to the end of the last.
    fn time(&self) -> (u64, u64) {
        (self.first_ns.unwrap_or(0), self.last_ns)
    }
}

/// Whether a text is an operation file.
pub(crate) fn looks_like(text: &str) -> bool {
    let header = text.lines().next().unwrap_or_default();
    header.starts_with("idx\t") && header.contains("\tduration_ns")
}

/// The results of an operation file; `None` when its header lacks a column.
pub(crate) fn read(name: &str, text: &str) -> Option<ResultDocument> {
    let mut lines = records(text);
    let header = lines.next()?;
    let columns: BTreeMap<&str, usize> = header.iter().map(|name| &**name).zip(0..).collect();
    if NEEDED.iter().any(|needed| !columns.contains_key(needed)) {
        return None;
    }
    let mut kinds: BTreeMap<String, RequestKind> = BTreeMap::new();
    let (mut broken, mut messages) = (0_u64, Vec::new());
    for cells in lines.filter(|cells| cells.len() > 1 || !cells[0].is_empty()) {
        if let Some(comment) = cells[0].strip_prefix('#') {
            if messages.len() < 20 {
                messages.push(comment.trim().chars().take(300).collect());
            }
            continue;
        }
        let cell = |name: &str| {
            let cell = columns.get(name).and_then(|at| cells.get(*at));
            cell.map(|cell| &**cell)
        };
        if take(&mut kinds, &cell).is_none() {
            broken += 1;
        }
    }
    let mut result = ResultDocument {
        source: name.to_owned(),
        tool: Some("warp".to_owned()),
        messages: Vec::new(),
        ..ResultDocument::default()
    };
    if broken > 0 {
        result.damage.push(format!("{broken} lines cannot be read"));
    }
    let commands = messages.iter().filter(|m: &&String| !m.is_empty());
    result.remarks.extend(commands.take(1).cloned());
    let times: Vec<(u64, u64)> = kinds.values().map(RequestKind::time).collect();
    for (op, kind) in kinds {
        // A mix, and no preparation that ended before.
        let (from_ns, to_ns) = kind.time();
        let meets = |(from, to): &&(u64, u64)| *from < to_ns && from_ns < *to;
        let several = times.iter().filter(meets).count() > 1;
        result
            .remarks
            .extend(active::remark(&op, &kind.spans, several, kind.failed));
        remark(&op, &kind, &mut result.remarks);
        result.jobs.push(job(op, kind));
    }
    Some(result)
}

/// Takes over one line; `None` when it cannot be understood.
fn take<'l>(
    kinds: &mut BTreeMap<String, RequestKind>,
    cell: &dyn Fn(&str) -> Option<&'l str>,
) -> Option<()> {
    let op = cell("op").filter(|op| !op.is_empty())?;
    if !kinds.contains_key(op) && kinds.len() >= MOST_KINDS {
        return None;
    }
    let bytes: u64 = cell("bytes")?.parse().ok()?;
    let error = cell("error")?;
    let start_ns = unix_ns(cell("start")?)?;
    let end_ns = unix_ns(cell("end")?).filter(|end| *end >= start_ns)?;
    let kind = kinds.entry(op.to_owned()).or_default();
    if !error.is_empty() {
        kind.failed += 1;
        kind.first_error.get_or_insert_with(|| in_one_line(error));
        return Some(());
    }
    kind.ops += 1;
    kind.bytes += bytes;
    kind.latency.record((end_ns - start_ns).max(1));
    if let Some(first_ns) = cell("first_byte")
        .and_then(unix_ns)
        .filter(|ns| *ns >= start_ns)
    {
        kind.first_byte.record((first_ns - start_ns).max(1));
    }
    kind.first_ns = Some(kind.first_ns.map_or(start_ns, |first| first.min(start_ns)));
    kind.last_ns = kind.last_ns.max(end_ns);
    *kind.ends.entry(end_ns / NS_OF_S).or_default() += 1;
    let objects = cell("n_objects").and_then(|n| n.parse().ok()).unwrap_or(1);
    kind.objects_per_op = kind.objects_per_op.max(objects);
    let thread = cell("thread").and_then(|n| n.parse().ok()).unwrap_or(0);
    kind.spans.push(Span {
        thread,
        start_ns,
        end_ns,
    });
    let client = cell("client_id").unwrap_or_default();
    if kind.threads.len() < MOST_ENDPOINTS {
        kind.threads.insert((client.to_owned(), thread));
    }
    let endpoint = cell("endpoint").unwrap_or_default();
    if kind.endpoints.contains_key(endpoint) || kind.endpoints.len() < MOST_ENDPOINTS {
        *kind.endpoints.entry(endpoint.to_owned()).or_default() += 1;
    }
    Some(())
}

/// An error in one line that is not too long.
fn in_one_line(error: &str) -> String {
    let words: Vec<&str> = error.split_whitespace().collect();
    words.join(" ").chars().take(200).collect()
}

fn remark(op: &str, kind: &RequestKind, remarks: &mut Vec<String>) {
    let clients: BTreeSet<&str> = kind
        .threads
        .iter()
        .map(|(client, _)| client.as_str())
        .collect();
    remarks.push(format!(
        "{op}: {} requests in flight at most, of {} clients",
        kind.threads.len(),
        clients.len().max(1)
    ));
    if let (Some(median), Some(tail)) = (
        kind.first_byte.quantile(0.5),
        kind.first_byte.quantile(0.99),
    ) {
        let ms = |ns: u64| ns as f64 / 1e6;
        let (median, tail) = (ms(median), ms(tail));
        remarks.push(format!(
            "{op}: first byte after {median:.2} ms (p50), {tail:.2} ms (p99)"
        ));
    }
    if kind.endpoints.len() > 1 {
        let most = kind.endpoints.iter().max_by_key(|(_, n)| **n);
        let least = kind.endpoints.iter().min_by_key(|(_, n)| **n);
        if let (Some((fast, most)), Some((slow, least))) = (most, least) {
            remarks.push(format!(
                "{op}: {slow} answered {least} requests, {fast} {most}"
            ));
        }
    }
    if kind.objects_per_op > 1 {
        remarks.push(format!(
            "{op}: a request names up to {} objects",
            kind.objects_per_op
        ));
    }
    if let Some(error) = &kind.first_error {
        remarks.push(format!(
            "{op}: the first of {} failures: {error}",
            kind.failed
        ));
    }
}

/// What an operation of warp is here.
pub(crate) fn kind_of(op: &str) -> OpKind {
    match op {
        "PUT" | "PUTPART" | "POST" => OpKind::Put,
        "DELETE" => OpKind::Delete,
        "STAT" => OpKind::Head,
        "LIST" => OpKind::List,
        _ => OpKind::Get,
    }
}

fn job(op: String, kind: RequestKind) -> ResultJob {
    let direction = kind_of(&op);
    let first_ns = kind.first_ns.unwrap_or(0);
    let span_ns = kind.last_ns.saturating_sub(first_ns);
    let rate = |count: u64| match span_ns {
        0 => None,
        ns => Some(count as f64 * NS_OF_S as f64 / ns as f64),
    };
    let series = series(&kind, first_ns, direction);
    ResultJob {
        name: op,
        failures_ignored: Some(kind.failed),
        directions: vec![ResultDirection {
            kind: Some(direction),
            bytes: (kind.bytes > 0).then_some(kind.bytes as f64),
            ops: Some(kind.ops as f64),
            bytes_per_second: rate(kind.bytes).filter(|_| kind.bytes > 0),
            ops_per_second: rate(kind.ops),
            duration_ns: Some(span_ns as f64),
            total: Some(latency(&kind.latency)),
            ..ResultDirection::default()
        }],
        series: series.into_iter().collect(),
        ..ResultJob::default()
    }
}

/// Whole seconds between the first start and the last end.
fn series(kind: &RequestKind, first_ns: u64, direction: OpKind) -> Option<ResultSeries> {
    let from = first_ns.div_ceil(NS_OF_S);
    let to = kind.last_ns / NS_OF_S;
    let seconds = usize::try_from(to.checked_sub(from)?).ok()?;
    let values = (from..to).map(|second| kind.ends.get(&second).copied().unwrap_or(0) as f64);
    (2..=MOST_SECONDS).contains(&seconds).then(|| ResultSeries {
        kind: SeriesKind::Operations,
        direction,
        interval_ns: NS_OF_S,
        values: values.collect(),
        logs: 1,
    })
}

fn latency(all: &Histogram) -> ResultLatency {
    let stated = |percent: f64| Some((percent, all.quantile(percent / 100.0)? as f64));
    ResultLatency {
        count: Some(all.count() as f64),
        min_ns: all.min().map(|ns| ns as f64),
        max_ns: all.max().map(|ns| ns as f64),
        mean_ns: all.mean(),
        percentiles: PERCENTS.into_iter().filter_map(stated).collect(),
        bin_count: None,
    }
}

/// Nanoseconds since 1970 of `2024-05-01T12:00:00.123456789Z`, or with an offset.
pub(crate) fn unix_ns(text: &str) -> Option<u64> {
    let number = |from: usize, to: usize| text.get(from..to)?.parse::<i64>().ok();
    let bytes = text.as_bytes();
    let marks = bytes.get(4) == Some(&b'-') && bytes.get(10) == Some(&b'T');
    if !marks || bytes.get(19).is_none() {
        return None;
    }
    let (year, month, day) = (number(0, 4)?, number(5, 7)?, number(8, 10)?);
    let (hour, minute, second) = (number(11, 13)?, number(14, 16)?, number(17, 19)?);
    if !(1970..=2400).contains(&year) || !(1..=12).contains(&month) || !(1..=31).contains(&day) {
        return None;
    }
    let rest = &text[19..];
    let digits = rest.strip_prefix('.').map_or("", |fraction| {
        let end = fraction
            .find(|c: char| !c.is_ascii_digit())
            .unwrap_or(fraction.len());
        &fraction[..end.min(9)]
    });
    let ns: i64 = format!("{digits:0<9}").parse().ok()?;
    let zone = rest.trim_start_matches(|c: char| c == '.' || c.is_ascii_digit());
    let offset_s = match zone.as_bytes() {
        [b'Z'] => 0,
        [sign @ (b'+' | b'-'), _, _, b':', _, _] => {
            let hours: i64 = zone.get(1..3)?.parse().ok()?;
            let minutes: i64 = zone.get(4..6)?.parse().ok()?;
            let whole = hours * 3600 + minutes * 60;
            if *sign == b'+' { whole } else { -whole }
        }
        _ => return None,
    };
    // Days of the civil calendar since 1970 (Howard Hinnant's algorithm).
    let (shifted, month) = match month > 2 {
        true => (year, month - 3),
        false => (year - 1, month + 9),
    };
    let era = shifted.div_euclid(400);
    let year_of_era = shifted.rem_euclid(400);
    let day_of_year = (153 * month + 2) / 5 + day - 1;
    let day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
    let days = era * 146_097 + day_of_era - 719_468;
    let seconds = days * 86_400 + hour * 3600 + minute * 60 + second - offset_s;
    u64::try_from(seconds.checked_mul(1_000_000_000)?.checked_add(ns)?).ok()
}

#[cfg(test)]
#[path = "requests_tests.rs"]
mod tests;
