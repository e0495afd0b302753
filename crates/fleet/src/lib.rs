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
mod coordinator;
mod credentials;
mod error;
#[cfg(feature = "fuzzing")]
#[doc(hidden)]
pub mod fuzzing;
mod holder;
mod host_list;
mod interrupt;
mod launchers;
mod made_files;
pub mod network;
mod protocol;
mod session;
mod settings;
pub mod simulated;
mod spread;
#[cfg(test)]
mod test_trial;
mod thread;
mod transport;
mod volumes;

pub use admission::policy::Policy;
pub use agent::preflight::preflight;
pub use coordinator::clean_hosts::clean_hosts;
pub use coordinator::error::{HostError, UnreachableHost};
pub use coordinator::fleet::{Fleet, Unreachable};
pub use coordinator::gathering::{Gathering, GatheringProgress};
pub use coordinator::sink::{Outcome, Sink, SinkError};
pub use coordinator::stop_rules::StopRules;
pub use coordinator::{run_on_fleet, run_schedule};
pub use credentials::join::{JoinError, JoinOutcome};
pub use credentials::token::{JoinToken, NoToken};
pub use credentials::{CoordinatorKeys, CredentialsError, TokenError};
pub use error::Error;
pub use holder::hold;
pub use host_list::{
    HostListError, HostName, MAX_HOSTS, RangeError, parse_hosts, parse_hosts_file,
};
pub use interrupt::{Interrupt, Urgency};
pub use launchers::KubernetesError;
pub use launchers::agent_arguments::{ArgumentError, agent_arguments};
pub use launchers::agent_binary::BinaryError;
pub use launchers::call_back::{
    CALL_BACK_VARIABLE, CallBackError, Invitation, InvitationError, serve_call_back,
};
pub use launchers::kubectl::Kubectl;
pub use launchers::pods::{POD_LAUNCHER, Pod};
pub use launchers::{LAUNCHERS, LaunchError, LaunchRequest, Launcher, LauncherKind};
pub use made_files::MadeFiles;
pub use protocol::frame::FrameError;
pub use protocol::message::{Event, TrialEnding, TrialInterval, TrialStart};
pub use protocol::reason::Reason;
pub use protocol::refusal::ScheduleRefusal;
pub use protocol::wire::GreetingError;
pub use session::leftovers::{CleanOrder, CleaningReport, clean_after_agents};
pub use session::options::AgentOptions;
pub use session::server::{AgentServer, BindError, Report};
pub use session::spool::HeldRun;
pub use session::stdio::serve_stdio;
pub use session::{InadmissibleMessage, SessionError};
pub use settings::Settings;
pub use spread::{SpreadError, on_hosts, scaled};
pub use thread::ThreadError;
pub use transport::ConnectionError;
pub use transport::tls::PORT;
pub use volumes::{
    NameError, ObjectName, Obstacle, TaintError, ToleratedTaint, VolumeError, VolumeLeftovers,
    VolumeMode, VolumeRequest, Volumes,
};
