//! The coordinator's side of a connection to an agent.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::sync::mpsc::SyncSender;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use fathom_model::fleet::{FleetHost, HostClock};
use fathom_observe::{monotonic_ns, unix_now_ns};

use crate::coordinator::clock::{ClockFilter, Exchange};
use crate::coordinator::error::HostError;
use crate::launchers::call_back_launch::CallBackLaunch;
use crate::protocol::frame::{FrameError, FrameReader, FrameWriter};
use crate::protocol::link::{Ack, Command, Message};
use crate::protocol::wire::{About, FromAgent, Greeting, RemoteSettings, ToAgent, clean};
use crate::session::spool::HeldRun;
use crate::settings::Settings;
use crate::thread::ThreadError;
use crate::transport::{Complaint, ConnectionError, Transport};

/// An agent that answers no question for the time for so long is lost.
const SILENCE_NS: u64 = 10_000_000_000;

/// How often it is asked.
const ASK_EVERY: Duration = Duration::from_millis(500);

/// An agent on another host.
pub(crate) struct RemoteAgent {
    /// The host, as the user named it.
    pub(crate) name: String,
    pub(crate) about: About,
    place: usize,
    shared: Arc<AgentConnection>,
    /// Ends with the last of its agents.
    started_by: Option<CallBackLaunch>,
}

/// What the threads of a connection share.
struct AgentConnection {
    writer: Arc<FrameWriter>,
    clock: Mutex<ClockFilter>,
    heard_ns: AtomicU64,
    /// Events of the run that were handled here.
    handled: AtomicU64,
    /// What is too long a silence.
    silence_ns: AtomicU64,
    over: AtomicBool,
    close: crate::transport::Closer,
}

impl AgentConnection {
    fn clock(&self) -> MutexGuard<'_, ClockFilter> {
        self.clock.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Asks for the time.
    fn ask(&self) -> bool {
        let ping = || ToAgent::Ping {
            sent_ns: monotonic_ns(),
            handled: self.handled.load(Relaxed),
        };
        self.writer.send_now(ping).is_ok()
    }

    /// Takes note of an answer.
    fn answered(&self, message: &FromAgent, arrived_ns: u64) {
        let FromAgent::Pong {
            sent_ns,
            received_ns,
            returned_ns,
            unix_ns,
        } = *message
        else {
            return;
        };
        let wall_offset_ns = i128::from(unix_ns) - i128::from(unix_now_ns());
        self.clock().add(Exchange {
            sent_ns,
            received_ns,
            returned_ns,
            arrived_ns,
            wall_offset_ns: i64::try_from(wall_offset_ns).unwrap_or(0),
        });
    }
}

impl RemoteAgent {
    /// Greets the agent at the other end, and compares clocks. From then on
    /// what it says goes to `events`, as from `place`.
    pub(crate) fn greet(
        name: &str,
        place: usize,
        transport: Transport,
        events: &SyncSender<(usize, Message)>,
    ) -> Result<RemoteAgent, HostError> {
        let writer = Arc::new(FrameWriter::new(transport.output));
        let mut reader = FrameReader::new(transport.input);
        let complaint = transport.complaint;
        let broken = |error: FrameError| match (complaint(), error) {
            (Some(complaint), _) => HostError::Carrier(complaint),
            (None, FrameError::Io(error)) => ConnectionError::of_coordinator(error).into(),
            (None, error) => error.into(),
        };
        let sent = writer.send(&Greeting::coordinator());
        let greeting: Greeting = reader.next().map_err(broken)?;
        greeting.check("agent")?;
        sent.map_err(HostError::unsent)?;
        reader.trust();
        let FromAgent::About(about) = reader.next().map_err(broken)? else {
            return Err(HostError::Anonymous);
        };
        let shared = Arc::new(AgentConnection {
            writer,
            clock: Mutex::default(),
            heard_ns: AtomicU64::new(monotonic_ns()),
            handled: AtomicU64::new(0),
            silence_ns: AtomicU64::new(SILENCE_NS),
            over: AtomicBool::new(false),
            close: transport.close,
        });
        let agent = RemoteAgent {
            name: name.to_owned(),
            about: *about,
            place,
            shared,
            started_by: None,
        };
        agent.compare_clocks(&mut reader)?;
        agent.listen(reader, complaint, events)?;
        Ok(agent)
    }

    /// Keeps what has started the agent for as long.
    pub(crate) fn started_by(mut self, launched: Option<CallBackLaunch>) -> RemoteAgent {
        self.started_by = launched;
        self
    }

    /// From now on it may be silent for so long.
    pub(crate) fn bear_silence(&self, silence: Duration) {
        let silence_ns = silence.as_nanos() as u64;
        self.shared.silence_ns.store(silence_ns, Relaxed);
    }

    /// A handful of questions, one after the other.
    fn compare_clocks(&self, reader: &mut FrameReader) -> Result<(), HostError> {
        const QUESTIONS: usize = 8;
        for _ in 0..QUESTIONS {
            if !self.shared.ask() {
                return Err(HostError::Gone);
            }
            let message: FromAgent = reader.next()?;
            self.shared.answered(&message, monotonic_ns());
        }
        Ok(())
    }

    fn listen(
        &self,
        reader: FrameReader,
        complaint: Complaint,
        events: &SyncSender<(usize, Message)>,
    ) -> Result<(), ThreadError> {
        let place = self.place;
        let (shared, sender) = (Arc::clone(&self.shared), events.clone());
        spawn(move || read(reader, &shared, &complaint, place, &sender))?;
        let (shared, sender) = (Arc::clone(&self.shared), events.clone());
        spawn(move || keep_asking(&shared, place, &sender))
    }

    /// Begins a run.
    pub(crate) fn begin(&self, settings: &Settings) {
        let settings = RemoteSettings::of(settings, self.place);
        // If that fails, whoever reads finds out as well.
        let _ = self.shared.writer.send(&ToAgent::Begin(settings));
    }

    /// False when it is gone.
    pub(crate) fn command(&self, command: Command) -> bool {
        self.shared.writer.send(&ToAgent::Command(command)).is_ok()
    }

    /// Ends the load.
    pub(crate) fn interrupt(&self, level: u8, why: Option<&str>) {
        let why = why.map(str::to_owned);
        let _ = self.shared.writer.send(&ToAgent::Interrupt { level, why });
    }

    /// An event of the run has been handled.
    pub(crate) fn handled(&self) {
        self.shared.handled.fetch_add(1, Relaxed);
    }

    /// Asks for what is held of an earlier run.
    pub(crate) fn collect(&self, held: &HeldRun) -> bool {
        let (run, place) = (held.run.clone(), held.place);
        let asked = self.shared.writer.send(&ToAgent::Collect { run, place });
        asked.is_ok()
    }

    /// Asks it to serve network measurements.
    pub(crate) fn serve_network(&self) -> bool {
        self.shared.writer.send(&ToAgent::ServeNetwork).is_ok()
    }

    /// What was held of an earlier run is stored.
    pub(crate) fn forget(&self, held: &HeldRun) {
        let (run, place) = (held.run.clone(), held.place);
        let _ = self.shared.writer.send(&ToAgent::Forget { run, place });
    }

    pub(crate) fn ask_time(&self) {
        self.shared.ask();
    }

    pub(crate) fn clock(&self) -> Option<HostClock> {
        self.shared.clock().clock()
    }

    /// The host, for the record of the run.
    pub(crate) fn host(&self) -> FleetHost {
        FleetHost {
            name: self.name.clone(),
            tool_version: self.about.version.clone(),
            fingerprint: self.about.fingerprint.clone(),
            clock: self.clock(),
            lost: None,
            network: None,
        }
    }

    /// Ends the connection.
    pub(crate) fn close(&self) {
        self.shared.over.store(true, Relaxed);
        (self.shared.close)();
    }
}

impl Drop for RemoteAgent {
    fn drop(&mut self) {
        self.close();
    }
}

fn spawn(body: impl FnOnce() + Send + 'static) -> Result<(), ThreadError> {
    let thread = std::thread::Builder::new()
        .name("fathom-remote".to_owned())
        .stack_size(1 << 20);
    let spawned = thread.spawn(body).map(drop);
    spawned.map_err(ThreadError)
}

/// Reads what the agent says until it is gone.
fn read(
    mut reader: FrameReader,
    shared: &AgentConnection,
    complaint: &Complaint,
    place: usize,
    events: &SyncSender<(usize, Message)>,
) {
    let why = loop {
        let message: FromAgent = match reader.next() {
            Ok(message) => message,
            Err(error) => break complaint().unwrap_or_else(|| error.to_string()),
        };
        let arrived_ns = monotonic_ns();
        shared.heard_ns.store(arrived_ns, Relaxed);
        let message = match message {
            FromAgent::Pong { .. } => {
                shared.answered(&message, arrived_ns);
                continue;
            }
            FromAgent::About(_) | FromAgent::Cleaned(_) => continue,
            FromAgent::Event { event, waits } => Message::Event {
                event,
                ack: waits.then(|| Ack::Far(Arc::clone(&shared.writer))),
            },
            FromAgent::Ready => Message::Ready,
            FromAgent::Refused(mut refused) => {
                refused.reason = clean(&refused.reason);
                Message::Refused(refused)
            }
            FromAgent::Done => Message::Done,
            FromAgent::NetworkServed(end) => Message::NetworkServed(end),
            FromAgent::Held(event) => Message::Held(event.map(Box::new)),
        };
        // While this side is slow to take it, the agent is not silent.
        shared.heard_ns.store(u64::MAX, Relaxed);
        if events.send((place, message)).is_err() {
            return;
        }
        shared.heard_ns.store(monotonic_ns(), Relaxed);
    };
    if !shared.over.swap(true, Relaxed) {
        let _ = events.send((place, Message::Lost(why)));
    }
}

/// Asks for the time twice a second, until there is no answer any more.
fn keep_asking(shared: &AgentConnection, place: usize, events: &SyncSender<(usize, Message)>) {
    while !shared.over.load(Relaxed) {
        let now_ns = monotonic_ns();
        let silent_ns = now_ns.saturating_sub(shared.heard_ns.load(Relaxed));
        let silence_ns = shared.silence_ns.load(Relaxed);
        if silent_ns > silence_ns && !shared.over.swap(true, Relaxed) {
            let why = format!(
                "it said nothing for {}",
                fathom_model::unit::span(silence_ns)
            );
            let _ = events.send((place, Message::Lost(why)));
            (shared.close)();
            return;
        }
        shared.ask();
        std::thread::sleep(ASK_EVERY);
    }
}
