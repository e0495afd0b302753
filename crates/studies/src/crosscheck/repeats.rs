//! Pairs during which the hypervisor took CPU time from this host: they
//! measure the neighbours of the virtual machine, and are measured again.
//!
//! What decides is the time that was stolen from the whole host, not what
//! either tool measured: nothing is chosen by its result. A repeat has the
//! order of the pair that it repeats, so that the turns stay balanced.

use std::collections::BTreeMap;

/// Which pairs count, and which are measured again.
pub(super) struct Repeats {
    /// Share of the CPUs that may be stolen.
    most: f64,
    rows: Vec<OfRow>,
}

struct OfRow {
    /// Repeats that may still be made.
    left: u32,
    /// The next free numbers, of pairs of each order.
    free: [u32; 2],
    pairs: BTreeMap<u32, Pair>,
}

#[derive(Default)]
struct Pair {
    /// The larger of the shares of its two trials.
    stolen: f64,
    aside: bool,
}

impl Repeats {
    /// `pairs` is even. There are at most as many repeats as pairs.
    pub(super) fn new(rows: usize, pairs: u32, most: f64) -> Repeats {
        let row = |_| OfRow {
            left: pairs,
            free: [pairs, pairs + 1],
            pairs: BTreeMap::new(),
        };
        Repeats {
            most,
            rows: (0..rows).map(row).collect(),
        }
    }

    /// The share of the CPUs that was stolen during one trial of a pair.
    pub(super) fn trial(&mut self, row: usize, pair: u32, share: f64) {
        let Some(row) = self.rows.get_mut(row) else {
            return;
        };
        let pair = row.pairs.entry(pair).or_default();
        pair.stolen = pair.stolen.max(share);
    }

    /// After both trials: the number under which the pair is measured again,
    /// if it was disturbed.
    pub(super) fn again(&mut self, row: usize, pair: u32) -> Option<u32> {
        let most = self.most;
        let row = self.rows.get_mut(row)?;
        let measured = row.pairs.get_mut(&pair)?;
        if measured.stolen <= most || row.left == 0 {
            return None;
        }
        measured.aside = true;
        row.left -= 1;
        let free = &mut row.free[(pair % 2) as usize];
        let number = *free;
        *free += 2;
        Some(number)
    }

    /// Whether another pair stands in its place.
    pub(super) fn is_aside(&self, row: usize, pair: u32) -> bool {
        let pair = self.rows.get(row).and_then(|row| row.pairs.get(&pair));
        pair.is_some_and(|pair| pair.aside)
    }

    /// What happened, for the user.
    pub(super) fn remark(&self, row: usize) -> Option<String> {
        let pairs = &self.rows.get(row)?.pairs;
        let count = |aside: bool| {
            let disturbed = pairs.values().filter(|pair| pair.stolen > self.most);
            disturbed.filter(|pair| pair.aside == aside).count()
        };
        let (aside, kept) = (count(true), count(false));
        if aside + kept == 0 {
            return None;
        }
        let noun = |n: usize| if n == 1 { "pair" } else { "pairs" };
        let mut text = format!(
            "the hypervisor took more than {} % of the CPUs during {} {}",
            self.most * 100.0,
            aside + kept,
            noun(aside + kept),
        );
        match (aside, kept) {
            (_, 0) => text.push_str(", which were measured again and do not count"),
            (0, _) => text.push_str(", which count all the same: none was measured again"),
            _ => text.push_str(&format!(
                "; {aside} were measured again and do not count, {kept} do because no more \
                 repeats were left"
            )),
        }
        Some(text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_disturbed_pair_is_repeated_in_its_own_order() {
        let mut repeats = Repeats::new(1, 4, 0.02);
        for pair in 0..4 {
            repeats.trial(0, pair, 0.0);
            repeats.trial(0, pair, if pair == 1 { 0.05 } else { 0.02 });
        }
        assert_eq!(repeats.again(0, 0), None, "2 % may be taken");
        assert_eq!(repeats.again(0, 1), Some(5), "odd: fio is the first");
        assert!(repeats.is_aside(0, 1) && !repeats.is_aside(0, 0));
        assert_eq!(repeats.again(0, 2), None);
        repeats.trial(0, 5, 0.0);
        assert_eq!(repeats.again(0, 5), None);
        let remark = repeats.remark(0).unwrap();
        assert!(
            remark.contains("more than 2 % of the CPUs during 1 pair,"),
            "{remark}"
        );
        assert!(remark.ends_with("do not count"), "{remark}");
    }

    #[test]
    fn there_are_no_more_repeats_than_pairs_and_what_is_left_counts() {
        let mut repeats = Repeats::new(2, 2, 0.0);
        let (mut pair, mut made) = (0, 0);
        loop {
            repeats.trial(1, pair, 0.25);
            match repeats.again(1, pair) {
                Some(next) => (pair, made) = (next, made + 1),
                None => break,
            }
            assert!(made < 10);
        }
        assert_eq!((made, pair), (2, 4));
        assert!(!repeats.is_aside(1, 4), "the last one stays");
        let remark = repeats.remark(1).unwrap();
        assert!(
            remark.contains("2 were measured again and do not count, 1 do"),
            "{remark}"
        );
        assert_eq!(repeats.remark(0), None);
    }
}
