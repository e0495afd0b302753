//! One second of one worker group.

use serde::{Deserialize, Serialize};

use crate::histogram::Histogram;
use crate::network::ConnectionState;
use crate::op::{ErrorCounts, OpKind};
use crate::operation::Operation;

/// A part of a trial.
#[derive(
    Debug,
    Clone,
    Copy,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Hash,
    Serialize,
    Deserialize,
    schemars::JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum Phase {
    /// The target is checked, files are made, the target is filled.
    Prepare,
    /// The load runs; samples are stored but not judged.
    Warmup,
    /// The load runs; this is what results are made of.
    Measure,
    /// Final flush, verification, wait for the device to become quiet.
    Settle,
    /// What the run created is removed.
    Cleanup,
}

impl Phase {
    /// Every phase in order.
    pub const ALL: [Phase; 5] = [
        Phase::Prepare,
        Phase::Warmup,
        Phase::Measure,
        Phase::Settle,
        Phase::Cleanup,
    ];

    /// The lower-case name.
    pub fn name(self) -> &'static str {
        match self {
            Phase::Prepare => "prepare",
            Phase::Warmup => "warmup",
            Phase::Measure => "measure",
            Phase::Settle => "settle",
            Phase::Cleanup => "cleanup",
        }
    }
}

// Stores keep a phase as its number.
const _: () = {
    let mut at = 0;
    while at < Phase::ALL.len() {
        assert!(Phase::ALL[at] as usize == at);
        at += 1;
    }
};

/// One kind of operation within a sample.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct OpSample {
    /// Which kind.
    pub kind: OpKind,
    /// Successful operations that completed in the interval.
    pub ops: u64,
    /// Bytes that they moved.
    pub bytes: u64,
    /// Failed operations that completed in the interval.
    pub errors: ErrorCounts,
    /// Latency from submission.
    pub service: Histogram,
    /// Latency from the intended start. Only in an open loop.
    pub response: Option<Histogram>,
    /// Where service latency went, when the workload asked for it and the
    /// engine can tell.
    pub halves: Option<Box<Halves>>,
}

/// The two halves of service latency of an asynchronous engine.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Halves {
    /// From the start of submission to the return of the call that submitted.
    pub submission: Histogram,
    /// From there to completion.
    pub completion: Histogram,
}

impl Halves {
    /// Adds the counts of `other`.
    pub fn merge(&mut self, other: &Halves) {
        self.submission.merge(&other.submission);
        self.completion.merge(&other.completion);
    }
}

impl OpSample {
    /// An empty sample of a kind.
    pub fn new(kind: OpKind, open_loop: bool) -> OpSample {
        OpSample {
            kind,
            ops: 0,
            bytes: 0,
            errors: ErrorCounts::default(),
            service: Histogram::new(),
            response: open_loop.then(Histogram::new),
            halves: None,
        }
    }

    /// Adds the counts of `other`, which must be of the same kind.
    pub fn merge(&mut self, other: &OpSample) {
        assert_eq!(self.kind, other.kind, "only samples of one kind merge");
        self.ops += other.ops;
        self.bytes += other.bytes;
        self.errors.merge(&other.errors);
        self.service.merge(&other.service);
        match (&mut self.response, &other.response) {
            (Some(mine), Some(theirs)) => mine.merge(theirs),
            (mine @ None, Some(theirs)) => *mine = Some(theirs.clone()),
            (_, None) => {}
        }
        match (&mut self.halves, &other.halves) {
            (Some(mine), Some(theirs)) => mine.merge(theirs),
            (mine @ None, Some(theirs)) => *mine = Some(theirs.clone()),
            (_, None) => {}
        }
    }
}

/// One second (or the shorter last part) of one worker group on one host.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Sample {
    /// Warm-up or measure.
    pub phase: Phase,
    /// Number of the interval within its phase, from 0.
    pub index: u32,
    /// Start, from the start of the trial's load (warm-up included).
    pub start_ns: u64,
    /// Length of the interval: of the longest worker's part.
    pub duration_ns: u64,
    /// Workers whose part is in the sample.
    pub workers: u32,
    /// What they did, one entry per kind that the workload can produce.
    pub ops: Vec<OpSample>,
    /// How late operations were submitted against their intended start. Only
    /// in an open loop.
    pub lateness: Option<Histogram>,
    /// Operations in flight, integrated over the interval, in ops × ns. Over
    /// duration × workers × depth it says how full the queue was kept.
    pub in_flight_ns: u128,
    /// CPU time of the worker threads, user.
    pub cpu_user_ns: u64,
    /// CPU time of the worker threads, kernel.
    pub cpu_system_ns: u64,
    /// Time in which workers could run and did not get a CPU.
    pub run_delay_ns: u64,
    /// CPU time of the busiest worker thread.
    pub busiest_worker_cpu_ns: u64,
    /// Longest time in which a worker of a closed loop submitted and reaped
    /// nothing although something was due: stops of the generator itself.
    pub longest_stall_ns: u64,
    /// The operations that ended in the interval, one by one and in the order
    /// of their ends, when the workload asked for a log of them and as far as
    /// it had room.
    pub operations: Vec<Operation>,
    /// Whose second it is, in a trial with two ends: each connection has samples
    /// of its own at each end. `None` for a group of workers.
    pub connection: Option<Box<ConnectionState>>,
}

impl Sample {
    /// An empty sample.
    pub fn new(phase: Phase, index: u32, start_ns: u64) -> Sample {
        Sample {
            phase,
            index,
            start_ns,
            duration_ns: 0,
            workers: 0,
            ops: Vec::new(),
            lateness: None,
            in_flight_ns: 0,
            cpu_user_ns: 0,
            cpu_system_ns: 0,
            run_delay_ns: 0,
            busiest_worker_cpu_ns: 0,
            longest_stall_ns: 0,
            operations: Vec::new(),
            connection: None,
        }
    }

    /// The part of one kind of operation.
    pub fn op(&self, kind: OpKind) -> Option<&OpSample> {
        self.ops.iter().find(|op| op.kind == kind)
    }

    /// Reads, writes and trims that succeeded.
    pub fn data_ops(&self) -> u64 {
        self.ops
            .iter()
            .filter(|op| op.kind.is_data())
            .map(|op| op.ops)
            .sum()
    }

    /// Bytes of reads, writes and trims that succeeded.
    pub fn data_bytes(&self) -> u64 {
        self.ops
            .iter()
            .filter(|op| op.kind.is_data())
            .map(|op| op.bytes)
            .sum()
    }

    /// Failures of every kind.
    pub fn errors(&self) -> ErrorCounts {
        let mut all = ErrorCounts::default();
        for op in &self.ops {
            all.merge(&op.errors);
        }
        all
    }

    /// Adds another worker's part of the same interval. Counts add, times of
    /// the interval take the longest.
    pub fn merge(&mut self, other: &Sample) {
        assert_eq!(
            (self.phase, self.index),
            (other.phase, other.index),
            "one interval only"
        );
        self.start_ns = self.start_ns.min(other.start_ns);
        self.duration_ns = self.duration_ns.max(other.duration_ns);
        self.workers += other.workers;
        for theirs in &other.ops {
            match self.ops.iter_mut().find(|mine| mine.kind == theirs.kind) {
                Some(mine) => mine.merge(theirs),
                None => self.ops.push(theirs.clone()),
            }
        }
        self.ops.sort_by_key(|op| op.kind);
        match (&mut self.lateness, &other.lateness) {
            (Some(mine), Some(theirs)) => mine.merge(theirs),
            (mine @ None, Some(theirs)) => *mine = Some(theirs.clone()),
            (_, None) => {}
        }
        self.in_flight_ns += other.in_flight_ns;
        self.cpu_user_ns += other.cpu_user_ns;
        self.cpu_system_ns += other.cpu_system_ns;
        self.run_delay_ns += other.run_delay_ns;
        self.busiest_worker_cpu_ns = self.busiest_worker_cpu_ns.max(other.busiest_worker_cpu_ns);
        self.longest_stall_ns = self.longest_stall_ns.max(other.longest_stall_ns);
        if !other.operations.is_empty() {
            self.operations.extend_from_slice(&other.operations);
            self.operations.sort_by_key(|operation| operation.ended_ns);
        }
        let both = self.connection.take().zip(other.connection.as_deref());
        // What several connections did together is nobody's state.
        self.connection = both
            .filter(|(mine, theirs)| mine.is_of(theirs))
            .map(|(mine, theirs)| Box::new(mine.then(*theirs)));
    }
}
