//! What is done: kinds, order of offsets, sizes of blocks.

use fathom_model::Workload;
use fathom_model::unit::bytes_exact;
use fathom_model::workload::{BlockSizes, Distribution, OpMix, Pattern};

use super::draft::Draft;

/// fio's limit on the entries of `bssplit`.
const MOST_SIZES: usize = 64;

pub(super) fn write(workload: &Workload, draft: &mut Draft) {
    kinds(workload, draft);
    if let Pattern::Random(distribution) = &workload.pattern {
        spread(workload, distribution, draft);
    }
    blocks(workload, draft);
    alignment(workload, draft);
}

/// `rw` with its shares and its step.
fn kinds(workload: &Workload, draft: &mut Draft) {
    let OpMix {
        read_percent: read,
        write_percent: write,
        trim_percent: trim,
    } = workload.mix;
    let word = match (read, write, trim) {
        _ if workload.trim_first => "trimwrite",
        (_, 0, 0) => "read",
        (0, _, 0) => "write",
        (0, 0, _) => "trim",
        (_, _, 0) => "rw",
        _ => {
            draft.refuse(
                "mix",
                "fio can trim alone, or trim and write the same blocks in turn, but has no shares \
                 of trims",
            );
            return;
        }
    };
    let random = if workload.pattern.is_random() {
        "rand"
    } else {
        ""
    };
    let step = step(workload, draft);
    draft.set("rw", format!("{random}{word}{step}"));
    if word == "rw" {
        draft.set("rwmixread", read);
        if !workload.pattern.is_random() && !workload.sequencer.each_kind {
            draft.differs(
                "reads and writes walk through the data in two sequences of their own; in fathom \
                 they share one",
            );
        }
    }
}

/// What follows the word of `rw`: bytes that are added after each block.
fn step(workload: &Workload, draft: &mut Draft) -> String {
    let (key, stride) = match workload.pattern {
        Pattern::Random(_) if workload.sequencer.draw_every_ops > 1 => {
            return format!(":{}", workload.sequencer.draw_every_ops);
        }
        Pattern::Sequential | Pattern::Random(_) => return String::new(),
        Pattern::Skipping { skip_bytes } => return format!(":{skip_bytes}"),
        Pattern::Backwards => ("pattern", None),
        Pattern::Strided { stride_bytes } => ("pattern", Some(stride_bytes)),
    };
    let BlockSizes::Fixed(block) = workload.block else {
        draft.refuse(
            key,
            "fio's step counts from the end of a block, so that it is not a stride with several \
             block sizes",
        );
        return String::new();
    };
    if workload.data_set.offset_bytes > 0
        || workload.misalign_bytes > 0
        || workload.data_set.working_set_bytes.is_some()
    {
        draft.refuse(
            key,
            "fio turns round at the ends of the file, not of the range that offset, misalign or \
             working_set leave",
        );
    }
    let Some(stride) = stride else {
        draft.differs("fio begins with the first block and goes backwards from the last but one");
        return format!(":-{}", block.saturating_mul(2));
    };
    if stride < block {
        draft.refuse(key, "the stride is shorter than the block");
        return String::new();
    }
    draft.differs(
        "each lap of fio visits the same blocks; in fathom the laps together visit all of them",
    );
    match stride - block {
        0 => String::new(),
        gap => format!(":{gap}"),
    }
}

fn spread(workload: &Workload, distribution: &Distribution, draft: &mut Draft) {
    match *distribution {
        Distribution::EachOnce => {
            if workload.data_set.files.shared && workload.workers > 1 {
                draft.differs(
                    "each of fio's jobs visits every block once; fathom's workers visit each once \
                     together",
                );
            } else {
                draft.differs(
                    "fio's random map chooses the next free block once it meets one that was \
                     visited; fathom shuffles",
                );
            }
        }
        Distribution::Uniform => draft.set("norandommap", 1),
        Distribution::Zipf { theta: 1.0 } => {
            draft.refuse(
                "distribution",
                "fio has no zipf with an exponent of exactly 1",
            );
        }
        Distribution::Zipf { theta } => distributed(draft, "zipf", theta),
        Distribution::Pareto { h } => distributed(draft, "pareto", h),
        Distribution::Zoned(ref zones) => super::vocabulary::zoned(zones, draft),
        Distribution::SteadyFill(ref fill) => super::vocabulary::steady_fill(fill, draft),
        Distribution::Sequence { .. } => super::vocabulary::sequence(distribution, draft),
        Distribution::Normal { center_percent, .. } if center_percent != 50.0 => draft.refuse(
            "distribution",
            "centres of normal distributions are not written to job files yet",
        ),
        Distribution::Normal {
            deviation_percent, ..
        } if deviation_percent >= 100.0 => {
            draft.refuse("distribution", "fio's deviation is below 100 %");
        }
        Distribution::Normal {
            deviation_percent, ..
        } => {
            distributed(draft, "normal", deviation_percent);
        }
        Distribution::HotSpot {
            access_percent: access,
            size_percent: size,
        } => {
            if access.fract() != 0.0 || size.fract() != 0.0 {
                let reason = "fio's zones are in whole percent";
                return draft.refuse("distribution", reason);
            }
            if !(1.0..=99.0).contains(&access) || !(1.0..=99.0).contains(&size) {
                let reason = "fio's zones have from 1 % to 99 % of accesses and of the size";
                return draft.refuse("distribution", reason);
            }
            let (rest, cold) = (100.0 - access, 100.0 - size);
            draft.set("norandommap", 1);
            draft.set(
                "random_distribution",
                format!("zoned:{access}/{size}:{rest}/{cold}"),
            );
        }
    }
}

fn distributed(draft: &mut Draft, name: &str, value: f64) {
    draft.set("norandommap", 1);
    draft.set("random_distribution", format!("{name}:{value}"));
    draft.differs("which blocks are the hot ones is drawn by each tool");
}

fn blocks(workload: &Workload, draft: &mut Draft) {
    if super::by_kind::blocks(workload, draft) {
        return;
    }
    match &workload.block {
        BlockSizes::Fixed(bytes) => draft.set("bs", bytes),
        BlockSizes::Range {
            min_bytes,
            max_bytes,
            step_bytes,
        } => {
            draft.set("bsrange", format!("{min_bytes}-{max_bytes}"));
            match *step_bytes {
                1 => {
                    draft.set("bs_unaligned", 1);
                    draft.differs("fio draws the largest size more often than the others");
                }
                // fio draws from the multiples of the smallest with equal shares.
                step if step == *min_bytes && max_bytes.is_multiple_of(step) => {}
                step => draft.refuse(
                    "bs",
                    format!(
                        "fio's sizes are multiples of the smallest ({}) or of one byte, not of {}",
                        bytes_exact(*min_bytes),
                        bytes_exact(step)
                    ),
                ),
            }
        }
        BlockSizes::Weighted(sizes) => {
            let total: u64 = sizes.iter().map(|s| u64::from(s.weight)).sum();
            let whole = |weight: u32| {
                let hundred = u64::from(weight) * 100;
                (total > 0 && hundred.is_multiple_of(total)).then(|| hundred / total)
            };
            if sizes.len() > MOST_SIZES {
                let reason = format!("fio takes {MOST_SIZES} sizes at most");
                return draft.refuse("bs", reason);
            }
            let parts: Option<Vec<String>> = sizes
                .iter()
                .map(|s| Some(format!("{}/{}", s.bytes, whole(s.weight)?)))
                .collect();
            match parts {
                Some(parts) => {
                    draft.set("bssplit", parts.join(":"));
                    if sizes
                        .iter()
                        .any(|s| !s.bytes.is_multiple_of(workload.block.min_bytes()))
                    {
                        draft.set("bs_unaligned", 1);
                    }
                }
                None => draft.refuse(
                    "bs",
                    "fio's bssplit takes whole percents; choose weights that are",
                ),
            }
        }
    }
}

/// `blockalign`: where random blocks may start.
fn alignment(workload: &Workload, draft: &mut Draft) {
    let (least, align) = (workload.block.min_bytes(), workload.align_bytes);
    if align == least || !workload.block_by_kind.is_empty() {
        return;
    }
    let Pattern::Random(distribution) = &workload.pattern else {
        let unit = match &workload.block {
            BlockSizes::Fixed(bytes) => bytes.is_multiple_of(align.max(1)),
            BlockSizes::Range { step_bytes, .. } => step_bytes.is_multiple_of(align.max(1)),
            BlockSizes::Weighted(sizes) => {
                sizes.iter().all(|s| s.bytes.is_multiple_of(align.max(1)))
            }
        };
        if !unit {
            let reason = "fio's blocks in sequence follow one another without a gap";
            draft.refuse("align", reason);
        }
        return;
    };
    draft.set("blockalign", align);
    if *distribution == Distribution::EachOnce {
        draft.differs("with an alignment of its own fio keeps no random map: blocks repeat");
    }
}
