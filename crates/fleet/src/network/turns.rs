//! Which ways between several hosts are measured when: the rounds of a plan, and
//! what stood out once more.

use fathom_model::network::{Ends, MatrixMode};
use fathom_model::pair_trials::PairPlace;
use fathom_stats::median::median;

use super::rounds::{HostPair, rounds};

/// Pairs below so much of the median are looked at again, so often.
const AGAIN_BELOW: f64 = 0.9;
pub(super) const LOOKS_AGAIN: u32 = 2;

/// Rows that one look takes at most: small requests without load, the load, and
/// small requests beside it.
const ROWS_OF_A_LOOK: u32 = 3;

/// One look at one way.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Look {
    pub(super) from: usize,
    pub(super) to: usize,
    /// Row of its first trial.
    pub(super) row: u32,
    /// Payload that arrived, bits per second.
    pub(super) bits: Option<f64>,
}

/// Ways that are measured at the same time.
#[derive(Debug, Clone)]
pub(super) struct MatrixTurn {
    pub(super) mode: MatrixMode,
    /// Number of its set of trials.
    pub(super) set: u32,
    /// Which look at the ways it is, from 0.
    pub(super) iteration: u32,
    pub(super) looks: Vec<Look>,
}

impl MatrixTurn {
    /// Where the trials of a look stand in the run.
    pub(super) fn place(&self, look: &Look) -> PairPlace {
        PairPlace {
            ends: Ends {
                from: host_number(look.from),
                to: host_number(look.to),
                mode: Some(self.mode),
                beside: None,
            },
            row: look.row,
            iteration: self.iteration,
            set: Some(self.set),
        }
    }
}

/// All rounds of these kinds, with the numbers of their sets and rows.
pub(super) fn turns(modes: &[MatrixMode], hosts: usize) -> Vec<(MatrixMode, Vec<MatrixTurn>)> {
    let (mut next_set, mut next_row) = (0, 0);
    let mut turn = |mode: MatrixMode, pairs: Vec<HostPair>| {
        let set = next_set;
        next_set += 1;
        let looks = pairs.into_iter().map(|(from, to)| {
            let row = next_row;
            next_row += ROWS_OF_A_LOOK;
            Look {
                from,
                to,
                row,
                bits: None,
            }
        });
        MatrixTurn {
            mode,
            set,
            iteration: 0,
            looks: looks.collect(),
        }
    };
    let of_mode = |mode: &MatrixMode| {
        let turns = rounds(*mode, hosts)
            .into_iter()
            .map(|pairs| turn(*mode, pairs));
        (*mode, turns.collect())
    };
    // Rows are counted through all modes: a row that stood for two ways would be read
    // as two iterations of one.
    modes.iter().map(of_mode).collect()
}

/// Ways that are measured some more times, each by itself.
pub(super) fn again(ways: Vec<Look>, next_set: &mut u32) -> Vec<MatrixTurn> {
    let mut turns = Vec::new();
    for iteration in 1..=LOOKS_AGAIN {
        for way in &ways {
            turns.push(MatrixTurn {
                mode: MatrixMode::Alone,
                set: *next_set,
                iteration,
                looks: vec![way.clone()],
            });
            *next_set += 1;
        }
    }
    turns
}

/// The ways that are slower than their hosts, slowest first.
pub(super) fn slow_ways(hosts: usize, looks: Vec<Look>) -> Vec<Look> {
    let rates: Vec<f64> = looks.iter().filter_map(|look| look.bits).collect();
    let Some(middle) = median(&rates) else {
        return Vec::new();
    };
    let expected = expected(hosts, &looks, middle);
    let share = |look: &Look| {
        let usual = expected(look.from, look.to).max(1.0);
        look.bits.map(|bits| bits / usual)
    };
    let mut slow: Vec<(f64, Look)> = looks
        .into_iter()
        .filter_map(|look| Some((share(&look)?, look)))
        .filter(|(share, _)| *share < AGAIN_BELOW)
        .collect();
    // A host whose ways are all slow is found without them.
    slow.sort_by(|a, b| a.0.total_cmp(&b.0));
    slow.truncate(hosts * 2);
    slow.into_iter().map(|(_, look)| look).collect()
}

/// What a way should reach by its hosts' other ways, at least the median of all: a
/// way can be slow for two fast hosts and still be no slower than most.
fn expected(hosts: usize, looks: &[Look], middle: f64) -> impl Fn(usize, usize) -> f64 + use<> {
    let of = |matches: &dyn Fn(&Look) -> bool| {
        let ways = looks.iter().filter(|look| matches(look));
        let rates: Vec<f64> = ways.filter_map(|look| look.bits).collect();
        median(&rates).unwrap_or(middle)
    };
    let sent: Vec<f64> = (0..hosts).map(|host| of(&|c| c.from == host)).collect();
    let received: Vec<f64> = (0..hosts).map(|host| of(&|c| c.to == host)).collect();
    move |from, to| {
        let usual = |rates: &[f64], host: usize| rates.get(host).copied().unwrap_or(middle);
        let both = usual(&sent, from) * usual(&received, to) / middle.max(1.0);
        both.max(middle)
    }
}

/// A place among hosts, sets or trials, as it is stored.
pub(super) fn host_number(host: usize) -> u32 {
    u32::try_from(host).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slow_way_between_fast_hosts_is_looked_at_again() {
        // Hosts 0 and 1 are twice as fast as the others; their own way is not.
        let fast = |host: usize| host < 2;
        let mut looks = Vec::new();
        for (from, to) in (0..6).flat_map(|from| (0..6).map(move |to| (from, to))) {
            if from == to {
                continue;
            }
            let bits = match (fast(from), fast(to)) {
                (true, true) => 11e9,
                (false, false) => 10e9,
                _ => 20e9,
            };
            looks.push(Look {
                from,
                to,
                row: 0,
                bits: Some(bits),
            });
        }
        let expected = expected(6, &looks, 10e9);
        assert!(11e9 < AGAIN_BELOW * expected(0, 1), "{}", expected(0, 1));
        assert!(20e9 >= AGAIN_BELOW * expected(0, 3), "{}", expected(0, 3));
        assert!(10e9 >= AGAIN_BELOW * expected(3, 4), "{}", expected(3, 4));
    }
}
