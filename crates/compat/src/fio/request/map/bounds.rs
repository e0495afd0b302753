//! When a job ends.

use fathom_model::workload::{BlockSizes, Bounds, Pattern, WorkerBounds, Workload};

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
    cache_of_drive(asked, workload, extent);
    workload.warmup_ns = asked.seconds_ns("ramp_time").unwrap_or(0);
    let loops = asked.count("loops").unwrap_or(1).max(1);
    let ops = asked.count("number_ios").filter(|ops| *ops > 0);
    let whole = extent.io_bytes == extent.set_bytes;
    // A pair of a trim and a write counts once.
    let times = loops.saturating_mul(if workload.trim_first { 2 } else { 1 });
    workload.each_worker = WorkerBounds {
        bytes: (!time_based).then(|| extent.io_bytes.saturating_mul(times)),
        ops: ops.map(|ops| ops.saturating_mul(times)),
        passes: None,
    };
    if let Some(lap_bytes) = lap_bytes(workload, extent).filter(|_| !time_based) {
        // fio ends where it has come to the end of its files.
        workload.each_worker.bytes = Some(lap_bytes.min(extent.io_bytes).saturating_mul(times));
    } else if whole && !time_based {
        // Whole blocks, also where their sizes vary.
        workload.each_worker.bytes = None;
        workload.each_worker.passes = Some(u32::try_from(times).unwrap_or(u32::MAX));
    }
    let several = extent.io_bytes.saturating_mul(loops) > extent.set_bytes;
    if asked.flag("verify_only", false) && several && whole_again(workload) {
        // What was written several times is there once.
        workload.each_worker.bytes = None;
        workload.each_worker.passes = Some(1);
    }
    if asked.flag("create_only", false) {
        workload.each_worker.ops = Some(1);
        asked.mapped(
            "create_only",
            "the files are made, and one block is measured",
        );
    }
}

/// A region of a filling that is smaller than the drive's cache waits for
/// nothing.
fn cache_of_drive(asked: &mut Asked<'_>, workload: &Workload, extent: &Extent) {
    use fathom_model::workload::Distribution;
    let (Pattern::Random(Distribution::SteadyFill(fill)), Some(cache_bytes)) =
        (&workload.pattern, asked.bytes("spr_cs"))
    else {
        return;
    };
    let physical = extent.file_bytes as f64 * (1.0 + fill.over_provisioning_percent / 100.0);
    let region_bytes = physical / f64::from(fill.regions.max(1));
    if cache_bytes as f64 > region_bytes {
        let fault = "the cache is larger than a region; give fewer of spr_num_regions";
        asked.problem("spr_cs", fault);
    }
}

/// Whether a load that goes on comes to the same blocks again after each pass.
fn whole_again(workload: &Workload) -> bool {
    use fathom_model::workload::Distribution;
    let bounded = workload.each_worker.bytes.is_some() || workload.each_worker.passes.is_some();
    let again = match &workload.pattern {
        Pattern::Sequential | Pattern::Backwards => true,
        Pattern::Random(distribution) => *distribution == Distribution::EachOnce,
        _ => false,
    };
    bounded && again && workload.each_worker.ops.is_none()
}

/// Bytes that one lap moves where blocks are left out between two.
fn lap_bytes(workload: &Workload, extent: &Extent) -> Option<u64> {
    let (Pattern::Skipping { skip_bytes }, BlockSizes::Fixed(block)) =
        (&workload.pattern, &workload.block)
    else {
        return None;
    };
    let skip = skip_bytes.unsigned_abs();
    let step = match skip_bytes > &0 {
        true => block.saturating_add(skip),
        false => skip.abs_diff(*block),
    };
    let room = extent.file_bytes.checked_sub(*block)?;
    let blocks = room.checked_div(step)? + 1;
    let files = extent.set_bytes / extent.file_bytes.max(1);
    Some(blocks.saturating_mul(*block).saturating_mul(files.max(1)))
}
