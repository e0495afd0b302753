//! The contents that a deduplicating array knows.

use std::collections::{HashSet, VecDeque};

/// Contents that are remembered; the oldest are forgotten first.
const REMEMBERED_MAX: usize = 1 << 20;

#[derive(Default)]
pub(super) struct Fingerprints {
    known: HashSet<u64>,
    order: VecDeque<u64>,
}

impl Fingerprints {
    /// Whether this content is known; it is from now on. 0 is unlike any other.
    pub(super) fn has(&mut self, fingerprint: u64) -> bool {
        if fingerprint == 0 {
            return false;
        }
        if !self.known.insert(fingerprint) {
            return true;
        }
        self.order.push_back(fingerprint);
        if self.order.len() > REMEMBERED_MAX
            && let Some(oldest) = self.order.pop_front()
        {
            self.known.remove(&oldest);
        }
        false
    }
}
