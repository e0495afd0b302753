//! A look at some of the objects after a load that put, copied or removed them: a store that
//! confirms what it does not keep, or keeps what it confirms to have removed, is
//! found out here, outside of the measured time.
//!
//! Of each object that was put or copied the last bytes are read, which shows that it is there, that it
//! is long enough, and what is in it.

use std::time::{Duration, Instant};

use fathom_model::OpKind;
use fathom_model::run::KeptObjects;
use fathom_s3::{Body, ConnectionPool, Ended, Fault, Method, Request, Sink, encode};

use super::advice::told;
use super::known::ShelfObjects;
use super::names::ObjectNames;
use super::work::StoreWork;
use crate::prepare::{PrepareHooks, Prepared};

/// Objects that are looked at.
const LOOKED_AT: u64 = 48;
/// Bytes that are read of each, at its end.
const TAIL_BYTES: u64 = 64 << 10;
/// How long the answer for one may take, and all of it together.
const PATIENCE_NS: u64 = 4_000_000_000;
const MOST_TIME: Duration = Duration::from_secs(10);
/// How often what is missing is looked at again, and the pause before: some
/// stores show late what was put last.
const LOOKS: u32 = 3;
const PAUSE: Duration = Duration::from_millis(300);

/// What became of an object.
enum Look {
    Kept,
    /// It was removed.
    Gone,
    StillThere,
    Missing,
    OtherSize(u64),
    OtherContent(u64),
    Unanswered(String),
}

/// Looks at objects that a load has put, copied or removed. `None` where it did none of it, or
/// nothing is kept.
pub fn look_back(prepared: &Prepared, hooks: &dyn PrepareHooks) -> Option<KeptObjects> {
    let work = prepared.ready.objects()?;
    let does = |kinds: &[OpKind]| kinds.iter().any(|kind| work.work.does(*kind));
    let known = work.shelf.as_ref()?.known()?;
    let mut kept = KeptObjects::default();
    let mut looking = Looking {
        glance: Glance::new(work),
        hooks,
        begun: Instant::now(),
    };
    let mut any = false;
    if does(&[OpKind::Put, OpKind::PutMultipart, OpKind::PutVersion]) {
        // What was made before may have been removed by another host since.
        let new = known.since(&work.tails);
        let new = if new.objects() > 0 { &new } else { &known };
        any |= looking.look(new, ExpectedObject::There, &mut kept);
    }
    if does(&[OpKind::Copy]) {
        any |= looking.look(&known, ExpectedObject::Copied, &mut kept);
    }
    if does(&[OpKind::Delete, OpKind::DeleteMany]) {
        let removed = known.removed_since(&work.heads);
        any |= looking.look(&removed, ExpectedObject::Gone, &mut kept);
    }
    any.then_some(kept)
}

/// What a load has left an object as.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ExpectedObject {
    There,
    /// A copy of it is there.
    Copied,
    Gone,
}

impl ExpectedObject {
    fn key(self, known: &ShelfObjects, rank: u32, number: u64) -> String {
        match self {
            ExpectedObject::Copied => known.key_of_copy(rank, number),
            ExpectedObject::There | ExpectedObject::Gone => known.key(rank, number),
        }
    }
}

/// A look back under way.
struct Looking<'w> {
    glance: Result<Glance<'w>, fathom_s3::Error>,
    hooks: &'w dyn PrepareHooks,
    begun: Instant,
}

impl Looking<'_> {
    /// Looks at some of the objects until they are as expected, or often enough.
    /// Returns whether there are any.
    fn look(
        &mut self,
        known: &ShelfObjects,
        expected: ExpectedObject,
        kept: &mut KeptObjects,
    ) -> bool {
        let mut left = match expected {
            ExpectedObject::Copied => known.sample_of_copied(LOOKED_AT as usize),
            ExpectedObject::There | ExpectedObject::Gone => known.sample(LOOKED_AT),
        };
        if left.is_empty() {
            return false;
        }
        let glance = match &mut self.glance {
            Ok(glance) => glance,
            Err(error) => {
                kept.unanswered += left.len() as u64;
                kept.example.get_or_insert(error.to_string());
                return true;
            }
        };
        let is_over = || self.hooks.stop_requested() || self.begun.elapsed() > MOST_TIME;
        for look_number in 1..=LOOKS {
            let mut unexpected = Vec::new();
            for (rank, number) in left {
                if is_over() {
                    break;
                }
                let look = match expected {
                    ExpectedObject::Gone => glance.look_removed(rank, number, self.hooks),
                    _ => glance.look(rank, number, expected, self.hooks),
                };
                match look {
                    Look::Missing | Look::StillThere if look_number < LOOKS => {
                        unexpected.push((rank, number));
                    }
                    look => take_note(kept, &expected.key(known, rank, number), look),
                }
            }
            left = unexpected;
            if left.is_empty() || is_over() {
                break;
            }
            std::thread::sleep(PAUSE);
        }
        true
    }
}

fn take_note(kept: &mut KeptObjects, key: &str, look: Look) {
    let mut looked = &mut kept.looked;
    let (count, text) = match look {
        Look::Kept => {
            kept.looked += 1;
            return;
        }
        Look::Gone => {
            kept.removed_looked += 1;
            return;
        }
        Look::Unanswered(text) => {
            kept.unanswered += 1;
            kept.example.get_or_insert(format!("{key}: {text}"));
            return;
        }
        Look::Missing => (&mut kept.missing, "is not there".to_owned()),
        Look::StillThere => {
            looked = &mut kept.removed_looked;
            (&mut kept.still_there, "was removed and is there".to_owned())
        }
        Look::OtherSize(bytes) => (
            &mut kept.other_size,
            format!("does not have the {bytes} bytes that were put"),
        ),
        Look::OtherContent(at) => (
            &mut kept.other_content,
            format!("differs from what was put, within 64 KiB after byte {at}"),
        ),
    };
    *count += 1;
    *looked += 1;
    // What is wrong says more than what was not answered.
    if kept.wrong() == 1 {
        kept.example = Some(format!("{key} {text}"));
    }
}

/// Connections to look over, one for each endpoint.
struct Glance<'w> {
    work: &'w StoreWork,
    pools: Vec<ConnectionPool>,
    next: usize,
}

impl<'w> Glance<'w> {
    fn new(work: &'w StoreWork) -> Result<Glance<'w>, fathom_s3::Error> {
        let places = 0..work.access.endpoints.len();
        let pools = places.map(|place| {
            let mut pool = ConnectionPool::new(&work.access, 1, place)?;
            pool.limit(PATIENCE_NS, PATIENCE_NS);
            Ok(pool)
        });
        Ok(Glance {
            work,
            pools: pools.collect::<Result<_, fathom_s3::Error>>()?,
            next: 0,
        })
    }

    /// Looks at an object, or at its copy, which holds the same.
    fn look(
        &mut self,
        rank: u32,
        number: u64,
        expected: ExpectedObject,
        hooks: &dyn PrepareHooks,
    ) -> Look {
        let mut path = Vec::new();
        let bytes = self.work.path(&mut path, rank, number);
        if expected == ExpectedObject::Copied {
            self.work.names.copy_path(&mut path, rank, number);
        }
        let length = bytes.min(TAIL_BYTES);
        let at = bytes - length;
        let mut range = b"bytes=".to_vec();
        encode::decimal(&mut range, at);
        range.push(b'-');
        encode::decimal(&mut range, bytes.saturating_sub(1));
        let header: [(&[u8], &[u8]); 1] = [(b"range", &range)];
        let request = Request {
            method: Method::Get,
            path: &path,
            query: b"",
            extra: if at > 0 { &header } else { &[] },
            body: Body::None,
            sink: Sink::Check {
                object: ObjectNames::content_of(rank, number),
                at,
            },
        };
        judge(self.ask(request, hooks), (at, length, bytes))
    }

    /// Looks at an object that should not be there.
    fn look_removed(&mut self, rank: u32, number: u64, hooks: &dyn PrepareHooks) -> Look {
        let mut path = Vec::new();
        self.work.path(&mut path, rank, number);
        let request = Request {
            method: Method::Head,
            path: &path,
            query: b"",
            extra: &[],
            body: Body::None,
            sink: Sink::Discard,
        };
        match self.ask(request, hooks) {
            Ok(_) => Look::StillThere,
            Err(fault) if fault.status == 404 => Look::Gone,
            Err(fault) => Look::Unanswered(told(&fault)),
        }
    }

    /// Asks the endpoints in turn.
    fn ask(&mut self, request: Request<'_>, hooks: &dyn PrepareHooks) -> Result<Ended, Fault> {
        let place = self.next % self.pools.len();
        self.next += 1;
        self.pools[place].ask_unless(request, &|| hooks.stop_requested())
    }
}

/// What the answer means to a request for `length` of `bytes`, from `at` on.
fn judge(asked: Result<Ended, Fault>, (at, length, bytes): (u64, u64, u64)) -> Look {
    match asked {
        // All of it came: this store knows no ranges.
        Ok(end) if at > 0 && end.received == bytes => Look::Kept,
        Ok(end) if end.received != length => Look::OtherSize(bytes),
        Ok(end) => match end.differs_at {
            Some(at) => Look::OtherContent(at),
            None => Look::Kept,
        },
        Err(fault) if fault.status == 404 => Look::Missing,
        // It ends before the range begins.
        Err(fault) if fault.status == 416 => Look::OtherSize(bytes),
        Err(fault) => Look::Unanswered(told(&fault)),
    }
}
