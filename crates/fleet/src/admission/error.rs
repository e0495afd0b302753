//! Why an agent refuses what a coordinator sent.

use std::borrow::Cow;

use fathom_model::schedule::MAX_TOGETHER;

/// What is wrong with a message. Texts in it are fit for a terminal.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub(crate) enum AdmissionError {
    /// A whole number.
    #[error("{field} is {value}; an agent accepts {least} to {most}")]
    OutOfRange {
        field: String,
        value: u64,
        least: u64,
        most: u64,
    },
    /// A number that is none, negative or too large.
    #[error("{field} is {value}; an agent accepts 0 to {most}")]
    NumberOutOfRange {
        field: &'static str,
        value: f64,
        most: f64,
    },
    #[error("{field} is {value}; it must be above 0")]
    NotPositive { field: &'static str, value: f64 },
    #[error("{field} has {length} entries; an agent accepts at most {most}")]
    TooManyEntries {
        field: &'static str,
        length: usize,
        most: usize,
    },
    #[error("{field} has {bytes} bytes; an agent accepts at most {most}")]
    TooLong {
        field: &'static str,
        bytes: usize,
        most: usize,
    },
    #[error("{field} is empty")]
    Empty { field: &'static str },
    /// A text that cannot be a name, a path or an address.
    #[error("{field} is '{text}'; {problem}")]
    Malformed {
        field: &'static str,
        text: String,
        problem: Cow<'static, str>,
    },
    #[error("{field} has '{text}'; an address begins with http:// or https://")]
    NoHttpAddress { field: &'static str, text: String },
    #[error("store is missing, and the target is a bucket")]
    NoStore,
    #[error(
        "workload.meta.tree.leaves is {leaves}; {depth} levels of {fan_out} directories hold {room}"
    )]
    TooManyLeaves {
        leaves: u64,
        depth: u32,
        fan_out: u32,
        room: u128,
    },
    #[error("{trials} trials were to run at the same time; the limit is {MAX_TOGETHER}")]
    TooManyTrials { trials: usize },
    #[error(
        "workload.workers are {threads} over all trials of the set; an agent accepts at most {most}"
    )]
    TooManyThreads { threads: u64, most: u64 },
    #[error(
        "workload.workers × queue_depth × block is {bytes} bytes of buffers; an agent accepts at \
         most {most}"
    )]
    TooLargeBuffers { bytes: u128, most: u64 },
    #[error(
        "the set needs {needed} bytes of memory, and this host has {available} available; lower \
         workers, queue_depth or block"
    )]
    NoMemory { needed: u128, available: u128 },
}

/// What is wrong with a set of trials.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error("{error}")]
pub(crate) struct SetError {
    /// Which of the trials is at fault.
    pub(crate) place: usize,
    pub(crate) error: AdmissionError,
}
