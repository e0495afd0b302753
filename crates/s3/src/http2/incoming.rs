//! What comes on a connection: frames, one after the other.

use std::io;

use super::fields::{self, Come};
use super::frame::{self, Frame, HEAD_BYTES, MOST_FRAME_BYTES, PREFACE};
use super::session::{Coming, MOST_OUT_BYTES, Role, Session, broken, given_up, write_update};

/// Bytes of a header block at most.
const MOST_BLOCK_BYTES: usize = 64 << 10;
/// After so many bytes it may send as many more.
const REPLENISH_BYTES: u32 = 1 << 28;
const MOST_WINDOW: i64 = 0x7fff_ffff;

impl Session {
    /// Takes the next frame, as far as it needs nobody who receives. False when
    /// more bytes are needed, or somebody who takes a body.
    pub(crate) fn step(&mut self) -> io::Result<bool> {
        let here = self.held_to - self.held_from;
        if self.data_left > 0 {
            return Ok(false);
        }
        if self.skip_left > 0 {
            let most = self.skip_left.min(here);
            self.held_from += most;
            self.skip_left -= most;
            return Ok(most > 0);
        }
        let bytes = &self.held[self.held_from..self.held_to];
        if !self.greeted && self.role == Role::Server {
            if here < PREFACE.len() {
                return Ok(false);
            }
            if !bytes.starts_with(PREFACE) {
                return Err(broken("it does not begin as it should"));
            }
            self.greeted = true;
            self.held_from += PREFACE.len();
            return Ok(true);
        }
        let Some(frame) = Frame::read(bytes) else {
            return Ok(false);
        };
        if !self.greeted && frame.kind != frame::SETTINGS {
            return Err(broken("the other end does not speak it"));
        }
        self.greeted = true;
        if frame.length > MOST_FRAME_BYTES {
            return Err(broken("a frame is larger than was agreed"));
        }
        if self.block_of.is_some() != (frame.kind == frame::CONTINUATION) {
            return Err(broken("a header block was cut"));
        }
        if frame.kind == frame::DATA {
            return self.data_begins(frame);
        }
        if here < HEAD_BYTES + frame.length {
            return Ok(false);
        }
        let payload = bytes[HEAD_BYTES..HEAD_BYTES + frame.length].to_vec();
        self.held_from += HEAD_BYTES + frame.length;
        self.control(frame, &payload)?;
        Ok(true)
    }

    fn control(&mut self, frame: Frame, payload: &[u8]) -> io::Result<()> {
        let number = frame::number(payload);
        match frame.kind {
            frame::HEADERS => self.headers(frame, payload),
            frame::CONTINUATION => self.block_goes_on(frame, payload),
            frame::SETTINGS if !frame.has(frame::ACK) => self.settings(payload),
            frame::PING if !frame.has(frame::ACK) => {
                frame::write(frame::PING, frame::ACK, 0, payload, &mut self.out);
                Ok(())
            }
            frame::WINDOW_UPDATE => {
                let more = number.ok_or_else(|| broken("a window is cut"))?;
                self.widen(frame.stream, i64::from(more))
            }
            frame::RST_STREAM if frame.stream == self.stream && self.coming != Coming::Over => {
                let code = number.unwrap_or_default();
                self.leaving = true;
                let told = format!("the other end reset the stream (code {code})");
                Err(given_up(told))
            }
            frame::GOAWAY => {
                self.leaving = true;
                let last = number.unwrap_or_default();
                let unheard = self.role == Role::Client && self.stream > last;
                match unheard && self.coming != Coming::Over {
                    true => Err(given_up("the other end takes no more requests".to_owned())),
                    false => Ok(()),
                }
            }
            frame::PUSH_PROMISE => Err(broken("something is pushed that nobody wants")),
            // Acknowledgements, priorities, and kinds that are not known.
            _ => Ok(()),
        }
    }

    fn widen(&mut self, stream: u32, more: i64) -> io::Result<()> {
        let window = match stream {
            0 => &mut self.connection_window,
            stream if stream == self.stream => &mut self.stream_window,
            _ => return Ok(()),
        };
        *window += more;
        match *window > MOST_WINDOW {
            true => Err(broken("a window is too wide")),
            false => Ok(()),
        }
    }

    fn settings(&mut self, payload: &[u8]) -> io::Result<()> {
        for (name, value) in frame::settings(payload) {
            match name {
                frame::INITIAL_WINDOW_SIZE if i64::from(value) > MOST_WINDOW => {
                    return Err(broken("a window is too wide"));
                }
                frame::INITIAL_WINDOW_SIZE => {
                    let first = i64::from(value);
                    // The one under way began with what was known then.
                    self.stream_window += first - self.first_window;
                    self.first_window = first;
                }
                frame::MAX_FRAME_SIZE => {
                    let most = (value as usize).min(MOST_OUT_BYTES / 2);
                    self.most_frame = most.max(MOST_FRAME_BYTES);
                }
                _ => {}
            }
        }
        frame::write(frame::SETTINGS, frame::ACK, 0, &[], &mut self.out);
        Ok(())
    }

    fn headers(&mut self, frame: Frame, payload: &[u8]) -> io::Result<()> {
        let cut = || broken("a header block was cut");
        let (mut from, mut to) = (0, payload.len());
        if frame.has(frame::PADDED) {
            let padding = usize::from(*payload.first().ok_or_else(cut)?);
            from = 1;
            to = to.checked_sub(padding).ok_or_else(cut)?;
        }
        if frame.has(frame::PRIORITY) {
            from += 5;
        }
        let part = payload.get(from..to).ok_or_else(cut)?;
        self.block.clear();
        self.block_of = Some((frame.stream, frame.has(frame::END_STREAM)));
        self.block_goes_on(frame, part)
    }

    fn block_goes_on(&mut self, frame: Frame, part: &[u8]) -> io::Result<()> {
        let Some((stream, ends)) = self.block_of.filter(|(of, _)| *of == frame.stream) else {
            return Err(broken("a header block was cut"));
        };
        if self.block.len() + part.len() > MOST_BLOCK_BYTES {
            return Err(broken("a header block is too long"));
        }
        self.block.extend_from_slice(part);
        if !frame.has(frame::END_HEADERS) {
            return Ok(());
        }
        self.block_of = None;
        let block = std::mem::take(&mut self.block);
        // Whatever it belongs to: both ends keep the same table.
        let come = fields::decode(&mut self.unpacker, &block).map_err(broken)?;
        if self.role == Role::Server && stream > self.stream {
            self.stream = stream;
            self.stream_window = self.first_window;
            self.came_on_stream = 0;
            self.asks_head = come.asks_head;
            self.coming = Coming::Head;
        }
        match self.coming {
            _ if stream != self.stream => Ok(()),
            Coming::Head => self.head_came(&come, ends),
            Coming::Body(_) if ends => self.ended(),
            Coming::Body(_) | Coming::Over => Ok(()),
        }
    }

    fn head_came(&mut self, come: &Come, ends: bool) -> io::Result<()> {
        if come.text.is_empty() {
            return Err(broken("a head has no status"));
        }
        // The answer is still to come.
        if (100..200).contains(&come.status) {
            return Ok(());
        }
        let answers = self.role == Role::Client;
        let bodyless = answers && (self.asks_head || matches!(come.status, 204 | 304));
        self.text.extend_from_slice(&come.text);
        match (ends, come.length) {
            (true, Some(1..)) if !bodyless => return Err(io::ErrorKind::UnexpectedEof.into()),
            (true, None) => self.text.extend_from_slice(b"content-length: 0\r\n"),
            (false, None) if !bodyless => {
                self.text
                    .extend_from_slice(b"transfer-encoding: chunked\r\n");
            }
            _ => {}
        }
        self.text.extend_from_slice(b"\r\n");
        self.coming = match ends {
            true => Coming::Over,
            false => Coming::Body(come.length),
        };
        Ok(())
    }

    fn data_begins(&mut self, frame: Frame) -> io::Result<bool> {
        let padded = usize::from(frame.has(frame::PADDED));
        let here = &self.held[self.held_from..self.held_to];
        if here.len() < HEAD_BYTES + padded {
            return Ok(false);
        }
        let padding = padded * usize::from(here.get(HEAD_BYTES).copied().unwrap_or(0));
        let data = frame.length.checked_sub(padded + padding);
        let data = data.ok_or_else(|| broken("a frame is all padding"))?;
        self.held_from += HEAD_BYTES + padded;
        self.used(frame);
        let Coming::Body(left) = &mut self.coming else {
            // What is left of a request that nobody waits for.
            self.skip_left = data + padding;
            return match frame.stream == self.stream && self.coming == Coming::Head {
                true => Err(broken("a body comes before its head")),
                false => Ok(true),
            };
        };
        if frame.stream != self.stream {
            self.skip_left = data + padding;
            return Ok(true);
        }
        if let Some(left) = left {
            let rest = left.checked_sub(data as u64);
            *left = rest.ok_or_else(|| broken("a body is longer than it said"))?;
        } else if data > 0 {
            self.text
                .extend_from_slice(format!("{data:x}\r\n").as_bytes());
        }
        self.data_left = data;
        self.padding = padding;
        self.data_is_last = frame.has(frame::END_STREAM);
        if data == 0 {
            self.data_came(false)?;
        }
        Ok(true)
    }

    /// A frame of the body has been taken, `some` of it.
    pub(crate) fn data_came(&mut self, some: bool) -> io::Result<()> {
        self.skip_left = self.padding;
        if some && self.coming == Coming::Body(None) {
            self.text.extend_from_slice(b"\r\n");
        }
        match self.data_is_last {
            true => self.ended(),
            false => Ok(()),
        }
    }

    fn ended(&mut self) -> io::Result<()> {
        match std::mem::replace(&mut self.coming, Coming::Over) {
            Coming::Body(Some(1..)) if !self.asks_head => Err(io::ErrorKind::UnexpectedEof.into()),
            Coming::Body(None) if !self.asks_head => {
                self.text.extend_from_slice(b"0\r\n\r\n");
                Ok(())
            }
            _ => Ok(()),
        }
    }

    /// Lets the other end send as much again, now and then.
    fn used(&mut self, frame: Frame) {
        let bytes = frame.length as u32;
        self.came_on_connection += bytes;
        if self.came_on_connection >= REPLENISH_BYTES {
            write_update(0, self.came_on_connection, &mut self.out);
            self.came_on_connection = 0;
        }
        if frame.stream == self.stream && !frame.has(frame::END_STREAM) {
            self.came_on_stream += bytes;
            if self.came_on_stream >= REPLENISH_BYTES {
                write_update(self.stream, self.came_on_stream, &mut self.out);
                self.came_on_stream = 0;
            }
        }
    }
}
