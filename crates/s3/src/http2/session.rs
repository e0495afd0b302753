//! One connection that speaks HTTP/2, seen as one that speaks HTTP/1.1.

use std::io::{self, IoSlice, Read, Write};

use super::fields;
use super::frame::{self, MOST_FRAME_BYTES, PREFACE};
use super::unpack::Unpacker;

/// Bytes received and not used yet, at most: several frames.
const HELD_BYTES: usize = 64 << 10;
/// Bytes written and not sent yet, from which on no more are taken.
pub(crate) const MOST_OUT_BYTES: usize = 128 << 10;
/// Windows as they are before anything is said (RFC 9113, section 6.9.2).
const FIRST_WINDOW: i64 = 65_535;
/// What the other end may send: it is never to wait for us.
const OUR_WINDOW: u32 = 1 << 30;
/// Numbers of streams end here.
const LAST_STREAM: u32 = 0x7fff_fff0;

/// Which end of the connection this is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Role {
    Client,
    Server,
}

/// How far what comes has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Coming {
    /// Its head.
    Head,
    /// Its body: so many bytes, or pieces that are told one by one.
    Body(Option<u64>),
    Over,
}

/// A session.
pub(crate) struct Session {
    pub(crate) role: Role,
    tls: bool,
    /// Not sent yet, from `out_at` on.
    pub(crate) out: Vec<u8>,
    out_at: usize,
    /// Received, between the two places.
    pub(crate) held: Vec<u8>,
    pub(crate) held_from: usize,
    pub(crate) held_to: usize,
    pub(crate) unpacker: Unpacker,
    /// The other end has shown that it speaks HTTP/2.
    pub(crate) greeted: bool,
    /// The one under way, and the number of the next of a client.
    pub(crate) stream: u32,
    next_stream: u32,
    /// Bytes of the body under way that are still to be taken.
    body_left: u64,
    pub(crate) connection_window: i64,
    pub(crate) stream_window: i64,
    pub(crate) first_window: i64,
    pub(crate) most_frame: usize,
    /// Text of HTTP/1.1 for who receives, from `text_at` on.
    pub(crate) text: Vec<u8>,
    text_at: usize,
    pub(crate) coming: Coming,
    /// Of the DATA frame under way: bytes of body, then of padding.
    pub(crate) data_left: usize,
    pub(crate) padding: usize,
    pub(crate) data_is_last: bool,
    pub(crate) skip_left: usize,
    /// A header block under way: stream, and whether that ends with it.
    pub(crate) block: Vec<u8>,
    pub(crate) block_of: Option<(u32, bool)>,
    /// Bytes that came since the other end was told that it may go on.
    pub(crate) came_on_connection: u32,
    pub(crate) came_on_stream: u32,
    pub(crate) asks_head: bool,
    /// The other end takes no more requests.
    pub(crate) leaving: bool,
}

pub(crate) fn broken(what: &'static str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, format!("HTTP/2: {what}"))
}

pub(crate) fn given_up(what: String) -> io::Error {
    io::Error::new(io::ErrorKind::ConnectionReset, what)
}

fn must_wait(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::WouldBlock
}

impl Session {
    /// A session on a connection that was just made.
    pub(crate) fn new(role: Role, tls: bool) -> Session {
        let mut out = Vec::with_capacity(MOST_OUT_BYTES);
        if role == Role::Client {
            out.extend_from_slice(PREFACE);
        }
        let settings = [
            (frame::ENABLE_PUSH, 0),
            (frame::INITIAL_WINDOW_SIZE, OUR_WINDOW),
        ];
        frame::write_settings(&settings[usize::from(role == Role::Server)..], &mut out);
        write_update(0, OUR_WINDOW - FIRST_WINDOW as u32, &mut out);
        Session {
            role,
            tls,
            out,
            out_at: 0,
            held: vec![0; HELD_BYTES],
            held_from: 0,
            held_to: 0,
            unpacker: Unpacker::default(),
            greeted: false,
            stream: 0,
            next_stream: 1,
            body_left: 0,
            connection_window: FIRST_WINDOW,
            stream_window: FIRST_WINDOW,
            first_window: FIRST_WINDOW,
            most_frame: MOST_FRAME_BYTES,
            text: Vec::with_capacity(1024),
            text_at: 0,
            coming: match role {
                Role::Client => Coming::Over,
                Role::Server => Coming::Head,
            },
            data_left: 0,
            padding: 0,
            data_is_last: false,
            skip_left: 0,
            block: Vec::new(),
            block_of: None,
            came_on_connection: 0,
            came_on_stream: 0,
            asks_head: false,
            leaving: false,
        }
    }

    /// Whether the connection is of no more use after this request.
    pub(crate) fn is_leaving(&self) -> bool {
        self.leaving || self.next_stream > LAST_STREAM
    }

    /// Whether bytes that were taken have not been sent.
    pub(crate) fn holds_back(&self) -> bool {
        self.out_at < self.out.len()
    }

    /// Whether only the other end can have more sent.
    pub(crate) fn awaits_window(&self) -> bool {
        self.body_left > 0 && self.window() == 0 && !self.holds_back()
    }

    /// Takes of a head and its body what goes; bytes that were taken. The first
    /// piece of a request begins with its whole head.
    pub(crate) fn send(
        &mut self,
        pieces: &[IoSlice<'_>],
        wire: &mut (impl Read + Write),
    ) -> io::Result<usize> {
        self.flush(wire)?;
        let mut taken = 0;
        for piece in pieces {
            let mut piece = &piece[..];
            while !piece.is_empty() && self.out.len() < MOST_OUT_BYTES {
                let used = match self.body_left {
                    0 => self.begin(piece)?,
                    _ if self.window() == 0 && taken > 0 => break,
                    _ => {
                        self.wait_for_window(wire)?;
                        self.data(piece)
                    }
                };
                taken += used;
                piece = &piece[used..];
            }
            if !piece.is_empty() {
                break;
            }
        }
        match self.flush(wire) {
            Err(error) if !must_wait(&error) => Err(error),
            _ => Ok(taken),
        }
    }

    /// Sends what is held back.
    pub(crate) fn flush(&mut self, wire: &mut impl Write) -> io::Result<()> {
        while self.out_at < self.out.len() {
            match wire.write(&self.out[self.out_at..]) {
                Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
                Ok(sent) => self.out_at += sent,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        self.out.clear();
        self.out_at = 0;
        Ok(())
    }

    /// Receives as HTTP/1.1; 0 at the end of the connection.
    pub(crate) fn receive(
        &mut self,
        buffer: &mut [u8],
        wire: &mut (impl Read + Write),
    ) -> io::Result<usize> {
        loop {
            let text = &self.text[self.text_at..];
            if !text.is_empty() {
                let most = text.len().min(buffer.len());
                buffer[..most].copy_from_slice(&text[..most]);
                self.text_at += most;
                return Ok(most);
            }
            self.text.clear();
            self.text_at = 0;
            let here = self.held_to - self.held_from;
            if self.data_left > 0 && here > 0 {
                let most = self.data_left.min(here).min(buffer.len());
                let from = self.held_from;
                buffer[..most].copy_from_slice(&self.held[from..from + most]);
                self.held_from += most;
                self.data_left -= most;
                if self.data_left == 0 {
                    self.data_came(true)?;
                }
                return Ok(most);
            }
            if self.step()? {
                continue;
            }
            if let Err(error) = self.flush(wire)
                && !must_wait(&error)
            {
                return Err(error);
            }
            if self.fill(wire)? == 0 {
                return Ok(0);
            }
        }
    }

    /// Bytes of body that may be sent now.
    fn window(&self) -> usize {
        let least = self.connection_window.min(self.stream_window).max(0);
        usize::try_from(least).unwrap_or(usize::MAX)
    }

    /// Begins a request or its answer; bytes of its head.
    fn begin(&mut self, piece: &[u8]) -> io::Result<usize> {
        let end = piece.windows(4).position(|four| four == b"\r\n\r\n");
        let end = end.ok_or_else(|| broken("a head was cut"))? + 4;
        if self.role == Role::Client {
            self.stream = self.next_stream;
            self.next_stream += 2;
            self.stream_window = self.first_window;
            self.came_on_stream = 0;
            self.coming = Coming::Head;
        }
        let mut block = Vec::with_capacity(1024);
        let written = fields::encode(&piece[..end], self.tls, &mut block);
        let written = written.ok_or_else(|| broken("a head cannot be written"))?;
        let bodyless = self.role == Role::Server && self.asks_head;
        if self.role == Role::Client {
            self.asks_head = written.asks_head;
        }
        self.body_left = if bodyless { 0 } else { written.body_bytes };
        let ends = u8::from(self.body_left == 0) * frame::END_STREAM;
        let parts = block.len().div_ceil(self.most_frame).max(1);
        for (n, part) in block.chunks(self.most_frame).enumerate() {
            let last = u8::from(n + 1 == parts) * frame::END_HEADERS;
            let (kind, flags) = match n {
                0 => (frame::HEADERS, ends | last),
                _ => (frame::CONTINUATION, last),
            };
            frame::write(kind, flags, self.stream, part, &mut self.out);
        }
        Ok(end)
    }

    /// Appends a frame with the beginning of `piece`; bytes that it has.
    fn data(&mut self, piece: &[u8]) -> usize {
        let left = usize::try_from(self.body_left).unwrap_or(usize::MAX);
        let most = piece.len().min(self.window()).min(self.most_frame);
        let most = most.min(left);
        self.body_left -= most as u64;
        self.connection_window -= most as i64;
        self.stream_window -= most as i64;
        let ends = u8::from(self.body_left == 0) * frame::END_STREAM;
        frame::write(
            frame::DATA,
            ends,
            self.stream,
            &piece[..most],
            &mut self.out,
        );
        most
    }

    /// Until some of the body may be sent.
    fn wait_for_window(&mut self, wire: &mut (impl Read + Write)) -> io::Result<()> {
        loop {
            while self.step()? {}
            if self.role == Role::Client && self.coming != Coming::Head {
                return Err(given_up("the answer came before the request".to_owned()));
            }
            if self.window() > 0 {
                return Ok(());
            }
            self.flush(wire)?;
            if self.fill(wire)? == 0 {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
        }
    }

    fn fill(&mut self, wire: &mut impl Read) -> io::Result<usize> {
        if self.held_from == self.held_to {
            (self.held_from, self.held_to) = (0, 0);
        } else if self.held_to > HELD_BYTES / 2 {
            self.held.copy_within(self.held_from..self.held_to, 0);
            self.held_to -= self.held_from;
            self.held_from = 0;
        }
        let got = wire.read(&mut self.held[self.held_to..])?;
        self.held_to += got;
        Ok(got)
    }
}

pub(crate) fn write_update(stream: u32, bytes: u32, out: &mut Vec<u8>) {
    frame::write(frame::WINDOW_UPDATE, 0, stream, &bytes.to_be_bytes(), out);
}
