//! Files that a workload names itself.

use fathom_model::Workload;
use fathom_model::workload::{NamedFiles, WorkerRegion};

use super::draft::{Draft, Own};
use super::place::{Placed, escaped, is_plain, option};

/// The sections of jobs on named files; `None` when something was refused.
pub(super) fn placed(workload: &Workload, named: &NamedFiles, draft: &mut Draft) -> Option<Placed> {
    let names: Option<Vec<String>> = named
        .paths
        .iter()
        .map(|path| path.to_str().filter(|p| is_plain(p)).map(escaped))
        .collect();
    let Some(names) = names.filter(|names| !names.is_empty()) else {
        draft.refuse(
            "targets",
            "a job file cannot hold the name of one of the files",
        );
        return None;
    };
    let workers = usize::try_from(workload.workers.max(1)).unwrap_or(usize::MAX);
    let shared = workload.data_set.files.shared || workers == 1;
    let split = workload.data_set.region == WorkerRegion::Split;
    if shared && workers > 1 && split && !workload.pattern.is_random() {
        let reason = "workers that divide named files among them are not written to job files";
        draft.refuse("region", reason);
        return None;
    }
    let each = match shared {
        true => names.len(),
        false => names.len() / workers,
    };
    let file_bytes = workload
        .data_set
        .size_bytes
        .map(|size| size / names.len() as u64);
    let range = |count: usize| {
        let mut own = Own::new();
        if workload.data_set.offset_bytes > 0 {
            own.push(option("offset", workload.data_set.offset_bytes));
        }
        let span = match workload.data_set.region {
            WorkerRegion::Staggered {
                step_bytes,
                span_bytes,
            } => {
                own.push(option("offset_increment", step_bytes));
                span_bytes
            }
            _ => None,
        };
        let room = file_bytes.map(|bytes| bytes.saturating_sub(workload.data_set.offset_bytes));
        if let Some(bytes) = span.or(room) {
            own.push(option("size", bytes.saturating_mul(count as u64)));
        }
        if !named.create {
            own.push(option("allow_file_create", 0));
        }
        own
    };
    let section = |names: &[String]| {
        let mut own = vec![option("filename", names.join(":"))];
        own.extend(range(names.len()));
        own
    };
    let mut sections: Vec<Own> = names.chunks(each.max(1)).map(section).collect();
    if shared && workers > 1 {
        sections[0].push(option("numjobs", workers));
    }
    Some(Placed {
        whole: section(&names),
        each: sections,
    })
}
