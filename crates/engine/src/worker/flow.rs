//! Loads that keep step: each worker does its share of all operations of its
//! flow, in proportion to its weight.
//!
//! A flow is known by its number within the process; who has it first makes
//! it, and it goes with the last one. A worker that is ahead of its share waits
//! a little and looks again. One that ends takes its weight and its operations
//! with it, so that the shares of the others stay what they were asked to be.

use std::collections::BTreeMap;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::{AcqRel, Relaxed};
use std::sync::{Arc, Mutex, PoisonError, Weak};

use fathom_model::workload::Flow;

/// How long a worker that is ahead waits, where nothing is said.
const USUAL_PAUSE_NS: u64 = 50_000;

static FLOWS: Mutex<BTreeMap<u32, Weak<FlowTotals>>> = Mutex::new(BTreeMap::new());

/// What all workers of a flow have done, and their weights.
#[derive(Debug, Default)]
struct FlowTotals {
    done: AtomicU64,
    weight: AtomicU64,
}

/// One worker's part in a flow.
#[derive(Debug)]
pub(crate) struct FlowStep {
    flow: Flow,
    /// From the start of the load on.
    shared: Option<Arc<FlowTotals>>,
    done: u64,
    /// It is ahead, and looks again then.
    waits_until_ns: Option<u64>,
}

impl FlowStep {
    pub(crate) fn new(flow: Flow) -> FlowStep {
        FlowStep {
            flow,
            shared: None,
            done: 0,
            waits_until_ns: None,
        }
    }

    /// The worker's load begins.
    pub(crate) fn join(&mut self) {
        let mut flows = FLOWS.lock().unwrap_or_else(PoisonError::into_inner);
        flows.retain(|_, shared| shared.strong_count() > 0);
        let known = flows.get(&self.flow.id).and_then(Weak::upgrade);
        let shared = known.unwrap_or_else(|| {
            let made = Arc::new(FlowTotals::default());
            flows.insert(self.flow.id, Arc::downgrade(&made));
            made
        });
        debug_assert!(self.shared.is_none(), "a worker has one weight in its flow");
        shared.weight.fetch_add(self.weight(), AcqRel);
        self.shared = Some(shared);
    }

    fn weight(&self) -> u64 {
        u64::from(self.flow.weight.max(1))
    }

    /// Whether nothing may be begun at `now_ns` because the worker is ahead.
    pub(crate) fn holds(&mut self, now_ns: u64) -> bool {
        let Some(shared) = &self.shared else {
            return false;
        };
        let own = u128::from(self.done) * u128::from(shared.weight.load(Relaxed));
        let due = u128::from(self.weight()) * u128::from(shared.done.load(Relaxed));
        let ahead = own > due;
        self.waits_until_ns = ahead.then(|| now_ns + self.pause_ns());
        ahead
    }

    fn pause_ns(&self) -> u64 {
        match self.flow.pause_ns {
            0 => USUAL_PAUSE_NS,
            pause_ns => pause_ns,
        }
    }

    /// When a worker that is ahead looks again.
    pub(crate) fn waits_until_ns(&self) -> Option<u64> {
        self.waits_until_ns
    }

    /// An operation was begun.
    pub(crate) fn began(&mut self) {
        self.done += 1;
        if let Some(shared) = &self.shared {
            shared.done.fetch_add(1, Relaxed);
        }
    }

    /// The worker begins nothing more.
    pub(crate) fn leave(&mut self) {
        if let Some(shared) = self.shared.take() {
            shared.weight.fetch_sub(self.weight(), AcqRel);
            shared.done.fetch_sub(self.done, AcqRel);
        }
        self.waits_until_ns = None;
    }
}

impl Drop for FlowStep {
    fn drop(&mut self) {
        self.leave();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn step(id: u32, weight: u32) -> FlowStep {
        let mut step = FlowStep::new(Flow {
            id,
            weight,
            pause_ns: 7,
        });
        step.join();
        step
    }

    #[test]
    fn shares_follow_the_weights_and_the_rest_goes_on_alone() {
        let (mut one, mut three) = (step(900, 1), step(900, 3));
        let mut done = [0u32; 2];
        for now_ns in 0..4_000 {
            for (place, step) in [&mut one, &mut three].into_iter().enumerate() {
                if !step.holds(now_ns) {
                    step.began();
                    done[place] += 1;
                }
            }
        }
        let ratio = f64::from(done[1]) / f64::from(done[0]);
        assert!((2.9..3.1).contains(&ratio), "{done:?}");
        assert!(one.holds(5) && one.waits_until_ns() == Some(12) || !one.holds(5));
        one.leave();
        let alone = (0..100).filter(|now_ns| {
            let goes_on = !three.holds(*now_ns);
            if goes_on {
                three.began();
            }
            goes_on
        });
        assert_eq!(alone.count(), 100);
    }

    #[test]
    fn a_flow_ends_with_its_last_worker() {
        let mut first = step(901, 1);
        (0..10).for_each(|_| first.began());
        drop(first);
        let mut later = step(901, 1);
        assert!(!later.holds(0));
        later.began();
        assert!(!later.holds(0), "alone it is never ahead");
    }
}
