//! Removing what runs made in a bucket: everything below their own prefixes,
//! unfinished uploads among it, and nothing else.
//!
//! What is removed is listed first, and listings are not trusted: a key is
//! removed only if the run can have made it ([`OwnKeys`]), which is looked at
//! once more where the requests are made. A listing that is wrong, or that goes
//! on naming what was removed, ends the removal.

use std::sync::Arc;
use std::time::{Duration, Instant};

use fathom_model::workload::ObjectStore;
use fathom_s3::{
    Access, Body, Broken, ConnectionPool, Entry, Fault, Listed, Listing, Method, Request, Sink,
    encode, error_codes, escape, md5, shown,
};

use super::access;
use super::advice::told;
use super::own_keys::{KEPT, OwnKeys};
use super::prepare::{parts_of, prefix_of_run};
use super::shelf;
use super::stalled::{LISTING, Stalled};
use crate::Error;
use crate::prepare::{PrepareHooks, PrepareProgress};

/// What a store says of an object that is kept from being removed.
const DENIED: &str = "AccessDenied";
/// What it says of one that is not there: it is removed, then.
const GONE: [&str; 2] = ["NoSuchKey", "NoSuchVersion"];
/// Removing is given at least so long for a request, however little those of
/// the load were given.
const PATIENCE_NS: u64 = 10_000_000_000;
/// And no longer when the user waits for the end.
const HURRY_NS: u64 = 2_000_000_000;
/// How often everything is listed again without that there is less of it.
const TRIES: u32 = 2;
/// The pause before: some stores list what is gone for a moment.
const PAUSE: Duration = Duration::from_millis(500);
const LOOK_EVERY: Duration = Duration::from_millis(20);
/// How often everything is listed again at most.
const MOST_ROUNDS: u32 = 32;
/// Entries beyond those that a run noted itself: requests whose answers never
/// came may have made some.
const UNNOTED: u64 = 100_000;

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
/// When the store cannot be reached or refuses, when it lists what cannot be
/// right, and when the user wants to stop: what remains then, in words.
pub fn remove_objects_of_run(
    store: &ObjectStore,
    target: &str,
    run_tag: u64,
    hooks: &mut dyn PrepareHooks,
) -> Result<Removal, Error> {
    let run = prefix_of_run(&parts_of(target).1, run_tag);
    remove_made(store, target, &OwnKeys::of_run(&run), hooks)
}

/// The same for what one host of the run made, whose names begin with
/// `file_prefix`.
///
/// # Errors
/// As [`remove_objects_of_run`].
pub fn remove_objects_of_part(
    store: &ObjectStore,
    target: &str,
    (run_tag, file_prefix): (u64, &str),
    hooks: &mut dyn PrepareHooks,
) -> Result<Removal, Error> {
    let run = prefix_of_run(&parts_of(target).1, run_tag);
    remove_made(store, target, &OwnKeys::of_part(&run, file_prefix), hooks)
}

/// Removes what this process knows to have made.
fn remove_made(
    store: &ObjectStore,
    target: &str,
    own: &OwnKeys,
    hooks: &mut dyn PrepareHooks,
) -> Result<Removal, Error> {
    let root = format!(
        "{:?} {}/{}",
        store.endpoints,
        parts_of(target).0,
        own.prefix()
    );
    let (keys, versions) = shelf::most_below(&root);
    let most = [keys, versions].map(|most| most.saturating_add(UNNOTED));
    let removed = remove_below(store, target, (own, most), hooks)?;
    shelf::forget(&root);
    Ok(removed)
}

/// Says beside what the run with `run_tag` made that it is to be kept.
///
/// # Errors
/// When the store cannot be reached or refuses.
pub fn keep_objects_of_run(
    store: &ObjectStore,
    target: &str,
    run_tag: u64,
    hooks: &dyn PrepareHooks,
) -> Result<(), Error> {
    let (bucket, prefix) = parts_of(target);
    let access = Arc::new(access::find(&patient(store, hooks.hurries()), &bucket, 0)?);
    let mut pool = ConnectionPool::single(&access)?;
    let key = format!("{}{KEPT}", prefix_of_run(&prefix, run_tag));
    let path = access.path_of(&key);
    let request = Request {
        method: Method::Put,
        path: &path,
        query: b"",
        extra: &[],
        body: Body::None,
        sink: Sink::Discard,
    };
    let asked = pool.ask_unless(request, &|| hooks.stop_requested());
    asked.map(|_| ()).map_err(|fault| {
        Error::Workload(format!(
            "that the objects are to be kept cannot be noted in s3://{bucket}/{key}: {}; \
             `fathom clean` will remove them",
            told(&fault)
        ))
    })
}

/// A store whose requests are given time, unless somebody waits for the end.
pub(super) fn patient(store: &ObjectStore, hurries: bool) -> ObjectStore {
    ObjectStore {
        timeout_ns: match hurries {
            true => store.timeout_ns.min(HURRY_NS),
            false => store.timeout_ns.max(PATIENCE_NS),
        },
        ..store.clone()
    }
}

/// Removes everything that is `own`; at most so many keys, and versions of them,
/// are believed.
pub(super) fn remove_below(
    store: &ObjectStore,
    target: &str,
    (own, most): (&OwnKeys, [u64; 2]),
    hooks: &mut dyn PrepareHooks,
) -> Result<Removal, Error> {
    let (bucket, _) = parts_of(target);
    let access = Arc::new(access::find(&patient(store, hooks.hurries()), &bucket, 0)?);
    let pool = ConnectionPool::single(&access)?;
    let mut remover = Remover {
        pool,
        access,
        own,
        most,
        target,
        hooks,
        removed: Removal::default(),
        strange: (0, String::new()),
    };
    let ended = [Listed::Uploads, Listed::Objects, Listed::Versions]
        .into_iter()
        .try_for_each(|what| remover.clear(what));
    remover.finish(ended)
}

/// Why a removal ended before everything was gone.
enum Early {
    /// What the store or the way to it said; another try may help.
    Refused(String),
    /// What the store lists cannot be right; another try will not help.
    Untrusted(String),
    Stopped,
}

impl Early {
    fn failed(what: &str, fault: &Fault) -> Early {
        Early::Refused(format!("{what} failed: {}", told(fault)))
    }
}

impl From<Broken> for Early {
    fn from(broken: Broken) -> Early {
        match broken {
            Broken::Fault(fault) => Early::failed("listing", &fault),
            Broken::Wrong(text) => Early::Untrusted(text),
            Broken::Stopped => Early::Stopped,
        }
    }
}

/// What was found when everything was listed once.
#[derive(Default)]
struct Round {
    found: u64,
    example: String,
    /// Keys below the prefix that the run cannot have made, and one of them.
    strange: (u64, String),
}

/// A removal under way.
struct Remover<'r> {
    pool: ConnectionPool,
    access: Arc<Access>,
    own: &'r OwnKeys,
    /// Keys and versions that are believed at most.
    most: [u64; 2],
    target: &'r str,
    hooks: &'r mut dyn PrepareHooks,
    removed: Removal,
    /// Keys below the prefix that the run cannot have made, and one of them.
    strange: (u64, String),
}

impl Remover<'_> {
    /// Lists and removes until nothing is left.
    fn clear(&mut self, what: Listed) -> Result<(), Early> {
        let (mut least, mut tries) = (u64::MAX, 0);
        for _ in 0..MOST_ROUNDS {
            let round = self.round(what)?;
            if round.strange.0 > self.strange.0 {
                self.strange.clone_from(&round.strange);
            }
            if round.found == 0 {
                return Ok(());
            }
            if round.found >= least {
                tries += 1;
                if tries > TRIES {
                    return Err(stays(what, &round));
                }
                self.pause()?;
            }
            least = least.min(round.found);
        }
        let round = self.round(what)?;
        match round.found {
            0 => Ok(()),
            _ => Err(stays(what, &round)),
        }
    }

    /// Waits for a store that has not noticed yet what it removed.
    fn pause(&self) -> Result<(), Early> {
        let until = Instant::now() + PAUSE;
        while Instant::now() < until {
            if self.hooks.stop_requested() {
                return Err(Early::Stopped);
            }
            std::thread::sleep(LOOK_EVERY);
        }
        Ok(())
    }

    /// Lists everything once, and removes it page by page.
    fn round(&mut self, what: Listed) -> Result<Round, Early> {
        let prefix = self.own.prefix();
        let [keys, versions] = self.most;
        let mut listing = Listing::new(what, &prefix).at_most(match what {
            Listed::Versions => versions,
            Listed::Objects | Listed::Uploads => keys,
        });
        let mut round = Round::default();
        loop {
            let hooks = &*self.hooks;
            let asked = Stalled::begin(LISTING, &self.access);
            let page = listing.page(&mut self.pool, &self.access, &|| asked.look(hooks));
            let entries = match page {
                Ok(Some(entries)) => entries,
                Ok(None) => return Ok(round),
                // Not every store has versions, or uploads in parts.
                Err(Broken::Fault(fault))
                    if what != Listed::Objects && (matches!(fault.status, 400..=499 | 501)) =>
                {
                    return Ok(round);
                }
                Err(broken) => return Err(broken.into()),
            };
            let (own, strange) = self.own_of(entries, what);
            if let Some(first) = strange.first() {
                round.strange = (round.strange.0 + strange.len() as u64, shown(&first.key));
            }
            if let Some(last) = own.last() {
                round.found += own.len() as u64;
                round.example = shown(&last.key);
                self.remove(what, own)?;
            }
            self.hooks.progress(PrepareProgress {
                what: "removing the objects",
                done_bytes: self.removed.bytes,
                total_bytes: 0,
            });
        }
    }

    /// The entries of a page that can be of the run, and the others.
    fn own_of(&self, entries: Vec<Entry>, what: Listed) -> (Vec<Entry>, Vec<Entry>) {
        let marked = |entry: &Entry| what == Listed::Objects || !entry.mark.is_empty();
        let entries = entries.into_iter().filter(marked);
        entries.partition(|entry| self.own.owns(&entry.key))
    }

    fn remove(&mut self, what: Listed, own: Vec<Entry>) -> Result<(), Early> {
        if self.hooks.stop_requested() {
            return Err(Early::Stopped);
        }
        if what == Listed::Uploads {
            for upload in own {
                self.abort(&upload)?;
                self.removed.uploads += 1;
            }
            return Ok(());
        }
        self.send_batch(&own)?;
        self.removed.objects += own.len() as u64;
        if what == Listed::Objects {
            let bytes = own.iter().map(|entry| entry.bytes);
            self.removed.bytes = bytes.fold(self.removed.bytes, u64::saturating_add);
        }
        Ok(())
    }

    /// Removes what a list names; what its owner keeps from being removed as well,
    /// where that can be lifted: all of it is of the run.
    fn send_batch(&mut self, own: &[Entry]) -> Result<(), Early> {
        let mut said = self.send_list(own, false)?;
        if said.as_deref() == Some(DENIED) {
            said = self.send_list(own, true)?;
        }
        match said {
            Some(code) => Err(Early::Refused(format!("removing objects failed: {code}"))),
            None => Ok(()),
        }
    }

    /// Sends a list; the code of the first error in the answer.
    fn send_list(&mut self, own: &[Entry], bypass: bool) -> Result<Option<String>, Early> {
        let list = self.list(own)?;
        let sum = encode::base64(&md5(&list));
        let path = self.access.bucket_path();
        let both: [(&[u8], &[u8]); 2] = [
            (b"content-md5", sum.as_bytes()),
            (b"x-amz-bypass-governance-retention", b"true"),
        ];
        let request = Request {
            method: Method::Post,
            path: &path,
            query: b"delete=",
            extra: match bypass {
                true => &both,
                false => &both[..1],
            },
            body: Body::Bytes(list),
            sink: Sink::Keep,
        };
        let hooks = &*self.hooks;
        let end = match self.pool.ask_unless(request, &|| hooks.stop_requested()) {
            Ok(end) => end,
            Err(_) if hooks.stop_requested() => return Err(Early::Stopped),
            // Some stores refuse all of the list for one of its objects.
            Err(fault) if fault.status == 403 && !bypass => return Ok(Some(DENIED.to_owned())),
            Err(fault) => return Err(Early::failed("removing objects", &fault)),
        };
        let codes = error_codes(self.pool.kept(end.connection));
        let codes = codes.map_err(|error| {
            Early::Refused(format!(
                "what became of removing objects is unknown: {error}"
            ))
        })?;
        let mut codes = codes.into_iter();
        let code = codes.find(|code| !GONE.contains(&code.as_str()));
        Ok(code.map(|code| shown(&code)))
    }

    /// The document that removes objects, or versions of them. Nothing that is
    /// not of the run gets into it, whoever asks.
    fn list(&self, own: &[Entry]) -> Result<Vec<u8>, Early> {
        let mut list = b"<Delete><Quiet>true</Quiet>".to_vec();
        for entry in own {
            self.must_own(&entry.key)?;
            list.extend_from_slice(b"<Object><Key>");
            escape(&mut list, &entry.key);
            list.extend_from_slice(b"</Key>");
            if !entry.mark.is_empty() {
                list.extend_from_slice(b"<VersionId>");
                escape(&mut list, &entry.mark);
                list.extend_from_slice(b"</VersionId>");
            }
            list.extend_from_slice(b"</Object>");
        }
        list.extend_from_slice(b"</Delete>");
        Ok(list)
    }

    fn abort(&mut self, upload: &Entry) -> Result<(), Early> {
        self.must_own(&upload.key)?;
        let path = self.access.path_of(&upload.key);
        let mut query = b"uploadId=".to_vec();
        encode::percent(&mut query, upload.mark.as_bytes(), false);
        let request = Request {
            method: Method::Delete,
            path: &path,
            query: &query,
            extra: &[],
            body: Body::None,
            sink: Sink::Discard,
        };
        let hooks = &*self.hooks;
        match self.pool.ask_unless(request, &|| hooks.stop_requested()) {
            Ok(_) => Ok(()),
            Err(_) if hooks.stop_requested() => Err(Early::Stopped),
            // It ended meanwhile.
            Err(fault) if fault.status == 404 => Ok(()),
            Err(fault) => Err(Early::failed("giving up an upload", &fault)),
        }
    }

    /// The last look before a request that removes something.
    fn must_own(&self, key: &str) -> Result<(), Early> {
        match self.own.owns(key) {
            true => Ok(()),
            false => Err(Early::Untrusted(format!(
                "'{}' is not below {}",
                shown(key),
                self.own.prefix()
            ))),
        }
    }

    /// What became of it.
    fn finish(self, ended: Result<(), Early>) -> Result<Removal, Error> {
        let place = format!("s3://{}/{}", self.access.bucket, self.own.prefix());
        let (cause, helps) = match ended {
            Ok(()) => match self.strange {
                (0, _) => return Ok(self.removed),
                (count, example) => {
                    return Err(Error::Workload(format!(
                        "{count} keys below {place} are not of the kind that fathom makes (for \
                         example '{example}') and were left alone; everything else there is \
                         removed"
                    )));
                }
            },
            Err(Early::Refused(text)) => (text, true),
            Err(Early::Stopped) => ("it was interrupted".to_owned(), true),
            Err(Early::Untrusted(text)) => (text, false),
        };
        let before = match (self.removed.objects, self.removed.uploads) {
            (0, 0) => "nothing was removed".to_owned(),
            (objects, 0) => format!("requests to remove {objects} objects succeeded before"),
            (objects, uploads) => format!(
                "requests to remove {objects} objects and {uploads} unfinished uploads succeeded \
                 before"
            ),
        };
        let remedy = match helps {
            true => clean_command(&self.access, self.target),
            false => {
                format!("what remains below {place} has to be removed with the tools of the store")
            }
        };
        Err(Error::Workload(format!(
            "removing {place}: {cause}; {before}; {remedy}"
        )))
    }
}

fn stays(what: Listed, round: &Round) -> Early {
    Early::Untrusted(format!(
        "the store still lists {} {} that it was told to remove and said to have removed (for \
         example '{}')",
        round.found,
        what.name(),
        round.example
    ))
}

/// What removes the rest another time.
fn clean_command(access: &Access, target: &str) -> String {
    let endpoint = access.endpoints.first().map_or("…", |e| e.name.as_str());
    format!("`fathom clean s3://{target} --endpoint {endpoint} --yes` removes what remains")
}
