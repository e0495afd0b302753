//! The messages between two processes.
//!
//! Both sides speak first with a [`Greeting`], whose form never changes. The
//! rest is one protocol version: whoever speaks another one is refused by name,
//! not guessed at.

use fathom_model::Fingerprint;
use serde::{Deserialize, Serialize};

use crate::protocol::link::Command;
use crate::protocol::message::Event;
use crate::protocol::reason::Reason;
use crate::protocol::refusal::ScheduleRefusal;
use crate::session::leftovers::{CleanOrder, CleaningReport};
use crate::session::network_service::NetworkEnd;
use crate::session::spool::HeldRun;
use crate::settings::Settings;

/// Version of everything below. Any change of a message changes it.
pub(crate) const PROTOCOL: u32 = 5;

/// Why two processes cannot go on after their greetings.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum GreetingError {
    /// The agent does not serve, for a reason of its own.
    #[error("{0}")]
    Refused(String),
    /// Something else answers.
    #[error("the other side is not fathom {expected}; it calls itself '{found}'")]
    OtherRole {
        /// `coordinator` or `agent`.
        expected: &'static str,
        /// What it says that it is.
        found: String,
    },
    /// The two versions of fathom do not understand one another.
    #[error(
        "it speaks protocol {protocol} (fathom {version}), this one protocol {PROTOCOL} (fathom {}); \
         use the same version on all hosts",
        env!("CARGO_PKG_VERSION")
    )]
    OtherProtocol {
        /// That of the other side.
        protocol: u32,
        /// Its version of fathom.
        version: String,
    },
}

/// The first message of a coordinator and of an agent.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct Greeting {
    /// `coordinator` or `agent`.
    pub(crate) fathom: String,
    /// [`PROTOCOL`] of who speaks.
    pub(crate) protocol: u32,
    /// Version of fathom.
    pub(crate) version: String,
    /// Why the agent does not serve, if it does not.
    pub(crate) refused: Option<String>,
}

impl Greeting {
    pub(crate) fn coordinator() -> Greeting {
        Greeting::of("coordinator")
    }

    pub(crate) fn agent() -> Greeting {
        Greeting::of("agent")
    }

    fn of(who: &str) -> Greeting {
        Greeting {
            fathom: who.to_owned(),
            protocol: PROTOCOL,
            version: env!("CARGO_PKG_VERSION").to_owned(),
            refused: None,
        }
    }

    /// Whether the two can go on, and if not, why.
    pub(crate) fn check(&self, expected: &'static str) -> Result<(), GreetingError> {
        if let Some(refused) = &self.refused {
            return Err(GreetingError::Refused(clean(refused)));
        }
        if self.fathom != expected {
            return Err(GreetingError::OtherRole {
                expected,
                found: clean(&self.fathom),
            });
        }
        if self.protocol != PROTOCOL {
            return Err(GreetingError::OtherProtocol {
                protocol: self.protocol,
                version: clean(&self.version),
            });
        }
        Ok(())
    }
}

/// Text from a stranger, fit for a terminal.
pub(crate) fn clean(text: &str) -> String {
    let kept = text.chars().filter(|c| !c.is_control());
    kept.take(1000).collect()
}

/// From the coordinator.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) enum ToAgent {
    /// What time is it? Sent twice a second; an agent that hears nothing for a
    /// while knows that its coordinator is gone.
    Ping {
        /// The coordinator's monotonic clock.
        sent_ns: u64,
        /// Events of the run that it has handled so far.
        handled: u64,
    },
    /// A run begins.
    Begin(RemoteSettings),
    /// A command.
    Command(Command),
    /// An event has been handled.
    Handled(Result<(), Reason>),
    /// List or remove what killed agents left on this host. Between runs only.
    Clean(CleanOrder),
    /// Hand over what is held of a run.
    Collect {
        /// Its id.
        run: String,
        /// Place of the host in it.
        place: u32,
    },
    /// What was handed over is stored.
    Forget {
        /// Its id.
        run: String,
        /// Place of the host in it.
        place: u32,
    },
    /// Serve network measurements until the end of the session.
    ServeNetwork,
    /// End the load.
    Interrupt {
        /// 1 soon, 2 now.
        level: u8,
        /// Why, where it is not the user's wish.
        why: Option<String>,
    },
}

/// From the agent.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) enum FromAgent {
    /// Who it is. Follows the greeting.
    About(Box<About>),
    /// The time.
    Pong {
        /// From the ping.
        sent_ns: u64,
        /// The agent's monotonic clock when the ping came in.
        received_ns: u64,
        /// The same when this left.
        returned_ns: u64,
        /// Its wall clock at that moment.
        unix_ns: u64,
    },
    /// Something happened.
    Event {
        /// What.
        event: Event,
        /// The agent waits for [`ToAgent::Handled`].
        waits: bool,
    },
    /// Ready for [`Command::Open`].
    Ready,
    /// What it found wrong with the trials of [`Command::Check`].
    Refused(Box<ScheduleRefusal>),
    /// A command has been carried out.
    Done,
    /// What [`ToAgent::Clean`] found.
    Cleaned(CleaningReport),
    /// Where network measurements are served, or why they are not.
    NetworkServed(Result<NetworkEnd, Reason>),
    /// Something that happened in an earlier run; `None` was the last.
    Held(Option<Event>),
}

/// What an agent says of itself.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct About {
    /// Its host.
    pub(crate) fingerprint: Fingerprint,
    /// Version of fathom.
    pub(crate) version: String,
    /// What its owner allows, in words.
    pub(crate) allowed: Vec<String>,
    /// Whether foreign data may be overwritten there.
    pub(crate) destructive: bool,
    /// Runs of which it holds what their coordinators did not hear.
    pub(crate) held: Vec<HeldRun>,
}

/// [`Settings`] for an agent elsewhere. What marks the data of the run is no part
/// of them: each agent derives it from the id.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct RemoteSettings {
    /// Id of the run.
    pub(crate) run: String,
    /// Place of the host in it.
    pub(crate) place: u32,
    pub(crate) file_prefix: String,
    pub(crate) destructive: bool,
    pub(crate) keep_files: bool,
    pub(crate) ceiling_ns: u64,
}

impl RemoteSettings {
    pub(crate) fn of(settings: &Settings, place: usize) -> RemoteSettings {
        RemoteSettings {
            run: settings.run.clone(),
            place: place as u32,
            file_prefix: settings.file_prefix.clone(),
            destructive: settings.destructive,
            keep_files: settings.keep_files,
            ceiling_ns: settings.ceiling_ns,
        }
    }
}
