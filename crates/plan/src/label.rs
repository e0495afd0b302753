//! Names of workloads and labels of rows.

use fathom_model::secret::masked;

use crate::keys::WorkloadKeys;
use crate::section::Section;
use crate::value::{Blocks, Rw, Value};

/// The name of a workload: its own, or after what it does (`randread-4k`).
pub(crate) fn name(keys: &WorkloadKeys) -> String {
    if let Some(name) = &keys.name {
        return masked(&name.value.0);
    }
    if let Some(operation) = &keys.operation {
        let text = operation.value.to_text();
        return match text.contains(',') {
            true => "mix".to_owned(),
            false => text,
        };
    }
    if let Some(request) = &keys.request {
        let text = request.value.to_text();
        return match text.contains(',') {
            true => "mix".to_owned(),
            false => text,
        };
    }
    let block = match keys.bs.as_ref().map(|bs| &bs.value) {
        None => "4k".to_owned(),
        Some(Blocks::Weighted(_)) => "mixed".to_owned(),
        Some(blocks @ Blocks::ByKind(_)) => blocks.to_text().replace([',', '/', ':'], "-"),
        Some(blocks) => blocks.to_text(),
    };
    match &keys.replay {
        Some(_) => what(keys),
        None => format!("{}-{block}", what(keys)),
    }
}

fn what(keys: &WorkloadKeys) -> String {
    if keys.replay.is_some() {
        return "replay".to_owned();
    }
    match (&keys.rw, &keys.mix, &keys.pattern) {
        (Some(rw), _, _) => rw.value.word().to_owned(),
        (None, Some(mix), pattern) => {
            let order = pattern.as_ref().map(|p| p.value.to_text());
            let order = order.unwrap_or_else(|| "random".to_owned());
            format!("{order}-mix{}", mix.value.to_text().replace('/', "-"))
        }
        (None, None, Some(pattern)) => format!("{}-read", pattern.value.to_text()),
        (None, None, None) => Rw::RandRead.word().to_owned(),
    }
}

/// The label of a row: the name, and what the matrix varies. A workload
/// without a name of its own also tells its depth and workers, so that
/// `randread-4k q32 j4` says all.
pub(crate) fn label(keys: &WorkloadKeys, axes: &[&'static str]) -> String {
    let mut parts = vec![name(keys)];
    let named = keys.name.is_some();
    let shows = |key: &str| !named || axes.contains(&key);
    if named {
        for (axis, key) in [("rw", what(keys)), ("bs", block_text(keys))] {
            if axes.contains(&axis) {
                parts.push(key);
            }
        }
    }
    if shows("iodepth") && keys.operation.is_none() {
        parts.push(format!(
            "q{}",
            keys.iodepth.as_ref().map_or(1, |d| d.value.0)
        ));
    }
    if shows("numjobs") {
        parts.push(format!(
            "j{}",
            keys.numjobs.as_ref().map_or(1, |n| n.value.0)
        ));
    }
    for axis in axes {
        let told = *axis == "operation" && !named;
        if !told && !matches!(*axis, "rw" | "bs" | "iodepth" | "numjobs") {
            parts.push(format!("{axis}={}", value_text(keys, axis)));
        }
    }
    parts.join(" ")
}

fn block_text(keys: &WorkloadKeys) -> String {
    keys.bs
        .as_ref()
        .map_or_else(|| "4k".to_owned(), |bs| bs.value.to_text())
}

/// A key's value on one line.
fn value_text(keys: &WorkloadKeys, key: &str) -> String {
    let entry = keys.entries().into_iter().find(|(name, _)| name == key);
    entry.map_or_else(String::new, |(_, out)| crate::yaml::write_inline(&out))
}
