//! The answer to a request, read as it comes: HTTP/1.1 heads and bodies of
//! known length, in chunks, or until the connection ends (RFC 9112).

use super::checksum::{Checksum, Sum};

/// Bytes that a head has at most.
const MOST_HEAD_BYTES: usize = 64 << 10;
/// Bytes of a line that begins a chunk at most.
const MOST_CHUNK_LINE: usize = 1024;
/// Bytes of a tag, a version or a region at most; S3 knows none longer.
const MOST_NAME_BYTES: usize = 1024;

/// An answer that is no HTTP/1.1.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Malformed(pub(crate) &'static str);

/// How much of the body is still to come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Left {
    /// The head is not complete.
    Head,
    Bytes(u64),
    /// Within a chunk, or before one.
    Chunk(u64),
    ChunkLine,
    /// The line end after a chunk.
    ChunkEnd,
    Trailer,
    UntilClose,
    Nothing,
}

/// One answer under way.
#[derive(Debug)]
pub(crate) struct Response {
    left: Left,
    /// The head, or the line of a chunk, as far as it came.
    held: Vec<u8>,
    /// Status code; 0 before the head is complete.
    pub(crate) status: u16,
    /// The connection ends after this answer.
    pub(crate) closes: bool,
    /// Body bytes that the head announced.
    pub(crate) length: Option<u64>,
    /// `ETag`, without quotes.
    pub(crate) etag: String,
    /// `x-amz-version-id`.
    pub(crate) version: String,
    /// First and last byte of the object that the body is, where the answer says so
    /// (`Content-Range`).
    pub(crate) range: Option<(u64, u64)>,
    /// `x-amz-bucket-region`: where the bucket is.
    pub(crate) region: String,
    /// The answer has a head and no body: that to HEAD.
    without_body: bool,
    /// Checksums are looked at.
    sums: bool,
    /// A checksum of the body under way, and what it should be.
    sum: Option<(Sum, String)>,
}

impl Response {
    pub(crate) fn new() -> Response {
        Response {
            left: Left::Head,
            held: Vec::with_capacity(1024),
            status: 0,
            closes: false,
            length: None,
            etag: String::new(),
            version: String::new(),
            range: None,
            region: String::new(),
            without_body: false,
            sums: false,
            sum: None,
        }
    }

    /// Forgets the last answer.
    pub(crate) fn begin(&mut self, without_body: bool, sums: bool) {
        self.left = Left::Head;
        self.held.clear();
        self.status = 0;
        self.closes = false;
        self.length = None;
        self.etag.clear();
        self.version.clear();
        self.range = None;
        self.region.clear();
        self.without_body = without_body;
        self.sums = sums;
        self.sum = None;
    }

    /// The checksum of a body that came to its end, and what the store says that
    /// it is; `None` where it says nothing, or was not asked.
    pub(crate) fn take_checksums(&mut self) -> Option<(String, String)> {
        let (sum, said) = self.sum.take().filter(|_| self.is_complete())?;
        Some((sum.text(), said))
    }

    /// Whether all of it has come.
    pub(crate) fn is_complete(&self) -> bool {
        self.left == Left::Nothing
    }

    /// Whether the end of the connection is the end of the answer.
    pub(crate) fn ends_with_connection(&self) -> bool {
        self.left == Left::UntilClose
    }

    /// Takes bytes as they come; pieces of the body go to `body`. Gives the
    /// number of bytes that belong to this answer.
    pub(crate) fn take(
        &mut self,
        bytes: &[u8],
        mut to: impl FnMut(u16, &[u8]),
    ) -> Result<usize, Malformed> {
        let mut at = 0;
        let mut body = |response: &mut Response, piece: &[u8]| {
            if let Some((sum, _)) = &mut response.sum {
                sum.update(piece);
            }
            to(response.status, piece);
        };
        while at < bytes.len() {
            let rest = &bytes[at..];
            at += match self.left {
                Left::Nothing => break,
                Left::Head => self.take_head(rest)?,
                Left::Bytes(left) => {
                    let piece = part(rest, left);
                    body(self, piece);
                    self.left = match left - piece.len() as u64 {
                        0 => Left::Nothing,
                        left => Left::Bytes(left),
                    };
                    piece.len()
                }
                Left::UntilClose => {
                    body(self, rest);
                    rest.len()
                }
                Left::Chunk(left) => {
                    let piece = part(rest, left);
                    body(self, piece);
                    self.left = match left - piece.len() as u64 {
                        0 => Left::ChunkEnd,
                        left => Left::Chunk(left),
                    };
                    piece.len()
                }
                Left::ChunkLine | Left::ChunkEnd | Left::Trailer => self.take_line(rest)?,
            };
        }
        Ok(at)
    }

    /// Lines between chunks.
    fn take_line(&mut self, bytes: &[u8]) -> Result<usize, Malformed> {
        let Some(end) = bytes.iter().position(|byte| *byte == b'\n') else {
            self.held.extend_from_slice(bytes);
            return match self.held.len() > MOST_CHUNK_LINE {
                true => Err(Malformed("a chunk begins with too long a line")),
                false => Ok(bytes.len()),
            };
        };
        self.held.extend_from_slice(&bytes[..end]);
        let line = self.held.trim_ascii();
        self.left = match self.left {
            Left::ChunkEnd if line.is_empty() => Left::ChunkLine,
            Left::ChunkEnd => return Err(Malformed("a chunk is longer than it said")),
            Left::Trailer if line.is_empty() => Left::Nothing,
            Left::Trailer => Left::Trailer,
            _ => {
                let number = line.split(|byte| *byte == b';').next().unwrap_or_default();
                let text = std::str::from_utf8(number.trim_ascii()).unwrap_or_default();
                match u64::from_str_radix(text, 16) {
                    Ok(0) => Left::Trailer,
                    Ok(length) => Left::Chunk(length),
                    Err(_) => return Err(Malformed("a chunk has no length")),
                }
            }
        };
        self.held.clear();
        Ok(end + 1)
    }

    fn take_head(&mut self, bytes: &[u8]) -> Result<usize, Malformed> {
        // Most heads come in one piece and need not be kept.
        if self.held.is_empty()
            && let Some(end) = end_of_head(bytes, 0)
        {
            self.read_head(&bytes[..end])?;
            return Ok(end);
        }
        let before = self.held.len();
        self.held.extend_from_slice(bytes);
        let Some(end) = end_of_head(&self.held, before.saturating_sub(3)) else {
            return match self.held.len() > MOST_HEAD_BYTES {
                true => Err(Malformed("the head of the answer has no end")),
                false => Ok(bytes.len()),
            };
        };
        let held = std::mem::take(&mut self.held);
        let read = self.read_head(&held[..end]);
        self.held = held;
        self.held.clear();
        read?;
        Ok(end - before)
    }

    fn read_head(&mut self, head: &[u8]) -> Result<(), Malformed> {
        let mut lines = head.split(|byte| *byte == b'\n').map(<[u8]>::trim_ascii);
        let first = lines.next().unwrap_or_default();
        let (version, rest) = first.split_at_checked(9).unwrap_or_default();
        let status = std::str::from_utf8(rest.get(..3).unwrap_or_default());
        self.status = match (version, status.ok().and_then(|text| text.parse().ok())) {
            (b"HTTP/1.1 ", Some(status)) => status,
            (b"HTTP/1.0 ", Some(status)) => {
                self.closes = true;
                status
            }
            _ => return Err(Malformed("the answer is not HTTP/1.1")),
        };
        let mut chunked = false;
        for line in lines {
            let Some(colon) = line.iter().position(|byte| *byte == b':') else {
                continue;
            };
            let (name, value) = (&line[..colon], line[colon + 1..].trim_ascii());
            self.note(name, value, &mut chunked)?;
        }
        // 1xx announce another head.
        self.left = match (self.status, self.length) {
            (100..=199, _) => Left::Head,
            (204 | 304, _) => Left::Nothing,
            _ if self.without_body => Left::Nothing,
            _ if chunked => Left::ChunkLine,
            (_, Some(0)) => Left::Nothing,
            (_, Some(length)) => Left::Bytes(length),
            (_, None) => Left::UntilClose,
        };
        if self.left == Left::UntilClose {
            self.closes = true;
        }
        // A part of an object is not what its checksum is of.
        if self.status != 200 {
            self.sum = None;
        }
        if self.left == Left::Head {
            self.status = 0;
            self.length = None;
        }
        Ok(())
    }

    fn note(&mut self, name: &[u8], value: &[u8], chunked: &mut bool) -> Result<(), Malformed> {
        let short = value.len() <= MOST_NAME_BYTES;
        let is = |word: &str| name.eq_ignore_ascii_case(word.as_bytes());
        match name.len() {
            14 if is("content-length") => {
                let text = std::str::from_utf8(value).unwrap_or_default();
                let length = text
                    .parse()
                    .map_err(|_| Malformed("the length is not a number"))?;
                self.length = Some(length);
            }
            17 if is("transfer-encoding") => {
                *chunked = value.to_ascii_lowercase().ends_with(b"chunked");
            }
            10 if is("connection") => {
                let value = value.to_ascii_lowercase();
                self.closes = match value.as_slice() {
                    b"close" => true,
                    b"keep-alive" => false,
                    _ => self.closes,
                };
            }
            13 if is("content-range") => self.range = range(value),
            4 if is("etag") && short => {
                let value = value.strip_prefix(b"\"").unwrap_or(value);
                let value = value.strip_suffix(b"\"").unwrap_or(value);
                self.etag.push_str(&String::from_utf8_lossy(value));
            }
            16 if is("x-amz-version-id") && short => {
                self.version.push_str(&String::from_utf8_lossy(value));
            }
            19 if is("x-amz-bucket-region") && short => {
                self.region.push_str(&String::from_utf8_lossy(value));
            }
            // Those of parts, put together (`SUM-PARTS`), are not of the bytes.
            19..=24 if self.sums && self.sum.is_none() && !value.contains(&b'-') => {
                let said = String::from_utf8_lossy(value).into_owned();
                self.sum = Checksum::of_header(name).map(|kind| (Sum::new(kind), said));
            }
            _ => {}
        }
        Ok(())
    }
}

/// First and last byte of `bytes 0-99/1000`.
fn range(value: &[u8]) -> Option<(u64, u64)> {
    let text = std::str::from_utf8(value).ok()?;
    let (unit, range) = text.split_once(' ')?;
    let (first, last) = range.split_once('/')?.0.split_once('-')?;
    let is_bytes = unit.eq_ignore_ascii_case("bytes");
    is_bytes.then_some((first.trim().parse().ok()?, last.trim().parse().ok()?))
}

fn part(bytes: &[u8], left: u64) -> &[u8] {
    let most = usize::try_from(left).unwrap_or(usize::MAX);
    &bytes[..bytes.len().min(most)]
}

/// Where the head ends, after its empty line.
fn end_of_head(bytes: &[u8], from: usize) -> Option<usize> {
    let tail = bytes.get(from..)?;
    let at = tail.windows(4).position(|window| window == b"\r\n\r\n")?;
    Some(from + at + 4)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Reads `bytes` in pieces; status, body and what was left over.
    fn read(bytes: &[u8], piece: usize) -> Result<(u16, Vec<u8>, usize), Malformed> {
        let mut response = Response::new();
        let (mut body, mut used) = (Vec::new(), 0);
        for piece in bytes.chunks(piece.max(1)) {
            used += response.take(piece, |_, part| body.extend_from_slice(part))?;
            if response.is_complete() {
                break;
            }
        }
        Ok((response.status, body, bytes.len() - used))
    }

    #[test]
    fn the_range_of_a_part_is_read() {
        assert_eq!(range(b"bytes 10-19/100"), Some((10, 19)));
        assert_eq!(range(b"Bytes 0-0/*"), Some((0, 0)));
        for other in [
            &b"bytes */100"[..],
            b"10-19/100",
            b"lines 1-2/3",
            b"bytes 1-x/3",
            b"",
        ] {
            assert_eq!(range(other), None);
        }
    }

    #[test]
    fn answers_are_read_in_pieces_of_any_size() {
        let plain = b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nETag: \"abc\"\r\n\r\nhelloHTTP";
        let chunked = b"HTTP/1.1 503 Slow Down\r\ntransfer-encoding: chunked\r\n\r\n\
            3;x=y\r\nabc\r\n2\r\nde\r\n0\r\nTrailer: x\r\n\r\n";
        let continued = b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 204 No Content\r\n\r\n";
        for piece in 1..100 {
            let (status, body, _) = read(plain, piece).unwrap();
            assert_eq!((status, body.as_slice()), (200, &b"hello"[..]), "{piece}");
            let (status, body, left) = read(chunked, piece).unwrap();
            assert_eq!((status, body.as_slice(), left), (503, &b"abcde"[..], 0));
            assert_eq!(read(continued, piece).unwrap().0, 204);
        }
        assert_eq!(read(plain, 1000).unwrap().2, 4, "the next answer is left");
    }

    #[test]
    fn facts_of_the_head_are_kept() {
        let mut response = Response::new();
        let head = b"HTTP/1.1 200 OK\r\nETag: \"abc\"\r\nx-amz-version-id: v1\r\n\
            connection: close\r\ncontent-length: 7\r\n\r\n";
        response.begin(true, false);
        response.take(head, |_, _| {}).unwrap();
        assert!(response.is_complete() && response.closes);
        assert_eq!(
            (response.etag.as_str(), response.version.as_str()),
            ("abc", "v1")
        );
        assert_eq!(response.length, Some(7));
        response.begin(false, false);
        response
            .take(b"HTTP/1.1 200 OK\r\n\r\nuntil", |_, _| {})
            .unwrap();
        assert!(response.ends_with_connection());
    }

    #[test]
    fn what_is_no_answer_is_refused() {
        for bytes in [
            &b"SSH-2.0-OpenSSH\r\n\r\n"[..],
            b"HTTP/1.1 200 OK\r\ncontent-length: -1\r\n\r\n",
            b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n",
            b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n1\r\nab\r\n",
        ] {
            assert!(read(bytes, 1000).is_err());
            assert!(read(bytes, 1).is_err());
        }
        assert!(read(&vec![b'x'; MOST_HEAD_BYTES + 2], 4096).is_err());
    }

    proptest! {
        #[test]
        fn nothing_makes_it_fall(bytes: Vec<u8>, piece in 1usize..50) {
            let mut all = b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n".to_vec();
            all.extend_from_slice(&bytes);
            let _ = read(&all, piece);
            let _ = read(&bytes, piece);
        }
    }
}
