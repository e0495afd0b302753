//! Merging the workers' intervals into samples. Runs in the controlling
//! thread, never in a worker.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use fathom_model::histogram::BUCKETS;
use fathom_model::sample::Halves;
use fathom_model::{ErrorClass, Histogram, OpKind, OpSample, Phase, Sample};

use super::details::OpLog;
use super::interval::{Exchange, Span};
use super::shape::Shape;

/// Stops of the whole process: end (from the start of the load) and length.
#[derive(Debug, Default)]
pub(crate) struct Stalls {
    seen: Mutex<Vec<(u64, u64)>>,
}

/// Stops that are remembered until an interval takes them.
const MAX_STALLS: usize = 1024;

impl Stalls {
    pub(crate) fn push(&self, end_ns: u64, length_ns: u64) {
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        if seen.len() < MAX_STALLS {
            seen.push((end_ns, length_ns));
        }
    }

    /// The longest stop that ended before `end_ns` and was not yet taken.
    pub(crate) fn take_before(&self, end_ns: u64) -> u64 {
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        let mut longest = 0;
        seen.retain(|(at, length)| {
            let taken = *at <= end_ns;
            if taken {
                longest = longest.max(*length);
            }
            !taken
        });
        longest
    }
}

/// One histogram while it is being merged.
#[derive(Debug, Default)]
struct Merging {
    counts: Vec<u64>,
    sum_ns: u128,
    min_ns: u64,
    max_ns: u64,
    squares_ns2: Option<u128>,
}

impl Merging {
    fn add(&mut self, exchange: &Exchange, buffer: usize, histogram: usize) {
        let first = self.counts.is_empty();
        let counts = &mut self.counts;
        let extremes = exchange.histogram(buffer, histogram, |bucket, count| {
            if counts.is_empty() {
                counts.resize(BUCKETS, 0);
            }
            counts[bucket] += u64::from(count);
        });
        if let Some(squares) = exchange.squares(buffer, histogram) {
            let sum = self.squares_ns2.unwrap_or(0);
            self.squares_ns2 = Some(sum.saturating_add(squares));
        }
        let Some((sum_ns, min_ns, max_ns)) = extremes else {
            return;
        };
        self.min_ns = if first {
            min_ns
        } else {
            self.min_ns.min(min_ns)
        };
        self.max_ns = self.max_ns.max(max_ns);
        self.sum_ns += u128::from(sum_ns);
    }

    fn into_histogram(self) -> Histogram {
        let filled = self.counts.iter().enumerate().filter(|(_, n)| **n > 0);
        let histogram = Histogram::from_parts(
            filled.map(|(bucket, n)| (bucket, *n)),
            self.sum_ns,
            self.min_ns,
            self.max_ns,
        )
        .unwrap_or_default();
        match self.squares_ns2 {
            Some(squares) => histogram.with_squares(squares),
            None => histogram,
        }
    }
}

/// One interval while it is being merged.
#[derive(Debug)]
struct Pending {
    sample: Sample,
    histograms: Vec<Merging>,
}

/// Phase (in order) and number: the order of intervals.
type Key = (Phase, u32);

/// How far the intervals of one worker have been taken.
#[derive(Debug)]
struct WorkerIntervals {
    exchange: Arc<Exchange>,
    next: u64,
    reached: Option<Key>,
    ended: bool,
    /// Entries of its log that have been taken.
    logged: u64,
}

/// Merges intervals over the workers.
#[derive(Debug)]
pub(crate) struct Collector {
    shape: Shape,
    sources: Vec<WorkerIntervals>,
    pending: BTreeMap<Key, Pending>,
    stalls: Arc<Stalls>,
}

impl Collector {
    pub(crate) fn new(
        shape: Shape,
        exchanges: impl IntoIterator<Item = Arc<Exchange>>,
        stalls: Arc<Stalls>,
    ) -> Collector {
        Collector {
            shape,
            sources: exchanges
                .into_iter()
                .map(|exchange| WorkerIntervals {
                    exchange,
                    next: 0,
                    reached: None,
                    ended: false,
                    logged: 0,
                })
                .collect(),
            pending: BTreeMap::new(),
            stalls,
        }
    }

    /// The samples to which every worker has given its part, in order.
    pub(crate) fn drain(&mut self) -> Vec<Sample> {
        self.take_full();
        let mut complete_to = Some((Phase::Cleanup, u32::MAX));
        for source in self.sources.iter().filter(|s| !s.ended) {
            complete_to = complete_to.min(source.reached);
        }
        let Some(complete_to) = complete_to else {
            return Vec::new();
        };
        let mut samples = Vec::new();
        while let Some(entry) = self.pending.first_entry() {
            if *entry.key() > complete_to {
                break;
            }
            samples.push(finish(entry.remove(), &self.shape, &self.stalls));
        }
        samples.retain(is_worth_keeping);
        samples
    }

    /// Everything there is: also intervals that some worker has not ended, up
    /// to `now_ns` from the start of the load. Nothing is collected afterwards.
    pub(crate) fn drain_all(&mut self, now_ns: u64) -> Vec<Sample> {
        self.take_full();
        for i in 0..self.sources.len() {
            if self.sources[i].ended {
                continue;
            }
            let exchange = Arc::clone(&self.sources[i].exchange);
            let buffer = exchange.current();
            let mut span = exchange.span(buffer);
            span.end_ns = now_ns.max(span.start_ns);
            let logged = exchange.log().map_or(0, OpLog::written);
            self.merge(&exchange, buffer, span);
            self.take_log(i, &exchange, logged, span);
            self.sources[i].ended = true;
        }
        let all = std::mem::take(&mut self.pending);
        all.into_values()
            .map(|pending| finish(pending, &self.shape, &self.stalls))
            .filter(is_worth_keeping)
            .collect()
    }

    fn take_full(&mut self) {
        for i in 0..self.sources.len() {
            let exchange = Arc::clone(&self.sources[i].exchange);
            // Looked at before the buffers, so that nothing is missed.
            let ended = exchange.has_ended();
            while let Some(buffer) = exchange.find_full(self.sources[i].next) {
                let span = exchange.span(buffer);
                self.merge(&exchange, buffer, span);
                self.take_log(i, &exchange, exchange.logged(buffer), span);
                exchange.release(buffer);
                self.sources[i].next += 1;
                let reached = Some((span.phase, span.index));
                // What `drain` gives out is complete only if no worker goes back.
                debug_assert!(
                    self.sources[i].reached < reached,
                    "{reached:?} after {:?}",
                    self.sources[i].reached
                );
                self.sources[i].reached = reached;
            }
            self.sources[i].ended |= ended;
        }
    }

    /// Gives the interval what its worker logged until its end.
    fn take_log(&mut self, source: usize, exchange: &Exchange, to: u64, span: Span) {
        let from = std::mem::replace(&mut self.sources[source].logged, to);
        debug_assert!(from <= to, "a log that shrinks from {from} to {to}");
        if let Some(log) = exchange.log()
            && let Some(pending) = self.pending.get_mut(&(span.phase, span.index))
        {
            let operations = &mut pending.sample.operations;
            operations.extend(log.entries(from, to));
        }
    }

    fn merge(&mut self, exchange: &Exchange, buffer: usize, span: Span) {
        let shape = &self.shape;
        let pending = self
            .pending
            .entry((span.phase, span.index))
            .or_insert_with(|| Pending {
                sample: empty_sample(span, shape),
                histograms: (0..shape.histograms())
                    .map(|_| Merging::default())
                    .collect(),
            });
        let sample = &mut pending.sample;
        // The end so far is kept in the duration until the sample is finished.
        let end_ns = (sample.start_ns + sample.duration_ns).max(span.end_ns);
        sample.start_ns = sample.start_ns.min(span.start_ns);
        debug_assert!(
            sample.start_ns <= end_ns,
            "an interval from {} to {end_ns}",
            sample.start_ns
        );
        sample.duration_ns = end_ns - sample.start_ns;
        sample.workers += 1;
        let (in_flight_ns, stall_ns) = exchange.load(buffer);
        sample.in_flight_ns += u128::from(in_flight_ns);
        sample.longest_stall_ns = sample.longest_stall_ns.max(stall_ns);
        let used = exchange.used(buffer);
        sample.cpu_user_ns += used.cpu_user_ns;
        sample.cpu_system_ns += used.cpu_system_ns;
        sample.run_delay_ns += used.run_delay_ns;
        let cpu_ns = used.cpu_user_ns + used.cpu_system_ns;
        sample.busiest_worker_cpu_ns = sample.busiest_worker_cpu_ns.max(cpu_ns);
        for op in &mut sample.ops {
            let (bytes, errors) = exchange.kind_counts(buffer, op.kind);
            op.bytes += bytes;
            for class in ErrorClass::ALL {
                op.errors.add_many(class, errors[class as usize]);
            }
        }
        for (i, merging) in pending.histograms.iter_mut().enumerate() {
            merging.add(exchange, buffer, i);
        }
    }

    /// Latencies that came out as zero or negative so far, over all workers.
    pub(crate) fn impossible(&self) -> u64 {
        self.sources.iter().map(|s| s.exchange.impossible()).sum()
    }

    /// Operations for which the logs had no room, over all workers.
    pub(crate) fn unlogged(&self) -> u64 {
        let logs = self.sources.iter().filter_map(|s| s.exchange.log());
        logs.map(OpLog::missed).sum()
    }
}

fn empty_sample(span: Span, shape: &Shape) -> Sample {
    let mut sample = Sample::new(span.phase, span.index, span.start_ns);
    sample.ops = shape
        .kinds()
        .iter()
        .map(|kind| OpSample::new(*kind, false))
        .collect();
    sample
}

/// After the measure phase only what ended then is of interest, and an
/// interval of no length in which nothing happened is of none.
fn is_worth_keeping(sample: &Sample) -> bool {
    let happened = sample.ops.iter().any(|op| op.ops > 0) || sample.errors().total() > 0;
    happened || (sample.phase != Phase::Settle && sample.duration_ns > 0)
}

fn finish(pending: Pending, shape: &Shape, stalls: &Stalls) -> Sample {
    let Pending {
        mut sample,
        histograms,
    } = pending;
    let mut histograms: Vec<Option<Histogram>> = histograms
        .into_iter()
        .map(|merging| Some(merging.into_histogram()))
        .collect();
    let mut take = |index: usize| histograms.get_mut(index).and_then(Option::take);
    for op in &mut sample.ops {
        let kind: OpKind = op.kind;
        op.service = take(shape.service(kind)).unwrap_or_default();
        op.ops = op.service.count();
        if shape.open_loop() && kind.is_data() {
            op.response = take(shape.response(kind));
        }
        if shape.detail().halves && kind.is_data() {
            let first = shape.halves(kind);
            op.halves = Some(Box::new(Halves {
                submission: take(first).unwrap_or_default(),
                completion: take(first + 1).unwrap_or_default(),
            }));
        }
    }
    if shape.open_loop() {
        sample.lateness = take(shape.lateness());
    }
    sample
        .operations
        .sort_by_key(|operation| operation.ended_ns);
    let stall_ns = stalls.take_before(sample.start_ns + sample.duration_ns);
    sample.longest_stall_ns = sample.longest_stall_ns.max(stall_ns);
    sample
}
