//! What fio prints and logs: its JSON, json+ and terse output, and its logs.
//!
//! Formats: its HOWTO, sections "JSON output", "Terse output" and "Log File
//! Formats".

mod gather;
mod histogram;
mod histogram_logs;
pub(crate) mod json;
pub(crate) mod log;
mod number;
pub(crate) mod terse;

pub use gather::gather;
pub use histogram::HistogramLines;
pub use log::{LogKind, SeriesLog};
