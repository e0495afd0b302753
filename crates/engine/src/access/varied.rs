//! Accesses in which more than offsets varies: sizes and offsets by kind of
//! operation, runs between random draws, pairs of a trim and a write.

use fathom_model::rng::derive_seed;
use fathom_model::workload::{BlockSizes, OpMix, Pattern, Sequencer};
use fathom_model::{OpKind, Workload};

use super::due_first::DueFirst;
use super::ground::Ground;
use super::label;
use super::layout::Layout;
use super::mix::MixDraw;
use super::read_back::{Backlog, WrittenBlock};
use super::scatter::Seeds;
use super::size::SizeDraw;
use super::strand::Strand;
use super::zone_walk::CurrentZone;
use crate::Error;

/// Kinds of operations that move data, in their order.
pub(super) const KINDS: [OpKind; 3] = [OpKind::Read, OpKind::Write, OpKind::Trim];

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
    owed: Option<WrittenBlock>,
    zone: Option<CurrentZone>,
    due_first: Option<DueFirst>,
    backlog: Option<Backlog>,
}

impl Varied {
    /// Whether a workload has more to it than one size and sequence.
    pub(super) fn is_needed(workload: &Workload) -> bool {
        !workload.block_by_kind.is_empty()
            || !workload.distribution_by_kind.is_empty()
            || workload.sequencer != Sequencer::default()
            || workload.trim_first
            || workload.zone_walk.is_some()
            || !workload.rate_by_kind.is_empty()
            || workload.verify.is_some_and(|v| v.read_back.is_some())
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
        let back = workload.verify.and_then(|verify| verify.read_back);
        Ok(Varied {
            sizes,
            strands,
            strand_of,
            pairs: workload.trim_first,
            owed: None,
            zone: zone(at)?,
            due_first: DueFirst::new(workload, at.worker_index, own_seed)?,
            backlog: back.as_ref().map(Backlog::new),
        })
    }

    /// When the next access is due, where kinds have rates of their own.
    pub(super) fn due_ns(&self) -> Option<u64> {
        self.due_first.as_ref().map(DueFirst::due_ns)
    }

    /// Whether the last access reads back what was written before.
    pub(super) fn reads_back(&self) -> bool {
        self.backlog.as_ref().is_some_and(Backlog::gave)
    }

    /// Nothing more is written.
    pub(super) fn close(&mut self, undone: Option<WrittenBlock>) {
        self.owed = None;
        if let Some(backlog) = &mut self.backlog {
            backlog.close(undone);
        }
    }

    /// Whether all that was written has been read back, and nothing more is.
    pub(super) fn is_over(&self) -> bool {
        self.backlog.as_ref().is_some_and(Backlog::is_over)
    }

    /// Kind, bytes, file and position of the next access.
    #[inline(never)]
    pub(super) fn next(&mut self, mix: &mut MixDraw) -> (OpKind, u32, u32, u64) {
        if let Some((bytes, file, position)) = self.owed.take() {
            return (OpKind::Write, bytes, file, position);
        }
        if let Some(backlog) = &mut self.backlog
            && let Some((bytes, file, position)) = backlog.next()
        {
            return (OpKind::Read, bytes, file, position);
        }
        let kind = match &self.due_first {
            Some(due) => due.kind(),
            None if self.pairs => OpKind::Trim,
            None => mix.next(),
        };
        let index = kind.index();
        let bytes = self.sizes[index].next();
        if let Some(due) = &mut self.due_first {
            due.advance(u64::from(bytes));
        }
        let shift = self.zone_for(bytes);
        let strand = &mut self.strands[self.strand_of[index]];
        let (file, within) = strand.next(index, u64::from(bytes));
        let position = shift + within;
        if self.pairs {
            self.owed = Some((bytes, file, position));
        }
        if kind == OpKind::Write
            && let Some(backlog) = &mut self.backlog
        {
            backlog.add((bytes, file, position));
        }
        (kind, bytes, file, position)
    }

    /// Start of the zone in which a block of `bytes` lies.
    #[inline]
    fn zone_for(&mut self, bytes: u32) -> u64 {
        let Some(zone) = &mut self.zone else {
            return 0;
        };
        if zone.take(u64::from(bytes)) {
            self.strands.iter_mut().for_each(Strand::restart);
        }
        zone.start()
    }
}

/// The zones of one worker's part.
fn zone(at: &Site<'_>) -> Result<Option<CurrentZone>, Error> {
    let Some(walk) = &at.workload.zone_walk else {
        return Ok(None);
    };
    let block = at.workload.max_block_bytes();
    let ground = Ground::new(at.workload, at.layout, at.worker_index, block)?;
    CurrentZone::new(walk, &ground).map(Some)
}

/// The ground of one worker for blocks of at most `max_bytes`: of one zone,
/// where it goes from zone to zone.
fn ground(at: &Site<'_>, max_bytes: u64) -> Result<Ground, Error> {
    let ground = Ground::new(at.workload, at.layout, at.worker_index, max_bytes)?;
    Ok(match &at.workload.zone_walk {
        Some(walk) => ground.narrowed(walk.zone_bytes),
        None => ground,
    })
}

/// One sequence for all kinds.
fn common_strand(at: &Site<'_>, seeds: Seeds) -> Result<Strand, Error> {
    let workload = at.workload;
    let max_bytes = workload.max_block_bytes();
    let ground = ground(at, max_bytes)?;
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
    let ground = ground(at, sizes.max_bytes())?;
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
    } else if workload.trim_first && !workload.rate_by_kind.is_empty() {
        "blocks that are trimmed and then written have one rate, not one by kind"
    } else {
        return Ok(());
    };
    Err(Error::Workload(fault.to_owned()))
}

fn is_pairs(mix: &OpMix) -> bool {
    (mix.read_percent, mix.write_percent, mix.trim_percent) == (0, 50, 50)
}
