//! Which pairs run at the same time.
//!
//! The rounds of pairs that share no host are those of a tournament: one host
//! stays, the others go around it (the circle method). With an odd number one
//! host rests in each round.

use fathom_model::network::MatrixMode;

/// A direction: sender and receiver.
pub(super) type HostPair = (usize, usize);

/// The rounds of a kind; the ways of a round run at the same time. Every
/// ordered pair of the `hosts` is in exactly one round, or in as many as the
/// kind has by its nature.
pub(super) fn rounds(mode: MatrixMode, hosts: usize) -> Vec<Vec<HostPair>> {
    let others = |one: usize| (0..hosts).filter(move |&other| other != one);
    match mode {
        MatrixMode::Alone => alone(hosts),
        MatrixMode::Together => {
            let all = (0..hosts).flat_map(|from| others(from).map(move |to| (from, to)));
            vec![all.collect()]
        }
        MatrixMode::Incast => (0..hosts)
            .map(|to| others(to).map(|from| (from, to)).collect())
            .collect(),
        MatrixMode::Outcast => (0..hosts)
            .map(|from| others(from).map(|to| (from, to)).collect())
            .collect(),
    }
}

fn alone(hosts: usize) -> Vec<Vec<HostPair>> {
    let seats = hosts + hosts % 2;
    let mut all = Vec::new();
    if hosts < 2 {
        return all;
    }
    for turn in 0..seats - 1 {
        let seat = |n: usize| {
            if n == 0 {
                0
            } else {
                1 + (n - 1 + turn) % (seats - 1)
            }
        };
        let pairs = (0..seats / 2).map(|n| (seat(n), seat(seats - 1 - n)));
        let pairs: Vec<HostPair> = pairs.filter(|(a, b)| *a < hosts && *b < hosts).collect();
        all.push(pairs.clone());
        all.push(pairs.into_iter().map(|(a, b)| (b, a)).collect());
    }
    all
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn every_direction_is_measured_once_and_no_host_twice_at_a_time() {
        for hosts in 0..20 {
            let rounds = alone(hosts);
            let mut seen = BTreeSet::new();
            for round in &rounds {
                let mut busy = BTreeSet::new();
                for (from, to) in round {
                    assert!(busy.insert(*from) && busy.insert(*to), "{hosts}: {round:?}");
                    assert!(seen.insert((*from, *to)), "{hosts}: {from} to {to} twice");
                }
            }
            assert_eq!(seen.len(), hosts * hosts.saturating_sub(1), "{hosts} hosts");
            let least = if hosts < 2 {
                0
            } else {
                2 * (hosts + hosts % 2 - 1)
            };
            assert_eq!(rounds.len(), least);
        }
    }

    #[test]
    fn other_kinds_have_their_shape() {
        assert_eq!(rounds(MatrixMode::Together, 4)[0].len(), 12);
        let incast = rounds(MatrixMode::Incast, 4);
        assert_eq!((incast.len(), incast[2].len()), (4, 3));
        assert!(incast[2].iter().all(|(_, to)| *to == 2));
        let outcast = rounds(MatrixMode::Outcast, 3);
        assert!(outcast[1].iter().all(|(from, _)| *from == 1));
    }
}
