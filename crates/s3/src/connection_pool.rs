//! All connections of one worker, on one epoll: many requests in flight, one
//! thread.
//!
//! Each carries one request at a time, and stays open between two of them.
//! A request is made ready (its head written and signed) before it is started;
//! what is timed is sending, waiting and receiving, and whatever connecting was
//! needed.

use std::io;
use std::os::fd::OwnedFd;
use std::sync::Arc;

use rustix::event::epoll::{self, EventData, EventFlags};
use rustix::event::{PollFd, PollFlags, Timespec};

use super::access::Access;
use super::connection::{Connection, State, Step};
use super::digests;
use super::events::{Connected, Ended};
use super::fault::Fault;
use super::request::{Body, Method, Request, Writer};
use super::transport::{Transport, must_wait};
use crate::Error;

/// Bytes that are received by one call.
const SCRATCH_BYTES: usize = 256 << 10;
/// Events taken by one call.
const EVENTS: usize = 128;
/// How often deadlines are looked at: at least every so often, and eight times
/// within the time that a request has.
const DEADLINE_CHECK_NS: std::ops::RangeInclusive<u64> = 1_000_000..=50_000_000;
const DONT_WAIT_NS: u64 = 0;

/// The connections of one worker.
pub struct ConnectionPool {
    access: Arc<Access>,
    epoll: OwnedFd,
    /// Of each endpoint: it signs with that one's keys.
    writers: Vec<Writer>,
    pub(crate) connections: Vec<Connection>,
    scratch: Vec<u8>,
    events: Vec<epoll::Event>,
    pub(crate) now: fn() -> u64,
    check_every_ns: u64,
    next_check_ns: u64,
    /// When a store was last heard of.
    pub(crate) heard_ns: u64,
    /// Ended already while they were started.
    early: Vec<Ended>,
    connected: Vec<Connected>,
    /// How long TLS may take to be set up, beside the time of the request.
    pub(crate) handshake_ns: u64,
    /// How long a request may take.
    pub(crate) timeout_ns: u64,
}

impl std::fmt::Debug for ConnectionPool {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "ConnectionPool({} connections)", self.connections.len())
    }
}

impl ConnectionPool {
    /// A pool of so many `connections`; the endpoints take turns from `first` on.
    ///
    /// # Errors
    /// When the kernel gives no epoll.
    pub fn new(
        access: &Arc<Access>,
        connections: usize,
        first: usize,
    ) -> Result<ConnectionPool, Error> {
        let epoll = epoll::create(epoll::CreateFlags::CLOEXEC)
            .map_err(|errno| Error::Epoll(errno.into()))?;
        let endpoints = access.endpoints.len();
        let keys = access.keys.iter().map(|found| found.credentials.as_ref());
        let writer = |keys| Writer::new(&access.store, keys, &access.bucket);
        Ok(ConnectionPool {
            writers: keys.map(writer).collect(),
            access: Arc::clone(access),
            epoll,
            connections: (0..connections)
                .map(|n| Connection::new((first + n) % endpoints))
                .collect(),
            scratch: vec![0; SCRATCH_BYTES],
            events: Vec::with_capacity(EVENTS),
            now: access.now,
            check_every_ns: (access.store.timeout_ns / 8)
                .clamp(*DEADLINE_CHECK_NS.start(), *DEADLINE_CHECK_NS.end()),
            next_check_ns: 0,
            heard_ns: (access.now)(),
            early: Vec::new(),
            connected: Vec::new(),
            handshake_ns: u64::MAX,
            timeout_ns: access.store.timeout_ns,
        })
    }

    /// How many connections it has.
    pub fn connections(&self) -> usize {
        self.connections.len()
    }

    /// To which of the endpoints a connection goes.
    pub fn endpoint_of(&self, connection: usize) -> usize {
        self.connections[connection].endpoint
    }

    /// Connections made since the last call.
    pub fn take_connected(&mut self) -> std::vec::Drain<'_, Connected> {
        self.connected.drain(..)
    }

    /// The body of the answer that a connection got last, if it was kept.
    pub fn kept(&self, connection: usize) -> &[u8] {
        &self.connections[connection].kept
    }

    /// Entity tag and version of the answer that a connection got last.
    pub fn tags(&self, connection: usize) -> (&str, &str) {
        let response = &self.connections[connection].response;
        (&response.etag, &response.version)
    }

    /// Status of the answer that a connection got last, and which bytes of the
    /// object it says that it holds: the first and the last.
    pub fn part(&self, connection: usize) -> (u16, Option<(u64, u64)>) {
        let response = &self.connections[connection].response;
        (response.status, response.range)
    }

    /// The checksum that the request of a connection was sent with.
    pub fn checksum(&self, connection: usize) -> Option<&str> {
        self.connections[connection].checksum.as_deref()
    }

    /// Makes all connections and waits for them, unless `stops` says
    /// that nobody does any more.
    ///
    /// # Errors
    /// When one cannot be made in the store's time, and when nobody waits.
    pub fn connect_all(&mut self, stops: &dyn Fn() -> bool) -> Result<(), Error> {
        let mut ended = Vec::new();
        for connection in 0..self.connections.len() {
            self.connections[connection].has_request = false;
            self.connect(connection);
        }
        loop {
            let waiting = self
                .connections
                .iter()
                .any(|connection| connection.state != State::Idle);
            ended.append(&mut self.early);
            if let Some(failed) = ended
                .iter()
                .find_map(|end: &Ended| end.outcome.as_ref().err())
            {
                return Err(Error::NoConnection {
                    endpoints: self.access.store.endpoints.clone(),
                    fault: failed.clone(),
                });
            }
            if !waiting {
                return Ok(());
            }
            if stops() {
                return Err(Error::Stopped);
            }
            self.poll(None, false, &mut ended);
        }
    }

    /// Writes the head of a request for a connection that has none under way.
    /// Gives the body that it sent before, whose memory can be used again.
    pub fn make_ready(&mut self, connection: usize, request: Request<'_>) -> Option<Body> {
        let payload = &*self.access.payload;
        let connection = &mut self.connections[connection];
        let endpoint = &self.access.endpoints[connection.endpoint];
        let writer = &mut self.writers[connection.endpoint];
        let kind = writer.checksum();
        let sum = kind.and_then(|kind| digests::checksum(kind, &request, payload));
        let framing = writer.framing(request.body.length(), sum.as_deref());
        let hashes = writer.hashes_payload() && framing.is_none();
        let hash = hashes.then(|| digests::payload_hash(&request.body, payload));
        let known = (hash.as_deref(), sum.as_deref(), framing.as_ref());
        writer.write(&request, endpoint, known, &mut connection.head);
        connection.framing = framing;
        connection.checksum = sum;
        let without_body = request.method == Method::Head;
        connection.begin(request.body, request.sink, without_body)
    }

    /// Starts the request that was made ready.
    pub fn start(&mut self, at: usize, now_ns: u64) {
        let connection = &mut self.connections[at];
        debug_assert!(connection.state == State::Idle && !connection.has_request);
        connection.start_ns = now_ns;
        connection.deadline_ns = now_ns.saturating_add(self.timeout_ns);
        connection.has_request = true;
        if connection.link.is_none() {
            self.connect(at);
            return;
        }
        connection.state = State::Sending;
        self.go_on(at);
    }

    /// Starts the request that was made ready, at this moment.
    pub fn start_now(&mut self, at: usize) {
        self.start(at, (self.now)());
    }

    fn connect(&mut self, at: usize) {
        let connection = &mut self.connections[at];
        let endpoint = &self.access.endpoints[connection.endpoint];
        let addresses = &endpoint.addresses;
        let address = addresses[(at + connection.generation as usize) % addresses.len()];
        connection.generation = connection.generation.wrapping_add(1);
        connection.began_ns = (self.now)();
        if !connection.has_request {
            connection.deadline_ns = connection.began_ns.saturating_add(self.timeout_ns);
        }
        let tls = self.access.tls.as_ref().filter(|_| endpoint.tls);
        let tls = tls.map(|config| (config, endpoint.host.as_str()));
        let begun = Transport::begin(address, tls);
        connection.state = State::Connecting;
        let registered = begun.and_then(|link| {
            let data = EventData::new_u64(u64::from(connection.generation) << 32 | at as u64);
            let flags = EventFlags::IN | EventFlags::OUT | EventFlags::RDHUP;
            epoll::add(&self.epoll, link.fd(), data, flags)?;
            Ok(link)
        });
        match registered {
            Ok(link) => {
                connection.link = Some(link);
                connection.wants_out = true;
            }
            Err(error) => {
                let fault = Fault::of_io(&error, "connecting");
                self.end(at, Err(fault));
            }
        }
    }

    /// Waits until something ends, at most `timeout_ns`, and appends what has
    /// ended to `out`. `exact` wakes up to the nanosecond.
    pub fn poll(&mut self, timeout_ns: Option<u64>, exact: bool, out: &mut Vec<Ended>) {
        let waits = self.early.is_empty();
        let timeout_ns = match (waits, timeout_ns) {
            (false, _) => DONT_WAIT_NS,
            (true, timeout) => timeout
                .unwrap_or(self.check_every_ns)
                .min(self.check_every_ns),
        };
        out.append(&mut self.early);
        let mut events = std::mem::take(&mut self.events);
        events.clear();
        self.wait(&mut events, timeout_ns, exact);
        if !events.is_empty() {
            self.heard_ns = (self.now)();
        }
        for event in &events {
            let data = event.data.u64();
            let (at, generation) = (data as u32 as usize, (data >> 32) as u32);
            if self
                .connections
                .get(at)
                .is_some_and(|connection| connection.generation == generation)
            {
                self.happened(at);
            }
        }
        self.events = events;
        out.append(&mut self.early);
        let now_ns = (self.now)();
        if now_ns >= self.next_check_ns {
            self.next_check_ns = now_ns + self.check_every_ns;
            self.look_at_deadlines(now_ns);
            out.append(&mut self.early);
        }
    }

    fn wait(&self, events: &mut Vec<epoll::Event>, timeout_ns: u64, exact: bool) {
        let time = |ns: u64| Timespec {
            tv_sec: (ns / 1_000_000_000) as i64,
            tv_nsec: (ns % 1_000_000_000) as i64,
        };
        let mut epoll_ns = timeout_ns;
        if exact && timeout_ns > 0 {
            // epoll_wait counts in milliseconds; ppoll on the epoll does not.
            let mut fds = [PollFd::new(&self.epoll, PollFlags::IN)];
            match rustix::event::poll(&mut fds, Some(&time(timeout_ns))) {
                Ok(0) => return,
                _ => epoll_ns = 0,
            }
        }
        let room = rustix::buffer::spare_capacity(events);
        // An interrupted wait is an empty one.
        let _ = epoll::wait(&self.epoll, room, Some(&time(epoll_ns)));
    }

    fn look_at_deadlines(&mut self, now_ns: u64) {
        for at in 0..self.connections.len() {
            let connection = &self.connections[at];
            let shakes = connection.state == State::Handshaking;
            let since_ns = connection.began_ns.saturating_add(connection.connect_ns);
            if connection.state != State::Idle && now_ns >= connection.deadline_ns {
                let fault = Fault::timeout(connection.doing());
                self.end(at, Err(fault));
            } else if shakes && now_ns.saturating_sub(since_ns) >= self.handshake_ns {
                self.end(at, Err(Fault::no_tls(self.handshake_ns)));
            }
        }
    }

    /// The socket of a connection is ready for something.
    fn happened(&mut self, at: usize) {
        let connection = &mut self.connections[at];
        if connection.state == State::Idle {
            // TLS may have something to say; anything else is the end of a
            // connection that nobody uses now.
            let Some(link) = &mut connection.link else {
                return;
            };
            let said = link.receive(&mut self.scratch);
            if !said.is_err_and(|error| must_wait(&error)) {
                connection.link = None;
            }
            return;
        }
        self.go_on(at);
    }

    /// Goes on with a connection as far as possible.
    fn go_on(&mut self, at: usize) {
        loop {
            let connection = &mut self.connections[at];
            let step = match connection.state {
                State::Idle => return,
                State::Connecting => self.connecting(at),
                State::Handshaking => self.handshaking(at),
                State::Sending => connection
                    .send(&*self.access.payload)
                    .map_err(|error| Fault::of_io(&error, "sending")),
                State::Receiving => {
                    connection.receive(&mut self.scratch, &*self.access.payload, self.now)
                }
            };
            let connection = &mut self.connections[at];
            match step {
                Ok(Step::Wait) => {
                    let out = connection.waits_to_send();
                    return self.watch(at, out);
                }
                Ok(Step::Done) => match connection.state {
                    State::Connecting => connection.state = State::Handshaking,
                    State::Handshaking if connection.has_request => {
                        connection.state = State::Sending;
                    }
                    State::Handshaking => {
                        connection.state = State::Idle;
                        return self.watch(at, false);
                    }
                    State::Sending => {
                        connection.state = State::Receiving;
                        return self.watch(at, false);
                    }
                    _ => {
                        let outcome = self.connections[at].judge();
                        return self.end(at, outcome);
                    }
                },
                Err(fault) => {
                    // A store that refuses a body may answer and end the
                    // connection before it has all of it.
                    let answered = connection.state == State::Sending && self.answered_early(at);
                    let outcome = match answered {
                        true => self.connections[at].judge(),
                        false => Err(fault),
                    };
                    self.connections[at].response.closes = true;
                    return self.end(at, outcome);
                }
            }
        }
    }

    fn answered_early(&mut self, at: usize) -> bool {
        let connection = &mut self.connections[at];
        connection.state = State::Receiving;
        let step = connection.receive(&mut self.scratch, &*self.access.payload, self.now);
        step == Ok(Step::Done) && connection.response.status >= 300
    }

    fn connecting(&mut self, at: usize) -> Result<Step, Fault> {
        let now_ns = (self.now)();
        let connection = &mut self.connections[at];
        let Some(link) = &connection.link else {
            return Ok(Step::Wait);
        };
        match link.is_connected() {
            Ok(()) => {
                connection.connect_ns = now_ns.saturating_sub(connection.began_ns).max(1);
                Ok(Step::Done)
            }
            Err(error) if error.kind() == io::ErrorKind::NotConnected => Ok(Step::Wait),
            Err(error) => Err(Fault::of_io(&error, "connecting")),
        }
    }

    fn handshaking(&mut self, at: usize) -> Result<Step, Fault> {
        let connection = &mut self.connections[at];
        let Some(link) = &mut connection.link else {
            return Ok(Step::Wait);
        };
        match link.shake_hands() {
            Ok(false) => return Ok(Step::Wait),
            Ok(true) => {}
            Err(error) => return Err(Fault::of_io(&error, "setting up TLS")),
        }
        if link.has_tls() {
            let since_ns = connection.began_ns + connection.connect_ns;
            connection.handshake_ns = (self.now)().saturating_sub(since_ns).max(1);
        }
        self.connected.push(Connected {
            endpoint: connection.endpoint,
            connect_ns: connection.connect_ns,
            handshake_ns: connection.handshake_ns,
        });
        Ok(Step::Done)
    }

    /// Has the socket watched for what the connection waits for.
    fn watch(&mut self, at: usize, out: bool) {
        let connection = &mut self.connections[at];
        let Some(link) = connection
            .link
            .as_ref()
            .filter(|_| connection.wants_out != out)
        else {
            return;
        };
        let mut flags = EventFlags::IN | EventFlags::RDHUP;
        if out {
            flags |= EventFlags::OUT;
        }
        let data = EventData::new_u64(u64::from(connection.generation) << 32 | at as u64);
        match epoll::modify(&self.epoll, link.fd(), data, flags) {
            Ok(()) => connection.wants_out = out,
            Err(errno) => {
                let fault = Fault::of_io(&errno.into(), "waiting");
                self.end(at, Err(fault));
            }
        }
    }

    /// The connection is free again.
    pub(crate) fn end(&mut self, at: usize, outcome: Result<(), Fault>) {
        let connection = &mut self.connections[at];
        let end_ns = match (&outcome, connection.last_byte_ns) {
            (Ok(()), taken_ns) if taken_ns > 0 => taken_ns,
            _ => (self.now)(),
        };
        // Nobody may have looked at the clock when its time was over.
        debug_assert!(
            !connection.has_request || end_ns >= connection.start_ns,
            "a request ended at {end_ns}, before it began"
        );
        let late = connection.has_request && end_ns > connection.deadline_ns;
        let outcome = match outcome {
            Ok(()) if late => Err(Fault::timeout("receiving the answer")),
            outcome => outcome,
        };
        let answered = outcome.is_ok() || outcome.as_ref().is_err_and(|fault| fault.status > 0);
        if !answered || connection.response.closes || self.access.store.no_keep_alive {
            connection.link = None;
        }
        connection.state = State::Idle;
        if connection.has_request || outcome.is_err() {
            self.early.push(Ended {
                connection: at,
                outcome,
                start_ns: connection.start_ns,
                first_byte_ns: connection.first_byte_ns,
                end_ns,
                received: connection.received,
                differs_at: connection.differs_at,
                checksums: connection.response.take_checksums(),
            });
        }
        connection.has_request = false;
    }

    /// Gives up the request of a connection.
    pub(crate) fn give_up(&mut self, at: usize) {
        self.end(at, Err(Fault::given_up()));
    }
}
