//! What the preparation tells its caller while it runs.

use std::path::Path;

use crate::target_file::FileIdentity;

/// How far a long step came.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PrepareProgress<'a> {
    /// What is done, for people: `filling test files`.
    pub what: &'a str,
    /// Bytes done.
    pub done_bytes: u64,
    /// Bytes to be done; 0 where nobody knows beforehand.
    pub total_bytes: u64,
}

/// How much time there is for what does not answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Hurry {
    /// Nobody waits for the end.
    No,
    /// The user waits for the end.
    Awaited,
    /// The user does, and operations on the same target had to be left behind.
    LastTry,
}

/// Why a file must not be created or written to.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CreationRefused {
    /// Files are only removed.
    #[error("cleaning up creates nothing")]
    CleaningUp,
    /// No note of the file could be taken; why.
    #[error("{0}")]
    NotNoted(String),
}

/// What the preparation tells its caller, and asks it, while it runs.
pub trait PrepareHooks {
    /// Called at least five times a second during long steps.
    fn progress(&mut self, progress: PrepareProgress<'_>);

    /// Called before a file is created, so that a crash leaves a note of it.
    ///
    /// # Errors
    /// A refusal ends the preparation before the file is created.
    fn creating(&mut self, path: &Path) -> Result<(), CreationRefused>;

    /// Called right after a file was created whose name the user chose, before
    /// anything is written to it, so that this run and later ones know it.
    ///
    /// # Errors
    /// A refusal ends the preparation.
    fn created(&mut self, _path: &Path, _identity: &FileIdentity) -> Result<(), CreationRefused> {
        Ok(())
    }

    /// Whether this run or an earlier one created a file whose name the user
    /// chose, so that it may be written to without being asked.
    fn is_ours(&mut self, _path: &Path, _identity: &FileIdentity) -> bool {
        false
    }

    /// Called after a file was removed.
    fn removed(&mut self, path: &Path);

    /// Called before the first object is made in a bucket.
    fn making_objects(&mut self) {}

    /// Called with what does not answer and is waited for, and again while it lasts.
    fn waiting(&self, _text: &str) {}

    /// Whether the user wants to stop.
    fn stop_requested(&self) -> bool;

    /// Whether the user waits for the end, so that what does not answer is given
    /// little time.
    fn hurries(&self) -> Hurry {
        Hurry::No
    }
}

/// Hooks that do nothing, for tests and for callers without an audience.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoHooks;

impl PrepareHooks for NoHooks {
    fn progress(&mut self, _: PrepareProgress<'_>) {}

    fn creating(&mut self, _: &Path) -> Result<(), CreationRefused> {
        Ok(())
    }

    fn removed(&mut self, _: &Path) {}

    fn stop_requested(&self) -> bool {
        false
    }
}
