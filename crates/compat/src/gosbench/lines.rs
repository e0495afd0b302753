//! The lines that GOSBench prints, and beside them what it does not say.

use std::fmt::Write;

use super::GosbenchTest;
use fathom_model::run::RunRecord;
use fathom_model::{JudgedRun, unit};

use super::figures::Figures;

/// The columns of its CSV.
pub const CSV_COLUMNS: &str = "testName,Total Operations,Total Bytes,Average Bandwidth in \
    Bytes/s,Average Latency in ms,Test duration seen by server in seconds";

/// Its result line, at a time in nanoseconds since 1970-01-01 UTC.
fn result(test: &GosbenchTest, figures: &Figures, ended_unix_ns: u64) -> String {
    let ended = jiff::Timestamp::from_nanosecond(i128::from(ended_unix_ns)).unwrap_or_default();
    let to_ms = ended_unix_ns / 1_000_000;
    let from_ms = to_ms.saturating_sub((figures.seconds * 1000.0) as u64);
    let stamp = ended.strftime("%Y-%m-%dT%H:%M:%SZ");
    format!(
        "time=\"{stamp}\" level=info msg=\"GRAFANA: ?from={from_ms}&to={to_ms}\"\n\
         time=\"{stamp}\" level=info msg=\"PERF RESULTS\" Average BW in Byte/s={} Average latency in \
         ms={} Test runtime on server={} Total Bytes={} Total Operations={} test={}\n",
        figures.bytes_per_second(),
        figures.mean_latency_ms(),
        figures.seconds,
        figures.bytes,
        figures.ops,
        quoted(&test.name)
    )
}

/// Why a test has no result: no request of it succeeded.
fn why_nothing(record: &RunRecord, reason: Option<&str>) -> String {
    let ends = record.trials.iter().filter_map(|trial| trial.end.as_ref());
    let mut errors = ends.flat_map(|end| &end.engine.errors);
    match (reason, errors.next()) {
        (Some(reason), _) => reason.to_owned(),
        (None, Some(error)) => format!("no request succeeded: {}", error.message),
        (None, None) => "no request succeeded".to_owned(),
    }
}

/// The line of a test that failed, in place of its result.
pub fn failure(test: &GosbenchTest, why: &str, ended_unix_ns: u64) -> String {
    let ended = jiff::Timestamp::from_nanosecond(i128::from(ended_unix_ns)).unwrap_or_default();
    let stamp = ended.strftime("%Y-%m-%dT%H:%M:%SZ");
    format!(
        "time=\"{stamp}\" level=error msg=\"TEST FAILED\" error={why:?} test={}\n",
        quoted(&test.name)
    )
}

/// The row of a test that failed: figures are empty, and the failure stands
/// beside the name.
pub fn csv_failure(test: &GosbenchTest, why: &str) -> String {
    let name = format!("{} (failed: {})", test.name, why.replace(['\n', '\r'], " "));
    format!("\"{}\",,,,,\n", name.replace('"', "\"\""))
}

/// A value as logrus writes it.
fn quoted(text: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-._/@^+".contains(c);
    match !text.is_empty() && text.chars().all(plain) {
        true => text.to_owned(),
        false => format!("{text:?}"),
    }
}

/// Its CSV line.
fn csv(test: &GosbenchTest, figures: &Figures) -> String {
    let name = match test.name.contains([',', '"', '\n']) {
        true => format!("\"{}\"", test.name.replace('"', "\"\"")),
        false => test.name.clone(),
    };
    format!(
        "{name},{},{},{},{},{}\n",
        figures.ops,
        figures.bytes,
        figures.bytes_per_second(),
        figures.mean_latency_ms(),
        figures.seconds
    )
}

/// What is said of a test that has ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TestOutcome {
    /// On standard output.
    pub line: String,
    /// In the file of results.
    pub row: String,
}

/// The result of a test, or its failure where nothing was done: zeros would be
/// taken for a measurement. `reason` is why the run ended.
pub fn outcome(
    test: &GosbenchTest,
    figures: &Figures,
    record: &RunRecord,
    reason: Option<&str>,
    ended_unix_ns: u64,
) -> TestOutcome {
    if figures.ops > 0 {
        return TestOutcome {
            line: result(test, figures, ended_unix_ns),
            row: csv(test, figures),
        };
    }
    let why = why_nothing(record, reason);
    TestOutcome {
        line: failure(test, &why, ended_unix_ns),
        row: csv_failure(test, &why),
    }
}

/// What GOSBench has no figures for: latencies of each kind, and failures.
pub fn latencies(judged: &JudgedRun) -> String {
    let mut out = String::new();
    for trial in &judged.trials {
        for op in trial.summary.ops.iter().filter(|op| op.kind.is_object()) {
            let mut line = format!("{} {} latency:", trial.label, op.kind.name());
            for percentile in &op.service.percentiles {
                if let Some(ns) = percentile.latency_ns.value {
                    let _ = write!(line, " p{} {}", percentile.percent, unit::latency(ns));
                }
            }
            if let Some(max_ns) = op.service.max_ns {
                let _ = write!(line, " max {}", unit::latency(max_ns as f64));
            }
            let _ = writeln!(out, "{line}");
            for error in &op.errors {
                let _ = writeln!(
                    out,
                    "{} failed as {}: {}",
                    op.kind.name(),
                    error.class.name(),
                    error.count
                );
            }
        }
    }
    out
}

/// Where a figure is another than GOSBench would print, and why.
pub fn differences(test: &GosbenchTest, figures: &Figures) -> String {
    let mut all = test.differences();
    all.push(
        "latency is the mean over all requests to the nanosecond, payload not included; GOSBench \
         averages whole milliseconds per worker, and then the workers"
            .to_owned(),
    );
    all.push(
        "the runtime is that of the load; GOSBench adds cleaning up and 10 s of waiting".to_owned(),
    );
    if test.workers > 1 {
        all.push(
            "bandwidth is all bytes over the time under load, not the sum of what each worker \
             reached in its own time"
                .to_owned(),
        );
    }
    if figures.failed > 0 {
        all.push(format!(
            "the bytes of the {} requests that failed are not counted",
            unit::group(figures.failed)
        ));
    }
    let mut out = String::new();
    for one in all {
        let _ = writeln!(out, "differs from GOSBench: {one}");
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_those_of_gosbench() {
        let test = GosbenchTest {
            name: "a, b".to_owned(),
            ..GosbenchTest::default()
        };
        let figures = Figures {
            ops: 10,
            bytes: 4096,
            seconds: 2.0,
            ..Figures::default()
        };
        let expected = "time=\"1970-01-01T00:00:05Z\" level=info msg=\"GRAFANA: ?from=3000&to=5000\"\n\
            time=\"1970-01-01T00:00:05Z\" level=info msg=\"PERF RESULTS\" Average BW in Byte/s=2048 \
            Average latency in ms=0 Test runtime on server=2 Total Bytes=4096 Total Operations=10 \
            test=\"a, b\"\n";
        assert_eq!(result(&test, &figures, 5_000_000_000), expected);
        assert_eq!(csv(&test, &figures), "\"a, b\",10,4096,2048,0,2\n");
        assert_eq!(CSV_COLUMNS.split(',').count(), 6);
        let row = csv_failure(&test, "no \"x\",\ny");
        assert_eq!(row, "\"a, b (failed: no \"\"x\"\", y)\",,,,,\n");
        let line = failure(&test, "no \"x\"", 5_000_000_000);
        assert_eq!(
            line,
            "time=\"1970-01-01T00:00:05Z\" level=error msg=\"TEST FAILED\" error=\"no \\\"x\\\"\" \
             test=\"a, b\"\n"
        );
        assert!(differences(&test, &figures).contains("nanosecond"));
    }
}
