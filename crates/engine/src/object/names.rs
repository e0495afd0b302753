//! Keys and sizes of objects: they follow from rank and number.

use fathom_model::rng::splitmix64;
use fathom_model::workload::{KeyLayout, ObjectSizes};
use fathom_s3::encode;

use super::own_keys::COPIES;

/// What all objects of a trial have in common.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct ObjectNames {
    /// Percent-encoded path up to the keys' own part, with `/` at both ends:
    /// the bucket (unless it is in the host's name), the target's prefix and
    /// the run's.
    pub(crate) root: Vec<u8>,
    /// The same without the bucket, as the store lists it; not encoded.
    pub(crate) prefix: String,
    pub(crate) layout: KeyLayout,
    pub(crate) sizes: ObjectSizes,
    pub(crate) seed: u64,
}

impl ObjectNames {
    /// The number by which the contents of an object are known.
    pub(crate) fn content_of(rank: u32, number: u64) -> u64 {
        u64::from(rank) << 40 ^ number
    }

    /// Bytes of an object.
    pub(crate) fn bytes_of(&self, rank: u32, number: u64) -> u64 {
        let random = splitmix64(self.seed ^ splitmix64(ObjectNames::content_of(rank, number)));
        // The high half: the low one is used again below.
        let below = |bound: u64| ((u128::from(random) * u128::from(bound)) >> 64) as u64;
        match &self.sizes {
            ObjectSizes::Fixed(bytes) => *bytes,
            ObjectSizes::Range {
                min_bytes,
                max_bytes,
            } => min_bytes + below(max_bytes.saturating_sub(*min_bytes).saturating_add(1)),
            ObjectSizes::Log2 { max_bytes } => {
                let top = (max_bytes >> (random % 8)).max(1);
                let least = (top / 2).max(1);
                let spread = splitmix64(random);
                least + ((u128::from(spread) * u128::from(top - least + 1)) >> 64) as u64
            }
            ObjectSizes::Weighted(all) => {
                let total: u64 = all.iter().map(|(_, weight)| u64::from(*weight)).sum();
                let mut at = below(total.max(1));
                for (bytes, weight) in all {
                    match at.checked_sub(u64::from(*weight)) {
                        None => return *bytes,
                        Some(rest) => at = rest,
                    }
                }
                0
            }
        }
    }

    /// Appends the key of an object below the prefix. All its characters stand
    /// for themselves in a path.
    pub(crate) fn key(&self, out: &mut Vec<u8>, rank: u32, number: u64) {
        let random = splitmix64(self.seed ^ splitmix64(number));
        match self.layout {
            KeyLayout::Hashed => {
                encode::hex(out, &random.to_be_bytes()[..2]);
                out.push(b'/');
                rank_of(out, rank);
                out.push(b'-');
            }
            KeyLayout::Flat => {
                rank_of(out, rank);
                out.push(b'/');
            }
            KeyLayout::Tree { depth, fan_out } => {
                rank_of(out, rank);
                let mut rest = random;
                for _ in 0..depth.min(16) {
                    out.extend_from_slice(b"/d");
                    encode::decimal(out, rest % u64::from(fan_out.max(1)));
                    rest /= u64::from(fan_out.max(1));
                }
                out.push(b'/');
            }
        }
        let mut digits = Vec::new();
        encode::decimal(&mut digits, number);
        for _ in digits.len()..12 {
            out.push(b'0');
        }
        out.extend_from_slice(&digits);
    }

    /// Writes the path of an object.
    pub(crate) fn path(&self, out: &mut Vec<u8>, rank: u32, number: u64) {
        out.clear();
        out.extend_from_slice(&self.root);
        self.key(out, rank, number);
    }

    /// Writes the path of a copy of an object.
    pub(crate) fn copy_path(&self, out: &mut Vec<u8>, rank: u32, number: u64) {
        out.clear();
        out.extend_from_slice(&self.root);
        out.extend_from_slice(COPIES.as_bytes());
        out.push(b'/');
        self.key(out, rank, number);
    }

    /// The prefix under which the objects of a rank are listed.
    pub(crate) fn listed(&self, rank: u32) -> String {
        match self.layout {
            KeyLayout::Hashed => self.prefix.clone(),
            _ => format!("{}w{rank}/", self.prefix),
        }
    }
}

fn rank_of(out: &mut Vec<u8>, rank: u32) {
    out.push(b'w');
    encode::decimal(out, u64::from(rank));
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(layout: KeyLayout, sizes: ObjectSizes) -> ObjectNames {
        ObjectNames {
            root: b"/bucket/p/".to_vec(),
            prefix: "p/".to_owned(),
            layout,
            sizes,
            seed: 5,
        }
    }

    fn path(names: &ObjectNames, rank: u32, number: u64) -> String {
        let mut out = Vec::new();
        names.path(&mut out, rank, number);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn keys_follow_the_layout() {
        let flat = names(KeyLayout::Flat, ObjectSizes::Fixed(1));
        assert_eq!(path(&flat, 3, 42), "/bucket/p/w3/000000000042");
        let hashed = path(&names(KeyLayout::Hashed, ObjectSizes::Fixed(1)), 3, 42);
        assert!(hashed.ends_with("/w3-000000000042"), "{hashed}");
        let tree = KeyLayout::Tree {
            depth: 3,
            fan_out: 4,
        };
        let tree = path(&names(tree, ObjectSizes::Fixed(1)), 0, 1 << 45);
        assert_eq!(tree.matches("/d").count(), 3, "{tree}");
        assert!(tree.ends_with("/35184372088832"), "{tree}");
    }

    #[test]
    fn sizes_have_the_mean_of_their_distribution() {
        let all = [
            ObjectSizes::Fixed(4096),
            ObjectSizes::Range {
                min_bytes: 10,
                max_bytes: 1000,
            },
            ObjectSizes::Log2 { max_bytes: 1 << 20 },
            ObjectSizes::Weighted(vec![(100, 1), (1000, 3)]),
        ];
        for sizes in all {
            let names = names(KeyLayout::Flat, sizes.clone());
            let count = 20_000_u64;
            let drawn: Vec<u64> = (0..count).map(|n| names.bytes_of(1, n)).collect();
            let mean = drawn.iter().sum::<u64>() as f64 / count as f64;
            let expected = sizes.mean_bytes();
            assert!(
                (mean / expected - 1.0).abs() < 0.03,
                "{sizes:?}: {mean} {expected}"
            );
            assert!(
                drawn.iter().all(|bytes| *bytes <= sizes.max_bytes()),
                "{sizes:?}"
            );
        }
    }
}
