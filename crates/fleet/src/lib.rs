//! Trials carried out: a coordinator walks the schedule, an agent on each host
//! runs one trial, or a set of trials at the same time, and reports what happens.
//!
//! A local run is a fleet of one: the agent is a thread, the link a channel.
//! On other hosts the same agent listens on a port (mutual TLS 1.3) or speaks
//! through the connection that a launcher made; its coordinator computes from
//! measured clock offsets when all begin. Nothing here decides what a number
//! means; samples and observations pass through unchanged to a [`Sink`].

mod admission;
mod agent;
mod agent_binary;
mod agent_options;
mod agents;
mod call_back;
mod callers;
mod ceiling;
mod clean_hosts;
mod clock;
mod complaints;
mod conclusion;
mod coordinator;
mod credentials;
mod error;
mod fail_if;
mod fleet;
mod frame;
#[cfg(feature = "fuzzing")]
#[doc(hidden)]
pub mod fuzzing;
mod gate;
mod gathering;
mod host_list;
mod interrupt;
mod join;
mod kubernetes;
mod launched;
mod launcher;
mod leftovers;
mod link;
mod load;
mod local;
mod looked;
mod member;
mod message;
mod mpi;
#[cfg(test)]
mod mutation;
mod net_serving;
pub mod network;
mod outlook;
mod outstanding;
mod part;
mod policy;
mod preflight;
mod quiet;
mod refused;
mod remembered;
mod remote;
#[cfg(test)]
mod rogue_tests;
mod rules;
mod runner;
mod server;
mod session;
mod set;
mod settings;
mod silence;
pub mod simulated;
mod sink;
mod slurm;
mod spool;
mod spread;
mod ssh;
mod starter;
mod stdio;
mod strangers;
mod teller;
#[cfg(test)]
mod test_trial;
mod thread;
mod tls;
mod tls_stream;
mod together;
mod token;
mod transport;
mod walk;
mod watchdog;
mod wire;

pub use agent_binary::AgentBinary;
pub use agent_options::AgentOptions;
pub use call_back::{CALL_BACK_VARIABLE, Invitation, serve_call_back};
pub use clean_hosts::clean_hosts;
pub use coordinator::{run_on_fleet, run_schedule};
pub use credentials::CoordinatorKeys;
pub use error::Error;
pub use fleet::{Fleet, Unreachable};
pub use gathering::{Awaited, Gathering};
pub use host_list::{HostName, MAX_HOSTS, parse_hosts, parse_hosts_file};
pub use interrupt::{Interrupt, Urgency};
pub use join::Joined;
pub use kubernetes::{KubernetesOptions, kubernetes_nodes};
pub use launcher::Launcher;
pub use leftovers::{CleanOrder, Cleaned, clean_after_agents};
pub use message::{Event, TrialEnding, TrialInterval, TrialStart};
pub use policy::Policy;
pub use preflight::preflight;
pub use refused::Refused;
pub use rules::StopRules;
pub use server::{AgentServer, Report};
pub use settings::Settings;
pub use sink::{Outcome, Sink};
pub use slurm::slurm_nodes;
pub use spool::HeldRun;
pub use spread::{on_hosts, scaled};
pub use ssh::SshOptions;
pub use stdio::serve_stdio;
pub use tls::PORT;
pub use token::JoinToken;
