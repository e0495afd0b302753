//! Messages out of JSON.

use serde::de::{DeserializeOwned, Error};

/// The message in these bytes. Read as text: stores and documents are read so too,
/// and each type is then compiled for one reader instead of two.
///
/// # Errors
/// The bytes are not UTF-8, not JSON, or not such a message.
pub(crate) fn message_of<T: DeserializeOwned>(bytes: &[u8]) -> serde_json::Result<T> {
    let text = std::str::from_utf8(bytes).map_err(serde_json::Error::custom)?;
    serde_json::from_str(text)
}
