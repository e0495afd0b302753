//! The objects that the work needs are made, where they are not there yet.

use std::collections::{BTreeMap, VecDeque};

use fathom_model::OpKind;
use fathom_s3::{ConnectionPool, Ended};

use super::advice::{advised, told};
use super::ask::{Ask, Asker};
use super::picker::Task;
use super::shelf::Taken;
use super::stalled::Outstanding;
use super::work::StoreWork;
use crate::Error;
use crate::prepare::{PrepareHooks, PrepareProgress};

/// Connections that make objects.
const LANES: usize = 32;
/// How often an object is sent again while a bucket is made ready.
const TRIES: u32 = 5;

/// Objects of a rank that are to be made, from `number` on, each so many times.
#[derive(Debug, Clone, Copy)]
struct Missing {
    rank: u32,
    number: u64,
    objects: u64,
    /// Versions of each, and those of the first that are not made yet.
    versions: u64,
    left: u64,
}

/// An object that is under way over a lane.
#[derive(Debug, Clone, Copy)]
struct Making {
    rank: u32,
    number: u64,
    tries: u32,
}

/// What there is to make, and what was made.
struct Filling<'w> {
    work: &'w StoreWork,
    pool: ConnectionPool,
    asker: Asker,
    missing: VecDeque<Missing>,
    under_way: Vec<Option<Making>>,
    /// Versions by rank: objects and names.
    versions: BTreeMap<u32, Vec<(u64, String)>>,
    needs_versions: bool,
    /// Behind the last object of each rank that was begun.
    begun: BTreeMap<u32, u64>,
    made: u64,
    made_bytes: u64,
}

/// Makes the objects that the work needs and that are not there yet; how many,
/// and their bytes.
///
/// # Errors
/// When the store refuses, or keeps no versions where those are asked for.
pub(super) fn fill(work: &StoreWork, hooks: &mut dyn PrepareHooks) -> Result<(u64, u64), Error> {
    let makes_all = |kind| matches!(kind, OpKind::Put | OpKind::PutMultipart);
    let needs = work.work.ops.iter().any(|share| !makes_all(share.kind));
    let Some(shelf) = work.shelf.as_ref().filter(|_| needs && !work.work.existing) else {
        return Ok((0, 0));
    };
    let needs_versions = work.work.ops.iter().any(|op| op.kind.is_of_version());
    let missing = missing(work, shelf, needs_versions);
    let total: u64 = missing.iter().map(|m| m.objects * m.versions).sum();
    if total == 0 {
        return Ok((0, 0));
    }
    let lanes = LANES.min(usize::try_from(total).unwrap_or(LANES));
    let mut filling = Filling {
        pool: ConnectionPool::new(&work.access, lanes, 0)?,
        work,
        asker: Asker::default(),
        missing,
        under_way: vec![None; lanes],
        versions: BTreeMap::new(),
        needs_versions,
        begun: BTreeMap::new(),
        made: 0,
        made_bytes: 0,
    };
    let made = filling.make_all(total, hooks);
    match &made {
        Ok(()) => filling.note(shelf),
        Err(_) => filling.note_begun(shelf),
    }
    made.map(|()| (filling.made, filling.made_bytes))
}

/// What is not there yet: objects, and versions of those that are there.
fn missing(work: &StoreWork, shelf: &Taken, needs_versions: bool) -> VecDeque<Missing> {
    let versions = match needs_versions {
        true => u64::from(work.work.versions.max(1)),
        false => 1,
    };
    let mut all = VecDeque::new();
    for rank in 0..work.workers {
        let range = shelf.range(rank);
        let new = |number, objects, versions| Missing {
            rank,
            number,
            objects,
            versions,
            left: versions,
        };
        for number in (range.head..range.tail).filter(|_| needs_versions) {
            let known = range.versions.count_of(number);
            if known < versions {
                all.push_back(new(number, 1, versions - known));
            }
        }
        let lacking = work.work.objects.saturating_sub(range.count());
        all.push_back(new(range.tail, lacking, versions));
    }
    all
}

impl Filling<'_> {
    /// Makes all that is missing.
    fn make_all(&mut self, total: u64, hooks: &mut dyn PrepareHooks) -> Result<(), Error> {
        self.pool.connect_all(&|| hooks.stop_requested())?;
        let mut ended = Vec::new();
        let each = (self.work.names.sizes.mean_bytes() as u64).max(1);
        let mut outstanding = Outstanding::begin("making the objects");
        while self.begin() {
            self.pool.poll(Some(100_000_000), false, &mut ended);
            let count = self.under_way.iter().flatten().count();
            outstanding.look(count, !ended.is_empty(), &self.work.access, hooks);
            for end in ended.drain(..) {
                self.ended(end)?;
            }
            if hooks.stop_requested() {
                return Err(Error::Stopped);
            }
            hooks.progress(PrepareProgress {
                what: "making the objects",
                done_bytes: self.made * each,
                total_bytes: total * each,
            });
        }
        Ok(())
    }

    /// Puts what is missing over lanes that are free. False when nothing is left
    /// to wait for.
    fn begin(&mut self) -> bool {
        for lane in 0..self.under_way.len() {
            if self.under_way[lane].is_none()
                && let Some((rank, number)) = self.next()
            {
                self.put(
                    lane,
                    Making {
                        rank,
                        number,
                        tries: 1,
                    },
                );
            }
        }
        self.under_way.iter().any(Option::is_some)
    }

    fn next(&mut self) -> Option<(u32, u64)> {
        loop {
            let first = self.missing.front_mut()?;
            if first.objects == 0 {
                self.missing.pop_front();
                continue;
            }
            let found = (first.rank, first.number);
            self.begun.insert(first.rank, first.number + 1);
            first.left -= 1;
            if first.left == 0 {
                first.left = first.versions;
                first.objects -= 1;
                first.number += 1;
            }
            return Some(found);
        }
    }

    fn put(&mut self, lane: usize, making: Making) {
        let task = Task {
            kind: OpKind::Put,
            number: making.number,
            count: 1,
            version: 0,
        };
        let pool = &mut self.pool;
        self.asker
            .make(self.work, making.rank, &task, &Ask::Whole, |request| {
                let _ = pool.make_ready(lane, request);
            });
        self.pool.start_now(lane);
        self.under_way[lane] = Some(making);
    }

    fn ended(&mut self, end: Ended) -> Result<(), Error> {
        let Some(making) = self.under_way[end.connection].take() else {
            return Ok(());
        };
        let bucket = &self.work.access.bucket;
        match end.outcome {
            Ok(()) => {
                let version = self.pool.tags(end.connection).1;
                let known = !version.is_empty() && version != "null";
                if self.needs_versions && !known {
                    return Err(Error::Workload(format!(
                        "the bucket '{bucket}' keeps no versions; turn them on (aws s3api \
                         put-bucket-versioning --bucket {bucket} --versioning-configuration \
                         Status=Enabled), or take get, head and delete"
                    )));
                }
                let of_rank = self.versions.entry(making.rank).or_default();
                if known && of_rank.len() < self.work.most_versions() {
                    of_rank.push((making.number, version.to_owned()));
                }
                self.made += 1;
                self.made_bytes += self.work.names.bytes_of(making.rank, making.number);
            }
            Err(fault) if making.tries >= TRIES || fault.status / 100 == 4 => {
                self.under_way[end.connection] = Some(making);
                return Err(Error::Workload(format!(
                    "the objects that are to be read could not be made in bucket '{bucket}': {}",
                    advised(&told(&fault))
                )));
            }
            Err(_) => {
                std::thread::sleep(std::time::Duration::from_millis(20 << making.tries));
                let again = Making {
                    tries: making.tries + 1,
                    ..making
                };
                self.put(end.connection, again);
            }
        }
        Ok(())
    }

    /// It ended early: what was put is there, what is under way may be.
    fn note_begun(&mut self, shelf: &Taken) {
        let most = self.work.most_versions();
        for (rank, end) in std::mem::take(&mut self.begun) {
            let mut range = shelf.range(rank);
            range.tail = range.tail.max(end);
            let versions = u64::from(self.work.work.versions.max(1));
            range.changes += range.count().saturating_mul(versions);
            for (number, name) in self.versions.remove(&rank).unwrap_or_default() {
                range.versions.note(number, &name, most);
            }
            let open = self.under_way.iter().flatten();
            for making in open.filter(|making| making.rank == rank) {
                range.note_missing(making.number);
            }
            shelf.put_back(rank, range);
        }
    }

    /// Every rank has its objects now.
    fn note(&mut self, shelf: &Taken) {
        let most = self.work.most_versions();
        for rank in 0..self.work.workers {
            let mut range = shelf.range(rank);
            range.tail += self.work.work.objects.saturating_sub(range.count());
            let versions = u64::from(self.work.work.versions.max(1));
            range.changes += range.count().saturating_mul(versions);
            for (number, name) in self.versions.remove(&rank).unwrap_or_default() {
                range.versions.note(number, &name, most);
                range.note_made(number);
            }
            shelf.put_back(rank, range);
        }
    }
}
