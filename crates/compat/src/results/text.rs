//! The text of a file of results, up to the size that its kind may have.

use std::io::{self, BufRead, Read};
use std::path::Path;

use fathom_model::json_memory::json_memory_bytes;
use fathom_model::unit;

use super::unpack::{UnpackError, is_packed, unpack};
use super::{LARGEST_DOCUMENT_BYTES, LARGEST_LOG_BYTES, MOST_VALUES_BYTES};

/// Why a file of results is not read.
#[derive(Debug, thiserror::Error)]
pub enum TextError {
    /// What the system says.
    #[error("{0}")]
    Unreadable(#[from] io::Error),
    /// It is packed and cannot be unpacked.
    #[error("{0}")]
    Packed(#[from] UnpackError),
    /// It is longer than such a file may be.
    #[error(
        "larger than {}; nothing was read: reading it would take more than 256 MiB of memory; cut \
         it into parts",
        unit::bytes_exact(*.0)
    )]
    TooLarge(u64),
    /// Its values would fill the memory.
    #[error(
        "its values would take up to {} of memory, more than the {} that are allowed; give fewer \
         jobs, or leave out the bins of json+ (fio --output-format=json)",
        unit::bytes(*.0),
        unit::bytes(MOST_VALUES_BYTES)
    )]
    TooManyValues(u64),
}

/// The text of a file, unpacked where it is packed. Its name tells a log, which
/// may be larger, from a document.
///
/// # Errors
/// It cannot be read or unpacked, or is too large.
pub fn read_text(path: &Path, file: impl BufRead) -> Result<String, TextError> {
    let is_log = path.file_name().is_some_and(|name| {
        let name = name.to_string_lossy();
        name.contains(".log") || name.contains(".csv")
    });
    let limit = match is_log {
        true => LARGEST_LOG_BYTES,
        false => LARGEST_DOCUMENT_BYTES,
    };
    let bytes = unpacked(file, limit)?;
    check_memory(&bytes)?;
    Ok(match String::from_utf8(bytes) {
        Ok(text) => text,
        Err(error) => String::from_utf8_lossy(error.as_bytes()).into_owned(),
    })
}

/// What a file holds, unpacked where it is packed.
fn unpacked(mut file: impl BufRead, limit: u64) -> Result<Vec<u8>, TextError> {
    let start = file.fill_buf()?;
    if is_packed(start) {
        return Ok(unpack(file, LARGEST_LOG_BYTES)?);
    }
    let mut bytes = Vec::new();
    file.take(limit + 1).read_to_end(&mut bytes)?;
    match bytes.len() as u64 > limit {
        true => Err(TextError::TooLarge(limit)),
        false => Ok(bytes),
    }
}

/// Refuses a document whose values would fill the memory.
fn check_memory(bytes: &[u8]) -> Result<(), TextError> {
    let is_json = matches!(bytes.trim_ascii_start().first(), Some(b'{' | b'['));
    let memory = match is_json {
        true => json_memory_bytes(bytes),
        false => 0,
    };
    match memory > MOST_VALUES_BYTES {
        true => Err(TextError::TooManyValues(memory)),
        false => Ok(()),
    }
}
