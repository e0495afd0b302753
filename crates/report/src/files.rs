//! What is particular to operations on files, for every output.

use fathom_model::workload::{FileSizes, MetaWork};
use fathom_model::{JudgedTrial, unit};

/// What a phase did in all.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct FileLine {
    /// Operations that succeeded.
    pub(crate) ops: u64,
    /// Rate up to when the first worker had done its part, and when that was:
    /// what other tools call stonewall or first done.
    pub(crate) first: Option<(f64, u64)>,
    /// The same of the last worker.
    pub(crate) last: Option<(f64, u64)>,
    /// CPU time of the workers per operation.
    pub(crate) cpu_ns: Option<f64>,
    /// The longest operation.
    pub(crate) max_ns: Option<u64>,
}

/// The line of a trial; `None` when it did no operations on files.
pub(crate) fn line(trial: &JudgedTrial) -> Option<FileLine> {
    trial.workload.files_work()?;
    let summary = &trial.summary;
    let rate = |ops: u64, ns: u64| (ns > 0).then(|| (ops as f64 * 1e9 / ns as f64, ns));
    let finishers = summary.finishers.as_ref();
    Some(FileLine {
        ops: summary.ops.iter().map(|op| op.ops).sum(),
        first: finishers.and_then(|f| rate(f.ops_at_first, f.first_ns)),
        last: finishers.and_then(|f| rate(f.ops, f.last_ns)),
        cpu_ns: summary.cpu_ns_per_op,
        max_ns: summary.ops.iter().filter_map(|op| op.service.max_ns).max(),
    })
}

/// `openat 1.00, close 1.00, write 1.00`: system calls per operation, as the
/// engine counted them; `None` where it did not.
pub(crate) fn calls(trial: &JudgedTrial) -> Option<String> {
    let summary = &trial.summary;
    let ops: u64 = summary.ops.iter().map(|op| op.ops).sum();
    if ops == 0 || summary.calls.is_empty() {
        return None;
    }
    let calls = summary.calls.iter().map(|call| {
        let each = call.count as f64 / ops as f64;
        match each >= 100.0 {
            true => format!("{} {}", call.name, unit::count(each)),
            false => format!("{} {each:.2}", call.name),
        }
    });
    Some(calls.collect::<Vec<String>>().join(", "))
}

/// `80,000 files of 4 KiB by 4 workers, 100 in each of 200 directories per
/// worker, 2 levels deep`.
pub(crate) fn tree(trial: &JudgedTrial) -> Option<String> {
    let meta: &MetaWork = trial.workload.files_work()?;
    let tree = &meta.tree;
    let workers = trial.workload.workers;
    let total = tree.files.saturating_mul(u64::from(workers));
    let files = unit::counted(total, "file");
    let files = match tree.sizes {
        FileSizes::Fixed(0) => unit::counted(total, "empty file"),
        FileSizes::Fixed(bytes) => format!("{files} of {}", unit::bytes_exact(bytes)),
        FileSizes::Exponential {
            mean_bytes,
            max_bytes,
        } => format!(
            "{files} of {} on average (exponential, at most {})",
            unit::bytes_exact(mean_bytes),
            unit::bytes_exact(max_bytes)
        ),
    };
    let by = unit::counted(workers.into(), "worker");
    let whose = match (tree.shared, workers) {
        (true, 2..) => " that all share",
        (false, 2..) => " of each worker's own",
        _ => "",
    };
    let directories = match tree.leaves {
        1 => format!("one directory{whose}"),
        n => format!("{} directories{whose}", unit::group(n)),
    };
    let depth = match tree.depth {
        0 => String::new(),
        n => format!(", {} deep", unit::counted(n.into(), "level")),
    };
    Some(format!("{files} by {by}, in {directories}{depth}"))
}
