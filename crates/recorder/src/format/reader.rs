//! Reads a recording, also one that was cut off or damaged.

use std::io::{self, Read};
use std::path::Path;

use fathom_deadline::paths::open_bounded;

use super::decode::Decoder;
use super::{
    BLOCK_HEAD, END, FORMAT, HEADER, Header, KEY_FRAME, MARK, MOST_RAW, NEXT_FRAME, checksum,
};
use crate::frame::Frame;

/// After so many damaged places the rest is given up: looking for the next
/// whole block costs time.
const MOST_DAMAGE: u32 = 1000;
/// How far is looked for the next whole block.
const MOST_SEARCH: usize = 4 * MOST_RAW;

/// Why a file is no recording.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// The file cannot be read.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// It does not begin like one.
    #[error("this is not a recording of fathom, or its beginning is damaged")]
    NotOne,
    /// It is one of another version.
    #[error("this recording has the format {0}, which this fathom does not read; use a newer one")]
    OtherFormat(String),
}

/// Whether a file begins like a recording.
pub fn is_recording(beginning: &[u8]) -> bool {
    beginning.starts_with(&MARK)
}

/// The frames of a recording, one after the other.
pub struct RecordingReader {
    source: Box<dyn Read>,
    header: Header,
    decoder: Decoder,
    /// Bytes that were read and not yet used.
    window: Vec<u8>,
    used: usize,
    at_end: bool,
    /// Whether a key frame is needed before anything else can be read.
    lost: bool,
    damaged: u32,
    finished: bool,
    /// Why nothing more can be read.
    failure: Option<io::Error>,
}

impl RecordingReader {
    /// Opens a file.
    ///
    /// # Errors
    /// It cannot be read, or is no recording.
    pub fn open(path: &Path) -> Result<RecordingReader, ReadError> {
        RecordingReader::new(open_bounded(path)?)
    }

    /// Reads from anything.
    ///
    /// # Errors
    /// It cannot be read, or is no recording.
    pub fn new(source: impl Read + 'static) -> Result<RecordingReader, ReadError> {
        let nothing = Header::new(crate::frame::HostFacts::default(), 0);
        let decoder = Decoder::new(&nothing).ok_or(ReadError::NotOne)?;
        let mut reader = RecordingReader {
            source: Box::new(source),
            header: nothing,
            decoder,
            window: Vec::new(),
            used: 0,
            at_end: false,
            lost: true,
            damaged: 0,
            finished: false,
            failure: None,
        };
        let Some((kind, payload)) = reader.block_here() else {
            return Err(match reader.take_failure() {
                Some(error) => ReadError::Io(error),
                None => ReadError::NotOne,
            });
        };
        if kind != HEADER {
            return Err(ReadError::NotOne);
        }
        let text = std::str::from_utf8(&payload).map_err(|_| ReadError::NotOne)?;
        let value: serde_json::Value = serde_json::from_str(text).map_err(|_| ReadError::NotOne)?;
        let format = value.get("format").and_then(|f| f.as_str());
        if format != Some(FORMAT) {
            let name: String = format.unwrap_or("unknown").chars().take(60).collect();
            return Err(ReadError::OtherFormat(name));
        }
        reader.header = serde_json::from_value(value).map_err(|_| ReadError::NotOne)?;
        reader.decoder = Decoder::new(&reader.header).ok_or(ReadError::NotOne)?;
        Ok(reader)
    }

    /// The header.
    pub fn header(&self) -> &Header {
        &self.header
    }

    /// Places so far where something could not be read.
    pub fn damaged(&self) -> u32 {
        self.damaged
    }

    /// Whether the end was reached of a recording that was stopped in order.
    pub fn finished(&self) -> bool {
        self.finished
    }

    /// Why the rest could not be read, such as a mount that stopped answering.
    pub fn take_failure(&mut self) -> Option<io::Error> {
        self.failure.take()
    }

    /// Makes sure that so many bytes are in the window, if there are.
    fn fill(&mut self, wanted: usize) -> usize {
        debug_assert!(self.used <= self.window.len());
        // Not with every block: each time moves all that is left.
        if self.used > 1 << 20 {
            self.window.drain(..self.used);
            self.used = 0;
        }
        while !self.at_end && self.window.len() - self.used < wanted {
            let start = self.window.len();
            self.window.resize(start + (64 << 10), 0);
            let read = self.source.read(&mut self.window[start..]);
            self.window
                .truncate(start + read.as_ref().map_or(0, |read| *read));
            match read {
                Ok(read) => self.at_end = read == 0,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => {
                    self.at_end = true;
                    self.failure = Some(error);
                }
            }
        }
        self.window.len() - self.used
    }

    /// The block at the present place; the place moves behind it. `None`
    /// where there is no whole one; then the place stays.
    fn block_here(&mut self) -> Option<(u8, Vec<u8>)> {
        if self.fill(BLOCK_HEAD) < BLOCK_HEAD {
            return None;
        }
        let head = &self.window[self.used..self.used + BLOCK_HEAD];
        if head[..4] != MARK {
            return None;
        }
        let kind = head[4];
        let word =
            |at: usize| u32::from_le_bytes([head[at], head[at + 1], head[at + 2], head[at + 3]]);
        let (raw_length, stored_length) = (word(5), word(9) as usize);
        let mut sum = [0; 8];
        sum.copy_from_slice(&head[13..21]);
        let raw = raw_length as usize;
        if raw > MOST_RAW || stored_length > raw {
            return None;
        }
        let length = BLOCK_HEAD + stored_length;
        if self.fill(length) < length {
            return None;
        }
        let stored = &self.window[self.used + BLOCK_HEAD..self.used + length];
        if checksum(kind, raw_length, stored) != u64::from_le_bytes(sum) {
            return None;
        }
        let payload = match stored_length < raw {
            true => lz4_flex::block::decompress(stored, raw).ok()?,
            false => stored.to_vec(),
        };
        self.used += length;
        (payload.len() == raw).then_some((kind, payload))
    }

    /// Moves to the next place that could be a block. False when there is none.
    fn search(&mut self) -> bool {
        for _ in 0..MOST_SEARCH {
            self.used += 1;
            if self.fill(MARK.len()) < MARK.len() {
                return false;
            }
            if self.window[self.used..].starts_with(&MARK) {
                return true;
            }
        }
        false
    }
}

impl Iterator for RecordingReader {
    type Item = Frame;

    fn next(&mut self) -> Option<Frame> {
        while self.damaged < MOST_DAMAGE && !self.finished {
            let Some((kind, payload)) = self.block_here() else {
                // A block whose rest cannot be read is not damaged.
                if self.fill(1) == 0 || self.failure.is_some() {
                    return None;
                }
                self.damaged += 1;
                self.lost = true;
                if !self.search() {
                    return None;
                }
                continue;
            };
            match kind {
                KEY_FRAME => {
                    self.decoder.restart();
                    self.lost = false;
                }
                NEXT_FRAME if !self.lost => {}
                END => {
                    self.finished = true;
                    continue;
                }
                _ => continue,
            }
            match self.decoder.decode(&payload) {
                Some(frame) => return Some(frame),
                None => {
                    self.damaged += 1;
                    self.lost = true;
                }
            }
        }
        None
    }
}
