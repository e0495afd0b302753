//! Kinds of operations with rates of their own: which one is due first.

use fathom_model::rng::derive_seed;
use fathom_model::{OpKind, Workload};

use super::varied::KINDS;
use crate::Error;
use crate::worker::Pace;

/// The schedules of the kinds that a worker does.
#[derive(Debug, Clone)]
pub(super) struct DueFirst {
    /// In the order of kinds.
    schedules: Vec<(OpKind, Pace)>,
    next: usize,
}

impl DueFirst {
    /// Nothing when no kind has a rate of its own.
    pub(super) fn new(
        workload: &Workload,
        worker_index: u32,
        seed: u64,
    ) -> Result<Option<DueFirst>, Error> {
        let rates = &workload.rate_by_kind;
        if rates.is_empty() {
            return Ok(None);
        }
        let done = KINDS.into_iter().filter(|kind| workload.may_do(*kind));
        let mut schedules = Vec::with_capacity(KINDS.len());
        for kind in done {
            let Some(rate) = rates.get(kind) else {
                return Err(Error::Workload(format!(
                    "rates by kind: there is none for {}; each kind that is done needs one",
                    kind.name()
                )));
            };
            let bytes = workload.block_of(kind).max_bytes();
            let seed = derive_seed(seed, 0x4B00 + kind.index() as u64);
            let pace = Pace::new(rate, workload.workers, worker_index, seed, bytes);
            schedules.push((kind, pace));
        }
        let mut due = DueFirst { schedules, next: 0 };
        due.look();
        Ok(Some(due))
    }

    /// The kind that is due first; at the same moment reads come before writes.
    #[inline]
    pub(super) fn kind(&self) -> OpKind {
        self.schedules[self.next].0
    }

    /// When it is due, from the start.
    #[inline]
    pub(super) fn due_ns(&self) -> u64 {
        self.schedules[self.next].1.next_ns()
    }

    /// The operation that is due first has `bytes`.
    #[inline]
    pub(super) fn advance(&mut self, bytes: u64) {
        self.schedules[self.next].1.advance(bytes);
        self.look();
    }

    fn look(&mut self) {
        let all = self.schedules.iter().enumerate();
        let first = all.min_by_key(|(_, (_, pace))| pace.next_ns());
        self.next = first.map_or(0, |(at, _)| at);
    }
}
