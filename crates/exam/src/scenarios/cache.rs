//! Data that never came from, or never went to, the drive.

use fathom_model::verdict::Limiter;
use fathom_model::workload::{CacheMode, OpMix};

use super::sound::ssd;
use super::{Draw, GIB, SECOND_NS, faulty, random_reads, random_writes, remarked, sequential};
use crate::case::{Case, Scenario};

pub(super) fn scenarios() -> Vec<Scenario> {
    let cache = &[Limiter::Cache];
    vec![
        faulty(
            "direct I/O ignored, cache answers",
            &["V01"],
            cache,
            direct_ignored,
        ),
        faulty("warm file, buffered", &["V01", "V02"], cache, warm_file),
        faulty(
            "half of the file is warm",
            &["V01", "V02"],
            cache,
            half_warm,
        ),
        faulty(
            "data set smaller than memory, buffered",
            &["V03"],
            cache,
            small_set,
        ),
        // Holes are answered from the map of the file system, not from a cache.
        faulty(
            "sparse file",
            &["V04", "V01"],
            &[Limiter::Filesystem],
            sparse,
        ),
        faulty("target in memory", &["V06"], &[Limiter::Memory], tmpfs),
        faulty(
            "buffered writes, never flushed",
            &["V07"],
            cache,
            never_flushed,
        ),
        remarked(
            "flush after the end takes long",
            &["V07"],
            &[Limiter::Flush],
            long_flush,
        ),
    ]
}

fn direct_ignored(d: &mut Draw) -> Case {
    let share = d.even(0.0, 0.7);
    Case::new(ssd(d), random_reads(d.one_of(&[1, 32]), d.whole(10, 40)))
        .on(|host| host.device_read_share = share)
}

fn warm_file(d: &mut Draw) -> Case {
    let mut workload = random_reads(1, d.whole(10, 40));
    workload.cache = CacheMode::Buffered;
    workload.data_set.size_bytes = Some(80 * GIB);
    Case::new("ideal?latency_us=40,parallel=8", workload).on(|host| {
        host.memory_bytes = 32 * GIB;
        host.device_read_share = 0.0;
        host.data.cached_share = Some(1.0);
    })
}

fn half_warm(d: &mut Draw) -> Case {
    let mut workload = random_reads(1, d.whole(10, 40));
    workload.cache = CacheMode::Buffered;
    workload.data_set.size_bytes = Some(80 * GIB);
    let warm = d.even(0.25, 0.6);
    Case::new(ssd(d), workload).on(|host| {
        host.device_read_share = 1.0 - warm;
        host.data.cached_share = Some(warm);
    })
}

fn small_set(d: &mut Draw) -> Case {
    let mut workload = random_reads(4, d.whole(10, 40));
    workload.cache = CacheMode::Buffered;
    workload.data_set.size_bytes = Some(d.whole(1, 12) * GIB);
    let share = d.even(0.1, 0.8);
    Case::new(ssd(d), workload).on(|host| host.device_read_share = share)
}

fn sparse(d: &mut Draw) -> Case {
    let unwritten = d.log(0.05, 1.0);
    Case::new(
        "ideal?latency_us=120,parallel=8",
        random_reads(d.one_of(&[1, 32]), 20),
    )
    .on(|host| {
        host.device_read_share = 1.0 - unwritten;
        host.data.unwritten_share = Some(unwritten);
    })
}

fn tmpfs(d: &mut Draw) -> Case {
    let mut case = Case::new(
        "ideal?latency_us=30,parallel=8",
        random_reads(1, d.whole(10, 30)),
    );
    if let Some(filesystem) = &mut case.host.filesystem {
        filesystem.kind = "tmpfs".to_owned();
        filesystem.source = "tmpfs".to_owned();
        filesystem.virtual_kind = true;
    }
    case.on(|host| host.device_read_share = 0.0)
}

fn never_flushed(d: &mut Draw) -> Case {
    let mut workload = random_writes(d.one_of(&[1, 8]), d.whole(10, 30));
    workload.cache = CacheMode::Buffered;
    let left = d.even(0.2, 1.0);
    Case::new("ideal?latency_us=120,parallel=8", workload).on(|host| {
        host.device_write_factor = 1.0 - left;
        host.dirty_share = Some(left);
        host.device.write_cache = Some("write back".to_owned());
    })
}

fn long_flush(d: &mut Draw) -> Case {
    let seconds = d.whole(10, 30);
    let mut workload = sequential(OpMix::WRITE, 4, seconds);
    workload.cache = CacheMode::Buffered;
    workload.sync.final_flush = true;
    let flush_ns = (seconds as f64 * d.even(0.3, 2.0) * SECOND_NS as f64) as u64;
    Case::new(ssd(d), workload).on(|host| {
        host.final_flush_ns = Some(flush_ns);
        host.device.write_cache = Some("write back".to_owned());
    })
}
