//! Frames as they stand on the wire (RFC 9113, section 4 and 6).

/// What a client sends first.
pub(crate) const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

/// Bytes in front of each frame's payload.
pub(crate) const HEAD_BYTES: usize = 9;
/// Bytes of a payload that either end may send unless it was told more.
pub(crate) const MOST_FRAME_BYTES: usize = 16_384;

pub(crate) const DATA: u8 = 0;
pub(crate) const HEADERS: u8 = 1;
pub(crate) const RST_STREAM: u8 = 3;
pub(crate) const SETTINGS: u8 = 4;
pub(crate) const PUSH_PROMISE: u8 = 5;
pub(crate) const PING: u8 = 6;
pub(crate) const GOAWAY: u8 = 7;
pub(crate) const WINDOW_UPDATE: u8 = 8;
pub(crate) const CONTINUATION: u8 = 9;

pub(crate) const ACK: u8 = 1;
pub(crate) const END_STREAM: u8 = 1;
pub(crate) const END_HEADERS: u8 = 4;
pub(crate) const PADDED: u8 = 8;
pub(crate) const PRIORITY: u8 = 0x20;

pub(crate) const ENABLE_PUSH: u16 = 2;
pub(crate) const INITIAL_WINDOW_SIZE: u16 = 4;
pub(crate) const MAX_FRAME_SIZE: u16 = 5;

/// The head of a frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Frame {
    /// Bytes of payload.
    pub(crate) length: usize,
    pub(crate) kind: u8,
    pub(crate) flags: u8,
    /// 0: the connection.
    pub(crate) stream: u32,
}

impl Frame {
    /// The head that `bytes` begin with, once it is there.
    pub(crate) fn read(bytes: &[u8]) -> Option<Frame> {
        let head = bytes.first_chunk::<HEAD_BYTES>()?;
        Some(Frame {
            length: usize::from(head[0]) << 16 | usize::from(head[1]) << 8 | usize::from(head[2]),
            kind: head[3],
            flags: head[4],
            stream: u32::from_be_bytes([head[5] & 0x7f, head[6], head[7], head[8]]),
        })
    }

    /// Appends the head.
    pub(crate) fn write(self, out: &mut Vec<u8>) {
        let length = (self.length as u32).to_be_bytes();
        out.extend_from_slice(&length[1..]);
        out.extend_from_slice(&[self.kind, self.flags]);
        out.extend_from_slice(&self.stream.to_be_bytes());
    }

    pub(crate) fn has(self, flag: u8) -> bool {
        self.flags & flag != 0
    }
}

/// Appends a whole frame.
pub(crate) fn write(kind: u8, flags: u8, stream: u32, payload: &[u8], out: &mut Vec<u8>) {
    let length = payload.len();
    Frame {
        length,
        kind,
        flags,
        stream,
    }
    .write(out);
    out.extend_from_slice(payload);
}

/// Appends settings.
pub(crate) fn write_settings(settings: &[(u16, u32)], out: &mut Vec<u8>) {
    let mut payload = Vec::with_capacity(settings.len() * 6);
    for (name, value) in settings {
        payload.extend_from_slice(&name.to_be_bytes());
        payload.extend_from_slice(&value.to_be_bytes());
    }
    write(SETTINGS, 0, 0, &payload, out);
}

/// The settings of a payload.
pub(crate) fn settings(payload: &[u8]) -> impl Iterator<Item = (u16, u32)> + '_ {
    payload.chunks_exact(6).map(|one| {
        (
            u16::from_be_bytes([one[0], one[1]]),
            u32::from_be_bytes([one[2], one[3], one[4], one[5]]),
        )
    })
}

/// The number that a payload begins with, without its highest bit.
pub(crate) fn number(payload: &[u8]) -> Option<u32> {
    let bytes = payload.first_chunk::<4>()?;
    Some(u32::from_be_bytes(*bytes) & 0x7fff_ffff)
}
