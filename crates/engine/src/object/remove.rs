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
    shown,
};

use super::access;
use super::advice::told;
use super::known::ShelfObjects;
use super::own_keys::{KEPT, OwnKeys};
use super::prepare::{parts_of, prefix_of_run};
use super::shelf;
use super::stalled::{LISTING, Stalled};
use crate::Error;
use crate::prepare::{Hurry, PrepareHooks, PrepareProgress};

/// Removing is given at least so long for a request, however little those of
/// the load were given.
const PATIENCE_NS: u64 = 10_000_000_000;
/// And no longer when the user waits for the end.
const HURRY_NS: u64 = 2_000_000_000;
/// And once operations of the load had to be left behind, which took its time.
const LAST_TRY_NS: u64 = 600_000_000;
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
    /// What the user should know of it though everything is removed.
    pub notes: Vec<String>,
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
    run_tag: u64,
    file_prefix: &str,
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
    let known = shelf::known_below(&root);
    let believed = Believed { own, most, known };
    let removed = remove_below(store, target, &believed, hooks)?;
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
    let mut ask = |method| {
        let request = Request {
            method,
            path: &path,
            query: b"",
            extra: &[],
            body: Body::None,
            sink: Sink::Discard,
        };
        pool.ask_unless(request, &|| hooks.stop_requested())
    };
    let unnoted = |why: &str| {
        Error::Workload(format!(
            "that the objects are to be kept cannot be noted in s3://{bucket}/{key}: {why}; \
             `fathom clean` will remove them"
        ))
    };
    ask(Method::Put).map_err(|fault| unnoted(&told(&fault)))?;
    match ask(Method::Head) {
        Err(fault) if fault.status == 404 => {
            Err(unnoted("the store said that it did, and it is not there"))
        }
        // Not every key may look.
        _ => Ok(()),
    }
}

/// A store whose requests are given time, unless somebody waits for the end.
pub(super) fn patient(store: &ObjectStore, hurry: Hurry) -> ObjectStore {
    ObjectStore {
        timeout_ns: match hurry {
            Hurry::No => store.timeout_ns.max(PATIENCE_NS),
            Hurry::Awaited => store.timeout_ns.min(HURRY_NS),
            Hurry::LastTry => store.timeout_ns.min(LAST_TRY_NS),
        },
        ..store.clone()
    }
}

/// What a removal takes for the run's own.
pub(super) struct Believed<'k> {
    pub(super) own: &'k OwnKeys,
    /// So many keys, and versions of them, are believed at most.
    pub(super) most: [u64; 2],
    /// What this process knows to have made.
    pub(super) known: Vec<ShelfObjects>,
}

/// Removes everything that is the run's own.
pub(super) fn remove_below(
    store: &ObjectStore,
    target: &str,
    believed: &Believed<'_>,
    hooks: &mut dyn PrepareHooks,
) -> Result<Removal, Error> {
    let (bucket, _) = parts_of(target);
    let access = Arc::new(access::find(&patient(store, hooks.hurries()), &bucket, 0)?);
    let pool = ConnectionPool::single(&access)?;
    let mut remover = Remover {
        pool,
        access,
        own: believed.own,
        most: believed.most,
        target,
        hooks,
        removed: Removal::default(),
        listed: ListedAtOnce::default(),
        removes_by_name: !believed.known.is_empty(),
        strange: (0, String::new()),
    };
    let ended = [Listed::Uploads, Listed::Objects, Listed::Versions]
        .into_iter()
        .try_for_each(|what| remover.clear(what))
        .and_then(|()| remover.hold_against(&believed.known));
    remover.finish(ended)
}

/// Why a removal ended before everything was gone.
pub(super) enum Early {
    /// What the store or the way to it said; another try may help.
    Refused(String),
    /// What the store lists cannot be right; another try will not help.
    Untrusted(String),
    Stopped,
}

impl Early {
    pub(super) fn failed(what: &str, fault: &Fault) -> Early {
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
    /// Those of them that are objects: no copies, folders or notes.
    objects: u64,
    example: String,
    /// Keys below the prefix that the run cannot have made, and one of them.
    strange: (u64, String),
}

/// The most that one listing, from its beginning to its end, has named.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct ListedAtOnce {
    pub(super) objects: u64,
    pub(super) versions: u64,
}

/// A removal under way.
pub(super) struct Remover<'r> {
    pub(super) pool: ConnectionPool,
    pub(super) access: Arc<Access>,
    pub(super) own: &'r OwnKeys,
    /// Keys and versions that are believed at most.
    most: [u64; 2],
    target: &'r str,
    pub(super) hooks: &'r mut dyn PrepareHooks,
    pub(super) removed: Removal,
    pub(super) listed: ListedAtOnce,
    /// What is not listed can still be removed by name.
    pub(super) removes_by_name: bool,
    /// Keys below the prefix that the run cannot have made, and one of them.
    strange: (u64, String),
}

impl Remover<'_> {
    /// Lists and removes until nothing is left.
    pub(super) fn clear(&mut self, what: Listed) -> Result<(), Early> {
        let (mut least, mut tries) = (u64::MAX, 0);
        let mut last = String::new();
        for _ in 0..MOST_ROUNDS {
            let round = self.round(what)?;
            self.note_listed(what, &round);
            if round.strange.0 > self.strange.0 {
                self.strange.clone_from(&round.strange);
            }
            if round.found == 0 {
                return Ok(());
            }
            // As many others as before are progress: it lists a few at a time.
            if round.found >= least && round.example == last {
                tries += 1;
                if tries > TRIES {
                    return Err(stays(what, &round));
                }
                self.pause()?;
            }
            least = least.min(round.found);
            last = round.example;
        }
        // Too few at a time: what is known by name is removed so.
        if self.removes_by_name && what == Listed::Objects {
            return Ok(());
        }
        let round = self.round(what)?;
        match round.found {
            0 => Ok(()),
            _ => Err(stays(what, &round)),
        }
    }

    fn note_listed(&mut self, what: Listed, round: &Round) {
        match what {
            Listed::Objects => self.listed.objects = self.listed.objects.max(round.objects),
            Listed::Versions => self.listed.versions = self.listed.versions.max(round.found),
            Listed::Uploads => {}
        }
    }

    /// Waits for a store that has not noticed yet what it removed.
    pub(super) fn pause(&self) -> Result<(), Early> {
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
                let objects = own.iter().filter(|entry| self.own.names_object(&entry.key));
                round.objects += objects.count() as u64;
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
