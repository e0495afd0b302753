//! Where files lie and how large they are: computed from rank and number.

use fathom_model::rng::{derive_seed, splitmix64};
use fathom_model::workload::{FileSizes, MetaTree};

use super::names::{Name, Thing};

/// The shape of a tree, and what computes places and sizes.
#[derive(Debug, Clone)]
pub(crate) struct Geometry {
    pub(crate) tree: MetaTree,
    pub(crate) workers: u32,
    per_leaf: u64,
    place_key: u64,
    size_key: u64,
}

impl Geometry {
    /// `tag` is the tree's own: the same tree has the same files in every trial.
    pub(crate) fn new(tree: &MetaTree, workers: u32, tag: u64) -> Geometry {
        debug_assert!(
            tree.leaves > 0 && tree.files_per_leaf() > 0,
            "a tree of {} leaves with {} files each",
            tree.leaves,
            tree.files_per_leaf()
        );
        Geometry {
            per_leaf: tree.files_per_leaf(),
            tree: tree.clone(),
            workers,
            place_key: derive_seed(tag, 0x1EAF),
            size_key: derive_seed(tag, 0x512E),
        }
    }

    /// The directory of a file (or of another thing with that number).
    #[inline]
    pub(crate) fn leaf_of(&self, rank: u32, number: u64) -> u64 {
        let leaves = self.tree.leaves;
        if leaves == 1 {
            0
        } else if self.tree.hashed {
            let hash = splitmix64(self.place_key ^ number.wrapping_mul(0x9E37_79B9) ^ key_of(rank));
            ((u128::from(hash) * u128::from(leaves)) >> 64) as u64
        } else {
            (number / self.per_leaf) % leaves
        }
    }

    /// Bytes of a file as it was created.
    #[inline]
    pub(crate) fn size_of(&self, rank: u32, number: u64) -> u64 {
        match self.tree.sizes {
            FileSizes::Fixed(bytes) => bytes,
            FileSizes::Exponential {
                mean_bytes,
                max_bytes,
            } => {
                let hash = splitmix64(self.size_key ^ number ^ key_of(rank));
                let unit = (hash >> 11) as f64 / (1u64 << 53) as f64;
                let bytes = -(1.0 - unit).ln() * mean_bytes as f64;
                (bytes.round() as u64).min(max_bytes)
            }
        }
    }

    /// Numbers below `count` that lie in a leaf; `None` where only counting
    /// them one by one would tell.
    pub(crate) fn below_in_leaf(&self, count: u64, leaf: u64) -> Option<u64> {
        let leaves = self.tree.leaves;
        if leaves == 1 {
            return Some(count);
        }
        if self.tree.hashed {
            return None;
        }
        debug_assert!(leaf < leaves, "leaf {leaf} of {leaves}");
        let round = self.per_leaf.checked_mul(leaves)?;
        let rest = (count % round).saturating_sub(leaf * self.per_leaf);
        Some(count / round * self.per_leaf + rest.min(self.per_leaf))
    }

    /// How many directories of the last level a rank lists, and which is its
    /// `at`-th. Shared ones are divided, as long as there is one for each.
    pub(crate) fn listed(&self, rank: u32) -> u64 {
        let (leaves, workers) = (self.tree.leaves, u64::from(self.workers));
        if !self.tree.shared {
            return leaves;
        }
        let rank = u64::from(rank);
        match leaves < workers {
            true => 1,
            false => (leaves - rank).div_ceil(workers),
        }
    }

    /// The `at`-th directory that a rank lists.
    pub(crate) fn listed_leaf(&self, rank: u32, at: u64) -> u64 {
        match self.tree.shared {
            true => (u64::from(rank) + at * u64::from(self.workers)) % self.tree.leaves,
            false => at,
        }
    }

    /// Writes the path of a directory of the last level from the top of the
    /// tree, without a slash at its end.
    pub(crate) fn push_leaf(&self, name: &mut Name, rank: u32, leaf: u64) {
        self.push_top(name, rank);
        let fan_out = u64::from(self.tree.fan_out.max(1));
        let mut unit = fan_out.saturating_pow(self.tree.depth.saturating_sub(1));
        let mut rest = leaf;
        for _ in 0..self.tree.depth {
            name.push(b"/n");
            name.push_number(rest / unit);
            rest %= unit;
            unit = (unit / fan_out).max(1);
        }
    }

    /// Writes the name of the directory in which a rank's tree begins.
    pub(crate) fn push_top(&self, name: &mut Name, rank: u32) {
        if self.tree.shared {
            name.push(b"shared");
        } else {
            name.push(b"w");
            name.push_number(u64::from(rank));
        }
    }

    /// Writes the whole path of a thing from the top of the tree.
    pub(crate) fn push_path(
        &self,
        name: &mut Name,
        rank: u32,
        (thing, number, round): (Thing, u64, u32),
    ) {
        self.push_leaf(name, rank, self.leaf_of(rank, number));
        name.push(b"/");
        name.push_thing(thing, rank, number, round);
    }

    /// The first levels at which the path of `leaf` differs from that of the
    /// leaf before: those directories have to be made. 0 is the first level.
    pub(crate) fn first_new_level(&self, leaf: u64) -> u32 {
        let fan_out = u64::from(self.tree.fan_out.max(1));
        let mut level = self.tree.depth;
        let mut rest = leaf;
        while level > 1 && rest.is_multiple_of(fan_out) {
            level -= 1;
            rest /= fan_out;
        }
        level.saturating_sub(1)
    }
}

fn key_of(rank: u32) -> u64 {
    splitmix64(u64::from(rank).wrapping_add(1))
}

/// Whether a name is one of the directories that make up a tree.
pub(crate) fn is_level(name: &[u8]) -> bool {
    let number =
        |text: &[u8]| !text.is_empty() && text.len() <= 20 && text.iter().all(u8::is_ascii_digit);
    match name.split_first() {
        Some((b'n' | b'w', rest)) => number(rest),
        _ => name == b"shared",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn geometry(files: u64, depth: u32, fan_out: u32, leaves: u64) -> Geometry {
        let tree = MetaTree {
            depth,
            fan_out,
            leaves,
            ..MetaTree::flat(files, 0)
        };
        Geometry::new(&tree, 3, 7)
    }

    fn leaf_path(geometry: &Geometry, leaf: u64) -> String {
        let mut name = Name::new();
        geometry.push_leaf(&mut name, 2, leaf);
        String::from_utf8(name.as_bytes().to_vec()).unwrap()
    }

    #[test]
    fn leaves_have_paths_of_their_own() {
        let three = geometry(100, 3, 4, 64);
        assert_eq!(leaf_path(&three, 0), "w2/n0/n0/n0");
        assert_eq!(leaf_path(&three, 63), "w2/n3/n3/n3");
        assert_eq!(leaf_path(&three, 18), "w2/n1/n0/n2");
        let all: std::collections::HashSet<String> =
            (0..64).map(|leaf| leaf_path(&three, leaf)).collect();
        assert_eq!(all.len(), 64);
        assert_eq!(leaf_path(&geometry(5, 0, 1, 1), 0), "w2");
    }

    #[test]
    fn the_files_of_a_leaf_are_counted_without_looking() {
        let three = geometry(1000, 2, 4, 16);
        for count in [0, 1, 62, 63, 64, 999, 1000, 2500] {
            for leaf in 0..16 {
                let seen = (0..count).filter(|n| three.leaf_of(0, *n) == leaf).count();
                assert_eq!(three.below_in_leaf(count, leaf), Some(seen as u64));
            }
        }
    }

    #[test]
    fn only_new_directories_are_made() {
        let three = geometry(100, 3, 4, 64);
        let levels: Vec<u32> = [0, 1, 4, 5, 16]
            .map(|leaf| three.first_new_level(leaf))
            .into();
        assert_eq!(levels, [0, 2, 1, 2, 0]);
    }

    #[test]
    fn shared_leaves_are_divided_among_those_who_list_them() {
        let mut shared = geometry(100, 1, 7, 7);
        shared.tree.shared = true;
        let mut seen: Vec<u64> = (0..3)
            .flat_map(|rank| {
                let shared = &shared;
                (0..shared.listed(rank)).map(move |at| shared.listed_leaf(rank, at))
            })
            .collect();
        seen.sort_unstable();
        assert_eq!(seen, [0, 1, 2, 3, 4, 5, 6]);
        shared.tree.leaves = 1;
        assert_eq!((shared.listed(2), shared.listed_leaf(2, 0)), (1, 0));
    }

    #[test]
    fn exponential_sizes_have_their_mean_and_limit() {
        let mut sizes = geometry(1, 0, 1, 1);
        sizes.tree.sizes = FileSizes::Exponential {
            mean_bytes: 4096,
            max_bytes: 8 * 4096,
        };
        let all: Vec<u64> = (0..100_000).map(|n| sizes.size_of(1, n)).collect();
        let mean = all.iter().sum::<u64>() as f64 / all.len() as f64;
        assert!(
            (mean / sizes.tree.sizes.mean_bytes() - 1.0).abs() < 0.02,
            "{mean}"
        );
        assert!(all.iter().all(|bytes| *bytes <= 8 * 4096));
        assert_eq!(sizes.size_of(1, 5), sizes.size_of(1, 5));
    }
}
