//! The hosts of a run: all of them found and greeted, or a list of those that
//! could not be.

use std::fmt;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::mpsc::{Receiver, sync_channel};

use fathom_model::fleet::FleetHost;

use crate::host_list::HostName;
use crate::launcher::Launcher;
use crate::link::{EVENT_LIMIT, Message};
use crate::remote::RemoteAgent;
use crate::wire::About;

/// Hosts that cannot be had, each with the reason.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unreachable(pub Vec<(String, String)>);

impl fmt::Display for Unreachable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0.len() {
            1 => write!(f, "a host cannot be used")?,
            n => write!(f, "{n} hosts cannot be used")?,
        }
        // What holds of many is said once.
        let mut said: Vec<(&str, Vec<&str>)> = Vec::new();
        for (host, why) in &self.0 {
            match said.iter_mut().find(|(before, _)| before == why) {
                Some((_, hosts)) => hosts.push(host),
                None => said.push((why, vec![host])),
            }
        }
        said.iter()
            .try_for_each(|(why, hosts)| write!(f, "\n  {}: {why}", hosts.join(", ")))
    }
}

impl std::error::Error for Unreachable {}

/// The hosts of a run.
pub struct Fleet {
    agents: Vec<Result<RemoteAgent, (String, String)>>,
    events: Receiver<(usize, Message)>,
    allow_missing: usize,
}

impl fmt::Debug for Fleet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Fleet").finish_non_exhaustive()
    }
}

impl Fleet {
    /// Brings the agents of all hosts to life and greets them, many at a time.
    ///
    /// # Errors
    /// All hosts that cannot be had, when they are more than `allow_missing`.
    pub fn gather(
        hosts: &[HostName],
        launcher: &Launcher,
        allow_missing: usize,
    ) -> Result<Fleet, Unreachable> {
        let (sender, events) = sync_channel(EVENT_LIMIT);
        let greeted: Vec<Mutex<Option<Result<RemoteAgent, String>>>> =
            hosts.iter().map(|_| Mutex::new(None)).collect();
        let next = AtomicUsize::new(0);
        std::thread::scope(|scope| {
            for _ in 0..launcher.at_once(hosts.len()) {
                scope.spawn(|| {
                    loop {
                        let place = next.fetch_add(1, Relaxed);
                        let Some(host) = hosts.get(place) else {
                            return;
                        };
                        let agent = launcher.launch(host).and_then(|transport| {
                            RemoteAgent::greet(&host.to_string(), place, transport, &sender)
                        });
                        let agent = agent.map(|agent| agent.started_by(launcher.launched()));
                        if let Ok(mut slot) = greeted[place].lock() {
                            *slot = Some(agent);
                        }
                    }
                });
            }
        });
        let named = hosts.iter().zip(greeted).map(|(host, slot)| {
            let agent = slot.into_inner().ok().flatten();
            let agent = agent.unwrap_or_else(|| Err("it could not be asked".to_owned()));
            agent.map_err(|why| (host.to_string(), why))
        });
        let fleet = Fleet {
            agents: named.collect(),
            events,
            allow_missing,
        };
        let missing = fleet.missing();
        match missing.len() > allow_missing || missing.len() == hosts.len() {
            true => Err(Unreachable(missing)),
            false => Ok(fleet),
        }
    }

    /// Hosts that could not be had, and why.
    pub fn missing(&self) -> Vec<(String, String)> {
        let agents = self.agents.iter();
        agents
            .filter_map(|agent| agent.as_ref().err().cloned())
            .collect()
    }

    /// All hosts by their place, with their facts as far as they are known.
    pub fn hosts(&self) -> Vec<FleetHost> {
        let host = |agent: &Result<RemoteAgent, (String, String)>| match agent {
            Ok(agent) => agent.host(),
            Err((name, why)) => FleetHost {
                name: name.clone(),
                lost: Some(why.clone()),
                ..FleetHost::default()
            },
        };
        self.agents.iter().map(host).collect()
    }

    /// What the owner of each host allows, in words; `None` for one that is
    /// missing.
    pub fn permissions(&self) -> Vec<Option<String>> {
        let words = |about: &About| {
            let mut words = match about.allowed.is_empty() {
                true => "nothing".to_owned(),
                false => about.allowed.join(", "),
            };
            if about.destructive {
                words.push_str(" (destructive)");
            }
            words
        };
        let agents = self.agents.iter();
        agents
            .map(|agent| agent.as_ref().ok().map(|agent| words(&agent.about)))
            .collect()
    }

    /// How many hosts may still get lost.
    pub(crate) fn may_still_miss(&self) -> usize {
        self.allow_missing.saturating_sub(self.missing().len())
    }

    /// The agents by their place, and where their messages come from.
    pub(crate) fn into_agents(self) -> (Vec<Option<RemoteAgent>>, Receiver<(usize, Message)>) {
        let agents = self.agents.into_iter().map(Result::ok);
        (agents.collect(), self.events)
    }
}
