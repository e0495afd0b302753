//! Why a schedule cannot be one for many hosts.

use fathom_model::schedule::MAX_TOGETHER;

/// More trials than a run can hold on to.
pub(super) const MAX_TRIALS: usize = 1 << 20;

/// Why a schedule cannot be spread over hosts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum SpreadError {
    /// Nobody is there whose data another host could use.
    #[error("rotated data need two hosts at least")]
    RotatedAlone,
    /// A study begins with one host.
    #[error("rotated data cannot be scaled: a first host has nobody before it")]
    RotatedScaled,
    /// More than one gate can release.
    #[error(
        "{trials} trials on {hosts} hosts would run at the same time; the limit is {MAX_TOGETHER}"
    )]
    TooManyTogether {
        /// Trials of one host.
        trials: usize,
        /// How many hosts.
        hosts: usize,
    },
    /// More than a run can have.
    #[error("more than {MAX_TRIALS} trials on all hosts together")]
    TooManyTrials,
    /// Nobody is left to wait for files.
    #[error(
        "await_create needs two hosts at least, at the same time: the first one creates the files, \
         the others wait for them"
    )]
    AwaitAlone,
}
