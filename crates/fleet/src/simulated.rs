//! A fleet in one process: agents as threads behind simulated links, with the
//! faults of real ones. For tests, and to see what many hosts cost.
//!
//! A link carries whole messages: what is written in one piece. A fault
//! strikes when a message passes that holds a text, before it is delivered.

use std::collections::VecDeque;
use std::io::{self, Read, Write};
use std::sync::mpsc::sync_channel;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use crate::coordinator::error::UnreachableHost;
use crate::coordinator::fleet::Fleet;
use crate::coordinator::remote::RemoteAgent;
use crate::protocol::link::EVENT_LIMIT;
use crate::session::options::AgentOptions;
use crate::session::{self, SessionError};
use crate::thread::ThreadError;
use crate::transport::Transport;

/// A thread that serves one coordinator, and how that ended.
pub type AgentThread = JoinHandle<Result<(), SessionError>>;

/// Agents in threads of this process, and the fleet that they are. They are
/// called `h0`, `h1` and so on; each side bears the silence of `options`; `fault` says what strikes the link of one, and
/// when: once, when its agent says something that holds the text.
///
/// # Errors
/// When a thread cannot be had, or an agent does not greet.
pub fn fleet(
    agents: usize,
    options: &AgentOptions,
    allow_missing: usize,
    fault: impl Fn(usize) -> Option<(&'static str, LinkFault)>,
) -> Result<(Fleet, Vec<AgentThread>), ThreadError> {
    let (sender, events) = sync_channel(EVENT_LIMIT);
    let (mut remotes, mut threads) = (Vec::new(), Vec::new());
    for place in 0..agents {
        let link = SimLink::default();
        threads.push(link.agent(options.clone(), fault(place))?);
        let name = format!("h{place}");
        let remote = RemoteAgent::greet(&name, place, link.coordinator_end(), &sender);
        if let (Ok(remote), Some(silence)) = (&remote, options.silence) {
            remote.bear_silence(silence);
        }
        remotes.push(remote.map_err(|error| UnreachableHost { host: name, error }));
    }
    Ok((Fleet::of(remotes, (sender, events), allow_missing), threads))
}

/// What happens to a link.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LinkFault {
    /// Both sides see it closed.
    Cut,
    /// Nothing arrives any more, in either direction, and nobody is told.
    Freeze,
    /// Nothing of the agent arrives at the coordinator.
    AgentUnheard,
    /// Nothing of the coordinator arrives at the agent.
    CoordinatorUnheard,
    /// Everything of the agent is late.
    Slow(Duration),
}

#[derive(Default)]
struct SimulatedLinkState {
    messages: VecDeque<Vec<u8>>,
    closed: bool,
    /// What is written is lost.
    swallows: bool,
    delay: Duration,
}

/// One direction.
#[derive(Clone, Default)]
struct Pipe {
    state: Arc<(Mutex<SimulatedLinkState>, Condvar)>,
}

impl Pipe {
    fn lock(&self) -> MutexGuard<'_, SimulatedLinkState> {
        self.state.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn change(&self, change: impl FnOnce(&mut SimulatedLinkState)) {
        change(&mut self.lock());
        self.state.1.notify_all();
    }

    fn close(&self) {
        self.change(|state| state.closed = true);
    }
}

struct LinkReading {
    pipe: Pipe,
    rest: VecDeque<u8>,
}

impl Read for LinkReading {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.rest.is_empty() {
            let mut state = self.pipe.lock();
            loop {
                if let Some(message) = state.messages.pop_front() {
                    let delay = state.delay;
                    drop(state);
                    std::thread::sleep(delay);
                    self.rest.extend(message);
                    break;
                }
                if state.closed {
                    return Ok(0);
                }
                let waited = self.pipe.state.1.wait(state);
                state = waited.unwrap_or_else(PoisonError::into_inner);
            }
        }
        self.rest.read(buffer)
    }
}

/// Sees what is written.
type Look = Box<dyn FnMut(&[u8]) + Send>;

struct Writing {
    pipe: Pipe,
    /// Looks at each message before it is delivered.
    look: Look,
}

impl Write for Writing {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        (self.look)(bytes);
        let mut broken = false;
        self.pipe.change(|state| {
            broken = state.closed;
            if !state.closed && !state.swallows {
                state.messages.push_back(bytes.to_vec());
            }
        });
        match broken {
            true => Err(io::ErrorKind::BrokenPipe.into()),
            false => Ok(bytes.len()),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Both directions of a link.
#[derive(Clone, Default)]
struct SimLink {
    to_agent: Pipe,
    to_coordinator: Pipe,
}

impl SimLink {
    /// Makes a fault.
    fn strike(&self, fault: LinkFault) {
        let swallow = |pipe: &Pipe| {
            pipe.change(|state| {
                state.swallows = true;
                state.messages.clear();
            });
        };
        match fault {
            LinkFault::Cut => {
                self.to_agent.close();
                self.to_coordinator.close();
            }
            LinkFault::Freeze => {
                swallow(&self.to_agent);
                swallow(&self.to_coordinator);
            }
            LinkFault::AgentUnheard => swallow(&self.to_coordinator),
            LinkFault::CoordinatorUnheard => swallow(&self.to_agent),
            LinkFault::Slow(delay) => self.to_coordinator.change(|state| state.delay = delay),
        }
    }

    fn transport(&self, reading: &Pipe, writing: Writing) -> Transport {
        let both = self.clone();
        Transport {
            input: Box::new(LinkReading {
                pipe: reading.clone(),
                rest: VecDeque::new(),
            }),
            output: Box::new(writing),
            close: Arc::new(move || both.strike(LinkFault::Cut)),
            complaint: Arc::new(|| None),
        }
    }

    /// The coordinator's end.
    fn coordinator_end(&self) -> Transport {
        let writing = Writing {
            pipe: self.to_agent.clone(),
            look: Box::new(|_| {}),
        };
        self.transport(&self.to_coordinator, writing)
    }

    /// An agent at the other end, in a thread. `fault` strikes once, when the
    /// agent says something that holds the text.
    fn agent(
        &self,
        options: AgentOptions,
        fault: Option<(&'static str, LinkFault)>,
    ) -> Result<AgentThread, ThreadError> {
        let link = self.clone();
        let mut fault = fault;
        let look = move |bytes: &[u8]| {
            let holds = |text: &str| {
                bytes
                    .windows(text.len())
                    .any(|part| part == text.as_bytes())
            };
            if let Some((_, what)) = fault.take_if(|(text, _)| holds(text)) {
                link.strike(what);
            }
        };
        let writing = Writing {
            pipe: self.to_coordinator.clone(),
            look: Box::new(look),
        };
        let transport = self.transport(&self.to_agent, writing);
        let body = move || session::serve(transport, &options);
        let thread = std::thread::Builder::new().spawn(body);
        thread.map_err(ThreadError)
    }
}
