//! Accesses in which more than offsets varies: sizes and offsets by kind of
//! operation, runs between random draws, pairs of a trim and a write.

use fathom_model::rng::derive_seed;
use fathom_model::workload::{BlockSizes, OpMix, Pattern, Sequencer};
use fathom_model::{OpKind, Workload};

use super::ground::Ground;
use super::label;
use super::layout::Layout;
use super::mix::MixDraw;
use super::scatter::Seeds;
use super::size::SizeDraw;
use super::strand::Strand;
use crate::Error;

const KINDS: [OpKind; 3] = [OpKind::Read, OpKind::Write, OpKind::Trim];

/// Whose accesses, and where.
pub(super) struct Site<'a> {
    pub(super) workload: &'a Workload,
    pub(super) layout: &'a Layout,
    pub(super) worker_index: u32,
}

/// The accesses of one worker, relative to its files.
#[derive(Debug, Clone)]
pub(super) struct Varied {
    /// By kind.
    sizes: [SizeDraw; 3],
    strands: Vec<Strand>,
    /// Index of each kind's strand.
    strand_of: [usize; 3],
    pairs: bool,
    /// The write of a block that was just trimmed: bytes, file, position.
    owed: Option<(u32, u32, u64)>,
}

impl Varied {
    /// Whether a workload has more to it than one size and sequence.
    pub(super) fn is_needed(workload: &Workload) -> bool {
        !workload.block_by_kind.is_empty()
            || !workload.distribution_by_kind.is_empty()
            || workload.sequencer != Sequencer::default()
            || workload.trim_first
    }

    pub(super) fn new(at: &Site<'_>, own_seed: u64, seeds: Seeds) -> Result<Varied, Error> {
        let workload = at.workload;
        check(workload)?;
        let size_seed = derive_seed(own_seed, label::SIZE);
        let size = |kind: OpKind| {
            let seed = derive_seed(size_seed, 1 + kind.index() as u64);
            SizeDraw::new(workload.block_of(kind), seed)
        };
        let sizes = [
            size(OpKind::Read)?,
            size(OpKind::Write)?,
            size(OpKind::Trim)?,
        ];
        let each = workload.sequencer.each_kind;
        let mut strand_of = [0; 3];
        let mut strands = Vec::with_capacity(3);
        if each {
            // A kind that is not done needs no room.
            for kind in KINDS.into_iter().filter(|kind| workload.may_do(*kind)) {
                strand_of[kind.index()] = strands.len();
                strands.push(own_strand(at, kind, seeds)?);
            }
        }
        if strands.is_empty() {
            strands.push(common_strand(at, seeds)?);
        }
        Ok(Varied {
            sizes,
            strands,
            strand_of,
            pairs: workload.trim_first,
            owed: None,
        })
    }

    /// Kind, bytes, file and position of the next access.
    #[inline(never)]
    pub(super) fn next(&mut self, mix: &mut MixDraw) -> (OpKind, u32, u32, u64) {
        if let Some((bytes, file, position)) = self.owed.take() {
            return (OpKind::Write, bytes, file, position);
        }
        let kind = if self.pairs { OpKind::Trim } else { mix.next() };
        let index = kind.index();
        let bytes = self.sizes[index].next();
        let strand = &mut self.strands[self.strand_of[index]];
        let (file, position) = strand.next(index, u64::from(bytes));
        if self.pairs {
            self.owed = Some((bytes, file, position));
        }
        (kind, bytes, file, position)
    }
}

/// One sequence for all kinds.
fn common_strand(at: &Site<'_>, seeds: Seeds) -> Result<Strand, Error> {
    let workload = at.workload;
    let max_bytes = workload.max_block_bytes();
    let ground = Ground::new(workload, at.layout, at.worker_index, max_bytes)?;
    let loose = workload.min_block_bytes() != max_bytes;
    Strand::new(
        &ground,
        &workload.pattern,
        &workload.sequencer,
        loose,
        seeds,
    )
}

/// A sequence of one kind's own. Kinds agree on what is hot.
fn own_strand(at: &Site<'_>, kind: OpKind, seeds: Seeds) -> Result<Strand, Error> {
    let workload = at.workload;
    let sizes: &BlockSizes = workload.block_of(kind);
    let ground = Ground::new(workload, at.layout, at.worker_index, sizes.max_bytes())?;
    let pattern = match workload.distribution_by_kind.get(kind) {
        Some(own) if workload.pattern.is_random() => Pattern::Random(own.clone()),
        _ => workload.pattern.clone(),
    };
    let number = 16 + kind.index() as u64;
    let seeds = Seeds {
        own: derive_seed(seeds.own, number),
        hot: seeds.hot,
        pass: derive_seed(seeds.pass, number),
    };
    let loose = sizes.min_bytes() != sizes.max_bytes();
    Strand::new(&ground, &pattern, &workload.sequencer, loose, seeds)
}

fn check(workload: &Workload) -> Result<(), Error> {
    let fault = if workload.trim_first && !is_pairs(&workload.mix) {
        "blocks that are trimmed and then written need a mix of half writes and half trims"
    } else if workload.trim_first && workload.sequencer.each_kind {
        "blocks that are trimmed and then written share one sequence of offsets"
    } else if !workload.distribution_by_kind.is_empty() && !workload.sequencer.each_kind {
        "distributions by kind need a sequence of offsets for each kind"
    } else {
        return Ok(());
    };
    Err(Error::Workload(fault.to_owned()))
}

fn is_pairs(mix: &OpMix) -> bool {
    (mix.read_percent, mix.write_percent, mix.trim_percent) == (0, 50, 50)
}
