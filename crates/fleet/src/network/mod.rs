//! The network between hosts: one host serves, another one measures against
//! it, or a third one asks the first to.
//!
//! A server does only what its owner allows: who may measure, for how long,
//! how many bytes. The two ends agree on each load over a control connection
//! ([`wire`]), make its data connections to the same port, and each reports
//! what it saw. Several servers make a matrix: the coordinator asks one to
//! send to another, and moves no data itself.

mod conversation;
mod data;
mod driver;
mod error;
mod listener;
mod matrix;
mod owner;
mod pair;
mod rounds;
mod server;
mod session;
mod stall;
mod turns;
mod wire;

pub use data::LoadControl;
pub use driver::{Remote, StartTime};
pub use error::NetError;
pub use matrix::{Matrix, MatrixPlan, Unresponsive};
pub use owner::{Network, Owner, OwnerError};
pub use pair::{default_plan, measure_pair, single_plan};
pub use server::Server;
pub use session::resolve;

/// The port of a server unless its owner chooses another.
pub const DEFAULT_PORT: u16 = 5299;

#[cfg(test)]
mod network_tests;
