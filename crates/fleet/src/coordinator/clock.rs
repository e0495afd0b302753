//! How far the clock of another host is from this one's.
//!
//! Each exchange gives an offset that is wrong by at most half of the time it
//! took there and back, however uneven the two ways are. So the exchange with
//! the shortest time is the one to believe (the clock filter of NTP, RFC 5905
//! section 10), among the latest, because clocks drift apart.

use std::collections::VecDeque;

use fathom_model::fleet::HostClock;

/// Exchanges that are remembered.
const KEPT: usize = 32;

/// Exchanges older than this are not believed any more: at 100 parts per
/// million two clocks part by 3 ms in that time.
const FRESH_NS: u64 = 30_000_000_000;

/// One question for the time, and its answer.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Exchange {
    /// Question left, on the clock here.
    pub(crate) sent_ns: u64,
    /// Question arrived, on the clock there.
    pub(crate) received_ns: u64,
    /// Answer left, on the clock there.
    pub(crate) returned_ns: u64,
    /// Answer arrived, on the clock here.
    pub(crate) arrived_ns: u64,
    /// Wall clock there less the one here when the answer left, as if it had
    /// taken no time.
    pub(crate) wall_offset_ns: i64,
}

impl Exchange {
    /// Time on the way, there and back.
    fn way_ns(&self) -> u64 {
        let whole = self.arrived_ns.saturating_sub(self.sent_ns);
        whole.saturating_sub(self.returned_ns.saturating_sub(self.received_ns))
    }

    fn offset_ns(&self) -> i64 {
        let there = i128::from(self.received_ns) + i128::from(self.returned_ns);
        let here = i128::from(self.sent_ns) + i128::from(self.arrived_ns);
        i64::try_from((there - here) / 2).unwrap_or(0)
    }
}

/// The latest exchanges with one host.
#[derive(Debug, Default)]
pub(crate) struct ClockFilter {
    kept: VecDeque<Exchange>,
    /// All that there have been.
    pub(crate) count: u64,
}

impl ClockFilter {
    pub(crate) fn add(&mut self, exchange: Exchange) {
        // An answer from before the question is none.
        if exchange.arrived_ns < exchange.sent_ns || exchange.returned_ns < exchange.received_ns {
            return;
        }
        self.count += 1;
        self.kept.push_back(exchange);
        if self.kept.len() > KEPT {
            self.kept.pop_front();
        }
    }

    /// What is known; `None` before the first exchange.
    pub(crate) fn clock(&self) -> Option<HostClock> {
        let latest_ns = self.kept.back()?.arrived_ns;
        let fresh = |e: &&Exchange| e.arrived_ns.saturating_add(FRESH_NS) >= latest_ns;
        let best = self.kept.iter().filter(fresh).min_by_key(|e| e.way_ns())?;
        // Rounded up: the true offset lies within it even where a nanosecond is left.
        let half_ns = best.way_ns().div_ceil(2);
        Some(HostClock {
            offset_ns: best.offset_ns(),
            uncertainty_ns: half_ns,
            wall_offset_ns: best
                .wall_offset_ns
                .saturating_add(i64::try_from(half_ns).unwrap_or(i64::MAX)),
        })
    }
}

/// A moment of the clock here on the clock there.
pub(crate) fn there_ns(here_ns: u64, clock: HostClock) -> u64 {
    here_ns.saturating_add_signed(clock.offset_ns)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// An exchange over ways of these lengths with a clock that is ahead.
    fn exchange(sent_ns: u64, out_ns: u64, back_ns: u64, ahead_ns: u64) -> Exchange {
        let received_ns = sent_ns + out_ns + ahead_ns;
        Exchange {
            sent_ns,
            received_ns,
            returned_ns: received_ns + 700,
            arrived_ns: sent_ns + out_ns + 700 + back_ns,
            wall_offset_ns: 0,
        }
    }

    proptest! {
        #[test]
        fn the_truth_is_within_the_uncertainty(
            ways in prop::collection::vec((1u64..5_000_000, 1u64..5_000_000), 1..60),
            ahead in 0u64..10_000_000_000_000,
        ) {
            let mut filter = ClockFilter::default();
            for (at, (out, back)) in ways.iter().enumerate() {
                filter.add(exchange(1 + at as u64 * 500_000_000, *out, *back, ahead));
            }
            let clock = filter.clock().unwrap();
            let error = (clock.offset_ns - ahead as i64).unsigned_abs();
            prop_assert!(error <= clock.uncertainty_ns + 1);
            prop_assert_eq!(there_ns(5, clock), 5 + clock.offset_ns as u64);
        }
    }

    #[test]
    fn the_shortest_of_the_latest_counts() {
        let mut filter = ClockFilter::default();
        assert_eq!(filter.clock(), None);
        filter.add(exchange(1_000, 10, 10, 77));
        filter.add(exchange(2_000_000_000, 500, 100, 77));
        assert_eq!(filter.clock().unwrap().offset_ns, 77);
        assert_eq!(filter.clock().unwrap().uncertainty_ns, 10);
        // The first one is too old by then.
        filter.add(exchange(60_000_000_000, 400, 100, 77));
        assert_eq!(filter.clock().unwrap().offset_ns, 77 + 150);
        // An answer before its question.
        let mut wrong = exchange(61_000_000_000, 1, 1, 0);
        wrong.arrived_ns = 5;
        filter.add(wrong);
        assert_eq!(filter.count, 3);
    }
}
