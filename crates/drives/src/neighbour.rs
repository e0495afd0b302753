//! Somebody else's load on the same drive: random operations that arrive like
//! raindrops (Poisson) for a share of each period and take real time of the model.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use fathom_model::OpKind;
use fathom_model::elementary::ln;
use fathom_model::rng::{Rng, derive_seed};

use super::SimOp;
use super::parameter::{Parameter, Parameters};

#[rustfmt::skip]
pub(super) const PARAMETERS: &[Parameter] = &[
    Parameter::number("neighbour_iops", 0.0, 0.0, 1e6, "somebody else's operations per second while active; 0 is nobody"),
    Parameter::number("neighbour_kib", 64.0, 4.0, 65_536.0, "size of each"),
    Parameter::number("neighbour_read_percent", 50.0, 0.0, 100.0, "share of reads among them"),
    Parameter::number("neighbour_depth", 16.0, 1.0, 4096.0, "operations that it has under way at most; what comes beyond is not sent"),
    Parameter::number("neighbour_duty", 1.0, 0.001, 1.0, "share of each period during which they come"),
    Parameter::number("neighbour_period_s", 10.0, 0.001, 1e6, "length of a period"),
];

/// The neighbour's operations in order of time.
pub(super) struct Neighbour {
    gap_ns: f64,
    depth: usize,
    /// Ends of its operations under way, where they are known.
    ends_ns: BinaryHeap<Reverse<u64>>,
    bytes: u32,
    read_share: f64,
    on_ns: f64,
    period_ns: f64,
    places: u64,
    rng: Rng,
    /// Active time of the next operation.
    active_ns: f64,
    next_ns: u64,
}

impl Neighbour {
    /// `None` when there is none, or the drive is smaller than an operation.
    pub(super) fn new(parameters: &Parameters, seed: u64, capacity: u64) -> Option<Neighbour> {
        let iops = parameters.get("neighbour_iops");
        let bytes = parameters.whole("neighbour_kib") << 10;
        let places = capacity / bytes.max(1);
        if iops <= 0.0 || places == 0 {
            return None;
        }
        let period_ns = parameters.get("neighbour_period_s") * 1e9;
        let mut neighbour = Neighbour {
            gap_ns: 1e9 / iops,
            depth: parameters.whole("neighbour_depth") as usize,
            ends_ns: BinaryHeap::new(),
            bytes: bytes as u32,
            read_share: parameters.get("neighbour_read_percent") / 100.0,
            on_ns: period_ns * parameters.get("neighbour_duty"),
            period_ns,
            places,
            rng: Rng::new(derive_seed(seed, 0x2E16)),
            active_ns: 0.0,
            next_ns: 0,
        };
        neighbour.draw_time();
        Some(neighbour)
    }

    /// When the next operation comes, from the first operation on.
    pub(super) fn next_ns(&self) -> u64 {
        self.next_ns
    }

    /// An operation of its own ends at `end_ns`.
    pub(super) fn note_end(&mut self, end_ns: u64) {
        self.ends_ns.push(Reverse(end_ns));
    }

    /// Whether it may send another at `now_ns`, `open` being under way with an
    /// end that is not known.
    pub(super) fn has_room(&mut self, now_ns: u64, open: usize) -> bool {
        while self.ends_ns.peek().is_some_and(|end| end.0 <= now_ns) {
            self.ends_ns.pop();
        }
        self.ends_ns.len() + open < self.depth
    }

    /// The next operation, sent or not.
    pub(super) fn take(&mut self) -> SimOp {
        let kind = if self.rng.unit() < self.read_share {
            OpKind::Read
        } else {
            OpKind::Write
        };
        let offset = self.rng.below(self.places) * u64::from(self.bytes);
        self.draw_time();
        SimOp::new(kind, offset, self.bytes)
    }

    fn draw_time(&mut self) {
        self.active_ns -= ln(1.0 - self.rng.unit()) * self.gap_ns;
        let periods = (self.active_ns / self.on_ns).floor();
        self.next_ns = (periods * self.period_ns + self.active_ns - periods * self.on_ns) as u64;
    }
}
