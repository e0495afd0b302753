//! The hosts of a run: all of them found and greeted, or a list of those that
//! could not be.

use std::collections::BTreeMap;
use std::fmt;
use std::net::SocketAddr;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::time::Duration;

use fathom_model::fleet::FleetHost;

use crate::coordinator::error::{HostError, UnreachableHost};
use crate::coordinator::gathering::{Gathering, GatheringState};
use crate::coordinator::remote::RemoteAgent;
use crate::host_list::HostName;
use crate::interrupt::Interrupt;
use crate::launchers::Launcher;
use crate::protocol::link::{EVENT_LIMIT, Message};
use crate::protocol::message::Event;
use crate::protocol::wire::About;
use crate::session::network_service::NetworkEnd;
use crate::session::spool::HeldRun;

/// Silence after which nothing more of a held run is expected.
const COLLECT_PATIENCE: Duration = Duration::from_secs(10);

/// Where a host serves: at the address that its name has here, or, where the
/// name is one of the user's own ssh configuration, at that of its first link.
fn address_of(name: &str, end: &NetworkEnd) -> Result<SocketAddr, HostError> {
    let host = name.rsplit_once('@').map_or(name, |(_, host)| host);
    // The port of its agent, if one was given, is another one.
    let host = match host.rsplit_once(':') {
        Some((before, port)) if port.parse::<u16>().is_ok() => before.trim_matches(['[', ']']),
        _ => host,
    };
    let known = fathom_deadline::host_addresses(host, end.port).ok();
    let known = known.and_then(|found| found.into_iter().find(SocketAddr::is_ipv4));
    let first = end.addresses.iter().find(|address| address.is_ipv4());
    known
        .or_else(|| first.map(|address| SocketAddr::from((*address, end.port))))
        .ok_or(HostError::NoAddress)
}

/// What agents say, with their place, and the end to say it into.
type Channel = (SyncSender<(usize, Message)>, Receiver<(usize, Message)>);

/// Hosts that cannot be had.
#[derive(Debug)]
pub struct Unreachable(pub Vec<UnreachableHost>);

impl fmt::Display for Unreachable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0.len() {
            1 => write!(f, "a host cannot be used")?,
            n => write!(f, "{n} hosts cannot be used")?,
        }
        // What holds of many is said once.
        let mut said: Vec<(String, Vec<&str>)> = Vec::new();
        for UnreachableHost { host, error } in &self.0 {
            let why = error.to_string();
            match said.iter_mut().find(|(before, _)| *before == why) {
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
    agents: Vec<Result<RemoteAgent, UnreachableHost>>,
    events: Receiver<(usize, Message)>,
    /// For what was not meant for whoever took it from `events`.
    again: SyncSender<(usize, Message)>,
    allow_missing: usize,
}

impl fmt::Debug for Fleet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Fleet").finish_non_exhaustive()
    }
}

impl Fleet {
    /// Agents that have been greeted, by their place.
    pub(crate) fn of(
        agents: Vec<Result<RemoteAgent, UnreachableHost>>,
        (again, events): Channel,
        allow_missing: usize,
    ) -> Fleet {
        Fleet {
            agents,
            events,
            again,
            allow_missing,
        }
    }

    /// Brings the agents of all hosts to life and greets them, many at a time.
    ///
    /// # Errors
    /// All hosts that cannot be had, when they are more than `allow_missing`.
    pub fn gather(
        hosts: &[HostName],
        launcher: &Launcher,
        allow_missing: usize,
    ) -> Result<Fleet, Unreachable> {
        let gathering = Gathering {
            allow_missing,
            interrupt: &Interrupt::new(),
            tell: &|_| {},
        };
        Fleet::gather_watched(hosts, launcher, &gathering)
    }

    /// The same with somebody who watches, and may end it.
    ///
    /// # Errors
    /// All hosts that cannot be had, when they are more than allowed; those
    /// that had not come when it was ended.
    pub fn gather_watched(
        hosts: &[HostName],
        launcher: &Launcher,
        gathering: &Gathering<'_>,
    ) -> Result<Fleet, Unreachable> {
        let (allow_missing, interrupt) = (gathering.allow_missing, gathering.interrupt);
        let roll = GatheringState::new(hosts.iter().map(HostName::to_string).collect());
        let (sender, events) = sync_channel(EVENT_LIMIT);
        let greeted: Vec<Mutex<Option<Result<RemoteAgent, HostError>>>> =
            hosts.iter().map(|_| Mutex::new(None)).collect();
        let next = AtomicUsize::new(0);
        std::thread::scope(|scope| {
            for _ in 0..launcher.at_once(hosts.len()) {
                let begun = std::thread::Builder::new().spawn_scoped(scope, || {
                    loop {
                        let place = next.fetch_add(1, Relaxed);
                        let Some(host) = hosts.get(place) else {
                            return;
                        };
                        let transport = launcher.launch(host, interrupt);
                        let agent = transport.map_err(HostError::from).and_then(|transport| {
                            RemoteAgent::greet(&host.to_string(), place, transport, &sender)
                        });
                        let agent = agent.map(|agent| agent.started_by(launcher.under_way()));
                        if let Ok(mut slot) = greeted[place].lock() {
                            *slot = Some(agent);
                        }
                        roll.settle(place);
                    }
                });
                // The others do the work of those that cannot be had.
                if begun.is_err() {
                    break;
                }
            }
            roll.watch(gathering);
        });
        let named = hosts.iter().zip(greeted).map(|(host, slot)| {
            let agent = slot.into_inner().ok().flatten();
            let agent = agent.unwrap_or(Err(HostError::NotAsked));
            agent.map_err(|error| UnreachableHost {
                host: host.to_string(),
                error,
            })
        });
        let fleet = Fleet::of(named.collect(), (sender, events), allow_missing);
        let missing = fleet.missing().count();
        if interrupt.is_raised() || missing > allow_missing || missing == hosts.len() {
            let agents = fleet.agents.into_iter();
            return Err(Unreachable(agents.filter_map(Result::err).collect()));
        }
        Ok(fleet)
    }

    /// Hosts that could not be had, and why.
    pub fn missing(&self) -> impl Iterator<Item = &UnreachableHost> {
        self.agents.iter().filter_map(|agent| agent.as_ref().err())
    }

    /// All hosts by their place, with their facts as far as they are known.
    pub fn hosts(&self) -> Vec<FleetHost> {
        let host = |agent: &Result<RemoteAgent, UnreachableHost>| match agent {
            Ok(agent) => agent.host(),
            Err(UnreachableHost { host, error }) => FleetHost {
                name: host.clone(),
                lost: Some(error.to_string()),
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

    /// What hosts hold of runs whose coordinators were lost, by their place.
    pub fn held(&self) -> Vec<(usize, HeldRun)> {
        let agents = self.agents.iter().enumerate();
        let there = agents.filter_map(|(place, agent)| Some((place, agent.as_ref().ok()?)));
        let held = there.flat_map(|(place, agent)| {
            let of_agent = agent.about.held.iter().cloned();
            of_agent.map(move |held| (place, held)).collect::<Vec<_>>()
        });
        held.collect()
    }

    /// Everything that a host holds of such a run, in order.
    ///
    /// # Errors
    /// When it is gone, or says nothing for a while.
    pub fn collect(&self, place: usize, held: &HeldRun) -> Result<Vec<Event>, HostError> {
        let Some(Ok(agent)) = self.agents.get(place) else {
            return Err(HostError::Missing);
        };
        if !agent.collect(held) {
            return Err(HostError::Gone);
        }
        let (mut events, mut others) = (Vec::new(), Vec::new());
        let result = loop {
            match self.events.recv_timeout(COLLECT_PATIENCE) {
                Ok((of, Message::Held(Some(event)))) if of == place => events.push(*event),
                Ok((of, Message::Held(None))) if of == place => break Ok(events),
                Ok((of, Message::Lost(why))) if of == place => {
                    others.push((of, Message::Lost(why.clone())));
                    break Err(HostError::Lost(why));
                }
                Ok(other) => others.push(other),
                Err(_) => break Err(HostError::Silent),
            }
        };
        for other in others {
            // There was room for it before.
            let _ = self.again.try_send(other);
        }
        result
    }

    /// What was collected is stored: the host need not hold it any longer.
    pub fn forget(&self, place: usize, held: &HeldRun) {
        if let Some(Ok(agent)) = self.agents.get(place) {
            agent.forget(held);
        }
    }

    /// Lets every host that is there serve network measurements as long as the
    /// fleet lives: its name and where it is reached.
    ///
    /// # Errors
    /// All hosts that do not, and why.
    pub fn serve_network(&self) -> Result<Vec<(String, SocketAddr)>, Unreachable> {
        let there = || {
            let agents = self.agents.iter().enumerate();
            agents.filter_map(|(place, agent)| Some((place, agent.as_ref().ok()?)))
        };
        let mut ends: BTreeMap<usize, Result<NetworkEnd, HostError>> = BTreeMap::new();
        for (place, agent) in there() {
            if !agent.serve_network() {
                ends.insert(place, Err(HostError::Gone));
            }
        }
        let count = there().count();
        while ends.len() < count {
            match self.events.recv_timeout(COLLECT_PATIENCE) {
                Ok((place, Message::NetworkServed(end))) => {
                    ends.insert(place, end.map_err(HostError::Refused));
                }
                Ok((place, Message::Lost(why))) => {
                    ends.insert(place, Err(HostError::Lost(why)));
                }
                Ok(_) => {}
                Err(_) => break,
            }
        }
        let (mut served, mut refused) = (Vec::new(), Vec::new());
        for (place, agent) in there() {
            let end = ends.remove(&place);
            let end = end.unwrap_or(Err(HostError::Silent));
            match end.and_then(|end| address_of(&agent.name, &end)) {
                Ok(address) => served.push((agent.name.clone(), address)),
                Err(error) => refused.push(UnreachableHost {
                    host: agent.name.clone(),
                    error,
                }),
            }
        }
        match refused.is_empty() {
            true => Ok(served),
            false => Err(Unreachable(refused)),
        }
    }

    /// How many hosts may still get lost.
    pub(crate) fn may_still_miss(&self) -> usize {
        self.allow_missing.saturating_sub(self.missing().count())
    }

    /// The agents by their place, and where their messages come from.
    pub(crate) fn into_agents(self) -> (Vec<Option<RemoteAgent>>, Receiver<(usize, Message)>) {
        let agents = self.agents.into_iter().map(Result::ok);
        (agents.collect(), self.events)
    }
}
