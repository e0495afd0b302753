//! The second half of a turn: what has ended is checked and counted.

use fathom_model::OpKind;

use super::failure::{Cause, Failure};
use super::{EndReason, UsedUp, Worker};
use crate::engine::{Completion, ENDED, Op};

impl Worker {
    /// Takes the operations that had ended when the clock showed `now_ns`.
    #[inline]
    pub(crate) fn settle(&mut self, now_ns: u64, ended: &[Completion]) {
        self.pass(now_ns);
        if self.plain {
            // Nothing that one of them causes looks at how many the others are.
            self.in_flight -= ended.len() as u32;
            for completion in ended {
                self.settle_one::<true>(now_ns, completion);
            }
        } else {
            self.count_completed(ended.len());
            for completion in ended {
                self.settle_one::<false>(now_ns, completion);
            }
        }
    }

    #[inline(always)]
    fn settle_one<const PLAIN: bool>(&mut self, now_ns: u64, completion: &Completion) {
        let slot = completion.slot;
        let (kind, len, started_ns) = self.visible.in_flight.end(slot);
        if !PLAIN {
            self.in_flight -= 1;
        }
        // What nearly always happens, ahead of all that rarely does.
        let complete = completion.result == len as i32;
        let succeeded = if complete && (PLAIN || self.verifier.is_none()) {
            true
        } else {
            self.check_or_fail(completion, now_ns)
        };
        if succeeded {
            let service_ns = if now_ns > started_ns {
                now_ns - started_ns
            } else {
                self.recorder.impossible();
                0
            };
            self.recorder.complete(kind, u64::from(len), service_ns);
            if !PLAIN && self.pace.is_some() && kind.is_data() {
                let intended_ns = self.visible.in_flight.intended_ns(slot);
                self.recorder
                    .respond(kind, now_ns.saturating_sub(intended_ns));
            }
            if !PLAIN {
                self.record_detail(slot, kind, now_ns, service_ns);
                self.look_at_depth(started_ns, service_ns, now_ns);
            }
        }
        if PLAIN {
            self.free.give_back(slot);
        } else {
            self.hold_back(slot, kind, succeeded, now_ns);
        }
    }

    /// What has ended may commit a batch, or its slot think.
    fn hold_back(&mut self, slot: u32, kind: OpKind, succeeded: bool, now_ns: u64) {
        if kind == OpKind::Sync && slot == self.flush_slot {
            self.flushed(succeeded, now_ns);
            return;
        }
        if kind == OpKind::Write {
            self.commit.write_ended(succeeded);
            if succeeded && self.commit.follows_ranges() {
                self.commit.wrote(&self.visible.in_flight.op(slot));
            }
        }
        if self.trim_slot == Some(slot) {
            self.trim_slot = None;
        }
        if self.think_ns == 0 {
            self.free.give_back(slot);
        } else {
            let ready_ns = now_ns.saturating_add(self.think_ns);
            self.free.give_back_thinking(slot, ready_ns);
        }
    }

    /// Tells the search for a depth how long an operation took.
    fn look_at_depth(&mut self, started_ns: u64, service_ns: u64, now_ns: u64) {
        let Some(search) = &mut self.depth_search else {
            return;
        };
        if search.ended(started_ns, service_ns, now_ns) && !self.draining {
            self.control.end_one(EndReason::Ops);
            self.drain();
        }
    }

    /// A write found no room any more, which is what the load was to go on to.
    #[cold]
    fn is_full(&mut self, op: &Op, cause: &Cause) -> bool {
        let full = match cause {
            Cause::Errno(errno) => matches!(*errno, libc::ENOSPC | libc::EDQUOT),
            Cause::Short(_) => true,
            _ => false,
        };
        if !(self.ends_when_full && full && op.kind == OpKind::Write) {
            return false;
        }
        if !self.draining && !self.closing {
            let used_up = UsedUp {
                reason: EndReason::Bytes,
                own: true,
            };
            self.end_bounded(used_up, 0);
        }
        true
    }

    /// Whether the operation did all that it should have; counts it as a
    /// failure if not.
    #[inline(never)]
    fn check_or_fail(&mut self, completion: &Completion, now_ns: u64) -> bool {
        if completion.result == ENDED {
            self.other_end_ended();
            return false;
        }
        let op = self.visible.in_flight.op(completion.slot);
        match self.check(&op, completion.result) {
            Ok(()) => true,
            Err(cause) if self.is_full(&op, &cause) => false,
            Err(cause) => {
                self.failed(&op, cause, now_ns);
                false
            }
        }
    }

    /// The other end of a connection has ended: so does this worker.
    fn other_end_ended(&mut self) {
        if !self.draining {
            self.control.end_one(EndReason::Bytes);
            self.drain();
        }
    }

    /// Whether the operation did all that it should have.
    fn check(&mut self, op: &Op, result: i32) -> Result<(), Cause> {
        // The length of a range that was synced is not noted, but the null
        // engine gives it back.
        let complete = result == op.len as i32 || op.kind == OpKind::Sync && result > 0;
        if self.verifier.is_some() && op.kind != OpKind::Sync {
            self.verify(op, complete)?;
        }
        if complete {
            Ok(())
        } else if result < 0 {
            Err(Cause::Errno(-result))
        } else {
            Err(Cause::Short(result as u32))
        }
    }

    fn verify(&mut self, op: &Op, complete: bool) -> Result<(), Cause> {
        let access = self.access_of(op);
        let Some(verifier) = &mut self.verifier else {
            return Ok(());
        };
        let block = self.buffers.block(self.ahead.buffer_of(op.slot), op.len);
        let found = verifier.finish(op.slot as usize, &access, block, complete);
        // A read that failed has nothing to be compared.
        match found {
            Err(mismatch) if complete => Err(Cause::Mismatch(mismatch.to_string())),
            _ => Ok(()),
        }
    }

    #[cold]
    fn failed(&mut self, op: &Op, cause: Cause, now_ns: u64) {
        self.recorder.fail(op.kind, cause.class());
        let failure = Failure {
            kind: op.kind,
            cause,
            file: op.file + self.first_file,
            offset: op.offset,
            len: op.len,
            at_ns: now_ns.saturating_sub(self.origin_ns),
        };
        self.control.note_failure(|| failure);
        if self.stop_on_error && !self.draining {
            self.end(EndReason::Error, now_ns);
        }
    }

    fn flushed(&mut self, succeeded: bool, now_ns: u64) {
        if let Some(start_ns) = self.commit.flush_ended(succeeded) {
            let commit_ns = now_ns.saturating_sub(start_ns);
            self.recorder.complete(OpKind::Commit, 0, commit_ns);
            self.recorder.square(OpKind::Commit, commit_ns);
        }
        if !succeeded {
            self.flush_started_ns = None;
        }
    }
}
