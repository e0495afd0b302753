//! Appends frames to a recording.

use std::fs::File;
use std::io::{self, Write};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use super::encode::Encoder;
use super::{END, HEADER, Header, KEY_FRAME, NEXT_FRAME, block};
use crate::frame::Frame;

/// A recording that is being written. Dropped without [`finish`], it reads as
/// one that was cut off.
///
/// [`finish`]: RecordingWriter::finish
#[derive(Debug)]
pub struct RecordingWriter {
    path: PathBuf,
    file: File,
    encoder: Encoder,
    raw: Vec<u8>,
    out: Vec<u8>,
    bytes: u64,
}

impl RecordingWriter {
    /// Makes a new file, readable by its owner only: names of processes and
    /// mounts are nobody else's business.
    ///
    /// # Errors
    /// A file of that name exists, or it cannot be made.
    pub fn create(path: &Path, header: &Header) -> io::Result<RecordingWriter> {
        let file = fathom_outputs::create_new(path)?;
        let mut writer = RecordingWriter {
            path: path.to_owned(),
            file,
            encoder: Encoder::default(),
            raw: Vec::new(),
            out: Vec::new(),
            bytes: 0,
        };
        writer.put(HEADER, &serde_json::to_vec(header)?)?;
        Ok(writer)
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Whether the file is still where it was made: a removed one is written to in
    /// vain, and a moved one is not where it is looked for.
    pub fn is_in_place(&self) -> bool {
        let here = self.file.metadata();
        let there = self.path.symlink_metadata();
        here.ok()
            .zip(there.ok())
            .is_some_and(|(here, there)| (here.dev(), here.ino()) == (there.dev(), there.ino()))
    }

    /// Bytes written so far.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Appends a frame; afterwards a kill of this process cannot lose it.
    ///
    /// # Errors
    /// The file cannot be written; what is in it stays readable.
    pub fn append(&mut self, frame: &Frame) -> io::Result<()> {
        let mut raw = std::mem::take(&mut self.raw);
        raw.clear();
        let key = self.encoder.encode(frame, &mut raw);
        let written = self.put(if key { KEY_FRAME } else { NEXT_FRAME }, &raw);
        self.raw = raw;
        written
    }

    /// Marks the end and makes all of it durable.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn finish(mut self) -> io::Result<()> {
        self.end()
    }

    /// [`RecordingWriter::finish`] for a writer that another one replaces.
    pub(crate) fn end(&mut self) -> io::Result<()> {
        self.put(END, &[])?;
        self.file.sync_data()
    }

    fn put(&mut self, kind: u8, raw: &[u8]) -> io::Result<()> {
        self.out.clear();
        block(kind, raw, &mut self.out);
        self.file.write_all(&self.out)?;
        self.bytes += self.out.len() as u64;
        Ok(())
    }
}
