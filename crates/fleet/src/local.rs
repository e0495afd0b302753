//! The link of a local run: an agent thread and a channel in each direction.

use std::sync::mpsc::{Receiver, Sender, SyncSender, channel, sync_channel};
use std::thread::JoinHandle;

use fathom_model::ScheduledTrial;
use fathom_model::schedule::Pause;

use crate::agent::Agent;
use crate::coordinator::Settings;
use crate::error::Error;
use crate::interrupt::Interrupt;
use crate::message::Event;

/// What a coordinator tells an agent.
#[derive(Debug)]
pub(crate) enum Command {
    /// Carry out these trials at the same time.
    Set(Vec<ScheduledTrial>),
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
    Event {
        event: Event,
        ack: Option<SyncSender<Result<(), String>>>,
    },
    /// A command has been carried out.
    Done,
}

/// The agent's end of the link.
pub(crate) struct Link {
    pub(crate) commands: Receiver<Command>,
    events: SyncSender<Message>,
}

/// The coordinator's end of the link.
pub(crate) struct LocalAgent {
    commands: Sender<Command>,
    events: Receiver<Message>,
    thread: Option<JoinHandle<()>>,
}

/// Events that may wait in the channel. The agent sends a handful a second, so
/// this is minutes of a stuck coordinator before the agent has to wait.
const EVENT_LIMIT: usize = 4096;

impl Link {
    /// Tells the coordinator; false when it is gone.
    pub(crate) fn send(&self, event: Event) -> bool {
        self.events
            .send(Message::Event { event, ack: None })
            .is_ok()
    }

    /// Tells the coordinator and waits until it has dealt with it.
    pub(crate) fn send_and_wait(&self, event: Event) -> Result<(), String> {
        let (ack, answer) = sync_channel(1);
        let gone = || "the coordinator is gone".to_owned();
        self.events
            .send(Message::Event {
                event,
                ack: Some(ack),
            })
            .map_err(|_| gone())?;
        answer.recv().map_err(|_| gone())?
    }

    pub(crate) fn done(&self) {
        // A coordinator that has left does not need to know.
        let _ = self.events.send(Message::Done);
    }
}

impl LocalAgent {
    pub(crate) fn start(settings: &Settings, interrupt: &Interrupt) -> Result<LocalAgent, Error> {
        let (command_sender, commands) = channel();
        let (events, event_receiver) = sync_channel(EVENT_LIMIT);
        let link = Link { commands, events };
        let mut agent = Agent::new(link, settings.clone(), interrupt.clone());
        let thread = std::thread::Builder::new()
            .name("agent".to_owned())
            .spawn(move || agent.serve())
            .map_err(Error::Spawn)?;
        Ok(LocalAgent {
            commands: command_sender,
            events: event_receiver,
            thread: Some(thread),
        })
    }

    /// False when the agent is gone.
    pub(crate) fn command(&self, command: Command) -> bool {
        self.commands.send(command).is_ok()
    }

    /// The next message; `None` when the agent is gone.
    pub(crate) fn next(&self) -> Option<Message> {
        self.events.recv().ok()
    }

    /// Waits for the thread. Only after `Finish` was answered.
    pub(crate) fn join(mut self) {
        if let Some(thread) = self.thread.take() {
            // A panic of the agent has been noticed through the closed channel.
            let _ = thread.join();
        }
    }
}
