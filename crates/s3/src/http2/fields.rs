//! Heads of HTTP/1.1 as header blocks, and back (RFC 7541; RFC 9113, section 8).

use super::unpack::Unpacker;

/// Entries of the static table that stand for a name and its value.
const GET: u8 = 0x82;
const POST: u8 = 0x83;
const SCHEME_HTTP: u8 = 0x86;
const SCHEME_HTTPS: u8 = 0x87;
const STATUS_200: u8 = 0x88;
/// Literals that are not to be kept, whose names are entries of the static table.
const AUTHORITY: u8 = 0x01;
const METHOD: u8 = 0x02;
const PATH: u8 = 0x04;
const STATUS: u8 = 0x08;
/// The same with a name of its own; and one that nobody on the way may keep.
const LITERAL: u8 = 0x00;
const NEVER_KEPT: u8 = 0x10;

/// What a head says of its body.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Written {
    /// Bytes of body that follow.
    pub(crate) body_bytes: u64,
    /// It asks for an answer without a body.
    pub(crate) asks_head: bool,
}

/// A head that came.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Come {
    /// As HTTP/1.1 has it, without the empty line at its end.
    pub(crate) text: Vec<u8>,
    /// Of an answer; 0 for a request.
    pub(crate) status: u16,
    /// Bytes that it announces.
    pub(crate) length: Option<u64>,
    /// A request for an answer without a body.
    pub(crate) asks_head: bool,
}

/// Appends the block of a head; `None` when it is none.
pub(crate) fn encode(head: &[u8], tls: bool, out: &mut Vec<u8>) -> Option<Written> {
    let mut lines = head.split(|byte| *byte == b'\n').map(<[u8]>::trim_ascii);
    let first = lines.next()?;
    let mut words = first.splitn(3, |byte| *byte == b' ');
    let (one, two) = (words.next()?, words.next()?);
    let answers = one.starts_with(b"HTTP/");
    match (answers, one, two) {
        (true, _, b"200") => out.push(STATUS_200),
        (true, ..) => literal(STATUS, two, out),
        (false, method, path) => {
            match method {
                b"GET" => out.push(GET),
                b"POST" => out.push(POST),
                _ => literal(METHOD, method, out),
            }
            literal(PATH, path, out);
            out.push(if tls { SCHEME_HTTPS } else { SCHEME_HTTP });
        }
    }
    let mut body_bytes = 0;
    // Those that were named above come before all others.
    let mut rest = Vec::with_capacity(512);
    for line in lines.filter(|line| !line.is_empty()) {
        let colon = line.iter().position(|byte| *byte == b':')?;
        let (name, value) = (line[..colon].to_ascii_lowercase(), &line[colon + 1..]);
        let value = value.trim_ascii();
        match name.as_slice() {
            b"host" if !answers => literal(AUTHORITY, value, out),
            // What is said of one connection has no place here.
            b"connection" | b"transfer-encoding" | b"keep-alive" => {}
            _ => {
                if name == b"content-length" {
                    body_bytes = std::str::from_utf8(value).ok()?.parse().ok()?;
                }
                let kept = match name.as_slice() {
                    b"authorization" | b"x-amz-security-token" => NEVER_KEPT,
                    _ => LITERAL,
                };
                rest.push(kept);
                string(&name, &mut rest);
                string(value, &mut rest);
            }
        }
    }
    out.extend_from_slice(&rest);
    Some(Written {
        body_bytes: match answers && matches!(two, b"204" | b"304") {
            true => 0,
            false => body_bytes,
        },
        asks_head: one == b"HEAD",
    })
}

fn literal(name: u8, value: &[u8], out: &mut Vec<u8>) {
    out.push(name);
    string(value, out);
}

/// A string as it is, its length before it.
fn string(bytes: &[u8], out: &mut Vec<u8>) {
    const PREFIX: usize = 0x7f;
    if bytes.len() < PREFIX {
        out.push(bytes.len() as u8);
    } else {
        out.push(PREFIX as u8);
        let mut left = bytes.len() - PREFIX;
        while left >= 0x80 {
            out.push(left as u8 | 0x80);
            left >>= 7;
        }
        out.push(left as u8);
    }
    out.extend_from_slice(bytes);
}

/// The head that a block stands for.
///
/// # Errors
/// What is wrong with it.
pub(crate) fn decode(unpacker: &mut Unpacker, block: &[u8]) -> Result<Come, &'static str> {
    let fields = unpacker.unpack(block);
    let fields = fields.ok_or("a header block cannot be read")?;
    let mut come = Come {
        text: Vec::with_capacity(512),
        status: 0,
        length: None,
        asks_head: false,
    };
    let of = |wanted: &[u8]| {
        let found = fields.iter().find(|(name, _)| name == wanted);
        found.map(|(_, value)| value.as_slice())
    };
    match (of(b":status"), of(b":method"), of(b":path")) {
        (Some(status), ..) => {
            let text = std::str::from_utf8(status).unwrap_or_default();
            come.status = text.parse().map_err(|_| "a status is no number")?;
            come.text.extend_from_slice(b"HTTP/1.1 ");
            come.text.extend_from_slice(status);
            come.text.extend_from_slice(b" -\r\n");
        }
        (None, Some(method), Some(path)) => {
            come.asks_head = method == b"HEAD";
            let host = of(b":authority").unwrap_or_default();
            for part in [method, b" ", path, b" HTTP/1.1\r\nhost: ", host, b"\r\n"] {
                come.text.extend_from_slice(part);
            }
        }
        // Trailers.
        _ => return Ok(come),
    }
    for (name, value) in fields.iter().filter(|(name, _)| !name.starts_with(b":")) {
        if has_line_end(name) || has_line_end(value) {
            return Err("a header has a line's end");
        }
        if name == b"content-length" {
            let text = std::str::from_utf8(value).unwrap_or_default();
            come.length = Some(text.parse().map_err(|_| "the length is no number")?);
        }
        for part in [name.as_slice(), b": ", value, b"\r\n"] {
            come.text.extend_from_slice(part);
        }
    }
    Ok(come)
}

fn has_line_end(bytes: &[u8]) -> bool {
    bytes.iter().any(|byte| matches!(byte, b'\r' | b'\n'))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn there_and_back(head: &[u8]) -> (Written, Come) {
        let mut block = Vec::new();
        let written = encode(head, true, &mut block).unwrap();
        (written, decode(&mut Unpacker::default(), &block).unwrap())
    }

    #[test]
    fn requests_come_as_they_were_written() {
        let long = "x".repeat(5000);
        let head = format!(
            "PUT /a?b HTTP/1.1\r\nhost: h:1\r\nauthorization: {long}\r\nContent-Length: 7\r\n\
             connection: close\r\n\r\n"
        );
        let (written, come) = there_and_back(head.as_bytes());
        assert_eq!(written.body_bytes, 7);
        let text = String::from_utf8(come.text).unwrap();
        let wanted = format!(
            "PUT /a?b HTTP/1.1\r\nhost: h:1\r\nauthorization: {long}\r\ncontent-length: 7\r\n"
        );
        assert_eq!(text, wanted);
        assert_eq!((come.length, come.status), (Some(7), 0));
        let (written, come) = there_and_back(b"HEAD / HTTP/1.1\r\nhost: h\r\n\r\n");
        assert!(written.asks_head && come.asks_head);
    }

    #[test]
    fn answers_come_as_they_were_written() {
        let (written, come) = there_and_back(b"HTTP/1.1 503 Slow\r\ncontent-length: 2\r\n\r\n");
        assert_eq!((written.body_bytes, come.status), (2, 503));
        assert_eq!(come.text, b"HTTP/1.1 503 -\r\ncontent-length: 2\r\n");
        let (written, _) = there_and_back(b"HTTP/1.1 304 x\r\ncontent-length: 2\r\n\r\n");
        assert_eq!(written.body_bytes, 0);
    }

    proptest! {
        #[test]
        fn nothing_makes_it_fall(block: Vec<u8>, head: Vec<u8>) {
            let _ = decode(&mut Unpacker::default(), &block);
            let _ = encode(&head, false, &mut Vec::new());
        }
    }
}
