//! V01, V06, V07: did the data reach the device, and which one?
//!
//! fio prints counters of the devices over the whole document (`disk_util`).
//! They are read from the kernel every now and then, so that up to half a
//! second may be missing at the end: that much is given as slack. Older
//! versions count requests but not bytes. A random operation that reaches the
//! device is then at least one request or one merge; of a sequential stream
//! only a bound is known, because one request can carry many blocks.

use crate::results::{ResultDevice, ResultDirection};
use fathom_model::op::OpKind;
use fathom_model::unit;
use fathom_model::verdict::FindingStatus;
use fathom_rules::check::v01::{
    LARGEST_REQUEST_BYTES, NEARLY_NOTHING, SHORTEST_S, SMALLEST_REQUEST_BYTES, UNCOUNTED_S,
};
use fathom_rules::check::v07::{FASTEST_WRITE_NS, WRITEBACK_WAKES_S};
use fathom_rules::{Rule, check};

use super::Entry;
use super::fio_number;
use super::said::{Counted, EngineWay, Said};
use fathom_analysis::judgement::Outcome;

/// Share of the application's work that the devices saw.
struct SeenByDevices {
    ratio: f64,
    text: String,
    /// Only an upper bound is known.
    bound: bool,
    /// Counted in bytes, not in requests.
    in_bytes: bool,
    /// So little that only another place than the devices can have answered.
    nearly_nothing: bool,
}

/// Why the counters of the devices say nothing of the jobs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(super) enum Unseen {
    #[error("the result holds no counters of devices (disk_util)")]
    NoCounters,
    #[error("the counters are all zero, as those of a multipath NVMe device are")]
    Multipath,
    #[error("the counters are all zero, as those of some stacked devices are")]
    Stacked,
    #[error("the run is too short for the sampled counters of the devices")]
    TooShort,
    #[error("requests of a sequential stream carry many blocks, and the counters hold no bytes")]
    Sequential,
}

/// Where direct I/O was asked for already.
const REMEDY_OF_DIRECT: &str = "It was direct already, so something below answered in place of \
    the devices. Write the whole file before reading it (holes of a sparse file are answered \
    without the device), name the device itself, or limit the cache below (of a file system such \
    as ZFS, of a loop device, of a hypervisor) or use a data set larger than it.";

/// V01: bytes or requests of the devices against those of the jobs.
pub(super) fn app_vs_device(entry: &Entry<'_>) -> Option<Outcome> {
    const RULE: &Rule = check::V01;
    let said = &entry.said;
    if said.way == EngineWay::Nothing || memory_path(entry).is_some() {
        return None;
    }
    let kinds: Vec<OpKind> = entry
        .job
        .directions
        .iter()
        .filter_map(|d| d.kind)
        .filter(|k| *k == OpKind::Read || (*k == OpKind::Write && said.direct == Some(true)))
        .collect();
    if kinds.is_empty() {
        return None;
    }
    let seen: Vec<Result<SeenByDevices, Unseen>> = kinds.iter().map(|k| seen(entry, *k)).collect();
    let worst = seen
        .iter()
        .filter_map(|s| s.as_ref().ok())
        .filter(|s| !s.bound || s.ratio < check::v01::INVALID)
        .min_by(|a, b| a.ratio.total_cmp(&b.ratio));
    // What is bad by any counter stays so.
    let passes = worst.is_none_or(|worst| worst.ratio >= check::v01::CAVEAT);
    if let Some(evidence) = contradictory_counters(entry).filter(|_| passes) {
        let status = FindingStatus::Caveat;
        return Some(Outcome::decided(RULE, status, 0.0, RULE.caveat, evidence));
    }
    if let Some(worst) = worst {
        let limit = match said.direct {
            // Without sectors a stacked or multipath device can hide requests
            // of direct I/O; only what a cache can explain is condemned.
            Some(true) if !worst.in_bytes && !worst.nearly_nothing => FindingStatus::Caveat,
            _ => FindingStatus::Invalid,
        };
        let outcome = Outcome::graded(RULE, worst.ratio, worst.text.clone()).at_most(limit);
        return Some(match said.direct {
            Some(true) => outcome.with_remedy(REMEDY_OF_DIRECT),
            _ => outcome,
        });
    }
    let reason = seen.into_iter().find_map(Result::err);
    let reason = reason.unwrap_or(Unseen::Sequential).to_string();
    let cached = said.direct == Some(false) && kinds.contains(&OpKind::Read);
    Some(match cached {
        true => Outcome::decided(
            RULE,
            FindingStatus::Caveat,
            f64::NAN,
            RULE.caveat,
            format!(
                "buffered reads can come from memory, and nothing shows whether they did: {reason}"
            ),
        ),
        false => Outcome::not_measured(RULE, reason),
    })
}

/// Counters of a device that cannot all be true.
fn contradictory_counters(entry: &Entry<'_>) -> Option<String> {
    let leaves = counting_devices(entry).ok()?;
    leaves.into_iter().find_map(|device| {
        let requests = device.reads + device.writes;
        let waited = device.queue_ns.is_some_and(|ns| ns > 0.0);
        if waited && requests > 0.0 && device.busy == Some(0.0) {
            return Some(format!(
                "{} counts {} requests with times, and was never busy (util of 0 %): one of its \
                 counters is false",
                device.name,
                unit::count(requests)
            ));
        }
        let read_bytes = device.read_bytes?;
        (read_bytes < device.reads * SMALLEST_REQUEST_BYTES).then(|| {
            format!(
                "{} counts {} reads of {} in all, less than a sector each: one of its counters is \
                 false",
                device.name,
                unit::count(device.reads),
                unit::bytes(read_bytes as u64)
            )
        })
    })
}

/// The devices whose counters are those of the run, each request once.
pub(super) fn counting_devices<'a>(entry: &'a Entry<'_>) -> Result<Vec<&'a ResultDevice>, Unseen> {
    let devices = entry.result.devices.as_deref().unwrap_or(&[]);
    if devices.is_empty() {
        return Err(Unseen::NoCounters);
    }
    let leaves: Vec<&ResultDevice> = match devices.iter().all(|d| d.stacked) {
        true => devices.iter().collect(),
        false => devices.iter().filter(|d| !d.stacked).collect(),
    };
    let silent = leaves.iter().all(|d| d.reads + d.writes == 0.0);
    if silent && leaves.iter().any(|d| d.name.starts_with("nvme")) {
        return Err(Unseen::Multipath);
    }
    if silent && leaves.iter().any(|d| d.stacked) {
        return Err(Unseen::Stacked);
    }
    Ok(leaves)
}

/// What the devices saw of a direction of the whole document.
fn seen(entry: &Entry<'_>, kind: OpKind) -> Result<SeenByDevices, Unseen> {
    let leaves = counting_devices(entry)?;
    let of_all: Vec<(&ResultDirection, Said)> = entry
        .result
        .jobs
        .iter()
        .filter(|job| !job.sum_of_others)
        .map(|job| (job, Said::of(entry.result, job)))
        .filter(|(_, said)| said.way != EngineWay::Nothing)
        .flat_map(|(job, said)| {
            let own = job.directions.iter().filter(|d| d.kind == Some(kind));
            own.map(move |d| (d, said.clone())).collect::<Vec<_>>()
        })
        .collect();
    let seconds = entry.said.seconds().unwrap_or(0.0);
    if seconds < SHORTEST_S {
        return Err(Unseen::TooShort);
    }
    let (bytes, ops) = of_all.iter().fold((0.0, 0.0), |(bytes, ops), (d, _)| {
        (bytes + d.bytes.unwrap_or(0.0), ops + d.ops())
    });
    let stated = |d: &&ResultDevice| match kind {
        OpKind::Write => (d.writes, d.write_merges, d.write_bytes),
        _ => (d.reads, d.read_merges, d.read_bytes),
    };
    let device_bytes: Option<f64> = leaves.iter().map(|d| stated(d).2).sum();
    let requests: f64 = leaves.iter().map(|d| stated(d).0).sum();
    let merges: f64 = leaves.iter().map(|d| stated(d).1).sum();
    let slack = UNCOUNTED_S / seconds;
    let in_bytes = device_bytes.is_some();
    let (share, bound, what) = if let Some(device_bytes) = device_bytes {
        let text = format!(
            "the devices moved {} of {}",
            unit::bytes(device_bytes as u64),
            unit::bytes(bytes as u64)
        );
        (device_bytes / bytes.max(1.0), false, text)
    } else if of_all
        .iter()
        .all(|(_, said)| said.random() == Some(true) || said.direct == Some(true))
    {
        let text = format!(
            "the devices saw {} requests for {} operations",
            unit::count(requests + merges),
            unit::count(ops)
        );
        ((requests + merges) / ops.max(1.0), false, text)
    } else {
        let most = requests * LARGEST_REQUEST_BYTES;
        let text = format!(
            "the devices saw {} requests for {}",
            unit::count(requests),
            unit::bytes(bytes as u64)
        );
        (most / bytes.max(1.0), true, text)
    };
    Ok(SeenByDevices {
        ratio: share + slack,
        bound,
        in_bytes,
        nearly_nothing: share < NEARLY_NOTHING && share + slack < check::v01::INVALID,
        text: format!("{}: {what} ({:.1} %)", kind.name(), 100.0 * share.min(9.99)),
    })
}

/// V06: memory, or nothing at all, under the target.
pub(super) fn in_memory(entry: &Entry<'_>) -> Option<Outcome> {
    const RULE: &Rule = check::V06;
    let evidence = match (entry.said.way, memory_path(entry)) {
        (EngineWay::Nothing, _) => format!(
            "the engine {} moves no data: this is the speed of the tool itself",
            entry.said.engine.as_deref().unwrap_or("null")
        ),
        (_, Some(path)) if is_no_storage(path) => {
            format!("{path} is not storage: this is the speed of the tool itself")
        }
        (_, Some(path)) => format!("{path} lies in memory"),
        _ => return None,
    };
    let threshold = RULE.caveat;
    Some(Outcome::decided(
        RULE,
        FindingStatus::Caveat,
        1.0,
        threshold,
        evidence,
    ))
}

/// The path of a target that is memory whatever the machine.
pub(super) fn memory_path<'a>(entry: &'a Entry<'_>) -> Option<&'a str> {
    let target = entry.said.target.as_deref()?;
    let memory = ["/dev/shm/", "/dev/ram", "/dev/zram", "/run/"];
    let inside = |path: &str| {
        path == "/dev/shm" || is_no_storage(path) || memory.iter().any(|m| path.starts_with(m))
    };
    // Several files have colons between them.
    target.split(':').find(|path| inside(path))
}

/// Whether a device of the kernel's own answers, which keeps nothing.
fn is_no_storage(path: &str) -> bool {
    let name = path.strip_prefix("/dev/");
    name.is_some_and(|name| ["null", "zero", "full", "random", "urandom"].contains(&name))
}

/// Where the writes were direct already.
const REMEDY_OF_UNFLUSHED: &str = "Add end_fsync=1, or fsync=N with N far below the number of \
    writes, to pay for durability as the application does.";

/// V07: written, but was it durable?
pub(super) fn durability(entry: &Entry<'_>) -> Option<Outcome> {
    const RULE: &Rule = check::V07;
    let said = &entry.said;
    let writes = entry
        .job
        .directions
        .iter()
        .find(|d| d.kind == Some(OpKind::Write) && d.bytes != Some(0.0))?;
    if said.way == EngineWay::Nothing || memory_path(entry).is_some() {
        return None;
    }
    let Some(direct) = said.direct else {
        let reason = "the options are not stated, so neither direct nor a flush is known";
        return Some(Outcome::not_measured(RULE, reason));
    };
    if let Some(evidence) = flushed_nowhere(entry) {
        let status = FindingStatus::Caveat;
        return Some(Outcome::decided(RULE, status, 1.0, RULE.caveat, evidence));
    }
    if let Some(flush) = flushes(entry) {
        let evidence = format!("flushed by {flush}");
        return Some(Outcome::decided(
            RULE,
            FindingStatus::Pass,
            0.0,
            RULE.caveat,
            evidence,
        ));
    }
    if direct {
        let evidence = format!(
            "direct writes, never flushed{}: a volatile write cache of the device may hold them, \
             and nothing says that it has none",
            in_vain(entry)
        );
        let info = Outcome::decided(RULE, FindingStatus::Info, 0.0, RULE.info, evidence);
        return Some(info.with_remedy(REMEDY_OF_UNFLUSHED));
    }
    Some(still_in_memory(entry, writes.bytes.unwrap_or(0.0)))
}

/// How much of what was written to the page cache, and never flushed, reached a device.
fn still_in_memory(entry: &Entry<'_>, written_bytes: f64) -> Outcome {
    const RULE: &Rule = check::V07;
    let written = unit::bytes(written_bytes as u64);
    match seen(entry, OpKind::Write) {
        Ok(seen) if !seen.bound || seen.ratio < 1.0 => {
            let left = (1.0 - seen.ratio).max(0.0);
            let evidence = format!(
                "buffered and never flushed{}; {}",
                in_vain(entry),
                seen.text
            );
            Outcome::graded(RULE, left, evidence)
        }
        _ if before_the_kernel_writes(entry) => Outcome::decided(
            RULE,
            FindingStatus::Invalid,
            1.0,
            RULE.invalid,
            format!(
                "{written} were written to the page cache and never flushed{}, in less than the \
                 {WRITEBACK_WAKES_S:.0} s after which the kernel begins to write them to the device: this \
                 is the speed of memory",
                in_vain(entry)
            ),
        ),
        _ => Outcome::decided(
            RULE,
            FindingStatus::Caveat,
            f64::NAN,
            RULE.caveat,
            format!(
                "{written} were written to the page cache and never flushed{}; how much of it \
                 reached the device while the clock ran is not known",
                in_vain(entry)
            ),
        ),
    }
}

/// Whether the job was over before the kernel begins to write dirty pages by itself.
fn before_the_kernel_writes(entry: &Entry<'_>) -> bool {
    let duration_ns = entry.said.duration_ns;
    duration_ns.is_some_and(|ns| ns < 1e9 * WRITEBACK_WAKES_S)
}

/// Flushes that cannot have reached a device, in words.
fn flushed_nowhere(entry: &Entry<'_>) -> Option<String> {
    let flush = flushes(entry)?;
    let direct = entry.said.direct == Some(true);
    let is = |key: &str, value: &str| entry.job.options.get(key).is_some_and(|v| v == value);
    let after_each = is("fsync", "1") || is("fdatasync", "1");
    let each_write = direct || after_each || stated(entry, "sync").is_some();
    // What is overwritten before a later flush reaches no device, and need not.
    if let Ok(seen) = seen(entry, OpKind::Write).as_ref()
        && each_write
        && (seen.in_bytes || seen.nearly_nothing)
        && !seen.bound
        && seen.ratio < check::v01::INVALID
    {
        return Some(format!(
            "flushed by {flush}, but not to these devices: {}",
            seen.text
        ));
    }
    let mean = entry.job.flushes.as_ref().and_then(|f| f.mean_ns);
    let mean = mean.filter(|ns| after_each && !direct && *ns < FASTEST_WRITE_NS)?;
    Some(format!(
        "flushed by {flush}, which took {} on average after each buffered write: no device is \
         that fast, so something answered that keeps nothing",
        unit::latency(mean)
    ))
}

/// Options that flush, or make each write durable, whatever is written.
const FLUSHING: [&str; 4] = ["sync", "end_fsync", "fsync_on_close", "end_syncfs"];
/// Options that flush after every N writes of a job.
const FLUSHING_EVERY: [&str; 2] = ["fsync", "fdatasync"];

/// How what was written was flushed.
pub(super) fn flushes(entry: &Entry<'_>) -> Option<String> {
    let mut every = FLUSHING_EVERY.iter();
    let every = every.find_map(|key| stated(entry, key).filter(|_| was_flushed(entry, key)));
    let always = FLUSHING.iter().find_map(|key| stated(entry, key));
    every.or(always).or_else(|| {
        let count = flush_count(entry)?;
        (count > 0.0).then(|| format!("{} fsync calls", unit::count(count)))
    })
}

/// An option as it was given, unless it switches its flush off.
fn stated(entry: &Entry<'_>, key: &str) -> Option<String> {
    let value = entry.job.options.get(key)?;
    let on = !matches!(value.as_str(), "0" | "none");
    on.then(|| match value.is_empty() {
        true => key.to_owned(),
        false => format!("{key}={value}"),
    })
}

/// Flushes that the result counts. fio counts calls of `sync_file_range` with
/// them, which make nothing durable.
fn flush_count(entry: &Entry<'_>) -> Option<f64> {
    let ranges = entry.job.options.contains_key("sync_file_range");
    let flushes = entry.job.flushes.as_ref().filter(|_| !ranges)?;
    flushes.count
}

/// Whether a flush after every N writes was ever made: by the count of the
/// result, and where it has none by the writes of a job.
fn was_flushed(entry: &Entry<'_>, key: &str) -> bool {
    let directions = entry.job.directions.iter();
    let writes: Vec<&ResultDirection> = directions
        .filter(|d| d.kind == Some(OpKind::Write))
        .collect();
    // fio counts calls of fdatasync(2) only where it takes their times.
    let counted = key == "fsync" || writes.iter().any(|d| d.whole_latency_ns().is_some());
    if let Some(count) = flush_count(entry).filter(|count| counted || *count > 0.0) {
        return count > 0.0;
    }
    let value = entry.job.options.get(key).map_or("", String::as_str);
    let Some(every) = fio_number::size(value, 1000) else {
        return true;
    };
    let writes: f64 = writes.into_iter().map(Counted::ops).sum();
    // Without a count of writes nothing speaks against the option.
    writes == 0.0 || every <= writes / entry.said.jobs
}

/// A requested flush that was never made, as a part of a sentence.
fn in_vain(entry: &Entry<'_>) -> String {
    let asked = FLUSHING_EVERY.iter().find_map(|key| stated(entry, key));
    asked.map_or_else(String::new, |asked| {
        format!(" ({asked} is more than the writes that were made)")
    })
}
