//! What an agent tells its coordinator.

use std::path::PathBuf;

use fathom_engine::FileIdentity;
use fathom_model::fingerprint::TargetFingerprint;
use fathom_model::run::TrialEnd;
use fathom_model::sample::Phase;
use fathom_model::{Observation, RunState, Sample, ScheduledTrial};
use serde::{Deserialize, Serialize};

/// The beginning of a trial.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct TrialStart {
    /// What is to be done.
    pub spec: ScheduledTrial,
    /// Wall clock, nanoseconds since 1970-01-01 UTC.
    pub started_unix_ns: u64,
    /// The target before anything was done to it.
    pub target_before: Option<TargetFingerprint>,
}

/// What was measured of one trial since the last time.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct TrialInterval {
    /// Index of the trial.
    pub trial: u32,
    /// Of the load, merged over its workers.
    pub samples: Vec<Sample>,
    /// Of the host, on the time axis of the trial.
    pub observations: Vec<Observation>,
}

/// The end of a trial.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct TrialEnding {
    /// Index of the trial.
    pub trial: u32,
    /// How far it came.
    pub state: RunState,
    /// What is known about it.
    pub end: TrialEnd,
}

/// Something that happened in a run, in the order in which it happened.
#[derive(Debug, Serialize, Deserialize)]
pub enum Event {
    /// A trial begins, or several that run at the same time.
    TrialsStarted(Vec<TrialStart>),
    /// A phase begins.
    PhaseStarted {
        /// Index of the trial; `None` for all that are under way.
        trial: Option<u32>,
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
        /// Bytes in all; 0 where nobody knows beforehand.
        total_bytes: u64,
    },
    /// One more interval was measured.
    Interval(Vec<TrialInterval>),
    /// A file is about to be created. The agent waits until this has been
    /// handled, so that a crash right after leaves a note of the file.
    FileCreating(PathBuf),
    /// A file whose name the user chose was created. The agent waits until this
    /// has been handled, so that later runs know the file whatever happens.
    FileCreated {
        /// Its name.
        path: PathBuf,
        /// What tells it from another file of that name.
        identity: FileIdentity,
    },
    /// A file that a job may only write to if an earlier run made it was there.
    /// [`crate::Sink::made`] answers.
    FileFound {
        /// Its name.
        path: PathBuf,
        /// What tells it from another file of that name.
        identity: FileIdentity,
    },
    /// A file that the run had created is gone.
    FileRemoved(PathBuf),
    /// Something that the user should read.
    Note(String),
    /// What does not answer, and for how long: shown however quiet the progress is.
    Waiting(String),
    /// All trials that were under way are over.
    TrialsEnded(Vec<TrialEnding>),
    /// The run waits between two trials.
    Pausing {
        /// At most this long.
        ceiling_ns: u64,
    },
    /// What the run made could not be removed, and why.
    LeftBehind(String),
}
