//! Messages on a stream of bytes: a length of four bytes, most significant
//! first, and so many bytes of JSON.
//!
//! A length is only a claim: memory is taken as the bytes arrive, and up to a
//! limit that depends on how well the two sides know one another.

use std::fmt;
use std::io::{self, Read, Write};
use std::sync::{Mutex, PoisonError};

use serde::Serialize;
use serde::de::DeserializeOwned;

use super::json::message_of;

/// Longest message from somebody who has not been recognised yet.
pub(crate) const STRANGER_BYTES: usize = 64 << 10;

/// Longest message at all: a set of 4,096 trials takes about 16 MiB.
pub(crate) const MESSAGE_BYTES: usize = 64 << 20;

/// Why no further message can be had.
#[derive(Debug, thiserror::Error)]
pub enum FrameError {
    /// The other side has closed the connection.
    #[error("the connection was closed")]
    Closed,
    /// It broke.
    #[error("the connection broke: {0}")]
    Io(#[source] io::Error),
    /// Longer than agreed.
    #[error("a message of {bytes} bytes; the limit is {limit}")]
    TooLong {
        /// Its length.
        bytes: usize,
        /// What was agreed.
        limit: usize,
    },
    /// Not what this version of fathom says.
    #[error("a message that is none: {0}")]
    Malformed(String),
}

/// Writes messages, from any thread.
pub(crate) struct FrameWriter {
    out: Mutex<Box<dyn Write + Send>>,
}

impl fmt::Debug for FrameWriter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FrameWriter").finish_non_exhaustive()
    }
}

impl FrameWriter {
    pub(crate) fn new(out: Box<dyn Write + Send>) -> FrameWriter {
        FrameWriter {
            out: Mutex::new(out),
        }
    }

    /// The stream, for whoever goes on with it.
    pub(crate) fn into_inner(self) -> Box<dyn Write + Send> {
        self.out
            .into_inner()
            .unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn send(&self, message: &impl Serialize) -> io::Result<()> {
        let frame = framed(message)?;
        let mut out = self.out.lock().unwrap_or_else(PoisonError::into_inner);
        out.write_all(&frame)?;
        out.flush()
    }

    /// Sends what is made at the last moment, when nothing else is being sent:
    /// for messages that carry the time.
    pub(crate) fn send_now<T: Serialize>(&self, make: impl FnOnce() -> T) -> io::Result<()> {
        let mut out = self.out.lock().unwrap_or_else(PoisonError::into_inner);
        out.write_all(&framed(&make())?)?;
        out.flush()
    }
}

fn framed(message: &impl Serialize) -> io::Result<Vec<u8>> {
    let mut frame = vec![0; 4];
    serde_json::to_writer(&mut frame, message)?;
    let bytes = frame.len() - 4;
    if bytes > MESSAGE_BYTES {
        let text = format!("a message of {bytes} bytes is too long to be sent");
        return Err(io::Error::new(io::ErrorKind::InvalidInput, text));
    }
    frame[..4].copy_from_slice(&(bytes as u32).to_be_bytes());
    Ok(frame)
}

/// Reads messages.
pub(crate) struct FrameReader {
    input: Box<dyn Read + Send>,
    limit: usize,
    frame: Vec<u8>,
}

impl FrameReader {
    /// Reads from a stranger.
    pub(crate) fn new(input: Box<dyn Read + Send>) -> FrameReader {
        FrameReader {
            input,
            limit: STRANGER_BYTES,
            frame: Vec::new(),
        }
    }

    /// The stream behind the last message: no byte of the next has been read.
    pub(crate) fn into_inner(self) -> Box<dyn Read + Send> {
        self.input
    }

    /// The other side has been recognised.
    pub(crate) fn trust(&mut self) {
        self.limit = MESSAGE_BYTES;
    }

    /// Waits for the next message.
    pub(crate) fn next<T: DeserializeOwned>(&mut self) -> Result<T, FrameError> {
        let mut length = [0; 4];
        self.input.read_exact(&mut length).map_err(broken)?;
        let bytes = u32::from_be_bytes(length) as usize;
        if bytes > self.limit {
            return Err(FrameError::TooLong {
                bytes,
                limit: self.limit,
            });
        }
        self.frame.clear();
        let mut limited = (&mut self.input).take(bytes as u64);
        let read = limited.read_to_end(&mut self.frame).map_err(broken)?;
        if read < bytes {
            return Err(FrameError::Closed);
        }
        let message = message_of(&self.frame);
        // What was long once is rarely so again.
        self.frame.shrink_to(STRANGER_BYTES);
        message.map_err(|error| FrameError::Malformed(error.to_string()))
    }
}

fn broken(error: io::Error) -> FrameError {
    match error.kind() {
        io::ErrorKind::UnexpectedEof => FrameError::Closed,
        _ => FrameError::Io(error),
    }
}

#[cfg(test)]
#[path = "frame_tests.rs"]
mod tests;
