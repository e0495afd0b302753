//! What only some workloads record of each operation: the halves of its
//! service latency, depths and batches, squares, a log.
//!
//! Splitting service latency needs a moment at which the submitting call has
//! returned. Elsewhere handing over and waiting are one system call; here they
//! are two, and the worker reads the clock between them.

use fathom_model::recording::DepthCounts;
use fathom_model::{OpKind, Operation, Phase};

use super::Worker;
use crate::clock::Clock;
use crate::engine::{Broken, Engine};
use crate::record::Detail;

/// A worker's own part of what is recorded in detail.
#[derive(Debug)]
pub(crate) struct Detailed {
    detail: Detail,
    /// When the call that submitted a slot's operation returned.
    submitted_ns: Box<[u64]>,
    depths: DepthCounts,
}

impl Detailed {
    /// For `slots` slots; `None` when nothing is asked for.
    pub(crate) fn new(detail: Detail, slots: u32) -> Option<Box<Detailed>> {
        detail.is_any().then(|| {
            Box::new(Detailed {
                detail,
                submitted_ns: vec![0; slots as usize].into(),
                depths: DepthCounts::default(),
            })
        })
    }
}

impl Worker {
    /// Depths and batches so far, if they are recorded.
    pub(crate) fn depths(&self) -> Option<DepthCounts> {
        let detailed = self.detailed.as_ref()?;
        detailed.detail.distributions.then_some(detailed.depths)
    }

    /// What is staged is in flight from `now_ns` on: counts it, and submits it
    /// by a call of its own if that is to be timed.
    pub(crate) fn submit_in_detail<E: Engine, C: Clock>(
        &mut self,
        engine: &mut E,
        clock: &C,
    ) -> Result<(), Broken> {
        let measuring = self.recorder.phase() == Phase::Measure;
        let Some(detailed) = &mut self.detailed else {
            return Ok(());
        };
        let batch = self.staged.len() as u32;
        if detailed.detail.distributions && measuring && batch > 0 {
            let before = self.in_flight - batch;
            for depth in before + 1..=self.in_flight {
                detailed.depths.at_submission[DepthCounts::depth_class(depth)] += 1;
            }
            detailed.depths.submitted[DepthCounts::batch_class(batch)] += 1;
        }
        if detailed.detail.halves {
            engine.submit()?;
            let submitted_ns = clock.now();
            for slot in &self.staged {
                detailed.submitted_ns[*slot as usize] = submitted_ns;
            }
        }
        Ok(())
    }

    /// Counts a batch of completions.
    #[inline(never)]
    pub(crate) fn count_completed(&mut self, ended: usize) {
        if ended > 0
            && self.recorder.phase() == Phase::Measure
            && let Some(detailed) = &mut self.detailed
        {
            let class = DepthCounts::batch_class(u32::try_from(ended).unwrap_or(u32::MAX));
            detailed.depths.completed[class] += 1;
        }
    }

    /// Records the details of an operation that succeeded.
    #[inline(never)]
    pub(crate) fn record_detail(&mut self, slot: u32, kind: OpKind, now_ns: u64, service_ns: u64) {
        let Some(detailed) = &self.detailed else {
            return;
        };
        let op = self.visible.in_flight.op(slot);
        let started_ns = now_ns - service_ns;
        let submission_ns = if detailed.detail.halves {
            let submitted_ns = detailed.submitted_ns[slot as usize];
            submitted_ns.saturating_sub(started_ns).min(service_ns)
        } else {
            0
        };
        self.recorder.detail(Operation {
            kind,
            worker: 0,
            file: op.file + self.first_file,
            bytes: op.len,
            offset_bytes: match kind {
                // How it was made.
                OpKind::Sync => 0,
                _ => op.offset,
            },
            ended_ns: now_ns,
            service_ns,
            submission_ns,
        });
    }
}
