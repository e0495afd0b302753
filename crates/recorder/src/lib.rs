//! What one host did over time, by fathom's own readers, kept in a file.
//!
//! * [`Sampler`] takes a [`Frame`] at a time from `/proc` and `/sys`;
//! * [`RecordingWriter`] appends frames to a file that survives a kill at any
//!   instant, [`RecordingReader`] reads it back, also one with a torn end;
//! * [`RecordingFile`] is a recording that is being written, in one part or
//!   several;
//! * [`Growth`] turns counters into what happened between two frames, and
//!   [`Moments`] that into a recording as the diagnosis takes it;
//! * [`given_files`] tells which files are parts of one recording;
//! * [`joined`] reads the parts of a recording as one, [`joined_readings`] does
//!   so for alarms and the table of use;
//! * [`export`] writes JSON lines and CSV for other programs.
//!
//! The format is described in [`format`].

pub mod export;
pub mod format;
mod frame;
pub mod given_files;
mod growth;
mod joined;
pub mod kind;
mod live;
mod moments;
mod pace;
mod pause_watch;
mod readings;
mod recording_file;
mod rotation;
mod sampler;

pub use format::reader::{ReadError, RecordingReader, is_recording};
pub use format::writer::RecordingWriter;
pub use frame::{Frame, HostFacts, Instant, Row};
pub use growth::{Change, Growth, growth};
pub use joined::{
    JoinError, JoinedFacts, RecordedReadings, each_frame, joined, joined_readings, recording,
};
pub use live::watch_host;
pub use moments::{Moments, recorded_host};
pub use pace::Pace;
pub use recording_file::{EXTENSION, RecordError, Recorded, RecordingFile};
pub use rotation::{Rotation, make_room, part_of, parts};
pub use sampler::Sampler;
