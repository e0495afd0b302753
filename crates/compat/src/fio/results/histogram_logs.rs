//! What logs of histograms add to a job: percentiles where its document has
//! none, a contradiction where it has others, and a series of its rate.

use std::collections::BTreeMap;

use crate::results::{ResultJob, ResultLatency, ResultSeries, SeriesKind};
use fathom_model::op::OpKind;

use super::SeriesLog;
use super::histogram::HistogramLines;
use super::log::averaged;

/// A percentile of the log further than this from the stated one is told: the
/// buckets of both are 1.6 % wide at most.
const DIFFERS: f64 = 0.05;

/// Counts closer than this are of the same operations.
const SAME: f64 = 0.01;

/// Percentiles that are compared; the far tail of a short log is a matter of
/// which operations came before its last line.
const COMPARED: std::ops::RangeInclusive<f64> = 50.0..=99.0;

/// Milliseconds and operations per second up to then.
type Rates = Vec<(f64, f64)>;

/// Adds the distributions and rates of the histogram logs among `logs`.
pub(crate) fn add(job: &mut ResultJob, logs: &[SeriesLog], remarks: &mut Vec<String>) {
    let mut directions: BTreeMap<OpKind, (HistogramLines, Vec<Rates>)> = BTreeMap::new();
    for (direction, lines) in logs.iter().flat_map(|log| &log.histograms) {
        let (all, rates) = directions.entry(*direction).or_default();
        all.merge(lines);
        rates.push(lines.rates());
    }
    let source = logs.iter().find(|log| !log.histograms.is_empty());
    let source = source.map_or("", |log| log.source.as_str());
    for (direction, (lines, rates)) in directions {
        let Some(latency) = lines.latency() else {
            continue;
        };
        complete(job, direction, latency, source, remarks);
        job.series.extend(rate(direction, rates));
    }
}

fn complete(
    job: &mut ResultJob,
    direction: OpKind,
    latency: ResultLatency,
    source: &str,
    remarks: &mut Vec<String>,
) {
    let mut directions = job.directions.iter_mut();
    let Some(stated) = directions.find(|d| d.kind == Some(direction)) else {
        return;
    };
    if stated.ops.is_none() {
        stated.ops = latency.count;
    }
    match &mut stated.completion {
        Some(completion) if !completion.percentiles.is_empty() => {
            remarks.extend(match (stated.ops, latency.count) {
                (Some(ops), Some(logged)) if logged > ops * (1.0 + SAME) => Some(format!(
                    "{source}: holds {logged:.0} operations, the result {ops:.0}: they are not of \
                     the same run"
                )),
                // The last interval of a log is often missing, and its operations
                // with it.
                (Some(ops), Some(logged)) if logged < ops * (1.0 - SAME) => None,
                _ => contradiction(completion, &latency, source),
            });
        }
        Some(completion) => {
            completion.percentiles = latency.percentiles;
            completion.count = completion.count.or(latency.count);
        }
        None => stated.completion = Some(latency),
    }
}

/// Where log and document say different things of the same percentile.
fn contradiction(stated: &ResultLatency, logged: &ResultLatency, source: &str) -> Option<String> {
    let compared = stated
        .percentiles
        .iter()
        .filter(|(p, _)| COMPARED.contains(p));
    let pairs = compared.filter_map(|(percent, stated_ns)| {
        let same = |(p, _): &&(f64, f64)| (p - percent).abs() < 1e-6;
        let (_, logged_ns) = logged.percentiles.iter().find(same)?;
        Some((*percent, *stated_ns, *logged_ns))
    });
    let far = |(_, stated, logged): &(f64, f64, f64)| (logged / stated - 1.0).abs() > DIFFERS;
    let (percent, stated_ns, logged_ns) = pairs.rev().find(far)?;
    Some(format!(
        "{source}: its p{percent:.0} is {:.1} µs, that of the result {:.1} µs: they are not of the \
         same operations",
        logged_ns / 1e3,
        stated_ns / 1e3
    ))
}

/// Operations per second of all logs of a direction added up.
fn rate(direction: OpKind, logs: Vec<Rates>) -> Option<ResultSeries> {
    let count = logs.len() as u32;
    let mut sum: Option<(u64, Vec<f64>)> = None;
    for (interval_ns, values) in logs.into_iter().filter_map(averaged) {
        match &mut sum {
            None => sum = Some((interval_ns, values)),
            Some((interval, total)) if *interval == interval_ns => {
                total.truncate(values.len());
                total.iter_mut().zip(&values).for_each(|(t, v)| *t += v);
            }
            Some(_) => return None,
        }
    }
    let (interval_ns, values) = sum?;
    Some(ResultSeries {
        kind: SeriesKind::Operations,
        direction,
        interval_ns,
        values,
        logs: count,
    })
}

/// Takes the rates of histogram logs where no log of a rate says more.
pub(crate) fn fill_gaps(series: &mut Vec<ResultSeries>, of_histograms: Vec<ResultSeries>) {
    for candidate in of_histograms {
        let known = |s: &ResultSeries| {
            s.direction == candidate.direction
                && matches!(s.kind, SeriesKind::Operations | SeriesKind::Bandwidth)
        };
        if !series.iter().any(known) {
            series.push(candidate);
        }
    }
}
