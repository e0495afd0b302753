//! When a job ends.

use fathom_model::workload::{Bounds, Replay, ReplayTiming, WorkerBounds, Workload};

use super::asked::Asked;
use super::files::Extent;

/// Fills in when the load ends, and when measuring begins.
pub(super) fn fill(asked: &mut Asked<'_>, workload: &mut Workload, extent: &Extent) {
    let runtime_ns = asked.seconds_ns("runtime").filter(|ns| *ns > 0);
    let mut time_based = asked.flag("time_based", false);
    if time_based && runtime_ns.is_none() {
        asked.ignored("time_based", "it needs a runtime; the size ends the job");
        time_based = false;
    }
    workload.bounds = Bounds {
        time_ns: runtime_ns,
        bytes: None,
        ops: None,
    };
    workload.warmup_ns = asked.seconds_ns("ramp_time").unwrap_or(0);
    let loops = asked.count("loops").unwrap_or(1).max(1);
    let ops = asked.count("number_ios").filter(|ops| *ops > 0);
    let whole = extent.io_bytes == extent.set_bytes;
    workload.each_worker = WorkerBounds {
        bytes: (!time_based).then(|| extent.io_bytes.saturating_mul(loops)),
        ops: ops.map(|ops| ops.saturating_mul(loops)),
        passes: None,
    };
    if whole && !time_based {
        // Whole blocks, also where their sizes vary.
        workload.each_worker.bytes = None;
        workload.each_worker.passes = Some(u32::try_from(loops).unwrap_or(u32::MAX));
    }
    if asked.flag("create_only", false) {
        workload.each_worker.ops = Some(1);
        asked.mapped(
            "create_only",
            "the files are made, and one block is measured",
        );
    }
    replay(asked, workload);
}

fn replay(asked: &mut Asked<'_>, workload: &mut Workload) {
    let Some(path) = asked.names("read_iolog").into_iter().next() else {
        return;
    };
    let mut replay = Replay::of(path.into());
    replay.timing = match asked.flag("replay_no_stall", false) {
        true => ReplayTiming::AsFastAsPossible,
        false => ReplayTiming::Recorded {
            speed_percent: match asked.count("replay_time_scale") {
                Some(scale @ 1..) => scale as f64,
                _ => 100.0,
            },
        },
    };
    replay.shrink = asked.count("replay_scale").unwrap_or(1).max(1);
    replay.align_bytes = asked.bytes("replay_align").unwrap_or(1).max(1);
    for word in asked.text("replay_skip").unwrap_or("").split([',', ':']) {
        match word.trim() {
            "read" => replay.skip_reads = true,
            "write" => replay.skip_writes = true,
            "trim" => replay.skip_trims = true,
            "sync" => replay.skip_syncs = true,
            _ => {}
        }
    }
    workload.each_worker = WorkerBounds::default();
    workload.replay = Some(replay);
}
