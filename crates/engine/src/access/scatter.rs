//! Positions at random.

use fathom_model::elementary::{exp, ln, standard_normal};
use fathom_model::rng::{Rng, derive_seed};
use fathom_model::workload::Distribution;

use super::ground::Ground;
use super::permutation::Permutation;
use super::steady_fill::Filling;
use super::zipf::Zipf;
use super::zones::Zones;
use crate::Error;

/// Draws positions from a distribution.
#[derive(Debug, Clone)]
pub(crate) struct Scatter {
    rng: Rng,
    ground: Ground,
    law: Law,
    /// Number of positions for a fixed block size.
    fixed_positions: u64,
    max_bytes: u64,
    /// Sizes differ, so that a small block may lie anywhere in its cell.
    loose: bool,
}

#[derive(Debug, Clone)]
enum Law {
    EachOnce(Pass),
    Uniform,
    Zipf {
        ranks: Zipf,
        places: Permutation,
    },
    Pareto {
        power: f64,
        places: Permutation,
    },
    /// Standard deviation and middle as shares of the whole.
    Normal {
        deviation: f64,
        center: f64,
    },
    HotSpot {
        access: f64,
        hot_cells: u64,
    },
    Zoned(Zones),
    Sequence(Sequence),
    SteadyFill(Box<Filling>),
}

/// One pass over all cells in an order of its own. Workers that share files
/// take turns on one order (worker w of W takes the places w, w + W, w + 2W,
/// …), so that all of them together visit each cell once per pass.
#[derive(Debug, Clone)]
struct Pass {
    order: Permutation,
    key: u64,
    number: u64,
    next: u64,
    first: u64,
    stride: u64,
}

impl Pass {
    /// `share`: which of the workers that go through it together, of how many.
    fn new(cells: u64, key: u64, share: (u64, u64)) -> Pass {
        // A worker beyond the last would begin behind the first cells of each pass.
        assert!(share.0 < share.1, "worker {} of {}", share.0, share.1);
        Pass {
            order: Permutation::new(cells, derive_seed(key, 0)),
            key,
            number: 0,
            next: share.0,
            first: share.0,
            stride: share.1,
        }
    }

    #[inline]
    fn next(&mut self) -> u64 {
        if self.next >= self.order.len() {
            self.number += 1;
            self.order.rekey(derive_seed(self.key, self.number));
            self.next = self.first;
        }
        let cell = self.order.at(self.next);
        self.next += self.stride;
        cell
    }

    fn restart(&mut self) {
        self.number += 1;
        self.order.rekey(derive_seed(self.key, self.number));
        self.next = self.first;
    }
}

/// A given order of cells.
#[derive(Debug, Clone)]
struct Sequence {
    cells: Vec<u64>,
    next: usize,
    /// Where the list begins this time, and how far the next time lies.
    start: u64,
    step: u64,
}

impl Sequence {
    #[inline]
    fn next(&mut self, cells: u64) -> u64 {
        let cell = self.start.saturating_add(self.cells[self.next]);
        self.next += 1;
        if self.next == self.cells.len() {
            self.next = 0;
            self.start = (self.start + self.step) % cells;
        }
        cell % cells
    }
}

/// From where a scatter draws.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Seeds {
    /// The worker's own.
    pub(crate) own: u64,
    /// The same for all workers that use the same files, so that they agree on
    /// what is hot.
    pub(crate) hot: u64,
    /// The same for all workers that go through one pass together.
    pub(crate) pass: u64,
}

impl Scatter {
    pub(crate) fn new(
        ground: &Ground,
        distribution: &Distribution,
        max_bytes: u64,
        loose: bool,
        seeds: Seeds,
    ) -> Result<Scatter, Error> {
        check(distribution)?;
        let cells = ground.cells();
        let places = || Permutation::new(cells, derive_seed(seeds.hot, 1));
        let law = match distribution {
            Distribution::EachOnce => {
                Law::EachOnce(Pass::new(cells, derive_seed(seeds.pass, 2), ground.share))
            }
            Distribution::Uniform => Law::Uniform,
            Distribution::Zipf { theta } => Law::Zipf {
                ranks: Zipf::new(cells, *theta),
                places: places(),
            },
            Distribution::Pareto { h } => Law::Pareto {
                power: ln(*h) / ln(1.0 - *h),
                places: places(),
            },
            Distribution::Normal {
                deviation_percent,
                center_percent,
            } => Law::Normal {
                deviation: deviation_percent / 100.0,
                center: center_percent / 100.0,
            },
            Distribution::HotSpot {
                access_percent,
                size_percent,
            } => Law::HotSpot {
                access: access_percent / 100.0,
                hot_cells: ((size_percent / 100.0 * cells as f64).round() as u64).clamp(1, cells),
            },
            Distribution::Zoned(zones) => Law::Zoned(Zones::new(zones, cells, ground.cell_bytes)?),
            Distribution::Sequence { blocks, advances } => Law::Sequence(Sequence {
                next: 0,
                start: 0,
                step: if *advances { blocks.len() as u64 } else { 0 },
                cells: blocks.clone(),
            }),
            Distribution::SteadyFill(_) if loose => {
                return Err(Error::Workload(
                    "a filling to the steady state needs one block size".to_owned(),
                ));
            }
            Distribution::SteadyFill(fill) => {
                let key = derive_seed(seeds.pass, 2);
                Law::SteadyFill(Box::new(Filling::new(fill, cells, key, ground.share)))
            }
        };
        Ok(Scatter {
            rng: Rng::new(seeds.own),
            fixed_positions: (ground.span - max_bytes) / ground.align + 1,
            ground: ground.clone(),
            law,
            max_bytes,
            loose,
        })
    }

    /// Begins a fresh pass, where there are passes.
    pub(crate) fn restart(&mut self) {
        match &mut self.law {
            Law::EachOnce(pass) => pass.restart(),
            Law::SteadyFill(filling) => filling.restart(),
            _ => {}
        }
    }

    /// File (from the worker's first) and position of the next block.
    // Inlined by order: a second caller, for what differs by kind, would make
    // a call of it in the plain stream as well.
    #[allow(clippy::inline_always)]
    #[inline(always)]
    pub(crate) fn next(&mut self, bytes: u64) -> (u32, u64) {
        let cells = self.ground.cells();
        let rng = &mut self.rng;
        let cell = match &mut self.law {
            Law::Uniform => return self.uniform(bytes),
            Law::EachOnce(pass) => pass.next(),
            Law::Zipf { ranks, places } => places.at(ranks.next(rng)),
            Law::Pareto { power, places } => places.at(self_similar(rng, *power, cells)),
            Law::Normal { deviation, center } => {
                let share = *center + truncated_normal(rng, *deviation, -*center);
                ((share * cells as f64) as u64).min(cells - 1)
            }
            Law::HotSpot { access, hot_cells } => {
                if *hot_cells == cells || rng.unit() < *access {
                    rng.below(*hot_cells)
                } else {
                    *hot_cells + rng.below(cells - *hot_cells)
                }
            }
            Law::Zoned(zones) => zones.next(rng),
            Law::Sequence(sequence) => sequence.next(cells),
            Law::SteadyFill(filling) => filling.next(),
        };
        debug_assert!(cell < cells, "cell {cell} of {cells}");
        let (file, position) = self.ground.cell_at(cell);
        if self.loose {
            let slack = (self.max_bytes - bytes) / self.ground.align + 1;
            (file, position + self.rng.below(slack) * self.ground.align)
        } else {
            (file, position)
        }
    }

    /// Any aligned position at which the block fits.
    #[inline]
    fn uniform(&mut self, bytes: u64) -> (u32, u64) {
        let file = if self.ground.files == 1 {
            0
        } else {
            self.rng.below(u64::from(self.ground.files)) as u32
        };
        let positions = if self.loose {
            (self.ground.span - bytes) / self.ground.align + 1
        } else {
            self.fixed_positions
        };
        (file, self.rng.below(positions) * self.ground.align)
    }
}

/// A rank of the self-similar distribution (Gray et al., "Quickly generating
/// billion-record synthetic databases", SIGMOD 1994): a share 1 - h of draws
/// falls on a share h of the ranks, and so on within that.
#[inline]
fn self_similar(rng: &mut Rng, power: f64, cells: u64) -> u64 {
    let u = rng.unit();
    if u == 0.0 {
        return 0;
    }
    ((exp(power * ln(u)) * cells as f64) as u64).min(cells - 1)
}

/// A normal draw around 0, kept within one unit from `low` (-1 to 0) on:
/// narrow ones by drawing again, wide ones by rejection from uniform.
#[inline]
fn truncated_normal(rng: &mut Rng, deviation: f64, low: f64) -> f64 {
    loop {
        if deviation > 0.4 {
            let x = rng.unit() + low;
            let z = x / deviation;
            if rng.unit() < exp(-0.5 * z * z) {
                return x;
            }
        } else {
            let x = deviation * standard_normal(rng);
            if (low..low + 1.0).contains(&x) {
                return x;
            }
        }
    }
}

fn check(distribution: &Distribution) -> Result<(), Error> {
    let percent = |value: f64| value > 0.0 && value <= 100.0;
    let fault = match *distribution {
        Distribution::Zipf { theta } if !(theta > 0.0 && theta <= 100.0) => {
            format!("the zipf exponent {theta} is outside of 0 to 100")
        }
        Distribution::Pareto { h } if !(h > 0.0 && h < 1.0) => {
            format!("the pareto skew {h} is not between 0 and 1")
        }
        Distribution::Normal {
            deviation_percent: d,
            ..
        } if !(d > 0.0 && d.is_finite()) => {
            format!("the deviation {d} % is not above 0")
        }
        Distribution::Normal {
            center_percent: c, ..
        } if !(0.0..=100.0).contains(&c) => {
            format!("the middle at {c} % is outside of the target")
        }
        Distribution::HotSpot {
            access_percent,
            size_percent,
        } if !(percent(access_percent) && percent(size_percent)) => format!(
            "a hot spot with {access_percent} % of accesses on {size_percent} % of the target: \
             both must be above 0 and at most 100"
        ),
        Distribution::Sequence { ref blocks, .. } if blocks.is_empty() => {
            "a given order of blocks has no blocks".to_owned()
        }
        Distribution::SteadyFill(ref fill)
            if !(fill.over_provisioning_percent > 0.0
                && fill.over_provisioning_percent < 100.0) =>
        {
            format!(
                "over-provisioning of {} % is not between 0 and 100",
                fill.over_provisioning_percent
            )
        }
        _ => return Ok(()),
    };
    Err(Error::Workload(fault))
}
