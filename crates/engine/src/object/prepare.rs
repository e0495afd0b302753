//! Making a bucket ready: it can be reached, nothing of somebody else's is in
//! the way, and the objects that are going to be read are there.

use fathom_model::rng::{derive_seed, splitmix64};
use fathom_model::workload::{KeySource, ObjectStore, ObjectWork};
use fathom_model::{Job, OpKind, Target};
use fathom_s3::{
    Access, Broken, ConnectionPool, Listed, Listing, Page, StoreServer, encode, is_below,
    list_query, page_of, shown,
};

use super::access;
use super::advice::{advised, told};
use super::fill::fill;
use super::names::ObjectNames;
use super::own_keys::{is_note, is_tag};
use super::shelf;
use super::stalled::{LISTING, Stalled};
use super::work::{StoreWork, check};
use crate::Error;
use crate::prepare::{PrepareHooks, PrepareProgress};

/// Objects that were there already and are read at most; they are kept in
/// memory.
const MOST_EXISTING: usize = 1 << 20;
/// Bytes of their names at most.
const MOST_EXISTING_BYTES: usize = 128 << 20;

/// A store that is ready, and what was done for it.
#[derive(Debug)]
pub(crate) struct Ready {
    pub(crate) work: StoreWork,
    pub(crate) made_objects: u64,
    pub(crate) made_bytes: u64,
    pub(crate) notes: Vec<String>,
}

/// Bucket and prefix of a target; the prefix ends with `/` unless it is empty.
pub(crate) fn parts_of(target: &str) -> (String, String) {
    match target.split_once('/') {
        Some((bucket, prefix)) if !prefix.trim_matches('/').is_empty() => {
            (bucket.to_owned(), format!("{}/", prefix.trim_matches('/')))
        }
        Some((bucket, _)) => (bucket.to_owned(), String::new()),
        None => (target.to_owned(), String::new()),
    }
}

/// The prefix of what a run makes in a bucket.
pub(crate) fn prefix_of_run(prefix: &str, run_tag: u64) -> String {
    format!("{prefix}fathom-{run_tag:016x}/")
}

/// Makes the bucket of a job ready.
pub(crate) fn prepare(job: &Job, hooks: &mut dyn PrepareHooks) -> Result<Ready, Error> {
    check(&job.workload)?;
    let (Some(object), Some(store)) = (job.workload.requests(), job.workload.store()) else {
        return Err(Error::Workload(format!(
            "workload {}: it does not say how the store is reached; add --endpoint",
            job.workload.name
        )));
    };
    let target = match &job.target {
        Target::Bucket(target) => target,
        Target::Null => return on_null(job, object, store),
        other => {
            return Err(Error::Workload(format!(
                "'{other}' is not a bucket; name one, for example s3://bucket/prefix"
            )));
        }
    };
    let (bucket, prefix) = parts_of(target);
    let shape = format!(
        "{:?} {:?} {} {}",
        object.sizes, object.keys, job.workload.workers, object.objects
    );
    let shape = shape
        .bytes()
        .fold(0, |hash, b| splitmix64(hash ^ u64::from(b))) as u32;
    let run = prefix_of_run(&prefix, job.run_tag);
    let place = format!("{run}{}/{shape:08x}", job.file_prefix);
    let access = access::find(store, &bucket, derive_seed(job.run_tag, u64::from(shape)))?;
    let access = std::sync::Arc::new(access);
    let mut pool = ConnectionPool::single(&access)?;
    pool.connect_all(&|| hooks.stop_requested())?;
    let foreign = holds_others(&mut pool, &access, &prefix, hooks)?;
    if prefix.is_empty() && foreign && !job.destructive && !object.existing {
        return Err(Error::Refused {
            path: format!("s3://{bucket}").into(),
            reason: "the bucket is not empty; name a prefix (s3://bucket/prefix), or allow it \
                     with --destructive; fathom changes only what it makes itself below fathom-…/"
                .to_owned(),
        });
    }
    let mut notes = Vec::new();
    let existing = match object.existing {
        true => existing(&mut pool, &access, &prefix, &mut notes, hooks)?,
        false => Vec::new(),
    };
    if !object.existing {
        hooks.making_objects();
    }
    let taken = shelf::take(&format!("{:?} {bucket}/{place}", store.endpoints));
    let place = format!("{place}-{}/", taken.number());
    let names = names(&access, object, &place, job);
    taken.note_names(&names, object.does(OpKind::Copy));
    drop(pool);
    let access = std::sync::Arc::try_unwrap(access)
        .map_err(|_| Error::Workload("the store is still in use".to_owned()))?;
    let mut work = StoreWork::new(object, access, names, Some(taken), existing, &job.workload);
    let (made_objects, made_bytes) = fill(&work, hooks)?;
    let ranges: Vec<_> = (0..work.workers).map(|rank| work.range(rank)).collect();
    work.tails = ranges.iter().map(|range| range.tail).collect();
    work.heads = ranges.iter().map(|range| range.head).collect();
    Ok(Ready {
        work,
        made_objects,
        made_bytes,
        notes,
    })
}

fn names(access: &Access, object: &ObjectWork, place: &str, job: &Job) -> ObjectNames {
    let mut root = access.bucket_path();
    if root.last() != Some(&b'/') {
        root.push(b'/');
    }
    encode::percent(&mut root, place.as_bytes(), true);
    ObjectNames {
        root,
        prefix: place.to_owned(),
        layout: object.keys,
        sizes: object.sizes.clone(),
        seed: job.run_tag,
    }
}

/// The null target: a server within this process that keeps nothing.
fn on_null(job: &Job, object: &ObjectWork, store: &ObjectStore) -> Result<Ready, Error> {
    let bytes = object.sizes.mean_bytes() as u64;
    let server = StoreServer::null(bytes)
        .map_err(|error| Error::Workload(format!("no null server can be started: {error}")))?;
    let store = ObjectStore {
        endpoints: vec![server.endpoint()],
        keys: KeySource::Given(super::keys::nobody()),
        endpoint_keys: Vec::new(),
        ca_file: None,
        virtual_host: false,
        ..store.clone()
    };
    let access = access::find(&store, "null", job.seed)?;
    let names = names(&access, object, "null/", job);
    let mut work = StoreWork::new(object, access, names, None, Vec::new(), &job.workload);
    work.null_server = Some(server);
    Ok(Ready {
        work,
        made_objects: 0,
        made_bytes: 0,
        notes: Vec::new(),
    })
}

/// Whether a prefix holds anything that no run of fathom made, as far as a page
/// tells. Shows as well that the bucket is there and may be read, and that the
/// store lists what it was asked for.
fn holds_others(
    pool: &mut ConnectionPool,
    access: &Access,
    prefix: &str,
    hooks: &dyn PrepareHooks,
) -> Result<bool, Error> {
    let mut query = Vec::new();
    list_query(&mut query, prefix, "", false, 1000, true);
    let listing = Stalled::begin(LISTING, access);
    let page = page_of(pool, access, &query, &|| listing.look(hooks));
    let document = page.map_err(|broken| unlisted(access, broken))?;
    others_of(&document, prefix).map_err(|broken| unlisted(access, broken))
}

/// Whether a page, folded at `/`, names anything that no run of fathom made.
fn others_of(document: &[u8], prefix: &str) -> Result<bool, Broken> {
    let mut others = false;
    let page = Page::read(document, Listed::Objects)?;
    for entry in page.entries.iter().flatten() {
        is_below(&entry.key, prefix)?;
        others = true;
    }
    for below in &page.prefixes {
        is_below(below, prefix)?;
        let name = below.strip_prefix(prefix).and_then(|b| b.strip_suffix('/'));
        others |= !name.is_some_and(is_tag);
    }
    Ok(others)
}

/// Why a bucket cannot be listed.
pub(super) fn unlisted(access: &Access, broken: Broken) -> Error {
    let text = match broken {
        Broken::Stopped => return Error::Stopped,
        Broken::Fault(fault) => advised(&told(&fault)),
        Broken::Wrong(text) => text,
    };
    Error::Workload(format!(
        "the bucket '{}' cannot be listed at {}: {text}",
        access.bucket,
        access.endpoints.first().map_or("", |e| e.name.as_str()),
    ))
}

/// Everything that is there below a prefix, as far as memory allows.
fn existing(
    pool: &mut ConnectionPool,
    access: &Access,
    prefix: &str,
    notes: &mut Vec<String>,
    hooks: &mut dyn PrepareHooks,
) -> Result<Vec<(Vec<u8>, u64)>, Error> {
    let mut root = access.bucket_path();
    if root.last() != Some(&b'/') {
        root.push(b'/');
    }
    let mut found = Vec::new();
    let (mut bytes, mut strange) = (0, None);
    let mut listing = Listing::new(Listed::Objects, prefix);
    loop {
        let asked = Stalled::begin(LISTING, access);
        let page = listing.page(pool, access, &|| asked.look(&*hooks));
        let Some(entries) = page.map_err(|broken| unlisted(access, broken))? else {
            break;
        };
        for entry in entries {
            let key = entry.key;
            if key.ends_with('/') || is_note(&key) {
                continue;
            }
            if leads_elsewhere(&key) {
                strange.get_or_insert(key);
                continue;
            }
            let mut path = root.clone();
            encode::percent(&mut path, key.as_bytes(), true);
            bytes += path.len();
            found.push((path, entry.bytes));
        }
        hooks.progress(PrepareProgress {
            what: &format!("listing what is there: {} objects so far", found.len()),
            done_bytes: 0,
            total_bytes: 0,
        });
        if hooks.stop_requested() {
            return Err(Error::Stopped);
        }
        let full = found.len() >= MOST_EXISTING || bytes >= MOST_EXISTING_BYTES;
        if full && !listing.is_over() {
            found.truncate(MOST_EXISTING);
            let count = found.len();
            notes.push(format!("only the first {count} objects there are read"));
            break;
        }
    }
    if let Some(key) = strange {
        notes.push(format!(
            "objects are left out whose keys a proxy could take for others, for example '{}'",
            shown(&key)
        ));
    }
    match found.is_empty() {
        true => Err(Error::Workload(format!(
            "there are no objects below s3://{}/{prefix} that could be read",
            access.bucket
        ))),
        false => Ok(found),
    }
}

/// Whether the path of a key can be taken for that of another.
fn leads_elsewhere(key: &str) -> bool {
    key.split('/').any(|segment| matches!(segment, "." | ".."))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_target_is_a_bucket_and_a_prefix() {
        let of = |text| parts_of(text);
        assert_eq!(of("b"), ("b".to_owned(), String::new()));
        assert_eq!(of("b/"), ("b".to_owned(), String::new()));
        assert_eq!(of("b/p/q"), ("b".to_owned(), "p/q/".to_owned()));
        assert_eq!(prefix_of_run("p/", 0xab), "p/fathom-00000000000000ab/");
    }
}
