//! Series as bytes: samples and observations to blobs and back.
//!
//! A blob is an envelope (version, checksum, lz4) around columns of
//! differences. Readers refuse a version that they do not know, and trust no
//! length that they read: what a blob may occupy once decoded is counted
//! against a budget before it is allocated.

mod connections;
mod details;
mod envelope;
mod histograms;
mod observations;
mod samples;
mod tree;
mod varint;
mod words;

use fathom_model::{Observation, Sample};

use varint::{Reader, put_u64};

/// Rows (samples, and separately observations) in one blob at most. Ten
/// minutes of seconds: longer stretches do not compress better, and a damaged
/// blob loses no more than this.
pub(crate) const GROUP_ROWS: usize = 600;

/// Most rows that a reader accepts.
const MAX_ROWS: usize = 4096;

/// Memory that a blob may occupy when decoded: a writer stays below the
/// first, a reader accepts up to the second.
const WRITE_BUDGET_BYTES: usize = 64 << 20;
const READ_BUDGET_BYTES: usize = 128 << 20;

const _: () = assert!(GROUP_ROWS < MAX_ROWS && WRITE_BUDGET_BYTES < READ_BUDGET_BYTES);

/// Why bytes are not a blob, or data cannot become one.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CodecError {
    /// The blob ends early.
    #[error("the data end early")]
    Truncated,
    /// The checksum does not match the bytes.
    #[error("the checksum does not match: the data were altered after they were stored")]
    Checksum,
    /// The blob has a format version that this build does not know.
    #[error("format version {0} is not known to this version of fathom; use a newer one")]
    UnknownVersion(u8),
    /// The histograms have a bucket layout that this build does not know.
    #[error("histogram layout {0} is not known to this version of fathom; use a newer one")]
    UnknownLayout(u8),
    /// A length is beyond every limit.
    #[error("the data are larger than the format allows")]
    TooLarge,
    /// The content contradicts itself.
    #[error("the data contradict themselves: {0}")]
    Malformed(&'static str),
}

/// Memory that may still be allocated for one blob.
struct Budget {
    bytes: usize,
}

impl Budget {
    fn charge(&mut self, bytes: usize) -> Result<(), CodecError> {
        self.bytes = self.bytes.checked_sub(bytes).ok_or(CodecError::TooLarge)?;
        Ok(())
    }
}

/// One blob and what is in it.
#[derive(Debug)]
pub(crate) struct Packed {
    pub(crate) blob: Vec<u8>,
    pub(crate) samples: std::ops::Range<usize>,
}

/// Packs a stretch of a trial into one blob, or several when it is long.
pub(crate) fn pack(
    samples: &[Sample],
    observations: &[Observation],
) -> Result<Vec<Packed>, CodecError> {
    let mut packed = Vec::new();
    pack_part(samples, 0..samples.len(), observations, &mut packed)?;
    Ok(packed)
}

fn pack_part(
    samples: &[Sample],
    range: std::ops::Range<usize>,
    observations: &[Observation],
    packed: &mut Vec<Packed>,
) -> Result<(), CodecError> {
    let part = &samples[range.clone()];
    let body = if part.len() > GROUP_ROWS || observations.len() > GROUP_ROWS {
        Err(CodecError::TooLarge)
    } else {
        encode(part, observations)
    };
    match body {
        Ok(body) => {
            packed.push(Packed {
                blob: envelope::seal(envelope::BlobKind::Series, version_of(part), &body)?,
                samples: range,
            });
            Ok(())
        }
        Err(CodecError::TooLarge) if part.len() > 1 || observations.len() > 1 => {
            let middle = range.start + range.len() / 2;
            debug_assert!(
                middle < range.end || range.is_empty(),
                "{range:?} does not become smaller"
            );
            let (early, late) = observations.split_at(observations.len() / 2);
            pack_part(samples, range.start..middle, early, packed)?;
            pack_part(samples, middle..range.end, late, packed)
        }
        Err(error) => Err(error),
    }
}

/// Reads a blob that [`pack`] made.
pub(crate) fn unpack(blob: &[u8]) -> Result<(Vec<Sample>, Vec<Observation>), CodecError> {
    decode(&envelope::open(envelope::BlobKind::Series, blob)?)
}

/// Packs a text, for example JSON.
pub(crate) fn pack_text(text: &str) -> Result<Vec<u8>, CodecError> {
    envelope::seal(envelope::BlobKind::Text, envelope::VERSION, text.as_bytes())
}

/// Reads a text that [`pack_text`] made.
pub(crate) fn unpack_text(blob: &[u8]) -> Result<String, CodecError> {
    String::from_utf8(envelope::open(envelope::BlobKind::Text, blob)?)
        .map_err(|_| CodecError::Malformed("a text is not UTF-8"))
}

fn version_of(samples: &[Sample]) -> u8 {
    if connections::are_in(samples) {
        envelope::VERSION_WITH_CONNECTIONS
    } else if details::are_in(samples) {
        envelope::VERSION_WITH_DETAILS
    } else {
        envelope::VERSION
    }
}

fn encode(samples: &[Sample], observations: &[Observation]) -> Result<Vec<u8>, CodecError> {
    let mut budget = Budget {
        bytes: WRITE_BUDGET_BYTES,
    };
    let mut out = Vec::new();
    put_u64(&mut out, samples.len() as u64);
    put_u64(&mut out, observations.len() as u64);
    samples::put(&mut out, samples, &mut budget)?;
    observations::put(&mut out, observations, &mut budget)?;
    let has_connections = connections::are_in(samples);
    if has_connections || details::are_in(samples) {
        details::put(&mut out, samples, &mut budget)?;
    }
    if has_connections {
        connections::put(&mut out, samples, &mut budget)?;
    }
    if out.len() > envelope::MAX_BODY_BYTES {
        return Err(CodecError::TooLarge);
    }
    Ok(out)
}

fn decode(body: &[u8]) -> Result<(Vec<Sample>, Vec<Observation>), CodecError> {
    let mut budget = Budget {
        bytes: READ_BUDGET_BYTES,
    };
    let mut reader = Reader::new(body);
    let sample_count = reader.count(MAX_ROWS)?;
    let observation_count = reader.count(MAX_ROWS)?;
    let mut samples = samples::take(&mut reader, sample_count, &mut budget)?;
    let observations = observations::take(&mut reader, observation_count, &mut budget)?;
    if !reader.is_empty() {
        details::take(&mut reader, &mut samples, &mut budget)?;
    }
    if !reader.is_empty() {
        connections::take(&mut reader, &mut samples, &mut budget)?;
    }
    if !reader.is_empty() {
        return Err(CodecError::Malformed("there are bytes after the end"));
    }
    Ok((samples, observations))
}

#[cfg(test)]
#[path = "codec_tests.rs"]
mod tests;
