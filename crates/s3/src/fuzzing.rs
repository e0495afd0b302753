//! What the fuzz targets reach of the answers of object stores.

use super::answer::{Complaint, error_codes, upload_id};
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
