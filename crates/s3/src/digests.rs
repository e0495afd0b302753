//! Hashes and checksums of what is sent, computed before a request is started.

use super::checksum::{Checksum, Sum};
use super::encode;
use super::payload::Payload;
use super::request::{Body, Method, Request};

/// SHA-256 of a body in hexadecimal, for a signature.
pub(crate) fn payload_hash(body: &Body, payload: &dyn Payload) -> Vec<u8> {
    let mut digest = ring::digest::Context::new(&ring::digest::SHA256);
    match body {
        Body::None => {}
        Body::Bytes(bytes) => digest.update(bytes),
        Body::Content { object, at, length } => {
            payload.each(*object, *at, *length, &mut |piece| digest.update(piece));
        }
    }
    let mut text = Vec::with_capacity(64);
    encode::hex(&mut text, digest.finish().as_ref());
    text
}

/// The checksum of an object, or of a part of one, that is put; `None` for every
/// other request.
pub(crate) fn checksum(
    kind: Checksum,
    request: &Request<'_>,
    payload: &dyn Payload,
) -> Option<String> {
    let Body::Content { object, at, length } = &request.body else {
        return None;
    };
    if request.method != Method::Put {
        return None;
    }
    let mut sum = Sum::new(kind);
    payload.each(*object, *at, *length, &mut |piece| sum.update(piece));
    Some(sum.text())
}
