//! What is particular to requests to an object store, for every output.

use fathom_model::workload::{KeyLayout, ObjectSizes};
use fathom_model::{JudgedTrial, unit};

/// `4,000 objects of 4 KiB by 4 workers, 8 requests in flight each`.
pub(crate) fn work(trial: &JudgedTrial) -> Option<String> {
    let object = trial.workload.requests()?;
    let workers = trial.workload.workers;
    let size = match &object.sizes {
        ObjectSizes::Fixed(bytes) => unit::bytes_exact(*bytes),
        ObjectSizes::Range {
            min_bytes,
            max_bytes,
        } => format!(
            "{} to {}",
            unit::bytes_exact(*min_bytes),
            unit::bytes_exact(*max_bytes)
        ),
        ObjectSizes::Log2 { max_bytes } => format!(
            "up to {} (each halving as often)",
            unit::bytes_exact(*max_bytes)
        ),
        ObjectSizes::Weighted(all) => {
            format!("{} by weight", unit::counted(all.len() as u64, "size"))
        }
    };
    let total = object.objects.saturating_mul(u64::from(workers));
    let what = match object.existing {
        true => "objects that were there".to_owned(),
        false => format!("{} of {size}", unit::counted(total, "object")),
    };
    let layout = match object.keys {
        KeyLayout::Flat => String::new(),
        KeyLayout::Hashed => ", hashed keys".to_owned(),
        KeyLayout::Tree { depth, fan_out } => {
            let levels = unit::counted(depth.into(), "level");
            let ending = if fan_out == 1 { "" } else { "es" };
            format!(", {levels} of {fan_out} prefix{ending}")
        }
    };
    let by = unit::counted(workers.into(), "worker");
    let depth = trial.workload.queue_depth;
    Some(format!("{what} by {by}, {depth} in flight each{layout}"))
}
