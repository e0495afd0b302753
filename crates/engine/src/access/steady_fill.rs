//! The order of one filling after which an SSD is as long random writing
//! leaves it.
//!
//! A drive that has been written at random for a long time holds flash blocks
//! of every age, and the older a block, the less of it is still valid. In the
//! steady state of a drive that cleans its emptiest block first, validity times
//! the share of the drive with that validity is constant (P. Desnoyers,
//! "Analytic Models of SSD Write Performance", ACM Transactions on Storage 8(2),
//! 2012). Sorted by age, from 0 (oldest) to 1, validity then goes as
//! `g^(1 - age)`, where g, the validity of the block that is cleaned next, is
//! what makes the mean of all, `(1 - g) / -ln g`, the logical share
//! `1 / (1 + over-provisioning)` of the physical capacity.
//!
//! So the physical capacity is written once, in equal regions: each region
//! writes blocks that were never written, in a random order, behind rewrites of
//! as many blocks of the region before as are to be invalid there. Places are
//! computed from the index, so that no list of blocks is kept.

use fathom_model::elementary::{exp, ln};
use fathom_model::workload::SteadyFill as Fill;

use super::permutation::Permutation;

/// Fewer and more regions tell nothing or cost too much to walk.
const REGIONS: std::ops::RangeInclusive<u32> = 1..=1_000_000;

/// What is known of a region.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Region {
    /// Its first write.
    start: u64,
    /// The first of its blocks that were never written before.
    first_fresh: u64,
    /// As many writes at its beginning are rewrites.
    rewrites: u64,
    /// The first of the blocks that it rewrites.
    first_rewritten: u64,
}

/// Writes of one filling, by index.
#[derive(Debug, Clone)]
pub(super) struct Filling {
    order: Permutation,
    regions: Vec<Region>,
    writes: u64,
    next: u64,
    first: u64,
    stride: u64,
    /// The region of the write before.
    current: usize,
}

impl Filling {
    /// `share`: which of the workers that go through it together, of how many.
    pub(super) fn new(fill: &Fill, cells: u64, key: u64, share: (u64, u64)) -> Filling {
        assert!(share.0 < share.1, "worker {} of {}", share.0, share.1);
        let regions = regions(fill, cells);
        let writes = regions.last().map_or(0, |last| last.start);
        Filling {
            order: Permutation::new(cells, key),
            writes,
            next: share.0,
            first: share.0,
            stride: share.1,
            current: 0,
            regions,
        }
    }

    /// The next cell; behind the last one the same filling begins anew.
    #[inline]
    pub(super) fn next(&mut self) -> u64 {
        if self.next >= self.writes {
            self.restart();
        }
        let index = self.next;
        self.next += self.stride;
        // The list ends with a region behind the last write.
        while index >= self.regions[self.current + 1].start {
            self.current += 1;
        }
        let region = self.regions[self.current];
        let within = index - region.start;
        self.order.at(match within.checked_sub(region.rewrites) {
            Some(fresh) => region.first_fresh + fresh,
            None => region.first_rewritten + within,
        })
    }

    /// Begins anew.
    pub(super) fn restart(&mut self) {
        (self.next, self.current) = (self.first, 0);
    }
}

/// Writes of one filling of `cells`.
pub(super) fn writes(fill: &Fill, cells: u64) -> u64 {
    regions(fill, cells).last().map_or(0, |last| last.start)
}

/// The regions, and one behind the last.
fn regions(fill: &Fill, cells: u64) -> Vec<Region> {
    let count = fill.regions.clamp(*REGIONS.start(), *REGIONS.end());
    let count = u64::from(count).min(cells.max(1));
    let over_provisioning = fill.over_provisioning_percent / 100.0;
    let physical = (cells as f64 * (1.0 + over_provisioning)).round() as u64;
    let validity = cleaned_validity(over_provisioning);
    let lag = if fill.later { 2 } else { 1 };
    let mut regions: Vec<Region> = Vec::with_capacity(count as usize + 2);
    // Of each region its first fresh block and how many are to be invalid.
    let mut planned: Vec<(u64, u64)> = Vec::with_capacity(count as usize + 1);
    let (mut start, mut fresh, mut number) = (0, 0, 0);
    while fresh < cells {
        let end = |n: u64| (u128::from(physical) * u128::from(n) / u128::from(count)) as u64;
        let length = end(number + 1) - end(number);
        let (first_rewritten, rewrites) = match planned.len().checked_sub(lag) {
            Some(before) => planned[before],
            None => (0, 0),
        };
        debug_assert!(
            first_rewritten + rewrites <= fresh,
            "a region rewrites only what was written before it"
        );
        let rewrites = rewrites.min(length);
        let new = (length - rewrites).min(cells - fresh);
        let age = ((number as f64 + 0.5) / count as f64).min(1.0);
        let invalid = 1.0 - exp((1.0 - age) * ln(validity));
        planned.push((fresh, ((invalid * length as f64).round() as u64).min(new)));
        regions.push(Region {
            start,
            first_fresh: fresh,
            rewrites,
            first_rewritten,
        });
        start += rewrites + new;
        fresh += new;
        number += 1;
    }
    regions.push(Region {
        start,
        first_fresh: fresh,
        rewrites: 0,
        first_rewritten: 0,
    });
    regions
}

/// Validity of the block that is cleaned next, 0 to 1: the g for which
/// `(1 - g) / -ln g = 1 / (1 + over_provisioning)`. By bisection: the left side
/// rises with g from 0 to 1.
fn cleaned_validity(over_provisioning: f64) -> f64 {
    let mean = 1.0 / (1.0 + over_provisioning.max(1e-6));
    let (mut low, mut high) = (1e-300_f64, 1.0 - 1e-12);
    for _ in 0..200 {
        let middle = f64::midpoint(low, high);
        if (1.0 - middle) / -ln(middle) < mean {
            low = middle;
        } else {
            high = middle;
        }
    }
    high
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(over_provisioning: f64, regions: u32, later: bool) -> Fill {
        Fill {
            over_provisioning_percent: over_provisioning * 100.0,
            regions,
            later,
        }
    }

    fn filling(fill: &Fill, cells: u64) -> Vec<u64> {
        let mut fill = Filling::new(fill, cells, 7, (0, 1));
        (0..fill.writes).map(|_| fill.next()).collect()
    }

    /// Share of each region's writes that nothing wrote again.
    fn validity(writes: &[u64], cells: u64, regions: usize) -> Vec<f64> {
        let mut last = vec![0; cells as usize];
        for (index, cell) in writes.iter().enumerate() {
            last[*cell as usize] = index;
        }
        (0..regions)
            .map(|region| {
                let part = writes.len() * region / regions..writes.len() * (region + 1) / regions;
                let valid = part.clone().filter(|i| last[writes[*i] as usize] == *i);
                valid.count() as f64 / part.len() as f64
            })
            .collect()
    }

    #[test]
    fn write_amplification_is_that_of_the_closed_form() {
        // Desnoyers' alpha / (alpha + W(-alpha e^-alpha)) for 7, 15 and 28 %.
        for (over_provisioning, expected) in [(0.07, 7.817), (0.15, 4.016), (0.28, 2.481)] {
            let found = 1.0 / (1.0 - cleaned_validity(over_provisioning));
            assert!(
                (found - expected).abs() < 0.001,
                "{over_provisioning}: {found}"
            );
        }
    }

    #[test]
    fn every_block_is_written_and_the_physical_capacity_once() {
        for later in [false, true] {
            let writes = filling(&asked(0.15, 100, later), 100_000);
            let mut seen = vec![false; 100_000];
            for cell in &writes {
                seen[*cell as usize] = true;
            }
            assert!(seen.iter().all(|s| *s));
            let ratio = writes.len() as f64 / 100_000.0;
            assert!((ratio - 1.15).abs() < 0.002, "{ratio}");
        }
    }

    #[test]
    fn older_regions_are_as_empty_as_in_the_steady_state() {
        for later in [false, true] {
            let writes = filling(&asked(0.15, 20, later), 200_000);
            let gc = cleaned_validity(0.15);
            for (region, found) in validity(&writes, 200_000, 20).iter().enumerate() {
                // Behind the last regions nothing comes that could rewrite them.
                let expected = match region >= if later { 18 } else { 19 } {
                    true => 1.0,
                    false => gc.powf(1.0 - (region as f64 + 0.5) / 20.0),
                };
                assert!(
                    (found - expected).abs() < 0.01,
                    "region {region}: {found}, expected {expected}"
                );
            }
        }
    }

    #[test]
    fn workers_share_one_filling() {
        let whole = filling(&asked(0.3, 7, false), 1_000);
        let mut parts: Vec<Filling> = (0..3)
            .map(|worker| Filling::new(&asked(0.3, 7, false), 1_000, 7, (worker, 3)))
            .collect();
        let together: Vec<u64> = (0..whole.len()).map(|i| parts[i % 3].next()).collect();
        assert_eq!(together, whole);
    }

    #[test]
    fn the_smallest_and_the_oddest_end() {
        for cells in [1, 2, 3, 17] {
            for over_provisioning in [1e-9, 0.5, 0.999] {
                let writes = filling(&asked(over_provisioning, 1_000_000, true), cells);
                assert!(writes.len() as u64 >= cells && writes.len() as u64 <= 2 * cells);
            }
        }
    }
}
