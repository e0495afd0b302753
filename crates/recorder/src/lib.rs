//! What one host did over time, by fathom's own readers, kept in a file.
//!
//! * [`Sampler`] takes a [`Frame`] at a time from `/proc` and `/sys`;
//! * [`RecordingWriter`] appends frames to a file that survives a kill at any
//!   instant, [`RecordingReader`] reads it back, also one with a torn end;
//! * [`Growth`] turns counters into what happened between two frames, and
//!   [`Moments`] that into a recording as the diagnosis takes it;
//! * [`export`] writes JSON lines and CSV for other programs.
//!
//! The format is described in [`format`].

pub mod export;
pub mod format;
mod frame;
mod growth;
pub mod kind;
mod moments;
mod rotation;
mod sampler;

pub use format::reader::{ReadError, RecordingReader, is_recording};
pub use format::writer::RecordingWriter;
pub use frame::{Frame, HostFacts, Instant, Row};
pub use growth::{Change, Growth, growth};
pub use moments::{Moments, recorded_host, recording};
pub use rotation::{Rotation, make_room, parts};
pub use sampler::Sampler;
