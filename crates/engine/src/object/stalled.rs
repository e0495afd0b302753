//! A request of the preparation that is not answered: told of after a while, and
//! again, so that a store that stalls is no silence.

use std::cell::Cell;
use std::time::{Duration, Instant};

use fathom_s3::Access;

use crate::prepare::PrepareHooks;

/// A request may take this long before it is told of.
const PATIENCE: Duration = Duration::from_secs(4);
/// Distance of two lines.
const AGAIN: Duration = Duration::from_secs(10);

/// What most of these requests are.
pub(super) const LISTING: &str = "a listing";

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
            let endpoints = self.access.endpoints.iter();
            let names: Vec<&str> = endpoints.map(|e| e.name.as_str()).collect();
            hooks.waiting(&format!(
                "the store at {} is not responding to {} (waited {} s)",
                names.join(", "),
                self.what,
                waited.as_secs()
            ));
        }
        hooks.stop_requested()
    }
}
