//! The second half of a turn: what has ended is checked and counted.

use fathom_model::OpKind;

use super::failure::{Cause, Failure};
use super::{EndReason, Worker};
use crate::engine::{Completion, Op};

impl Worker {
    /// Takes the operations that had ended when the clock showed `now_ns`.
    #[inline]
    pub(crate) fn settle(&mut self, now_ns: u64, ended: &[Completion]) {
        self.pass(now_ns);
        for completion in ended {
            self.settle_one(now_ns, completion);
        }
    }

    #[inline]
    fn settle_one(&mut self, now_ns: u64, completion: &Completion) {
        let (op, started_ns, intended_ns) = self.visible.in_flight.end(completion.slot);
        self.in_flight -= 1;
        // What nearly always happens, ahead of all that rarely does.
        let complete = completion.result == op.len as i32;
        let checked = if complete && self.verifier.is_none() {
            Ok(())
        } else {
            self.check(&op, completion.result)
        };
        let succeeded = checked.is_ok();
        if let Err(cause) = checked {
            self.failed(&op, cause, now_ns);
        } else {
            if now_ns <= started_ns {
                self.recorder.impossible();
            }
            let service_ns = now_ns.saturating_sub(started_ns);
            self.recorder
                .complete(op.kind, u64::from(op.len), service_ns);
            if self.pace.is_some() && op.kind.is_data() {
                self.recorder
                    .respond(op.kind, now_ns.saturating_sub(intended_ns));
            }
        }
        if op.kind == OpKind::Sync {
            self.flushed(succeeded, now_ns);
            return;
        }
        if op.kind == OpKind::Write {
            self.commit.write_ended(succeeded);
        }
        if self.think_ns == 0 {
            self.free.give_back(op.slot);
        } else {
            let ready_ns = now_ns.saturating_add(self.think_ns);
            self.free.give_back_thinking(op.slot, ready_ns);
        }
    }

    /// Whether the operation did all that it should have.
    #[inline(never)]
    fn check(&mut self, op: &Op, result: i32) -> Result<(), Cause> {
        let complete = result == op.len as i32;
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
        }
        if !succeeded {
            self.flush_started_ns = None;
        }
    }
}
