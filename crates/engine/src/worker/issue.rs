//! The first half of a turn: what is due is drawn, queued and handed over.

use fathom_model::OpKind;

use super::{FlowStep, Ready, STOP_CHECK_NS, UsedUp, Wait, Worker};
use crate::clock::Clock;
use crate::engine::{Broken, Engine, Op, Queued};
use crate::worker::EndReason;

impl Worker {
    /// Hands over what is due and says what to wait for.
    #[inline]
    pub(crate) fn issue<E: Engine, C: Clock>(
        &mut self,
        engine: &mut E,
        clock: &C,
    ) -> Result<Wait, Broken> {
        if self.control.must_end() && !self.draining {
            let reason = self.control.reason().unwrap_or(EndReason::Stopped);
            self.end(reason, clock.now());
        }
        let mut now_ns = self.now_ns;
        self.handed_over = false;
        loop {
            if self.plain {
                self.fill::<E, true>(engine, now_ns);
            } else {
                self.fill_with_all(engine, now_ns);
            }
            if self.staged.is_empty() {
                break;
            }
            now_ns = clock.now();
            let full = self.staged.len() == self.batch;
            if self.plain {
                self.hand_over(now_ns);
            } else {
                self.hand_over_with_all(engine, clock, now_ns)?;
            }
            self.staged.clear();
            if !full {
                break;
            }
            engine.submit()?;
        }
        Ok(self.wait(now_ns))
    }

    #[inline(never)]
    fn fill_with_all<E: Engine>(&mut self, engine: &mut E, now_ns: u64) {
        self.fill::<E, false>(engine, now_ns);
    }

    /// Queues what is due at `now_ns`, up to a batch.
    #[inline(always)]
    fn fill<E: Engine, const PLAIN: bool>(&mut self, engine: &mut E, now_ns: u64) {
        while self.staged.len() < self.batch {
            if !PLAIN
                && self.commit.is_closing()
                && let Some(file) = self.commit.next_flush()
                && !self.queue_flush(engine, file)
            {
                break;
            }
            if self.draining {
                break;
            }
            if !PLAIN && self.must_wait(now_ns) {
                break;
            }
            if !PLAIN && self.ready.is_none() && self.stream.is_over() {
                self.end_of_list(now_ns);
                break;
            }
            let drawn = if self.ready.is_some() {
                self.ready.take()
            } else {
                self.draw::<PLAIN>(now_ns)
            };
            let Some(ready) = drawn else {
                break;
            };
            let closing = self.closing;
            if !self.queue::<E, PLAIN>(engine, ready, now_ns) {
                if !PLAIN && self.closing != closing {
                    // What was written is read back from here on.
                    continue;
                }
                break;
            }
        }
    }

    /// Draws the next operation into a free slot, with its payload.
    #[inline(always)]
    fn draw<const PLAIN: bool>(&mut self, now_ns: u64) -> Option<Ready> {
        if !PLAIN && self.awaits_payload() {
            return None;
        }
        let slot = if PLAIN {
            self.free.take_ready()?
        } else {
            self.free.take(now_ns)?
        };
        let ahead = !PLAIN && self.ahead.is_on();
        if !PLAIN
            && let Some(due_ns) = self.stream.due_ns()
            && let Some(pace) = &mut self.pace
        {
            pace.follow(due_ns);
        }
        let access = if ahead {
            self.take_ahead(slot)
        } else {
            self.stream.next()
        };
        let op = Op {
            slot,
            kind: access.kind,
            file: access.file - self.first_file,
            offset: access.offset,
            len: access.bytes,
        };
        if access.kind == OpKind::Write
            && !ahead
            && let Some(payload) = &mut self.payload
        {
            payload.fill(access.offset, self.buffers.block(slot, access.bytes));
        }
        if !PLAIN && let Some(verifier) = &mut self.verifier {
            let buffer = self.ahead.buffer_of(slot);
            let block = self.buffers.block(buffer, access.bytes);
            verifier.begin(slot as usize, &access, block);
        }
        let intended_ns = match &mut self.pace {
            Some(pace) if !PLAIN => {
                let at_ns = pace.next_ns();
                pace.advance(u64::from(access.bytes));
                at_ns
            }
            _ => 0,
        };
        Some(Ready {
            op,
            intended_ns,
            paid: !PLAIN && self.reads_back && self.stream.reads_back(),
            refused: false,
            waited: false,
        })
    }

    /// Queues an operation that has been drawn. Keeps it for later and says
    /// no when it is not due or there is no room.
    #[inline(always)]
    fn queue<E: Engine, const PLAIN: bool>(
        &mut self,
        engine: &mut E,
        mut ready: Ready,
        now_ns: u64,
    ) -> bool {
        let op = ready.op;
        if PLAIN {
            // Due at once.
        } else if ready.intended_ns > now_ns || self.is_blocked(op.kind) {
            self.ready = Some(ready);
            return false;
        } else if self.reads_back && self.waits_for_write(&mut ready) {
            return false;
        }
        if !ready.paid && self.recorder.phase() == fathom_model::Phase::Measure {
            if let Err(used_up) = self.budget.take(op.len) {
                self.ready = Some(ready);
                self.end_bounded(used_up, now_ns);
                return false;
            }
            ready.paid = true;
        }
        self.visible.in_flight.describe(&op, ready.intended_ns);
        let buffer = if PLAIN {
            op.slot
        } else {
            self.ahead.buffer_of(op.slot)
        };
        if engine.queue(&op, buffer) == Queued::Busy {
            ready.refused = true;
            self.ready = Some(ready);
            return false;
        }
        self.staged.push(op.slot);
        if !PLAIN {
            self.think.started();
            if let Some(step) = &mut self.step {
                step.began();
            }
            match op.kind {
                OpKind::Write => self.commit.write_queued(op.file),
                OpKind::Trim if self.pairs => self.trim_slot = Some(op.slot),
                _ => {}
            }
        }
        true
    }

    /// A recorded list is at its end, and with it the worker.
    #[cold]
    fn end_of_list(&mut self, now_ns: u64) {
        let used_up = UsedUp {
            reason: EndReason::Ops,
            own: true,
        };
        self.end_bounded(used_up, now_ns);
    }

    /// Whether nothing more may be begun for now: the worker pauses, is ahead
    /// of others, or has as much in flight as keeps within a latency.
    fn must_wait(&mut self, now_ns: u64) -> bool {
        let busy = self.in_flight + self.staged.len() as u32;
        (self.think.is_on() && self.think.holds(now_ns, busy > 0))
            || self.is_deep_enough(busy)
            || self.step.as_mut().is_some_and(|step| step.holds(now_ns))
    }

    fn is_deep_enough(&self, busy: u32) -> bool {
        let search = self.depth_search.as_ref();
        search.is_some_and(|search| busy >= search.depth())
            || (self.commit.flushes_beside() && busy >= self.depth())
    }

    /// What may be in flight: the slot of flushes is the one behind them.
    fn depth(&self) -> u32 {
        self.flush_slot
    }

    /// Keeps a read of what is just being written until that has ended. Then
    /// it is noted anew what may be found.
    fn waits_for_write(&mut self, ready: &mut Ready) -> bool {
        if self.reads_what_is_being_written(&ready.op) {
            ready.waited = true;
            self.ready = Some(*ready);
            return true;
        }
        if ready.waited {
            ready.waited = false;
            let access = self.access_of(&ready.op);
            if let Some(verifier) = &mut self.verifier {
                let block = self.buffers.block(ready.op.slot, access.bytes);
                verifier.begin(ready.op.slot as usize, &access, block);
            }
        }
        false
    }

    /// Whether an operation of this kind waits for one in flight to end: for
    /// a flush, or for the trim of its block.
    #[inline]
    fn is_blocked(&self, kind: OpKind) -> bool {
        self.commit.blocks(kind) || (self.trim_slot.is_some() && kind == OpKind::Write)
    }

    #[cold]
    fn queue_flush<E: Engine>(&mut self, engine: &mut E, file: u32) -> bool {
        let busy = self.in_flight + self.staged.len() as u32;
        if self.commit.follows_ranges() && (self.draining || self.budget.is_spent()) {
            // As in fio, the call comes before the next operation, and there is none.
            self.commit.skip_flush();
            return true;
        }
        if self.commit.is_undrained() && busy >= self.depth() {
            return false;
        }
        let Some((offset, len)) = self.commit.flush(file) else {
            self.commit.skip_flush();
            return true;
        };
        let op = Op {
            slot: self.flush_slot,
            kind: OpKind::Sync,
            file,
            offset,
            len,
        };
        // No data move, however long the range is.
        self.visible.in_flight.describe(&Op { len: 0, ..op }, 0);
        if engine.queue(&op, 0) == Queued::Busy {
            return false;
        }
        self.commit.flush_queued(file);
        self.staged.push(op.slot);
        true
    }

    /// The queued operations start now.
    #[inline(always)]
    fn hand_over(&mut self, now_ns: u64) {
        if !self.handed_over {
            self.recorder.stalled(now_ns.saturating_sub(self.now_ns));
        }
        self.handed_over = true;
        self.pass(now_ns);
        self.in_flight += self.staged.len() as u32;
        debug_assert!(
            self.in_flight <= self.depth() + 1,
            "{} in flight at depth {}, of which one may be a flush",
            self.in_flight,
            self.depth()
        );
        for slot in &self.staged {
            self.visible.in_flight.start(*slot, now_ns);
        }
    }

    #[inline(never)]
    fn hand_over_with_all<E: Engine, C: Clock>(
        &mut self,
        engine: &mut E,
        clock: &C,
        now_ns: u64,
    ) -> Result<(), Broken> {
        self.hand_over(now_ns);
        self.commit.started(now_ns);
        self.count_lateness(now_ns);
        self.submit_in_detail(engine, clock)
    }

    fn count_lateness(&mut self, now_ns: u64) {
        if self.pace.is_none() {
            return;
        }
        for slot in self.staged.iter().filter(|slot| **slot != self.flush_slot) {
            let intended_ns = self.visible.in_flight.intended_ns(*slot);
            self.recorder.late(now_ns.saturating_sub(intended_ns));
        }
    }

    /// What to wait for, `now_ns` being the last reading of the clock.
    #[inline(always)]
    fn wait(&mut self, now_ns: u64) -> Wait {
        // Nothing but an operation that ends gives more to do.
        if self.plain && self.in_flight > 0 {
            let until_ns = self.recorder.end_ns().min(now_ns + STOP_CHECK_NS);
            return Wait::Reap {
                until_ns,
                timeout_ns: until_ns.saturating_sub(now_ns),
                exact: false,
            };
        }
        self.wait_for_all(now_ns)
    }

    #[inline(never)]
    fn wait_for_all(&mut self, now_ns: u64) -> Wait {
        let check_ns = self.recorder.end_ns().min(now_ns + STOP_CHECK_NS);
        let due_ns = self.next_due_ns();
        let until_ns = check_ns.min(due_ns);
        let exact = due_ns <= check_ns;
        if self.in_flight > 0 {
            return Wait::Reap {
                until_ns,
                timeout_ns: until_ns.saturating_sub(now_ns),
                exact,
            };
        }
        if self.draining {
            return self.wait_at_end(now_ns);
        }
        Wait::Sleep { until_ns, exact }
    }

    /// When the next operation may be queued; `u64::MAX` when that depends
    /// on an operation that must end first.
    #[inline]
    fn next_due_ns(&self) -> u64 {
        if self.draining {
            return u64::MAX;
        }
        if self.think.awaits() {
            return u64::MAX;
        }
        if let Some(ends_ns) = self.think.ends_ns() {
            return ends_ns;
        }
        if let Some(until_ns) = self.step.as_ref().and_then(FlowStep::waits_until_ns) {
            return until_ns;
        }
        if self.is_deep_enough(self.in_flight) {
            return u64::MAX;
        }
        match &self.ready {
            Some(ready) if ready.waited || self.is_blocked(ready.op.kind) => u64::MAX,
            // Reaping makes room.
            Some(ready) if ready.refused => u64::MAX,
            Some(ready) => ready.intended_ns,
            None if self.awaits_payload() => u64::MAX,
            None => self.free.next_ready_ns().unwrap_or(u64::MAX),
        }
    }

    /// Nothing is in flight and nothing more will come.
    #[cold]
    fn wait_at_end(&mut self, now_ns: u64) -> Wait {
        if self.commit.is_closing() {
            // A flush is due; the next turn queues it.
            return Wait::Sleep {
                until_ns: now_ns,
                exact: false,
            };
        }
        if self.final_flush {
            self.final_flush = false;
            self.settle_records(now_ns);
            if self.commit.start_final() {
                self.flush_started_ns = Some(now_ns);
                return Wait::Sleep {
                    until_ns: now_ns,
                    exact: false,
                };
            }
        }
        if let Some(started_ns) = self.flush_started_ns.take() {
            self.final_flush_ns = Some(now_ns.saturating_sub(started_ns));
        }
        Wait::Done
    }
}
