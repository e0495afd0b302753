//! From what is to be done with an object to the request for it.

use fathom_model::OpKind;
use fathom_s3::{Body, Checksum, Method, Request, Sink, Stamp, encode, escape, list_query, md5};

use super::names::ObjectNames;
use super::picker::Task;
use super::work::StoreWork;

/// One request of an operation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Ask {
    /// All of a simple operation.
    Whole,
    /// All of a simple operation on this version of an object.
    Version(String),
    /// A page of a listing, after this token.
    Page(String),
    /// A multipart upload is begun.
    Begin,
    /// A part of an upload, from 1.
    PutPart(String, u32),
    /// A part of a download, from 1.
    GetPart(u32),
    /// An upload is completed with what the store said of its parts.
    Complete(String, Vec<PartTag>),
    /// An upload is given up.
    Abort(String),
}

/// A part of an upload that was sent.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct PartTag {
    /// Entity tag, without quotes.
    pub(super) etag: String,
    /// The checksum that it was sent with.
    pub(super) checksum: Option<String>,
}

/// Texts of requests of one rank, reused from one to the next.
#[derive(Debug, Default)]
pub(super) struct Asker {
    path: Vec<u8>,
    other: Vec<u8>,
    query: Vec<u8>,
    text: Vec<u8>,
}

/// What a request is expected to bring.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Expected {
    /// Bytes of body that count as moved.
    pub(super) bytes: u64,
    /// The answer has exactly so many bytes of body.
    pub(super) answer_bytes: Option<u64>,
    /// First and last byte of the part of an object that was asked for.
    pub(super) part: Option<(u64, u64)>,
}

impl Asker {
    /// Makes the request `ask` of `task` and gives it to `with`.
    pub(super) fn make(
        &mut self,
        work: &StoreWork,
        rank: u32,
        task: &Task,
        ask: &Ask,
        with: impl FnOnce(Request<'_>),
    ) -> Expected {
        let bytes = match task.kind {
            OpKind::List | OpKind::ListVersions | OpKind::DeleteMany => 0,
            _ => work.path(&mut self.path, rank, task.number),
        };
        self.query.clear();
        match ask {
            Ask::Whole => self.whole(work, rank, task, bytes, with),
            Ask::Version(name) => {
                self.query.extend_from_slice(b"versionId=");
                encode::percent(&mut self.query, name.as_bytes(), false);
                self.whole(work, rank, task, bytes, with)
            }
            Ask::Page(token) => self.page(work, rank, task.kind, token, with),
            _ => self.in_parts(work, rank, task, ask, bytes, with),
        }
    }

    fn sink(work: &StoreWork, rank: u32, number: u64, at: u64) -> Sink {
        match (work.verifies, work.work.existing) {
            (true, false) => Sink::Check {
                object: ObjectNames::content_of(rank, number),
                at,
            },
            // What others put can be held against what the store says of it.
            (true, true) => Sink::Sum,
            (false, _) => Sink::Discard,
        }
    }

    fn whole(
        &mut self,
        work: &StoreWork,
        rank: u32,
        task: &Task,
        bytes: u64,
        with: impl FnOnce(Request<'_>),
    ) -> Expected {
        let number = task.number;
        let (mut expected, mut body, mut sink) = (Expected::default(), Body::None, Sink::Discard);
        let (mut header, mut method) = (None, Method::Get);
        match task.kind {
            OpKind::Put | OpKind::PutVersion => {
                method = Method::Put;
                expected.bytes = bytes;
                body = content(rank, number, 0, bytes);
            }
            OpKind::Get | OpKind::GetVersion => {
                expected = moved(bytes);
                sink = Asker::sink(work, rank, number, 0);
            }
            OpKind::GetRange => {
                let (at, length) = range_of(work, rank, number, bytes);
                expected = moved(length);
                sink = Asker::sink(work, rank, number, at);
                if length > 0 {
                    expected.part = Some(self.range(at, length));
                    header = Some(&b"range"[..]);
                }
            }
            OpKind::Head | OpKind::HeadVersion => method = Method::Head,
            OpKind::Delete | OpKind::DeleteVersion => method = Method::Delete,
            OpKind::Copy => {
                method = Method::Put;
                self.copy(work, rank, number);
                header = Some(&b"x-amz-copy-source"[..]);
            }
            OpKind::PutTags | OpKind::GetTags => {
                self.query.extend_from_slice(b"tagging=");
                if task.kind == OpKind::PutTags {
                    method = Method::Put;
                    body = Body::Bytes(tags(number));
                }
            }
            OpKind::PutRetention => {
                method = Method::Put;
                self.query.extend_from_slice(b"retention=");
                (header, body) = self.summed(retention());
            }
            OpKind::DeleteMany => {
                method = Method::Post;
                self.path = work.access.bucket_path();
                self.query.extend_from_slice(b"delete=");
                (header, body) = self.summed(batch(work, rank, task));
                sink = Sink::Keep;
            }
            _ => {}
        }
        let one = header.map(|name| [(name, self.text.as_slice())]);
        with(Request {
            method,
            path: &self.path,
            query: &self.query,
            extra: one.as_ref().map_or(&[], |one| &one[..]),
            body,
            sink,
        });
        expected
    }

    /// A document with the header of its checksum, which S3 wants.
    fn summed(&mut self, document: Vec<u8>) -> (Option<&'static [u8]>, Body) {
        self.text = encode::base64(&md5(&document)).into_bytes();
        (Some(b"content-md5"), Body::Bytes(document))
    }

    /// The path becomes that of the copy, the text that of the source, which
    /// carries the bucket also where the host names it.
    fn copy(&mut self, work: &StoreWork, rank: u32, number: u64) {
        self.text.clear();
        if work.access.store.virtual_host {
            self.text.push(b'/');
            self.text.extend_from_slice(work.access.bucket.as_bytes());
        }
        self.text.extend_from_slice(&self.path);
        work.names.copy_path(&mut self.other, rank, number);
        std::mem::swap(&mut self.path, &mut self.other);
    }

    /// Asks for a part of an object; its first and last byte.
    fn range(&mut self, at: u64, length: u64) -> (u64, u64) {
        let last = at + length - 1;
        self.text.clear();
        self.text.extend_from_slice(b"bytes=");
        encode::decimal(&mut self.text, at);
        self.text.push(b'-');
        encode::decimal(&mut self.text, last);
        (at, last)
    }

    /// A page of a listing; parameters in the order in which they are signed.
    fn page(
        &mut self,
        work: &StoreWork,
        rank: u32,
        kind: OpKind,
        token: &str,
        with: impl FnOnce(Request<'_>),
    ) -> Expected {
        self.path = work.access.bucket_path();
        let listed = work.names.listed(rank);
        let delimiter = work.work.delimiter;
        let keys = work.work.page_keys;
        let versions = kind == OpKind::ListVersions;
        list_query(&mut self.query, &listed, token, versions, keys, delimiter);
        with(Request {
            method: Method::Get,
            path: &self.path,
            query: &self.query,
            extra: &[],
            body: Body::None,
            sink: Sink::Keep,
        });
        Expected::default()
    }

    fn in_parts(
        &mut self,
        work: &StoreWork,
        rank: u32,
        task: &Task,
        ask: &Ask,
        bytes: u64,
        with: impl FnOnce(Request<'_>),
    ) -> Expected {
        let mut expected = Expected::default();
        let (mut body, mut sink, mut method) = (Body::None, Sink::Discard, Method::Post);
        let mut header = None;
        let part_bytes = work.work.part_bytes;
        let place = |part: u32| {
            let at = u64::from(part - 1) * part_bytes;
            (at, part_bytes.min(bytes.saturating_sub(at)))
        };
        match ask {
            Ask::Begin => {
                self.query.extend_from_slice(b"uploads=");
                sink = Sink::Keep;
            }
            Ask::PutPart(upload, part) => {
                method = Method::Put;
                self.query.extend_from_slice(b"partNumber=");
                encode::decimal(&mut self.query, u64::from(*part));
                self.query.push(b'&');
                self.upload(upload);
                let (at, length) = place(*part);
                expected.bytes = length;
                body = content(rank, task.number, at, length);
            }
            Ask::GetPart(part) => {
                method = Method::Get;
                let (at, length) = place(*part);
                expected = moved(length);
                sink = Asker::sink(work, rank, task.number, at);
                if length > 0 {
                    expected.part = Some(self.range(at, length));
                    header = Some(&b"range"[..]);
                }
            }
            Ask::Complete(upload, parts) => {
                self.upload(upload);
                body = Body::Bytes(completion(parts, work.access.store.checksum));
                sink = Sink::Keep;
            }
            Ask::Abort(upload) => {
                method = Method::Delete;
                self.upload(upload);
            }
            Ask::Whole | Ask::Version(_) | Ask::Page(_) => {}
        }
        let one = header.map(|name| [(name, self.text.as_slice())]);
        with(Request {
            method,
            path: &self.path,
            query: &self.query,
            extra: one.as_ref().map_or(&[], |one| &one[..]),
            body,
            sink,
        });
        expected
    }

    fn upload(&mut self, upload: &str) {
        self.query.extend_from_slice(b"uploadId=");
        encode::percent(&mut self.query, upload.as_bytes(), false);
    }
}

fn moved(bytes: u64) -> Expected {
    Expected {
        bytes,
        answer_bytes: Some(bytes),
        part: None,
    }
}

fn content(rank: u32, number: u64, at: u64, length: u64) -> Body {
    Body::Content {
        object: ObjectNames::content_of(rank, number),
        at,
        length,
    }
}

/// Which range of an object is read: it follows from its number.
fn range_of(work: &StoreWork, rank: u32, number: u64, bytes: u64) -> (u64, u64) {
    let length = match work.work.range_bytes {
        0 => (bytes / 4).max(1),
        length => length,
    };
    let length = length.min(bytes);
    let random = fathom_model::rng::splitmix64(ObjectNames::content_of(rank, number));
    let room = bytes - length;
    (if room > 0 { random % (room + 1) } else { 0 }, length)
}

fn tags(number: u64) -> Vec<u8> {
    format!(
        "<Tagging><TagSet><Tag><Key>fathom</Key><Value>{number}</Value></Tag></TagSet></Tagging>"
    )
    .into_bytes()
}

/// Seconds for which an object is kept: long enough for a clock that is wrong,
/// short enough that nothing stays for long where nobody may lift it.
const RETENTION_SECONDS: u64 = 300;

/// Keeps an object from being removed, in the mode that its owner may lift.
fn retention() -> Vec<u8> {
    let until = Stamp::in_document(RETENTION_SECONDS);
    format!(
        "<Retention><Mode>GOVERNANCE</Mode><RetainUntilDate>{until}</RetainUntilDate></Retention>"
    )
    .into_bytes()
}

fn batch(work: &StoreWork, rank: u32, task: &Task) -> Vec<u8> {
    let keys = (task.number..task.number + u64::from(task.count)).map(|number| {
        let mut key = work.names.prefix.clone().into_bytes();
        work.names.key(&mut key, rank, number);
        String::from_utf8_lossy(&key).into_owned()
    });
    delete_list(keys)
}

/// The document that a batch delete of the load sends.
fn delete_list(keys: impl Iterator<Item = String>) -> Vec<u8> {
    let mut list = b"<Delete><Quiet>true</Quiet>".to_vec();
    for key in keys {
        list.extend_from_slice(b"<Object><Key>");
        escape(&mut list, &key);
        list.extend_from_slice(b"</Key></Object>");
    }
    list.extend_from_slice(b"</Delete>");
    list
}

fn completion(parts: &[PartTag], kind: Option<Checksum>) -> Vec<u8> {
    let mut list = b"<CompleteMultipartUpload>".to_vec();
    for (at, part) in parts.iter().enumerate() {
        list.extend_from_slice(b"<Part>");
        if let (Some(kind), Some(sum)) = (kind, &part.checksum) {
            let name = kind.algorithm();
            list.extend_from_slice(format!("<Checksum{name}>{sum}</Checksum{name}>").as_bytes());
        }
        list.extend_from_slice(b"<PartNumber>");
        encode::decimal(&mut list, at as u64 + 1);
        list.extend_from_slice(b"</PartNumber><ETag>&quot;");
        escape(&mut list, &part.etag);
        list.extend_from_slice(b"&quot;</ETag></Part>");
    }
    list.extend_from_slice(b"</CompleteMultipartUpload>");
    list
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn documents_are_what_the_store_reads() {
        let list = delete_list(["a&b".to_owned()].into_iter());
        let expected = "<Delete><Quiet>true</Quiet><Object><Key>a&amp;b</Key></Object></Delete>";
        assert_eq!(String::from_utf8_lossy(&list), expected);
        let part = |etag: &str, sum: Option<&str>| PartTag {
            etag: etag.to_owned(),
            checksum: sum.map(str::to_owned),
        };
        let kind = Some(Checksum::Crc32c);
        let parts = completion(&[part("e1", Some("s1=")), part("e2", None)], kind);
        let expected = "<CompleteMultipartUpload><Part><ChecksumCRC32C>s1=</ChecksumCRC32C>\
            <PartNumber>1</PartNumber><ETag>&quot;e1&quot;</ETag></Part><Part>\
            <PartNumber>2</PartNumber><ETag>&quot;e2&quot;</ETag></Part>\
            </CompleteMultipartUpload>";
        assert_eq!(String::from_utf8_lossy(&parts), expected);
    }
}
