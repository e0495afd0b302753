//! One connection of the store in memory: requests one after the other.

use std::io::{self, Read, Write};
use std::net::TcpStream;
use std::sync::atomic::Ordering::{AcqRel, Relaxed};
use std::time::{Duration, Instant};

use super::listing_fault;
use super::objects::{Objects, Response};
use super::request::ReceivedRequest;
use super::script::Action;
use super::transport::Transport;
use super::{ServerKind, Shared};

/// Bytes that a head has at most.
const MOST_HEAD_BYTES: usize = 64 << 10;
/// Bytes that a body has at most.
const MOST_BODY_BYTES: u64 = 1 << 30;
/// Bytes that are received at once.
const CHUNK_BYTES: usize = 64 << 10;

/// A connection.
pub(super) struct Connection<'s> {
    stream: Transport,
    shared: &'s Shared,
    /// What was received and not used yet.
    held: Vec<u8>,
    chunk: Vec<u8>,
    out: Vec<u8>,
    zeros: Vec<u8>,
}

impl<'s> Connection<'s> {
    /// A connection that was accepted; `None` when TLS cannot be had on it.
    pub(super) fn new(stream: TcpStream, shared: &'s Shared) -> Option<Connection<'s>> {
        let _ = stream.set_nodelay(true);
        let stream = Transport::over(stream, shared.tls.as_ref()).ok()?;
        let zeros = match shared.kind {
            ServerKind::Null(bytes) => vec![0; bytes.min(1 << 20) as usize],
            ServerKind::Store(_) => Vec::new(),
        };
        Some(Connection {
            stream,
            shared,
            held: Vec::with_capacity(CHUNK_BYTES),
            chunk: vec![0; CHUNK_BYTES],
            out: Vec::with_capacity(1024),
            zeros,
        })
    }

    /// Answers until the other end goes.
    pub(super) fn serve(&mut self) {
        while let Ok(true) = self.one() {
            if self.shared.ends.load(Relaxed) {
                return;
            }
        }
    }

    /// One request. False at the end of the connection.
    fn one(&mut self) -> io::Result<bool> {
        let Some(end) = self.head()? else {
            return Ok(false);
        };
        let head = String::from_utf8_lossy(&self.held[..end]).into_owned();
        self.held.drain(..end);
        let Some(mut request) = ReceivedRequest::read(&head) else {
            self.stream.write_all(
                b"HTTP/1.1 400 Bad Request\r\ncontent-length: 0\r\nconnection: close\r\n\r\n",
            )?;
            return Ok(false);
        };
        self.shared.requests.fetch_add(1, Relaxed);
        if matches!(self.shared.kind, ServerKind::Store(_)) {
            self.shared.log.signed(&request.key_id);
        }
        let came = Instant::now();
        if request.expects {
            self.stream.write_all(b"HTTP/1.1 100 Continue\r\n\r\n")?;
        }
        let body = self.body(request.length)?;
        let (delay, action) = self.shared.script.next(request.name(), request.kind());
        wait_until(came + delay);
        if let Some(action) = action {
            self.shared.log.did(action);
        }
        match action {
            Some(Action::Close) => return Ok(false),
            Some(Action::Hang(time)) => {
                self.hang(time);
                return Ok(false);
            }
            Some(Action::Status(status)) => {
                let answer = Response::error(status, "Scripted");
                self.answer(&request, &answer, None)?;
                return Ok(!request.closes);
            }
            _ => {}
        }
        match &self.shared.kind {
            ServerKind::Null(bytes) => self.null(&request, *bytes)?,
            ServerKind::Store(objects) => {
                let answer = self.of_store(objects, &mut request, body, action);
                self.shared.answering.fetch_add(1, AcqRel);
                let sent = self.answer(&request, &answer, action);
                let whole = answer.status / 100 == 2 && action != Some(Action::Truncate);
                if whole && sent.is_ok() {
                    self.shared.log.delivered(request.name(), came.elapsed());
                }
                self.shared.answering.fetch_sub(1, AcqRel);
                sent?;
            }
        }
        Ok(!request.closes && action != Some(Action::Truncate))
    }

    /// The answer of a store that keeps something, or behaves as if it did.
    fn of_store(
        &self,
        objects: &Objects,
        request: &mut ReceivedRequest,
        body: Vec<u8>,
        action: Option<Action>,
    ) -> Response {
        let Some(body) = request.unframed(body) else {
            return Response::error(400, "IncompleteBody");
        };
        let removals = request.removals(&body);
        let removes = !removals.is_empty();
        self.shared.log.removes(removals);
        match action {
            Some(Action::Pretend) if removes && request.method == "DELETE" => Response::status(204),
            Some(Action::Pretend) if removes => {
                Response::document("<DeleteResult></DeleteResult>".to_owned())
            }
            Some(Action::Forget) if request.method == "PUT" => Response::status(200),
            Some(Action::Shorten) if request.method == "PUT" => {
                let half = body.len() / 2;
                objects.answer(request, body[..half].to_vec())
            }
            Some(Action::List(kind)) if request.name() == "LIST" => {
                listing_fault::list(kind, request, objects, self.shared.requests.load(Relaxed))
            }
            Some(Action::OtherRange) => {
                request.range = request.range.map(|(first, last)| match first {
                    0 => (1, last.saturating_add(1)),
                    first => (first - 1, last.saturating_sub(1)),
                });
                objects.answer(request, body)
            }
            Some(Action::WholeObject) => {
                request.range = None;
                objects.answer(request, body)
            }
            Some(Action::NoTag) => {
                let mut answer = objects.answer(request, body);
                let lines = answer.headers.split_inclusive('\n');
                answer.headers = lines.filter(|line| !line.starts_with("etag")).collect();
                answer
            }
            Some(Action::Redirect) => listing_fault::redirect(),
            Some(Action::WrongRegion) => listing_fault::wrong_region(),
            Some(Action::BadBucket) => Response::error(400, "InvalidBucketName"),
            _ => objects.answer(request, body),
        }
    }

    fn hang(&self, time: Duration) {
        let until = Instant::now() + time;
        while Instant::now() < until && !self.shared.ends.load(Relaxed) {
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    /// Receives a head; where it ends.
    fn head(&mut self) -> io::Result<Option<usize>> {
        let mut from = 0;
        loop {
            let at = self.held[from..].windows(4).position(|w| w == b"\r\n\r\n");
            if let Some(at) = at {
                return Ok(Some(from + at + 4));
            }
            if self.held.len() > MOST_HEAD_BYTES {
                return Ok(None);
            }
            from = self.held.len().saturating_sub(3);
            match self.stream.read(&mut self.chunk)? {
                0 => return Ok(None),
                got => self.held.extend_from_slice(&self.chunk[..got]),
            }
        }
    }

    /// Receives a body. The null server forgets it at once.
    fn body(&mut self, length: u64) -> io::Result<Vec<u8>> {
        if length > MOST_BODY_BYTES {
            return Err(io::ErrorKind::InvalidData.into());
        }
        let keeps = matches!(self.shared.kind, ServerKind::Store(_));
        let here = (self.held.len() as u64).min(length) as usize;
        let mut body = Vec::new();
        if keeps {
            body.reserve(length.min(16 << 20) as usize);
            body.extend_from_slice(&self.held[..here]);
        }
        self.held.drain(..here);
        let mut left = length - here as u64;
        while left > 0 {
            let most = left.min(self.chunk.len() as u64) as usize;
            let got = self.stream.read(&mut self.chunk[..most])?;
            if got == 0 {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
            if keeps {
                body.extend_from_slice(&self.chunk[..got]);
            }
            left -= got as u64;
        }
        Ok(body)
    }

    fn answer(
        &mut self,
        request: &ReceivedRequest,
        answer: &Response,
        action: Option<Action>,
    ) -> io::Result<()> {
        let head = request.method == "HEAD";
        self.out.clear();
        write!(
            self.out,
            "HTTP/1.1 {} x\r\ncontent-length: {}\r\n{}\r\n",
            answer.status,
            answer.body.len(),
            answer.headers
        )?;
        if !head {
            let from = self.out.len();
            self.out.extend_from_slice(&answer.body);
            match action {
                Some(Action::Truncate) => {
                    self.out.truncate(from + answer.body.len() / 2);
                }
                Some(Action::Corrupt) if !answer.body.is_empty() => {
                    self.out[from + answer.body.len() / 2] ^= 1;
                }
                _ => {}
            }
        }
        if let Some(Action::Drip(every)) = action {
            return self.drip(every);
        }
        self.stream.write_all(&self.out)
    }

    /// Sends what is to be sent byte by byte.
    fn drip(&mut self, every: Duration) -> io::Result<()> {
        for at in 0..self.out.len() {
            if self.shared.ends.load(Relaxed) {
                return Err(io::ErrorKind::ConnectionAborted.into());
            }
            self.stream.write_all(&self.out[at..=at])?;
            self.stream.flush()?;
            std::thread::sleep(every);
        }
        Ok(())
    }

    /// The answer of a store that takes no time.
    fn null(&mut self, request: &ReceivedRequest, bytes: u64) -> io::Result<()> {
        self.out.clear();
        let listed = request.query.contains("list-type") || request.query.contains("versions");
        let (length, body): (u64, &[u8]) = match request.method.as_str() {
            "GET" if !listed && !request.query.contains("tagging") => (
                request
                    .range
                    .map_or(bytes, |(from, to)| to.saturating_sub(from) + 1),
                b"",
            ),
            "POST" if request.query.starts_with("uploads") => {
                let body = b"<InitiateMultipartUploadResult><UploadId>null</UploadId>\
                    </InitiateMultipartUploadResult>";
                (body.len() as u64, body)
            }
            _ => (0, b""),
        };
        let head = match request.range {
            Some((from, to)) => format!("206 x\r\ncontent-range: bytes {from}-{to}/*"),
            None => "200 OK".to_owned(),
        };
        write!(
            self.out,
            "HTTP/1.1 {head}\r\netag: \"0\"\r\ncontent-length: {length}\r\n\r\n"
        )?;
        self.out.extend_from_slice(body);
        let mut left = length - body.len() as u64;
        let first = left.min(self.zeros.len() as u64) as usize;
        self.out.extend_from_slice(&self.zeros[..first]);
        left -= first as u64;
        self.stream.write_all(&self.out)?;
        while left > 0 {
            if self.zeros.is_empty() {
                self.zeros.resize(CHUNK_BYTES, 0);
            }
            let part = left.min(self.zeros.len() as u64) as usize;
            self.stream.write_all(&self.zeros[..part])?;
            left -= part as u64;
        }
        Ok(())
    }
}

/// Sleeps, and wakes up as exactly as the host allows.
fn wait_until(time: Instant) {
    loop {
        let now = Instant::now();
        let Some(left) = time
            .checked_duration_since(now)
            .filter(|left| !left.is_zero())
        else {
            return;
        };
        match left > Duration::from_micros(200) {
            true => std::thread::sleep(left - Duration::from_micros(150)),
            false => std::hint::spin_loop(),
        }
    }
}
