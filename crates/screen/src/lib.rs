//! What a host does, reading by reading: as a screen of a terminal, as blocks of
//! text, and as lines of JSON.
//!
//! Moments come from outside, live or from a recording. All forms say the same. A
//! host can also be watched for a while, with the time that is left in one line.

mod cells;
mod detail;
mod devices;
mod filter;
mod fitting;
mod grid;
mod help;
mod history;
mod json;
mod keys;
mod order;
pub mod ping;
mod plain;
mod screen;
mod severity;
mod summary;
pub mod terminal;
mod trend;
mod users;
mod view;
mod watched;

pub use crate::filter::Filter;
pub use crate::history::{History, Seen};
pub use crate::json::json_line;
pub use crate::order::Sort;
pub use crate::plain::block;
pub use crate::screen::{Picture, draw};
pub use crate::view::View;
pub use crate::watched::{Countdown, WatchedSpan, duration, host_name, watch};
