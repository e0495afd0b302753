//! What is particular to requests to an object store, for every output.

use fathom_model::workload::{KeyLayout, ObjectSizes};
use fathom_model::{JudgedTrial, unit};

/// `4,000 objects of 4 KiB by 4 workers, 8 requests in flight each`.
pub(crate) fn work(trial: &JudgedTrial) -> Option<String> {
    let object = trial.workload.requests()?;
    let workers = trial.workload.workers;
    let size = match &object.sizes {
        ObjectSizes::Fixed(bytes) => format!("objects of {}", unit::bytes_exact(*bytes)),
        ObjectSizes::Range {
            min_bytes,
            max_bytes,
        } => format!(
            "objects of {} to {}",
            unit::bytes_exact(*min_bytes),
            unit::bytes_exact(*max_bytes)
        ),
        ObjectSizes::Log2 { max_bytes } => format!(
            "objects of up to {} (each halving as often)",
            unit::bytes_exact(*max_bytes)
        ),
        ObjectSizes::Weighted(all) => format!("objects of {} sizes by weight", all.len()),
    };
    let total = unit::group(object.objects.saturating_mul(u64::from(workers)));
    let what = match object.existing {
        true => "objects that were there".to_owned(),
        false => format!("{total} {size}"),
    };
    let layout = match object.keys {
        KeyLayout::Flat => String::new(),
        KeyLayout::Hashed => ", hashed keys".to_owned(),
        KeyLayout::Tree { depth, fan_out } => {
            format!(", {depth} levels of {fan_out} prefixes")
        }
    };
    let by = match workers {
        1 => "1 worker".to_owned(),
        n => format!("{n} workers"),
    };
    let depth = trial.workload.queue_depth;
    Some(format!("{what} by {by}, {depth} in flight each{layout}"))
}
