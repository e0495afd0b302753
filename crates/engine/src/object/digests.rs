//! Hashes and checksums of what is sent, computed before a request is started.

use fathom_model::workload::ObjectChecksum;

use super::checksum::Sum;
use super::content::Contents;
use super::encode;
use super::request::{Body, Method, Request};

/// SHA-256 of a body in hexadecimal, for a signature.
pub(super) fn payload_hash(body: &Body, contents: &Contents) -> Vec<u8> {
    let mut digest = ring::digest::Context::new(&ring::digest::SHA256);
    match body {
        Body::None => {}
        Body::Bytes(bytes) => digest.update(bytes),
        Body::Content { object, at, length } => {
            contents.each(*object, *at, *length, |piece| digest.update(piece));
        }
    }
    let mut text = Vec::with_capacity(64);
    encode::hex(&mut text, digest.finish().as_ref());
    text
}

/// The checksum of an object, or of a part of one, that is put; `None` for every
/// other request.
pub(super) fn checksum(
    kind: ObjectChecksum,
    request: &Request<'_>,
    contents: &Contents,
) -> Option<String> {
    let Body::Content { object, at, length } = &request.body else {
        return None;
    };
    if request.method != Method::Put {
        return None;
    }
    let mut sum = Sum::new(kind);
    contents.each(*object, *at, *length, |piece| sum.update(piece));
    Some(sum.text())
}
