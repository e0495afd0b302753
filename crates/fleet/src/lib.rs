//! Trials carried out: a coordinator walks the schedule, an agent on each host
//! runs one trial, or a set of trials at the same time, and reports what happens.
//!
//! A local run is a fleet of one: the agent is a thread, the link a channel.
//! Nothing here decides what a number means; samples and observations pass
//! through unchanged to a [`Sink`].

mod agent;
mod ceiling;
mod conclusion;
mod coordinator;
mod error;
mod fail_if;
mod interrupt;
mod load;
mod local;
mod looked;
mod member;
mod message;
pub mod network;
mod outlook;
mod quiet;
mod runner;
mod set;

pub use coordinator::{Outcome, Settings, Sink, StopRules, run_schedule};
pub use error::Error;
pub use interrupt::{Interrupt, Urgency};
pub use message::{Event, TrialEnding, TrialInterval, TrialStart};
