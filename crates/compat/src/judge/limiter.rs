//! What set another tool's number? Named on proof only; a file holds few.

use fathom_model::opinion::Aspect;
use fathom_model::unit;
use fathom_model::verdict::{Finding, FindingStatus, Limiter};
use fathom_rules::check::{self, v20};
use fathom_rules::method::named_limiter::LATENCY_BOUND_BYTES;

use super::Entry;
use super::device::memory_path;
use super::identity::contradictions;
use super::said::{Counted, EngineWay, has_rate};

/// The limiter and its evidence.
pub(super) fn of(entry: &Entry<'_>, findings: &[Finding]) -> (Limiter, String) {
    let find = |id: &str| findings.iter().find(|f| f.id == id);
    let status = |id: &str| find(id).map(|f| f.status);
    let evidence = |id: &str| {
        find(id)
            .map(|f| format!("{}: {}", f.id, f.evidence))
            .unwrap_or_default()
    };
    if entry.said.way == EngineWay::Nothing {
        return (Limiter::GeneratorCpu, evidence(check::id::V06));
    }
    if memory_path(entry).is_some() {
        return (Limiter::Memory, evidence(check::id::V06));
    }
    if status(check::id::V01) == Some(FindingStatus::Invalid) {
        return (Limiter::Cache, evidence(check::id::V01));
    }
    if status(check::id::V22) == Some(FindingStatus::Caveat) {
        return (Limiter::GeneratorCpu, evidence(check::id::V22));
    }
    if has_rate(entry.job) && status(check::id::V23) == Some(FindingStatus::Pass) {
        return (Limiter::Rate, evidence(check::id::V23));
    }
    if let Some(text) = flush(entry) {
        return (Limiter::Flush, text);
    }
    if status(check::id::V30) == Some(FindingStatus::Invalid) {
        return (Limiter::ForeignLoad, evidence(check::id::V30));
    }
    if let Some(text) = depth(entry, findings) {
        return (Limiter::QueueDepth, text);
    }
    let text = "the files do not prove what set the rate; a run at twice the depth, or `fathom io` \
                on the same target, would tell";
    (Limiter::Unknown, text.to_owned())
}

/// Most of the time went by in flushes.
fn flush(entry: &Entry<'_>) -> Option<String> {
    let flushes = entry.job.flushes.as_ref()?;
    let seconds = entry.said.seconds()? * entry.said.jobs;
    let share = flushes.count? * flushes.mean_ns? / 1e9 / seconds;
    (share > 0.5).then(|| {
        let what = match entry.job.options.contains_key("sync_file_range") {
            true => "calls of sync_file_range",
            false => "flushes",
        };
        format!(
            "{what} took {:.0} % of the time of each job",
            100.0 * share.min(1.0)
        )
    })
}

/// One small direct operation at a time, and a device that was idle between.
fn depth(entry: &Entry<'_>, findings: &[Finding]) -> Option<String> {
    let said = &entry.said;
    let alone = said.depth == Some(1.0) && said.jobs <= 1.0 && entry.result.jobs.len() == 1;
    let direct = said.direct == Some(true) && !has_rate(entry.job);
    let reached = findings
        .iter()
        .any(|f| f.id == check::id::V01 && f.status == FindingStatus::Pass);
    // The latency sets a rate only where an operation is in flight most of the time,
    // and where it is one that can be.
    let one_after_the_other = findings.iter().any(|f| {
        let ratio = f.measured.unwrap_or(0.0);
        f.id == check::id::V20 && f.status != FindingStatus::Invalid && ratio > v20::INVALID
    });
    let possible = !contradictions(entry)
        .iter()
        .any(|c| c.sides.contains(&Aspect::Latency) || c.sides.contains(&Aspect::Throughput));
    let small = entry
        .job
        .directions
        .iter()
        .all(|d| d.bytes.unwrap_or(f64::MAX) / d.ops().max(1.0) <= LATENCY_BOUND_BYTES as f64);
    let devices = entry.result.devices.as_deref()?;
    let queue: f64 = devices
        .iter()
        .filter(|d| !d.stacked)
        .filter_map(|d| d.queue_ns)
        .sum();
    let mean = queue / said.duration_ns?;
    let kept = !entry.job.options.contains_key("thinktime");
    let depth = alone && direct && kept && one_after_the_other && possible;
    (depth && reached && small && mean < 1.0).then(|| {
        let latency = entry
            .job
            .directions
            .iter()
            .find_map(Counted::whole_latency_ns);
        let latency = latency.map(|ns| format!(" of {}", unit::latency(ns)));
        format!(
            "one operation at a time: the latency{} sets the rate; the device had {mean:.2} \
             requests in its queue",
            latency.unwrap_or_default()
        )
    })
}
