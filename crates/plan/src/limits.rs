//! Every number of a workload against its bound (`fathom_model::limits`).

use fathom_model::unit;

use crate::diagnostic::{Problems, error};
use crate::keys::WorkloadKeys;
use crate::node::{Located, Span};
use crate::spelling::Spelling;
use crate::value::Count;

use fathom_model::limits::{
    DEADLINE_NS, MAX_FILES, MAX_RATE, MAX_RUNTIME_NS, MAX_SIZE_BYTES, MAX_THINK_NS, MAX_WARMUP_NS,
};
pub(crate) use fathom_model::limits::{MAX_BLOCK_BYTES, MAX_BUFFER_BYTES, MAX_DEPTH, MAX_WORKERS};

/// Trials of one schedule.
pub const MAX_TRIALS: u64 = 10_000;

/// A count within its bounds, or the default.
pub(crate) fn within(
    name: &'static str,
    key: Option<&Located<Count>>,
    default: u32,
    spelling: Spelling,
    problems: &mut Problems,
) -> u32 {
    let Some(key) = key else { return default };
    let (min, max) = match name {
        "numjobs" => (1, MAX_WORKERS),
        "iodepth" => (1, MAX_DEPTH),
        "batch" => (0, MAX_DEPTH),
        "nrfiles" => (1, MAX_FILES),
        "draw_every" => (1, 1_000_000_000),
        _ => (0, 1_000_000_000),
    };
    if !(min..=max).contains(&key.value.0) {
        let message = format!(
            "{} is {}; it must be from {min} to {}",
            spelling.key(name),
            unit::group(key.value.0),
            unit::group(max)
        );
        problems.error("limit", key.span, message);
    }
    u32::try_from(key.value.0.clamp(min, max)).unwrap_or(default)
}

/// Checks every size, time and rate that a workload sets.
pub(crate) fn check(keys: &WorkloadKeys, spelling: Spelling, problems: &mut Problems) {
    let mut too_large = |name: &str, span: Option<Span>, is: String, limit: String| {
        let message = format!("{} is {is}; the limit is {limit}", spelling.key(name));
        problems.push(error("limit", span, message));
    };
    let sizes = [
        ("size", &keys.size),
        ("working_set", &keys.working_set),
        ("offset", &keys.offset),
        ("io_size", &keys.io_size),
        ("align", &keys.align),
        ("misalign", &keys.misalign),
        ("offset_increment", &keys.offset_increment),
        ("region_size", &keys.region_size),
    ];
    for (name, key) in sizes {
        if let Some(key) = key.as_ref().filter(|key| key.value.0 > MAX_SIZE_BYTES) {
            let limit = unit::bytes_exact(MAX_SIZE_BYTES);
            too_large(name, key.span, unit::bytes(key.value.0).to_string(), limit);
        }
    }
    let times = [
        (
            "runtime",
            keys.runtime.as_ref().map(|t| (t.value.0, t.span)),
            MAX_RUNTIME_NS,
        ),
        (
            "warmup",
            keys.warmup.as_ref().map(|t| (t.value.0, t.span)),
            MAX_WARMUP_NS,
        ),
        (
            "think_time",
            keys.think_time.as_ref().map(|t| (t.value.0, t.span)),
            MAX_THINK_NS,
        ),
        (
            "think_spin",
            keys.think_spin.as_ref().map(|t| (t.value.0, t.span)),
            MAX_THINK_NS,
        ),
    ];
    for (name, key, limit) in times {
        if let Some((ns, span)) = key.filter(|(ns, _)| *ns > limit) {
            too_large(name, span, unit::span(ns), unit::span(limit));
        }
    }
    if let Some(deadline) = &keys.deadline
        && !DEADLINE_NS.contains(&deadline.value.0)
    {
        let message = format!("{} must be from 1ms to 24h", spelling.key("deadline"));
        problems.error("limit", deadline.span, message);
    }
    if let Some(align) = keys.align.as_ref().filter(|align| align.value.0 == 0) {
        let message = format!("{} must be at least 1", spelling.key("align"));
        problems.error("limit", align.span, message);
    }
    check_rates(keys, spelling, problems);
}

fn check_rates(keys: &WorkloadKeys, spelling: Spelling, problems: &mut Problems) {
    let rates = [
        (
            "rate",
            keys.rate.as_ref().map(|r| (r.value.per_second, r.span)),
        ),
        (
            "rate_iops",
            keys.rate_iops.as_ref().map(|r| (r.value.0 as f64, r.span)),
        ),
    ];
    for (name, key) in rates {
        if let Some((rate, span)) = key
            && !(rate > 0.0 && rate <= MAX_RATE)
        {
            let message = format!("{} must be above 0 and at most 10^12", spelling.key(name));
            problems.error("limit", span, message);
        }
    }
}
