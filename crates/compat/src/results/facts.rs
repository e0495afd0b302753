//! What another tool says that it measured, as plain facts.
//!
//! Nothing here is fathom's own measurement. A fact that the file does not
//! state is `None`, never zero; values are in base units (bytes, nanoseconds,
//! operations per second) whatever the file's own units were.

use std::collections::BTreeMap;

use fathom_model::op::OpKind;

/// One document of results, with the logs that belong to it.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ResultDocument {
    /// Where it was read from, for people.
    pub source: String,
    /// The tool and its version as it names itself, for example `fio-3.33`.
    pub tool: Option<String>,
    /// When it was written, seconds since 1970-01-01 UTC.
    pub written_unix_s: Option<u64>,
    /// Entries in the order of the document.
    pub jobs: Vec<ResultJob>,
    /// Counters of block devices; `None` when the document has none.
    pub devices: Option<Vec<ResultDevice>>,
    /// What was lost or broken in the file.
    pub damage: Vec<String>,
    /// What is odd in the file without losing anything.
    pub remarks: Vec<String>,
    /// Messages of the tool that stood beside the document.
    pub messages: Vec<String>,
}

/// One entry: a job, or several reported as one.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ResultJob {
    /// Name.
    pub name: String,
    /// Host, where the result came from a client.
    pub host: Option<String>,
    /// Reporting group.
    pub group: Option<u64>,
    /// A sum over other entries of the same document.
    pub sum_of_others: bool,
    /// Options as the user wrote them, by canonical name; global ones
    /// included. Empty when the document does not say.
    pub options: BTreeMap<String, String>,
    /// Error number with which the job ended; 0 is none.
    pub error: Option<i64>,
    /// Failures over which the job went on.
    pub failures_ignored: Option<u64>,
    /// Time that the jobs of the entry ran, added up over them.
    pub job_time_ns: Option<f64>,
    /// CPU time in user mode over `job_time_ns`, 0 to 1.
    pub cpu_user: Option<f64>,
    /// CPU time in the kernel over `job_time_ns`, 0 to 1.
    pub cpu_system: Option<f64>,
    /// Data operations by direction; only those that happened.
    pub directions: Vec<ResultDirection>,
    /// Flushes.
    pub flushes: Option<ResultLatency>,
    /// The tool's own opinion on steady state.
    pub steady: Option<ResultSteadiness>,
    /// What logs of the same run say, second by second.
    pub series: Vec<ResultSeries>,
}

/// One direction of one entry.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ResultDirection {
    /// Which; `None` when reads and writes are reported as one.
    pub kind: Option<OpKind>,
    /// Bytes moved.
    pub bytes: Option<f64>,
    /// The same in KiB, where it is stated apart.
    pub kib: Option<f64>,
    /// Operations.
    pub ops: Option<f64>,
    /// Bytes per second.
    pub bytes_per_second: Option<f64>,
    /// The same in KiB per second, where it is stated apart.
    pub kib_per_second: Option<f64>,
    /// Operations per second.
    pub ops_per_second: Option<f64>,
    /// Length of the measurement.
    pub duration_ns: Option<f64>,
    /// Operations that moved less than asked.
    pub short_ops: Option<f64>,
    /// Operations that were dropped.
    pub dropped_ops: Option<f64>,
    /// From preparation to the return of submission.
    pub submission: Option<ResultLatency>,
    /// From submission to completion.
    pub completion: Option<ResultLatency>,
    /// Both together.
    pub total: Option<ResultLatency>,
    /// Spread of the throughput samples, bytes per second.
    pub bandwidth_spread: Option<ResultSpread>,
    /// Spread of the rate samples, operations per second.
    pub rate_spread: Option<ResultSpread>,
    /// A figure that cannot be, with the reason: `iops is negative`.
    pub impossible: Option<String>,
}

impl ResultDirection {
    /// `read`, `write`, `trim` or `mixed`.
    pub fn name(&self) -> &'static str {
        self.kind.map_or("mixed", OpKind::name)
    }

    /// Mean time of one operation as a queue sees it: total, or completion
    /// where nothing else was recorded. Nanoseconds.
    pub fn mean_latency_ns(&self) -> Option<f64> {
        let recorded = |latency: &Option<ResultLatency>| latency.as_ref().and_then(|l| l.mean_ns);
        recorded(&self.total).or_else(|| recorded(&self.completion))
    }
}

/// A latency distribution as the tool states it. Absent when nothing was
/// recorded.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ResultLatency {
    /// Recorded values, where stated.
    pub count: Option<f64>,
    /// Smallest.
    pub min_ns: Option<f64>,
    /// Largest.
    pub max_ns: Option<f64>,
    /// Mean.
    pub mean_ns: Option<f64>,
    /// Percent and nanoseconds, ascending.
    pub percentiles: Vec<(f64, f64)>,
    /// Counts of the histogram added up, where it is stated.
    pub bin_count: Option<f64>,
}

/// Spread of samples over time.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct ResultSpread {
    /// Smallest sample.
    pub min: f64,
    /// Largest sample.
    pub max: f64,
    /// Mean of the samples.
    pub mean: f64,
    /// Standard deviation of the samples.
    pub deviation: f64,
    /// How many.
    pub samples: f64,
}

/// The tool's own steady state.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ResultSteadiness {
    /// What was asked for, in the tool's words.
    pub rule: String,
    /// Whether it was reached; `None` when not stated.
    pub attained: Option<bool>,
    /// The value that was compared, in the tool's words.
    pub reached: Option<String>,
}

/// A series of one value per interval.
#[derive(Debug, Clone, PartialEq)]
pub struct ResultSeries {
    /// What is counted.
    pub kind: SeriesKind,
    /// Which direction.
    pub direction: OpKind,
    /// Length of an interval.
    pub interval_ns: u64,
    /// Bytes or operations per second, or mean nanoseconds.
    pub values: Vec<f64>,
    /// Log files that were added up.
    pub logs: u32,
}

/// What a series counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum SeriesKind {
    /// Bytes per second.
    Bandwidth,
    /// Operations per second.
    Operations,
    /// Mean submission latency.
    Submission,
    /// Mean completion latency.
    Completion,
    /// Mean total latency.
    Total,
}

/// Counters of one block device over the whole run.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ResultDevice {
    /// Kernel name.
    pub name: String,
    /// Whether it lies on other devices that are listed as well.
    pub stacked: bool,
    /// Read requests completed.
    pub reads: f64,
    /// Write requests completed.
    pub writes: f64,
    /// Reads merged into others.
    pub read_merges: f64,
    /// Writes merged into others.
    pub write_merges: f64,
    /// Bytes read, where stated.
    pub read_bytes: Option<f64>,
    /// Bytes written, where stated.
    pub write_bytes: Option<f64>,
    /// Requests in the device's queue, integrated over time.
    pub queue_ns: Option<f64>,
    /// Share of time with a request in the queue, 0 to 1.
    pub busy: Option<f64>,
}
