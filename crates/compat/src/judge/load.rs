//! V20, V22, V23, V62, V67: was the load what its name says?

use fathom_model::unit;
use fathom_model::verdict::FindingStatus;
use fathom_rules::check::v22::SHORTEST_CPU_S;
use fathom_rules::{Rule, check};

use super::said::{Counted, EngineWay, has_rate};
use super::{Entry, fio_number};
use fathom_analysis::judgement::Outcome;

/// Operations in flight by Little's law: rate × mean time, flushes included.
pub(super) fn in_flight(entry: &Entry<'_>) -> Option<f64> {
    let mut sum = 0.0;
    for direction in &entry.job.directions {
        sum += direction.rate()? * direction.whole_latency_ns()? / 1e9;
    }
    if let (Some(flushes), Some(seconds)) = (&entry.job.flushes, entry.said.seconds()) {
        let mean = flushes.mean_ns.unwrap_or(0.0) / 1e9;
        sum += flushes.count.unwrap_or(0.0) * mean / seconds;
    }
    (sum > 0.0 && sum.is_finite()).then_some(sum)
}

/// Share of time that each job spent in submitting.
pub(super) fn submission_share(entry: &Entry<'_>) -> Option<f64> {
    let shares = entry.job.directions.iter().filter_map(|d| {
        let mean = d.submission.as_ref()?.mean_ns?;
        Some(d.rate()? * mean / 1e9)
    });
    let sum = shares.reduce(|a, b| a + b)? / entry.said.jobs;
    sum.is_finite().then_some(sum)
}

/// V20: Little's law.
pub(super) fn little(entry: &Entry<'_>) -> Option<Outcome> {
    const RULE: &Rule = check::V20;
    let said = &entry.said;
    if entry.job.directions.is_empty() || said.way == EngineWay::Nothing || entry.job.sum_of_others
    {
        return None;
    }
    let held_back = ["thinktime", "latency_target", "flow"];
    if has_rate(entry.job) || held_back.iter().any(|k| entry.job.options.contains_key(*k)) {
        return None;
    }
    let (Some(asked), Some(depth)) = (said.asked_depth(), said.depth) else {
        return Some(Outcome::not_measured(RULE, "the queue depth is not stated"));
    };
    let Some(kept) = in_flight(entry) else {
        let reason = "Little's law needs a mean latency, and none was recorded";
        return Some(Outcome::not_measured(RULE, reason));
    };
    let share = submission_share(entry).unwrap_or(0.0);
    let blocking = check::v62::CAVEAT;
    if said.way == EngineWay::InFlight
        && depth > 1.0
        && said.direct == Some(false)
        && share > blocking
    {
        let evidence = format!(
            "buffered I/O is carried out inside the submitting call, which took {:.0} % of the \
             time: about {:.0} operation at a time, not {asked:.0}{}",
            100.0 * share.min(1.0),
            said.jobs,
            device_queue(entry)
        );
        let measured = said.jobs / asked;
        let threshold = RULE.invalid;
        return Some(Outcome::decided(
            RULE,
            FindingStatus::Invalid,
            measured,
            threshold,
            evidence,
        ));
    }
    let ratio = kept / asked;
    let most = check::v20::IMPOSSIBLE;
    if ratio > most {
        let evidence = format!(
            "IOPS × mean latency is {kept:.2} operations in flight, and no more than {asked:.0} \
             were allowed: one of the figures is false"
        );
        let invalid = FindingStatus::Invalid;
        return Some(Outcome::decided(RULE, invalid, ratio, Some(most), evidence));
    }
    let evidence = format!(
        "{kept:.2} of {asked:.0} operations were in flight on average (IOPS × mean latency)"
    );
    Some(if said.way == EngineWay::OneAtATime && depth > 1.0 {
        let engine = said.engine.as_deref().unwrap_or_default();
        let evidence = format!("{evidence}; {engine} works on one at a time whatever iodepth says");
        Outcome::graded(RULE, ratio, evidence)
    } else if depth <= 1.0 {
        // The rest of the time went by in the tool: that is V22's affair, and
        // the depth is one all the same.
        Outcome::graded(RULE, ratio, evidence).at_most(FindingStatus::Caveat)
    } else {
        Outcome::graded(RULE, ratio, evidence)
    })
}

/// What the device's own counters say, for one entry alone.
fn device_queue(entry: &Entry<'_>) -> String {
    let devices = entry.result.devices.as_deref().unwrap_or(&[]);
    let queues = devices
        .iter()
        .filter(|d| !d.stacked)
        .filter_map(|d| d.queue_ns);
    match (queues.reduce(|a, b| a + b), entry.said.duration_ns) {
        (Some(queue), Some(ns)) if entry.result.jobs.len() == 1 => {
            format!("; the device had {:.2} requests in its queue", queue / ns)
        }
        _ => String::new(),
    }
}

/// V62: operations that wait before they are submitted.
pub(super) fn submission_wait(entry: &Entry<'_>) -> Option<Outcome> {
    const RULE: &Rule = check::V62;
    let said = &entry.said;
    if said.way == EngineWay::Nothing || said.way == EngineWay::OneAtATime || has_rate(entry.job) {
        return None;
    }
    let share = submission_share(entry)?;
    let evidence = format!(
        "submission took {:.0} % of the time of each job",
        100.0 * share.min(1.0)
    );
    Some(Outcome::graded(RULE, share, evidence))
}

/// V22: was the tool itself busy?
pub(super) fn generator_cpu(entry: &Entry<'_>) -> Option<Outcome> {
    const RULE: &Rule = check::V22;
    let polled = ["hipri", "sqthread_poll", "thinktime_spin"];
    let way = entry.said.way;
    if way == EngineWay::Nothing || polled.iter().any(|k| entry.job.options.contains_key(*k)) {
        return None;
    }
    let Some(cpu) = cpu_share(entry) else {
        let reason = "the CPU time is not stated, or the run was too short for it";
        return Some(Outcome::not_measured(RULE, reason));
    };
    let limit = check::v22::BUSY_THREAD;
    let status = match cpu > limit {
        true => FindingStatus::Caveat,
        false => FindingStatus::Pass,
    };
    let each = if entry.said.merged {
        "each job used"
    } else {
        "the job used"
    };
    let evidence = format!("{each} {:.0} % of a CPU", 100.0 * cpu);
    Some(Outcome::decided(RULE, status, cpu, Some(limit), evidence))
}

/// CPU time of a job over its running time.
pub(super) fn cpu_share(entry: &Entry<'_>) -> Option<f64> {
    let long = entry.said.seconds().is_some_and(|s| s >= SHORTEST_CPU_S);
    let cpu = entry.job.cpu_user? + entry.job.cpu_system?;
    (long && cpu.is_finite() && !entry.job.sum_of_others).then_some(cpu)
}

/// Asked and reached rate of the direction that fell back most.
fn rates(entry: &Entry<'_>) -> Option<(&'static str, f64, f64)> {
    let options = &entry.job.options;
    let by_ops = options.get("rate_iops");
    let by_bytes = options.get("rate");
    let of = |text: &String, position| {
        let part = fio_number::of_direction(text, position)?;
        let value = fio_number::size(part, 1024).filter(|v| *v > 0.0)?;
        Some(value * entry.said.jobs)
    };
    let each = entry.job.directions.iter().filter_map(|d| {
        let (asked, got) = match (by_ops, by_bytes) {
            (Some(text), _) => (of(text, d.position())?, d.rate()?),
            (_, Some(text)) => (of(text, d.position())?, d.bytes_per_second?),
            _ => return None,
        };
        Some((d.name(), asked, got))
    });
    each.min_by(|a, b| (a.2 / a.1).total_cmp(&(b.2 / b.1)))
}

/// V23: was the asked-for rate reached?
pub(super) fn rate_reached(entry: &Entry<'_>) -> Option<Outcome> {
    const RULE: &Rule = check::V23;
    let (name, asked, got) = rates(entry)?;
    let unit = match entry.job.options.contains_key("rate_iops") {
        true => "ops/s",
        false => "bytes/s",
    };
    let evidence = format!(
        "{name}: {} of {} {unit} requested ({:.1} %)",
        unit::count(got),
        unit::count(asked),
        100.0 * got / asked
    );
    Some(Outcome::graded(RULE, got / asked, evidence))
}

/// V67: latencies at a rate that do not count the waiting.
pub(super) fn rate_latency(entry: &Entry<'_>) -> Option<Outcome> {
    const RULE: &Rule = check::V67;
    if !has_rate(entry.job) {
        return None;
    }
    let duration = entry.said.duration_ns?;
    let recorded = |d: &crate::results::ResultDirection| {
        let latency = d.total.as_ref().or(d.completion.as_ref());
        latency.and_then(|l| l.max_ns)
    };
    let longest = entry
        .job
        .directions
        .iter()
        .filter_map(recorded)
        .reduce(f64::max)?;
    let share = longest / duration;
    let evidence = format!(
        "latencies count from submission, not from when an operation was due; operations that had \
         to wait behind the longest one ({}) do not show",
        unit::latency(longest)
    );
    Some(Outcome::graded(RULE, share, evidence))
}
