//! What the fuzz targets reach of the answers of object stores.

use std::io::{self, IoSlice, Read, Write};

use super::answer::{Complaint, error_codes, upload_id};
use super::http2::{Role, Session};
use super::page::{Listed, NextPage, Page};
use super::response::Response;

/// Reads an answer in pieces of a size, with and without a body, and looks at the
/// result as the engine does.
///
/// # Panics
/// The answer depends on how it was cut into pieces, or more was used than came.
pub fn read_reply(bytes: &[u8], piece: usize, without_body: bool) {
    let whole = taken(bytes, bytes.len(), without_body);
    let parts = taken(bytes, piece, without_body);
    // Limits of lengths are looked at where a piece ends.
    if let (Ok(whole), Ok(parts)) = (&whole, &parts) {
        assert_eq!(whole, parts, "an answer in pieces of {piece} bytes");
    }
}

/// Status, body, and the number of bytes that are of the answer.
type Taken = (u16, Vec<u8>, usize);

fn taken(bytes: &[u8], piece: usize, without_body: bool) -> Result<Taken, &'static str> {
    let mut response = Response::new();
    response.begin(without_body, true);
    let (mut body, mut used) = (Vec::new(), 0);
    for part in bytes.chunks(piece.max(1)) {
        let now = response
            .take(part, |_, piece| body.extend_from_slice(piece))
            .map_err(|malformed| malformed.0)?;
        assert!(now <= part.len(), "more than what came");
        used += now;
        if response.is_complete() {
            break;
        }
    }
    let _ = (response.take_checksums(), response.ends_with_connection());
    Ok((response.status, body, used))
}

/// A connection on which these bytes come, in pieces, whatever is sent.
struct Wire<'a> {
    bytes: &'a [u8],
    piece: usize,
}

impl Read for Wire<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let most = self.bytes.len().min(self.piece).min(buffer.len());
        let (now, rest) = self.bytes.split_at(most);
        buffer[..most].copy_from_slice(now);
        self.bytes = rest;
        Ok(most)
    }
}

impl Write for Wire<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Asks for an object and sends one over HTTP/2, and reads the answers.
pub fn read_http2(bytes: &[u8], piece: usize) {
    let mut wire = Wire {
        bytes,
        piece: piece.max(1),
    };
    let mut session = Session::new(Role::Client, false);
    let get = b"GET /b/k HTTP/1.1\r\nhost: a\r\n\r\n".as_slice();
    let put = b"PUT /b/k HTTP/1.1\r\nhost: a\r\ncontent-length: 70000\r\n\r\n".as_slice();
    let body = vec![7; 70_000];
    for (head, body) in [(get, &[][..]), (put, &body)] {
        if !sent(&mut session, &mut wire, head, body) || !answered(&mut session, &mut wire) {
            break;
        }
    }
}

fn sent(session: &mut Session, wire: &mut Wire<'_>, head: &[u8], body: &[u8]) -> bool {
    let (mut head, mut body) = (head, body);
    while !head.is_empty() || !body.is_empty() {
        let pieces = [IoSlice::new(head), IoSlice::new(body)];
        let Ok(taken) = session.send(&pieces, wire) else {
            return false;
        };
        let of_head = taken.min(head.len());
        head = &head[of_head..];
        body = &body[taken - of_head..];
    }
    true
}

fn answered(session: &mut Session, wire: &mut Wire<'_>) -> bool {
    let mut response = Response::new();
    response.begin(false, true);
    let mut buffer = [0; 4096];
    while !response.is_complete() {
        let Ok(got @ 1..) = session.receive(&mut buffer, wire) else {
            return false;
        };
        if response.take(&buffer[..got], |_, _| {}).is_err() {
            return false;
        }
    }
    !session.is_leaving()
}

/// Reads a listing, a refusal, and what became of uploads and removals.
///
/// # Panics
/// Where the next page begins depends on whether the entries are read.
pub fn read_xml(document: &[u8]) {
    let token = NextPage::token_behind(document);
    for what in [Listed::Objects, Listed::Versions, Listed::Uploads] {
        if let (Ok(page), Ok(token)) = (Page::read(document, what), &token) {
            let next = page.next.map(|next| next.token);
            assert_eq!(next, *token, "where a page of {} ends", what.name());
        }
    }
    let _ = (
        Complaint::read(document),
        error_codes(document),
        upload_id(document),
    );
}
