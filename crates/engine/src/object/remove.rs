//! Removing what runs made in a bucket: everything below their own prefixes,
//! unfinished uploads among it, and nothing else.

use std::collections::BTreeMap;
use std::sync::Arc;

use fathom_model::workload::ObjectStore;

use super::access::Access;
use super::ask::{delete_list, list_query};
use super::hub::Hub;
use super::names::Names;
use super::prepare::{page, parts_of, prefix_of_run};
use super::request::{Body, Method, Request, Sink};
use super::{encode, shelf, xml};
use crate::Error;
use crate::prepare::{PrepareHooks, PrepareProgress};

/// What a store says of an object that is kept from being removed.
const DENIED: &str = "AccessDenied";
/// What it says of one that is not there: it is removed, then.
const GONE: [&str; 2] = ["NoSuchKey", "NoSuchVersion"];
/// Removing is given at least so long for a request, however little those of
/// the load were given.
const PATIENCE_NS: u64 = 10_000_000_000;
/// The object that says that its run was to be kept.
const KEPT: &str = "kept";

/// What was found or removed in a bucket.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Removal {
    /// Objects, versions counted one by one.
    pub objects: u64,
    /// Their bytes, of those that were listed with a size.
    pub bytes: u64,
    /// Multipart uploads that nobody completed.
    pub uploads: u64,
    /// The prefixes of the runs that they are of.
    pub runs: Vec<String>,
    /// How many runs were left alone because they were to be kept.
    pub kept_runs: u64,
}

/// Removes what the run with `run_tag` made below a target `BUCKET/PREFIX`.
///
/// # Errors
/// When the store cannot be reached or refuses.
pub fn remove_objects_of_run(
    store: &ObjectStore,
    target: &str,
    run_tag: u64,
    hooks: &mut dyn PrepareHooks,
) -> Result<Removal, Error> {
    let (bucket, prefix) = parts_of(target);
    let run = prefix_of_run(&prefix, run_tag);
    let removed = remove_below(store, &bucket, &run, hooks)?;
    shelf::forget(&format!("{:?} {bucket}/{run}", store.endpoints));
    Ok(removed)
}

/// The same for what one host of the run made, whose names begin with
/// `file_prefix`.
///
/// # Errors
/// When the store cannot be reached or refuses.
pub fn remove_objects_of_part(
    store: &ObjectStore,
    target: &str,
    (run_tag, file_prefix): (u64, &str),
    hooks: &mut dyn PrepareHooks,
) -> Result<Removal, Error> {
    let (bucket, prefix) = parts_of(target);
    let part = format!("{}{file_prefix}/", prefix_of_run(&prefix, run_tag));
    let removed = remove_below(store, &bucket, &part, hooks)?;
    shelf::forget(&format!("{:?} {bucket}/{part}", store.endpoints));
    Ok(removed)
}

/// Says beside what the run with `run_tag` made that it is to be kept.
///
/// # Errors
/// When the store cannot be reached or refuses.
pub fn keep_objects_of_run(store: &ObjectStore, target: &str, run_tag: u64) -> Result<(), Error> {
    let (bucket, prefix) = parts_of(target);
    let access = Arc::new(Access::find(&patient(store), &bucket, 0)?);
    let mut hub = Hub::new(&access, 1, 0)?;
    let key = format!("{}{KEPT}", prefix_of_run(&prefix, run_tag));
    let path = path_of(&access, &key);
    let asked = hub.ask(Request {
        method: Method::Put,
        path: &path,
        query: b"",
        extra: &[],
        body: Body::None,
        sink: Sink::Discard,
    });
    let said = asked.map_err(|fault| fault.text);
    said.map(|_| ()).map_err(|text| {
        Error::Workload(format!(
            "that the objects are to be kept cannot be noted in s3://{bucket}/{key}: {text}; \
             `fathom clean` will remove them"
        ))
    })
}

/// Whether a key is the note of [`keep_objects_of_run`].
pub(super) fn is_note(key: &str) -> bool {
    let tag = key.strip_suffix(KEPT).and_then(|run| run.strip_suffix('/'));
    tag.is_some_and(|run| is_tag(run.rsplit('/').next().unwrap_or(run)))
}

/// Whether a segment of a key is the name of a run.
pub(super) fn is_tag(segment: &str) -> bool {
    let tag = segment.strip_prefix("fathom-");
    tag.is_some_and(|tag| tag.len() == 16 && tag.bytes().all(|byte| byte.is_ascii_hexdigit()))
}

/// A store whose requests are given time.
fn patient(store: &ObjectStore) -> ObjectStore {
    ObjectStore {
        timeout_ns: store.timeout_ns.max(PATIENCE_NS),
        ..store.clone()
    }
}

/// What runs left behind below a target `BUCKET/PREFIX`: looked for, and
/// removed with `remove`; what was to be kept only with `kept`.
///
/// # Errors
/// When the store cannot be reached or refuses.
pub fn clean_bucket(
    store: &ObjectStore,
    target: &str,
    (remove, kept): (bool, bool),
    hooks: &mut dyn PrepareHooks,
) -> Result<Removal, Error> {
    let (bucket, prefix) = parts_of(target);
    let access = Arc::new(Access::find(&patient(store), &bucket, 0)?);
    let mut hub = Hub::new(&access, 1, 0)?;
    let start = format!("{prefix}fathom-");
    let mut found: BTreeMap<String, Removal> = BTreeMap::new();
    let mut token = String::new();
    loop {
        let (keys, next) = page(&mut hub, &access, &start, &token, 1000)?;
        for (key, bytes) in keys {
            if let Some(run) = run_of(&key, &prefix) {
                let of_run = found.entry(run.to_owned()).or_default();
                of_run.objects += 1;
                of_run.bytes += bytes;
                of_run.kept_runs |= u64::from(is_note(&key));
            }
        }
        match next {
            Some(next) => token = next,
            None => break,
        }
    }
    for (key, _) in uploads(&mut hub, &access, &start)? {
        if let Some(run) = run_of(&key, &prefix) {
            found.entry(run.to_owned()).or_default().uploads += 1;
        }
    }
    let mut all = Removal::default();
    for (run, of_run) in found {
        if of_run.kept_runs > 0 && !kept {
            all.kept_runs += 1;
            continue;
        }
        if remove {
            remove_below(store, &bucket, &run, hooks)?;
        }
        all.objects += of_run.objects;
        all.bytes += of_run.bytes;
        all.uploads += of_run.uploads;
        all.runs.push(run);
    }
    Ok(all)
}

/// The prefix of the run that a key is of; `None` when fathom did not make it.
/// Below the run's name come that of the host's files, and of the shape and the
/// turn: see [`super::prepare`].
fn run_of<'k>(key: &'k str, prefix: &str) -> Option<&'k str> {
    let below = key.strip_prefix(prefix)?;
    let mut segments = below.split('/');
    let tag = segments.next().filter(|tag| is_tag(tag))?;
    let run = &key[..prefix.len() + tag.len() + 1];
    if is_note(key) && key.len() == run.len() + KEPT.len() {
        return Some(run);
    }
    let place = segments.nth(1)?;
    let (shape, turn) = place.split_once('-')?;
    let ours = shape.len() == 8
        && shape.bytes().all(|byte| byte.is_ascii_hexdigit())
        && !turn.is_empty()
        && turn.bytes().all(|byte| byte.is_ascii_digit());
    (ours && segments.next().is_some()).then_some(run)
}

fn remove_below(
    store: &ObjectStore,
    bucket: &str,
    run: &str,
    hooks: &mut dyn PrepareHooks,
) -> Result<Removal, Error> {
    let access = Arc::new(Access::find(&patient(store), bucket, 0)?);
    let mut hub = Hub::new(&access, 1, 0)?;
    let mut removed = Removal::default();
    for (key, upload) in uploads(&mut hub, &access, run)? {
        abort(&mut hub, &access, &key, &upload)?;
        removed.uploads += 1;
    }
    loop {
        // Always from the start: what was listed is gone.
        let (keys, _) = page(&mut hub, &access, run, "", 1000)?;
        if keys.is_empty() {
            break;
        }
        removed.objects += keys.len() as u64;
        removed.bytes += keys.iter().map(|(_, bytes)| bytes).sum::<u64>();
        remove_batch(&mut hub, &access, keys.into_iter().map(|(key, _)| key))?;
        hooks.progress(PrepareProgress {
            what: "removing the objects",
            done_bytes: removed.bytes,
            total_bytes: 0,
        });
    }
    removed.objects += remove_versions(&mut hub, &access, run)?;
    Ok(removed)
}

fn refused(access: &Access, doing: &str, text: &str) -> Error {
    let endpoint = access.endpoints.first().map_or("…", |e| e.name.as_str());
    Error::Workload(format!(
        "{doing} in bucket '{}' failed: {text}; `fathom clean s3://{}/PREFIX --endpoint {endpoint} \
         --yes` with the prefix of the run's target tries again",
        access.bucket, access.bucket
    ))
}

fn remove_batch(
    hub: &mut Hub,
    access: &Access,
    keys: impl Iterator<Item = String>,
) -> Result<(), Error> {
    send_batch(hub, access, delete_list(keys))
}

/// Removes what a list names; what its owner keeps from being removed as well,
/// where that can be lifted: all of it is of the run.
fn send_batch(hub: &mut Hub, access: &Access, list: Vec<u8>) -> Result<(), Error> {
    match send_list(hub, access, list.clone(), false)? {
        Some(code) if code == DENIED => match send_list(hub, access, list, true)? {
            Some(code) => Err(refused(access, "removing objects", &code)),
            None => Ok(()),
        },
        Some(code) => Err(refused(access, "removing objects", &code)),
        None => Ok(()),
    }
}

/// Sends a list; the code of the first error in the answer.
fn send_list(
    hub: &mut Hub,
    access: &Access,
    list: Vec<u8>,
    bypass: bool,
) -> Result<Option<String>, Error> {
    let sum = encode::base64(&super::md5::md5(&list));
    let path = Names::bucket_path(&access.bucket, access.store.virtual_host);
    let both: [(&[u8], &[u8]); 2] = [
        (b"content-md5", sum.as_bytes()),
        (b"x-amz-bypass-governance-retention", b"true"),
    ];
    let asked = hub.ask(Request {
        method: Method::Post,
        path: &path,
        query: b"delete=",
        extra: match bypass {
            true => &both,
            false => &both[..1],
        },
        body: Body::Bytes(list),
        sink: Sink::Keep,
    });
    let end = match asked {
        Ok(end) => end,
        // Some stores refuse all of the list for one of its objects.
        Err(fault) if fault.status == 403 && !bypass => return Ok(Some(DENIED.to_owned())),
        Err(fault) => return Err(refused(access, "removing objects", &fault.text)),
    };
    let document = hub.kept(end.lane);
    let mut codes =
        xml::elements(document, "Error").map(|error| xml::text(error, "Code").unwrap_or_default());
    Ok(codes.find(|code| !GONE.contains(&code.as_str())))
}

/// Versions and markers of removed objects, where the bucket keeps them.
fn remove_versions(hub: &mut Hub, access: &Access, run: &str) -> Result<u64, Error> {
    let mut removed = 0;
    loop {
        let mut query = Vec::new();
        list_query(&mut query, run, ("", true), 1000, false);
        let path = Names::bucket_path(&access.bucket, access.store.virtual_host);
        let asked = hub.ask(Request {
            method: Method::Get,
            path: &path,
            query: &query,
            extra: &[],
            body: Body::None,
            sink: Sink::Keep,
        });
        // A store without versions need not know the question.
        let Ok(end) = asked else {
            return Ok(removed);
        };
        let document = hub.kept(end.lane).to_vec();
        let mut list = b"<Delete><Quiet>true</Quiet>".to_vec();
        let mut count = 0;
        for name in ["Version", "DeleteMarker"] {
            for entry in xml::elements(&document, name) {
                let key = xml::text(entry, "Key");
                let version = xml::text(entry, "VersionId");
                let (Some(key), Some(version)) = (key, version) else {
                    continue;
                };
                list.extend_from_slice(b"<Object><Key>");
                xml::escape(&mut list, &key);
                list.extend_from_slice(b"</Key><VersionId>");
                xml::escape(&mut list, &version);
                list.extend_from_slice(b"</VersionId></Object>");
                count += 1;
            }
        }
        if count == 0 {
            return Ok(removed);
        }
        list.extend_from_slice(b"</Delete>");
        send_batch(hub, access, list)?;
        removed += count;
    }
}

/// Uploads under way below a prefix: keys and names.
fn uploads(hub: &mut Hub, access: &Access, prefix: &str) -> Result<Vec<(String, String)>, Error> {
    let mut query = b"max-uploads=1000&prefix=".to_vec();
    encode::percent(&mut query, prefix.as_bytes(), false);
    query.extend_from_slice(b"&uploads=");
    let path = Names::bucket_path(&access.bucket, access.store.virtual_host);
    let asked = hub.ask(Request {
        method: Method::Get,
        path: &path,
        query: &query,
        extra: &[],
        body: Body::None,
        sink: Sink::Keep,
    });
    let end = match asked {
        Ok(end) => end,
        // Not every store has uploads.
        Err(fault) if matches!(fault.status, 400 | 404 | 405 | 501) => return Ok(Vec::new()),
        Err(fault) => return Err(refused(access, "listing uploads", &fault.text)),
    };
    let found = xml::elements(hub.kept(end.lane), "Upload").filter_map(|entry| {
        let key = xml::text(entry, "Key").filter(|key| key.starts_with(prefix))?;
        Some((key, xml::text(entry, "UploadId")?))
    });
    Ok(found.collect())
}

fn abort(hub: &mut Hub, access: &Access, key: &str, upload: &str) -> Result<(), Error> {
    let path = path_of(access, key);
    let mut query = b"uploadId=".to_vec();
    encode::percent(&mut query, upload.as_bytes(), false);
    hub.ask(Request {
        method: Method::Delete,
        path: &path,
        query: &query,
        extra: &[],
        body: Body::None,
        sink: Sink::Discard,
    })
    .map(|_| ())
    .map_err(|fault| refused(access, "giving up an upload", &fault.text))
}

/// The path of the object with a key.
fn path_of(access: &Access, key: &str) -> Vec<u8> {
    let mut path = Names::bucket_path(&access.bucket, access.store.virtual_host);
    if path.last() != Some(&b'/') {
        path.push(b'/');
    }
    encode::percent(&mut path, key.as_bytes(), true);
    path
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_fathom_named_is_of_a_run() {
        let run = "p/fathom-0123456789abcdef/";
        for key in ["fathom-test/00c0ffee-3/w0/7", "kept"] {
            let key = format!("{run}{key}");
            assert_eq!(run_of(&key, "p/"), Some(run), "{key}");
        }
        for key in [
            "p/fathom-0123/fathom-test/00c0ffee-3/x",
            "fathom-0123456789abcdef/fathom-test/00c0ffee-3/x",
            "p/fathom-notes.txt",
            "p/fathom-0123456789abcdef/foo",
            "p/fathom-0123456789abcdef/x/y/z",
            "p/fathom-0123456789abcdef/x/00c0ffee-3",
            "p/fathom-0123456789abcdef/x/kept",
        ] {
            assert_eq!(run_of(key, "p/"), None, "{key}");
        }
    }
}
