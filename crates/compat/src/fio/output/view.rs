//! What fio's outputs need beside what was measured: the jobs as their user
//! wrote them. Whoever parsed the job file fills it in; for a run that no job
//! file describes, [`FioView::of_run`] makes it up from the workloads.

use std::fmt;

/// The fio that is followed: its options are known, and its fields are
/// printed unless those of another version are asked for. Parsers look at it
/// to know which fields to expect.
pub const DEFAULT_VERSION: &str = "fio-3.42";

/// The port of fio's servers, unless told otherwise.
pub const FIO_PORT: u16 = 8765;

/// Where a job ran that ran somewhere else.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FioHost {
    /// Its name or address, as the user typed it.
    pub name: String,
    /// Its port; [`FIO_PORT`] where none was given.
    pub port: u16,
}

impl FioHost {
    /// The host of a name with or without a port: `h1`, `h1:7117`,
    /// `[fe80::1]:7117`.
    pub fn of(text: &str) -> FioHost {
        let given = text.rsplit_once(':').and_then(|(name, port)| {
            let bare = name.strip_prefix('[').and_then(|n| n.strip_suffix(']'));
            // A bare IPv6 address has colons of its own.
            let name = bare.or_else(|| (!name.contains(':')).then_some(name))?;
            Some((name, port.parse().ok()?))
        });
        let (name, port) = given.unwrap_or((text, FIO_PORT));
        FioHost {
            name: name.to_owned(),
            port,
        }
    }
}

/// With its port where that is not the usual one: hosts differ in it.
impl fmt::Display for FioHost {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.port, self.name.contains(':')) {
            (FIO_PORT, _) => f.write_str(&self.name),
            (port, true) => write!(f, "[{}]:{port}", self.name),
            (port, false) => write!(f, "{}:{port}", self.name),
        }
    }
}

/// The percentiles that fio reports unless told otherwise.
pub const DEFAULT_PERCENTILES: [f64; 17] = [
    1.0, 5.0, 10.0, 20.0, 30.0, 40.0, 50.0, 60.0, 70.0, 80.0, 90.0, 95.0, 99.0, 99.5, 99.9, 99.95,
    99.99,
];

/// A run as fio's user asked for it.
#[derive(Debug, Clone, PartialEq)]
pub struct FioView {
    /// Printed as `fio version`, for example `fio-3.33`.
    pub version: String,
    /// Options of `[global]`: canonical name and the user's own text; a flag
    /// without a value has an empty one.
    pub global_options: Vec<(String, String)>,
    /// The jobs in the order in which they are reported.
    pub jobs: Vec<FioJob>,
}

/// One job. Jobs of one group that ask for group reporting and follow one
/// another are reported as one.
#[derive(Debug, Clone, PartialEq)]
pub struct FioJob {
    /// Its section's name.
    pub name: String,
    /// Number of its reporting group, from 0.
    pub group_id: u32,
    /// Number of the job over all, from 1; with it the logs are named.
    pub number: u32,
    /// `index` of the [`fathom_model::ScheduledTrial`] that it became. All
    /// workers of that trial are the job.
    pub trial: u32,
    /// Jobs of this kind that the trial stands for (`numjobs`), at least 1.
    pub clones: u32,
    /// It is reported together with the other jobs of its group.
    pub group_reporting: bool,
    /// Its own options: canonical name and the user's own text.
    pub options: Vec<(String, String)>,
    /// Free text of the user.
    pub description: Option<String>,
    /// Where it ran, when that was somewhere else. Results are then written as
    /// a client does it.
    pub host: Option<FioHost>,
    /// Percentiles, 0 to 100, at most 20.
    pub percentiles: Vec<f64>,
    /// Decimals of percentiles in text.
    pub percentile_precision: usize,
    /// Of which latencies there are percentiles.
    pub percentiles_of: PercentilesOf,
    /// Whether reads, writes and trims are added up.
    pub unified: Unified,
    /// Bits instead of bytes per second in text.
    pub bits: bool,
    /// Significant digits of numbers in text.
    pub significant_digits: u32,
    /// It went on after errors, and their number is reported.
    pub continue_on_error: bool,
    /// Its latency target; zeros when it had none.
    pub latency_target: LatencyTarget,
    /// Which logs it writes.
    pub logs: FioLogs,
}

impl FioJob {
    /// A job with fio's defaults that is all of one trial.
    pub fn new(name: &str, trial: u32) -> FioJob {
        FioJob {
            name: name.to_owned(),
            group_id: 0,
            number: trial + 1,
            trial,
            clones: 1,
            group_reporting: false,
            options: Vec::new(),
            description: None,
            host: None,
            percentiles: DEFAULT_PERCENTILES.to_vec(),
            percentile_precision: 2,
            percentiles_of: PercentilesOf::default(),
            unified: Unified::Separate,
            bits: false,
            significant_digits: 4,
            continue_on_error: false,
            latency_target: LatencyTarget::default(),
            logs: FioLogs::default(),
        }
    }
}

/// A job's latency target (`latency_target` and its companions).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LatencyTarget {
    /// The queue depth, or the one that the search for the target ended at.
    pub depth: u32,
    /// The latency; 0 is none.
    pub target_us: u64,
    /// Over this time.
    pub window_us: u64,
    /// For this share of operations, percent.
    pub percentile: f64,
}

impl Default for LatencyTarget {
    fn default() -> Self {
        LatencyTarget {
            depth: 1,
            target_us: 0,
            window_us: 0,
            percentile: 100.0,
        }
    }
}

/// Of which latencies percentiles are reported.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PercentilesOf {
    /// Submission.
    pub slat: bool,
    /// Completion.
    pub clat: bool,
    /// Both together.
    pub lat: bool,
}

impl Default for PercentilesOf {
    fn default() -> Self {
        PercentilesOf {
            slat: false,
            clat: true,
            lat: false,
        }
    }
}

/// Whether reads, writes and trims are added up (`unified_rw_reporting`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unified {
    /// Each on its own.
    Separate,
    /// Only their sum.
    Mixed,
    /// Each on its own, and their sum.
    Both,
}

/// Which logs a job writes, and how.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FioLogs {
    /// Beginning of the bandwidth log's name.
    pub bandwidth: Option<String>,
    /// Beginning of the IOPS log's name.
    pub iops: Option<String>,
    /// Beginning of the names of the submission, completion and total latency
    /// logs.
    pub latency: Option<String>,
    /// Beginning of the histogram log's name.
    pub histogram: Option<String>,
    /// Name of the file that the operations are written to (`write_iolog`).
    pub operations: Option<String>,
    /// Length of a window (`log_avg_msec`); 0 logs every operation.
    pub window_ms: u64,
    /// Length of a histogram's window (`log_hist_msec`).
    pub histogram_window_ms: u64,
    /// Histogram buckets are joined by 2 to the power of this, 0 to 6.
    pub histogram_coarseness: u32,
    /// What a window's line says (`log_window_value`).
    pub window_value: WindowValue,
    /// The offset is logged.
    pub offset: bool,
    /// The priority is logged as a whole, not only whether it is real time.
    pub priority: bool,
    /// The time of issue is logged.
    pub issue_time: bool,
    /// Each job has a log of its own (`per_job_logs`).
    pub per_job: bool,
    /// Times count from 1970 instead of from the start of the job.
    pub unix_epoch: bool,
}

impl Default for FioLogs {
    fn default() -> Self {
        FioLogs {
            bandwidth: None,
            iops: None,
            latency: None,
            histogram: None,
            operations: None,
            window_ms: 0,
            histogram_window_ms: 0,
            histogram_coarseness: 0,
            window_value: WindowValue::Average,
            offset: false,
            priority: false,
            issue_time: false,
            per_job: true,
            unix_epoch: false,
        }
    }
}

/// What the line of a window says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WindowValue {
    /// The mean.
    Average,
    /// The maximum.
    Maximum,
    /// The mean, then the maximum.
    Both,
}
