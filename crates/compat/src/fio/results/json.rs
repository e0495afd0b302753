//! fio's JSON and json+ output, from 2.x to today.
//!
//! fio 2.x states latencies in microseconds (`clat`, `lat`) and `io_bytes` in
//! KiB; fio 3 has nanoseconds (`clat_ns`) and an `io_kbytes` beside bytes. A
//! client's result has `client_stats` in place of `jobs` and one entry
//! "All clients" that is the sum of the others.

use std::collections::BTreeMap;

use crate::results::{
    ResultDevice, ResultDirection, ResultDocument, ResultJob, ResultLatency, ResultSpread,
    ResultSteadiness,
};
use fathom_model::op::OpKind;
use serde_json::{Map, Value};

use super::number;
use crate::results::ResultError;
use crate::results::documents::Documents;

/// Jobs of a document at most.
const MOST_JOBS: usize = 20_000;
const SECTOR_BYTES: f64 = 512.0;

/// The results in a file's documents.
pub(crate) fn results(
    name: &str,
    documents: Documents,
) -> Result<Vec<ResultDocument>, ResultError> {
    let mut results: Vec<ResultDocument> = Vec::new();
    let mut repeated = 0usize;
    for value in &documents.values {
        let Some(result) = result(name, value) else {
            continue;
        };
        match results.last_mut() {
            Some(last) if goes_on(last, &result) => {
                repeated += 1;
                *last = result;
            }
            _ => results.push(result),
        }
    }
    let count = results.len();
    for (index, result) in results.iter_mut().enumerate() {
        if count > 1 {
            result.source = format!("{name} (document {} of {count})", index + 1);
        }
    }
    let Some(last) = results.last_mut() else {
        let keys = documents.values.first().and_then(Value::as_object);
        let keys: Vec<&str> = keys
            .into_iter()
            .flat_map(|o| o.keys().take(6).map(String::as_str))
            .collect();
        let what = format!(
            "JSON with the keys [{}] but no jobs of fio",
            keys.join(", ")
        );
        return Err(ResultError::Unknown(what.escape_debug().to_string()));
    };
    if repeated > 0 {
        last.remarks.push(format!(
            "the file holds {} cumulative snapshots of one run (status-interval); the last was \
             taken",
            repeated + 1
        ));
    }
    if documents.text_bytes > 0 {
        last.remarks.push(format!(
            "{} bytes of text stand beside the JSON",
            documents.text_bytes
        ));
    }
    last.damage.extend(documents.damage);
    last.messages = documents.messages;
    Ok(results)
}

/// Whether the next document is a later snapshot of the same run.
fn goes_on(before: &ResultDocument, after: &ResultDocument) -> bool {
    let progress = |job: &ResultJob| {
        job.directions
            .iter()
            .fold((0.0, 0.0f64), |(bytes, time), d| {
                (
                    bytes + d.bytes.unwrap_or(0.0),
                    time.max(d.duration_ns.unwrap_or(0.0)),
                )
            })
    };
    let same = |(a, b): (&ResultJob, &ResultJob)| {
        let (first, second) = (progress(a), progress(b));
        a.name == b.name
            && a.group == b.group
            && a.host == b.host
            && a.options == b.options
            && second.0 >= first.0
            && second.1 > first.1
    };
    !before.jobs.is_empty()
        && before.tool == after.tool
        && before.jobs.len() == after.jobs.len()
        && before.jobs.iter().zip(&after.jobs).all(same)
        // Runs that follow one another are apart by more than they measured.
        && after.written_unix_s.zip(before.written_unix_s).is_none_or(|(b, a)| {
            let longest = after.jobs.iter().map(|j| progress(j).1).fold(0.0, f64::max)
                - before.jobs.iter().map(|j| progress(j).1).fold(0.0, f64::max);
            (b.saturating_sub(a) as f64) <= longest / 1e9 + 2.0
        })
}

fn result(name: &str, value: &Value) -> Option<ResultDocument> {
    let document = value.as_object()?;
    let entries = ["jobs", "client_stats"]
        .iter()
        .find_map(|key| document.get(*key)?.as_array())?;
    let devices = document.get("disk_util").and_then(Value::as_array);
    let mut result = ResultDocument {
        source: name.to_owned(),
        tool: number::text(document.get("fio version")),
        written_unix_s: number::of(document.get("timestamp")).map(|t| t as u64),
        devices: devices.map(|list| list.iter().filter_map(device).collect()),
        ..ResultDocument::default()
    };
    let global = global_options(document.get("global options"));
    for entry in entries.iter().take(MOST_JOBS) {
        match entry.as_object() {
            Some(entry) => result.jobs.push(job(entry, &global)),
            None => result
                .damage
                .push("an entry of the job list is not an object".to_owned()),
        }
    }
    if entries.len() > MOST_JOBS {
        result
            .damage
            .push(format!("only the first {MOST_JOBS} jobs were read"));
    }
    Some(result)
}

type Options = BTreeMap<String, String>;

/// One object for a single server, a list of them for several.
fn global_options(value: Option<&Value>) -> Options {
    match value {
        Some(Value::Array(list)) => list.iter().flat_map(|v| options(Some(v))).collect(),
        other => options(other),
    }
}

fn options(value: Option<&Value>) -> Options {
    let object = value.and_then(Value::as_object);
    object
        .into_iter()
        .flatten()
        .filter_map(|(key, value)| Some((key.clone(), number::text(Some(value))?)))
        .collect()
}

fn job(entry: &Map<String, Value>, global: &Options) -> ResultJob {
    let mut merged = global.clone();
    merged.extend(options(entry.get("job options")));
    let name = number::text(entry.get("jobname")).unwrap_or_default();
    let sum_of_others = name == "All clients";
    let kinds = [
        ("read", Some(OpKind::Read)),
        ("write", Some(OpKind::Write)),
        ("trim", Some(OpKind::Trim)),
        ("mixed", None),
    ];
    let percent = |key: &str| number::of(entry.get(key)).map(|p| p / 100.0);
    ResultJob {
        sum_of_others,
        name,
        host: number::text(entry.get("hostname")),
        group: number::of(entry.get("groupid")).map(|g| g as u64),
        options: if sum_of_others {
            Options::new()
        } else {
            merged
        },
        error: entry.get("error").and_then(Value::as_i64),
        failures_ignored: number::of(entry.get("total_err")).map(|n| n as u64),
        job_time_ns: number::positive(entry.get("job_runtime")).map(|ms| ms * 1e6),
        cpu_user: percent("usr_cpu"),
        cpu_system: percent("sys_cpu"),
        directions: kinds
            .iter()
            .filter_map(|(key, kind)| direction(entry.get(*key)?, *kind))
            .collect(),
        flushes: entry.get("sync").and_then(flushes),
        steady: entry.get("steadystate").and_then(steady),
        series: Vec::new(),
    }
}

/// Flushes with their times. None at all is a count, too.
fn flushes(sync: &Value) -> Option<ResultLatency> {
    latency(sync.get("lat_ns"), 1.0).or_else(|| {
        let count = number::of(sync.get("total_ios"))?;
        Some(ResultLatency {
            count: Some(count),
            ..ResultLatency::default()
        })
    })
}

fn direction(value: &Value, kind: Option<OpKind>) -> Option<ResultDirection> {
    let object = value.as_object()?;
    let get = |key: &str| object.get(key);
    // Before 3.0 `io_bytes` was in KiB and nothing said so.
    let old = get("io_kbytes").is_none() && get("clat_ns").is_none();
    let stated = number::of(get("io_bytes"));
    let kib_per_second = number::of(get("bw"));
    let ops = number::of(get("total_ios"));
    let latency_of = |key: &str| match get(&format!("{key}_ns")) {
        Some(value) => latency(Some(value), 1.0),
        None => latency(get(key), 1e3),
    };
    let direction = ResultDirection {
        kind,
        bytes: stated.map(|b| if old { b * 1024.0 } else { b }),
        kib: number::of(get("io_kbytes")),
        ops,
        bytes_per_second: number::of(get("bw_bytes")).or(kib_per_second.map(|k| k * 1024.0)),
        kib_per_second,
        ops_per_second: number::of(get("iops")),
        duration_ns: number::positive(get("runtime")).map(|ms| ms * 1e6),
        short_ops: number::of(get("short_ios")),
        dropped_ops: number::of(get("drop_ios")),
        submission: latency_of("slat"),
        completion: latency_of("clat"),
        total: latency_of("lat"),
        bandwidth_spread: spread(object, "bw", "bw_dev", 1024.0),
        rate_spread: spread(object, "iops", "iops_stddev", 1.0),
        impossible: impossible(object),
    };
    let happened = [ops, direction.bytes, direction.ops_per_second];
    happened
        .iter()
        .flatten()
        .any(|n| *n > 0.0)
        .then_some(direction)
}

/// The figure of a direction that cannot be, and why.
fn impossible(object: &Map<String, Value>) -> Option<String> {
    object.iter().find_map(|(key, value)| match value {
        Value::Object(inner) => inner.iter().find_map(|(within, value)| {
            let why = number::impossible(value)?;
            Some(format!("{key}.{within} {why}"))
        }),
        value => number::impossible(value).map(|why| format!("{key} {why}")),
    })
}

/// `None` when no value was recorded: fio then prints zeros.
fn latency(value: Option<&Value>, scale: f64) -> Option<ResultLatency> {
    let object = value?.as_object()?;
    let time = |key: &str| number::of(object.get(key)).map(|v| v * scale);
    let count = number::of(object.get("N"));
    let mean_ns = time("mean");
    if count == Some(0.0) || (count.is_none() && mean_ns.unwrap_or(0.0) <= 0.0) {
        return None;
    }
    let listed = object.get("percentile").and_then(Value::as_object);
    let mut percentiles: Vec<(f64, f64)> = listed
        .into_iter()
        .flatten()
        .take(64)
        .filter_map(|(p, v)| Some((number::from_text(p)?, number::of(Some(v))? * scale)))
        .filter(|(p, _)| *p > 0.0 && *p <= 100.0)
        .collect();
    percentiles.sort_by(|a, b| a.0.total_cmp(&b.0));
    let bins = object.get("bins").and_then(Value::as_object);
    Some(ResultLatency {
        count,
        min_ns: time("min"),
        max_ns: time("max"),
        mean_ns,
        percentiles,
        bin_count: bins.map(|b| b.values().filter_map(|v| number::of(Some(v))).sum()),
    })
}

fn spread(
    object: &Map<String, Value>,
    prefix: &str,
    deviation: &str,
    scale: f64,
) -> Option<ResultSpread> {
    let get = |key: String| number::of(object.get(&key));
    let samples = get(format!("{prefix}_samples")).filter(|n| *n > 0.0)?;
    Some(ResultSpread {
        min: get(format!("{prefix}_min"))? * scale,
        max: get(format!("{prefix}_max"))? * scale,
        mean: get(format!("{prefix}_mean"))? * scale,
        deviation: get(deviation.to_owned())? * scale,
        samples,
    })
}

fn steady(value: &Value) -> Option<ResultSteadiness> {
    let object = value.as_object()?;
    Some(ResultSteadiness {
        rule: number::text(object.get("ss")).unwrap_or_default(),
        attained: number::of(object.get("attained")).map(|a| a > 0.0),
        reached: number::text(object.get("criterion")),
    })
}

fn device(value: &Value) -> Option<ResultDevice> {
    let object = value.as_object()?;
    let count = |key: &str| number::of(object.get(key));
    Some(ResultDevice {
        name: number::text(object.get("name"))?,
        stacked: object.keys().any(|key| key.starts_with("aggr_")),
        reads: count("read_ios")?,
        writes: count("write_ios")?,
        read_merges: count("read_merges").unwrap_or(0.0),
        write_merges: count("write_merges").unwrap_or(0.0),
        read_bytes: count("read_sectors").map(|s| s * SECTOR_BYTES),
        write_bytes: count("write_sectors").map(|s| s * SECTOR_BYTES),
        queue_ns: count("in_queue").map(|ms| ms * 1e6),
        busy: count("util").map(|p| p / 100.0),
    })
}
