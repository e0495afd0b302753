//! The words of fathom as plain types: workload, target, job, phase, sample,
//! observation, fingerprint, estimate, finding, verdict, run.
//!
//! This is the ground floor of the house. Nothing here does I/O or reads a
//! clock, so that every other room can share these types and a result means
//! the same thing whether it came from a live trial, the store or an import.
//! Names carry their unit (`latency_ns`, `block_bytes`); rates are per second.

pub mod alarm;
pub mod cluster;
pub mod comparison;
pub mod conduct;
pub mod crosscheck;
pub mod curve;
pub mod diagnosis;
pub mod disks;
pub mod elementary;
pub mod enumeration;
pub mod estimate;
pub mod figure;
pub mod fingerprint;
pub mod fleet;
pub mod gluster;
pub mod histogram;
pub mod host_load;
pub mod host_mode;
pub mod idle_gate;
mod indented_json;
pub mod job;
pub mod json_memory;
pub mod judged;
pub mod limits;
pub mod machine;
pub mod names;
pub mod nearest;
pub mod network;
pub mod observation;
pub mod op;
pub mod operation;
pub mod opinion;
pub mod pair_trials;
pub mod printable;
pub mod recording;
pub mod rng;
pub mod run;
pub mod sample;
pub mod scale;
pub mod schedule;
pub mod seconds;
pub mod secret;
pub mod settled;
pub mod shell;
pub mod slo;
pub mod snia;
pub mod stack;
pub mod steadiness;
pub mod stop;
pub mod summary;
pub mod target;
pub mod together;
pub mod unit;
pub mod verdict;
pub mod view;
pub mod watch_line;
pub mod workload;

pub use comparison::{
    COMPARISON_SCHEMA, COMPARISONS_SCHEMA, Comparison, ComparisonOutcome, Comparisons, Metric,
    Standing,
};
pub use crosscheck::{Agreement, CROSSCHECK_SCHEMA, Crosscheck};
pub use estimate::{Estimate, Unit};
pub use fingerprint::Fingerprint;
pub use histogram::Histogram;
pub use indented_json::indented_json;
pub use job::Job;
pub use judged::{JudgedRun, JudgedTrial};
pub use observation::Observation;
pub use op::{ErrorClass, ErrorCounts, OpKind};
pub use operation::Operation;
pub use recording::Recording;
pub use run::{RunMeta, RunRecord, RunState, TrialRecord};
pub use sample::{OpSample, Phase, Sample};
pub use schedule::{Schedule, ScheduledTrial};
pub use slo::Slo;
pub use steadiness::{Steadiness, SteadinessClass};
pub use target::Target;
pub use verdict::{Finding, Limiter, Validity, Verdict};
pub use workload::Workload;

/// Version of the machine-readable result: the `schema` field of `--json`.
pub const RUN_SCHEMA: &str = "fathom.run/1";

/// Version of a second opinion: the `schema` field of `fathom judge --json`.
pub const OPINION_SCHEMA: &str = "fathom.opinion/1";

/// Version of the plan format: the `plan` field at the top of a plan file.
pub const PLAN_SCHEMA: u32 = 1;
