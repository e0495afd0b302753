//! What is removed by name, because the store has not listed all that the run
//! made: a listing may lag behind, or be wrong. The names are of the run's own
//! making, so they lie below its prefix; it is looked at once more where the
//! requests are made.

use fathom_s3::{Body, Entry, Listed, Method, Request, Sink, shown};

use super::advice::told;
use super::known::ShelfObjects;
use super::remove::{Early, Remover};
use super::stalled::Stalled;

/// Objects of a list at most: what S3 takes.
const BATCH: usize = 1000;
/// Objects that are looked at, to see whether they are gone.
const LOOKED_AT: u64 = 48;
/// How often they are looked at before they are said to stay.
const LOOKS: u32 = 3;

/// What there is of some objects.
#[derive(Debug, Default)]
struct ExistingObjects {
    there: Vec<String>,
    /// Those that the store said nothing useful of, and what it said last.
    unknown: (u64, String),
}

impl Remover<'_> {
    /// Holds what was listed against what this process knows to have made, and
    /// removes by name what was not listed.
    pub(super) fn hold_against(&mut self, all: &[ShelfObjects]) -> Result<(), Early> {
        if self.has_listed(all) {
            return Ok(());
        }
        // Some stores list late what was put last.
        self.pause()?;
        self.clear(Listed::Objects)?;
        self.clear(Listed::Versions)?;
        if self.has_listed(all) {
            return Ok(());
        }
        let objects = all.iter().map(ShelfObjects::objects).sum::<u64>();
        let share = LOOKED_AT.div_ceil(all.len().max(1) as u64).max(2);
        let sample = all.iter().flat_map(|known| {
            let some = known.sample(share).into_iter();
            some.map(|(rank, number)| known.key(rank, number))
        });
        let sample: Vec<String> = sample.collect();
        let before = self.look_at(&sample)?;
        for known in all {
            self.remove_by_name(known)?;
        }
        self.removes_by_name = false;
        self.clear(Listed::Objects)?;
        // Where versions are kept, a mark stands for each that was removed.
        self.clear(Listed::Versions)?;
        self.must_be_gone(&sample)?;
        if !before.there.is_empty() {
            self.removed.notes.push(format!(
                "the store listed only {} of the {objects} objects that this run made below \
                 s3://{}/{}; the others were removed by their names (of {} that were looked at \
                 afterwards none is there)",
                self.listed.objects,
                self.access.bucket,
                self.own.prefix(),
                sample.len()
            ));
        }
        Ok(())
    }

    fn has_listed(&self, all: &[ShelfObjects]) -> bool {
        let objects = all.iter().map(ShelfObjects::objects).sum::<u64>();
        let versions = all.iter().map(ShelfObjects::versions).sum::<u64>();
        self.listed.objects >= objects && self.listed.versions >= versions
    }

    fn remove_by_name(&mut self, known: &ShelfObjects) -> Result<(), Early> {
        let mut batch = Vec::with_capacity(BATCH);
        for (rank, range) in &known.ranks {
            // Copies stay where their objects were removed.
            let first = if known.copies { 0 } else { range.head };
            for number in first..range.tail {
                if known.copies {
                    batch.push(entry(known.key_of_copy(*rank, number), ""));
                }
                if number >= range.head && !range.is_missing(number) {
                    let key = known.key(*rank, number);
                    let versions = range.versions.names_of(number);
                    let before = batch.len();
                    batch.extend(versions.map(|version| entry(key.clone(), version)));
                    if batch.len() == before {
                        batch.push(entry(key, ""));
                    }
                }
                while batch.len() >= BATCH {
                    let rest = batch.split_off(BATCH);
                    self.send_named(&batch)?;
                    batch = rest;
                }
            }
        }
        match batch.is_empty() {
            true => Ok(()),
            false => self.send_named(&batch),
        }
    }

    fn send_named(&mut self, batch: &[Entry]) -> Result<(), Early> {
        if self.hooks.stop_requested() {
            return Err(Early::Stopped);
        }
        self.send_batch(batch)
    }

    /// Looks at objects until they are gone, or often enough.
    fn must_be_gone(&mut self, keys: &[String]) -> Result<(), Early> {
        let mut seen = self.look_at(keys)?;
        for _ in 1..LOOKS {
            if seen.there.is_empty() {
                break;
            }
            self.pause()?;
            seen = self.look_at(keys)?;
        }
        let looked = keys.len();
        if let Some(example) = seen.there.first() {
            return Err(Early::Untrusted(format!(
                "the store does not list all objects that this run made, and {} of {looked} that \
                 were looked at are still there though it said that they are removed (for example \
                 '{}')",
                seen.there.len(),
                shown(example)
            )));
        }
        match seen.unknown {
            (0, _) => Ok(()),
            (count, text) => Err(Early::Untrusted(format!(
                "the store does not list all objects that this run made; the others were removed \
                 by their names, and of {count} of {looked} that were looked at it cannot be \
                 shown that they are gone ({text})"
            ))),
        }
    }

    fn look_at(&mut self, keys: &[String]) -> Result<ExistingObjects, Early> {
        let mut seen = ExistingObjects::default();
        for key in keys {
            let path = self.access.path_of(key);
            let request = Request {
                method: Method::Head,
                path: &path,
                query: b"",
                extra: &[],
                body: Body::None,
                sink: Sink::Discard,
            };
            let hooks = &*self.hooks;
            let asked = Stalled::begin("a look whether an object is there", &self.access);
            match self.pool.ask_unless(request, &|| asked.look(hooks)) {
                Ok(_) => seen.there.push(key.clone()),
                Err(_) if self.hooks.stop_requested() => return Err(Early::Stopped),
                Err(fault) if fault.status == 404 => {}
                Err(fault) => seen.unknown = (seen.unknown.0 + 1, told(&fault)),
            }
        }
        Ok(seen)
    }
}

fn entry(key: String, version: &str) -> Entry {
    Entry {
        key,
        mark: version.to_owned(),
        bytes: 0,
    }
}
