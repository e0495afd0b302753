//! The worker's hand on its interval buffers, and where intervals are cut.

use std::sync::Arc;

use fathom_model::{ErrorClass, OpKind, Operation, Phase};

use super::details::Used;
use super::interval::Exchange;

/// Length of a full interval unless another is asked for.
pub(crate) const INTERVAL_NS: u64 = 1_000_000_000;

/// The boundaries of a trial's intervals, in absolute time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Cuts {
    /// Time 0 of the samples.
    pub(crate) origin_ns: u64,
    /// End of the warm-up.
    pub(crate) warmup_end_ns: u64,
    /// End of the measure phase, if time bounds it.
    pub(crate) measure_end_ns: u64,
    /// Length of a full interval.
    pub(crate) interval_ns: u64,
}

impl Cuts {
    pub(crate) fn new(origin_ns: u64, warmup_ns: u64, measure_ns: Option<u64>) -> Cuts {
        let warmup_end_ns = origin_ns.saturating_add(warmup_ns);
        Cuts {
            origin_ns,
            warmup_end_ns,
            measure_end_ns: measure_ns.map_or(u64::MAX, |ns| warmup_end_ns.saturating_add(ns)),
            interval_ns: INTERVAL_NS,
        }
    }

    /// The same with intervals of another length.
    pub(crate) fn every(self, interval_ns: u64) -> Cuts {
        Cuts {
            interval_ns: interval_ns.max(1),
            ..self
        }
    }

    /// End of the interval of `phase` that starts at `start_ns`.
    fn end_of(&self, phase: Phase, start_ns: u64) -> u64 {
        let full = start_ns.saturating_add(self.interval_ns);
        match phase {
            Phase::Warmup => full.min(self.warmup_end_ns),
            Phase::Measure => full.min(self.measure_end_ns),
            _ => u64::MAX,
        }
    }

    /// Phase and number of the interval that follows the one ending at `end_ns`.
    fn next(&self, phase: Phase, index: u32, end_ns: u64) -> (Phase, u32) {
        match phase {
            Phase::Warmup if end_ns >= self.warmup_end_ns => (Phase::Measure, 0),
            Phase::Measure if end_ns >= self.measure_end_ns => (Phase::Settle, 0),
            _ => (phase, index + 1),
        }
    }
}

/// Counts what one worker does.
#[derive(Debug)]
pub(crate) struct Recorder {
    exchange: Arc<Exchange>,
    buffer: usize,
    sequence: u64,
    cuts: Cuts,
    phase: Phase,
    index: u32,
    end_ns: u64,
    last_ns: u64,
    /// Of the current interval; kept here until it is handed over.
    in_flight_ns: u64,
    longest_stall_ns: u64,
}

impl Recorder {
    /// A recorder whose first interval starts at the origin.
    pub(crate) fn new(exchange: Arc<Exchange>, cuts: Cuts) -> Recorder {
        let phase = if cuts.warmup_end_ns > cuts.origin_ns {
            Phase::Warmup
        } else {
            Phase::Measure
        };
        exchange.begin(0, 0, phase, 0, 0);
        Recorder {
            exchange,
            buffer: 0,
            sequence: 0,
            cuts,
            phase,
            index: 0,
            end_ns: cuts.end_of(phase, cuts.origin_ns),
            last_ns: cuts.origin_ns,
            in_flight_ns: 0,
            longest_stall_ns: 0,
        }
    }

    /// The phase of the current interval.
    #[inline]
    pub(crate) fn phase(&self) -> Phase {
        self.phase
    }

    /// When the current interval ends.
    #[inline]
    pub(crate) fn end_ns(&self) -> u64 {
        self.end_ns
    }

    /// Whether the current interval is over and must be cut.
    #[inline]
    pub(crate) fn is_over(&self, now_ns: u64) -> bool {
        now_ns >= self.end_ns
    }

    /// Time has passed until `now_ns` with `in_flight` operations under way.
    #[inline]
    pub(crate) fn pass(&mut self, now_ns: u64, in_flight: u32) {
        let passed_ns = now_ns.saturating_sub(self.last_ns);
        self.in_flight_ns += passed_ns * u64::from(in_flight);
        self.last_ns += passed_ns;
    }

    /// Cuts every interval that is over at `now_ns`. What the thread used goes
    /// to the interval that was current. When the collector lags so far that no
    /// buffer is free, the interval goes on and later ones are part of it.
    pub(crate) fn cut(&mut self, now_ns: u64, in_flight: u32, used: Used) {
        self.exchange.add_used(self.buffer, used);
        while now_ns >= self.end_ns {
            let end_ns = self.end_ns;
            self.pass(end_ns, in_flight);
            let next = self.cuts.next(self.phase, self.index, end_ns);
            self.switch_to(next.0, next.1, end_ns);
        }
    }

    /// Ends the measure phase (or the warm-up) before its time: everything from
    /// `now_ns` on is settling.
    pub(crate) fn settle(&mut self, now_ns: u64, in_flight: u32, used: Used) {
        self.cut(now_ns, in_flight, used);
        if self.phase != Phase::Settle {
            self.pass(now_ns, in_flight);
            self.switch_to(Phase::Settle, 0, now_ns);
        }
    }

    fn switch_to(&mut self, phase: Phase, index: u32, at_ns: u64) {
        debug_assert!(
            (phase, index) > (self.phase, self.index) && at_ns >= self.cuts.origin_ns,
            "{phase:?} {index} at {at_ns} after {:?} {}",
            self.phase,
            self.index
        );
        // Buffers for the phase changes to come are kept back, so that phases
        // never mix however far the collector lags.
        let kept_back = match phase {
            Phase::Warmup => 2,
            Phase::Measure => 1,
            _ => 0,
        };
        if let Some(free) = self.exchange.find_free(self.buffer, kept_back) {
            let at = self.relative(at_ns);
            self.publish(at);
            self.sequence += 1;
            self.buffer = free;
            self.exchange.begin(free, self.sequence, phase, index, at);
        }
        self.phase = phase;
        self.index = index;
        self.end_ns = self.cuts.end_of(phase, at_ns);
    }

    /// Hands over the last interval, which ends at `now_ns`.
    pub(crate) fn finish(&mut self, now_ns: u64, used: Used) {
        self.exchange.add_used(self.buffer, used);
        self.publish(self.relative(now_ns));
        self.exchange.end();
    }

    fn publish(&mut self, end_ns: u64) {
        let in_flight_ns = std::mem::take(&mut self.in_flight_ns);
        let longest_stall_ns = std::mem::take(&mut self.longest_stall_ns);
        self.exchange
            .set_load(self.buffer, in_flight_ns, longest_stall_ns);
        self.exchange.publish(self.buffer, end_ns);
    }

    /// Counts an operation that succeeded.
    #[inline]
    pub(crate) fn complete(&mut self, kind: OpKind, bytes: u64, service_ns: u64) {
        let histogram = self.exchange.shape().service(kind);
        self.exchange
            .add_op(self.buffer, histogram, bytes, service_ns);
    }

    /// Counts the latency of an operation from its intended start.
    #[inline]
    pub(crate) fn respond(&mut self, kind: OpKind, response_ns: u64) {
        let histogram = self.exchange.shape().response(kind);
        self.exchange
            .add_latency(self.buffer, histogram, response_ns);
    }

    /// Records what of an operation only some trials record. It has been counted
    /// as complete; its `ended_ns` is the clock's.
    pub(crate) fn detail(&mut self, operation: Operation) {
        let shape = self.exchange.shape();
        let (buffer, kind) = (self.buffer, operation.kind);
        let service = shape.service(kind);
        if shape.detail().halves && kind.is_data() {
            let first = operation.submission_ns;
            let second = operation.service_ns.saturating_sub(first);
            let halves = shape.halves(kind);
            for (histogram, value_ns) in [(halves, first), (halves + 1, second)] {
                self.exchange.add_latency(buffer, histogram, value_ns);
                self.exchange.add_square(buffer, histogram, value_ns);
            }
        }
        self.exchange
            .add_square(buffer, service, operation.service_ns);
        if self.phase == Phase::Measure
            && let Some(log) = self.exchange.log()
        {
            log.push(&Operation {
                ended_ns: self.relative(operation.ended_ns),
                ..operation
            });
        }
    }

    /// Adds the square of a latency that was counted as complete.
    pub(crate) fn square(&mut self, kind: OpKind, service_ns: u64) {
        let histogram = self.exchange.shape().service(kind);
        self.exchange.add_square(self.buffer, histogram, service_ns);
    }

    /// Counts how late an operation was submitted.
    #[inline]
    pub(crate) fn late(&mut self, lateness_ns: u64) {
        let lateness = self.exchange.shape().lateness();
        self.exchange
            .add_latency(self.buffer, lateness, lateness_ns);
    }

    /// Counts an operation that failed.
    #[cold]
    pub(crate) fn fail(&mut self, kind: OpKind, class: ErrorClass) {
        self.exchange.add_error(self.buffer, kind, class);
    }

    /// Notes a stop of the worker itself.
    #[inline]
    pub(crate) fn stalled(&mut self, stall_ns: u64) {
        self.longest_stall_ns = self.longest_stall_ns.max(stall_ns);
    }

    /// Counts a latency that came out as zero or negative.
    #[cold]
    pub(crate) fn impossible(&mut self) {
        self.exchange.add_impossible();
    }

    fn relative(&self, at_ns: u64) -> u64 {
        at_ns.saturating_sub(self.cuts.origin_ns)
    }
}
