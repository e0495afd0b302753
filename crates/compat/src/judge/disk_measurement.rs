//! Whether a result of another tool may serve as a measurement of a disk.

use fathom_model::opinion::{Aspect, Holds};
use fathom_model::verdict::Limiter;

use super::device::memory_path;
use super::said::EngineWay;
use super::{Entry, Said, of_entry};
use crate::results::{ResultDocument, ResultJob};

/// Engines that reach a server, and no disk of the host.
const REMOTE: [&str; 19] = [
    "http",
    "libiscsi",
    "rbd",
    "rados",
    "gfapi",
    "gfapi_async",
    "nfs",
    "nbd",
    "libhdfs",
    "hdfs",
    "net",
    "netsplice",
    "rdma",
    "ime_psync",
    "ime_psyncv",
    "ime_aio",
    "dfs",
    "librpma_apm_client",
    "librpma_gpspm_client",
];

/// Why a job is not a measurement of a disk; `None` where it is one: by the same
/// opinion that `fathom judge` gives.
pub fn why_no_disk(result: &ResultDocument, job: &ResultJob) -> Option<String> {
    let entry = Entry {
        result,
        job,
        said: Said::of(result, job),
    };
    why_not_a_disk(&entry).or_else(|| why_not_believed(&entry))
}

fn why_not_a_disk(entry: &Entry<'_>) -> Option<String> {
    let tool = entry.result.tool.as_deref().unwrap_or_default();
    let engine = entry.said.engine.as_deref();
    let named = engine.unwrap_or("of this run");
    if tool.starts_with("warp") {
        return Some("an object store is not a disk".to_owned());
    }
    if entry.said.way == EngineWay::Nothing {
        return Some(format!("the engine {named} moves no data"));
    }
    if let Some(path) = memory_path(entry) {
        return Some(format!("{path} is not on a disk"));
    }
    if engine.is_some_and(|engine| REMOTE.contains(&engine)) {
        return Some(format!("the engine {named} reaches a server, not a disk"));
    }
    let counted = entry.result.devices.as_ref().is_some_and(|d| !d.is_empty());
    let target = entry.said.target.as_deref();
    let device = target.is_some_and(|target| target.starts_with("/dev/"));
    let shown = counted || device;
    (!shown).then(|| "nothing shows that a device was below it (it has no disk_util)".to_owned())
}

fn why_not_believed(entry: &Entry<'_>) -> Option<String> {
    let opinion = of_entry(entry);
    let rate = opinion.stands.iter();
    let rate = rate.filter(|stand| stand.aspect == Aspect::Throughput);
    for stand in rate {
        let checks = stand.checks.join(", ");
        match stand.holds {
            Holds::Yes | Holds::WithinLimits => {}
            Holds::Unknown => return Some("too little is known of it to be believed".to_owned()),
            Holds::No => return Some(format!("its throughput cannot be believed ({checks})")),
        }
    }
    let held = opinion.verdict.limiter == Limiter::Rate;
    held.then(|| "it was held to a rate, which the disk may exceed".to_owned())
}
