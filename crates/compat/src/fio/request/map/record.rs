//! What is recorded for fio's outputs, and where random numbers begin.

use fathom_model::recording::{MOST_LOGGED_OPS, Recording};
use fathom_model::rng::derive_seed;
use fathom_model::workload::{EngineKind, Workload};

use super::asked::Asked;
use crate::fio::request::value::lists;

const LOGS: [&str; 4] = [
    "write_bw_log",
    "write_lat_log",
    "write_iops_log",
    "write_hist_log",
];
/// fio's `randseed`.
const DEFAULT_SEED: u64 = 0x89;

/// Whether all clones may be one trial: fio reports them together, and no
/// log is written for each.
pub(super) fn may_be_one_trial(asked: &Asked<'_>) -> bool {
    let logs = LOGS.into_iter().any(|name| asked.has(name));
    let listed = asked.has("read_iolog") || asked.has("write_iolog");
    let logged = logs && asked.flag("per_job_logs", true);
    asked.flag("group_reporting", false) && !logged && !listed
}

/// Fills in what is recorded.
pub(super) fn fill(asked: &mut Asked<'_>, workload: &mut Workload) {
    let logs = |names: &[&str]| names.iter().any(|name| asked.has(name));
    let averaged = asked.count("log_avg_msec").unwrap_or(0);
    let single = (averaged == 0 && logs(&LOGS[..3])) || asked.has("write_iolog");
    let mut windows = Vec::new();
    if logs(&LOGS[..3]) {
        windows.push(averaged);
    }
    if logs(&LOGS[3..]) {
        windows.push(asked.count("log_hist_msec").unwrap_or(0));
    }
    let windows: Vec<u64> = windows
        .iter()
        .map(|ms| ms.saturating_mul(1_000_000))
        .collect();
    let asynchronous = matches!(workload.engine, EngineKind::Uring | EngineKind::Libaio);
    let reduced = asked.flag("gtod_reduce", false) || asked.flag("disable_slat", false);
    workload.recording = Recording {
        submission: asynchronous && !reduced,
        distributions: true,
        op_log: if single { MOST_LOGGED_OPS } else { 0 },
        interval_ns: Recording::interval_for(&windows),
    };
}

/// The seed of clone `number` over all jobs.
pub(super) fn seed(asked: &Asked<'_>, fresh: u64, number: u32) -> u64 {
    let basis = match asked.count("randseed") {
        Some(seed) => seed,
        None if asked.flag("randrepeat", true) => DEFAULT_SEED,
        None => fresh,
    };
    // 53 bits survive every JSON reader.
    derive_seed(basis, u64::from(number)) >> 11
}

/// When the load begins; a range gives a time within it that the seed draws.
pub(super) fn start_delay_ns(asked: &Asked<'_>, seed: u64) -> u64 {
    let range = asked
        .text("startdelay")
        .and_then(|text| lists::time_range(text).ok());
    match range {
        Some((low, high)) if low < high => low + derive_seed(seed, 0xDE1A) % (high - low + 1),
        Some((delay, _)) => delay,
        None => 0,
    }
}
