//! What this process knows to have made of a run's objects, by name: the end of a
//! run holds it against what the store lists, and looks at some of it.

use super::names::ObjectNames;
use super::own_keys::COPIES;
use super::shelf::Range;

/// The objects of one shelf.
#[derive(Debug, Clone)]
pub(super) struct ShelfObjects {
    pub(super) names: ObjectNames,
    /// Copies of them may have been made.
    pub(super) copies: bool,
    pub(super) ranks: Vec<(u32, Range)>,
}

impl ShelfObjects {
    /// How many there should be.
    pub(super) fn objects(&self) -> u64 {
        self.ranks.iter().map(|(_, range)| range.present()).sum()
    }

    /// How many versions there should be, of those that are remembered.
    pub(super) fn versions(&self) -> u64 {
        let ranks = self.ranks.iter();
        ranks.map(|(_, range)| range.versions.count() as u64).sum()
    }

    /// Those of them that were made after the ranks ended at `tails`.
    pub(super) fn since(&self, tails: &[u64]) -> ShelfObjects {
        let later = |(rank, range): &(u32, Range)| {
            let begun = tails.get(*rank as usize).copied().unwrap_or(0);
            let head = range.head.max(begun).min(range.tail);
            let range = Range {
                head,
                ..range.clone()
            };
            (*rank, range)
        };
        ShelfObjects {
            names: self.names.clone(),
            copies: self.copies,
            ranks: self.ranks.iter().map(later).collect(),
        }
    }

    /// Those that were removed after the ranks began at `heads`.
    pub(super) fn removed_since(&self, heads: &[u64]) -> ShelfObjects {
        let removed = |(rank, range): &(u32, Range)| {
            let begun = heads.get(*rank as usize).copied().unwrap_or(range.head);
            let range = Range {
                head: begun.min(range.head),
                tail: range.head,
                ..range.clone()
            };
            (*rank, range)
        };
        ShelfObjects {
            names: self.names.clone(),
            copies: self.copies,
            ranks: self.ranks.iter().map(removed).collect(),
        }
    }

    /// At most `most` of them, spread evenly, the first and the last among them.
    pub(super) fn sample(&self, most: u64) -> Vec<(u32, u64)> {
        let all = self.objects();
        let wanted = most.min(all);
        let place = |n: u64| {
            let spread = u128::from(n) * u128::from(all - 1) / u128::from((wanted - 1).max(1));
            spread as u64
        };
        let places = (0..wanted).map(place);
        places.filter_map(|place| self.at(place)).collect()
    }

    /// At most `most` of those that were copied last, each once.
    pub(super) fn sample_of_copied(&self, most: usize) -> Vec<(u32, u64)> {
        let share = most.div_ceil(self.ranks.len().max(1));
        let mut copied: Vec<(u32, u64)> = Vec::new();
        for (rank, range) in &self.ranks {
            let last = range.copied.iter().rev().take(share);
            copied.extend(last.map(|number| (*rank, *number)));
        }
        copied.sort_unstable();
        copied.dedup();
        copied.truncate(most);
        copied
    }

    /// The object at a place, counted over all ranks.
    fn at(&self, mut place: u64) -> Option<(u32, u64)> {
        for (rank, range) in &self.ranks {
            let present = range.present();
            if place < present {
                return range.nth_present(place).map(|number| (*rank, number));
            }
            place -= present;
        }
        None
    }

    /// The key of an object.
    pub(super) fn key(&self, rank: u32, number: u64) -> String {
        let mut key = self.names.prefix.clone().into_bytes();
        self.names.key(&mut key, rank, number);
        String::from_utf8_lossy(&key).into_owned()
    }

    /// The key of the copy of an object.
    pub(super) fn key_of_copy(&self, rank: u32, number: u64) -> String {
        let mut key = format!("{}{COPIES}/", self.names.prefix).into_bytes();
        self.names.key(&mut key, rank, number);
        String::from_utf8_lossy(&key).into_owned()
    }
}

#[cfg(test)]
mod tests {
    use fathom_model::workload::{KeyLayout, ObjectSizes};

    use super::*;

    fn known(ranks: Vec<(u32, Range)>) -> ShelfObjects {
        let names = ObjectNames {
            root: b"/bucket/p/".to_vec(),
            prefix: "p/".to_owned(),
            layout: KeyLayout::Flat,
            sizes: ObjectSizes::Fixed(1),
            seed: 5,
        };
        ShelfObjects {
            names,
            copies: false,
            ranks,
        }
    }

    #[test]
    fn a_sample_is_spread_over_all_ranks_and_names_nothing_that_was_not_made() {
        let range = |head, tail, missing: &[u64]| Range {
            head,
            tail,
            missing: missing.iter().copied().collect(),
            ..Range::default()
        };
        let all = known(vec![
            (0, range(2, 10, &[0, 2, 4, 9])),
            (1, range(5, 5, &[])),
            (3, range(0, 1000, &[])),
        ]);
        assert_eq!(all.objects(), 1005);
        let first: Vec<_> = all.sample(1005).into_iter().take(6).collect();
        assert_eq!(first, [(0, 3), (0, 5), (0, 6), (0, 7), (0, 8), (3, 0)]);
        let sample = all.sample(4);
        assert_eq!(sample, [(0, 3), (3, 329), (3, 664), (3, 999)]);
        assert_eq!(all.sample(5000).len(), 1005, "each once");
        assert_eq!(all.sample(1), [(0, 3)]);
        let later = all.since(&[7, 9, 0, 999]);
        assert_eq!(later.sample(10), [(0, 7), (0, 8), (3, 999)]);
        assert_eq!(all.since(&[10, 5, 0, 1000]).objects(), 0);
        let removed = all.removed_since(&[0, 4, 0, 0]);
        assert_eq!(removed.sample(10), [(0, 1), (1, 4)]);
        assert_eq!(all.removed_since(&[2]).objects(), 0);
        assert_eq!(known(Vec::new()).sample(4), []);
        assert_eq!(all.key(3, 7), "p/w3/000000000007");
        assert_eq!(all.key_of_copy(3, 7), "p/copies/w3/000000000007");
    }
}
