//! Frames as they stand on the wire (RFC 9113, section 4 and 6).

/// What a client sends first.
pub(in crate::object) const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

/// Bytes in front of each frame's payload.
pub(super) const HEAD_BYTES: usize = 9;
/// Bytes of a payload that either end may send unless it was told more.
pub(super) const MOST_FRAME_BYTES: usize = 16_384;

pub(super) const DATA: u8 = 0;
pub(super) const HEADERS: u8 = 1;
pub(super) const RST_STREAM: u8 = 3;
pub(super) const SETTINGS: u8 = 4;
pub(super) const PUSH_PROMISE: u8 = 5;
pub(super) const PING: u8 = 6;
pub(super) const GOAWAY: u8 = 7;
pub(super) const WINDOW_UPDATE: u8 = 8;
pub(super) const CONTINUATION: u8 = 9;

pub(super) const ACK: u8 = 1;
pub(super) const END_STREAM: u8 = 1;
pub(super) const END_HEADERS: u8 = 4;
pub(super) const PADDED: u8 = 8;
pub(super) const PRIORITY: u8 = 0x20;

pub(super) const ENABLE_PUSH: u16 = 2;
pub(super) const INITIAL_WINDOW_SIZE: u16 = 4;
pub(super) const MAX_FRAME_SIZE: u16 = 5;

/// The head of a frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Frame {
    /// Bytes of payload.
    pub(super) length: usize,
    pub(super) kind: u8,
    pub(super) flags: u8,
    /// 0: the connection.
    pub(super) stream: u32,
}

impl Frame {
    /// The head that `bytes` begin with, once it is there.
    pub(super) fn read(bytes: &[u8]) -> Option<Frame> {
        let head = bytes.first_chunk::<HEAD_BYTES>()?;
        Some(Frame {
            length: usize::from(head[0]) << 16 | usize::from(head[1]) << 8 | usize::from(head[2]),
            kind: head[3],
            flags: head[4],
            stream: u32::from_be_bytes([head[5] & 0x7f, head[6], head[7], head[8]]),
        })
    }

    /// Appends the head.
    pub(super) fn write(self, out: &mut Vec<u8>) {
        let length = (self.length as u32).to_be_bytes();
        out.extend_from_slice(&length[1..]);
        out.extend_from_slice(&[self.kind, self.flags]);
        out.extend_from_slice(&self.stream.to_be_bytes());
    }

    pub(super) fn has(self, flag: u8) -> bool {
        self.flags & flag != 0
    }
}

/// Appends a whole frame.
pub(super) fn write(kind: u8, flags: u8, stream: u32, payload: &[u8], out: &mut Vec<u8>) {
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
pub(super) fn write_settings(settings: &[(u16, u32)], out: &mut Vec<u8>) {
    let mut payload = Vec::with_capacity(settings.len() * 6);
    for (name, value) in settings {
        payload.extend_from_slice(&name.to_be_bytes());
        payload.extend_from_slice(&value.to_be_bytes());
    }
    write(SETTINGS, 0, 0, &payload, out);
}

/// The settings of a payload.
pub(super) fn settings(payload: &[u8]) -> impl Iterator<Item = (u16, u32)> + '_ {
    payload.chunks_exact(6).map(|one| {
        (
            u16::from_be_bytes([one[0], one[1]]),
            u32::from_be_bytes([one[2], one[3], one[4], one[5]]),
        )
    })
}

/// The number that a payload begins with, without its highest bit.
pub(super) fn number(payload: &[u8]) -> Option<u32> {
    let bytes = payload.first_chunk::<4>()?;
    Some(u32::from_be_bytes(*bytes) & 0x7fff_ffff)
}
