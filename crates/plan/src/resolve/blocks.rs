//! Sizes of blocks, and what offsets are multiples of.

use fathom_model::workload::{BlockSizes, ByKind, CacheMode, OpMix, Pattern, WeightedSize};

use crate::keys::WorkloadKeys;
use crate::value::Blocks;

const DEFAULT_BYTES: u64 = 4096;

/// The sizes of all kinds, and those of kinds that differ. A kind that is not
/// done has none.
pub(super) fn blocks(
    keys: &WorkloadKeys,
    mix: OpMix,
    cache: CacheMode,
) -> (BlockSizes, ByKind<BlockSizes>) {
    let kinds = match keys.bs.as_ref().map(|bs| &bs.value) {
        None => return (BlockSizes::Fixed(DEFAULT_BYTES), ByKind::default()),
        Some(Blocks::ByKind(kinds)) => kinds,
        Some(blocks) => return (sizes(blocks, cache), ByKind::default()),
    };
    let own = |percent: u8, blocks: &Option<Blocks>| {
        let default = BlockSizes::Fixed(DEFAULT_BYTES);
        (percent > 0).then(|| blocks.as_ref().map_or(default, |b| sizes(b, cache)))
    };
    let read = own(mix.read_percent, &kinds.read);
    let write = own(mix.write_percent, &kinds.write);
    let trim = own(mix.trim_percent, &kinds.trim);
    let block = [&read, &write, &trim].into_iter().flatten().next().cloned();
    let block = block.unwrap_or(BlockSizes::Fixed(DEFAULT_BYTES));
    let differs = |sizes: Option<BlockSizes>| sizes.filter(|sizes| *sizes != block);
    let by_kind = ByKind {
        read: differs(read),
        write: differs(write),
        trim: differs(trim),
    };
    (block, by_kind)
}

fn sizes(blocks: &Blocks, cache: CacheMode) -> BlockSizes {
    match blocks {
        Blocks::Fixed(bytes) => BlockSizes::Fixed(*bytes),
        Blocks::Range(min, max) => BlockSizes::Range {
            min_bytes: *min,
            max_bytes: *max,
            step_bytes: step(*min, *max, cache),
        },
        Blocks::Weighted(sizes) => BlockSizes::Weighted(
            sizes
                .iter()
                .map(|(bytes, weight)| WeightedSize {
                    bytes: *bytes,
                    weight: *weight,
                })
                .collect(),
        ),
        // The parser puts none into another.
        Blocks::ByKind(_) => BlockSizes::Fixed(DEFAULT_BYTES),
    }
}

/// Sizes of a range go in pages where both ends do, else in sectors, else,
/// through the page cache, in bytes.
fn step(min: u64, max: u64, cache: CacheMode) -> u64 {
    let fits = |step: u64| min.is_multiple_of(step) && max.is_multiple_of(step);
    match cache {
        _ if fits(4096) => 4096,
        _ if fits(512) => 512,
        CacheMode::Direct => 512,
        CacheMode::Buffered => 1,
    }
}

/// The smallest block of any kind.
pub(super) fn smallest(block: &BlockSizes, by_kind: &ByKind<BlockSizes>) -> u64 {
    let sizes = by_kind.values().chain([block]).map(BlockSizes::min_bytes);
    sizes.min().unwrap_or(DEFAULT_BYTES)
}

/// What offsets are multiples of when nothing was asked for: the smallest
/// block, and finer where skips would be rounded otherwise.
pub(super) fn alignment(smallest: u64, pattern: &Pattern) -> u64 {
    match pattern {
        Pattern::Skipping { skip_bytes } => gcd(smallest, skip_bytes.unsigned_abs()),
        _ => smallest,
    }
    .max(1)
}

fn gcd(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { gcd(b, a % b) }
}
