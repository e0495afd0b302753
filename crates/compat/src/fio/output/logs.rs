//! fio's logs: bandwidth, IOPS, latencies and histograms over time, with its
//! names and lines (`HOWTO`, "Log File Formats").
//!
//! A line of a window is `msec, value, direction, 0, priority`; one of an
//! operation has its block size and, if asked for, offset and time of issue.
//! Times count from the start of the measure phase, as fio's do from the end
//! of `ramp_time`. Windows are put together from the trial's intervals; one
//! that is no multiple of them ends with the interval that it ends in.

use std::io::{self, Write};

use fathom_model::workload::BlockSizes;
use fathom_model::{OpKind, OpSample, Operation, RunRecord, Sample, TrialRecord};

use super::buckets::Buckets;
use super::gather::{DIRECTIONS, measured, trial_of};
use super::view::{FioJob, FioLogs, FioView, WindowValue};

/// What a log is of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Subject {
    Bandwidth,
    Iops,
    Submission,
    Completion,
    Latency,
    Histogram,
}

impl Subject {
    fn name(self) -> &'static str {
        match self {
            Subject::Bandwidth => "bw",
            Subject::Iops => "iops",
            Subject::Submission => "slat",
            Subject::Completion => "clat",
            Subject::Latency => "lat",
            Subject::Histogram => "clat_hist",
        }
    }
}

/// One log file.
#[derive(Debug, Clone)]
pub struct FioLog<'r> {
    name: String,
    parts: Vec<JobLog<'r>>,
}

/// What one job writes into a log.
#[derive(Debug, Clone)]
struct JobLog<'r> {
    subject: Subject,
    job: &'r FioJob,
    trial: &'r TrialRecord,
}

impl FioLog<'_> {
    /// Name of the file, with the directory that the job named.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Whether it is known without writing it that it has no lines: submission
    /// latencies that were not recorded.
    pub fn is_empty(&self) -> bool {
        let recorded = |part: &JobLog<'_>| {
            measured(part.trial).any(|s| s.ops.iter().any(|op| op.halves.is_some()))
        };
        let all = || self.parts.iter();
        all().all(|part| part.subject == Subject::Submission) && !all().any(recorded)
    }

    /// Writes the lines.
    ///
    /// # Errors
    /// Those of `out`.
    pub fn write(&self, out: &mut dyn Write) -> io::Result<()> {
        self.parts.iter().try_for_each(|part| part.write(out))
    }
}

/// The logs that the jobs asked for, in their order. Jobs that share a name
/// share a file.
pub fn logs<'r>(record: &'r RunRecord, view: &'r FioView) -> Vec<FioLog<'r>> {
    let mut logs: Vec<FioLog<'r>> = Vec::new();
    for job in &view.jobs {
        let Some(trial) = trial_of(job, record) else {
            continue;
        };
        for (prefix, subject) in wanted(&job.logs) {
            let name = name(job, prefix, subject);
            let part = JobLog {
                subject,
                job,
                trial,
            };
            match logs.iter_mut().find(|log| log.name == name) {
                Some(log) => log.parts.push(part),
                None => logs.push(FioLog {
                    name,
                    parts: vec![part],
                }),
            }
        }
    }
    logs
}

/// The names that the logs of these jobs will have, each once.
pub fn log_names(view: &FioView) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for job in &view.jobs {
        for (prefix, subject) in wanted(&job.logs) {
            let name = name(job, prefix, subject);
            if !names.contains(&name) {
                names.push(name);
            }
        }
    }
    names
}

fn wanted(logs: &FioLogs) -> Vec<(&str, Subject)> {
    let latencies = [Subject::Submission, Subject::Completion, Subject::Latency];
    let bandwidth = logs.bandwidth.iter().map(|p| (p, Subject::Bandwidth));
    let iops = logs.iops.iter().map(|p| (p, Subject::Iops));
    let latency = logs.latency.iter();
    let latency = latency.flat_map(|p| latencies.map(|subject| (p, subject)));
    let histogram = logs.histogram.iter().map(|p| (p, Subject::Histogram));
    let all = bandwidth.chain(iops).chain(latency).chain(histogram);
    all.map(|(prefix, subject)| (prefix.as_str(), subject))
        .collect()
}

fn name(job: &FioJob, prefix: &str, subject: Subject) -> String {
    let number = if job.logs.per_job {
        format!(".{}", job.number)
    } else {
        String::new()
    };
    let host = job.host.iter().map(|host| format!(".{host}"));
    let host: String = host.collect();
    format!("{prefix}_{}{number}.log{host}", subject.name())
}

/// What a user must know of the logs: what they could not hold.
pub fn log_notes(record: &RunRecord, view: &FioView) -> Vec<String> {
    let mut notes = Vec::new();
    for job in &view.jobs {
        let logs = &job.logs;
        let any = logs.bandwidth.is_some() || logs.iops.is_some() || logs.latency.is_some();
        let Some(trial) = trial_of(job, record) else {
            continue;
        };
        let recording = &trial.spec.workload.recording;
        let interval_ms = recording.interval_ns() / 1_000_000;
        if any && logs.window_ms == 0 {
            let logged: usize = measured(trial).map(|s| s.operations.len()).sum();
            let missed = trial.end.as_ref().map_or(0, |e| e.engine.unlogged_ops);
            if logged == 0 {
                notes.push(format!(
                    "job {}: single operations were not recorded: its logs have a line for \
                     each interval of {interval_ms} ms",
                    job.name
                ));
            } else if missed > 0 {
                notes.push(format!(
                    "job {}: its logs hold the first {logged} operations; there was no room for \
                     {missed} more",
                    job.name
                ));
            }
        }
        let windows = [
            (any, logs.window_ms),
            (logs.histogram.is_some(), logs.histogram_window_ms),
        ];
        for (_, window_ms) in windows.iter().filter(|(used, ms)| *used && *ms > 0) {
            if window_ms % interval_ms.max(1) != 0 {
                notes.push(format!(
                    "job {}: windows of {window_ms} ms are rounded to intervals of {interval_ms} ms",
                    job.name
                ));
            }
        }
    }
    notes
}

/// One line without its value. What belongs to an operation is 0 in a window.
#[derive(Debug, Default)]
struct LogLine {
    at_ms: u64,
    direction: usize,
    bytes: u32,
    offset_bytes: u64,
    issued_ns: u64,
}

impl LogLine {
    fn write(&self, out: &mut dyn Write, logs: &FioLogs, value: &str) -> io::Result<()> {
        let LogLine {
            at_ms,
            direction,
            bytes,
            offset_bytes,
            issued_ns,
        } = self;
        write!(out, "{at_ms}, {value}, {direction}, {bytes}")?;
        if logs.offset {
            write!(out, ", {offset_bytes}")?;
        }
        out.write_all(if logs.priority { b", 0x0000" } else { b", 0" })?;
        if logs.issue_time {
            write!(out, ", {issued_ns}")?;
        }
        out.write_all(b"\n")
    }
}

/// Samples that make up one window, and when it ends.
struct Window<'s> {
    end_ms: u64,
    samples: &'s [&'s Sample],
}

/// Cuts `samples` into windows. A rest that is shorter is a window too.
fn windows<'s>(samples: &'s [&'s Sample], window_ms: u64, visit: &mut dyn FnMut(Window<'s>)) {
    let Some(first) = samples.first() else {
        return;
    };
    let window_ns = window_ms.saturating_mul(1_000_000);
    let mut from = 0;
    let mut next_ns = window_ns;
    for (i, sample) in samples.iter().enumerate() {
        let end_ns = sample.start_ns + sample.duration_ns - first.start_ns;
        let last = i + 1 == samples.len();
        // An interval may be shorter than asked for by the precision of a clock.
        if end_ns + 1_000_000 >= next_ns || last {
            visit(Window {
                end_ms: end_ns.div_ceil(1_000_000),
                samples: &samples[from..=i],
            });
            from = i + 1;
            next_ns = (end_ns / window_ns.max(1) + 1).saturating_mul(window_ns);
            if next_ns <= end_ns + 1_000_000 {
                next_ns += window_ns;
            }
        }
    }
}

impl JobLog<'_> {
    fn write(&self, out: &mut dyn Write) -> io::Result<()> {
        let samples: Vec<&Sample> = measured(self.trial).collect();
        let logs = &self.job.logs;
        let single = samples.iter().any(|s| !s.operations.is_empty());
        if self.subject == Subject::Histogram {
            return self.write_histograms(out, &samples);
        }
        if logs.window_ms == 0 && single {
            let start_ns = samples.first().map_or(0, |s| s.start_ns);
            for operation in samples.iter().flat_map(|s| &s.operations) {
                self.write_operation(out, operation, start_ns)?;
            }
            return Ok(());
        }
        let interval_ns = self.trial.spec.workload.recording.interval_ns();
        let window_ms = logs.window_ms.max(interval_ns / 1_000_000);
        let mut result = Ok(());
        windows(&samples, window_ms, &mut |window| {
            if result.is_ok() {
                result = self.write_window(out, &window);
            }
        });
        result
    }

    /// Milliseconds of the start of the measure phase that times count from.
    fn epoch_ms(&self, samples: &[&Sample]) -> u64 {
        if !self.job.logs.unix_epoch {
            return 0;
        }
        let warmup_ns = samples.first().map_or(0, |s| s.start_ns);
        let load_ns = super::gather::load_started_unix_ns(self.trial);
        load_ns.saturating_add(warmup_ns) / 1_000_000
    }

    fn write_window(&self, out: &mut dyn Write, window: &Window<'_>) -> io::Result<()> {
        let at_ms = window.end_ms + self.epoch_ms(&measured(self.trial).collect::<Vec<_>>());
        for (direction, kind) in DIRECTIONS.into_iter().enumerate() {
            let Some((mean, most)) = self.values(window.samples, kind) else {
                continue;
            };
            let value = match self.job.logs.window_value {
                WindowValue::Average => mean.to_string(),
                WindowValue::Maximum => most.to_string(),
                WindowValue::Both => format!("{mean}, {most}"),
            };
            let line = LogLine {
                at_ms,
                direction,
                ..LogLine::default()
            };
            line.write(out, &self.job.logs, &value)?;
        }
        Ok(())
    }

    /// Mean and maximum of a window; `None` when nothing happened in it.
    fn values(&self, samples: &[&Sample], kind: OpKind) -> Option<(u64, u64)> {
        let ops = || samples.iter().filter_map(|s| s.op(kind).map(|op| (s, op)));
        let rate = |amount: fn(&OpSample) -> f64| {
            let seconds: f64 = samples.iter().map(|s| s.duration_ns as f64 / 1e9).sum();
            let total: f64 = ops().map(|(_, op)| amount(op)).sum();
            let each = ops().map(|(s, op)| amount(op) * 1e9 / s.duration_ns.max(1) as f64);
            let most = each.fold(0.0, f64::max);
            (total > 0.0).then(|| ((total / seconds.max(1e-9)).round() as u64, most as u64))
        };
        match self.subject {
            Subject::Bandwidth => rate(|op| op.bytes as f64 / 1024.0),
            Subject::Iops => rate(|op| op.ops as f64),
            _ => {
                let (mut count, mut sum_ns, mut most) = (0, 0, 0);
                for histogram in ops().filter_map(|(_, op)| self.latency(op)) {
                    count += histogram.count();
                    sum_ns += histogram.sum();
                    most = most.max(histogram.max().unwrap_or(0));
                }
                let mean = |count: u64| (sum_ns as f64 / count as f64).round() as u64;
                (count > 0).then(|| (mean(count), most))
            }
        }
    }

    /// The histogram that the log is of, if the engine has it.
    fn latency<'o>(&self, op: &'o OpSample) -> Option<&'o fathom_model::Histogram> {
        match (self.subject, &op.halves) {
            (Subject::Submission, halves) => halves.as_ref().map(|h| &h.submission),
            (Subject::Completion | Subject::Histogram, Some(halves)) => Some(&halves.completion),
            _ => Some(&op.service),
        }
    }

    fn write_operation(
        &self,
        out: &mut dyn Write,
        operation: &Operation,
        start_ns: u64,
    ) -> io::Result<()> {
        let Some(direction) = DIRECTIONS.iter().position(|kind| *kind == operation.kind) else {
            return Ok(());
        };
        let service_ns = operation.service_ns;
        let value = match self.subject {
            // kB/s of this one operation.
            Subject::Bandwidth => u64::from(operation.bytes) * 1_000_000 / service_ns.max(1),
            Subject::Iops => 1,
            Subject::Submission if operation.submission_ns == 0 => return Ok(()),
            Subject::Submission => operation.submission_ns,
            Subject::Completion => service_ns.saturating_sub(operation.submission_ns),
            Subject::Latency | Subject::Histogram => service_ns,
        };
        let since_ns = |at_ns: u64| at_ns.saturating_sub(start_ns);
        let measured: Vec<&Sample> = measured(self.trial).take(1).collect();
        let at_ms = since_ns(operation.ended_ns) / 1_000_000 + self.epoch_ms(&measured);
        // fio knows the moment of issue where it measures a part of latency.
        let issued_ns = match self.subject {
            Subject::Submission | Subject::Completion => {
                since_ns(operation.started_ns() + operation.submission_ns)
            }
            _ => 0,
        };
        let line = LogLine {
            at_ms,
            direction,
            bytes: operation.bytes,
            offset_bytes: operation.offset_bytes,
            issued_ns,
        };
        line.write(out, &self.job.logs, &value.to_string())
    }

    fn write_histograms(&self, out: &mut dyn Write, samples: &[&Sample]) -> io::Result<()> {
        let logs = &self.job.logs;
        let interval_ms = self.trial.spec.workload.recording.interval_ns() / 1_000_000;
        let window_ms = logs.histogram_window_ms.max(interval_ms);
        let epoch_ms = self.epoch_ms(samples);
        let mut result = Ok(());
        windows(samples, window_ms, &mut |window| {
            if result.is_ok() {
                result = self.write_histogram(out, &window, epoch_ms);
            }
        });
        result
    }

    fn write_histogram(
        &self,
        out: &mut dyn Write,
        window: &Window<'_>,
        epoch_ms: u64,
    ) -> io::Result<()> {
        for (direction, kind) in DIRECTIONS.into_iter().enumerate() {
            let ops = window.samples.iter().filter_map(|s| s.op(kind));
            let mut all = fathom_model::Histogram::new();
            ops.filter_map(|op| self.latency(op))
                .for_each(|histogram| all.merge(histogram));
            if all.is_empty() {
                continue;
            }
            let block = match &self.trial.spec.workload.block {
                BlockSizes::Fixed(bytes) => *bytes,
                other => other.max_bytes(),
            };
            write!(out, "{}, {direction}, {block}", window.end_ms + epoch_ms)?;
            for count in Buckets::of(&all).coarse(self.job.logs.histogram_coarseness) {
                write!(out, ", {count}")?;
            }
            out.write_all(b"\n")?;
        }
        Ok(())
    }
}

#[cfg(test)]
#[path = "logs_tests.rs"]
mod tests;
