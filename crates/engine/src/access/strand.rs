//! One sequence of offsets: in order or at random, and what lies between two
//! random draws.

use fathom_model::rng::{Rng, derive_seed};
use fathom_model::workload::{Between, ByKind, Pattern, Sequencer, WorkerRegion};
use fathom_model::{OpKind, Workload};

use super::ground::Ground;
use super::label;
use super::layout::Layout;
use super::scatter::{Scatter, Seeds};
use super::walk::{Gait, Walk};
use crate::Error;

impl Seeds {
    /// The seeds of one worker.
    pub(super) fn of(workload: &Workload, layout: &Layout, seed: u64, own_seed: u64) -> Seeds {
        let common = derive_seed(seed, label::SHARED);
        let lonely = derive_seed(own_seed, label::SHARED);
        let divided = workload.data_set.region == WorkerRegion::Split;
        Seeds {
            own: derive_seed(own_seed, label::PLACE),
            hot: if layout.shared { common } else { lonely },
            pass: if layout.shared && divided {
                common
            } else {
                lonely
            },
        }
    }
}

/// Positions of blocks, for ever.
#[derive(Debug, Clone)]
pub(super) enum OffsetOrder {
    Walk(Walk),
    Scatter(Box<Scatter>),
}

impl OffsetOrder {
    /// `loose`: sizes differ.
    pub(super) fn new(
        ground: &Ground,
        pattern: &Pattern,
        loose: bool,
        seeds: Seeds,
    ) -> Result<OffsetOrder, Error> {
        let walk = |gait| OffsetOrder::Walk(Walk::new(ground, gait));
        Ok(match pattern {
            Pattern::Sequential => walk(Gait::Forward),
            Pattern::Backwards => walk(Gait::Backward),
            Pattern::Strided { stride_bytes } => walk(Gait::Stride(*stride_bytes)),
            Pattern::Skipping { skip_bytes } => walk(Gait::Skip(*skip_bytes)),
            Pattern::Random(distribution) => OffsetOrder::Scatter(Box::new(Scatter::new(
                ground,
                distribution,
                ground.max_block,
                loose,
                seeds,
            )?)),
        })
    }

    #[inline]
    fn next(&mut self, bytes: u64) -> (u32, u64) {
        match self {
            OffsetOrder::Walk(walk) => walk.next(bytes),
            OffsetOrder::Scatter(scatter) => scatter.next(bytes),
        }
    }

    fn restart(&mut self) {
        match self {
            OffsetOrder::Walk(walk) => walk.restart(),
            OffsetOrder::Scatter(scatter) => scatter.restart(),
        }
    }
}

/// Where the operation before, of the same kind, was.
#[derive(Debug, Clone, Copy)]
struct Last {
    file: u32,
    start: u64,
    end: u64,
}

/// Which operations are drawn, and where the others go.
#[derive(Debug, Clone)]
struct Runs {
    rng: Rng,
    draw_every: u32,
    /// Operations until the next draw.
    left: u32,
    between: Between,
    /// By kind.
    random_percent: [u8; 3],
    last: [Option<Last>; 3],
    align: u64,
    span: u64,
}

impl Runs {
    /// Nothing when every operation is drawn.
    fn new(sequencer: &Sequencer, ground: &Ground, seed: u64) -> Result<Option<Runs>, Error> {
        let share = |kind| percent_of(&sequencer.random_percent, kind);
        let random_percent = [
            share(OpKind::Read),
            share(OpKind::Write),
            share(OpKind::Trim),
        ];
        if random_percent.iter().any(|percent| *percent > 100) {
            return Err(Error::Workload(
                "more than 100 % of operations at random offsets".to_owned(),
            ));
        }
        let draw_every = sequencer.draw_every_ops.max(1);
        let all = draw_every == 1 && random_percent == [100; 3];
        Ok((!all).then(|| Runs {
            rng: Rng::new(seed),
            draw_every,
            left: 0,
            between: sequencer.between,
            random_percent,
            last: [None; 3],
            align: ground.align,
            span: ground.span,
        }))
    }

    /// File and position of the next block, or nothing when it is drawn.
    #[inline]
    fn next(&mut self, kind: usize, bytes: u64) -> Option<(u32, u64)> {
        if self.left == 0 {
            self.left = self.draw_every - 1;
            let percent = self.random_percent[kind];
            if percent == 100 || self.rng.below(100) < u64::from(percent) {
                return None;
            }
            return self.onward(kind, bytes);
        }
        self.left -= 1;
        match self.between {
            Between::Onward => self.onward(kind, bytes),
            Between::Again => {
                let last = self.last[kind]?;
                self.fit(last.file, last.start, bytes)
            }
        }
    }

    /// Behind the block before; at the end of a file a new place is drawn.
    #[inline]
    fn onward(&self, kind: usize, bytes: u64) -> Option<(u32, u64)> {
        let last = self.last[kind]?;
        let start = last.end.div_ceil(self.align) * self.align;
        self.fit(last.file, start, bytes)
    }

    #[inline]
    fn fit(&self, file: u32, start: u64, bytes: u64) -> Option<(u32, u64)> {
        (start + bytes <= self.span).then_some((file, start))
    }
}

/// A share that is not given is all.
fn percent_of(percents: &ByKind<u8>, kind: OpKind) -> u8 {
    percents.get(kind).copied().unwrap_or(100)
}

/// One sequence of offsets that one or all kinds of operations go through.
#[derive(Debug, Clone)]
pub(super) struct Strand {
    order: OffsetOrder,
    runs: Option<Runs>,
}

impl Strand {
    /// `loose`: sizes differ.
    pub(super) fn new(
        ground: &Ground,
        pattern: &Pattern,
        sequencer: &Sequencer,
        loose: bool,
        seeds: Seeds,
    ) -> Result<Strand, Error> {
        let runs = match pattern {
            Pattern::Random(_) => Runs::new(sequencer, ground, derive_seed(seeds.own, 1))?,
            _ => None,
        };
        Ok(Strand {
            order: OffsetOrder::new(ground, pattern, loose, seeds)?,
            runs,
        })
    }

    /// Begins anew: in order at the start, at random with a fresh pass.
    pub(super) fn restart(&mut self) {
        self.order.restart();
        if let Some(runs) = &mut self.runs {
            runs.left = 0;
            runs.last = [None; 3];
        }
    }

    /// File (from the worker's first) and position of the next block of a kind,
    /// given by its index.
    #[inline]
    pub(super) fn next(&mut self, kind: usize, bytes: u64) -> (u32, u64) {
        let Some(runs) = &mut self.runs else {
            return self.order.next(bytes);
        };
        let (file, start) = match runs.next(kind, bytes) {
            Some(held) => held,
            None => self.order.next(bytes),
        };
        runs.last[kind] = Some(Last {
            file,
            start,
            end: start + bytes,
        });
        (file, start)
    }
}
