//! Operations that a worker may still do of a number that all workers share:
//! loops that do one thing after the other, on files or on a store, take some at
//! once so that they meet seldom.

use super::Control;

/// What one worker has taken of the common bound and not used.
#[derive(Debug)]
pub(crate) struct Allowance {
    /// Operations that are taken at once at most.
    chunk: u64,
    workers: u64,
    left: u64,
}

impl Allowance {
    /// That of one of `workers`, which takes at most `chunk` operations at once.
    pub(crate) fn new(chunk: u64, workers: u32) -> Allowance {
        Allowance {
            chunk,
            workers: u64::from(workers.max(1)),
            left: 0,
        }
    }

    /// Whether one more may be done; it is taken then.
    #[inline]
    pub(crate) fn take(&mut self, of: &Control) -> bool {
        let Some(pool) = &of.ops else {
            return true;
        };
        if self.left == 0 {
            self.left = pool.take(|left| self.chunk.min(left.div_ceil(self.workers)));
        }
        let some = self.left > 0;
        self.left = self.left.saturating_sub(1);
        some
    }

    /// The one that was taken last was not done.
    pub(crate) fn put_back(&mut self, of: &Control) {
        self.left += u64::from(of.ops.is_some());
    }

    /// Leaves the rest to the others.
    pub(crate) fn give_back(&mut self, of: &Control) {
        if let (Some(pool), true) = (&of.ops, self.left > 0) {
            pool.give_back(self.left);
            self.left = 0;
        }
    }
}
