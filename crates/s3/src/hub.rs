//! All connections of one worker, on one epoll: many requests in flight, one
//! thread.
//!
//! A lane carries one request at a time over one connection that stays open.
//! A request is made ready (its head written and signed) before it is started;
//! what is timed is sending, waiting and receiving, and whatever connecting was
//! needed.

use std::io;
use std::os::fd::OwnedFd;
use std::sync::Arc;

use rustix::event::epoll::{self, EventData, EventFlags};
use rustix::event::{PollFd, PollFlags, Timespec};

use super::access::Access;
use super::digests;
use super::events::{Connected, Ended};
use super::fault::Fault;
use super::lane::{Lane, State, Step};
use super::link::{Link, must_wait};
use super::request::{Body, Method, Request, Writer};
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
pub struct Hub {
    access: Arc<Access>,
    epoll: OwnedFd,
    /// Of each endpoint: it signs with that one's keys.
    writers: Vec<Writer>,
    lanes: Vec<Lane>,
    scratch: Vec<u8>,
    events: Vec<epoll::Event>,
    now: fn() -> u64,
    check_every_ns: u64,
    next_check_ns: u64,
    /// Ended already while they were started.
    early: Vec<Ended>,
    connected: Vec<Connected>,
    /// How long TLS may take to be set up, beside the time of the request.
    handshake_ns: u64,
    /// How long a request may take.
    timeout_ns: u64,
}

impl std::fmt::Debug for Hub {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Hub({} lanes)", self.lanes.len())
    }
}

impl Hub {
    /// A hub of `lanes` connections; the endpoints take turns from `first` on.
    ///
    /// # Errors
    /// When the kernel gives no epoll.
    pub fn new(access: &Arc<Access>, lanes: usize, first: usize) -> Result<Hub, Error> {
        let epoll = epoll::create(epoll::CreateFlags::CLOEXEC)
            .map_err(|errno| Error::Epoll(errno.into()))?;
        let endpoints = access.endpoints.len();
        let keys = access.keys.iter().map(|found| found.credentials.as_ref());
        let writer = |keys| Writer::new(&access.store, keys, &access.bucket);
        Ok(Hub {
            writers: keys.map(writer).collect(),
            access: Arc::clone(access),
            epoll,
            lanes: (0..lanes)
                .map(|n| Lane::new((first + n) % endpoints))
                .collect(),
            scratch: vec![0; SCRATCH_BYTES],
            events: Vec::with_capacity(EVENTS),
            now: access.now,
            check_every_ns: (access.store.timeout_ns / 8)
                .clamp(*DEADLINE_CHECK_NS.start(), *DEADLINE_CHECK_NS.end()),
            next_check_ns: 0,
            early: Vec::new(),
            connected: Vec::new(),
            handshake_ns: u64::MAX,
            timeout_ns: access.store.timeout_ns,
        })
    }

    /// How many connections it has.
    pub fn lanes(&self) -> usize {
        self.lanes.len()
    }

    /// To which of the endpoints a lane connects.
    pub fn endpoint_of(&self, lane: usize) -> usize {
        self.lanes[lane].endpoint
    }

    /// Connections made since the last call.
    pub fn take_connected(&mut self) -> std::vec::Drain<'_, Connected> {
        self.connected.drain(..)
    }

    /// The body of the answer that a lane got last, if it was kept.
    pub fn kept(&self, lane: usize) -> &[u8] {
        &self.lanes[lane].kept
    }

    /// Entity tag and version of the answer that a lane got last.
    pub fn tags(&self, lane: usize) -> (&str, &str) {
        let reply = &self.lanes[lane].reply;
        (&reply.etag, &reply.version)
    }

    /// The checksum that the request of a lane was sent with.
    pub fn checksum(&self, lane: usize) -> Option<&str> {
        self.lanes[lane].checksum.as_deref()
    }

    /// Makes the connections of all lanes and waits for them, unless `stops` says
    /// that nobody does any more.
    ///
    /// # Errors
    /// When one cannot be made in the store's time, and when nobody waits.
    pub fn connect_all(&mut self, stops: &dyn Fn() -> bool) -> Result<(), Error> {
        let mut ended = Vec::new();
        for lane in 0..self.lanes.len() {
            self.lanes[lane].has_request = false;
            self.connect(lane);
        }
        loop {
            let waiting = self.lanes.iter().any(|lane| lane.state != State::Idle);
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

    /// Writes the head of a request for a lane that has none under way.
    /// Gives the body that it sent before, whose memory can be used again.
    pub fn make_ready(&mut self, lane: usize, request: Request<'_>) -> Option<Body> {
        let payload = &*self.access.payload;
        let lane = &mut self.lanes[lane];
        let endpoint = &self.access.endpoints[lane.endpoint];
        let writer = &mut self.writers[lane.endpoint];
        let kind = writer.checksum();
        let sum = kind.and_then(|kind| digests::checksum(kind, &request, payload));
        let framing = writer.framing(request.body.length(), sum.as_deref());
        let hashes = writer.hashes_payload() && framing.is_none();
        let hash = hashes.then(|| digests::payload_hash(&request.body, payload));
        let known = (hash.as_deref(), sum.as_deref(), framing.as_ref());
        writer.write(&request, endpoint, known, &mut lane.head);
        lane.framing = framing;
        lane.checksum = sum;
        let without_body = request.method == Method::Head;
        lane.begin(request.body, request.sink, without_body)
    }

    /// Starts the request that was made ready.
    pub fn start(&mut self, at: usize, now_ns: u64) {
        let lane = &mut self.lanes[at];
        lane.start_ns = now_ns;
        lane.deadline_ns = now_ns.saturating_add(self.timeout_ns);
        lane.has_request = true;
        if lane.link.is_none() {
            self.connect(at);
            return;
        }
        lane.state = State::Sending;
        self.go_on(at);
    }

    /// Starts the request that was made ready, at this moment.
    pub fn start_now(&mut self, at: usize) {
        self.start(at, (self.now)());
    }

    fn connect(&mut self, at: usize) {
        let lane = &mut self.lanes[at];
        let endpoint = &self.access.endpoints[lane.endpoint];
        let addresses = &endpoint.addresses;
        let address = addresses[(at + lane.generation as usize) % addresses.len()];
        lane.generation = lane.generation.wrapping_add(1);
        lane.began_ns = (self.now)();
        if !lane.has_request {
            lane.deadline_ns = lane.began_ns.saturating_add(self.timeout_ns);
        }
        let tls = self.access.tls.as_ref().filter(|_| endpoint.tls);
        let tls = tls.map(|config| (config, endpoint.host.as_str()));
        let begun = Link::begin(address, tls, self.access.store.http2);
        lane.state = State::Connecting;
        let registered = begun.and_then(|link| {
            let data = EventData::new_u64(u64::from(lane.generation) << 32 | at as u64);
            let flags = EventFlags::IN | EventFlags::OUT | EventFlags::RDHUP;
            epoll::add(&self.epoll, link.fd(), data, flags)?;
            Ok(link)
        });
        match registered {
            Ok(link) => {
                lane.link = Some(link);
                lane.wants_out = true;
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
        for event in &events {
            let data = event.data.u64();
            let (at, generation) = (data as u32 as usize, (data >> 32) as u32);
            if self
                .lanes
                .get(at)
                .is_some_and(|lane| lane.generation == generation)
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
        for at in 0..self.lanes.len() {
            let lane = &self.lanes[at];
            let shakes = lane.state == State::Handshaking;
            let since_ns = lane.began_ns.saturating_add(lane.connect_ns);
            if lane.state != State::Idle && now_ns >= lane.deadline_ns {
                let fault = Fault::timeout(lane.doing());
                self.end(at, Err(fault));
            } else if shakes && now_ns.saturating_sub(since_ns) >= self.handshake_ns {
                self.end(at, Err(Fault::no_tls(self.handshake_ns)));
            }
        }
    }

    /// The socket of a lane is ready for something.
    fn happened(&mut self, at: usize) {
        let lane = &mut self.lanes[at];
        if lane.state == State::Idle {
            // TLS may have something to say; anything else is the end of a
            // connection that nobody uses now.
            let Some(link) = &mut lane.link else { return };
            let said = link.receive(&mut self.scratch);
            let stays = said.is_err_and(|error| must_wait(&error)) && !link.is_leaving();
            if !stays {
                lane.link = None;
            }
            return;
        }
        self.go_on(at);
    }

    /// Goes on with a lane as far as it goes.
    fn go_on(&mut self, at: usize) {
        loop {
            let lane = &mut self.lanes[at];
            let step = match lane.state {
                State::Idle => return,
                State::Connecting => self.connecting(at),
                State::Handshaking => self.handshaking(at),
                State::Sending => lane
                    .send(&*self.access.payload)
                    .map_err(|error| Fault::of_io(&error, "sending")),
                State::Receiving => {
                    lane.receive(&mut self.scratch, &*self.access.payload, self.now)
                }
            };
            let lane = &mut self.lanes[at];
            match step {
                Ok(Step::Wait) => {
                    let out = lane.waits_to_send();
                    return self.watch(at, out);
                }
                Ok(Step::Done) => match lane.state {
                    State::Connecting => lane.state = State::Handshaking,
                    State::Handshaking if lane.has_request => lane.state = State::Sending,
                    State::Handshaking => {
                        lane.state = State::Idle;
                        return self.watch(at, false);
                    }
                    State::Sending => {
                        lane.state = State::Receiving;
                        return self.watch(at, false);
                    }
                    _ => {
                        let outcome = self.lanes[at].judge();
                        return self.end(at, outcome);
                    }
                },
                Err(fault) => {
                    // A store that refuses a body may answer and end the
                    // connection before it has all of it.
                    let answered = lane.state == State::Sending && self.answered_early(at);
                    let outcome = match answered {
                        true => self.lanes[at].judge(),
                        false => Err(fault),
                    };
                    self.lanes[at].reply.closes = true;
                    return self.end(at, outcome);
                }
            }
        }
    }

    fn answered_early(&mut self, at: usize) -> bool {
        let lane = &mut self.lanes[at];
        lane.state = State::Receiving;
        let step = lane.receive(&mut self.scratch, &*self.access.payload, self.now);
        step == Ok(Step::Done) && lane.reply.status >= 300
    }

    fn connecting(&mut self, at: usize) -> Result<Step, Fault> {
        let now_ns = (self.now)();
        let lane = &mut self.lanes[at];
        let Some(link) = &lane.link else {
            return Ok(Step::Wait);
        };
        match link.is_connected() {
            Ok(()) => {
                lane.connect_ns = now_ns.saturating_sub(lane.began_ns).max(1);
                Ok(Step::Done)
            }
            Err(error) if error.kind() == io::ErrorKind::NotConnected => Ok(Step::Wait),
            Err(error) => Err(Fault::of_io(&error, "connecting")),
        }
    }

    fn handshaking(&mut self, at: usize) -> Result<Step, Fault> {
        let lane = &mut self.lanes[at];
        let Some(link) = &mut lane.link else {
            return Ok(Step::Wait);
        };
        match link.shake_hands() {
            Ok(false) => return Ok(Step::Wait),
            Ok(true) => {}
            Err(error) => return Err(Fault::of_io(&error, "setting up TLS")),
        }
        if link.has_tls() {
            let since_ns = lane.began_ns + lane.connect_ns;
            lane.handshake_ns = (self.now)().saturating_sub(since_ns).max(1);
        }
        self.connected.push(Connected {
            endpoint: lane.endpoint,
            connect_ns: lane.connect_ns,
            handshake_ns: lane.handshake_ns,
        });
        Ok(Step::Done)
    }

    /// Has the socket watched for what the lane waits for.
    fn watch(&mut self, at: usize, out: bool) {
        let lane = &mut self.lanes[at];
        let Some(link) = lane.link.as_ref().filter(|_| lane.wants_out != out) else {
            return;
        };
        let mut flags = EventFlags::IN | EventFlags::RDHUP;
        if out {
            flags |= EventFlags::OUT;
        }
        let data = EventData::new_u64(u64::from(lane.generation) << 32 | at as u64);
        match epoll::modify(&self.epoll, link.fd(), data, flags) {
            Ok(()) => lane.wants_out = out,
            Err(errno) => {
                let fault = Fault::of_io(&errno.into(), "waiting");
                self.end(at, Err(fault));
            }
        }
    }

    /// The lane is free again.
    fn end(&mut self, at: usize, outcome: Result<(), Fault>) {
        let lane = &mut self.lanes[at];
        let end_ns = match (&outcome, lane.last_byte_ns) {
            (Ok(()), taken_ns) if taken_ns > 0 => taken_ns,
            _ => (self.now)(),
        };
        // Nobody may have looked at the clock when its time was over.
        let late = lane.has_request && end_ns > lane.deadline_ns;
        let outcome = match outcome {
            Ok(()) if late => Err(Fault::timeout("receiving the answer")),
            outcome => outcome,
        };
        let answered = outcome.is_ok() || outcome.as_ref().is_err_and(|fault| fault.status > 0);
        let leaves = lane.reply.closes || lane.link.as_ref().is_some_and(Link::is_leaving);
        if !answered || leaves || self.access.store.no_keep_alive {
            lane.link = None;
        }
        lane.state = State::Idle;
        if lane.has_request || outcome.is_err() {
            self.early.push(Ended {
                lane: at,
                outcome,
                start_ns: lane.start_ns,
                first_byte_ns: lane.first_byte_ns,
                end_ns,
                received: lane.received,
                differs_at: lane.differs_at,
                checksums: lane.reply.take_checksums(),
            });
        }
        lane.has_request = false;
    }

    /// Gives up the request of a lane.
    pub(crate) fn give_up(&mut self, at: usize) {
        self.end(at, Err(Fault::given_up()));
    }

    /// No request takes longer than this, and setting up TLS no longer than that.
    pub fn limit(&mut self, request_ns: u64, handshake_ns: u64) {
        self.timeout_ns = self.timeout_ns.min(request_ns);
        self.handshake_ns = handshake_ns;
    }
}
