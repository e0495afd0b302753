//! Intended starts of an open loop.
//!
//! The schedule is absolute: it depends on the rate and the seed alone, never
//! on when operations were really submitted or came back. A worker that falls
//! behind finds its operations overdue, submits them as fast as it can, and their
//! response latency says how late they were (no coordinated omission).

use fathom_model::rng::{Rng, derive_seed};
use fathom_model::workload::{Arrival, Rate, RateUnit};

/// One worker's schedule.
#[derive(Debug, Clone)]
pub(crate) struct Pace {
    /// Mean nanoseconds per operation, or per byte.
    unit_gap_ns: f64,
    unit: RateUnit,
    arrival: Arrival,
    rng: Rng,
    /// Phase of this worker, in gaps.
    shift: f64,
    origin_ns: u64,
    /// Next intended start, from the origin.
    next_ns: f64,
    told: bool,
}

impl Pace {
    /// The schedule of worker `index` of `workers`, which share the rate evenly
    /// and, with constant gaps, take turns. `first_bytes` is the usual block.
    pub(crate) fn new(rate: &Rate, workers: u32, index: u32, seed: u64, first_bytes: u64) -> Pace {
        let per_worker = rate.per_second / f64::from(workers.max(1));
        let unit_gap_ns = 1e9 / per_worker;
        // An endless gap would put every start but the first at the end of time, and the
        // load would be idle without an error.
        debug_assert!(
            unit_gap_ns > 0.0 && unit_gap_ns.is_finite(),
            "gaps of {unit_gap_ns} ns"
        );
        let mut pace = Pace {
            unit_gap_ns,
            unit: rate.unit,
            arrival: rate.arrival,
            rng: Rng::new(derive_seed(seed, 0x7061_6365 ^ u64::from(index) << 32)),
            shift: f64::from(index) / f64::from(workers.max(1)),
            origin_ns: 0,
            next_ns: 0.0,
            told: false,
        };
        pace.next_ns = match rate.arrival {
            Arrival::Constant => pace.mean_gap_ns(first_bytes) * pace.shift,
            Arrival::Poisson => pace.gap_ns(first_bytes),
        };
        pace
    }

    /// A schedule of its own, with a start at `origin_ns` and then every `gap_ns`.
    pub(crate) fn constant(origin_ns: u64, gap_ns: f64) -> Pace {
        let rate = Rate {
            per_second: 1e9 / gap_ns,
            unit: RateUnit::Ops,
            arrival: Arrival::Constant,
        };
        let mut pace = Pace::new(&rate, 1, 0, 0, 1);
        pace.start_at(origin_ns);
        pace
    }

    /// A schedule that is told from outside, by [`Pace::follow`].
    pub(crate) fn told() -> Pace {
        let rate = Rate {
            per_second: 1.0,
            unit: RateUnit::Ops,
            arrival: Arrival::Constant,
        };
        Pace {
            told: true,
            ..Pace::new(&rate, 1, 0, 0, 1)
        }
    }

    /// The next intended start, from the origin, of a schedule that is told.
    #[inline]
    pub(crate) fn follow(&mut self, due_ns: u64) {
        self.next_ns = due_ns as f64;
    }

    /// Sets time 0 of the schedule.
    pub(crate) fn start_at(&mut self, origin_ns: u64) {
        self.origin_ns = origin_ns;
    }

    /// The next intended start.
    #[inline]
    pub(crate) fn next_ns(&self) -> u64 {
        // From the origin, not from the clock's zero: whole nanoseconds are exact in a
        // floating-point number for the first 104 days of a load.
        self.origin_ns + self.next_ns as u64
    }

    /// The operation that is due at `next_ns` has `bytes`; moves on to the next.
    #[inline]
    pub(crate) fn advance(&mut self, bytes: u64) {
        if !self.told {
            self.next_ns += self.gap_ns(bytes);
        }
    }

    fn mean_gap_ns(&self, bytes: u64) -> f64 {
        match self.unit {
            RateUnit::Ops => self.unit_gap_ns,
            RateUnit::Bytes => self.unit_gap_ns * bytes as f64,
        }
    }

    fn gap_ns(&mut self, bytes: u64) -> f64 {
        let mean = self.mean_gap_ns(bytes);
        match self.arrival {
            Arrival::Constant => mean,
            Arrival::Poisson => -(1.0 - self.rng.unit()).ln() * mean,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn starts(rate: &Rate, workers: u32, index: u32, count: usize) -> Vec<u64> {
        let mut pace = Pace::new(rate, workers, index, 1, 4096);
        pace.start_at(1_000);
        (0..count)
            .map(|_| {
                let at = pace.next_ns();
                pace.advance(4096);
                at
            })
            .collect()
    }

    #[test]
    fn constant_workers_take_turns() {
        let rate = Rate {
            per_second: 1000.0,
            unit: RateUnit::Ops,
            arrival: Arrival::Constant,
        };
        let mut all: Vec<u64> = (0..4).flat_map(|w| starts(&rate, 4, w, 100)).collect();
        all.sort_unstable();
        let expected: Vec<u64> = (0..400).map(|i| 1_000 + i * 1_000_000).collect();
        assert_eq!(all, expected);
    }

    #[test]
    fn bytes_per_second_space_by_size() {
        let rate = Rate {
            per_second: 4096.0 * 1000.0,
            unit: RateUnit::Bytes,
            arrival: Arrival::Constant,
        };
        assert_eq!(starts(&rate, 1, 0, 3), [1_000, 1_001_000, 2_001_000]);
    }

    #[test]
    fn poisson_gaps_have_the_mean_and_spread_of_an_exponential() {
        let rate = Rate {
            per_second: 1e6,
            unit: RateUnit::Ops,
            arrival: Arrival::Poisson,
        };
        let at = starts(&rate, 1, 0, 100_001);
        let gaps: Vec<f64> = at.windows(2).map(|w| (w[1] - w[0]) as f64).collect();
        let mean = gaps.iter().sum::<f64>() / gaps.len() as f64;
        let var = gaps.iter().map(|g| (g - mean).powi(2)).sum::<f64>() / gaps.len() as f64;
        assert!((mean / 1000.0 - 1.0).abs() < 0.02, "mean {mean}");
        assert!((var.sqrt() / mean - 1.0).abs() < 0.03, "sd {}", var.sqrt());
    }

    #[test]
    fn a_million_starts_do_not_drift() {
        let mut pace = Pace::constant(5, 4_000.0);
        for _ in 0..1_000_000 {
            pace.advance(0);
        }
        assert_eq!(pace.next_ns() / 1000, 4_000_000);
    }

    #[test]
    fn a_long_schedule_does_not_drift() {
        let rate = Rate {
            per_second: 3.0,
            unit: RateUnit::Ops,
            arrival: Arrival::Constant,
        };
        let last = *starts(&rate, 1, 0, 3 * 86_400 + 1).last().unwrap();
        assert!(last.abs_diff(86_400_000_000_000 + 1_000) < 1_000, "{last}");
    }
}
