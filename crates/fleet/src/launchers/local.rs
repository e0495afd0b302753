//! The link of a local run: an agent thread and a channel in each direction.

use std::sync::mpsc::{Sender, SyncSender, channel};
use std::thread::JoinHandle;

use fathom_engine::prepare::HeldLists;

use crate::agent::Agent;
use crate::error::Error;
use crate::interrupt::Interrupt;
use crate::protocol::link::{Command, Link, Message};
use crate::settings::Settings;

/// The coordinator's end of the link to an agent thread.
pub(crate) struct LocalAgent {
    commands: Sender<Command>,
    thread: Option<JoinHandle<()>>,
}

impl LocalAgent {
    /// Starts the thread. Its events go to `events`, as those of place 0; the
    /// channel closes when the thread ends, for whatever reason.
    pub(crate) fn start(
        settings: &Settings,
        interrupt: &Interrupt,
        events: SyncSender<(usize, Message)>,
    ) -> Result<LocalAgent, Error> {
        let (command_sender, commands) = channel();
        let link = Link {
            commands,
            place: 0,
            events,
        };
        // Nobody else takes part who would use the test files of this host.
        let lists = HeldLists::begin();
        let mut agent = Agent::new(link, settings.clone(), interrupt.clone());
        let thread = std::thread::Builder::new()
            .name("agent".to_owned())
            .spawn(move || {
                let _lists = lists;
                agent.serve();
            })
            .map_err(Error::Spawn)?;
        Ok(LocalAgent {
            commands: command_sender,
            thread: Some(thread),
        })
    }

    /// False when the agent is gone.
    pub(crate) fn command(&self, command: Command) -> bool {
        self.commands.send(command).is_ok()
    }

    /// Waits for the thread. Only after `Finish` was answered.
    pub(crate) fn join(&mut self) {
        if let Some(thread) = self.thread.take() {
            // A panic of the agent has been noticed through the closed channel.
            let _ = thread.join();
        }
    }
}
