//! What counts for each worker, and what for all of them together.

use fathom_model::workload::{Bounds, Rate, Until, WorkerBounds, WorkerRegion};

use super::{DEFAULT_SIZE_BYTES, TargetShape};
use crate::keys::WorkloadKeys;
use crate::value::RegionChoice;

/// The keys of one workload, seen from its workers.
pub(super) struct Each<'a> {
    keys: &'a WorkloadKeys,
    shape: TargetShape,
    workers: u32,
}

impl<'a> Each<'a> {
    pub(super) fn new(keys: &'a WorkloadKeys, shape: TargetShape, workers: u32) -> Each<'a> {
        Each {
            keys,
            shape,
            workers,
        }
    }

    /// Whether sizes, bounds and rates are those of one worker.
    fn is_asked_for(&self) -> bool {
        super::switch(self.keys.per_worker.as_ref(), false)
    }

    /// All workers use the same file or device.
    fn is_shared(&self) -> bool {
        matches!(self.shape, TargetShape::Sized | TargetShape::Sim)
            || super::switch(self.keys.shared_files.as_ref(), false)
    }

    fn step_bytes(&self) -> Option<u64> {
        let step = self.keys.offset_increment.as_ref()?.value.0;
        (step > 0).then_some(step)
    }

    fn is_whole(&self) -> bool {
        let region = self.keys.region.as_ref();
        region.is_some_and(|region| region.value == RegionChoice::Whole)
    }

    /// Bytes of the data set.
    pub(super) fn size_bytes(&self) -> Option<u64> {
        let one = match (&self.keys.size, self.shape) {
            (Some(size), _) => size.value.0,
            (None, TargetShape::Sized) => return None,
            (None, _) => DEFAULT_SIZE_BYTES,
        };
        if !self.is_asked_for() || (self.is_shared() && self.is_whole()) {
            return Some(one);
        }
        let workers = u64::from(self.workers);
        match self.step_bytes() {
            // Each starts further on and has its whole size behind that.
            Some(step) if self.is_shared() => {
                Some(one.saturating_add(step.saturating_mul(workers - 1)))
            }
            _ => Some(one.saturating_mul(workers)),
        }
    }

    /// Which part a worker uses.
    pub(super) fn region(&self) -> WorkerRegion {
        let span = self.keys.region_size.as_ref().map(|size| size.value.0);
        let size = self.keys.size.as_ref().map(|size| size.value.0);
        match self.step_bytes() {
            Some(step_bytes) => WorkerRegion::Staggered {
                step_bytes,
                span_bytes: span.or(size.filter(|_| self.is_asked_for() && self.is_shared())),
            },
            None if self.is_whole() => WorkerRegion::Whole,
            None => WorkerRegion::Split,
        }
    }

    /// Bounds of all workers together.
    pub(super) fn bounds(&self) -> Bounds {
        let keys = self.keys;
        let together = !self.is_asked_for();
        let runtime = keys.runtime.as_ref().map(|time| time.value.0);
        Bounds {
            time_ns: runtime
                .filter(|ns| *ns > 0)
                .or(keys.until.as_ref().map(|until| longest_ns(until.value.0))),
            bytes: self.io_size().filter(|_| together),
            ops: self.ops().filter(|_| together),
        }
    }

    /// Bounds of each worker.
    pub(super) fn worker_bounds(&self) -> WorkerBounds {
        let each = self.is_asked_for();
        let passes = self.keys.passes.as_ref().map(|passes| passes.value.0);
        WorkerBounds {
            bytes: self.io_size().filter(|_| each),
            ops: self.ops().filter(|_| each),
            passes: passes
                .filter(|n| *n > 0)
                .map(|n| u32::try_from(n).unwrap_or(u32::MAX)),
        }
    }

    fn io_size(&self) -> Option<u64> {
        let size = self.keys.io_size.as_ref().map(|size| size.value.0);
        size.filter(|bytes| *bytes > 0)
    }

    fn ops(&self) -> Option<u64> {
        let ops = self.keys.number_ios.as_ref().map(|ops| ops.value.0);
        ops.filter(|ops| *ops > 0)
    }

    /// How often what counts for each worker counts for all.
    pub(super) fn times(&self) -> u32 {
        if self.is_asked_for() { self.workers } else { 1 }
    }

    /// The rate of all workers together.
    pub(super) fn rate(&self, asked: Rate) -> Rate {
        Rate {
            per_second: asked.per_second * f64::from(self.times()),
            ..asked
        }
    }
}

/// Upper bound of a trial that ends at a state and has no runtime.
fn longest_ns(until: Until) -> u64 {
    match until {
        Until::Steady => 3_600_000_000_000,
        Until::Precision { .. } | Until::Settled(_) => 600_000_000_000,
    }
}
