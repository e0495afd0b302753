//! What the store in memory holds, and how it answers.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::sync::Mutex;

use fathom_model::workload::ObjectChecksum;

use super::lock;
use crate::object::checksum::Sum;
use crate::object::{encode, md5, xml};

/// A request as it was understood.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Asked {
    pub(super) method: String,
    /// Decoded, without the leading `/`.
    pub(super) path: String,
    pub(super) query: String,
    pub(super) length: u64,
    pub(super) closes: bool,
    pub(super) expects: bool,
    /// First and last byte that are wanted.
    pub(super) range: Option<(u64, u64)>,
    copy_source: Option<String>,
    /// Checksum that the body must have.
    checksum: Option<(ObjectChecksum, String)>,
    /// Objects that are kept are removed all the same.
    bypasses: bool,
    /// It looks like a request to S3.
    is_s3: bool,
}

impl Asked {
    /// Reads a head.
    pub(super) fn read(head: &str) -> Option<Asked> {
        let mut lines = head.split("\r\n");
        let mut first = lines.next()?.split(' ');
        let (method, target) = (first.next()?, first.next()?);
        let (path, query) = target.split_once('?').unwrap_or((target, ""));
        let decode =
            |text: &str| String::from_utf8_lossy(&encode::unpercent(text.as_bytes())).into_owned();
        let mut asked = Asked {
            method: method.to_owned(),
            path: decode(path).trim_start_matches('/').to_owned(),
            query: query.to_owned(),
            ..Asked::default()
        };
        for line in lines {
            let Some((name, value)) = line.split_once(':') else {
                continue;
            };
            let value = value.trim();
            match name.to_ascii_lowercase().as_str() {
                "content-length" => asked.length = value.parse().ok()?,
                "transfer-encoding" => return None,
                "connection" => asked.closes = value.eq_ignore_ascii_case("close"),
                "expect" => asked.expects = true,
                "range" => asked.range = range(value),
                "x-amz-checksum-crc32" => asked.expect(ObjectChecksum::Crc32, value),
                "x-amz-checksum-crc32c" => asked.expect(ObjectChecksum::Crc32c, value),
                "x-amz-checksum-sha256" => asked.expect(ObjectChecksum::Sha256, value),
                "x-amz-bypass-governance-retention" => asked.bypasses = value == "true",
                "x-amz-copy-source" => {
                    asked.copy_source = Some(decode(value).trim_start_matches('/').to_owned());
                }
                _ => {}
            }
            asked.is_s3 |= name.to_ascii_lowercase().starts_with("x-amz-");
        }
        Some(asked)
    }

    fn expect(&mut self, kind: ObjectChecksum, value: &str) {
        self.checksum = Some((kind, value.to_owned()));
    }

    /// Whether the body has the checksum that came with it, if one did.
    fn has_checksum(&self, body: &[u8]) -> bool {
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

    /// A parameter of the query, decoded.
    fn parameter(&self, name: &str) -> Option<String> {
        self.query.split('&').find_map(|part| {
            let (key, value) = part.split_once('=').unwrap_or((part, ""));
            let decoded = || encode::unpercent(value.as_bytes());
            (key == name).then(|| String::from_utf8_lossy(&decoded()).into_owned())
        })
    }
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

/// An answer.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Answer {
    pub(super) status: u16,
    /// Lines, each with its end.
    pub(super) headers: String,
    pub(super) body: Vec<u8>,
}

impl Answer {
    fn status(status: u16) -> Answer {
        Answer {
            status,
            ..Answer::default()
        }
    }

    fn document(text: String) -> Answer {
        Answer {
            status: 200,
            body: text.into_bytes(),
            ..Answer::default()
        }
    }

    pub(super) fn error(status: u16, code: &str) -> Answer {
        Answer {
            status,
            body: format!("<Error><Code>{code}</Code></Error>").into_bytes(),
            ..Answer::default()
        }
    }
}

#[derive(Debug, Default)]
struct State {
    objects: BTreeMap<String, Vec<u8>>,
    tags: BTreeMap<String, Vec<u8>>,
    /// Objects that are kept from being removed.
    locked: BTreeSet<String>,
    /// Parts of uploads by number, with the key.
    uploads: BTreeMap<String, (String, BTreeMap<u32, Vec<u8>>)>,
    next_upload: u64,
    bytes: u64,
}

/// What the store holds.
#[derive(Debug)]
pub(super) struct Kept {
    state: Mutex<State>,
    most_bytes: u64,
}

impl Kept {
    pub(super) fn new(most_bytes: u64) -> Kept {
        Kept {
            state: Mutex::new(State::default()),
            most_bytes,
        }
    }

    pub(super) fn keys(&self) -> Vec<String> {
        lock(&self.state).objects.keys().cloned().collect()
    }

    pub(super) fn uploads(&self) -> usize {
        lock(&self.state).uploads.len()
    }

    /// Carries out a request.
    pub(super) fn answer(&self, asked: &Asked, body: Vec<u8>) -> Answer {
        let mut state = lock(&self.state);
        let of_bucket = !asked.path.trim_end_matches('/').contains('/');
        let has = |name: &str| asked.parameter(name).is_some();
        match asked.method.as_str() {
            "POST" if has("delete") => delete_many(&mut state, asked, &body),
            "PUT" if has("retention") => keep(&mut state, asked, &body),
            "POST" if has("uploads") => begin(&mut state, &asked.path),
            "POST" if has("uploadId") => complete(&mut state, asked),
            "GET" if has("uploads") => list_uploads(&state, asked),
            "GET" if has("versions") => list(&state, asked, true),
            "GET" if has("tagging") => match state.tags.get(&asked.path) {
                Some(tags) => Answer {
                    status: 200,
                    body: tags.clone(),
                    ..Answer::default()
                },
                None => Answer::document("<Tagging><TagSet/></Tagging>".to_owned()),
            },
            "GET" if of_bucket && has("list-type") => list(&state, asked, false),
            "GET" | "HEAD" => get(&state, asked),
            "PUT" if has("tagging") => {
                state.tags.insert(asked.path.clone(), body);
                Answer::status(200)
            }
            // A bucket is made by its first object.
            "PUT" if of_bucket && (asked.is_s3 || asked.length == 0) => Answer::status(200),
            "PUT" if !asked.has_checksum(&body) => Answer::error(400, "BadDigest"),
            "PUT" => self.put(&mut state, asked, body),
            "DELETE" if has("uploadId") => {
                let upload = asked.parameter("uploadId").unwrap_or_default();
                state.uploads.remove(&upload);
                Answer::status(204)
            }
            "DELETE" => delete(&mut state, asked),
            _ => Answer::error(405, "MethodNotAllowed"),
        }
    }

    fn put(&self, state: &mut State, asked: &Asked, body: Vec<u8>) -> Answer {
        let body = match &asked.copy_source {
            None => body,
            Some(source) => match state.objects.get(source) {
                Some(found) => found.clone(),
                None => return Answer::error(404, "NoSuchKey"),
            },
        };
        if state.bytes + body.len() as u64 > self.most_bytes {
            return Answer::error(507, "InsufficientStorage");
        }
        let etag = etag(&body);
        let mut answer = match asked.copy_source {
            Some(_) => Answer::document(format!(
                "<CopyObjectResult><ETag>{etag}</ETag></CopyObjectResult>"
            )),
            None => Answer::status(200),
        };
        answer.headers = format!("etag: \"{etag}\"\r\n");
        state.bytes += body.len() as u64;
        if let Some(upload) = asked.parameter("uploadId") {
            let part = asked.parameter("partNumber").and_then(|n| n.parse().ok());
            return match (state.uploads.get_mut(&upload), part) {
                (Some((_, parts)), Some(part)) => {
                    parts.insert(part, body);
                    answer
                }
                _ => Answer::error(404, "NoSuchUpload"),
            };
        }
        if let Some(old) = state.objects.insert(asked.path.clone(), body) {
            state.bytes -= old.len() as u64;
        }
        answer
    }
}

/// The checksum that stores give; of large objects a cheap stand-in.
fn etag(body: &[u8]) -> String {
    let mut text = Vec::new();
    let end = body.len().min(4096);
    encode::hex(&mut text, &md5::md5(&body[..end]));
    String::from_utf8_lossy(&text).into_owned()
}

fn get(state: &State, asked: &Asked) -> Answer {
    let Some(object) = state.objects.get(&asked.path) else {
        return Answer::error(404, "NoSuchKey");
    };
    let headers = format!("etag: \"{}\"\r\n", etag(object));
    let Some((from, to)) = asked.range else {
        return Answer {
            status: 200,
            headers,
            body: object.clone(),
        };
    };
    let length = object.len() as u64;
    if from >= length {
        return Answer::error(416, "InvalidRange");
    }
    let to = to.min(length - 1);
    Answer {
        status: 206,
        headers: format!("{headers}content-range: bytes {from}-{to}/{length}\r\n"),
        body: object[from as usize..=to as usize].to_vec(),
    }
}

fn keep(state: &mut State, asked: &Asked, body: &[u8]) -> Answer {
    let asks = xml::text(body, "Mode").is_some() && xml::text(body, "RetainUntilDate").is_some();
    match (state.objects.contains_key(&asked.path), asks) {
        (false, _) => Answer::error(404, "NoSuchKey"),
        (_, false) => Answer::error(400, "MalformedXML"),
        (true, true) => {
            state.locked.insert(asked.path.clone());
            Answer::status(200)
        }
    }
}

fn delete(state: &mut State, asked: &Asked) -> Answer {
    if state.locked.contains(&asked.path) && !asked.bypasses {
        return Answer::error(403, "AccessDenied");
    }
    state.locked.remove(&asked.path);
    state.tags.remove(&asked.path);
    match state.objects.remove(&asked.path) {
        Some(old) => {
            state.bytes -= old.len() as u64;
            Answer::status(204)
        }
        None if asked.is_s3 => Answer::status(204),
        None => Answer::error(404, "NoSuchKey"),
    }
}

fn delete_many(state: &mut State, asked: &Asked, body: &[u8]) -> Answer {
    let mut refused = String::new();
    for key in xml::elements(body, "Key").map(xml::unescape) {
        let path = format!("{}/{key}", asked.path.trim_end_matches('/'));
        if state.locked.contains(&path) && !asked.bypasses {
            let key = escaped(&key);
            refused += &format!("<Error><Key>{key}</Key><Code>AccessDenied</Code></Error>");
            continue;
        }
        state.locked.remove(&path);
        if let Some(old) = state.objects.remove(&path) {
            state.bytes -= old.len() as u64;
        }
    }
    Answer::document(format!("<DeleteResult>{refused}</DeleteResult>"))
}

fn begin(state: &mut State, path: &str) -> Answer {
    state.next_upload += 1;
    let upload = format!("upload-{}", state.next_upload);
    let entry = (path.to_owned(), BTreeMap::new());
    state.uploads.insert(upload.clone(), entry);
    Answer::document(format!(
        "<InitiateMultipartUploadResult><UploadId>{upload}</UploadId></InitiateMultipartUploadResult>"
    ))
}

fn complete(state: &mut State, asked: &Asked) -> Answer {
    let upload = asked.parameter("uploadId").unwrap_or_default();
    let Some((key, parts)) = state.uploads.remove(&upload) else {
        return Answer::error(404, "NoSuchUpload");
    };
    let whole: Vec<u8> = parts.into_values().flatten().collect();
    state.objects.insert(key, whole);
    Answer::document("<CompleteMultipartUploadResult></CompleteMultipartUploadResult>".to_owned())
}

fn list_uploads(state: &State, asked: &Asked) -> Answer {
    let start = start_of(asked);
    let mut text = "<ListMultipartUploadsResult>".to_owned();
    for (upload, (path, _)) in &state.uploads {
        if let Some(key) = key_of(path, asked).filter(|_| path.starts_with(&start)) {
            let _ = write!(
                text,
                "<Upload><Key>{}</Key><UploadId>{upload}</UploadId></Upload>",
                escaped(key)
            );
        }
    }
    text += "</ListMultipartUploadsResult>";
    Answer::document(text)
}

/// `BUCKET/PREFIX` of a listing.
fn start_of(asked: &Asked) -> String {
    let prefix = asked.parameter("prefix").unwrap_or_default();
    format!("{}/{prefix}", asked.path.trim_end_matches('/'))
}

fn key_of<'p>(path: &'p str, asked: &Asked) -> Option<&'p str> {
    path.strip_prefix(asked.path.trim_end_matches('/'))?
        .strip_prefix('/')
}

fn escaped(text: &str) -> String {
    let mut out = Vec::new();
    xml::escape(&mut out, text);
    String::from_utf8_lossy(&out).into_owned()
}

/// A page of keys or versions; tokens are the last key of the page before.
fn list(state: &State, asked: &Asked, versions: bool) -> Answer {
    let start = start_of(asked);
    let most: usize = asked
        .parameter("max-keys")
        .and_then(|n| n.parse().ok())
        .unwrap_or(1000);
    let marker = if versions {
        "key-marker"
    } else {
        "continuation-token"
    };
    let after = asked.parameter(marker).filter(|token| !token.is_empty());
    let after = after.map(|token| format!("{}/{token}", asked.path.trim_end_matches('/')));
    let folds = asked.parameter("delimiter").is_some();
    let (mut text, mut count, mut last) = (String::new(), 0, String::new());
    let mut folded = String::new();
    let mut truncated = false;
    for (path, object) in state.objects.range(start.clone()..) {
        if !path.starts_with(&start) {
            break;
        }
        let fold = path[start.len()..].find('/').filter(|_| folds);
        let group = fold.map(|at| &path[..start.len() + at + 1]);
        if group.is_some_and(|group| group == folded)
            || after.as_ref().is_some_and(|after| path <= after)
        {
            continue;
        }
        if count == most {
            truncated = true;
            break;
        }
        count += 1;
        if let Some(group) = group {
            group.clone_into(&mut folded);
        }
        let shown = key_of(group.unwrap_or(path), asked).unwrap_or_default();
        text += &entry(shown, group.is_some(), versions, object.len());
        shown.clone_into(&mut last);
        // The next page begins behind all that was folded.
        last.extend(group.map(|_| char::MAX));
    }
    let token = if versions {
        "NextKeyMarker"
    } else {
        "NextContinuationToken"
    };
    let next = match truncated {
        true => format!("<{token}>{}</{token}>", escaped(&last)),
        false => String::new(),
    };
    let root = if versions {
        "ListVersionsResult"
    } else {
        "ListBucketResult"
    };
    Answer::document(format!(
        "<{root}><IsTruncated>{truncated}</IsTruncated>{next}{text}</{root}>"
    ))
}

/// An entry of a listing.
fn entry(key: &str, is_prefix: bool, versions: bool, bytes: usize) -> String {
    let key = escaped(key);
    let name = if versions { "Version" } else { "Contents" };
    match is_prefix {
        true => format!("<CommonPrefixes><Prefix>{key}</Prefix></CommonPrefixes>"),
        false => format!("<{name}><Key>{key}</Key><Size>{bytes}</Size></{name}>"),
    }
}
