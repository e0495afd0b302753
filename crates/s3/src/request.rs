//! A request and how it is written.

use super::checksum::Checksum;
use super::credentials::Credentials;
use super::date::Stamp;
use super::encode;
use super::endpoint::Endpoint;
use super::framing::Framing;
use super::settings::{Protocol, Settings};
use super::sign::{Headers, Signed, Signer, UNSIGNED, UNSIGNED_WITH_TRAILER};

/// What is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Method {
    /// Read.
    Get,
    /// Write.
    Put,
    /// Carry out.
    Post,
    /// Read the head of the answer only.
    Head,
    /// Remove.
    Delete,
}

impl Method {
    pub(crate) fn text(self) -> &'static [u8] {
        match self {
            Method::Get => b"GET",
            Method::Put => b"PUT",
            Method::Post => b"POST",
            Method::Head => b"HEAD",
            Method::Delete => b"DELETE",
        }
    }
}

/// What is sent with a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Body {
    /// Nothing.
    None,
    /// These bytes.
    Bytes(Vec<u8>),
    /// A run of the payload of an object.
    Content {
        /// The number of the object.
        object: u64,
        /// Where the run begins.
        at: u64,
        /// Its bytes.
        length: u64,
    },
}

impl Body {
    /// Bytes that it has.
    pub fn length(&self) -> u64 {
        match self {
            Body::None => 0,
            Body::Bytes(bytes) => bytes.len() as u64,
            Body::Content { length, .. } => *length,
        }
    }
}

/// What becomes of the body of an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sink {
    /// Read to its end and forgotten.
    Discard,
    /// Kept until the next request.
    Keep,
    /// Compared with the payload of an object from a place on, and with the
    /// checksum that the store says.
    Check {
        /// The number of the object.
        object: u64,
        /// Where the answer begins in it.
        at: u64,
    },
    /// Compared with the checksum that the store says, if it does.
    Sum,
}

/// A request, all but its connection.
#[derive(Debug)]
pub struct Request<'a> {
    /// What is done.
    pub method: Method,
    /// Percent-encoded.
    pub path: &'a [u8],
    /// Percent-encoded, sorted, each with its `=`.
    pub query: &'a [u8],
    /// Headers beside the usual ones; lower-case names.
    pub extra: &'a [(&'a [u8], &'a [u8])],
    /// What is sent with it.
    pub body: Body,
    /// What becomes of the body of the answer.
    pub sink: Sink,
}

impl Request<'_> {
    /// Whether the answer is compared with the checksum of the object.
    fn asks_for_checksum(&self) -> bool {
        let whole = !self.extra.iter().any(|(name, _)| *name == b"range");
        whole && self.method == Method::Get && matches!(self.sink, Sink::Check { .. } | Sink::Sum)
    }
}

/// Writes the heads of requests to one store.
#[derive(Debug)]
pub(crate) struct Writer {
    protocol: Protocol,
    signer: Option<Signer>,
    /// Bucket in front of the host's name.
    host_prefix: Option<String>,
    token: Option<String>,
    /// User and password, as HTTP sends them.
    basic: Option<String>,
    wishes: Wishes,
    sign_payload: bool,
    checksum: Option<Checksum>,
    trailing: bool,
    closes: bool,
    stamp: Stamp,
    host: Vec<u8>,
}

/// What objects are asked for when they are put or read.
#[derive(Debug)]
struct Wishes {
    storage_class: Option<String>,
    /// Algorithm, key and checksum of a customer's encryption.
    encryption: Option<[String; 3]>,
}

impl Wishes {
    /// Adds the headers that a request for an object has.
    fn add<'a>(&'a self, request: &Request<'_>, headers: &mut Headers<'a>) {
        let whole = request.query.is_empty() || request.query.starts_with(b"versionId=");
        let puts = request.method == Method::Put && request.query.is_empty();
        if let Some(class) = self.storage_class.as_ref().filter(|_| puts) {
            headers.add(b"x-amz-storage-class", class.as_bytes());
        }
        let reads = request.method == Method::Get && whole;
        if let Some([algorithm, key, sum]) = self.encryption.as_ref().filter(|_| puts || reads) {
            let name = |end| -> &'static [u8] {
                match end {
                    0 => b"x-amz-server-side-encryption-customer-algorithm",
                    1 => b"x-amz-server-side-encryption-customer-key",
                    _ => b"x-amz-server-side-encryption-customer-key-md5",
                }
            };
            headers.add(name(0), algorithm.as_bytes());
            headers.add(name(1), key.as_bytes());
            headers.add(name(2), sum.as_bytes());
        }
    }
}

impl Writer {
    pub(crate) fn new(store: &Settings, credentials: Option<&Credentials>, bucket: &str) -> Writer {
        let s3 = store.protocol == Protocol::S3;
        let key = credentials.and_then(|c| c.sse_customer_key.as_deref());
        let algorithm = store.sse_customer_algorithm.as_ref().filter(|_| s3);
        Writer {
            protocol: store.protocol,
            signer: credentials
                .filter(|_| s3)
                .map(|credentials| Signer::new(credentials, &store.region)),
            host_prefix: store.virtual_host.then(|| format!("{bucket}.")),
            token: credentials
                .filter(|_| store.protocol == Protocol::Swift)
                .and_then(|credentials| credentials.session_token.clone()),
            basic: credentials
                .filter(|_| store.protocol == Protocol::Webdav)
                .map(|keys| format!("{}:{}", keys.key_id, keys.secret))
                .map(|pair| format!("Basic {}", encode::base64(pair.as_bytes()))),
            wishes: Wishes {
                storage_class: store.storage_class.clone().filter(|_| s3),
                encryption: key.zip(algorithm).map(|(key, algorithm)| {
                    let sum = super::md5::md5(key.as_bytes());
                    [
                        algorithm.clone(),
                        encode::base64(key.as_bytes()),
                        encode::base64(&sum),
                    ]
                }),
            },
            sign_payload: store.sign_payload,
            checksum: store.checksum.filter(|_| s3),
            trailing: store.checksum_trailing,
            closes: store.no_keep_alive,
            stamp: Stamp::now(),
            host: Vec::new(),
        }
    }

    /// Whether the hash of the payload is part of what is signed.
    pub(crate) fn hashes_payload(&self) -> bool {
        self.sign_payload && self.signer.is_some()
    }

    /// The checksum that what is put is sent with.
    pub(crate) fn checksum(&self) -> Option<Checksum> {
        self.checksum
    }

    /// What is around a payload whose checksum follows it.
    pub(crate) fn framing(&self, payload_bytes: u64, sum: Option<&str>) -> Option<Framing> {
        let (kind, sum) = self.checksum.filter(|_| self.trailing).zip(sum)?;
        Some(Framing::new(payload_bytes, kind, sum))
    }

    /// Writes the head of `request` to `endpoint`: with the hash of the payload
    /// in hexadecimal, where it is signed, and with its checksum, where the store
    /// is to compare one and it does not follow.
    pub(crate) fn write(
        &mut self,
        request: &Request<'_>,
        endpoint: &Endpoint,
        (hash, checksum, framing): (Option<&[u8]>, Option<&str>, Option<&Framing>),
        out: &mut Vec<u8>,
    ) {
        out.clear();
        self.stamp = self.stamp.again();
        self.host.clear();
        if let Some(prefix) = &self.host_prefix {
            self.host.extend_from_slice(prefix.as_bytes());
        }
        self.host.extend_from_slice(endpoint.authority.as_bytes());
        let payload = match framing {
            Some(_) => UNSIGNED_WITH_TRAILER,
            None => hash.unwrap_or(UNSIGNED),
        };
        let decoded = framing.map(|f| f.payload_bytes().to_string());
        let mut headers = Headers::default();
        headers.add(b"host", &self.host);
        if self.protocol == Protocol::S3 && self.signer.is_some() {
            headers.add(b"x-amz-content-sha256", payload);
            headers.add(b"x-amz-date", self.stamp.text());
        }
        for (name, value) in request.extra {
            headers.add(name, value);
        }
        if self.protocol == Protocol::S3 {
            let known = (self.checksum, checksum, decoded.as_deref());
            add_checksum(request, known, &mut headers);
        }
        self.wishes.add(request, &mut headers);
        let session = self.signer.as_ref().and_then(Signer::session_token);
        let session = session.map(str::to_owned);
        if let Some(session) = &session {
            headers.add(b"x-amz-security-token", session.as_bytes());
        }
        if let Some(basic) = &self.basic {
            headers.add(b"authorization", basic.as_bytes());
        }
        if let Some(token) = &self.token {
            headers.add(b"x-auth-token", token.as_bytes());
        }
        write_line(request, out);
        for (name, value) in headers.iter() {
            for part in [name, &b": "[..], value, b"\r\n"] {
                out.extend_from_slice(part);
            }
        }
        if let Some(signer) = &mut self.signer {
            let what = Signed {
                method: request.method.text(),
                path: request.path,
                query: request.query,
                payload,
            };
            signer.sign(what, &headers, &self.stamp, out);
        }
        let length = framing.map_or(request.body.length(), Framing::total_bytes);
        if length > 0 || matches!(request.method, Method::Put | Method::Post) {
            out.extend_from_slice(b"content-length: ");
            encode::decimal(out, length);
            out.extend_from_slice(b"\r\n");
        }
        if self.closes {
            out.extend_from_slice(b"connection: close\r\n");
        }
        out.extend_from_slice(b"user-agent: fathom\r\n\r\n");
    }
}

/// Adds what a request says of checksums: that of its payload, or that it
/// follows a payload of so many bytes, how those of parts are made, or that the
/// answer's is wanted.
fn add_checksum<'a>(
    request: &Request<'_>,
    (kind, sum, decoded): (Option<Checksum>, Option<&'a str>, Option<&'a str>),
    headers: &mut Headers<'a>,
) {
    match (kind, sum, decoded) {
        (Some(kind), Some(_), Some(bytes)) => {
            headers.add(b"content-encoding", b"aws-chunked");
            headers.add(b"x-amz-decoded-content-length", bytes.as_bytes());
            headers.add(b"x-amz-trailer", kind.header());
        }
        (Some(kind), Some(sum), None) => headers.add(kind.header(), sum.as_bytes()),
        // An upload in parts says how their checksums are made.
        (Some(kind), None, _) if request.query == b"uploads=" => {
            let name = kind.algorithm();
            headers.add(b"x-amz-checksum-algorithm", name.as_bytes());
        }
        _ => {}
    }
    if request.asks_for_checksum() {
        headers.add(b"x-amz-checksum-mode", b"ENABLED");
    }
}

fn write_line(request: &Request<'_>, out: &mut Vec<u8>) {
    out.extend_from_slice(request.method.text());
    out.push(b' ');
    out.extend_from_slice(request.path);
    if !request.query.is_empty() {
        out.push(b'?');
        out.extend_from_slice(request.query);
    }
    out.extend_from_slice(b" HTTP/1.1\r\n");
}

#[cfg(test)]
mod tests {
    use super::*;

    fn store() -> Settings {
        Settings {
            region: "us-east-1".to_owned(),
            storage_class: Some("COLD".to_owned()),
            sse_customer_algorithm: Some("AES256".to_owned()),
            ..Settings::new(vec!["http://127.0.0.1:9000".to_owned()])
        }
    }

    fn written(store: &Settings, credentials: Option<&Credentials>, method: Method) -> String {
        let mut writer = Writer::new(store, credentials, "bucket");
        let endpoint = Endpoint::find("http://127.0.0.1:9000").unwrap();
        let request = Request {
            method,
            path: b"/a",
            query: b"",
            extra: &[],
            body: Body::Bytes(b"12345".to_vec()),
            sink: Sink::Discard,
        };
        let mut out = Vec::new();
        writer.write(&request, &endpoint, (None, None, None), &mut out);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn a_signed_head_carries_what_the_store_is_asked_for() {
        let credentials = Credentials {
            key_id: "ID".to_owned(),
            secret: "SECRET".to_owned(),
            session_token: Some("SESSION".to_owned()),
            sse_customer_key: Some("k".repeat(32)),
        };
        let head = written(&store(), Some(&credentials), Method::Put);
        assert!(
            head.starts_with("PUT /a HTTP/1.1\r\nhost: 127.0.0.1:9000\r\n"),
            "{head}"
        );
        for part in [
            "x-amz-content-sha256: UNSIGNED-PAYLOAD\r\n",
            "x-amz-storage-class: COLD\r\n",
            "x-amz-security-token: SESSION\r\n",
            "x-amz-server-side-encryption-customer-algorithm: AES256\r\n",
            "content-length: 5\r\n",
            ",SignedHeaders=host;x-amz-content-sha256;x-amz-date;x-amz-security-token;",
        ] {
            assert!(head.contains(part), "{part} in {head}");
        }
        assert!(!head.contains("SECRET"));
        assert!(head.ends_with("\r\n\r\n"));
        let style = Settings {
            virtual_host: true,
            ..store()
        };
        let head = written(&style, None, Method::Delete);
        assert!(head.contains("host: bucket.127.0.0.1:9000\r\n"), "{head}");
        assert!(!head.contains("authorization"), "{head}");
    }

    #[test]
    fn swift_has_a_token_and_plain_http_nothing() {
        let credentials = Credentials {
            session_token: Some("TOKEN".to_owned()),
            ..Credentials::default()
        };
        for (protocol, expected) in [(Protocol::Swift, true), (Protocol::Webdav, false)] {
            let store = Settings {
                protocol,
                ..store()
            };
            let head = written(&store, Some(&credentials), Method::Put);
            assert_eq!(head.contains("x-auth-token: TOKEN"), expected, "{head}");
            assert!(!head.contains("amz") && !head.contains("AWS4"), "{head}");
            let basic = head.contains("authorization: Basic Og==");
            assert_eq!(basic, !expected, "{head}");
        }
    }
}
