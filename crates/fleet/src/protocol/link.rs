//! What a coordinator and an agent say to one another, and the agent's end of
//! it. Whether the coordinator is a thread or another host, the agent does not
//! know: [`crate::launchers::local`] and [`crate::session`] hold the other ends.

use std::sync::Arc;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};

use fathom_model::ScheduledTrial;
use fathom_model::schedule::Pause;
use serde::{Deserialize, Serialize};

use crate::protocol::frame::FrameWriter;
use crate::protocol::message::Event;
use crate::protocol::reason::Reason;
use crate::protocol::refusal::ScheduleRefusal;
use crate::protocol::wire::ToAgent;
use crate::session::network_service::NetworkEnd;

/// What a coordinator tells an agent.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) enum Command {
    /// Say whether these trials can be carried out, before the first of them is.
    Check(Vec<ScheduledTrial>),
    /// Carry out these trials at the same time.
    Set(Vec<ScheduledTrial>),
    /// All hosts of the set are ready: begin the load at this moment of the
    /// agent's monotonic clock.
    Open {
        /// `CLOCK_MONOTONIC`, nanoseconds.
        at_monotonic_ns: u64,
    },
    /// End the measure phase of a running trial, for this reason.
    EndMeasure {
        /// Its index.
        trial: u32,
        /// Why.
        reason: String,
    },
    /// Wait until the devices of the last trial are quiet.
    Pause(Pause),
    /// Remove what the run created, then end.
    Finish,
}

/// What an agent tells its coordinator.
#[derive(Debug)]
pub(crate) enum Message {
    /// Something happened. `ack`, when present, is answered once the event has
    /// been handled.
    Event { event: Event, ack: Option<Ack> },
    /// The load of the set is ready to begin.
    Ready,
    /// Some of the trials that were to be checked cannot be carried out.
    Refused(Box<ScheduleRefusal>),
    /// A command has been carried out.
    Done,
    /// The agent is gone, and why.
    Lost(String),
    /// Where network measurements are served, or why they are not.
    NetworkServed(Result<NetworkEnd, Reason>),
    /// Something of an earlier run; `None` was the last.
    Held(Option<Box<Event>>),
}

/// Whoever waits until an event has been handled.
#[derive(Debug)]
pub(crate) enum Ack {
    /// A thread of this process.
    Near(SyncSender<Result<(), Reason>>),
    /// The agent at the other end of a connection.
    Far(Arc<FrameWriter>),
}

impl Ack {
    /// Answers. An agent that died meanwhile is noticed elsewhere.
    pub(crate) fn answer(self, result: Result<(), Reason>) {
        match self {
            Ack::Near(sender) => drop(sender.send(result)),
            Ack::Far(writer) => drop(writer.send(&ToAgent::Handled(result))),
        }
    }
}

/// Events that may wait in a channel. An agent sends a handful a second, so
/// this is minutes of a stuck coordinator before the agent has to wait.
pub(crate) const EVENT_LIMIT: usize = 4096;

/// The agent's end of the link.
pub(crate) struct Link {
    pub(crate) commands: Receiver<Command>,
    /// Which of the coordinator's agents this is.
    pub(crate) place: usize,
    pub(crate) events: SyncSender<(usize, Message)>,
}

impl Link {
    /// Tells the coordinator; false when it is gone.
    pub(crate) fn send(&self, event: Event) -> bool {
        self.tell(Message::Event { event, ack: None })
    }

    /// What tells the coordinator from another thread, which never waits for it.
    pub(crate) fn teller(&self) -> impl Fn(Event) + Send + 'static {
        let (place, events) = (self.place, self.events.clone());
        move |event| {
            // One that is gone, or far behind, is told nothing.
            let _ = events.try_send((place, Message::Event { event, ack: None }));
        }
    }

    /// Tells the coordinator and waits until it has dealt with it.
    pub(crate) fn send_and_wait(&self, event: Event) -> Result<(), Reason> {
        let (sender, answer) = sync_channel(1);
        let gone = || Reason::of("the coordinator is gone");
        let ack = Some(Ack::Near(sender));
        if !self.tell(Message::Event { event, ack }) {
            return Err(gone());
        }
        answer.recv().map_err(|_| gone())?
    }

    /// The load is ready to begin.
    pub(crate) fn ready(&self) {
        self.tell(Message::Ready);
    }

    /// Some of the trials that were to be checked cannot be carried out.
    pub(crate) fn refuse(&self, refused: ScheduleRefusal) {
        self.tell(Message::Refused(Box::new(refused)));
    }

    pub(crate) fn done(&self) {
        self.tell(Message::Done);
    }

    /// A coordinator that has left does not need to know.
    fn tell(&self, message: Message) -> bool {
        self.events.send((self.place, message)).is_ok()
    }
}
