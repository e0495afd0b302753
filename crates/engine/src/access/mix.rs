//! Which kind of operation comes next.
//!
//! Each hundred operations is a deck that holds exactly the asked-for shares,
//! drawn in random order without replacement: the long-run share is exact, and
//! a mix never degenerates into long bursts of one kind.

use fathom_model::OpKind;
use fathom_model::rng::Rng;
use fathom_model::workload::OpMix;

use crate::Error;

const DECK: u32 = 100;

/// Draws kinds of operations.
#[derive(Debug, Clone)]
pub(crate) struct MixDraw {
    rng: Rng,
    /// The only kind, when there is but one.
    only: Option<OpKind>,
    shares: [u32; 3],
    /// Cards of each kind that are left in the deck.
    left: [u32; 3],
    cards: u32,
}

/// The kinds of the deck.
const KINDS: [OpKind; 3] = [OpKind::Read, OpKind::Write, OpKind::Trim];

impl MixDraw {
    /// Draws for `mix`, whose shares must add up to 100.
    pub(crate) fn new(mix: &OpMix, seed: u64) -> Result<MixDraw, Error> {
        let (read, write, trim) = (mix.read_percent, mix.write_percent, mix.trim_percent);
        if u32::from(read) + u32::from(write) + u32::from(trim) != DECK {
            return Err(Error::Workload(format!(
                "shares of {read} % reads, {write} % writes and {trim} % trims do not add up to 100"
            )));
        }
        let only = match (read, write, trim) {
            (100, _, _) => Some(OpKind::Read),
            (_, 100, _) => Some(OpKind::Write),
            (_, _, 100) => Some(OpKind::Trim),
            _ => None,
        };
        Ok(MixDraw {
            rng: Rng::new(seed),
            only,
            shares: [read, write, trim].map(u32::from),
            left: [0; 3],
            cards: 0,
        })
    }

    /// The next kind.
    #[inline]
    pub(crate) fn next(&mut self) -> OpKind {
        if let Some(kind) = self.only {
            return kind;
        }
        if self.cards == 0 {
            self.left = self.shares;
            self.cards = DECK;
        }
        debug_assert_eq!(
            self.left.iter().sum::<u32>(),
            self.cards,
            "the cards left of each kind are the deck"
        );
        let card = self.rng.below(u64::from(self.cards)) as u32;
        self.cards -= 1;
        // Without branches: no CPU could predict them.
        let [reads, writes, _] = self.left;
        let index = usize::from(card >= reads) + usize::from(card >= reads + writes);
        self.left[index] -= 1;
        KINDS[index]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mix(read_percent: u8, write_percent: u8) -> OpMix {
        OpMix {
            read_percent,
            write_percent,
            trim_percent: 100 - read_percent - write_percent,
        }
    }

    #[test]
    fn every_hundred_holds_the_exact_shares() {
        for (read, write) in [(70, 30), (1, 99), (99, 1), (33, 33), (50, 0), (100, 0)] {
            let mut draw = MixDraw::new(&mix(read, write), 5).unwrap();
            for _ in 0..50 {
                let mut counts = [0u8; 5];
                for _ in 0..100 {
                    counts[draw.next().index()] += 1;
                }
                assert_eq!(counts, [read, write, 100 - read - write, 0, 0]);
            }
        }
    }

    #[test]
    fn kinds_interleave_like_a_shuffle() {
        let mut draw = MixDraw::new(&mix(50, 50), 9).unwrap();
        let kinds: Vec<OpKind> = (0..100_000).map(|_| draw.next()).collect();
        let changes = kinds.windows(2).filter(|w| w[0] != w[1]).count();
        // A shuffled deck of 50 and 50 changes 50/99 of the time within decks.
        assert!((49_500..51_500).contains(&changes), "{changes}");
        let longest = kinds.chunk_by(|a, b| a == b).map(<[_]>::len).max();
        assert!(longest < Some(30), "{longest:?}");
    }

    #[test]
    fn shares_must_add_up() {
        let bad = OpMix {
            read_percent: 60,
            write_percent: 30,
            trim_percent: 0,
        };
        assert!(MixDraw::new(&bad, 1).is_err());
    }
}
