//! One request at a time, to look at: a thread makes them and tells what each
//! took, and nothing is stored.

mod host;
mod one;
mod server;

pub use host::{AddressError, address, target};
pub use server::{News, Pace, Server};
