//! The numbers of a workload, each with its bounds.

use fathom_model::OpKind;
use fathom_model::limits::{
    DEADLINE_NS, MAX_BLOCK_BYTES, MAX_CPU, MAX_CPUS, MAX_DEPTH, MAX_FILES, MAX_FOREIGN_RUNTIME_NS,
    MAX_OBJECTS, MAX_RATE, MAX_SIZE_BYTES, MAX_THINK_NS, MAX_TREE_DEPTH, MAX_TREE_FILES,
    MAX_TREE_LEAVES, MAX_WARMUP_NS, MAX_WORKERS, MAX_XATTR_BYTES, MAX_XATTRS,
};
use fathom_model::recording::{FULL_INTERVAL_NS, LEAST_INTERVAL_NS, MOST_LOGGED_OPS};
use fathom_model::workload::{
    BlockSizes, Content, Distribution, FileSizes, KeyLayout, MetaShare, MetaWork, ObjectOrder,
    ObjectSizes, ObjectWork, Part, Pattern, Rate, ReplayTiming, Until, WorkerRegion, Workload,
    ZoneSize,
};

use super::{AdmissionError, at_most, within};

/// A count that costs nothing, and that sums of two must still hold.
const MAX_COUNT: u64 = 1 << 62;

/// Block sizes, zones and parts of a payload in one list.
const MAX_LIST: usize = 10_000;

/// Bytes of a payload that is given literally.
const MAX_LITERAL_BYTES: usize = 128 << 10;

/// Bytes of an object.
const MAX_OBJECT_BYTES: u64 = 1 << 50;

/// Objects in one request, keys on one page, versions of an object.
const MAX_OBJECTS_AT_ONCE: u64 = 1000;

/// Parts of one object in flight.
const MAX_PARTS_AT_ONCE: u64 = 64;

/// Attempts at one request, and the longest pause before the first of them.
const MAX_RETRIES: u64 = 1_000_000;
const MAX_BACKOFF_NS: u64 = 3_600_000_000_000;

/// Regions of a steady filling.
const MAX_REGIONS: u64 = 1_000_000;

/// A field and its value, its least and its most.
type NumberLimit<'f> = (&'f str, u64, u64, u64);

pub(super) fn check(workload: &Workload) -> Result<(), AdmissionError> {
    for (field, value, least, most) in rows(workload) {
        within(&format!("workload.{field}"), value, least, most)?;
    }
    check_shares(workload)?;
    check_blocks(workload)?;
    check_pattern(workload)?;
    check_rates(workload)?;
    check_payload(workload)?;
    at_most("workload.cpus", workload.cpus.len(), MAX_CPUS)?;
    for cpu in &workload.cpus {
        within("workload.cpus", u64::from(*cpu), 0, u64::from(MAX_CPU))?;
    }
    workload.files_work().map_or(Ok(()), check_tree)?;
    workload.requests().map_or(Ok(()), check_objects)?;
    match workload.store() {
        Some(store) => within(
            "workload.store.timeout_ns",
            store.timeout_ns,
            *DEADLINE_NS.start(),
            MAX_THINK_NS,
        ),
        None => Ok(()),
    }
}

/// The table of the plain numbers.
fn rows(w: &Workload) -> Vec<NumberLimit<'static>> {
    let mut rows = vec![
        ("workers", w.workers.into(), 1, MAX_WORKERS),
        ("queue_depth", w.queue_depth.into(), 1, MAX_DEPTH),
        ("batch", w.batch.into(), 0, MAX_DEPTH),
        ("files.count", w.data_set.files.count.into(), 1, MAX_FILES),
        ("align_bytes", w.align_bytes, 1, MAX_SIZE_BYTES),
        ("misalign_bytes", w.misalign_bytes, 0, MAX_SIZE_BYTES),
        ("offset_bytes", w.data_set.offset_bytes, 0, MAX_SIZE_BYTES),
        ("warmup_ns", w.warmup_ns, 0, MAX_WARMUP_NS),
        ("think_ns", w.think_ns, 0, MAX_THINK_NS),
        ("think_spin_ns", w.think_spin_ns, 0, w.think_ns),
        (
            "io_deadline_ns",
            w.io_deadline_ns,
            *DEADLINE_NS.start(),
            *DEADLINE_NS.end(),
        ),
        (
            "recording.op_log",
            w.recording.op_log.into(),
            0,
            MOST_LOGGED_OPS.into(),
        ),
        (
            "recording.interval_ns",
            w.recording.interval_ns(),
            LEAST_INTERVAL_NS,
            FULL_INTERVAL_NS,
        ),
    ];
    let given = [
        ("size_bytes", w.data_set.size_bytes, MAX_SIZE_BYTES),
        (
            "working_set_bytes",
            w.data_set.working_set_bytes,
            MAX_SIZE_BYTES,
        ),
        ("bounds.time_ns", w.bounds.time_ns, MAX_FOREIGN_RUNTIME_NS),
        ("bounds.bytes", w.bounds.bytes, MAX_COUNT),
        ("bounds.ops", w.bounds.ops, MAX_COUNT),
        ("each_worker.bytes", w.each_worker.bytes, MAX_COUNT),
        ("each_worker.ops", w.each_worker.ops, MAX_COUNT),
        (
            "fail_if.latency_above_ns",
            w.fail_if.latency_above_ns,
            MAX_COUNT,
        ),
    ];
    for (field, value, most) in given {
        rows.extend(value.map(|value| (field, value, 0, most)));
    }
    rows.extend(rows_of_options(w));
    rows
}

/// The same of what few workloads have.
fn rows_of_options(w: &Workload) -> Vec<NumberLimit<'static>> {
    let mut rows = Vec::new();
    if let Some(walk) = &w.zone_walk {
        rows.push(("zone_walk.zone_bytes", walk.zone_bytes, 1, MAX_SIZE_BYTES));
        rows.push(("zone_walk.stay_bytes", walk.stay_bytes, 1, MAX_SIZE_BYTES));
        rows.push(("zone_walk.skip_bytes", walk.skip_bytes, 0, MAX_SIZE_BYTES));
    }
    if let WorkerRegion::Staggered {
        step_bytes,
        span_bytes,
    } = w.data_set.region
    {
        rows.push(("region.step_bytes", step_bytes, 0, MAX_SIZE_BYTES));
        let span = span_bytes.unwrap_or(0);
        rows.push(("region.span_bytes", span, 0, MAX_SIZE_BYTES));
    }
    if let Some(flow) = &w.flow {
        rows.push(("flow.weight", flow.weight.into(), 1, u32::MAX.into()));
        rows.push(("flow.pause_ns", flow.pause_ns, 0, MAX_THINK_NS));
    }
    if let Some(target) = &w.latency_target {
        let least = *DEADLINE_NS.start();
        rows.push(("latency_target.latency_ns", target.latency_ns, 1, MAX_COUNT));
        rows.push((
            "latency_target.window_ns",
            target.window_ns,
            least,
            MAX_THINK_NS,
        ));
    }
    if let Some(replay) = w.replay() {
        rows.push(("replay.shrink", replay.shrink, 1, MAX_COUNT));
        rows.push(("replay.align_bytes", replay.align_bytes, 1, MAX_SIZE_BYTES));
    }
    if let Some(Until::Settled(settled)) = &w.until {
        rows.push(("until.window_ns", settled.window_ns, 1, MAX_WARMUP_NS));
        rows.push(("until.interval_ns", settled.interval_ns, 1, MAX_WARMUP_NS));
        rows.push(("until.ramp_ns", settled.ramp_ns, 0, MAX_FOREIGN_RUNTIME_NS));
    }
    let draws = w.sequencer.draw_every_ops.into();
    rows.push(("sequencer.draw_every_ops", draws, 1, u32::MAX.into()));
    rows
}

fn check_shares(w: &Workload) -> Result<(), AdmissionError> {
    let mix = [w.mix.read_percent, w.mix.write_percent, w.mix.trim_percent];
    let sum = mix.iter().map(|percent| u64::from(*percent)).sum();
    let none = w.files_work().is_some() || w.requests().is_some() || w.replay().is_some();
    within("workload.mix", sum, if none { 0 } else { 100 }, 100)?;
    for percent in w.sequencer.random_percent.values() {
        within(
            "workload.sequencer.random_percent",
            u64::from(*percent),
            0,
            100,
        )?;
    }
    let payload = &w.payload;
    let percents = [payload.compress_percent, payload.duplicate_percent];
    for percent in percents {
        within("workload.payload: a share", u64::from(percent), 0, 100)?;
    }
    match &w.latency_target {
        Some(target) => number(
            "workload.latency_target.percentile",
            target.percentile,
            100.0,
        ),
        None => Ok(()),
    }
}

fn check_blocks(w: &Workload) -> Result<(), AdmissionError> {
    let own = w.block_by_kind.values();
    for sizes in own.chain([&w.block]) {
        match sizes {
            BlockSizes::Range { step_bytes, .. } => {
                within("workload.block.step_bytes", *step_bytes, 1, MAX_BLOCK_BYTES)?;
            }
            BlockSizes::Weighted(sizes) => {
                at_most("workload.block", sizes.len(), MAX_LIST)?;
                let weights: u64 = sizes.iter().map(|size| u64::from(size.weight)).sum();
                within(
                    "workload.block: the sum of weights",
                    weights,
                    1,
                    u32::MAX.into(),
                )?;
            }
            BlockSizes::Fixed(_) => {}
        }
        let (min, max) = (sizes.min_bytes(), sizes.max_bytes());
        within("workload.block", max, 1, MAX_BLOCK_BYTES)?;
        within("workload.block: the smallest", min, 1, max)?;
    }
    Ok(())
}

fn check_pattern(w: &Workload) -> Result<(), AdmissionError> {
    let field = "workload.pattern";
    match &w.pattern {
        Pattern::Sequential | Pattern::Backwards => {}
        Pattern::Strided { stride_bytes } => within(field, *stride_bytes, 1, MAX_SIZE_BYTES)?,
        Pattern::Skipping { skip_bytes } => {
            within(field, skip_bytes.unsigned_abs(), 0, MAX_SIZE_BYTES)?;
        }
        Pattern::Random(distribution) => check_distribution(distribution)?,
    }
    for distribution in w.distribution_by_kind.values() {
        check_distribution(distribution)?;
    }
    Ok(())
}

fn check_distribution(distribution: &Distribution) -> Result<(), AdmissionError> {
    let field = "workload.pattern.distribution";
    match distribution {
        Distribution::EachOnce | Distribution::Uniform => Ok(()),
        Distribution::Zipf { theta } => number(field, *theta, 1000.0),
        Distribution::Pareto { h } => number(field, *h, 1.0),
        Distribution::Normal {
            deviation_percent,
            center_percent,
        } => number(field, *deviation_percent, 100.0)
            .and_then(|()| number(field, *center_percent, 100.0)),
        Distribution::HotSpot {
            access_percent,
            size_percent,
        } => {
            number(field, *access_percent, 100.0).and_then(|()| number(field, *size_percent, 100.0))
        }
        Distribution::Zoned(zones) => {
            within(field, zones.len() as u64, 1, MAX_LIST as u64)?;
            zones.iter().try_for_each(|zone| {
                number(field, zone.access_percent, 100.0)?;
                match zone.size {
                    ZoneSize::Percent(percent) => number(field, percent, 100.0),
                    ZoneSize::Bytes(bytes) => within(field, bytes, 0, MAX_SIZE_BYTES),
                }
            })
        }
        Distribution::Sequence { blocks, .. } => {
            within(field, blocks.len() as u64, 1, MAX_LIST as u64)?;
            let largest = blocks.iter().max().copied().unwrap_or(0);
            within(field, largest, 0, MAX_SIZE_BYTES)
        }
        Distribution::SteadyFill(fill) => {
            within(field, u64::from(fill.regions), 1, MAX_REGIONS)?;
            number(field, fill.over_provisioning_percent, 10_000.0)
        }
    }
}

fn check_rates(w: &Workload) -> Result<(), AdmissionError> {
    let positive = |rate: &Rate| {
        number("workload.rate", rate.per_second, MAX_RATE)?;
        if rate.per_second > 0.0 {
            return Ok(());
        }
        Err(AdmissionError::NotPositive {
            field: "workload.rate",
            value: 0.0,
        })
    };
    w.rate
        .iter()
        .chain(w.rate_by_kind.values())
        .try_for_each(positive)?;
    let fail_if = [
        w.fail_if.ops_per_second_below,
        w.fail_if.bytes_per_second_below,
    ];
    for below in fail_if.into_iter().flatten() {
        number("workload.fail_if", below, f64::MAX)?;
    }
    match w.replay().map(|replay| replay.timing) {
        Some(ReplayTiming::Recorded { speed_percent }) if speed_percent > 0.0 => {
            number("workload.replay.speed_percent", speed_percent, MAX_RATE)
        }
        Some(ReplayTiming::Recorded { speed_percent }) => Err(AdmissionError::NotPositive {
            field: "workload.replay.speed_percent",
            value: speed_percent,
        }),
        Some(ReplayTiming::AsFastAsPossible) | None => Ok(()),
    }
}

fn check_payload(w: &Workload) -> Result<(), AdmissionError> {
    let field = "workload.payload.content";
    let bytes = match &w.payload.content {
        Content::Random | Content::Zeros => return Ok(()),
        Content::Bytes(bytes) => bytes.len(),
        Content::Parts(parts) => {
            at_most(field, parts.len(), MAX_LIST)?;
            let lengths = parts.iter().map(|part| match part {
                Part::Bytes(bytes) => bytes.len(),
                Part::Offset => 8,
            });
            lengths.sum()
        }
    };
    within(field, bytes as u64, 1, MAX_LITERAL_BYTES as u64)
}

/// Operations with their weights: each kind at most once.
fn check_ops(field: &str, ops: &[MetaShare]) -> Result<(), AdmissionError> {
    within(field, ops.len() as u64, 1, OpKind::ALL.len() as u64)?;
    let weights = ops.iter().map(|share| u64::from(share.weight)).sum();
    within(
        &format!("{field}: the sum of weights"),
        weights,
        1,
        u32::MAX.into(),
    )
}

fn check_tree(meta: &MetaWork) -> Result<(), AdmissionError> {
    check_ops("workload.meta.ops", &meta.ops)?;
    let tree = &meta.tree;
    let (largest, mean) = match tree.sizes {
        FileSizes::Fixed(bytes) => (bytes, bytes),
        FileSizes::Exponential {
            mean_bytes,
            max_bytes,
        } => (max_bytes, mean_bytes),
    };
    let rows: [NumberLimit<'_>; 10] = [
        ("append_bytes", meta.append_bytes, 0, MAX_SIZE_BYTES),
        ("xattrs", meta.xattrs.into(), 1, MAX_XATTRS),
        ("tree.files", tree.files, 1, MAX_TREE_FILES),
        ("tree.depth", tree.depth.into(), 0, MAX_TREE_DEPTH),
        ("tree.fan_out", tree.fan_out.into(), 1, u32::MAX.into()),
        ("tree.leaves", tree.leaves, 1, MAX_TREE_LEAVES),
        ("tree.sizes", largest, 0, MAX_SIZE_BYTES),
        ("tree.sizes: the mean", mean, 0, MAX_SIZE_BYTES),
        ("tree.record_bytes", tree.record_bytes, 1, MAX_BLOCK_BYTES),
        (
            "tree.xattr_bytes",
            tree.xattr_bytes.into(),
            1,
            MAX_XATTR_BYTES,
        ),
    ];
    for (field, value, least, most) in rows {
        within(&format!("workload.meta.{field}"), value, least, most)?;
    }
    let room = u128::from(tree.fan_out).saturating_pow(tree.depth);
    if u128::from(tree.leaves) <= room {
        return Ok(());
    }
    Err(AdmissionError::TooManyLeaves {
        leaves: tree.leaves,
        depth: tree.depth,
        fan_out: tree.fan_out,
        room,
    })
}

fn check_objects(object: &ObjectWork) -> Result<(), AdmissionError> {
    check_ops("workload.object.ops", &object.ops)?;
    let smallest = match &object.sizes {
        ObjectSizes::Range { min_bytes, .. } => *min_bytes,
        ObjectSizes::Weighted(sizes) => {
            within(
                "workload.object.sizes",
                sizes.len() as u64,
                1,
                MAX_LIST as u64,
            )?;
            let weights: u64 = sizes.iter().map(|(_, weight)| u64::from(*weight)).sum();
            within(
                "workload.object.sizes: the sum of weights",
                weights,
                1,
                u32::MAX.into(),
            )?;
            0
        }
        ObjectSizes::Fixed(_) | ObjectSizes::Log2 { .. } => 0,
    };
    let largest = object.sizes.max_bytes();
    let rows: [NumberLimit<'_>; 10] = [
        ("objects", object.objects, 1, MAX_OBJECTS),
        ("sizes", largest, 0, MAX_OBJECT_BYTES),
        ("sizes: the smallest", smallest, 0, largest),
        ("range_bytes", object.range_bytes, 0, MAX_OBJECT_BYTES),
        ("part_bytes", object.part_bytes, 1, MAX_OBJECT_BYTES),
        (
            "parts_at_once",
            object.parts_at_once.into(),
            1,
            MAX_PARTS_AT_ONCE,
        ),
        ("page_keys", object.page_keys.into(), 1, MAX_OBJECTS_AT_ONCE),
        (
            "delete_batch",
            object.delete_batch.into(),
            1,
            MAX_OBJECTS_AT_ONCE,
        ),
        ("versions", object.versions.into(), 1, MAX_OBJECTS_AT_ONCE),
        ("backoff_ns", object.backoff_ns, 0, MAX_BACKOFF_NS),
    ];
    for (field, value, least, most) in rows {
        within(&format!("workload.object.{field}"), value, least, most)?;
    }
    within(
        "workload.object.retries",
        object.retries.into(),
        0,
        MAX_RETRIES,
    )?;
    if let KeyLayout::Tree { depth, fan_out } = object.keys {
        within("workload.object.keys.depth", depth.into(), 1, 16)?;
        within(
            "workload.object.keys.fan_out",
            fan_out.into(),
            1,
            u32::MAX.into(),
        )?;
    }
    match object.order {
        ObjectOrder::Zipf { theta } => number("workload.object.order", theta, 1000.0),
        _ => Ok(()),
    }
}

/// Whether a number is one, and from 0 to `most`.
fn number(field: &'static str, value: f64, most: f64) -> Result<(), AdmissionError> {
    if value.is_finite() && (0.0..=most).contains(&value) {
        return Ok(());
    }
    Err(AdmissionError::NumberOutOfRange { field, value, most })
}
