//! What an agent tells its coordinator.

use std::path::PathBuf;

use fathom_model::fingerprint::TargetFingerprint;
use fathom_model::run::TrialEnd;
use fathom_model::sample::Phase;
use fathom_model::{Observation, RunState, Sample, ScheduledTrial};

/// The beginning of a trial.
#[derive(Debug, Clone)]
pub struct TrialStart {
    /// What is to be done.
    pub spec: ScheduledTrial,
    /// Wall clock, nanoseconds since 1970-01-01 UTC.
    pub started_unix_ns: u64,
    /// The target before anything was done to it.
    pub target_before: Option<TargetFingerprint>,
}

/// Something that happened in a run, in the order in which it happened.
#[derive(Debug)]
pub enum Event {
    /// A trial begins.
    TrialStarted(Box<TrialStart>),
    /// A phase of the trial begins.
    PhaseStarted {
        /// Which.
        phase: Phase,
        /// How long it will take, where that is known.
        expected_ns: Option<u64>,
    },
    /// A long step inside a phase advances.
    Progress {
        /// What is being done.
        what: String,
        /// Bytes done.
        done_bytes: u64,
        /// Bytes in all.
        total_bytes: u64,
    },
    /// One more interval was measured.
    Interval {
        /// Of the load, merged over its workers.
        samples: Vec<Sample>,
        /// Of the host.
        observations: Vec<Observation>,
    },
    /// A file is about to be created. The agent waits until this has been
    /// handled, so that a crash right after leaves a note of the file.
    FileCreating(PathBuf),
    /// A file that the run had created is gone.
    FileRemoved(PathBuf),
    /// Something that the user should read.
    Note(String),
    /// The trial is over.
    TrialEnded {
        /// How far it came.
        state: RunState,
        /// What is known about it.
        end: Box<TrialEnd>,
    },
    /// The run waits between two trials.
    Pausing {
        /// At most this long.
        ceiling_ns: u64,
    },
}
