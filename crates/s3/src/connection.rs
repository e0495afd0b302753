//! One connection and the request that it carries.

use std::io::{self, IoSlice};

use super::answer::Complaint;
use super::fault::Fault;
use super::framing::{Framing, Stretch};
use super::payload::{Payload, Piece};
use super::region;
use super::request::{Body, Sink};
use super::response::Response;
use super::transport::{Transport, must_wait};

/// Pieces that are handed over by one call.
const PIECES: usize = 16;
/// Bytes of an answer that are kept at most: twice what a page of 1000 of the
/// longest keys needs, with every character escaped.
const MOST_KEPT: usize = 16 << 20;
/// Bytes of the answer to a failed request that are kept.
const MOST_COMPLAINT: usize = 4 << 10;

/// How far a connection has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum State {
    /// Nothing is under way; there may be a connection.
    Idle,
    Connecting,
    Handshaking,
    Sending,
    Receiving,
}

/// Whether a step came to an end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Step {
    /// The socket has to become ready first.
    Wait,
    Done,
}

/// A connection, or the place of one that is to be made.
pub(crate) struct Connection {
    pub(crate) endpoint: usize,
    pub(crate) link: Option<Transport>,
    pub(crate) state: State,
    /// Tells events of this connection from those of the one before.
    pub(crate) generation: u32,
    /// The connection is asked for when it can be written to.
    pub(crate) wants_out: bool,
    /// A request waits for the connection; else it is made in advance.
    pub(crate) has_request: bool,
    pub(crate) head: Vec<u8>,
    pub(crate) body: Body,
    /// What is around the body, where its checksum follows it.
    pub(crate) framing: Option<Framing>,
    /// Checksum of the body, where one is sent.
    pub(crate) checksum: Option<String>,
    pub(crate) sink: Sink,
    sent: u64,
    pub(crate) response: Response,
    /// The body of the answer, if it is kept.
    pub(crate) kept: Vec<u8>,
    pub(crate) received: u64,
    /// Where the body differs from what it should be.
    pub(crate) differs_at: Option<u64>,
    pub(crate) start_ns: u64,
    pub(crate) began_ns: u64,
    pub(crate) connect_ns: u64,
    pub(crate) handshake_ns: u64,
    pub(crate) first_byte_ns: u64,
    /// When the last bytes that came were taken from the socket.
    pub(crate) last_byte_ns: u64,
    pub(crate) deadline_ns: u64,
}

impl Connection {
    pub(crate) fn new(endpoint: usize) -> Connection {
        Connection {
            endpoint,
            link: None,
            state: State::Idle,
            generation: 0,
            wants_out: false,
            has_request: false,
            head: Vec::with_capacity(1024),
            body: Body::None,
            framing: None,
            checksum: None,
            sink: Sink::Discard,
            sent: 0,
            response: Response::new(),
            kept: Vec::new(),
            received: 0,
            differs_at: None,
            start_ns: 0,
            began_ns: 0,
            connect_ns: 0,
            handshake_ns: 0,
            first_byte_ns: 0,
            last_byte_ns: 0,
            deadline_ns: u64::MAX,
        }
    }

    /// Takes up the request whose head is written; gives the body of the one
    /// before.
    pub(crate) fn begin(&mut self, body: Body, sink: Sink, without_body: bool) -> Option<Body> {
        // The bytes of a request under way would go on as those of another one.
        debug_assert!(
            self.state == State::Idle,
            "a second request while {}",
            self.doing()
        );
        let before = std::mem::replace(&mut self.body, body);
        self.sink = sink;
        self.sent = 0;
        let sums = matches!(self.sink, Sink::Check { .. } | Sink::Sum);
        self.response.begin(without_body, sums);
        self.kept.clear();
        self.received = 0;
        self.differs_at = None;
        self.connect_ns = 0;
        self.handshake_ns = 0;
        self.first_byte_ns = 0;
        self.last_byte_ns = 0;
        Some(before)
    }

    /// What the connection is busy with, in words.
    pub(crate) fn doing(&self) -> &'static str {
        match self.state {
            State::Idle => "waiting",
            State::Connecting => "connecting",
            State::Handshaking => "setting up TLS",
            State::Sending => "sending",
            State::Receiving if self.first_byte_ns == 0 => "waiting for the answer",
            State::Receiving => "receiving",
        }
    }

    /// Whether it goes on when the socket can be written to.
    pub(crate) fn waits_to_send(&self) -> bool {
        let link = self.link.as_ref();
        let sends = matches!(self.state, State::Connecting | State::Sending);
        sends || link.is_some_and(Transport::holds_back)
    }

    /// Sends until the socket is full or everything is on its way.
    pub(crate) fn send(&mut self, payload: &dyn Payload) -> io::Result<Step> {
        let Some(link) = &mut self.link else {
            return Err(io::ErrorKind::NotConnected.into());
        };
        let head = self.head.len() as u64;
        let framed = self.framing.as_ref().map(Framing::total_bytes);
        let total = head + framed.unwrap_or(self.body.length());
        debug_assert!(self.sent <= total, "{} bytes of {total}", self.sent);
        while self.sent < total {
            let framing = self.framing.as_ref();
            match hand_over(link, &self.head, &self.body, framing, self.sent, payload) {
                Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
                Ok(taken) => self.sent += taken as u64,
                Err(error) if must_wait(&error) => return Ok(Step::Wait),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        match link.flush() {
            Ok(()) => {}
            Err(error) if must_wait(&error) => return Ok(Step::Wait),
            Err(error) => return Err(error),
        }
        Ok(match link.holds_back() {
            true => Step::Wait,
            false => Step::Done,
        })
    }

    /// Takes what has come. `Done` when the answer is complete.
    pub(crate) fn receive(
        &mut self,
        scratch: &mut [u8],
        payload: &dyn Payload,
        now: impl Fn() -> u64,
    ) -> Result<Step, Fault> {
        loop {
            let Some(link) = &mut self.link else {
                return Err(Fault::of_io(
                    &io::ErrorKind::NotConnected.into(),
                    "receiving",
                ));
            };
            let got = match link.receive(scratch) {
                Ok(got) => got,
                Err(error) if must_wait(&error) => return Ok(Step::Wait),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => return Err(Fault::of_io(&error, self.doing())),
            };
            if got == 0 {
                if self.response.ends_with_connection() {
                    return Ok(Step::Done);
                }
                let end = io::Error::from(io::ErrorKind::UnexpectedEof);
                return Err(Fault::of_io(&end, self.doing()));
            }
            // What is compared below is compared after the clock was read.
            self.last_byte_ns = now();
            if self.first_byte_ns == 0 {
                self.first_byte_ns = self.last_byte_ns;
            }
            let buffered = link.has_buffered();
            self.take(&scratch[..got], payload)?;
            if self.response.is_complete() {
                return Ok(Step::Done);
            }
            // A buffer that was not filled was all there is: the socket says
            // when there is more.
            if got < scratch.len() && !buffered {
                return Ok(Step::Wait);
            }
        }
    }

    /// What a complete answer means.
    pub(crate) fn judge(&self) -> Result<(), Fault> {
        let status = self.response.status;
        if matches!(status, 200..=299) {
            return Ok(());
        }
        let complaint = Complaint::read(&self.kept);
        let mut text = format!("status {status}");
        for part in [&complaint.code, &complaint.message].into_iter().flatten() {
            text.push_str(", ");
            text.extend(part.chars().filter(|c| !c.is_control()).take(200));
        }
        let region = region::named(status, &self.response.region, &complaint);
        Err(Fault::of_status(status, text, region))
    }

    fn take(&mut self, bytes: &[u8], payload: &dyn Payload) -> Result<(), Fault> {
        let Connection {
            response,
            sink,
            kept,
            received,
            differs_at,
            ..
        } = self;
        let mut too_long = false;
        let taken = response.take(bytes, |status, part| {
            if status >= 300 {
                let room = MOST_COMPLAINT.saturating_sub(kept.len());
                kept.extend_from_slice(&part[..part.len().min(room)]);
                return;
            }
            match sink {
                Sink::Discard | Sink::Sum => {}
                Sink::Keep if kept.len() + part.len() <= MOST_KEPT => kept.extend_from_slice(part),
                Sink::Keep => too_long = true,
                Sink::Check { object, at } if differs_at.is_none() => {
                    *differs_at = payload.check(*object, *at + *received, part).err();
                }
                Sink::Check { .. } => {}
            }
            *received += part.len() as u64;
        });
        match taken {
            _ if too_long => Err(Fault::malformed(format!(
                "the answer is longer than {} MiB",
                MOST_KEPT >> 20
            ))),
            Err(malformed) => Err(Fault::malformed(malformed.0.to_owned())),
            // Something follows that nobody asked for.
            Ok(taken) if taken < bytes.len() => {
                self.response.closes = true;
                Ok(())
            }
            Ok(_) => Ok(()),
        }
    }
}

/// Hands over what follows after `sent` bytes of head and body.
fn hand_over(
    link: &mut Transport,
    head: &[u8],
    body: &Body,
    framing: Option<&Framing>,
    sent: u64,
    payload: &dyn Payload,
) -> io::Result<usize> {
    let mut pieces = [Piece::Borrowed(&[]); PIECES];
    let mut used = 0;
    if let Some(rest) = head.get(sent as usize..).filter(|rest| !rest.is_empty()) {
        pieces[0] = Piece::Borrowed(rest);
        used = 1;
    }
    let mut at = sent.saturating_sub(head.len() as u64);
    while used < PIECES {
        let Some(piece) = piece_at(body, framing, at, payload) else {
            break;
        };
        at += piece.bytes().len() as u64;
        pieces[used] = piece;
        used += 1;
    }
    let mut slices = [IoSlice::new(&[]); PIECES];
    for (slice, piece) in slices.iter_mut().zip(&pieces[..used]) {
        *slice = IoSlice::new(piece.bytes());
    }
    link.send(&slices[..used])
}

/// The run of bytes at a place of a body as it is sent; `None` at its end.
fn piece_at<'a>(
    body: &'a Body,
    framing: Option<&'a Framing>,
    at: u64,
    payload: &'a dyn Payload,
) -> Option<Piece<'a>> {
    let (at, most) = match framing.map(|framing| framing.at(at)) {
        None => (at, body.length().saturating_sub(at)),
        Some(Stretch::Text(text)) => return Some(Piece::Borrowed(text)),
        Some(Stretch::Payload(at, most)) => (at, most),
        Some(Stretch::End) => return None,
    };
    if most == 0 {
        return None;
    }
    Some(match body {
        Body::None => return None,
        Body::Bytes(bytes) => Piece::Borrowed(&bytes[at as usize..]).up_to(most),
        Body::Content {
            object, at: from, ..
        } => payload.piece(*object, from + at).up_to(most),
    })
}
