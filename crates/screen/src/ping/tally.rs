//! What is counted over the requests.

use std::time::Duration;

use fathom_engine::Single;
use fathom_model::judged::LatencySummary;
use fathom_model::{Histogram, OpKind};

/// A request is slow when it takes more than this many times the median of
/// those before it. Drives differ by far less from one request to the next
/// unless something else is going on; the mark only draws the eye to a line.
pub(super) const SLOW_TIMES: u64 = 3;
/// Requests from which there is a median to speak of.
const SLOW_AFTER: u64 = 10;
/// Spans of time that are kept apart; when there are more, two become one.
const SPANS_MAX: usize = 4096;
const SECOND_NS: u64 = 1_000_000_000;

/// What is to be said of one request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Told {
    pub(super) number: u64,
    /// It belongs to the warm-up and is not counted.
    pub(super) warmup: bool,
    pub(super) slow: bool,
}

/// The requests so far.
pub(super) struct Tally {
    warmup: u64,
    interval_ns: u64,
    shown: u64,
    shown_bytes: u64,
    last_end_ns: u64,
    failures: u64,
    slow: u64,
    overlong: u64,
    missed: u64,
    bytes: u64,
    kind: Option<OpKind>,
    all: Histogram,
    spans: Vec<Histogram>,
    span_ns: u64,
    counted_from_ns: Option<u64>,
    slow_from_ns: Option<u64>,
    median_due_at: u64,
    unanswered: Option<(u64, Duration)>,
}

impl Tally {
    pub(super) fn new(warmup: u64, interval_ns: u64) -> Tally {
        Tally {
            warmup,
            interval_ns,
            shown: 0,
            shown_bytes: 0,
            last_end_ns: 0,
            failures: 0,
            slow: 0,
            overlong: 0,
            missed: 0,
            bytes: 0,
            kind: None,
            all: Histogram::new(),
            spans: Vec::new(),
            span_ns: SECOND_NS.max(interval_ns),
            counted_from_ns: None,
            slow_from_ns: None,
            median_due_at: SLOW_AFTER,
            unanswered: None,
        }
    }

    /// Counts a request.
    pub(super) fn add(&mut self, single: &Single) -> Told {
        self.shown += 1;
        self.last_end_ns = single.started_ns.saturating_add(single.latency_ns);
        self.kind = Some(single.kind);
        let warmup = self.shown <= self.warmup;
        if self.interval_ns > 0 && single.latency_ns > self.interval_ns {
            self.overlong += 1;
            self.missed += (single.latency_ns - 1) / self.interval_ns;
        }
        let mut told = Told {
            number: self.shown,
            warmup,
            slow: false,
        };
        if single.failed.is_some() {
            self.failures += 1;
            return told;
        }
        self.shown_bytes += u64::from(single.bytes);
        if warmup {
            return told;
        }
        told.slow = self.slow_from_ns.is_some_and(|ns| single.latency_ns > ns);
        self.slow += u64::from(told.slow);
        self.bytes += u64::from(single.bytes);
        self.record(single);
        if self.all.count() >= self.median_due_at {
            // Looked at less and less often: it hardly moves any more.
            self.median_due_at = self.all.count() + (self.all.count() / 16).max(1);
            let median = self.all.quantile(0.5);
            self.slow_from_ns = median.map(|ns| ns.saturating_mul(SLOW_TIMES));
        }
        told
    }

    fn record(&mut self, single: &Single) {
        self.all.record(single.latency_ns);
        let from_ns = *self.counted_from_ns.get_or_insert(single.started_ns);
        let mut span = (single.started_ns.saturating_sub(from_ns) / self.span_ns) as usize;
        while span >= SPANS_MAX {
            self.halve();
            span = (single.started_ns.saturating_sub(from_ns) / self.span_ns) as usize;
        }
        if self.spans.len() <= span {
            self.spans.resize_with(span + 1, Histogram::new);
        }
        self.spans[span].record(single.latency_ns);
    }

    /// Makes one span of two.
    fn halve(&mut self) {
        self.span_ns = self.span_ns.saturating_mul(2);
        let spans = std::mem::take(&mut self.spans);
        let mut spans = spans.into_iter();
        while let Some(mut first) = spans.next() {
            if let Some(second) = spans.next() {
                first.merge(&second);
            }
            self.spans.push(first);
        }
    }

    /// Notes the request that did not end.
    pub(super) fn unanswered(&mut self, request: Option<(u64, Duration)>) {
        self.unanswered = request;
    }

    pub(super) fn unanswered_request(&self) -> Option<(u64, Duration)> {
        self.unanswered
    }

    /// Requests that ended, the warm-up and failures included.
    pub(super) fn shown(&self) -> u64 {
        self.shown
    }

    /// Bytes of all of them.
    pub(super) fn shown_bytes(&self) -> u64 {
        self.shown_bytes
    }

    /// From the opening to the end of the last request.
    pub(super) fn elapsed_ns(&self) -> u64 {
        self.last_end_ns
    }

    pub(super) fn failures(&self) -> u64 {
        self.failures
    }

    pub(super) fn slow(&self) -> u64 {
        self.slow
    }

    /// Requests longer than the interval, and how many more had been due.
    pub(super) fn overlong(&self) -> (u64, u64) {
        (self.overlong, self.missed)
    }

    /// Bytes of the counted requests.
    pub(super) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// What was done to the target.
    pub(super) fn kind(&self) -> Option<OpKind> {
        self.kind
    }

    /// Latencies of the counted requests.
    pub(super) fn latencies(&self) -> &Histogram {
        &self.all
    }

    /// Mean and percentiles, as far as the requests support them.
    pub(super) fn summary(&self) -> LatencySummary {
        let from_ns = self.counted_from_ns.unwrap_or(0);
        let measured_ns = self.last_end_ns.saturating_sub(from_ns);
        // Spans in which nothing was due hold no information.
        let spans: Vec<Histogram> = self
            .spans
            .iter()
            .filter(|s| !s.is_empty())
            .cloned()
            .collect();
        fathom_analysis::summarize_latencies(&spans, measured_ns)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn single(started_ns: u64, latency_ns: u64) -> Single {
        Single {
            kind: OpKind::Read,
            offset: 0,
            bytes: 4096,
            started_ns,
            latency_ns,
            flush_ns: None,
            failed: None,
        }
    }

    #[test]
    fn what_is_much_slower_than_the_median_is_marked() {
        let mut tally = Tally::new(1, SECOND_NS);
        assert!(tally.add(&single(0, 9_000_000)).warmup);
        for n in 1..=10 {
            assert!(!tally.add(&single(n * SECOND_NS, 100_000)).slow);
        }
        assert!(!tally.add(&single(11 * SECOND_NS, 290_000)).slow);
        assert!(tally.add(&single(12 * SECOND_NS, 310_000)).slow);
        assert_eq!((tally.slow(), tally.latencies().count()), (1, 12));
        assert_eq!(tally.latencies().max(), Some(310_000), "the warm-up is out");
    }

    #[test]
    fn a_failure_is_no_latency_and_a_long_request_misses_others() {
        let mut tally = Tally::new(0, SECOND_NS);
        let failed = Single {
            failed: Some(5),
            ..single(0, 3_500_000_000)
        };
        tally.add(&failed);
        assert_eq!((tally.failures(), tally.latencies().count()), (1, 0));
        assert_eq!(tally.overlong(), (1, 3));
        assert_eq!(tally.shown_bytes(), 0);
    }

    #[test]
    fn a_week_of_requests_takes_bounded_room() {
        let mut tally = Tally::new(0, SECOND_NS);
        for n in 0..600_000u64 {
            tally.add(&single(n * SECOND_NS, 100_000 + n % 7));
        }
        assert!(tally.spans.len() <= SPANS_MAX);
        let counted: u64 = tally.spans.iter().map(Histogram::count).sum();
        assert_eq!(counted, 600_000);
        assert_eq!(tally.summary().count, 600_000);
    }
}
