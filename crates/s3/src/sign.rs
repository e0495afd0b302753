//! AWS Signature Version 4 of requests to S3, from Amazon's published
//! description ("Authenticating Requests: Using the Authorization Header").
//!
//! The signing key changes once a day and is kept; a request then costs one
//! SHA-256 of its head and one HMAC.

use ring::{digest, hmac};

use super::credentials::Credentials;
use super::date::Stamp;
use super::encode;

/// Stands for a payload that is not part of the signature.
pub(crate) const UNSIGNED: &[u8] = b"UNSIGNED-PAYLOAD";
/// The same, with a checksum behind the payload.
pub(crate) const UNSIGNED_WITH_TRAILER: &[u8] = b"STREAMING-UNSIGNED-PAYLOAD-TRAILER";
/// Headers that one request carries at most.
const MOST_HEADERS: usize = 16;

/// Headers of a request by lower-case name, sorted as they are signed.
#[derive(Debug, Default)]
pub(crate) struct Headers<'a> {
    list: [(&'a [u8], &'a [u8]); MOST_HEADERS],
    count: usize,
}

impl<'a> Headers<'a> {
    /// Adds a header in its place. More than [`MOST_HEADERS`] are not sent.
    pub(crate) fn add(&mut self, name: &'a [u8], value: &'a [u8]) {
        if self.count == MOST_HEADERS {
            return;
        }
        let mut at = self.count;
        while at > 0 && self.list[at - 1].0 > name {
            self.list[at] = self.list[at - 1];
            at -= 1;
        }
        self.list[at] = (name, value);
        self.count += 1;
    }

    /// The headers in order.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &(&'a [u8], &'a [u8])> {
        self.list[..self.count].iter()
    }
}

/// What is signed besides the headers.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Signed<'a> {
    pub(crate) method: &'a [u8],
    /// Percent-encoded, with slashes.
    pub(crate) path: &'a [u8],
    /// Percent-encoded, sorted by name, each with its `=`.
    pub(crate) query: &'a [u8],
    /// SHA-256 of the payload in hexadecimal, or [`UNSIGNED`].
    pub(crate) payload: &'a [u8],
}

/// Signs for one key in one region.
pub(crate) struct Signer {
    credentials: Credentials,
    region: String,
    service: &'static str,
    day: [u8; 8],
    key: hmac::Key,
    /// `DAY/REGION/SERVICE/aws4_request`
    scope: Vec<u8>,
    canonical: Vec<u8>,
    to_sign: Vec<u8>,
}

impl std::fmt::Debug for Signer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Signer({})", self.region)
    }
}

impl Signer {
    pub(crate) fn new(credentials: &Credentials, region: &str) -> Signer {
        Signer {
            credentials: credentials.clone(),
            region: region.to_owned(),
            service: "s3",
            day: [0; 8],
            key: hmac::Key::new(hmac::HMAC_SHA256, &[]),
            scope: Vec::new(),
            canonical: Vec::with_capacity(1024),
            to_sign: Vec::with_capacity(256),
        }
    }

    /// The session token that goes with the key.
    pub(crate) fn session_token(&self) -> Option<&str> {
        self.credentials.session_token.as_deref()
    }

    /// Appends the `authorization` header of a request whose `headers` (host
    /// and `x-amz-date` among them) are all signed.
    pub(crate) fn sign(
        &mut self,
        what: Signed<'_>,
        headers: &Headers<'_>,
        at: &Stamp,
        out: &mut Vec<u8>,
    ) {
        if self.day != at.day() {
            self.renew(at.day());
        }
        self.write_canonical(what, headers);
        self.to_sign.clear();
        self.to_sign.extend_from_slice(b"AWS4-HMAC-SHA256\n");
        self.to_sign.extend_from_slice(at.text());
        self.to_sign.push(b'\n');
        self.to_sign.extend_from_slice(&self.scope);
        self.to_sign.push(b'\n');
        let hash = digest::digest(&digest::SHA256, &self.canonical);
        encode::hex(&mut self.to_sign, hash.as_ref());
        let signature = hmac::sign(&self.key, &self.to_sign);
        out.extend_from_slice(b"authorization: AWS4-HMAC-SHA256 Credential=");
        out.extend_from_slice(self.credentials.key_id.as_bytes());
        out.push(b'/');
        out.extend_from_slice(&self.scope);
        out.extend_from_slice(b",SignedHeaders=");
        names(headers, out);
        out.extend_from_slice(b",Signature=");
        encode::hex(out, signature.as_ref());
        out.extend_from_slice(b"\r\n");
    }

    fn write_canonical(&mut self, what: Signed<'_>, headers: &Headers<'_>) {
        let text = &mut self.canonical;
        text.clear();
        for part in [what.method, what.path, what.query] {
            text.extend_from_slice(part);
            text.push(b'\n');
        }
        for (name, value) in headers.iter() {
            text.extend_from_slice(name);
            text.push(b':');
            text.extend_from_slice(value);
            text.push(b'\n');
        }
        text.push(b'\n');
        names(headers, text);
        text.push(b'\n');
        text.extend_from_slice(what.payload);
    }

    /// The key of a day.
    fn renew(&mut self, day: [u8; 8]) {
        let derive = |key: &[u8], text: &[u8]| {
            let key = hmac::Key::new(hmac::HMAC_SHA256, key);
            hmac::sign(&key, text)
        };
        let secret = format!("AWS4{}", self.credentials.secret);
        let dated = derive(secret.as_bytes(), &day);
        let placed = derive(dated.as_ref(), self.region.as_bytes());
        let served = derive(placed.as_ref(), self.service.as_bytes());
        let key = derive(served.as_ref(), b"aws4_request");
        self.key = hmac::Key::new(hmac::HMAC_SHA256, key.as_ref());
        self.day = day;
        self.scope.clear();
        self.scope.extend_from_slice(&day);
        for part in [self.region.as_str(), self.service, "aws4_request"] {
            self.scope.push(b'/');
            self.scope.extend_from_slice(part.as_bytes());
        }
    }
}

fn names(headers: &Headers<'_>, out: &mut Vec<u8>) {
    for (at, (name, _)) in headers.iter().enumerate() {
        if at > 0 {
            out.push(b';');
        }
        out.extend_from_slice(name);
    }
}

/// SHA-256 of `payload` in hexadecimal.
#[cfg(test)]
fn payload_hash(payload: &[u8]) -> Vec<u8> {
    let mut text = Vec::with_capacity(64);
    encode::hex(&mut text, digest::digest(&digest::SHA256, payload).as_ref());
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Amazon's own examples ("Signature Calculations: Examples").
    fn signature(
        method: &str,
        (path, query): (&str, &str),
        extra: &[(&str, &str)],
        payload: &[u8],
    ) -> String {
        let credentials = Credentials {
            key_id: "AKIAIOSFODNN7EXAMPLE".to_owned(),
            secret: "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY".to_owned(),
            ..Credentials::default()
        };
        let at = Stamp::of(1_369_353_600);
        let hash = payload_hash(payload);
        let mut headers = Headers::default();
        headers.add(b"x-amz-date", at.text());
        headers.add(b"x-amz-content-sha256", &hash);
        headers.add(b"host", b"examplebucket.s3.amazonaws.com");
        for (name, value) in extra {
            headers.add(name.as_bytes(), value.as_bytes());
        }
        let mut encoded = Vec::new();
        encode::percent(&mut encoded, path.as_bytes(), true);
        let what = Signed {
            method: method.as_bytes(),
            path: &encoded,
            query: query.as_bytes(),
            payload: &hash,
        };
        let mut signer = Signer::new(&credentials, "us-east-1");
        let mut out = Vec::new();
        signer.sign(what, &headers, &at, &mut out);
        let text = String::from_utf8(out).unwrap();
        assert!(text.contains("AKIAIOSFODNN7EXAMPLE/20130524/us-east-1/s3/aws4_request"));
        text.trim_end().rsplit('=').next().unwrap().to_owned()
    }

    #[test]
    fn an_object_with_a_range() {
        assert_eq!(
            signature("GET", ("/test.txt", ""), &[("range", "bytes=0-9")], b""),
            "f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41"
        );
    }

    #[test]
    fn an_object_that_is_put() {
        let extra = [
            ("date", "Fri, 24 May 2013 00:00:00 GMT"),
            ("x-amz-storage-class", "REDUCED_REDUNDANCY"),
        ];
        assert_eq!(
            signature(
                "PUT",
                ("/test$file.text", ""),
                &extra,
                b"Welcome to Amazon S3."
            ),
            "98ad721746da40c64f1a55b78f14c238d841ea1380cd77a1b5971af0ece108bd"
        );
    }

    #[test]
    fn a_query_without_value_and_a_listing() {
        assert_eq!(
            signature("GET", ("/", "lifecycle="), &[], b""),
            "fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543"
        );
        assert_eq!(
            signature("GET", ("/", "max-keys=2&prefix=J"), &[], b""),
            "34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7"
        );
    }

    #[test]
    fn headers_are_sorted_and_bounded() {
        let mut headers = Headers::default();
        for name in [&b"c"[..], b"a", b"b"] {
            headers.add(name, b"");
        }
        let mut out = Vec::new();
        names(&headers, &mut out);
        assert_eq!(out, b"a;b;c");
        for _ in 0..100 {
            headers.add(b"x", b"");
        }
        assert_eq!(headers.iter().count(), MOST_HEADERS);
    }
}
