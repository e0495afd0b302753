//! Kinds of operations, sizes of blocks, and the order of offsets.

use fathom_model::OpKind;
use fathom_model::workload::{
    Between, BlockSizes, ByKind, Distribution, OpMix, Pattern, Sequencer, SteadyFill, WeightedSize,
    Workload, Zone, ZoneSize,
};

use super::asked::Asked;
use crate::fio::request::value::distribution::{self, Spread};
use crate::fio::request::value::lists;
use crate::fio::request::value::words::{self, Modifier, Rw};

const KINDS: [OpKind; 3] = [OpKind::Read, OpKind::Write, OpKind::Trim];
/// fio's block.
const DEFAULT_BLOCK: u64 = 4096;

/// Fills in mix, blocks, pattern and sequencer.
pub(super) fn fill(asked: &mut Asked<'_>, workload: &mut Workload) {
    let rw = words::rw(asked.word("rw", "read"), asked.units).unwrap_or(Rw {
        reads: true,
        writes: false,
        trims: false,
        random: false,
        modifier: Modifier::None,
    });
    workload.mix = mix(asked, rw);
    workload.trim_first = rw.trims && rw.writes;
    blocks(asked, workload, rw);
    order(asked, workload, rw);
}

fn mix(asked: &mut Asked<'_>, rw: Rw) -> OpMix {
    let percent = |n: i64| u8::try_from(n.clamp(0, 100)).unwrap_or(50);
    let (mut read_percent, mut write_percent, mut trim_percent) = (0, 0, 0);
    match (rw.reads, rw.writes, rw.trims) {
        (true, true, _) => {
            // The later of the two counts; fio takes the other as its rest.
            let read = asked.integer("rwmixread").map(percent);
            let write = asked.integer("rwmixwrite").map(percent);
            read_percent = match (read, write) {
                (Some(read), _) => read,
                (None, Some(write)) => 100 - write,
                (None, None) => 50,
            };
            write_percent = 100 - read_percent;
        }
        (_, true, true) => (write_percent, trim_percent) = (50, 50),
        (_, true, false) => write_percent = 100,
        (_, false, true) => trim_percent = 100,
        (_, false, false) => read_percent = 100,
    }
    OpMix {
        read_percent,
        write_percent,
        trim_percent,
    }
}

/// Sizes of one kind of operation.
fn sizes(asked: &Asked<'_>, kind: usize) -> BlockSizes {
    let of = |values: Option<lists::Three<u64>>| values.and_then(|three| three[kind]);
    let split = asked.text("bssplit").and_then(|text| {
        let three = lists::three(text, |t| lists::split(t, asked.units)).ok()?;
        three[kind].clone()
    });
    if let Some(split) = split {
        let weighted = split
            .into_iter()
            .map(|(bytes, weight)| WeightedSize { bytes, weight });
        return BlockSizes::Weighted(weighted.collect());
    }
    let range = asked.text("bsrange").and_then(|text| {
        let three = lists::three(text, |t| lists::range(t, asked.units)).ok()?;
        three[kind]
    });
    match range {
        Some((min_bytes, max_bytes)) if min_bytes < max_bytes => BlockSizes::Range {
            min_bytes,
            max_bytes,
            step_bytes: match asked.flag("bs_unaligned", false) {
                // Direct I/O goes by sectors in any case.
                true if asked.flag("direct", false) => 512,
                true => 1,
                false => min_bytes.max(1),
            },
        },
        Some((bytes, _)) => BlockSizes::Fixed(bytes),
        None => BlockSizes::Fixed(of(asked.three_bytes("bs")).unwrap_or(DEFAULT_BLOCK)),
    }
}

fn blocks(asked: &mut Asked<'_>, workload: &mut Workload, rw: Rw) {
    let used = [rw.reads, rw.writes, rw.trims];
    let mut by_kind = ByKind::default();
    let mut common = None;
    for (place, kind) in KINDS
        .into_iter()
        .enumerate()
        .filter(|(place, _)| used[*place])
    {
        let own = sizes(asked, place);
        match &common {
            None => common = Some(own),
            Some(common) if *common == own => {}
            Some(_) => match kind {
                OpKind::Write => by_kind.write = Some(own),
                _ => by_kind.trim = Some(own),
            },
        }
    }
    workload.block = common.unwrap_or(BlockSizes::Fixed(DEFAULT_BLOCK));
    workload.block_by_kind = by_kind;
    if workload.min_block_bytes() == 0 {
        asked.problem("bs", "a block has no bytes");
    }
    if workload.max_block_bytes() > fathom_model::limits::MAX_BLOCK_BYTES {
        asked.problem("bs", "a block is larger than 1 GiB");
    }
    let first = |values: lists::Three<u64>| values.into_iter().zip(used).find(|(_, u)| *u)?.0;
    let align = asked.three_bytes("ba").and_then(first).filter(|a| *a > 0);
    let unaligned = asked.flag("bs_unaligned", false);
    workload.align_bytes = match align {
        Some(align) => align,
        None if unaligned && asked.flag("direct", false) => 512,
        None if unaligned => 1,
        None => granule(workload),
    };
}

/// What all block sizes are multiples of, at most the smallest.
fn granule(workload: &Workload) -> u64 {
    let smallest = workload.min_block_bytes().max(1);
    let divides = |bytes: u64| {
        let even = |size: u64| size.is_multiple_of(bytes);
        workload.blocks().all(|sizes| match sizes {
            BlockSizes::Fixed(size) => even(*size),
            BlockSizes::Range {
                min_bytes,
                step_bytes,
                ..
            } => even(*min_bytes) && even(*step_bytes),
            BlockSizes::Weighted(sizes) => sizes.iter().all(|size| even(size.bytes)),
        })
    };
    [smallest, 4096, 512]
        .into_iter()
        .find(|b| divides(*b))
        .unwrap_or(1)
}

fn order(asked: &mut Asked<'_>, workload: &mut Workload, rw: Rw) {
    let several = [rw.reads, rw.writes, rw.trims]
        .into_iter()
        .filter(|u| *u)
        .count()
        > 1;
    let mut sequencer = Sequencer::default();
    workload.pattern = match rw.modifier {
        _ if asked.flag("sprandom", false) => Pattern::Random(steady_fill(asked, rw)),
        _ if rw.random => Pattern::Random(spread(asked)),
        Modifier::Gap(skip_bytes) => Pattern::Skipping { skip_bytes },
        _ => Pattern::Sequential,
    };
    // fio keeps one position per kind where it goes in order.
    sequencer.each_kind = several && !rw.random && !workload.trim_first;
    if let Modifier::Every(operations) = rw.modifier {
        sequencer.draw_every_ops = u32::try_from(operations).unwrap_or(u32::MAX);
        sequencer.between = match asked.word("rw_sequencer", "sequential") {
            "identical" => Between::Again,
            _ => Between::Onward,
        };
    }
    if let Some(shares) = asked
        .three_integers("percentage_random")
        .filter(|_| rw.random)
    {
        let share = |kind: usize| {
            let share = shares[kind].unwrap_or(100).clamp(0, 100);
            u8::try_from(share).ok().filter(|share| *share < 100)
        };
        sequencer.random_percent = ByKind {
            read: share(0),
            write: share(1),
            trim: share(2),
        };
    }
    workload.sequencer = sequencer;
}

/// Writes the physical capacity of a drive once, with rewrites in between.
fn steady_fill(asked: &mut Asked<'_>, rw: Rw) -> Distribution {
    if !rw.random || !rw.writes || rw.reads || rw.trims {
        asked.problem(
            "sprandom",
            "a filling is of random writes alone: rw=randwrite",
        );
    }
    if asked.has("norandommap") && !asked.flag("norandommap", true) {
        asked.problem("norandommap", "sprandom writes blocks again: norandommap=1");
    }
    let share = asked.job.floats("spr_op").and_then(|f| f.first().copied());
    let over_provisioning = share.unwrap_or(0.15);
    if !(over_provisioning > 0.0 && over_provisioning < 1.0) {
        asked.problem("spr_op", "over-provisioning is above 0 and below 1");
    }
    let regions = asked.count("spr_num_regions").unwrap_or(100);
    let regions = u32::try_from(regions).unwrap_or(u32::MAX);
    if !(1..=1_000_000).contains(&regions) {
        asked.problem("spr_num_regions", "there are 1 to 1,000,000 regions");
    }
    if asked.word("random_generator", "lfsr") != "lfsr" {
        asked.problem("random_generator", "sprandom goes with lfsr only");
    }
    Distribution::SteadyFill(SteadyFill {
        over_provisioning_percent: over_provisioning * 100.0,
        regions,
        later: asked.bytes("spr_cs").is_some_and(|bytes| bytes > 0),
    })
}

fn spread(asked: &mut Asked<'_>) -> Distribution {
    let text = asked.text("random_distribution").unwrap_or("random");
    let zone = |access_percent, size| Zone {
        access_percent,
        size,
    };
    match distribution::read(text).unwrap_or(Spread::Random) {
        // fio's generator of this name visits each block once by itself.
        Spread::Random if asked.word("random_generator", "") == "lfsr" => Distribution::EachOnce,
        Spread::Random if asked.flag("norandommap", false) => Distribution::Uniform,
        Spread::Random => Distribution::EachOnce,
        Spread::Zipf(theta) => Distribution::Zipf { theta },
        Spread::Pareto(h) => Distribution::Pareto { h },
        Spread::Normal(deviation_percent) => Distribution::Normal {
            deviation_percent,
            center_percent: 50.0,
        },
        Spread::Zoned(zones) => {
            let zones = zones.into_iter().filter(|(_, size)| *size > 0.0);
            let zones = zones.map(|(access, size)| zone(access, ZoneSize::Percent(size)));
            Distribution::Zoned(zones.collect())
        }
        Spread::ZonedAbsolute(zones) => {
            let zones = zones.into_iter().filter(|(_, bytes)| *bytes > 0);
            let zones = zones.map(|(access, bytes)| zone(access, ZoneSize::Bytes(bytes)));
            Distribution::Zoned(zones.collect())
        }
        Spread::Sequence(blocks) => Distribution::Sequence {
            blocks,
            advances: asked.flag("random_sequence_stride", false),
        },
    }
}
