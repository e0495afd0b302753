//! One line per trial, interval and kind of operation (RFC 4180).

use std::io::{self, Write};

use fathom_model::{ErrorClass, Histogram, OpSample, RunRecord, Sample, TrialRecord};

/// A column: its name and how it is read from a line's parts.
struct CsvColumn {
    name: &'static str,
    write: fn(&mut dyn Write, &CsvLine<'_>) -> io::Result<()>,
}

/// What a line is made from.
struct CsvLine<'r> {
    run_id: &'r str,
    trial: &'r TrialRecord,
    sample: &'r Sample,
    op: &'r OpSample,
}

macro_rules! columns {
    ($($name:literal, $meaning:literal, |$out:ident, $line:ident| $write:expr;)*) => {
        const COLUMNS: &[CsvColumn] = &[$(CsvColumn {
            name: $name,
            write: |$out, $line| $write,
        }),*];

        /// The columns in order: name and meaning. New ones are only ever
        /// added at the end.
        pub const CSV_COLUMNS: &[(&str, &str)] = &[$(($name, $meaning)),*];
    };
}

columns! {
    "run_id", "id of the run", |out, l| text(out, l.run_id);
    "trial", "position of the trial in the schedule, from 0; a retry repeats it",
        |out, l| write!(out, "{}", l.trial.spec.index);
    "trial_started_unix_ns", "start of the trial, ns since 1970-01-01 UTC; tells retries apart",
        |out, l| write!(out, "{}", l.trial.started_unix_ns);
    "row", "row of the plan; trials of one row are iterations of one another",
        |out, l| write!(out, "{}", l.trial.spec.row);
    "iteration", "repetition within the row, from 0",
        |out, l| write!(out, "{}", l.trial.spec.iteration);
    "label", "workload name and matrix values", |out, l| text(out, &l.trial.spec.label);
    "target", "what was measured", |out, l| text(out, &l.trial.spec.target.to_string());
    "phase", "warmup or measure", |out, l| text(out, l.sample.phase.name());
    "interval", "number of the interval within its phase, from 0",
        |out, l| write!(out, "{}", l.sample.index);
    "start_ns", "start of the interval, ns from the start of the load",
        |out, l| write!(out, "{}", l.sample.start_ns);
    "duration_ns", "length of the interval, ns", |out, l| write!(out, "{}", l.sample.duration_ns);
    "workers", "workers in the interval", |out, l| write!(out, "{}", l.sample.workers);
    "kind", "kind of operation: read, write, trim, sync or commit",
        |out, l| text(out, l.op.kind.name());
    "ops", "successful operations", |out, l| write!(out, "{}", l.op.ops);
    "bytes", "bytes that they moved", |out, l| write!(out, "{}", l.op.bytes);
    "errors", "failed operations", |out, l| write!(out, "{}", l.op.errors.total());
    "errors_io", "of these: EIO", |out, l| errors(out, l, ErrorClass::Io);
    "errors_no_space", "of these: ENOSPC, EDQUOT, EFBIG",
        |out, l| errors(out, l, ErrorClass::NoSpace);
    "errors_permission", "of these: EACCES, EPERM, EROFS",
        |out, l| errors(out, l, ErrorClass::Permission);
    "errors_unsupported", "of these: EINVAL, EOPNOTSUPP",
        |out, l| errors(out, l, ErrorClass::Unsupported);
    "errors_timeout", "of these: deadline passed", |out, l| errors(out, l, ErrorClass::Timeout);
    "errors_short", "of these: fewer bytes than requested",
        |out, l| errors(out, l, ErrorClass::Short);
    "errors_verify", "of these: wrong data", |out, l| errors(out, l, ErrorClass::Verify);
    "errors_other", "of these: anything else", |out, l| errors(out, l, ErrorClass::Other);
    "service_count", "values in the service latency histogram (from submission)",
        |out, l| write!(out, "{}", l.op.service.count());
    "service_sum_ns", "their exact sum, ns", |out, l| write!(out, "{}", l.op.service.sum());
    "service_min_ns", "exact smallest, ns", |out, l| number(out, l.op.service.min());
    "service_p50_ns", "median of this interval, ns; bucket error at most 0.4 %",
        |out, l| number(out, l.op.service.quantile(0.5));
    "service_p90_ns", "90th percentile of this interval, ns",
        |out, l| number(out, l.op.service.quantile(0.9));
    "service_p99_ns", "99th percentile of this interval, ns",
        |out, l| number(out, l.op.service.quantile(0.99));
    "service_p999_ns", "99.9th percentile of this interval, ns",
        |out, l| number(out, l.op.service.quantile(0.999));
    "service_max_ns", "exact largest, ns", |out, l| number(out, l.op.service.max());
    "response_count", "values in the response latency histogram (from the intended start); \
                       empty in a closed loop",
        |out, l| number(out, response(l).map(Histogram::count));
    "response_sum_ns", "their exact sum, ns", |out, l| number(out, response(l).map(Histogram::sum));
    "response_min_ns", "exact smallest, ns",
        |out, l| number(out, response(l).and_then(Histogram::min));
    "response_p50_ns", "median of this interval, ns",
        |out, l| number(out, response(l).and_then(|h| h.quantile(0.5)));
    "response_p90_ns", "90th percentile of this interval, ns",
        |out, l| number(out, response(l).and_then(|h| h.quantile(0.9)));
    "response_p99_ns", "99th percentile of this interval, ns",
        |out, l| number(out, response(l).and_then(|h| h.quantile(0.99)));
    "response_p999_ns", "99.9th percentile of this interval, ns",
        |out, l| number(out, response(l).and_then(|h| h.quantile(0.999)));
    "response_max_ns", "exact largest, ns",
        |out, l| number(out, response(l).and_then(Histogram::max));
    "errors_slow_down", "of the failed: the store asked to slow down (503, 429)",
        |out, l| errors(out, l, ErrorClass::SlowDown);
    "errors_reset", "of the failed: no connection, or one that ended before the answer",
        |out, l| errors(out, l, ErrorClass::Reset);
    "errors_refused", "of the failed: refused by the store (400 to 499)",
        |out, l| errors(out, l, ErrorClass::Refused);
    "errors_failed", "of the failed: the store failed (500 to 599)",
        |out, l| errors(out, l, ErrorClass::Failed);
}

/// Writes the series of a run: a header line, then one line per trial,
/// interval and kind of operation, as [`CSV_COLUMNS`] says. Lines end with
/// CR LF and fields are quoted where needed, as RFC 4180 asks.
///
/// Percentiles describe what happened in that interval. They cannot be
/// averaged; take the histograms of [`super::json`] to combine intervals.
///
/// # Errors
/// Those of `out`.
pub fn csv(run: &RunRecord, out: &mut dyn Write) -> io::Result<()> {
    let names: Vec<&str> = COLUMNS.iter().map(|column| column.name).collect();
    write!(out, "{}\r\n", names.join(","))?;
    for trial in &run.trials {
        for sample in &trial.samples {
            for op in &sample.ops {
                let line = CsvLine {
                    run_id: &run.meta.id,
                    trial,
                    sample,
                    op,
                };
                for (i, column) in COLUMNS.iter().enumerate() {
                    if i > 0 {
                        out.write_all(b",")?;
                    }
                    (column.write)(out, &line)?;
                }
                out.write_all(b"\r\n")?;
            }
        }
    }
    Ok(())
}

fn response<'r>(line: &CsvLine<'r>) -> Option<&'r Histogram> {
    line.op.response.as_ref()
}

fn errors(out: &mut dyn Write, line: &CsvLine<'_>, class: ErrorClass) -> io::Result<()> {
    write!(out, "{}", line.op.errors.get(class))
}

fn number(out: &mut dyn Write, value: Option<impl std::fmt::Display>) -> io::Result<()> {
    match value {
        Some(value) => write!(out, "{value}"),
        None => Ok(()),
    }
}

fn text(out: &mut dyn Write, text: &str) -> io::Result<()> {
    if text.contains(['"', ',', '\r', '\n']) {
        write!(out, "\"{}\"", text.replace('"', "\"\""))
    } else {
        out.write_all(text.as_bytes())
    }
}

#[cfg(test)]
#[path = "csv_tests.rs"]
mod tests;
