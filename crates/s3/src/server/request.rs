//! A request to the store in memory, as it was understood.

use super::documents;
use crate::checksum::{Checksum, Sum};
use crate::{encode, framing};

/// A request as it was understood.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct ReceivedRequest {
    pub(super) method: String,
    /// Decoded, without the leading `/`.
    pub(super) path: String,
    pub(super) query: String,
    pub(super) length: u64,
    pub(super) closes: bool,
    pub(super) expects: bool,
    /// First and last byte that are wanted.
    pub(super) range: Option<(u64, u64)>,
    pub(super) copy_source: Option<String>,
    /// Checksum that the body must have.
    pub(super) checksum: Option<(Checksum, String)>,
    /// The body is in chunks, with its checksum behind it; its real length.
    framed: Option<u64>,
    /// Checksums of parts that are announced.
    pub(super) algorithm: Option<Checksum>,
    /// The checksum of what is read is wanted.
    pub(super) wants_checksum: bool,
    /// Objects that are kept are removed all the same.
    pub(super) bypasses: bool,
    /// It looks like a request to S3.
    pub(super) is_s3: bool,
    /// Whose key signed it, without anybody checking that.
    pub(super) key_id: String,
}

impl ReceivedRequest {
    /// Reads a head.
    pub(super) fn read(head: &str) -> Option<ReceivedRequest> {
        let mut lines = head.split("\r\n");
        let mut first = lines.next()?.split(' ');
        let (method, target) = (first.next()?, first.next()?);
        let (path, query) = target.split_once('?').unwrap_or((target, ""));
        let decode =
            |text: &str| String::from_utf8_lossy(&encode::unpercent(text.as_bytes())).into_owned();
        let mut request = ReceivedRequest {
            method: method.to_owned(),
            path: decode(path).trim_start_matches('/').to_owned(),
            query: query.to_owned(),
            ..ReceivedRequest::default()
        };
        for line in lines {
            let Some((name, value)) = line.split_once(':') else {
                continue;
            };
            let value = value.trim();
            match name.to_ascii_lowercase().as_str() {
                "content-length" => request.length = value.parse().ok()?,
                "transfer-encoding" => return None,
                "connection" => request.closes = value.eq_ignore_ascii_case("close"),
                "expect" => request.expects = true,
                "range" => request.range = range(value),
                "x-amz-decoded-content-length" => request.framed = Some(value.parse().ok()?),
                "x-amz-checksum-mode" => request.wants_checksum = value == "ENABLED",
                "x-amz-checksum-algorithm" => request.algorithm = Checksum::of_name(value),
                name if name.starts_with("x-amz-checksum-") => request.expect(name, value),
                "authorization" => request.key_id = key_id(value),
                "x-amz-bypass-governance-retention" => request.bypasses = value == "true",
                "x-amz-copy-source" => {
                    request.copy_source = Some(decode(value).trim_start_matches('/').to_owned());
                }
                _ => {}
            }
            request.is_s3 |= name.to_ascii_lowercase().starts_with("x-amz-");
        }
        Some(request)
    }

    fn expect(&mut self, header: &str, value: &str) {
        let kind = Checksum::of_header(header.as_bytes());
        self.checksum = kind.map(|kind| (kind, value.to_owned()));
    }

    /// The body as it was meant: without the chunks that it came in. `None` when
    /// they are wrong.
    pub(super) fn unframed(&mut self, body: Vec<u8>) -> Option<Vec<u8>> {
        let Some(length) = self.framed else {
            return Some(body);
        };
        let (payload, trailers) = framing::decode(&body)?;
        for (name, value) in &trailers {
            self.expect(name, value);
        }
        (payload.len() as u64 == length).then_some(payload)
    }

    /// A parameter of the query that is a number.
    pub(super) fn number(&self, name: &str) -> Option<usize> {
        self.parameter(name)?.parse().ok()
    }

    /// Whether the body has the checksum that came with it, if one did.
    pub(super) fn has_checksum(&self, body: &[u8]) -> bool {
        self.checksum.as_ref().is_none_or(|(kind, expected)| {
            let mut sum = Sum::new(*kind);
            sum.update(body);
            sum.text() == *expected
        })
    }

    /// What scripts and the log call it: its method, and `LIST` for listings.
    pub(super) fn name(&self) -> &str {
        let lists = ["list-type", "versions", "uploads"];
        let asks = |name: &&str| self.parameter(name).is_some();
        match self.method == "GET" && lists.iter().any(asks) {
            true => "LIST",
            false => &self.method,
        }
    }

    /// Which listing it is, where it is one that comes page by page.
    pub(super) fn kind(&self) -> &'static str {
        let has = |name: &str| self.parameter(name).is_some();
        match self.method.as_str() {
            "GET" if has("versions") => "VERSIONS",
            "GET" if has("uploads") => "UPLOADS",
            "GET" if has("list-type") && !has("delimiter") => "WALK",
            "PUT" if self.copy_source.is_some() => "COPY",
            _ => "",
        }
    }

    /// The request without a parameter of its query.
    pub(super) fn without(&self, name: &str) -> ReceivedRequest {
        let parts = self.query.split('&');
        let others: Vec<&str> = parts
            .filter(|part| part.split('=').next() != Some(name))
            .collect();
        ReceivedRequest {
            query: others.join("&"),
            ..self.clone()
        }
    }

    /// What it asks to remove, as `bucket/key`: one object or upload, or all that
    /// its body names.
    pub(super) fn removals(&self, body: &[u8]) -> Vec<String> {
        match self.method.as_str() {
            "DELETE" => vec![self.path.clone()],
            // Nothing is removed of a list that cannot be read.
            "POST" if self.parameter("delete").is_some() => documents::removals(body)
                .unwrap_or_default()
                .into_iter()
                .map(|removal| format!("{}/{}", self.path.trim_end_matches('/'), removal.key))
                .collect(),
            _ => Vec::new(),
        }
    }

    /// A parameter of the query, decoded.
    pub(super) fn parameter(&self, name: &str) -> Option<String> {
        self.query.split('&').find_map(|part| {
            let (key, value) = part.split_once('=').unwrap_or((part, ""));
            let decoded = || encode::unpercent(value.as_bytes());
            (key == name).then(|| String::from_utf8_lossy(&decoded()).into_owned())
        })
    }
}

/// The access key ID of a signature.
fn key_id(value: &str) -> String {
    let rest = value.split_once("Credential=").map_or("", |(_, rest)| rest);
    rest.split('/').next().unwrap_or_default().to_owned()
}

fn range(value: &str) -> Option<(u64, u64)> {
    let (from, to) = value.strip_prefix("bytes=")?.split_once('-')?;
    let from = from.parse().ok()?;
    let to = match to {
        "" => u64::MAX,
        to => to.parse().ok()?,
    };
    (from <= to).then_some((from, to))
}
