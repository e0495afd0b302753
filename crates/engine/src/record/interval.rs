//! The interval buffers of one worker and how they change hands.

use std::io;
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64};

use fathom_model::histogram::{BUCKETS, bucket_of};
use fathom_model::{ErrorClass, OpKind, Phase};

use super::details::{OpLog, Squares, Used};
use super::shape::Shape;
use crate::arena::{SharedTable, Zeroed};

const CLASSES: usize = ErrorClass::ALL.len();

/// Adds without a locked instruction: only one thread ever writes the cell.
#[inline]
fn add(cell: &AtomicU64, amount: u64) {
    cell.store(cell.load(Relaxed).wrapping_add(amount), Relaxed);
}

#[inline]
fn raise(cell: &AtomicU64, value: u64) {
    if value > cell.load(Relaxed) {
        cell.store(value, Relaxed);
    }
}

/// One histogram with its exact fields, and the bytes that belong to it. All
/// zero when nothing was recorded.
#[derive(Debug)]
#[repr(C)]
struct Tally {
    bytes: AtomicU64,
    sum_ns: AtomicU64,
    /// The complement of the minimum, so that zero stands for none.
    complement_of_min_ns: AtomicU64,
    max_ns: AtomicU64,
    counts: [AtomicU32; BUCKETS],
}

// SAFETY: atomics only, without padding; zero is "nothing recorded".
unsafe impl Zeroed for Tally {}

const _: () = assert!(size_of::<Tally>() == 4 * 8 + BUCKETS * 4);

impl Tally {
    #[inline(always)]
    fn record(&self, value_ns: u64) {
        let cell = &self.counts[bucket_of(value_ns)];
        cell.store(cell.load(Relaxed).saturating_add(1), Relaxed);
        add(&self.sum_ns, value_ns);
        raise(&self.complement_of_min_ns, !value_ns);
        raise(&self.max_ns, value_ns);
    }

    /// Exact sum, minimum and maximum, if there is anything.
    fn extremes(&self) -> Option<(u64, u64, u64)> {
        let complement = self.complement_of_min_ns.load(Relaxed);
        (complement != 0).then(|| {
            (
                self.sum_ns.load(Relaxed),
                !complement,
                self.max_ns.load(Relaxed),
            )
        })
    }

    fn clear(&self) {
        let Some((_, min_ns, max_ns)) = self.extremes() else {
            return;
        };
        // Only what lies between: clearing every bucket would touch all pages of the
        // arena once a second, and with them take memory that no latency needed.
        for cell in &self.counts[bucket_of(min_ns)..=bucket_of(max_ns)] {
            cell.store(0, Relaxed);
        }
        for cell in [
            &self.bytes,
            &self.sum_ns,
            &self.complement_of_min_ns,
            &self.max_ns,
        ] {
            cell.store(0, Relaxed);
        }
    }
}

/// Failures of one kind of operation.
#[derive(Debug, Default)]
struct Failures {
    errors: [AtomicU64; CLASSES],
}

/// Times of one interval, from the start of the load.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Span {
    pub(crate) phase: Phase,
    pub(crate) index: u32,
    pub(crate) start_ns: u64,
    pub(crate) end_ns: u64,
}

/// One interval of one worker. All cells, see the module's description.
#[derive(Debug)]
pub(crate) struct Interval {
    full: AtomicBool,
    sequence: AtomicU64,
    phase: AtomicU32,
    index: AtomicU32,
    start_ns: AtomicU64,
    end_ns: AtomicU64,
    in_flight_ns: AtomicU64,
    longest_stall_ns: AtomicU64,
    cpu_user_ns: AtomicU64,
    cpu_system_ns: AtomicU64,
    run_delay_ns: AtomicU64,
    /// Entries of the log by the end of the interval.
    logged: AtomicU64,
    /// By the kinds of the trial, in their order.
    failures: Box<[Failures]>,
}

impl Interval {
    fn new(kinds: usize) -> Interval {
        Interval {
            full: AtomicBool::new(false),
            sequence: AtomicU64::new(0),
            phase: AtomicU32::new(0),
            index: AtomicU32::new(0),
            start_ns: AtomicU64::new(0),
            end_ns: AtomicU64::new(0),
            in_flight_ns: AtomicU64::new(0),
            longest_stall_ns: AtomicU64::new(0),
            cpu_user_ns: AtomicU64::new(0),
            cpu_system_ns: AtomicU64::new(0),
            run_delay_ns: AtomicU64::new(0),
            logged: AtomicU64::new(0),
            failures: (0..kinds.max(1)).map(|_| Failures::default()).collect(),
        }
    }
}

/// The buffers of one worker, shared with the collector.
#[derive(Debug)]
pub(crate) struct Exchange {
    shape: Shape,
    histograms: usize,
    intervals: Box<[Interval]>,
    tallies: SharedTable<Tally>,
    /// Buffer that the worker is writing.
    current: AtomicU32,
    ended: AtomicBool,
    impossible: AtomicU64,
    squares: Option<Squares>,
    log: Option<OpLog>,
}

impl Exchange {
    /// The buffers of worker number `worker`.
    pub(crate) fn new(shape: Shape, worker: u32) -> io::Result<Exchange> {
        let histograms = shape.histograms();
        let intervals = shape.intervals();
        let detail = shape.detail();
        let kinds = shape.kinds().len();
        let squares = || Squares::new(intervals * histograms);
        let log = || OpLog::new(worker, detail.log);
        Ok(Exchange {
            shape,
            histograms,
            intervals: (0..intervals).map(|_| Interval::new(kinds)).collect(),
            tallies: SharedTable::new(intervals * histograms)?,
            squares: detail.distributions.then(squares).transpose()?,
            log: (detail.log > 0).then(log).transpose()?,
            current: AtomicU32::new(0),
            ended: AtomicBool::new(false),
            impossible: AtomicU64::new(0),
        })
    }

    pub(crate) fn shape(&self) -> &Shape {
        &self.shape
    }

    #[inline]
    fn tally(&self, buffer: usize, histogram: usize) -> &Tally {
        // The table is one row of histograms behind the other: an index too large does
        // not leave it, it counts in another second.
        debug_assert!(
            histogram < self.histograms && buffer < self.intervals.len(),
            "histogram {histogram} of buffer {buffer}"
        );
        &self.tallies[buffer * self.histograms + histogram]
    }

    /// Failures of a kind. A kind that the trial does not have counts with the
    /// first, so that no failure is lost.
    fn failures(&self, buffer: usize, kind: OpKind) -> &Failures {
        let failures = &self.intervals[buffer].failures;
        let own = failures.get(self.shape.service(kind));
        own.unwrap_or(&failures[0])
    }

    // ---- the worker's side ----

    /// A free buffer other than `current`, the lowest: so that few are touched.
    /// `None` when no more than `kept_back` would remain.
    pub(crate) fn find_free(&self, current: usize, kept_back: usize) -> Option<usize> {
        let mut free = (0..self.intervals.len())
            .filter(|i| *i != current && !self.intervals[*i].full.load(Acquire));
        let first = free.next()?;
        (free.count() >= kept_back).then_some(first)
    }

    /// Starts an interval in a free buffer.
    pub(crate) fn begin(&self, buffer: usize, sequence: u64, phase: Phase, index: u32, start: u64) {
        let interval = &self.intervals[buffer];
        debug_assert!(
            !interval.full.load(Relaxed),
            "buffer {buffer} is still the collector's"
        );
        interval.sequence.store(sequence, Relaxed);
        interval.phase.store(phase as u32, Relaxed);
        interval.index.store(index, Relaxed);
        interval.start_ns.store(start, Relaxed);
        self.current.store(buffer as u32, Release);
    }

    /// Hands a buffer over to the collector.
    pub(crate) fn publish(&self, buffer: usize, end_ns: u64) {
        let interval = &self.intervals[buffer];
        debug_assert!(
            interval.start_ns.load(Relaxed) <= end_ns,
            "an interval ends at {end_ns}, before it began"
        );
        interval.end_ns.store(end_ns, Relaxed);
        if let Some(log) = &self.log {
            interval.logged.store(log.written(), Relaxed);
        }
        interval.full.store(true, Release);
    }

    /// Says that nothing more will be recorded.
    pub(crate) fn end(&self) {
        self.ended.store(true, Release);
    }

    /// Counts an operation that succeeded. How many there were is not counted
    /// apart: it is the count of the histogram.
    #[inline]
    pub(crate) fn add_op(&self, buffer: usize, histogram: usize, bytes: u64, service_ns: u64) {
        let tally = self.tally(buffer, histogram);
        add(&tally.bytes, bytes);
        tally.record(service_ns);
    }

    #[inline]
    pub(crate) fn add_latency(&self, buffer: usize, histogram: usize, value_ns: u64) {
        self.tally(buffer, histogram).record(value_ns);
    }

    /// Adds the square of a latency that was counted.
    pub(crate) fn add_square(&self, buffer: usize, histogram: usize, value_ns: u64) {
        if let Some(squares) = &self.squares {
            squares.add(buffer * self.histograms + histogram, value_ns);
        }
    }

    /// The log of operations.
    pub(crate) fn log(&self) -> Option<&OpLog> {
        self.log.as_ref()
    }

    pub(crate) fn add_error(&self, buffer: usize, kind: OpKind, class: ErrorClass) {
        let counts = self.failures(buffer, kind);
        add(&counts.errors[class as usize], 1);
    }

    /// In-flight time and longest stall of an interval that is about to be
    /// handed over.
    pub(crate) fn set_load(&self, buffer: usize, in_flight_ns: u64, longest_stall_ns: u64) {
        let interval = &self.intervals[buffer];
        interval.in_flight_ns.store(in_flight_ns, Relaxed);
        interval.longest_stall_ns.store(longest_stall_ns, Relaxed);
    }

    pub(crate) fn add_used(&self, buffer: usize, used: Used) {
        let interval = &self.intervals[buffer];
        add(&interval.cpu_user_ns, used.cpu_user_ns);
        add(&interval.cpu_system_ns, used.cpu_system_ns);
        add(&interval.run_delay_ns, used.run_delay_ns);
    }

    pub(crate) fn add_impossible(&self) {
        add(&self.impossible, 1);
    }

    // ---- the collector's side ----

    pub(crate) fn has_ended(&self) -> bool {
        self.ended.load(Acquire)
    }

    /// Latencies that came out as zero or negative so far.
    pub(crate) fn impossible(&self) -> u64 {
        self.impossible.load(Relaxed)
    }

    /// The full buffer with this sequence number.
    pub(crate) fn find_full(&self, sequence: u64) -> Option<usize> {
        (0..self.intervals.len()).find(|i| {
            let interval = &self.intervals[*i];
            interval.full.load(Acquire) && interval.sequence.load(Relaxed) == sequence
        })
    }

    /// The buffer that the worker is writing.
    pub(crate) fn current(&self) -> usize {
        self.current.load(Acquire) as usize
    }

    pub(crate) fn span(&self, buffer: usize) -> Span {
        let interval = &self.intervals[buffer];
        let phase = interval.phase.load(Relaxed);
        Span {
            phase: Phase::ALL
                .into_iter()
                .find(|p| *p as u32 == phase)
                .unwrap_or(Phase::Settle),
            index: interval.index.load(Relaxed),
            start_ns: interval.start_ns.load(Relaxed),
            end_ns: interval.end_ns.load(Relaxed),
        }
    }

    /// Bytes and failures of a kind.
    pub(crate) fn kind_counts(&self, buffer: usize, kind: OpKind) -> (u64, [u64; CLASSES]) {
        let failures = self.failures(buffer, kind);
        let tally = self.tally(buffer, self.shape.service(kind));
        (
            tally.bytes.load(Relaxed),
            std::array::from_fn(|i| failures.errors[i].load(Relaxed)),
        )
    }

    pub(crate) fn used(&self, buffer: usize) -> Used {
        let interval = &self.intervals[buffer];
        Used {
            cpu_user_ns: interval.cpu_user_ns.load(Relaxed),
            cpu_system_ns: interval.cpu_system_ns.load(Relaxed),
            run_delay_ns: interval.run_delay_ns.load(Relaxed),
        }
    }

    /// Entries of the log by the end of a full buffer's interval.
    pub(crate) fn logged(&self, buffer: usize) -> u64 {
        self.intervals[buffer].logged.load(Relaxed)
    }

    /// Sum of the squares of a histogram's values. Kept of service latency and
    /// its halves.
    pub(crate) fn squares(&self, buffer: usize, histogram: usize) -> Option<u128> {
        let shape = &self.shape;
        let kept = histogram < shape.kinds().len() || histogram >= shape.without_halves();
        let squares = self.squares.as_ref().filter(|_| kept)?;
        Some(squares.sum(buffer * self.histograms + histogram))
    }

    /// In-flight time and longest stall.
    pub(crate) fn load(&self, buffer: usize) -> (u64, u64) {
        let interval = &self.intervals[buffer];
        (
            interval.in_flight_ns.load(Relaxed),
            interval.longest_stall_ns.load(Relaxed),
        )
    }

    /// The non-empty buckets of a histogram, and its exact sum, minimum and maximum.
    pub(crate) fn histogram(
        &self,
        buffer: usize,
        histogram: usize,
        mut visit: impl FnMut(usize, u32),
    ) -> Option<(u64, u64, u64)> {
        let tally = self.tally(buffer, histogram);
        let (sum_ns, min_ns, max_ns) = tally.extremes()?;
        let (first, last) = (bucket_of(min_ns), bucket_of(max_ns));
        for (i, cell) in tally.counts[first..=last].iter().enumerate() {
            let count = cell.load(Relaxed);
            if count > 0 {
                visit(first + i, count);
            }
        }
        Some((sum_ns, min_ns, max_ns))
    }

    /// Empties a full buffer and gives it back to the worker.
    pub(crate) fn release(&self, buffer: usize) {
        let interval = &self.intervals[buffer];
        debug_assert!(
            interval.full.load(Relaxed),
            "buffer {buffer} is the worker's: its counts would be lost"
        );
        for histogram in 0..self.histograms {
            self.tally(buffer, histogram).clear();
            if let Some(squares) = &self.squares {
                squares.set(buffer * self.histograms + histogram, 0);
            }
        }
        for failures in &interval.failures {
            for cell in &failures.errors {
                cell.store(0, Relaxed);
            }
        }
        for cell in [
            &interval.in_flight_ns,
            &interval.longest_stall_ns,
            &interval.cpu_user_ns,
            &interval.cpu_system_ns,
            &interval.run_delay_ns,
        ] {
            cell.store(0, Relaxed);
        }
        // Last: from here on the worker may count in it.
        interval.full.store(false, Release);
    }
}
