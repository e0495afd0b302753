//! Who causes what was seen: processes and control groups, where they were
//! recorded.
//!
//! What a process writes is counted when it makes a page dirty, and what it
//! reads when a device is asked, so shares are of what processes asked for and
//! not of what one device did. Where the devices moved more than the recorded
//! processes asked for, others did it, and shares are of what the devices moved.

use std::collections::BTreeMap;

use fathom_model::diagnosis::{Answer, ONE_THREAD_WORDS, Shortage};
use fathom_model::unit;
use fathom_rules::diagnosis::doers::{
    FULL_OF_INTERRUPTS, LEAST_BYTES, MOST_OF_THE_TIME, THRESHOLD as LEAST_SHARE,
};
use fathom_rules::diagnosis::waits_for_io::HALF;
use fathom_rules::method::observed::PEAK_QUANTILE;

use crate::load::{self, seconds};
use crate::recording::{DoerMoment, Moment, Recording};

/// Lines of evidence.
const MOST_LINES: usize = 3;
/// A thread that computes without a pause.
const ONE_CPU: std::ops::RangeInclusive<f64> = 0.90..=1.10;

/// Adds who it was to the evidence, which stays at three lines.
pub(crate) fn name(
    recording: &Recording,
    answer: Answer,
    limiter: Shortage,
    evidence: &mut Vec<String>,
) {
    evidence.truncate(MOST_LINES);
    let who = match (answer, limiter) {
        (_, Shortage::CpuQueue) => {
            if let (Some(first), Some(who)) = (evidence.first_mut(), by_cpu(recording)) {
                first.push_str(&format!("; {who}"));
            }
            None
        }
        (Answer::No, Shortage::Nothing) => one_thread(recording),
        // Who does I/O does it elsewhere.
        (_, Shortage::HungDevice) => None,
        (Answer::Yes | Answer::NotProven, _) | (_, Shortage::OneByOne) => by_bytes(recording),
        _ => None,
    };
    let Some(who) = who else { return };
    if evidence.len() < MOST_LINES {
        evidence.push(who);
    } else if let Some(last) = evidence.last_mut() {
        last.push_str(&format!("; {who}"));
    }
}

/// Sums over time of each process or group, the largest first, and of all.
fn sums<'a>(
    recording: &'a Recording,
    doers: impl Fn(&'a Moment) -> &'a [DoerMoment],
    value: impl Fn(&DoerMoment) -> f64,
) -> (Vec<(&'a str, f64)>, f64) {
    let mut by_name: BTreeMap<&str, f64> = BTreeMap::new();
    let mut all_seconds = 0.0;
    for moment in &recording.moments {
        all_seconds += seconds(moment);
        for doer in doers(moment) {
            *by_name.entry(&doer.name).or_default() += value(doer) * seconds(moment);
        }
    }
    let mut order: Vec<(&str, f64)> = by_name
        .into_iter()
        .map(|(name, sum)| (name, sum / all_seconds.max(f64::MIN_POSITIVE)))
        .filter(|(_, mean)| *mean > 0.0)
        .collect();
    order.sort_by(|a, b| b.1.total_cmp(&a.1));
    let all = order.iter().map(|(_, mean)| mean).sum();
    (order, all)
}

/// Mean over time of what the devices moved.
fn moved_bytes(recording: &Recording) -> f64 {
    let all_seconds: f64 = recording.moments.iter().map(seconds).sum();
    let moved = recording.moments.iter();
    let moved: f64 = moved.map(|m| m.moved_bytes() * seconds(m)).sum();
    moved / all_seconds.max(f64::MIN_POSITIVE)
}

/// `812 postgres causes 71 % of the I/O of processes, 32 MiB/s; 900 tar 12 %`.
fn by_bytes(recording: &Recording) -> Option<String> {
    let of_processes = sums(recording, |m| &m.processes, DoerMoment::bytes);
    let of_groups = sums(recording, |m| &m.groups, DoerMoment::bytes);
    let (kind, (order, all)) = match of_processes.1 >= LEAST_BYTES {
        true => ("processes", of_processes),
        false => ("control groups", of_groups),
    };
    let moved = moved_bytes(recording);
    let (whole, all) = match moved > all {
        true => ("what the devices moved".to_owned(), moved),
        false => (format!("the I/O of {kind}"), all),
    };
    let percent = |bytes: f64| format!("{:.0} %", 100.0 * bytes / all);
    if let Some((program, bytes)) = several_of_one_program(&order)
        && all >= LEAST_BYTES
        && bytes >= LEAST_SHARE * all
    {
        let rate = unit::throughput(bytes);
        return Some(format!(
            "{program} causes {} of {whole}, {rate}",
            percent(bytes)
        ));
    }
    let (first, bytes) = *order.first()?;
    if all < LEAST_BYTES || bytes < LEAST_SHARE * all {
        return None;
    }
    let mut line = format!(
        "{first} causes {} of {whole}, {}",
        percent(bytes),
        unit::throughput(bytes)
    );
    if let Some((second, bytes)) = order.get(1).filter(|(_, b)| *b >= LEAST_SHARE * all) {
        line.push_str(&format!("; {second} {}", percent(*bytes)));
    }
    Some(line)
}

/// `postgres (12 processes)` with their sum: the program that does most, where no process of
/// it does as much as the others of it together.
fn several_of_one_program(order: &[(&str, f64)]) -> Option<(String, f64)> {
    let mut programs: BTreeMap<&str, Vec<f64>> = BTreeMap::new();
    for (name, bytes) in order {
        let program = name.split_once(' ').map_or(*name, |(_, program)| program);
        programs.entry(program).or_default().push(*bytes);
    }
    let sum = |parts: &[f64]| parts.iter().sum::<f64>();
    let most = programs
        .into_iter()
        .max_by(|a, b| sum(&a.1).total_cmp(&sum(&b.1)));
    let (program, parts) = most?;
    let all = sum(&parts);
    let largest = parts.iter().copied().fold(0.0, f64::max);
    (parts.len() > 1 && largest < HALF * all)
        .then(|| (format!("{program} ({} processes)", parts.len()), all))
}

/// `most of it by 4123 ffmpeg (1.8 CPUs)`.
fn by_cpu(recording: &Recording) -> Option<String> {
    let (order, seen) = sums(recording, |m| &m.processes, |doer| doer.cpus);
    let (name, cpus) = *order.first()?;
    // A program that ended within an interval is not among those that were seen.
    let all = used_cpus(recording).map_or(seen, |used| used.max(seen));
    if seen < HALF * all {
        return Some(format!(
            "by many programs or by ones that came and went; the largest that stayed is {name} \
             ({cpus:.1} CPUs)"
        ));
    }
    let part = match cpus >= HALF * all {
        true => "most of it",
        false => "the largest part",
    };
    (cpus >= LEAST_SHARE * all).then(|| format!("{part} by {name} ({cpus:.1} CPUs)"))
}

/// CPUs that ran programs or the kernel, as a mean over time.
fn used_cpus(recording: &Recording) -> Option<f64> {
    let cpus = f64::from(recording.host.cpus?);
    let (mut used, mut all_seconds) = (0.0, 0.0);
    for moment in &recording.moments {
        let Some(shares) = moment.cpu else { continue };
        used += (shares.user + shares.system) * cpus * seconds(moment);
        all_seconds += seconds(moment);
    }
    (all_seconds > 0.0).then(|| used / all_seconds)
}

/// A program that computes on one CPU and could not use another.
fn one_thread(recording: &Recording) -> Option<String> {
    let (order, _) = sums(recording, |m| &m.processes, |doer| doer.cpus);
    let (name, _) = *order.first()?;
    let cpus = load::series(recording, |m| {
        let doer = m.processes.iter().find(|doer| doer.name == name);
        Some(doer.map_or(0.0, |doer| doer.cpus))
    });
    let always = cpus.share_from(*ONE_CPU.start()) >= MOST_OF_THE_TIME;
    let never_more = cpus.quantile(PEAK_QUANTILE)? <= *ONE_CPU.end();
    (always && never_more)
        .then(|| format!("{name} computes on one CPU without a pause: {ONE_THREAD_WORDS}"))
}

/// A CPU that interrupts keep busy, in words.
pub(crate) fn interrupts(recording: &Recording) -> Option<String> {
    let share = load::series(recording, |m| Some(m.busiest_cpu?.interrupts));
    let usual = share.quantile(0.5)?;
    let number = recording.moments.last()?.busiest_cpu?.number;
    (usual >= FULL_OF_INTERRUPTS).then(|| {
        format!(
            "CPU {number} serves interrupts {:.0} % of its time: they are not spread over the CPUs",
            100.0 * usual
        )
    })
}

#[cfg(test)]
#[path = "who_tests.rs"]
mod tests;
