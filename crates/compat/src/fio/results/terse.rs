//! fio's terse (`--minimal`) output, versions 3 to 5.
//!
//! Semicolons separate the fields: five of the job, 41 a direction (47 in
//! version 5), CPU, then distributions. Latencies are in microseconds, rates
//! in KiB per second and whole IOPS. Options are not part of it.

use crate::results::{ResultDirection, ResultDocument, ResultJob, ResultLatency, ResultSpread};
use fathom_model::op::OpKind;

use super::number::from_text;

/// Jobs of a file at most.
const MOST_JOBS: usize = 20_000;

/// The results, when the text is terse output.
pub(crate) fn read(name: &str, text: &str) -> Option<Vec<ResultDocument>> {
    let mut result = ResultDocument {
        source: name.to_owned(),
        ..ResultDocument::default()
    };
    for line in text.lines().take(MOST_JOBS) {
        let fields: Vec<&str> = line.trim().split(';').take(400).collect();
        match job(&fields) {
            Some((tool, job)) => {
                result.tool = Some(tool);
                result.jobs.push(job);
            }
            None if line.trim().is_empty() => {}
            None => result.messages.push(line.chars().take(300).collect()),
        }
        result.messages.truncate(20);
    }
    (!result.jobs.is_empty()).then_some(vec![result])
}

fn job(fields: &[&str]) -> Option<(String, ResultJob)> {
    let version: u32 = fields.first()?.parse().ok()?;
    let tool = fields.get(1).filter(|t| t.starts_with("fio-"))?;
    let (width, kinds): (usize, &[OpKind]) = match version {
        3 => (41, &[OpKind::Read, OpKind::Write]),
        4 => (41, &[OpKind::Read, OpKind::Write, OpKind::Trim]),
        5 => (47, &[OpKind::Read, OpKind::Write, OpKind::Trim]),
        _ => return None,
    };
    let part = |index: usize| fields.get(5 + index * width..5 + (index + 1) * width);
    let directions = kinds
        .iter()
        .enumerate()
        .filter_map(|(index, kind)| direction(part(index)?, *kind))
        .collect();
    let cpu = 5 + kinds.len() * width;
    let share = |at: usize| from_text(fields.get(at)?).map(|p| p / 100.0);
    let job = ResultJob {
        name: fields.get(2)?.chars().take(300).collect(),
        group: fields.get(3)?.parse().ok(),
        error: fields.get(4)?.parse().ok(),
        cpu_user: share(cpu),
        cpu_system: share(cpu + 1),
        directions,
        ..ResultJob::default()
    };
    Some(((*tool).to_owned(), job))
}

fn direction(fields: &[&str], kind: OpKind) -> Option<ResultDirection> {
    let number = |at: usize| from_text(fields.get(at)?);
    let kib = number(0)?;
    if kib <= 0.0 {
        return None;
    }
    let kib_per_second = number(1);
    let mut completion = latency(fields.get(8..12)?);
    if let Some(completion) = completion.as_mut() {
        completion.percentiles = fields
            .get(12..32)?
            .iter()
            .filter_map(|field| {
                let (percent, us) = field.split_once('=')?;
                Some((from_text(percent)?, from_text(us)? * 1e3))
            })
            .filter(|(percent, ns)| *percent > 0.0 && *percent <= 100.0 && *ns > 0.0)
            .collect();
    }
    let bandwidth = |at: usize| number(at).map(|k| k * 1024.0);
    Some(ResultDirection {
        kind: Some(kind),
        bytes: Some(kib * 1024.0),
        bytes_per_second: kib_per_second.map(|k| k * 1024.0),
        ops_per_second: number(2),
        duration_ns: number(3).filter(|ms| *ms > 0.0).map(|ms| ms * 1e6),
        submission: latency(fields.get(4..8)?),
        completion,
        total: latency(fields.get(32..36)?),
        bandwidth_spread: number(41)
            .filter(|samples| *samples > 0.0)
            .and_then(|samples| {
                Some(ResultSpread {
                    min: bandwidth(36)?,
                    max: bandwidth(37)?,
                    mean: bandwidth(39)?,
                    deviation: bandwidth(40)?,
                    samples,
                })
            }),
        ..ResultDirection::default()
    })
}

/// Smallest, largest, mean, deviation in microseconds.
fn latency(fields: &[&str]) -> Option<ResultLatency> {
    let time = |at: usize| from_text(fields.get(at)?).map(|us| us * 1e3);
    let mean_ns = time(2).filter(|mean| *mean > 0.0)?;
    Some(ResultLatency {
        min_ns: time(0),
        max_ns: time(1),
        mean_ns: Some(mean_ns),
        ..ResultLatency::default()
    })
}
