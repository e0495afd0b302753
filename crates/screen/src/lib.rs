//! What a host does, reading by reading: as a screen of a terminal, and as
//! blocks of text.
//!
//! Moments come from outside, live or from a recording. Both forms say the same
//! in the same words. A host can also be watched for a while, with the time that
//! is left in one line.

mod cells;
mod history;
mod keys;
pub mod ping;
mod plain;
mod screen;
pub mod terminal;
mod watched;

pub use crate::cells::Sort;
pub use crate::history::{History, Seen};
pub use crate::keys::View;
pub use crate::plain::block;
pub use crate::screen::draw;
pub use crate::watched::{Countdown, WatchedSpan, duration, host_name, watch};
