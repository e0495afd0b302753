//! V25, V71: do the printed figures agree with one another, and do units say
//! what their writer meant?

use crate::results::{ResultDirection, ResultLatency};
use fathom_model::op::OpKind;
use fathom_model::opinion::Aspect;
use fathom_model::unit;
use fathom_model::verdict::FindingStatus;
use fathom_rules::check::v25::{BIN, COUNT_DIFFERS, SAME_FACTOR};
use fathom_rules::{Rule, check};

use super::said::Counted;
use super::{Entry, fio_number};
use fathom_analysis::judgement::Outcome;

/// Two figures that have to agree.
struct Pair {
    what: &'static str,
    /// What rests on them.
    sides: &'static [Aspect],
    stated: f64,
    derived: f64,
    /// Relative difference that rounding explains.
    rounding: f64,
}

impl Pair {
    fn difference(&self) -> f64 {
        let larger = self.stated.abs().max(self.derived.abs());
        if larger <= 0.0 {
            return 0.0;
        }
        ((self.stated - self.derived).abs() / larger - self.rounding).max(0.0)
    }
}

/// Figures that cannot all be true, and what of the result they disprove.
pub(super) struct Contradiction {
    pub(super) sides: &'static [Aspect],
    evidence: String,
}

const RATES: &[Aspect] = &[Aspect::Throughput];
const RATES_OVER_TIME: &[Aspect] = &[Aspect::Throughput, Aspect::Steadiness];
const TIMES: &[Aspect] = &[Aspect::Latency, Aspect::Percentiles];
const MEAN_TIMES: &[Aspect] = &[Aspect::Latency];
const PERCENTILES: &[Aspect] = &[Aspect::Percentiles];
const ALL: &[Aspect] = &[
    Aspect::Throughput,
    Aspect::Latency,
    Aspect::Percentiles,
    Aspect::QueueDepth,
    Aspect::Durability,
];

/// Every contradiction of an entry. One of two figures is false, and which is not
/// known: no side that rests on either is believed.
pub(super) fn contradictions(entry: &Entry<'_>) -> Vec<Contradiction> {
    let directions = &entry.job.directions;
    let mut found: Vec<Contradiction> = Vec::new();
    found.extend(directions.iter().flat_map(|d| impossible(entry, d)));
    found.extend(other_direction(entry).map(|evidence| Contradiction {
        sides: ALL,
        evidence,
    }));
    let apart = compared(entry).filter(|(_, pair)| pair.difference() > check::v25::INVALID);
    found.extend(apart.map(|(direction, pair)| Contradiction {
        sides: pair.sides,
        evidence: format!(
            "{}: {}: stated {}, by the other figures {}{}",
            direction.name(),
            pair.what,
            plain(pair.stated),
            plain(pair.derived),
            confusion(pair.stated / pair.derived)
        ),
    }));
    found
}

/// All pairs of figures that have to agree.
fn compared<'a>(entry: &'a Entry<'_>) -> impl Iterator<Item = (&'a ResultDirection, Pair)> {
    let directions = entry.job.directions.iter();
    let moved = directions.filter(|d| d.bytes != Some(0.0));
    moved.flat_map(move |d| pairs(entry, d).into_iter().map(move |pair| (d, pair)))
}

/// V25: one quantity, printed several times.
pub(super) fn units(entry: &Entry<'_>) -> Option<Outcome> {
    const RULE: &Rule = check::V25;
    let differences: Vec<f64> = compared(entry).map(|(_, pair)| pair.difference()).collect();
    let worst = differences.iter().copied().reduce(f64::max);
    if let Some(first) = contradictions(entry).into_iter().next() {
        let (status, threshold) = (FindingStatus::Invalid, RULE.invalid);
        // Where the figures of a pair differ it is by how much, else all of it.
        let measured = worst.filter(|worst| *worst > check::v25::INVALID);
        let measured = measured.unwrap_or(1.0);
        let evidence = first.evidence;
        return Some(Outcome::decided(
            RULE, status, measured, threshold, evidence,
        ));
    }
    let Some(worst) = worst else {
        let reason = "too few figures are stated to compare any";
        return Some(Outcome::not_measured(RULE, reason));
    };
    let count = differences.len();
    let evidence = format!("{count} pairs of printed figures agree within rounding");
    Some(Outcome::graded(RULE, worst, evidence))
}

/// Work in a direction that the job was not to go, and none in the one that it was.
fn other_direction(entry: &Entry<'_>) -> Option<String> {
    if verifies(entry) {
        return None;
    }
    let pattern = entry.said.pattern.as_deref()?;
    let (asked, other) = match pattern.split(':').next()?.trim() {
        "read" | "randread" => (OpKind::Read, OpKind::Write),
        "write" | "randwrite" => (OpKind::Write, OpKind::Read),
        _ => return None,
    };
    let did = |kind| {
        let of_kind = entry.job.directions.iter().filter(|d| d.kind == Some(kind));
        of_kind.map(Counted::ops).sum::<f64>() > 0.0
    };
    (did(other) && !did(asked)).then(|| {
        let (asked, other) = (asked.name(), other.name());
        format!("rw={pattern}, but every operation was a {other} and none a {asked}")
    })
}

/// Figures of a direction that cannot be, or that contradict one another.
fn impossible(entry: &Entry<'_>, direction: &ResultDirection) -> Vec<Contradiction> {
    let mut found: Vec<Contradiction> = Vec::new();
    let mut add = |sides, words: &str| {
        found.push(Contradiction {
            sides,
            evidence: format!("{}: {words}", direction.name()),
        });
    };
    if let Some(figure) = &direction.impossible {
        let of_time = figure.contains("lat");
        add(if of_time { TIMES } else { RATES }, figure);
    }
    // Where several jobs are summed up, fio adds their means and not their extremes.
    let summed = entry.said.merged || entry.job.sum_of_others || direction.kind.is_none();
    let spread = direction.rate_spread.filter(|_| !summed);
    if spread.is_some_and(|s| s.mean < s.min * (1.0 - BIN) || s.mean.floor() > s.max * (1.0 + BIN))
    {
        add(
            RATES_OVER_TIME,
            "the mean of the samples of IOPS lies outside their smallest and largest",
        );
    }
    for latency in [&direction.completion, &direction.total]
        .into_iter()
        .flatten()
    {
        if let Some((sides, words)) = contradiction_of(latency) {
            add(sides, words);
        }
        if let Some(words) = other_count(entry, direction, latency) {
            add(TIMES, &words);
        }
    }
    found
}

/// What contradicts itself in one distribution of latencies.
fn contradiction_of(latency: &ResultLatency) -> Option<(&'static [Aspect], &'static str)> {
    let percentiles = latency.percentiles.iter().map(|(_, ns)| *ns);
    let stated = [latency.min_ns, latency.mean_ns, latency.max_ns];
    let mut all = stated.into_iter().flatten().chain(percentiles.clone());
    if all.any(|ns| ns < 0.0) {
        return Some((TIMES, "a latency is negative"));
    }
    let least = latency.min_ns.unwrap_or(0.0) * (1.0 - BIN);
    let most = latency.max_ns.unwrap_or(f64::INFINITY) * (1.0 + BIN);
    let outside = |ns: f64| ns < least || ns > most;
    if percentiles.clone().any(outside) {
        return Some((
            TIMES,
            "a percentile lies outside the smallest and largest latency",
        ));
    }
    if latency.mean_ns.is_some_and(outside) {
        return Some((
            MEAN_TIMES,
            "the mean latency lies outside its smallest and largest",
        ));
    }
    let next = percentiles.clone().skip(1);
    let falls = percentiles.zip(next).any(|(one, next)| next < one);
    falls.then_some((
        PERCENTILES,
        "a higher percentile is smaller than a lower one",
    ))
}

/// Latencies of another number of operations than were counted.
fn other_count(
    entry: &Entry<'_>,
    direction: &ResultDirection,
    latency: &ResultLatency,
) -> Option<String> {
    let said = &entry.said;
    if !said.options_known || verifies(entry) {
        return None;
    }
    let (count, ops) = latency.count.filter(|n| *n > 0.0).zip(direction.ops)?;
    // What was in flight at the end is in one of the counts.
    let in_flight = said.asked_depth().unwrap_or(1.0);
    let apart = (count - ops).abs() > COUNT_DIFFERS * ops + in_flight;
    apart.then(|| {
        format!(
            "the latencies are those of {} operations, and {} were counted",
            unit::count(count),
            unit::count(ops)
        )
    })
}

/// What is written is read again to be verified, and a recorded list says itself what
/// is done.
pub(super) fn verifies(entry: &Entry<'_>) -> bool {
    let others = ["verify", "verify_only", "do_verify", "read_iolog"];
    others
        .iter()
        .any(|key| entry.job.options.contains_key(*key))
}

fn plain(value: f64) -> String {
    match value {
        v if v >= 1000.0 => unit::group(v.round() as u64),
        v => format!("{v:.3}"),
    }
}

fn confusion(ratio: f64) -> &'static str {
    let near = |value: f64| {
        (ratio / value - 1.0).abs() < SAME_FACTOR || (ratio * value - 1.0).abs() < SAME_FACTOR
    };
    if near(1.024) {
        "; a factor of 1.024 is that between kB and KiB"
    } else if near(1.048_576) {
        "; a factor of 1.049 is that between MB and MiB"
    } else if near(8.0) {
        "; a factor of 8 is that between bits and bytes"
    } else {
        ""
    }
}

const HISTOGRAM: &str = "histogram against its count";

fn pairs(entry: &Entry<'_>, d: &ResultDirection) -> Vec<Pair> {
    let mut pairs = Vec::new();
    let mut add = |what: &'static str, stated: Option<f64>, derived: Option<f64>, rounding: f64| {
        if let (Some(stated), Some(derived)) = (stated, derived) {
            let sides = if what == HISTOGRAM { TIMES } else { RATES };
            pairs.push(Pair {
                what,
                sides,
                stated,
                derived,
                rounding,
            });
        }
    };
    let per_second = |amount: Option<f64>| Some(amount? / (d.duration_ns? / 1e9));
    // Times are whole milliseconds, rates whole KiB.
    let tick = d.duration_ns.map_or(1.0, |ns| 1.5e6 / ns);
    let step = |value: Option<f64>| value.map_or(0.0, |v| 1.01 / v.max(1.0));
    let mean_block = d.bytes.zip(d.ops.filter(|n| *n > 0.0)).map(|(b, n)| b / n);
    let kib = |value: Option<f64>| value.map(|v| v * 1024.0);
    add("bytes against KiB", d.bytes, kib(d.kib), step(d.kib));
    add(
        "bandwidth in bytes against KiB",
        d.bytes_per_second,
        kib(d.kib_per_second),
        step(d.kib_per_second),
    );
    add(
        "bandwidth",
        d.bytes_per_second,
        per_second(d.bytes),
        tick + step(d.kib_per_second.or(d.bytes_per_second)),
    );
    let fraction = step(d.ops_per_second.filter(|r| r.fract() == 0.0));
    add("IOPS", d.ops_per_second, per_second(d.ops), tick + fraction);
    if let Some(block) = block_bytes(entry, d) {
        let partial = d.short_ops.unwrap_or(0.0) / d.ops.unwrap_or(1.0).max(1.0);
        add(
            "bytes per operation against bs",
            mean_block,
            Some(block),
            partial,
        );
        let by_rate = d.ops_per_second.map(|rate| rate * block);
        let slack = partial + fraction + step(d.kib_per_second.or(d.bytes_per_second));
        add(
            "bandwidth against IOPS × bs",
            d.bytes_per_second,
            by_rate,
            slack,
        );
    }
    for latency in [&d.completion, &d.total].into_iter().flatten() {
        let rounding = step(latency.count);
        add(HISTOGRAM, latency.bin_count, latency.count, rounding);
    }
    pairs
}

/// The block size, where it is one.
fn block_bytes(entry: &Entry<'_>, d: &ResultDirection) -> Option<f64> {
    let options = &entry.job.options;
    let several = [
        "bssplit",
        "bsrange",
        "blocksize_range",
        "bs_unaligned",
        "bs_is_seq_rand",
    ];
    if options.is_empty() || several.iter().any(|key| options.contains_key(*key)) {
        return None;
    }
    let clones = options.get("numjobs").and_then(|n| n.parse::<f64>().ok());
    if entry.said.merged && clones != Some(entry.said.jobs) {
        // Jobs of other block sizes may be part of the sum.
        return None;
    }
    let base = if options.get("kb_base").is_some_and(|b| b == "1000") {
        1000
    } else {
        1024
    };
    let text = options
        .get("bs")
        .or(options.get("blocksize"))
        .map_or("4k", String::as_str);
    if text.contains('-') || d.kind.is_none() {
        return None;
    }
    fio_number::size(fio_number::of_direction(text, d.position())?, base)
}

/// V71: `KiB` in an option of fio.
pub(super) fn unit_words(entry: &Entry<'_>) -> Option<Outcome> {
    const RULE: &Rule = check::V71;
    let options = &entry.job.options;
    if options.is_empty() || options.get("kb_base").is_some_and(|b| b == "1000") {
        return None;
    }
    let keys = [
        "bs",
        "blocksize",
        "size",
        "io_size",
        "filesize",
        "rate",
        "offset",
    ];
    let written: Vec<String> = keys
        .iter()
        .filter_map(|key| Some((*key, options.get(*key)?)))
        .filter(|(_, text)| text.split(',').any(|t| fio_number::says_binary(t.trim())))
        .map(|(key, text)| format!("{key}={text}"))
        .collect();
    if written.is_empty() {
        return None;
    }
    let evidence = format!(
        "{}: without kb_base=1000 fio takes Ki, Mi, Gi as powers of 1000 (4KiB is 4,000 bytes)",
        written.join(", ")
    );
    let count = written.len() as f64;
    let threshold = RULE.caveat;
    Some(Outcome::decided(
        RULE,
        FindingStatus::Caveat,
        count,
        threshold,
        evidence,
    ))
}
