//! What the store in memory holds, and how it answers.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::sync::{Arc, Mutex};

use super::documents::{Removal, escaped, is_retention, part_checksums, removals};
use super::lock;
use super::request::ReceivedRequest;
use super::versions::{Object, Versions};
use crate::checksum::Checksum;
use crate::encode;
use crate::md5::md5;

/// What a store says of a document that it cannot read.
const MALFORMED: &str = "MalformedXML";

/// An answer.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Response {
    pub(super) status: u16,
    /// Lines, each with its end.
    pub(super) headers: String,
    pub(super) body: Vec<u8>,
}

impl Response {
    pub(super) fn status(status: u16) -> Response {
        Response {
            status,
            ..Response::default()
        }
    }

    pub(super) fn document(text: String) -> Response {
        Response {
            status: 200,
            body: text.into_bytes(),
            ..Response::default()
        }
    }

    pub(super) fn error(status: u16, code: &str) -> Response {
        Response {
            status,
            body: format!("<Error><Code>{code}</Code></Error>").into_bytes(),
            ..Response::default()
        }
    }
}

/// An upload in parts.
#[derive(Debug, Default)]
struct Upload {
    path: String,
    /// Checksum that its parts have.
    checksum: Option<Checksum>,
    /// Parts by number, with their checksums.
    parts: BTreeMap<u32, (Vec<u8>, Option<String>)>,
}

#[derive(Debug, Default)]
struct StoreData {
    objects: BTreeMap<String, Object>,
    /// Where versions are kept.
    versions: Option<Versions>,
    tags: BTreeMap<String, Vec<u8>>,
    /// Objects that are kept from being removed.
    locked: BTreeSet<String>,
    uploads: BTreeMap<String, Upload>,
    next_upload: u64,
    bytes: u64,
}

/// What the store holds.
#[derive(Debug)]
pub(super) struct Objects {
    state: Mutex<StoreData>,
    most_bytes: u64,
}

impl Objects {
    pub(super) fn new(most_bytes: u64) -> Objects {
        Objects {
            state: Mutex::new(StoreData::default()),
            most_bytes,
        }
    }

    /// Keeps versions from now on.
    pub(super) fn keep_versions(&self) {
        lock(&self.state).versions.get_or_insert_default();
    }

    pub(super) fn keys(&self) -> Vec<String> {
        lock(&self.state).objects.keys().cloned().collect()
    }

    /// Puts an object that no request brought.
    pub(super) fn plant(&self, path: &str, bytes: &[u8]) {
        let object = Object {
            bytes: Arc::new(bytes.to_vec()),
            ..Object::default()
        };
        insert(&mut lock(&self.state), path, object);
    }

    /// Begins an upload that no request began.
    pub(super) fn plant_upload(&self, path: &str) {
        let mut state = lock(&self.state);
        let name = format!("planted-{}", state.uploads.len());
        let path = path.to_owned();
        let upload = Upload {
            path,
            ..Upload::default()
        };
        state.uploads.insert(name, upload);
    }

    pub(super) fn uploads(&self) -> usize {
        lock(&self.state).uploads.len()
    }

    /// Carries out a request. A bucket is made by its first object.
    pub(super) fn answer(&self, request: &ReceivedRequest, body: Vec<u8>) -> Response {
        let mut state = lock(&self.state);
        let of_bucket = !request.path.trim_end_matches('/').contains('/');
        let has = |name: &str| request.parameter(name).is_some();
        match request.method.as_str() {
            "POST" if has("delete") => delete_many(&mut state, request, &body),
            "PUT" if has("retention") => keep(&mut state, request, &body),
            "POST" if has("uploads") => begin(&mut state, request),
            "POST" if has("uploadId") => complete(&mut state, request, &body),
            "GET" if has("uploads") => list_uploads(&state, request),
            "GET" if has("versions") => match &state.versions {
                Some(versions) => versions.list(request),
                None => list(&state, request, true),
            },
            "GET" if has("tagging") => match state.tags.get(&request.path) {
                Some(tags) => Response {
                    status: 200,
                    body: tags.clone(),
                    ..Response::default()
                },
                None => Response::document("<Tagging><TagSet/></Tagging>".to_owned()),
            },
            "GET" if of_bucket && has("list-type") => list(&state, request, false),
            "HEAD" if of_bucket => Response::status(200),
            "GET" | "HEAD" => get(&state, request),
            "PUT" if has("tagging") => {
                state.tags.insert(request.path.clone(), body);
                Response::status(200)
            }
            "PUT" if of_bucket && (request.is_s3 || request.length == 0) => Response::status(200),
            "PUT" if !request.has_checksum(&body) => Response::error(400, "BadDigest"),
            "PUT" => self.put(&mut state, request, body),
            "DELETE" if has("uploadId") => {
                let upload = request.parameter("uploadId").unwrap_or_default();
                state.uploads.remove(&upload);
                Response::status(204)
            }
            "DELETE" => delete(&mut state, request),
            _ => Response::error(405, "MethodNotAllowed"),
        }
    }

    fn put(&self, state: &mut StoreData, request: &ReceivedRequest, body: Vec<u8>) -> Response {
        let mut object = Object {
            checksum: request.checksum.clone(),
            bytes: Arc::new(body),
            version: String::new(),
        };
        if let Some(source) = &request.copy_source {
            match state.objects.get(source) {
                Some(found) => object = found.clone(),
                None => return Response::error(404, "NoSuchKey"),
            }
        }
        let bytes = object.bytes.len() as u64;
        if state.bytes + bytes > self.most_bytes {
            return Response::error(507, "InsufficientStorage");
        }
        let etag = etag(&object.bytes);
        let mut answer = match request.copy_source {
            Some(_) => Response::document(format!(
                "<CopyObjectResult><ETag>{etag}</ETag></CopyObjectResult>"
            )),
            None => Response::status(200),
        };
        answer.headers = format!("etag: \"{etag}\"\r\n");
        if let Some(upload) = request.parameter("uploadId") {
            let part = request.parameter("partNumber").and_then(|n| n.parse().ok());
            let Some((upload, part)) = state.uploads.get_mut(&upload).zip(part) else {
                return Response::error(404, "NoSuchUpload");
            };
            let bytes = Arc::unwrap_or_clone(object.bytes);
            let sum = object.checksum.map(|(_, sum)| sum);
            upload.parts.insert(part, (bytes, sum));
            return answer;
        }
        let version = insert(state, &request.path, object);
        answer.headers += &version_header(&version);
        answer
    }
}

/// Puts an object in its place; the name of its version.
fn insert(state: &mut StoreData, path: &str, mut object: Object) -> String {
    state.bytes += object.bytes.len() as u64;
    if let Some(versions) = &mut state.versions {
        versions.put(path, &mut object);
    }
    let version = object.version.clone();
    let old = state.objects.insert(path.to_owned(), object);
    // What is not kept as a version is gone.
    if let Some(old) = old.filter(|_| state.versions.is_none()) {
        state.bytes -= old.bytes.len() as u64;
    }
    version
}

fn version_header(version: &str) -> String {
    match version {
        "" => String::new(),
        version => format!("x-amz-version-id: {version}\r\n"),
    }
}

/// The checksum that stores give; of large objects a cheap stand-in.
fn etag(body: &[u8]) -> String {
    let mut text = Vec::new();
    let end = body.len().min(4096);
    encode::hex(&mut text, &md5(&body[..end]));
    String::from_utf8_lossy(&text).into_owned()
}

fn get(state: &StoreData, request: &ReceivedRequest) -> Response {
    let found = match request.parameter("versionId") {
        None => state.objects.get(&request.path),
        Some(id) => {
            let versions = state.versions.as_ref();
            versions.and_then(|versions| versions.get(&request.path, &id))
        }
    };
    let Some(object) = found else {
        return Response::error(404, "NoSuchKey");
    };
    let version = version_header(&object.version);
    let mut headers = format!("etag: \"{}\"\r\n{version}", etag(&object.bytes));
    let Some((from, to)) = request.range else {
        if let Some((kind, sum)) = object.checksum.as_ref().filter(|_| request.wants_checksum) {
            let name = String::from_utf8_lossy(kind.header());
            headers += &format!("{name}: {sum}\r\n");
        }
        return Response {
            status: 200,
            headers,
            body: object.bytes.to_vec(),
        };
    };
    let length = object.bytes.len() as u64;
    if from >= length {
        return Response::error(416, "InvalidRange");
    }
    let to = to.min(length - 1);
    Response {
        status: 206,
        headers: format!("{headers}content-range: bytes {from}-{to}/{length}\r\n"),
        body: object.bytes[from as usize..=to as usize].to_vec(),
    }
}

fn keep(state: &mut StoreData, request: &ReceivedRequest, body: &[u8]) -> Response {
    let asks = is_retention(body);
    match (state.objects.contains_key(&request.path), asks == Ok(true)) {
        (false, _) => Response::error(404, "NoSuchKey"),
        (_, false) => Response::error(400, MALFORMED),
        (true, true) => {
            state.locked.insert(request.path.clone());
            Response::status(200)
        }
    }
}

fn delete(state: &mut StoreData, request: &ReceivedRequest) -> Response {
    let id = request.parameter("versionId");
    if state.locked.contains(&request.path) && !request.bypasses && id.is_none() {
        return Response::error(403, "AccessDenied");
    }
    let mut answer = Response::status(204);
    if let Some(id) = id {
        answer.headers = version_header(&id);
        remove_version(state, &request.path, &id);
        return answer;
    }
    match remove(state, &request.path) {
        Some(marker) => answer.headers = version_header(&marker),
        None if request.is_s3 => {}
        None => return Response::error(404, "NoSuchKey"),
    }
    answer
}

/// Removes an object, or marks it as removed where versions are kept. The name
/// of the mark; `None` when there was nothing.
fn remove(state: &mut StoreData, path: &str) -> Option<String> {
    state.locked.remove(path);
    state.tags.remove(path);
    let old = state.objects.remove(path)?;
    match &mut state.versions {
        Some(versions) => Some(versions.mark(path)),
        None => {
            state.bytes -= old.bytes.len() as u64;
            Some(String::new())
        }
    }
}

fn remove_version(state: &mut StoreData, path: &str, id: &str) {
    let removed = state.versions.as_mut().and_then(|all| all.remove(path, id));
    if let Some((bytes, latest)) = removed {
        state.bytes -= bytes;
        match latest {
            Some(latest) => state.objects.insert(path.to_owned(), latest),
            None => state.objects.remove(path),
        };
    }
}

fn delete_many(state: &mut StoreData, request: &ReceivedRequest, body: &[u8]) -> Response {
    let Ok(removals) = removals(body) else {
        return Response::error(400, MALFORMED);
    };
    let mut refused = String::new();
    for Removal { key, version } in removals {
        let path = format!("{}/{key}", request.path.trim_end_matches('/'));
        if state.locked.contains(&path) && !request.bypasses {
            let key = escaped(&key);
            refused += &format!("<Error><Key>{key}</Key><Code>AccessDenied</Code></Error>");
            continue;
        }
        match version {
            Some(id) => remove_version(state, &path, &id),
            None => {
                remove(state, &path);
            }
        }
    }
    Response::document(format!("<DeleteResult>{refused}</DeleteResult>"))
}

fn begin(state: &mut StoreData, request: &ReceivedRequest) -> Response {
    state.next_upload += 1;
    let upload = format!("upload-{}", state.next_upload);
    let entry = Upload {
        path: request.path.clone(),
        checksum: request.algorithm,
        ..Upload::default()
    };
    state.uploads.insert(upload.clone(), entry);
    Response::document(format!(
        "<InitiateMultipartUploadResult><UploadId>{upload}</UploadId></InitiateMultipartUploadResult>"
    ))
}

/// Puts the parts together. Those of an upload with checksums are named with
/// theirs, as they were sent.
fn complete(state: &mut StoreData, request: &ReceivedRequest, body: &[u8]) -> Response {
    let name = request.parameter("uploadId").unwrap_or_default();
    let Some(upload) = state.uploads.get(&name) else {
        return Response::error(404, "NoSuchUpload");
    };
    if let Some(kind) = upload.checksum {
        let element = format!("Checksum{}", kind.algorithm());
        let Ok(named) = part_checksums(body, &element) else {
            return Response::error(400, MALFORMED);
        };
        let sent = upload.parts.values().map(|(_, sum)| sum);
        if !sent.eq(named.iter()) || named.contains(&None) {
            return Response::error(400, "InvalidPart");
        }
    }
    let Some(upload) = state.uploads.remove(&name) else {
        return Response::error(404, "NoSuchUpload");
    };
    let whole: Vec<u8> = upload
        .parts
        .into_values()
        .flat_map(|(bytes, _)| bytes)
        .collect();
    let object = Object {
        bytes: Arc::new(whole),
        ..Object::default()
    };
    let version = insert(state, &upload.path, object);
    let mut answer = Response::document(
        "<CompleteMultipartUploadResult></CompleteMultipartUploadResult>".to_owned(),
    );
    answer.headers = version_header(&version);
    answer
}

fn list_uploads(state: &StoreData, request: &ReceivedRequest) -> Response {
    let start = start_of(request);
    let mut text = "<ListMultipartUploadsResult>".to_owned();
    let mut uploads: Vec<_> = state.uploads.iter().collect();
    uploads.sort_by(|(one, a), (other, b)| (&a.path, one).cmp(&(&b.path, other)));
    for (upload, Upload { path, .. }) in uploads {
        if let Some(key) = key_of(path, request).filter(|_| path.starts_with(&start)) {
            let _ = write!(
                text,
                "<Upload><Key>{}</Key><UploadId>{upload}</UploadId></Upload>",
                escaped(key)
            );
        }
    }
    text += "</ListMultipartUploadsResult>";
    Response::document(text)
}

/// `BUCKET/PREFIX` of a listing.
pub(super) fn start_of(request: &ReceivedRequest) -> String {
    let prefix = request.parameter("prefix").unwrap_or_default();
    format!("{}/{prefix}", request.path.trim_end_matches('/'))
}

pub(super) fn key_of<'p>(path: &'p str, request: &ReceivedRequest) -> Option<&'p str> {
    path.strip_prefix(request.path.trim_end_matches('/'))?
        .strip_prefix('/')
}

/// A page of keys or versions; tokens are the last key of the page before.
fn list(state: &StoreData, request: &ReceivedRequest, versions: bool) -> Response {
    let start = start_of(request);
    let most = request.number("max-keys").unwrap_or(1000);
    let marker = if versions {
        "key-marker"
    } else {
        "continuation-token"
    };
    let after = request.parameter(marker).filter(|token| !token.is_empty());
    let after = after.map(|token| format!("{}/{token}", request.path.trim_end_matches('/')));
    let folds = request.parameter("delimiter").is_some();
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
        let shown = key_of(group.unwrap_or(path), request).unwrap_or_default();
        text += &entry(shown, group.is_some(), versions, object.bytes.len());
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
    Response::document(format!(
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
