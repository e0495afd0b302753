//! The agent's side of a connection: one coordinator, from greeting to end.
//!
//! Three threads: this one reads, the agent works, and a third passes on what
//! the agent says. A coordinator that is silent for [`AgentOptions::silence`], or whose
//! connection ends, is gone: the load ends, what was made is removed.

mod error;
mod event_sender;
pub(crate) mod leftovers;
#[cfg(test)]
mod mutation;
pub(crate) mod network_service;
pub(crate) mod options;
#[cfg(test)]
mod rogue_tests;
pub(crate) mod server;
pub(crate) mod spool;
pub(crate) mod stdio;
mod watchdog;

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering::Relaxed};
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use fathom_model::schedule::MAX_TOGETHER;
use fathom_observe::{Sysroot, monotonic_ns, unix_now_ns};

pub use error::{InadmissibleMessage, SessionError};

use crate::admission;
use crate::admission::policy::Policy;
use crate::agent::Agent;
use crate::interrupt::Interrupt;
use crate::network::Network;
use crate::protocol::frame::{FrameError, FrameReader, FrameWriter};
use crate::protocol::link::{Ack, Command, EVENT_LIMIT, Link, Message};
use crate::protocol::reason::Reason;
use crate::protocol::wire::{About, FromAgent, Greeting, RemoteSettings, ToAgent, clean};
use crate::session::event_sender::{EventSender, answer};
use crate::session::leftovers::{CleanOrder, CleaningReport, Journal, clean_after_agents};
use crate::session::network_service::{NetServing, NetworkEnd, NetworkServiceError};
use crate::session::options::AgentOptions;
use crate::session::spool::UnstoredEvents;
use crate::settings::Settings;
use crate::thread::spawn;
use crate::transport::{Closer, ConnectionError, Transport};

/// From then on, operations that do not come back are left behind.
const PATIENCE: Duration = Duration::from_secs(3);

/// Commands that take a while and may wait to be carried out: a coordinator
/// waits for the end of each before it sends the next.
const MAX_WAITING: usize = 4;

/// Commands of any kind that may wait: the ends of all trials of a set.
const COMMAND_LIMIT: usize = 2 * MAX_TOGETHER;

const LOOK_EVERY: Duration = Duration::from_millis(100);

/// Serves one coordinator over a connection that nobody else can use.
///
/// # Errors
/// Why the session ended, unless the coordinator closed it in order.
pub(crate) fn serve(transport: Transport, options: &AgentOptions) -> Result<(), SessionError> {
    let Transport {
        input,
        output,
        close,
        ..
    } = transport;
    let mut reader = FrameReader::new(input);
    let writer = Arc::new(FrameWriter::new(output));
    greet(&mut reader, &writer, options)?;
    reader.trust();
    let mut session = AgentSession::new(writer, close, options);
    let ended = session.listen(&mut reader);
    session.wind_down();
    ended
}

/// Tells a coordinator that it is not served, and why.
pub(crate) fn refuse(transport: Transport, reason: &str) {
    let writer = FrameWriter::new(transport.output);
    let refusal = Greeting {
        refused: Some(reason.to_owned()),
        ..Greeting::agent()
    };
    // The other side reads our greeting first, whatever it says.
    let _ = writer.send(&refusal);
    let mut reader = FrameReader::new(transport.input);
    let _ = reader.next::<Greeting>();
    (transport.close)();
}

fn greet(
    reader: &mut FrameReader,
    writer: &FrameWriter,
    options: &AgentOptions,
) -> Result<(), SessionError> {
    let unsent = writer.send(&Greeting::agent());
    unsent.map_err(ConnectionError::Unsent)?;
    let greeting: Greeting = reader.next()?;
    greeting.check("coordinator")?;
    let policy = &options.policy;
    let about = About {
        fingerprint: fathom_observe::host_fingerprint(&Sysroot::host()),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        allowed: policy.words(),
        destructive: policy.destructive,
        held: options
            .spool
            .as_deref()
            .map(spool::list)
            .unwrap_or_default(),
    };
    let sent = writer.send(&FromAgent::About(Box::new(about)));
    Ok(sent.map_err(ConnectionError::Unsent)?)
}

struct AgentSession {
    writer: Arc<FrameWriter>,
    policy: Policy,
    journals: Option<PathBuf>,
    /// Raised by the coordinator, by its loss, or with the agent's own.
    interrupt: Interrupt,
    heard_ns: Arc<AtomicU64>,
    over: Arc<AtomicBool>,
    /// Whoever waits until the coordinator has handled an event.
    waiting: Arc<Mutex<Option<Ack>>>,
    spool: Option<PathBuf>,
    peers: Option<Vec<Network>>,
    network: Option<NetServing>,
    run: Option<RunThreads>,
}

/// The threads of a run.
struct RunThreads {
    commands: SyncSender<Command>,
    /// Commands that take a while and have not been carried out.
    waiting: Arc<AtomicUsize>,
    agent: JoinHandle<()>,
    sender: JoinHandle<()>,
    /// Told to remove what it made and to end.
    finishing: bool,
    /// What the coordinator may not have stored.
    unstored: Arc<UnstoredEvents>,
    /// Id of the run and place of this host in it.
    id: (String, u32),
}

impl AgentSession {
    fn new(writer: Arc<FrameWriter>, close: Closer, options: &AgentOptions) -> AgentSession {
        let heard_ns = Arc::new(AtomicU64::new(monotonic_ns()));
        let over = Arc::new(AtomicBool::new(false));
        watchdog::start(Arc::clone(&heard_ns), Arc::clone(&over), close, options);
        AgentSession {
            writer,
            policy: options.policy.clone(),
            journals: options.journals.clone(),
            interrupt: Interrupt::new(),
            heard_ns,
            over,
            waiting: Arc::default(),
            spool: options.spool.clone(),
            peers: options.peers.clone(),
            network: None,
            run: None,
        }
    }

    fn listen(&mut self, reader: &mut FrameReader) -> Result<(), SessionError> {
        loop {
            let message: ToAgent = match reader.next() {
                Ok(message) => message,
                // Between two runs that is how it ends.
                Err(FrameError::Closed) if self.is_idle() => return Ok(()),
                Err(error) => return Err(error.into()),
            };
            let received_ns = monotonic_ns();
            self.heard_ns.store(received_ns, Relaxed);
            self.handle(message, received_ns)?;
        }
    }

    fn handle(&mut self, message: ToAgent, received_ns: u64) -> Result<(), SessionError> {
        match message {
            ToAgent::Ping { sent_ns, handled } => {
                if let Some(run) = &self.run {
                    run.unstored.handled(handled, Instant::now());
                }
                // Where it cannot be said, reading finds out whether the coordinator
                // has left in order.
                let _ = self.writer.send_now(|| FromAgent::Pong {
                    sent_ns,
                    received_ns,
                    returned_ns: monotonic_ns(),
                    unix_ns: unix_now_ns(),
                });
            }
            ToAgent::Begin(settings) => self.begin(settings)?,
            ToAgent::Command(command) => {
                let Some(run) = &mut self.run else {
                    return Err(SessionError::NoRun);
                };
                run.pass_on(command)?;
            }
            ToAgent::ServeNetwork => {
                let served = self.serve_network().map_err(Reason::of);
                let sent = self.writer.send(&FromAgent::NetworkServed(served));
                sent.map_err(ConnectionError::Unsent)?;
            }
            ToAgent::Collect { run, place } => self.hand_over(&run, place)?,
            ToAgent::Forget { run, place } => {
                if let Some(directory) = &self.spool {
                    spool::forget(directory, &run, place);
                }
            }
            ToAgent::Handled(result) => answer(&self.waiting, result),
            ToAgent::Clean(order) => self.clean(order)?,
            ToAgent::Interrupt { level, why } => {
                let why = why.map(|why| clean(&why));
                for _ in 0..level.min(2) {
                    match &why {
                        Some(why) => self.interrupt.raise_because(why),
                        None => self.interrupt.raise(),
                    }
                }
            }
        }
        Ok(())
    }

    fn clean(&mut self, order: CleanOrder) -> Result<(), SessionError> {
        if !self.is_idle() {
            return Err(SessionError::CleanDuringRun);
        }
        // Whoever asked waits, however long it takes.
        self.heard_ns.store(u64::MAX, Relaxed);
        let cleaned = match &self.journals {
            Some(directory) => clean_after_agents(directory, order),
            None => CleaningReport::default(),
        };
        self.heard_ns.store(monotonic_ns(), Relaxed);
        let sent = self.writer.send(&FromAgent::Cleaned(cleaned));
        Ok(sent.map_err(ConnectionError::Unsent)?)
    }

    fn begin(&mut self, settings: RemoteSettings) -> Result<(), SessionError> {
        if self.run.as_ref().is_some_and(|run| !run.finishing) {
            return Err(SessionError::SecondRun);
        }
        admission::check_settings(&settings)?;
        self.join();
        self.interrupt = Interrupt::new();
        let (commands, command_receiver) = sync_channel(COMMAND_LIMIT);
        let waiting_commands = Arc::new(AtomicUsize::new(0));
        let (events, event_receiver) = sync_channel(EVENT_LIMIT);
        let unstored = Arc::new(UnstoredEvents::default());
        let id = (settings.run.clone(), settings.place);
        let tag = fathom_model::run::tag_of(&settings.run);
        let journals = self.journals.as_deref();
        let sender = EventSender {
            writer: Arc::clone(&self.writer),
            waiting: Arc::clone(&self.waiting),
            unfinished: Arc::clone(&waiting_commands),
            journal: journals.map(|directory| Journal::begin(directory, tag, settings.keep_files)),
            // Who has nowhere to hold it does not keep it either.
            unstored: self.spool.is_some().then(|| Arc::clone(&unstored)),
        };
        let sender = spawn("fathom-teller", move || sender.send_all(&event_receiver))?;
        let mut agent = Agent::new(
            link(command_receiver, events),
            local_settings(settings),
            self.interrupt.clone(),
        );
        agent.policy = Some(self.policy.clone());
        agent.peers = self.peers.clone();
        let agent = spawn("fathom-agent", move || agent.serve())?;
        self.run = Some(RunThreads {
            commands,
            waiting: waiting_commands,
            agent,
            sender,
            finishing: false,
            unstored,
            id,
        });
        Ok(())
    }

    /// Whether nothing is under way that the coordinator would have to hear of.
    fn is_idle(&self) -> bool {
        self.run.as_ref().is_none_or(|run| run.finishing)
    }

    /// Waits for the end of a run that was told to finish.
    fn join(&mut self) {
        if let Some(run) = self.run.take() {
            drop(run.commands);
            let _ = run.agent.join();
            let _ = run.sender.join();
        }
    }

    /// Ends what is under way, because nobody listens any more.
    fn wind_down(&mut self) {
        self.over.store(true, Relaxed);
        if let Some(run) = self.run.take() {
            self.interrupt.raise_because("the coordinator was lost");
            drop(run.commands);
            answer(&self.waiting, Err(Reason::of("the coordinator is gone")));
            let mut waited = Duration::ZERO;
            while !run.agent.is_finished() {
                std::thread::sleep(LOOK_EVERY);
                waited += LOOK_EVERY;
                if waited == PATIENCE {
                    self.interrupt.raise_because("the coordinator was lost");
                }
                answer(&self.waiting, Err(Reason::of("the coordinator is gone")));
            }
            let _ = run.agent.join();
            let _ = run.sender.join();
            if let (Some(directory), false) = (&self.spool, run.finishing) {
                // What cannot be written is lost as it would be without.
                let (id, place) = &run.id;
                let _ = run.unstored.write(directory, id, *place);
            }
        }
    }

    /// Begins to serve network measurements, where the owner allows it.
    fn serve_network(&mut self) -> Result<NetworkEnd, NetworkServiceError> {
        let Some(peers) = &self.peers else {
            return Err(NetworkServiceError::NotAllowed);
        };
        if self.network.is_none() {
            self.network = Some(NetServing::start(peers)?);
        }
        let serving = self.network.as_ref().map(|serving| serving.end.clone());
        serving.ok_or(NetworkServiceError::NotServing)
    }

    /// Hands over what is held of an earlier run.
    fn hand_over(&self, run: &str, place: u32) -> Result<(), SessionError> {
        let events = match &self.spool {
            Some(directory) => spool::read(directory, run, place).unwrap_or_default(),
            None => Vec::new(),
        };
        let all = events.into_iter().map(Some).chain([None]);
        for event in all {
            let sent = self.writer.send(&FromAgent::Held(event));
            sent.map_err(ConnectionError::Unsent)?;
        }
        Ok(())
    }
}

impl RunThreads {
    /// Passes a command on to the agent, which may be busy with another one.
    fn pass_on(&mut self, command: Command) -> Result<(), SessionError> {
        let takes_long = match &command {
            Command::EndMeasure { reason, .. } => {
                admission::check_reason(reason)?;
                false
            }
            Command::Open { at_monotonic_ns } => {
                let ahead_ns = at_monotonic_ns.saturating_sub(monotonic_ns());
                admission::check_opening(ahead_ns)?;
                false
            }
            Command::Pause(pause) => {
                admission::check_pause(pause)?;
                true
            }
            Command::Check(_) | Command::Set(_) | Command::Finish => true,
        };
        self.finishing |= matches!(command, Command::Finish);
        if takes_long && self.waiting.fetch_add(1, Relaxed) >= MAX_WAITING {
            return Err(SessionError::TooManyCommands { limit: MAX_WAITING });
        }
        match self.commands.try_send(command) {
            Ok(()) => Ok(()),
            Err(TrySendError::Full(_)) => Err(SessionError::TooManyCommands {
                limit: COMMAND_LIMIT,
            }),
            Err(TrySendError::Disconnected(_)) => Err(SessionError::AgentEnded),
        }
    }
}

fn link(commands: Receiver<Command>, events: SyncSender<(usize, Message)>) -> Link {
    Link {
        commands,
        place: 0,
        events,
    }
}

fn local_settings(settings: RemoteSettings) -> Settings {
    Settings {
        run: settings.run,
        file_prefix: settings.file_prefix,
        destructive: settings.destructive,
        keep_files: settings.keep_files,
        ceiling_ns: settings.ceiling_ns,
        sysroot: Sysroot::host(),
    }
}

#[cfg(test)]
#[path = "session_tests.rs"]
mod tests;
