//! Fields of a workload that the translation knows of.
//!
//! A field that was added later and is not listed must not be lost: if it is
//! set to anything but its default, it is refused by its name.

use fathom_model::Workload;
use serde_json::Value;

use super::draft::Draft;

const KNOWN: [&str; 45] = [
    "name",
    "engine",
    "mix",
    "pattern",
    "block",
    "align_bytes",
    "misalign_bytes",
    "workers",
    "queue_depth",
    "batch",
    "files",
    "size_bytes",
    "working_set_bytes",
    "offset_bytes",
    "sync",
    "cache",
    "drop_cache",
    "bounds",
    "until",
    "warmup_ns",
    "rate",
    "think_ns",
    "cpus",
    "payload",
    "verify",
    "precondition",
    "poll",
    "huge_pages",
    "on_error",
    "io_deadline_ns",
    "region",
    "think_every_ops",
    "think_spin_ns",
    "block_by_kind",
    "each_worker",
    "named",
    "replay",
    "sequencer",
    "trim_first",
    "allocation",
    "zone_walk",
    "rate_by_kind",
    "flow",
    "latency_target",
    "ends_when_full",
];

/// What changes nothing in what is done.
const WITHOUT_EFFECT: [&str; 2] = ["slo", "recording"];

/// Refuses what is set and not known.
pub(super) fn check(workload: &Workload, draft: &mut Draft) {
    let fields = |workload: &Workload| match serde_json::to_value(workload) {
        Ok(Value::Object(fields)) => fields,
        _ => serde_json::Map::new(),
    };
    let usual = fields(&Workload::example("usual"));
    for (name, value) in fields(workload) {
        let known = KNOWN.contains(&name.as_str()) || WITHOUT_EFFECT.contains(&name.as_str());
        if !known && usual.get(&name) != Some(&value) {
            draft.refuse(
                "workload",
                format!("fathom's export to fio does not know '{name}' yet"),
            );
        }
    }
}
