//! Logs to the jobs that they belong to.
//!
//! fio names a log after `write_bw_log` (and its kin) or after the job, and
//! numbers the jobs of a run from 1, clones counted. Matching is by host, then
//! name, then number; where only one entry exists everything is its own. A log
//! that fits nowhere, or several entries, is left out and named.

use std::collections::BTreeMap;

use crate::results::{ResultDocument, ResultJob, ResultSeries};
use fathom_model::op::OpKind;

use super::{SeriesLog, histogram_logs};

const LOG_OPTIONS: [&str; 4] = [
    "write_bw_log",
    "write_iops_log",
    "write_lat_log",
    "write_hist_log",
];

/// Adds every log to the entry that wrote it. Logs without any document of
/// results become a result of their own. Returns remarks on logs that were
/// not used.
pub fn gather(results: &mut Vec<ResultDocument>, logs: Vec<SeriesLog>) -> Vec<String> {
    let mut remarks = Vec::new();
    if results.is_empty() {
        results.extend(of_logs_alone(&logs));
    }
    let mut found: BTreeMap<(usize, usize), Vec<SeriesLog>> = BTreeMap::new();
    for log in logs {
        if log.broken_lines > 0 {
            remarks.push(format!(
                "{}: {} lines could not be read",
                log.source, log.broken_lines
            ));
        }
        match places(results, &log).as_slice() {
            [place] => found.entry(*place).or_default().push(log),
            [] => remarks.push(format!("{}: belongs to none of the results", log.source)),
            _ => remarks.push(format!(
                "{}: could belong to several of the results; left out",
                log.source
            )),
        }
    }
    for ((result, job), logs) in found {
        let job = &mut results[result].jobs[job];
        histogram_logs::add(job, &logs, &mut remarks);
        let parts = logs.into_iter().flat_map(|l| l.series);
        let with_histograms = std::mem::take(&mut job.series);
        job.series = summed(parts, &mut remarks);
        histogram_logs::fill_gaps(&mut job.series, with_histograms);
    }
    remarks
}

/// The entries to which a log may belong.
fn places(results: &[ResultDocument], log: &SeriesLog) -> Vec<(usize, usize)> {
    let entries: Vec<(usize, usize, &ResultJob)> = results
        .iter()
        .enumerate()
        .flat_map(|(r, result)| {
            result
                .jobs
                .iter()
                .enumerate()
                .map(move |(j, job)| (r, j, job))
        })
        .filter(|(_, _, job)| !job.sum_of_others)
        .collect();
    let place = |entries: &[(usize, usize, &ResultJob)]| -> Vec<(usize, usize)> {
        entries.iter().map(|(r, j, _)| (*r, *j)).collect()
    };
    if entries.len() == 1 {
        return place(&entries);
    }
    let named: Vec<_> = entries
        .into_iter()
        .filter(|(_, _, job)| log.host.is_none() || job.host.is_none() || job.host == log.host)
        .filter(|(_, _, job)| prefixes(job).any(|p| p == log.prefix))
        .collect();
    if named.len() <= 1 {
        return place(&named);
    }
    let Some(number) = log.job else {
        return place(&named);
    };
    let numbered: Vec<_> = named
        .into_iter()
        .filter(|(r, j, _)| numbers(&results[*r].jobs, *j).contains(&number))
        .collect();
    place(&numbered)
}

/// Names under which a job may write logs.
fn prefixes(job: &ResultJob) -> impl Iterator<Item = &str> {
    let options = LOG_OPTIONS
        .iter()
        .filter_map(|key| job.options.get(*key))
        .filter(|text| !text.is_empty())
        .map(|text| text.rsplit('/').next().unwrap_or(text));
    options.chain(std::iter::once(job.name.as_str()))
}

/// Numbers of the jobs in an entry: entries of one name are its clones, unless
/// a group is reported as one.
fn numbers(jobs: &[ResultJob], index: usize) -> std::ops::Range<u64> {
    let weight = |job: &ResultJob| -> u64 {
        let clones = job.options.get("numjobs").and_then(|n| n.parse().ok());
        let alike = jobs
            .iter()
            .filter(|other| other.name == job.name && other.group == job.group)
            .count();
        match clones {
            Some(clones) if alike == 1 && clones < 1_000_000 => clones,
            _ => 1,
        }
    };
    let before: u64 = jobs[..index].iter().map(weight).sum();
    before + 1..before + 1 + weight(&jobs[index])
}

/// Series of the same kind added up over the time that all of them cover.
fn summed(
    parts: impl Iterator<Item = ResultSeries>,
    remarks: &mut Vec<String>,
) -> Vec<ResultSeries> {
    let mut sums: Vec<ResultSeries> = Vec::new();
    for part in parts {
        let same = |s: &&mut ResultSeries| s.kind == part.kind && s.direction == part.direction;
        let Some(sum) = sums.iter_mut().find(same) else {
            sums.push(part);
            continue;
        };
        if sum.interval_ns != part.interval_ns {
            remarks.push("logs of different intervals are not added up".to_owned());
            continue;
        }
        sum.values.truncate(part.values.len());
        for (total, value) in sum.values.iter_mut().zip(&part.values) {
            *total += value;
        }
        sum.logs += 1;
    }
    // The sum of mean latencies is no latency: with several logs there is no
    // weight to average them by.
    sums.retain(|s| {
        use crate::results::SeriesKind::{Bandwidth, Operations};
        s.logs == 1 || matches!(s.kind, Bandwidth | Operations)
    });
    sums
}

/// One result with one nameless job per name of log.
fn of_logs_alone(logs: &[SeriesLog]) -> Option<ResultDocument> {
    let mut jobs: Vec<ResultJob> = Vec::new();
    for log in logs {
        let known = |job: &ResultJob| job.name == log.prefix && job.host == log.host;
        if !jobs.iter().any(known) {
            jobs.push(ResultJob {
                name: log.prefix.clone(),
                host: log.host.clone(),
                directions: directions(logs, log),
                ..ResultJob::default()
            });
        }
    }
    let first = logs.first()?;
    Some(ResultDocument {
        source: first.source.clone(),
        jobs,
        ..ResultDocument::default()
    })
}

fn directions(logs: &[SeriesLog], like: &SeriesLog) -> Vec<crate::results::ResultDirection> {
    let mut kinds: Vec<OpKind> = logs
        .iter()
        .filter(|l| l.prefix == like.prefix && l.host == like.host)
        .flat_map(|l| {
            let series = l.series.iter().map(|s| s.direction);
            series.chain(l.histograms.iter().map(|(direction, _)| *direction))
        })
        .collect();
    kinds.sort_unstable();
    kinds.dedup();
    let direction = |kind| crate::results::ResultDirection {
        kind: Some(kind),
        ..Default::default()
    };
    kinds.into_iter().map(direction).collect()
}
