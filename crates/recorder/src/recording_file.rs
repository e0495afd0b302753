//! A recording that is being written: in a file that the user named, or a new one
//! in a folder, in one part or several.

use std::io;
use std::path::{Path, PathBuf};

use fathom_deadline::paths;
use fathom_model::unit;

use crate::format::writer::RecordingWriter;
use crate::format::{Header, Series};
use crate::frame::Frame;
use crate::rotation::{Rotation, make_room};

/// How recordings end, so that they are found.
pub const EXTENSION: &str = "frec";

/// Why a recording cannot be written.
#[derive(Debug, thiserror::Error)]
pub enum RecordError {
    /// The file that the user named cannot be made.
    #[error("cannot make {}; give another --output", .path.display())]
    Named {
        /// The file.
        path: PathBuf,
        /// What the system says.
        #[source]
        error: io::Error,
    },
    /// No file can be made in the folder of recordings.
    #[error("cannot make {}; give --output FILE", .path.display())]
    Unnamed {
        /// The file or the folder.
        path: PathBuf,
        /// What the system says.
        #[source]
        error: io::Error,
    },
    /// All names of this second are taken.
    #[error("the folder of recordings is full of recordings of this second")]
    Full,
    /// Earlier parts cannot be moved.
    #[error(transparent)]
    Room(io::Error),
    /// A reading cannot be appended.
    #[error("cannot write to {}; what is in it can be read", .path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// What the system says.
        #[source]
        error: io::Error,
    },
    /// A part that is full cannot be finished.
    #[error("cannot finish a part")]
    Part(#[source] io::Error),
    /// The last part cannot be finished.
    #[error("cannot finish the recording")]
    Finish(#[source] io::Error),
}

/// A recording that is being written.
pub struct RecordingFile {
    writer: RecordingWriter,
    header: Header,
    rotation: Option<Rotation>,
    frames: u64,
    /// Values of all readings.
    rows: u64,
    /// Of the parts that are finished.
    bytes: u64,
}

/// What became of a recording.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Recorded {
    /// Readings.
    pub frames: u64,
    /// There was nothing in any of them.
    pub is_empty: bool,
    /// Bytes of all parts.
    pub bytes: u64,
    /// Distance of readings.
    pub every_ns: u64,
    /// Whether the file still has its name.
    pub is_in_place: bool,
}

impl RecordingFile {
    /// Begins under this name. Earlier parts of the same recording are renamed to
    /// make room for it. Returns what is said about others beside it.
    ///
    /// # Errors
    /// The file cannot be made, or an earlier part not be moved.
    pub fn begin(
        path: &Path,
        mut header: Header,
        rotation: Option<Rotation>,
    ) -> Result<(RecordingFile, Vec<String>), RecordError> {
        header.series = rotation.map(|_| Series::at(path, &header.host));
        let (writer, others) = open(path, &header, rotation)?;
        Ok((RecordingFile::new(writer, header, rotation), others))
    }

    /// Begins in a new file `HOST-20261121-153000.frec` of a folder. Another
    /// recorder may begin in the same second, and then gets the next name.
    ///
    /// # Errors
    /// The folder or the file cannot be made.
    pub fn begin_in(
        folder: &Path,
        mut header: Header,
        rotation: Option<Rotation>,
    ) -> Result<RecordingFile, RecordError> {
        let elsewhere = |path: &Path, error| RecordError::Unnamed {
            path: path.to_owned(),
            error,
        };
        fathom_outputs::make_folder(folder).map_err(|error| elsewhere(folder, error))?;
        let now = jiff::Timestamp::now().strftime("%Y%m%d-%H%M%S").to_string();
        for name in names(&header.host.name, &now) {
            let path = folder.join(name);
            header.series = rotation.map(|_| Series::at(&path, &header.host));
            match RecordingWriter::create(&path, &header) {
                Ok(writer) => return Ok(RecordingFile::new(writer, header, rotation)),
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(elsewhere(&path, error)),
            }
        }
        Err(RecordError::Full)
    }

    fn new(writer: RecordingWriter, header: Header, rotation: Option<Rotation>) -> RecordingFile {
        RecordingFile {
            writer,
            header,
            rotation,
            frames: 0,
            rows: 0,
            bytes: 0,
        }
    }

    /// The file.
    #[must_use]
    pub fn path(&self) -> &Path {
        self.writer.path()
    }

    /// Removes the file, which has been begun for nothing.
    ///
    /// # Errors
    /// It cannot be removed.
    pub fn discard(self) -> io::Result<()> {
        if !self.is_in_place() {
            return Ok(());
        }
        paths::change(self.path(), |path| std::fs::remove_file(path))
    }

    /// Whether the file still has its name.
    #[must_use]
    pub fn is_in_place(&self) -> bool {
        self.writer.is_in_place()
    }

    /// Appends a reading, and begins a new part where this one is full.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn append(&mut self, frame: &Frame) -> Result<(), RecordError> {
        write(&mut self.writer, frame)?;
        if let Some(rotation) = self.rotation
            && self.writer.bytes() >= rotation.part_bytes
        {
            self.bytes += self.writer.bytes();
            let path = self.writer.path().to_owned();
            self.writer.end().map_err(RecordError::Part)?;
            (self.writer, _) = open(&path, &self.header, Some(rotation))?;
            // This reading ends one part and begins the next.
            write(&mut self.writer, frame)?;
        }
        self.frames += 1;
        self.rows += frame.rows.len() as u64;
        Ok(())
    }

    /// Ends the recording in order.
    ///
    /// # Errors
    /// Its end cannot be written.
    pub fn finish(self) -> Result<Recorded, RecordError> {
        let recorded = Recorded {
            frames: self.frames,
            is_empty: self.rows == 0,
            bytes: self.bytes + self.writer.bytes(),
            every_ns: self.header.interval_ns,
            is_in_place: self.writer.is_in_place(),
        };
        self.writer.finish().map_err(RecordError::Finish)?;
        Ok(recorded)
    }
}

impl Recorded {
    /// How much it is, in words.
    #[must_use]
    pub fn words(&self) -> String {
        let readings = unit::counted(self.frames, "reading");
        format!("{readings}, {}", unit::bytes(self.bytes))
    }

    /// Why nobody can use what was recorded.
    #[must_use]
    pub fn uselessness(&self) -> Option<String> {
        if !self.is_in_place {
            let why =
                "the file was removed or moved while it was written, so that the recording ended";
            return Some(why.to_owned());
        }
        if self.is_empty && self.frames > 0 {
            let why = "nothing could be read of this host: are /proc and /sys mounted here?";
            return Some(why.to_owned());
        }
        (self.frames < 2).then(|| {
            format!(
                "it takes two readings to tell anything: record for longer than {}, or more often \
                 (--every)",
                unit::span(self.every_ns)
            )
        })
    }
}

fn write(writer: &mut RecordingWriter, frame: &Frame) -> Result<(), RecordError> {
    let written = writer.append(frame);
    written.map_err(|error| RecordError::Write {
        path: writer.path().to_owned(),
        error,
    })
}

/// Creates the file under the given name, after room was made for it.
fn open(
    path: &Path,
    header: &Header,
    rotation: Option<Rotation>,
) -> Result<(RecordingWriter, Vec<String>), RecordError> {
    let others = match (rotation, &header.series) {
        (Some(rotation), Some(series)) => {
            make_room(path, rotation.keep, series).map_err(RecordError::Room)?
        }
        _ => Vec::new(),
    };
    let writer = RecordingWriter::create(path, header).map_err(|error| RecordError::Named {
        path: path.to_owned(),
        error,
    })?;
    Ok((writer, others))
}

/// Names that a recording of this second may have.
fn names(host: &str, now: &str) -> impl Iterator<Item = String> + use<> {
    let plain = |c: char| {
        if c.is_ascii_alphanumeric() || c == '-' {
            c
        } else {
            '_'
        }
    };
    let host: String = host.chars().take(60).map(plain).collect();
    let first = format!("{host}-{now}");
    (0..100).map(move |again| match again {
        0 => format!("{first}.{EXTENSION}"),
        again => format!("{first}-{again}.{EXTENSION}"),
    })
}
