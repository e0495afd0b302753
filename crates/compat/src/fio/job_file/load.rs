//! How operations are done: engine, depth, rate, pauses, CPUs.

use fathom_model::Workload;
use fathom_model::workload::{
    Arrival, BlockSizes, CacheMode, EngineKind, OnError, OpMix, Rate, RateUnit, SyncCall, SyncOpen,
};

use super::draft::Draft;

/// A rate that rounding changes by more than this is refused.
const MOST_ROUNDING: f64 = 0.01;
/// fio keeps a rate of operations in 32 bits.
const MOST_OPS: f64 = u32::MAX as f64;
/// What a workload without a deadline of its own has.
const USUAL_DEADLINE_NS: u64 = 60_000_000_000;

pub(super) fn write(workload: &Workload, seed: u64, draft: &mut Draft) {
    engine(workload, draft);
    // Jobs are threads, as fathom's workers are.
    draft.set("thread", 1);
    draft.set("group_reporting", 1);
    // 31 bits: what every version of fio reads.
    draft.set("randseed", seed & 0x7fff_ffff);
    // Otherwise fio 3.33 and older draw offsets from a seed of their own (axboe/fio
    // issue 1502), and each job visits the blocks of the one before.
    draft.set("randrepeat", 0);
    cache(workload, draft);
    sync(workload, draft);
    if let Some(rate) = workload.rate {
        paced(workload, rate, draft);
    }
    think(workload, draft);
    machine(workload, draft);
}

fn engine(workload: &Workload, draft: &mut Draft) {
    let name = match workload.engine {
        EngineKind::Uring => "io_uring",
        EngineKind::Libaio => "libaio",
        EngineKind::Psync => "psync",
        EngineKind::Mmap => "mmap",
        EngineKind::Null => "null",
        EngineKind::Net => {
            return draft.refuse("engine", "a connection comes from a job file; use that");
        }
        EngineKind::Falloc => "falloc",
        EngineKind::Ftruncate => "ftruncate",
        EngineKind::Meta => {
            return draft.refuse("engine", "fio has no mix of operations on many files");
        }
        EngineKind::S3 => {
            return draft.refuse("engine", "fio sends no requests like these to a bucket");
        }
        _ => return draft.refuse("engine", "it exists in fathom alone"),
    };
    draft.set("ioengine", name);
    if workload.queue_depth > 1 {
        draft.set("iodepth", workload.queue_depth);
        let batch = match workload.batch {
            // What fathom chooses.
            0 => (workload.queue_depth / 32).clamp(1, 16),
            batch => batch,
        };
        let batched = matches!(workload.engine, EngineKind::Uring | EngineKind::Libaio);
        if batched && batch > 1 {
            draft.set("iodepth_batch_submit", batch.min(workload.queue_depth));
        }
    }
    match (workload.poll, workload.engine) {
        (false, _) => {}
        (true, EngineKind::Uring) => draft.set("hipri", 1),
        (true, _) => draft.refuse("poll", "fio polls with the engine io_uring only"),
    }
}

fn cache(workload: &Workload, draft: &mut Draft) {
    let direct = workload.cache == CacheMode::Direct;
    if !matches!(workload.engine, EngineKind::Null | EngineKind::Mmap) {
        draft.set("direct", u8::from(direct));
    }
    draft.set("invalidate", u8::from(direct || workload.drop_cache));
    if !direct {
        // fathom tells the kernel nothing about what it is going to do.
        draft.set("fadvise_hint", 0);
    }
}

fn sync(workload: &Workload, draft: &mut Draft) {
    let sync = workload.sync;
    if sync.every_writes > 0 {
        let name = match sync.call {
            SyncCall::Fsync => "fsync",
            SyncCall::Fdatasync => "fdatasync",
        };
        draft.set(name, sync.every_writes);
        if !sync.undrained && (workload.queue_depth > 1 || sync.every_writes > 1) {
            draft.differs(
                "fio flushes while other writes are in flight; in fathom a flush follows all \
                 writes that it makes durable",
            );
        }
    }
    if sync.other_every_writes > 0 {
        let other = match sync.call {
            SyncCall::Fsync => "fdatasync",
            SyncCall::Fdatasync => "fsync",
        };
        draft.set(other, sync.other_every_writes);
    }
    if let Some(ranges) = sync.ranges {
        draft.set("sync_file_range", ranges);
        if workload.engine == EngineKind::Mmap {
            draft.differs("fio calls msync on the whole map instead of sync_file_range");
        }
    }
    match sync.open {
        SyncOpen::No => {}
        SyncOpen::Dsync => draft.set("sync", "dsync"),
        SyncOpen::Sync => draft.set("sync", "sync"),
    }
    if sync.final_flush {
        draft.set("end_fsync", 1);
    }
}

/// Rates: of each job and each direction in fio, of all together in fathom.
fn paced(workload: &Workload, rate: Rate, draft: &mut Draft) {
    let name = match rate.unit {
        RateUnit::Ops => "rate_iops",
        RateUnit::Bytes => "rate",
    };
    if rate.unit == RateUnit::Ops && !matches!(workload.block, BlockSizes::Fixed(_)) {
        return draft.refuse(
            "rate",
            "fio turns operations into bytes of the smallest block, so that a rate of operations \
             comes out wrong with several block sizes; give a rate in bytes",
        );
    }
    let each = rate.per_second / f64::from(workload.workers.max(1));
    let OpMix {
        read_percent,
        write_percent,
        ..
    } = workload.mix;
    let shares = match (read_percent, write_percent) {
        (0, _) | (_, 0) => vec![each],
        (read, write) => [read, write]
            .map(|share| each * f64::from(share) / 100.0)
            .to_vec(),
    };
    let mut values = Vec::new();
    for share in shares {
        let whole = share.round();
        if whole < 1.0 || (whole - share).abs() > share * MOST_ROUNDING {
            return draft.refuse(
                "rate",
                format!(
                    "each of fio's jobs and directions has a whole rate; {share} per second cannot \
                     be written; choose a higher rate or fewer workers"
                ),
            );
        }
        if rate.unit == RateUnit::Ops && whole > MOST_OPS {
            return draft.refuse(
                "rate",
                "fio's rates of operations end at 4294967295 per second",
            );
        }
        if whole != share {
            draft.differs(format!(
                "the rate of each job is rounded: {whole} per second instead of {share}"
            ));
        }
        values.push(format!("{whole:.0}"));
    }
    draft.set(name, values.join(","));
    if rate.arrival == Arrival::Poisson {
        draft.set("rate_process", "poisson");
    }
    draft.differs(
        "fio's latency counts from submission: what waits because the rate cannot be kept is not \
         in it; compare with fathom's service latency, not with the response latency",
    );
    if workload.queue_depth > 1 {
        draft.differs("fio waits for all operations in flight whenever it is ahead of the rate");
    }
}

fn think(workload: &Workload, draft: &mut Draft) {
    if workload.think_ns == 0 {
        return;
    }
    let us = (workload.think_ns as f64 / 1000.0).round();
    if us < 1.0 || (us * 1000.0 / workload.think_ns as f64 - 1.0).abs() > MOST_ROUNDING {
        return draft.refuse("think_time", "fio pauses for whole microseconds");
    }
    draft.set("thinktime", format!("{us:.0}"));
    if workload.think_spin_ns >= 1000 {
        draft.set("thinktime_spin", workload.think_spin_ns / 1000);
    }
    if workload.think_every_ops > 0 {
        draft.set("thinktime_blocks", workload.think_every_ops);
    } else if workload.queue_depth > 1 {
        draft.differs(
            "fio pauses the whole job after each operation; in fathom the depth stays filled by \
             operations that each pause on their own",
        );
    }
}

fn machine(workload: &Workload, draft: &mut Draft) {
    if !workload.cpus.is_empty() {
        let list: Vec<String> = workload.cpus.iter().map(u32::to_string).collect();
        draft.set("cpus_allowed", list.join(","));
        draft.set("cpus_allowed_policy", "split");
    }
    if workload.huge_pages {
        draft.differs(
            "buffers lie on normal pages: fio takes huge ones only where they were reserved",
        );
    }
    if workload.on_error == OnError::Continue {
        draft.set("continue_on_error", "all");
    }
    if workload.io_deadline_ns != USUAL_DEADLINE_NS {
        draft.set(
            "max_latency",
            format!("{}us", workload.io_deadline_ns.div_ceil(1000)),
        );
        draft.differs("fio sees that an operation was too slow only when it ends, and then fails");
    }
}
