//! Block sizes that differ between reads, writes and trims.

use fathom_model::workload::BlockSizes;
use fathom_model::{OpKind, Workload};

use super::draft::Draft;

/// Writes the sizes of each kind; false when all kinds have the same.
pub(super) fn blocks(workload: &Workload, draft: &mut Draft) -> bool {
    if workload.block_by_kind.is_empty() {
        return false;
    }
    let kinds = [OpKind::Read, OpKind::Write, OpKind::Trim];
    let sizes: Vec<&BlockSizes> = kinds.iter().map(|kind| workload.block_of(*kind)).collect();
    let list = |of: fn(&BlockSizes) -> Option<String>| -> Option<String> {
        let each: Option<Vec<String>> = sizes.iter().map(|sizes| of(sizes)).collect();
        Some(each?.join(","))
    };
    if let Some(list) = list(fixed) {
        draft.set("bs", list);
    } else if let Some(list) = list(range) {
        draft.set("bsrange", list);
    } else if let Some(list) = list(split) {
        draft.set("bssplit", list);
    } else {
        draft.refuse(
            "bs",
            "fio's sizes of reads, writes and trims are all ranges of multiples of the smallest, \
             or all sizes with whole percents",
        );
    }
    if workload.pattern.is_random() {
        draft.set("blockalign", workload.align_bytes);
        draft.differs("with an alignment of its own fio keeps no random map: blocks repeat");
    }
    true
}

fn fixed(sizes: &BlockSizes) -> Option<String> {
    match sizes {
        BlockSizes::Fixed(bytes) => Some(bytes.to_string()),
        _ => None,
    }
}

fn range(sizes: &BlockSizes) -> Option<String> {
    match sizes {
        BlockSizes::Fixed(bytes) => Some(format!("{bytes}-{bytes}")),
        BlockSizes::Range {
            min_bytes,
            max_bytes,
            step_bytes,
        } if step_bytes == min_bytes && max_bytes.is_multiple_of(*step_bytes) => {
            Some(format!("{min_bytes}-{max_bytes}"))
        }
        _ => None,
    }
}

fn split(sizes: &BlockSizes) -> Option<String> {
    match sizes {
        BlockSizes::Fixed(bytes) => Some(format!("{bytes}/100")),
        BlockSizes::Range { .. } => None,
        BlockSizes::Weighted(sizes) => {
            let total: u64 = sizes.iter().map(|s| u64::from(s.weight)).sum();
            let percent = |weight: u32| {
                let hundred = u64::from(weight) * 100;
                (total > 0 && hundred.is_multiple_of(total)).then(|| hundred / total)
            };
            let parts: Option<Vec<String>> = sizes
                .iter()
                .map(|s| Some(format!("{}/{}", s.bytes, percent(s.weight)?)))
                .collect();
            Some(parts?.join(":"))
        }
    }
}
