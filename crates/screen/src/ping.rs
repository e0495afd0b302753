//! The latency of a storage, request by request: lines for people, JSON for
//! programs, and what is counted over all of them.

mod described;
mod json;
mod lines;
mod session;
mod tally;

pub use self::session::{PingForm, show_ping};
