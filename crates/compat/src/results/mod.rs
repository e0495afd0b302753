//! Results of other tools, as data to judge: fio's JSON, json+ and terse
//! output and its logs, and warp's recordings, full and aggregated.
//!
//! Parsers stand with their tools and are pure functions on text. Whatever a
//! file lacks, or spells in a way that cannot be a number, is a missing fact;
//! nothing is filled in. Sizes are limited by the caller, counts by each parser,
//! so that a hostile file costs memory in proportion to its own length.

pub(crate) mod documents;
mod error;
mod facts;
mod text;
mod unpack;

#[cfg(test)]
mod results_tests;

pub use crate::fio::results::{HistogramLines, LogKind, SeriesLog, gather};
pub use error::ResultError;
pub use facts::{
    ResultDevice, ResultDirection, ResultDocument, ResultJob, ResultLatency, ResultSeries,
    ResultSpread, ResultSteadiness, SeriesKind,
};
pub use text::{TextError, read_text};
pub use unpack::UnpackError;

use crate::fio::results::{json, log, terse};
use crate::warp::{aggregate, requests};

/// Largest file of results that is read.
pub const LARGEST_DOCUMENT_BYTES: u64 = 64 << 20;

/// Largest log that is read, unpacked. Reading one takes less than 256 MiB of
/// memory.
pub const LARGEST_LOG_BYTES: u64 = 96 << 20;

/// Memory for the values of a document, guessed from above: with its text and what
/// is made of them it stays below 256 MiB.
pub const MOST_VALUES_BYTES: u64 = 160 << 20;

/// What a file turned out to be.
#[derive(Debug, Clone, PartialEq)]
pub enum ResultFile {
    /// Results.
    Results(Vec<ResultDocument>),
    /// A log of one job.
    Log(SeriesLog),
    /// A document of fathom itself, with its `schema`.
    Own(String),
}

/// Reads one file of results. `name` says what it is called, for people and
/// because logs carry their kind in the name.
///
/// # Errors
/// [`ResultError`] when nothing in it is understood.
pub fn read_results(name: &str, text: &str) -> Result<ResultFile, ResultError> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let start = text.trim_start();
    if start.is_empty() {
        // fio leaves the log of a direction that did nothing empty.
        return match SeriesLog::empty(name) {
            Some(log) => Ok(ResultFile::Log(log)),
            None => Err(ResultError::Empty),
        };
    }
    if log::looks_like_log(start) {
        return SeriesLog::read(name, text).map(ResultFile::Log);
    }
    if requests::looks_like(start) {
        return match requests::read(name, start) {
            Some(result) => Ok(ResultFile::Results(vec![result])),
            None => Err(ResultError::Unknown(
                "a list of requests without their times".to_owned(),
            )),
        };
    }
    if let Some(results) = terse::read(name, text) {
        return Ok(ResultFile::Results(results));
    }
    let documents = documents::read(text)?;
    if let Some(schema) = documents.own_schema() {
        return Ok(ResultFile::Own(schema));
    }
    if let Some(document) = documents
        .values
        .first()
        .filter(|d| aggregate::looks_like(d))
    {
        return Ok(ResultFile::Results(vec![aggregate::read(name, document)]));
    }
    json::results(name, documents).map(ResultFile::Results)
}
