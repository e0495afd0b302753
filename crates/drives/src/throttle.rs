//! Counting of time during which something held operations back.

/// Spans of time, joined where they overlap.
#[derive(Debug, Default, Clone, Copy)]
pub(super) struct Throttled {
    until_ns: u64,
    total_ns: u64,
    events: u64,
}

impl Throttled {
    /// An operation is held back from `from_ns` to `to_ns`.
    #[inline]
    pub(super) fn hold(&mut self, from_ns: u64, to_ns: u64) {
        if to_ns <= from_ns {
            return;
        }
        if from_ns > self.until_ns || self.events == 0 {
            self.events += 1;
        }
        let from_ns = from_ns.max(self.until_ns);
        if to_ns > from_ns {
            self.total_ns += to_ns - from_ns;
            self.until_ns = to_ns;
        }
    }

    /// The time up to `now_ns`, and how many times it began.
    pub(super) fn up_to(&self, now_ns: u64) -> (u64, u64) {
        let ahead_ns = self.until_ns.saturating_sub(now_ns);
        (self.total_ns.saturating_sub(ahead_ns), self.events)
    }
}
