//! A run as it is stored: one execution of a schedule, with everything that
//! was measured. Analysis reads this, whatever it came from.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::fingerprint::{Fingerprint, TargetFingerprint};
use crate::fleet::{FleetHost, StartReport};
use crate::host_load::HostLoad;
use crate::network::{EndsReport, MatrixReport};
use crate::observation::Observation;
use crate::op::ErrorClass;
use crate::recording::{DepthCounts, ThreadUse};
use crate::rng::splitmix64;
use crate::sample::Sample;
use crate::schedule::{Schedule, ScheduledTrial};
use crate::workload::EngineKind;

/// How far a run or trial came.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum RunState {
    /// Under way (or its process was killed and nobody has noticed yet).
    Running,
    /// Ended as planned.
    Complete,
    /// Ended early: by the user, a signal, a deadline or a crash. What was
    /// measured until then is kept.
    Interrupted,
    /// Could not be carried out.
    Failed,
}

/// What marks the blocks, files and objects of a run: it follows from its id.
pub fn tag_of(id: &str) -> u64 {
    id.bytes()
        .fold(0, |tag, byte| splitmix64(tag ^ u64::from(byte)))
}

/// A run without its series.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RunMeta {
    /// Sortable id, unique per store, for example `20261121-153042-k3f9`.
    pub id: String,
    /// Start, wall clock, nanoseconds since 1970-01-01 UTC.
    pub started_unix_ns: u64,
    /// End, where it is known.
    pub ended_unix_ns: Option<u64>,
    /// How far it came.
    pub state: RunState,
    /// Why it ended early.
    pub reason: Option<String>,
    /// Version of fathom.
    pub tool_version: String,
    /// What the user typed, without secrets.
    pub command_line: Vec<String>,
    /// The exact plan, as YAML.
    pub plan_yaml: String,
    /// `burst`, `sustained` or nothing: how the result must be labelled.
    pub label: Option<String>,
    /// What was executed.
    pub schedule: Schedule,
    /// The host before the run: the one that stores it.
    pub host: Fingerprint,
    /// The hosts that carried the load, where it was not this one.
    #[serde(default)]
    pub hosts: Vec<FleetHost>,
    /// All pairs of several hosts as versions up to 0.1 stored them: figures
    /// without trials.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub matrix_figures: Option<Box<MatrixReport>>,
}

impl RunMeta {
    /// The host that carries out a trial.
    pub fn host_of(&self, spec: &ScheduledTrial) -> &Fingerprint {
        let host = spec.host.and_then(|host| self.hosts.get(host as usize));
        host.map_or(&self.host, |host| &host.fingerprint)
    }
}

/// One trial with its series.
#[derive(Debug, Clone, PartialEq)]
pub struct TrialRecord {
    /// What was to be done.
    pub spec: ScheduledTrial,
    /// Start of the trial, wall clock, nanoseconds since 1970-01-01 UTC.
    pub started_unix_ns: u64,
    /// How far it came.
    pub state: RunState,
    /// Samples of the warm-up and measure phases, in order.
    pub samples: Vec<Sample>,
    /// Observations of the whole trial, in order.
    pub observations: Vec<Observation>,
    /// The target before the trial.
    pub target_before: Option<TargetFingerprint>,
    /// What is known once the trial has ended.
    pub end: Option<TrialEnd>,
}

impl TrialRecord {
    /// When the load began, from the opening of the gate of its set. Of a trial
    /// whose end is not known, what the schedule says.
    pub fn load_started_ns(&self) -> u64 {
        let known = self.end.as_ref().and_then(|end| end.load_started_ns);
        known.unwrap_or(self.spec.start_delay_ns)
    }
}

/// A run with everything.
#[derive(Debug, Clone, PartialEq)]
pub struct RunRecord {
    /// The run.
    pub meta: RunMeta,
    /// Its trials in the order in which they ran, retries included.
    pub trials: Vec<TrialRecord>,
}

impl RunRecord {
    /// A run that nobody stores, without trials yet: by it a conductor judges what
    /// was measured while it decides what comes next.
    pub fn unstored(schedule: Schedule, host: Fingerprint) -> RunRecord {
        RunRecord {
            meta: RunMeta {
                id: String::new(),
                started_unix_ns: 0,
                ended_unix_ns: None,
                state: RunState::Running,
                reason: None,
                tool_version: String::new(),
                command_line: Vec::new(),
                plan_yaml: String::new(),
                label: None,
                schedule,
                host,
                hosts: Vec::new(),
                matrix_figures: None,
            },
            trials: Vec::new(),
        }
    }
}

/// What is known once a trial has ended.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct TrialEnd {
    /// Why it ended early or failed, in words for the user.
    pub reason: Option<String>,
    /// How the engine really worked.
    pub engine: EngineReport,
    /// Facts about the target's data that checks need.
    pub data: DataReport,
    /// The generator's own ceiling with the same shape, when it was measured.
    pub ceiling: Option<Ceiling>,
    /// The target after the trial.
    pub target_after: Option<TargetFingerprint>,
    /// Duration of the final flush, when there was one.
    pub final_flush_ns: Option<u64>,
    /// Dirty and writeback bytes of the host right at the end of the load.
    pub dirty_bytes_at_end: Option<u64>,
    /// Dirty and writeback bytes of the trial's own files right at the end of a
    /// buffered load that nothing flushed; `None` where the kernel cannot count
    /// them.
    #[serde(default)]
    pub own_dirty_bytes_at_end: Option<u64>,
    /// What the host did over the load; for trials that ran at the same time,
    /// over the loads of all of them.
    #[serde(default)]
    pub host: Option<HostLoad>,
    /// When the load began, from the opening of the gate of its set (0 for a
    /// trial that ran alone without a delay). Samples and observations count
    /// from there. `None` when it never began.
    #[serde(default)]
    pub load_started_ns: Option<u64>,
    /// When the load began, wall clock, nanoseconds since 1970-01-01 UTC: time 0
    /// of the samples.
    #[serde(default)]
    pub load_started_unix_ns: Option<u64>,
    /// How the load began on its host; `None` in records of older versions
    /// and where time is virtual.
    #[serde(default)]
    pub start: Option<StartReport>,
    /// What was asked of the bricks during the load, where the target is on
    /// Gluster.
    #[serde(default)]
    pub gluster: Option<Box<crate::gluster::GlusterUse>>,
    /// The wait before the trial until its devices were quiet; `None` where there
    /// was none, and in records of older versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gate: Option<Box<crate::idle_gate::IdleGate>>,
    /// What is known of both ends of a trial that has two.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ends: Option<Box<EndsReport>>,
}

/// How an engine really worked.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct EngineReport {
    /// The engine that was asked for.
    pub requested: Option<EngineKind>,
    /// The engine that ran.
    pub used: Option<EngineKind>,
    /// Whether `O_DIRECT` was in force.
    pub direct: bool,
    /// What could not be had and what was done instead, in words.
    pub fallbacks: Vec<String>,
    /// The first failures in full, at most 100.
    pub errors: Vec<ErrorDetail>,
    /// Operations that were outstanding past the deadline.
    pub stuck: Vec<StuckOp>,
    /// Latencies that came out as zero or negative.
    pub impossible_latencies: u64,
    /// Threads the load used.
    pub workers: u32,
    /// What the threads used of the scheduler and of memory; `None` where time
    /// is virtual.
    #[serde(default)]
    pub threads: Option<ThreadUse>,
    /// How deep the queue was and how large the batches; `None` unless the
    /// workload asked for it.
    #[serde(default)]
    pub depths: Option<DepthCounts>,
    /// Operations for which the log had no room any more.
    #[serde(default)]
    pub unlogged_ops: u64,
    /// The depth at which the search for a latency ended, the lowest of any
    /// worker.
    #[serde(default)]
    pub depth_found: Option<u32>,
    /// When the first and the last worker had done their parts; `None` where
    /// workers have no parts of their own.
    #[serde(default)]
    pub finishers: Option<Finishers>,
    /// What each endpoint of an object store did.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub endpoints: Vec<crate::workload::EndpointReport>,
    /// How far each worker came with its own part, in their order; empty where
    /// workers have no parts of their own.
    #[serde(default)]
    pub parts: Vec<WorkerPart>,
    /// System calls that the workers made on the target during the load, by name,
    /// as counted by the engine itself; empty where it does not count.
    #[serde(default)]
    pub calls: Vec<(String, u64)>,
}

/// How far one worker came with its own part.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct WorkerPart {
    /// When it ended, from the start of the load.
    pub ended_ns: u64,
    /// Its operations.
    pub ops: u64,
    /// The records that they moved.
    pub records: u64,
    /// Operations when the first worker had done its part.
    pub ops_at_first: u64,
    /// Records then.
    pub records_at_first: u64,
}

/// First and last finisher of a load whose workers have parts of their own.
/// Rates over the two times are what other tools call stonewall (or "first
/// done") and "last done".
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Finishers {
    /// When the first worker had done its part, from the start of the load.
    pub first_ns: u64,
    /// Operations of all workers up to then.
    pub ops_at_first: u64,
    /// When the last worker ended.
    pub last_ns: u64,
    /// Operations of all workers.
    pub ops: u64,
}

/// One failed operation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ErrorDetail {
    /// Class in which it was counted.
    pub class: ErrorClass,
    /// What happened: operation, file, offset, length, errno; for a
    /// verification failure what was expected and what was found.
    pub message: String,
    /// When, from the start of the load.
    pub at_ns: u64,
}

/// One operation that did not come back.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct StuckOp {
    /// Operation, file, offset and length.
    pub message: String,
    /// How long it had been outstanding when the trial was given up.
    pub age_ns: u64,
}

/// Facts about the target's data.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct DataReport {
    /// Bytes of the data set that the trial could access.
    pub active_bytes: u64,
    /// Share of the data set that the file system has not allocated or not
    /// written, 0 to 1. `None` when it cannot be told.
    pub unwritten_share: Option<f64>,
    /// How `unwritten_share` was found.
    pub unwritten_method: Option<String>,
    /// Share of the data set that was in the page cache before the load.
    pub cached_share: Option<f64>,
    /// How `cached_share` was found, or why it is missing.
    pub cached_method: Option<String>,
    /// Files that the trial used, at most 16 of them named.
    pub files: Vec<String>,
    /// Bytes that the prepare phase wrote.
    pub prepared_bytes: u64,
    /// Files were there before and were reused.
    pub reused: bool,
    /// Bytes checked by verification.
    pub verified_bytes: u64,
    /// What became of objects that the load put or removed; `None` where it did
    /// neither, and in runs of earlier versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kept: Option<KeptObjects>,
}

/// Objects that were looked at after the load that put or removed them.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct KeptObjects {
    /// Those that the store answered for.
    pub looked: u64,
    /// Those of them that are not there.
    pub missing: u64,
    /// Those that do not have the size that was put.
    pub other_size: u64,
    /// Those that have other contents.
    pub other_content: u64,
    /// Those that the store did not answer for, or refused to show.
    pub unanswered: u64,
    /// Objects that the load removed, and that the store answered for.
    #[serde(default, skip_serializing_if = "is_none_of_them")]
    pub removed_looked: u64,
    /// Those of them that are still there.
    #[serde(default, skip_serializing_if = "is_none_of_them")]
    pub still_there: u64,
    /// One that is not as it was put, or was not answered for, and why.
    pub example: Option<String>,
}

impl KeptObjects {
    /// How many are not as they were put, or removed.
    pub fn wrong(&self) -> u64 {
        self.missing + self.other_size + self.other_content + self.still_there
    }
}

fn is_none_of_them(count: &u64) -> bool {
    *count == 0
}

/// What the generator can do at most with a workload's shape, measured against
/// the null target right before the trial.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Ceiling {
    /// Operations per second of the null target.
    pub ops_per_second: f64,
    /// CPU time per operation of the null target.
    pub cpu_ns_per_op: f64,
}
