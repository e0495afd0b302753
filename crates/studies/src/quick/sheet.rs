//! The words of spec sheets for workloads.

use fathom_model::workload::{BlockSizes, Pattern, SyncOpen};
use fathom_model::{Workload, unit};

/// A workload in the words of spec sheets: `SEQ1M Q8T1`, `RND4K Q32T1`; nothing
/// for what has no such name.
pub(super) fn sheet_name(workload: &Workload) -> Option<String> {
    let order = match workload.pattern {
        Pattern::Sequential => "SEQ",
        Pattern::Random(_) => "RND",
        Pattern::Backwards | Pattern::Strided { .. } | Pattern::Skipping { .. } => return None,
    };
    let BlockSizes::Fixed(bytes) = workload.block else {
        return None;
    };
    if !workload.block_by_kind.is_empty() || workload.replay().is_some() {
        return None;
    }
    Some(format!(
        "{order}{} Q{}T{}",
        unit::bytes_short(bytes),
        workload.queue_depth,
        workload.workers
    ))
}

/// Whether each write of the workload waits until its data are durable.
pub(super) fn is_durable(workload: &Workload) -> bool {
    workload.mix.write_percent == 100
        && (workload.sync.every_writes > 0 || workload.sync.open != SyncOpen::No)
}

/// `DURABLE 4K`.
pub(super) fn durable_name(workload: &Workload) -> String {
    format!("DURABLE {}", unit::bytes_short(workload.max_block_bytes()))
}

#[cfg(test)]
mod tests {
    use fathom_model::workload::OpMix;

    use super::*;

    #[test]
    fn workloads_have_the_names_of_spec_sheets() {
        let mut workload = Workload::example("x");
        workload.queue_depth = 32;
        assert_eq!(sheet_name(&workload).unwrap(), "RND4K Q32T1");
        workload.pattern = Pattern::Sequential;
        workload.block = BlockSizes::Fixed(1 << 20);
        assert_eq!(sheet_name(&workload).unwrap(), "SEQ1M Q32T1");
        workload.pattern = Pattern::Backwards;
        assert_eq!(sheet_name(&workload), None);
    }

    #[test]
    fn durable_means_that_every_write_waits() {
        let mut workload = Workload::example("x");
        workload.sync.every_writes = 1;
        assert!(!is_durable(&workload));
        workload.mix = OpMix::WRITE;
        assert!(is_durable(&workload));
    }
}
