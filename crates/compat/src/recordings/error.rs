//! Why a file cannot be read as a recording.

/// Why a file cannot be read as a recording.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RecordingError {
    /// Nothing that is known.
    #[error(
        "this is not a recording that fathom knows; it reads iostat (text, or JSON with -o JSON), \
         sar, sadf -j, vmstat, and the first lines of top -b or uptime"
    )]
    Unknown,
    /// Known, but it cannot be read.
    #[error("{line}:{column}: {what}")]
    Broken {
        /// From 1.
        line: usize,
        /// From 1.
        column: usize,
        /// What is wrong, and what to do.
        what: String,
    },
    /// Its values would fill the memory.
    #[error(
        "reading it would take more than 256 MiB of memory; cut it into parts of some hours, or \
         record as text"
    )]
    TooLarge,
    /// A result of a benchmark.
    #[error(
        "this is a result of fio and no recording of a load; `fathom diagnose RECORDING --ceiling \
         FILE` holds a load against it, `fathom judge FILE` judges it"
    )]
    OfFio,
    /// Nothing in the file.
    #[error("the file is empty; record again, for at least two intervals")]
    Nothing,
    /// Cut off too early.
    #[error(
        "this JSON ends before its first whole sample; record again, for at least two intervals"
    )]
    CutOff,
    /// Known and readable, but there is nothing in it.
    #[error("there are no samples in this output of {0}; record for at least two intervals")]
    Empty(&'static str),
}
