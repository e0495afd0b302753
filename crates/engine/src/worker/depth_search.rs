//! The queue depth at which operations keep within a latency.
//!
//! From depth 1 on it doubles for as long as a window keeps within the target,
//! then halves the distance between the deepest that did and the shallowest
//! that did not. Only operations that were begun within a window count for it.

use fathom_model::workload::LatencyTarget;

/// Operations that a window holds at least, before it is judged.
const LEAST_OPS: u64 = 8;

/// The search of one worker.
#[derive(Debug)]
pub(crate) struct DepthSearch {
    target: LatencyTarget,
    most: u32,
    depth: u32,
    /// Deepest that kept within the target; 0 is none.
    good: u32,
    /// Shallowest that did not.
    bad: Option<u32>,
    window_ns: Option<u64>,
    ops: u64,
    over: u64,
    found: bool,
}

impl DepthSearch {
    /// Up to a depth of `most`.
    pub(crate) fn new(target: LatencyTarget, most: u32) -> DepthSearch {
        DepthSearch {
            target,
            most: most.max(1),
            depth: 1,
            good: 0,
            bad: None,
            window_ns: None,
            ops: 0,
            over: 0,
            found: false,
        }
    }

    /// Operations that may be in flight.
    #[inline]
    pub(crate) fn depth(&self) -> u32 {
        self.depth
    }

    /// The deepest that kept within the target, or what is being tried.
    pub(crate) fn result(&self) -> u32 {
        if self.good > 0 { self.good } else { self.depth }
    }

    /// An operation ended at `now_ns`. True when the search has come to its end
    /// and the load ends with it.
    #[inline]
    pub(crate) fn ended(&mut self, started_ns: u64, service_ns: u64, now_ns: u64) -> bool {
        let window_ns = *self.window_ns.get_or_insert(started_ns);
        if started_ns < window_ns {
            return false;
        }
        self.ops += 1;
        self.over += u64::from(service_ns > self.target.latency_ns);
        if now_ns < window_ns.saturating_add(self.target.window_ns) || self.ops < LEAST_OPS {
            return false;
        }
        self.judge(now_ns)
    }

    fn judge(&mut self, now_ns: u64) -> bool {
        debug_assert!(
            self.ops > 0 && self.over <= self.ops,
            "{} of {} operations took too long",
            self.over,
            self.ops
        );
        let within = (self.ops - self.over) as f64 * 100.0 / self.ops as f64;
        let kept = within >= self.target.percentile;
        (self.ops, self.over, self.window_ns) = (0, 0, Some(now_ns));
        let before = self.depth;
        if kept {
            self.good = before;
            // What held once may hold again deeper, where the load goes on.
            self.depth = match self.bad {
                None => before.saturating_mul(2).min(self.most),
                Some(bad) => before + (bad.saturating_sub(before)) / 2,
            };
        } else {
            self.bad = Some(before);
            self.good = self.good.min(before.saturating_sub(1));
            self.depth = (self.good + (before - self.good) / 2).max(1);
        }
        debug_assert!(
            (1..=self.most).contains(&self.depth),
            "a depth of {} of at most {}",
            self.depth,
            self.most
        );
        self.found |= self.depth == before;
        self.found && !self.target.goes_on
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn search(goes_on: bool) -> DepthSearch {
        let target = LatencyTarget {
            latency_ns: 1_000,
            window_ns: 100_000,
            percentile: 90.0,
            goes_on,
        };
        DepthSearch::new(target, 64)
    }

    /// A drive on which an operation takes 100 ns for each in flight.
    fn run(search: &mut DepthSearch, ns_per_depth: u64, windows: u32) -> bool {
        let mut now_ns = search.window_ns.unwrap_or(0);
        for _ in 0..windows * 200 {
            let service_ns = u64::from(search.depth()) * ns_per_depth;
            let over = search.ended(now_ns, service_ns, now_ns + service_ns);
            now_ns += 1_000;
            if over {
                return true;
            }
        }
        false
    }

    #[test]
    fn the_deepest_that_keeps_within_the_target_is_found() {
        let mut fast = search(false);
        assert!(run(&mut fast, 100, 40));
        assert_eq!(fast.result(), 10);
        let mut faster = search(false);
        assert!(run(&mut faster, 1, 40));
        assert_eq!(faster.result(), 64, "never more than was asked for");
        let mut slow = search(false);
        assert!(run(&mut slow, 5_000, 40));
        assert_eq!(slow.result(), 1);
    }

    #[test]
    fn a_load_that_goes_on_follows_the_drive() {
        let mut search = search(true);
        assert!(!run(&mut search, 100, 40));
        assert_eq!(search.result(), 10);
        assert!(!run(&mut search, 400, 40));
        assert!(search.depth() <= 2, "{search:?}");
    }
}
