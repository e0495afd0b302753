//! All agents of a run, seen from the coordinator: one thread of this process,
//! or one connection for each host.

use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::time::Duration;

use fathom_model::fleet::HostClock;

use crate::coordinator::remote::RemoteAgent;
use crate::error::Error;
use crate::interrupt::Interrupt;
use crate::launchers::local::LocalAgent;
use crate::protocol::link::{Command, EVENT_LIMIT, Message};
use crate::settings::Settings;

enum End {
    Local(LocalAgent),
    Remote(Box<RemoteAgent>),
    /// It never came, or is gone.
    Gone,
}

/// The agents of a run, by their place.
pub(crate) struct Agents {
    ends: Vec<End>,
    events: Receiver<(usize, Message)>,
    /// How urgently those elsewhere have been told to end.
    told: u8,
}

impl Agents {
    /// A fleet of one.
    pub(crate) fn local(settings: &Settings, interrupt: &Interrupt) -> Result<Agents, Error> {
        let (sender, events) = sync_channel(EVENT_LIMIT);
        let agent = LocalAgent::start(settings, interrupt, sender)?;
        Ok(Agents {
            ends: vec![End::Local(agent)],
            events,
            told: 0,
        })
    }

    /// Agents elsewhere, whose messages come from `events`; `None` is a host
    /// that is missing.
    pub(crate) fn remote(
        agents: Vec<Option<RemoteAgent>>,
        events: Receiver<(usize, Message)>,
        settings: &Settings,
    ) -> Agents {
        let ends = agents.into_iter().map(|agent| match agent {
            Some(agent) => {
                agent.begin(settings);
                End::Remote(Box::new(agent))
            }
            None => End::Gone,
        });
        Agents {
            ends: ends.collect(),
            events,
            told: 0,
        }
    }

    /// Places of those that are there.
    pub(crate) fn present(&self) -> Vec<usize> {
        let ends = self.ends.iter().enumerate();
        let there = ends.filter(|(_, end)| !matches!(end, End::Gone));
        there.map(|(place, _)| place).collect()
    }

    /// The name of a host; `None` for a thread of this process.
    pub(crate) fn name(&self, place: usize) -> Option<&str> {
        match self.ends.get(place) {
            Some(End::Remote(agent)) => Some(&agent.name),
            _ => None,
        }
    }

    pub(crate) fn clock(&self, place: usize) -> Option<HostClock> {
        match self.ends.get(place) {
            Some(End::Remote(agent)) => agent.clock(),
            _ => None,
        }
    }

    /// An event of a host has been handled.
    pub(crate) fn handled(&self, place: usize) {
        if let Some(End::Remote(agent)) = self.ends.get(place) {
            agent.handled();
        }
    }

    /// Asks for the time, so that the next answer about the clock is fresh.
    pub(crate) fn ask_time(&self, place: usize) {
        if let Some(End::Remote(agent)) = self.ends.get(place) {
            agent.ask_time();
        }
    }

    /// False when the agent is gone.
    pub(crate) fn command(&self, place: usize, command: Command) -> bool {
        match self.ends.get(place) {
            Some(End::Local(agent)) => agent.command(command),
            Some(End::Remote(agent)) => agent.command(command),
            Some(End::Gone) | None => false,
        }
    }

    /// Tells agents elsewhere to end, once for each level; `why`
    /// where it is not the user's wish. A thread of this
    /// process sees the interrupt itself.
    pub(crate) fn interrupt(&mut self, level: u8, why: Option<&str>) {
        if level <= self.told {
            return;
        }
        for end in &self.ends {
            if let End::Remote(agent) = end {
                agent.interrupt(level - self.told, why);
            }
        }
        self.told = level;
    }

    /// The next message, and whose it is; `None` when there is none for a
    /// while.
    pub(crate) fn next(&self, patience: Duration) -> Option<(usize, Message)> {
        match self.events.recv_timeout(patience) {
            Ok(message) => Some(message),
            Err(RecvTimeoutError::Timeout) => None,
            // Only a thread of this process can have ended without a word: at
            // the other end of every connection there is one that reads.
            Err(RecvTimeoutError::Disconnected) => {
                let place = self.present().first().copied().unwrap_or(0);
                Some((place, Message::Lost("it stopped unexpectedly".to_owned())))
            }
        }
    }

    /// Forgets an agent that is gone.
    pub(crate) fn forget(&mut self, place: usize) {
        if let Some(end) = self.ends.get_mut(place) {
            *end = End::Gone;
        }
    }

    /// After `Finish` was answered.
    pub(crate) fn join(&mut self) {
        for end in &mut self.ends {
            if let End::Local(agent) = end {
                agent.join();
            }
        }
    }
}
