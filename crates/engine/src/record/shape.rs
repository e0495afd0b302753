//! Which histograms an interval has, and where each of them is.

use fathom_model::OpKind;

use super::details::Detail;
use super::recorder::INTERVAL_NS;

/// Buffers per worker beyond those that fill up in a second. Two are in turn
/// in use while the collector keeps up; the others cost no memory until it lags.
const SPARE_INTERVALS: usize = 5;

const NO_HISTOGRAM: u8 = u8::MAX;

/// Which kinds of operations and which histograms a trial has.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Shape {
    kinds: Vec<OpKind>,
    open_loop: bool,
    service: [u8; OpKind::ALL.len()],
    detail: Detail,
}

impl Shape {
    pub(crate) fn new(kinds: Vec<OpKind>, open_loop: bool) -> Shape {
        let mut service = [NO_HISTOGRAM; OpKind::ALL.len()];
        assert!(
            kinds.len() < usize::from(NO_HISTOGRAM),
            "{} kinds do not fit into a byte",
            kinds.len()
        );
        for (i, kind) in kinds.iter().enumerate() {
            // A kind that stands twice would leave its first histogram empty, and the
            // sample would have two parts of which one is always zero.
            debug_assert!(service[kind.index()] == NO_HISTOGRAM, "{kind:?} twice");
            service[kind.index()] = i as u8;
        }
        Shape {
            kinds,
            open_loop,
            service,
            detail: Detail::default(),
        }
    }

    /// The same with more recorded.
    pub(crate) fn with(self, detail: Detail) -> Shape {
        Shape { detail, ..self }
    }

    /// What is recorded beyond counts and histograms.
    pub(crate) fn detail(&self) -> Detail {
        self.detail
    }

    /// Interval buffers of a worker.
    pub(crate) fn intervals(&self) -> usize {
        SPARE_INTERVALS + (INTERVAL_NS / self.detail.interval_ns.max(1)) as usize
    }

    pub(crate) fn kinds(&self) -> &[OpKind] {
        &self.kinds
    }

    pub(crate) fn open_loop(&self) -> bool {
        self.open_loop
    }

    /// Index of the histogram of service latencies of a kind.
    #[inline]
    pub(crate) fn service(&self, kind: OpKind) -> usize {
        self.service[kind.index()] as usize
    }

    /// Index of the histogram of response latencies of a kind.
    #[inline]
    pub(crate) fn response(&self, kind: OpKind) -> usize {
        self.kinds.len() + self.service(kind)
    }

    /// Index of the histogram of latenesses.
    pub(crate) fn lateness(&self) -> usize {
        2 * self.kinds.len()
    }

    /// Histograms ahead of those of halves.
    pub(super) fn without_halves(&self) -> usize {
        if self.open_loop {
            2 * self.kinds.len() + 1
        } else {
            self.kinds.len()
        }
    }

    /// Index of the histogram of the first half of service latencies of a
    /// kind; the one of the second half follows.
    pub(crate) fn halves(&self, kind: OpKind) -> usize {
        self.without_halves() + 2 * self.service(kind)
    }

    pub(crate) fn histograms(&self) -> usize {
        let halves = if self.detail.halves {
            2 * self.kinds.len()
        } else {
            0
        };
        self.without_halves() + halves
    }
}
