//! A request of the preparation that is not answered: told of after a while, and
//! again, so that a store that stalls is no silence.

use std::cell::Cell;
use std::time::{Duration, Instant};

use fathom_model::unit;
use fathom_s3::Access;

use crate::prepare::PrepareHooks;

/// A request may take this long before it is told of.
const PATIENCE: Duration = Duration::from_secs(2);
/// Distance of two lines.
const AGAIN: Duration = Duration::from_secs(10);

/// What most of these requests are.
pub(super) const LISTING: &str = "a listing";
/// And those that remove what a listing named.
pub(super) const REMOVAL: &str = "a request to remove objects";

/// Requests that are under way at the same time, of which none ends.
pub(super) struct Outstanding {
    what: &'static str,
    /// When the last one ended.
    since: Instant,
    told: Option<Instant>,
}

impl Outstanding {
    pub(super) fn begin(what: &'static str) -> Outstanding {
        Outstanding {
            what,
            since: Instant::now(),
            told: None,
        }
    }

    /// Tells of `count` requests where a line is due; `ended` when some ended.
    pub(super) fn look(
        &mut self,
        count: usize,
        ended: bool,
        access: &Access,
        hooks: &dyn PrepareHooks,
    ) {
        if ended {
            (self.since, self.told) = (Instant::now(), None);
            return;
        }
        let waited = self.since.elapsed();
        let due = self.told.is_none_or(|at| at.elapsed() >= AGAIN);
        if waited >= PATIENCE && due {
            self.told = Some(Instant::now());
            let count = unit::counted(count as u64, "operation");
            let seconds = waited.as_secs();
            hooks.waiting(&format!(
                "{}: {count} outstanding, none answered for {seconds} s by the store at {}",
                self.what,
                names_of(access)
            ));
        }
    }
}

fn names_of(access: &Access) -> String {
    let names = access.endpoints.iter().map(|e| e.name.as_str());
    names.collect::<Vec<&str>>().join(", ")
}

/// A request that is under way.
pub(super) struct Stalled<'a> {
    what: &'static str,
    access: &'a Access,
    begun: Instant,
    told: Cell<Option<Instant>>,
}

impl<'a> Stalled<'a> {
    /// `what` is asked of the store from now on.
    pub(super) fn begin(what: &'static str, access: &'a Access) -> Stalled<'a> {
        Stalled {
            what,
            access,
            begun: Instant::now(),
            told: Cell::new(None),
        }
    }

    /// Looks whether a line is due. Whether the user wants to stop.
    pub(super) fn look(&self, hooks: &dyn PrepareHooks) -> bool {
        let waited = self.begun.elapsed();
        let due = |at: Instant| at.elapsed() >= AGAIN;
        if waited >= PATIENCE && self.told.get().is_none_or(due) {
            self.told.set(Some(Instant::now()));
            hooks.waiting(&format!(
                "the store at {} is not responding to {} (waited {} s)",
                names_of(self.access),
                self.what,
                waited.as_secs()
            ));
        }
        hooks.stop_requested()
    }
}
