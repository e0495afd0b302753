//! What CPUs and devices did over a recording, in figures.

use std::collections::BTreeMap;

use fathom_model::diagnosis::{CpuLoad, DiskLoad};
use fathom_rules::diagnosis::slow_device::FEW_PER_SECOND;
use fathom_rules::method::observed::{PEAK_QUANTILE, UNKNOWN_SECONDS};

use crate::recording::{DiskMoment, Moment, Recording};
use crate::series::Series;

pub(crate) fn seconds(moment: &Moment) -> f64 {
    moment.seconds.unwrap_or(UNKNOWN_SECONDS)
}

/// Values that moments have.
pub(crate) fn series(recording: &Recording, value: impl Fn(&Moment) -> Option<f64>) -> Series {
    let values = recording.moments.iter();
    values
        .filter_map(|m| Some((value(m)?, seconds(m))))
        .collect()
}

/// CPUs over the recording; nothing where none were recorded.
pub(crate) fn cpu(recording: &Recording) -> Option<CpuLoad> {
    let mean = |value: fn(&Moment) -> Option<f64>| series(recording, value).mean();
    let cpus = recording.host.cpus;
    let per_cpu = |value: Option<f64>| Some(value? / f64::from(cpus?));
    let load = per_cpu(mean(|m| m.load));
    let runnable = per_cpu(mean(|m| m.runnable));
    let busy = mean(|m| Some(m.cpu?.busy()));
    if busy.is_none() && load.is_none() && runnable.is_none() {
        return None;
    }
    Some(CpuLoad {
        cpus,
        busy,
        iowait: mean(|m| Some(m.cpu?.iowait)),
        steal: mean(|m| Some(m.cpu?.steal)),
        load_per_cpu: load,
        runnable_per_cpu: runnable,
    })
}

/// All samples of one device.
pub(crate) type Samples<'a> = Vec<(&'a DiskMoment, f64)>;

/// The samples of each device, by name.
pub(crate) fn by_disk(recording: &Recording) -> BTreeMap<&str, Samples<'_>> {
    let mut disks: BTreeMap<&str, Samples<'_>> = BTreeMap::new();
    for moment in &recording.moments {
        for disk in &moment.disks {
            let samples = disks.entry(&disk.name).or_default();
            samples.push((disk, seconds(moment)));
        }
    }
    disks
}

/// Devices that did something or had something to do, the one with the longest
/// queue first.
pub(crate) fn disks(recording: &Recording) -> Vec<DiskLoad> {
    let all = by_disk(recording);
    let asked = |disk: &DiskMoment| {
        let in_flight = [disk.queue, disk.outstanding, disk.util];
        disk.operations() > 0.0 || in_flight.iter().flatten().any(|value| *value > 0.0)
    };
    let busy = all
        .iter()
        .filter(|(_, samples)| samples.iter().any(|(disk, _)| asked(disk)));
    let mut loads: Vec<DiskLoad> = busy.map(|(name, samples)| disk(name, samples)).collect();
    let order = |load: &DiskLoad| (load.queue.unwrap_or(0.0), load.operations);
    loads.sort_by(|a, b| {
        let (a, b) = (order(a), order(b));
        b.0.total_cmp(&a.0).then(b.1.total_cmp(&a.1))
    });
    loads
}

/// Operations in flight. The kernel counts the time of one when it ends: of what had
/// not ended when the recording did, only the gauge tells.
fn in_flight(samples: &Samples<'_>) -> Series {
    let open = samples.iter().rev();
    let open = open
        .take_while(|(disk, _)| disk.completions() == 0.0)
        .count();
    let ended = samples.len() - open;
    let of = |(place, (disk, seconds)): (usize, &(&DiskMoment, f64))| {
        let counted = disk.in_flight();
        let gauge = disk.outstanding.filter(|_| place >= ended);
        let most = counted.into_iter().chain(gauge).reduce(f64::max)?;
        Some((most, *seconds))
    };
    samples.iter().enumerate().filter_map(of).collect()
}

fn disk(name: &str, samples: &Samples<'_>) -> DiskLoad {
    let of = |value: fn(&DiskMoment) -> Option<f64>| -> Series {
        samples
            .iter()
            .filter_map(|(disk, s)| Some((value(disk)?, *s)))
            .collect()
    };
    let operations = of(|d| Some(d.operations()));
    let mean = operations.mean().unwrap_or(0.0);
    let bytes = of(|d| Some(d.bytes())).mean().unwrap_or(0.0);
    let reads = of(|d| Some(d.reads));
    let divided = of(|d| Some(d.undivided)).mean() == Some(0.0);
    // Mean time of an operation, by operations and not by time.
    let waits: Series = samples
        .iter()
        .filter_map(|(d, s)| Some((d.mean_wait_ms()?, s * d.operations())))
        .collect();
    let settled: Series = samples
        .iter()
        .filter(|(d, _)| d.operations() >= FEW_PER_SECOND)
        .filter_map(|(d, s)| Some((d.mean_wait_ms()?, *s)))
        .collect();
    let in_flight = in_flight(samples);
    let mut from = 0.0;
    let series = samples.iter().map(|(d, s)| {
        let at = from;
        from += s;
        [at, d.reads + d.undivided, d.writes]
    });
    DiskLoad {
        name: name.to_owned(),
        operations: mean,
        read_share: (divided && mean > 0.0).then(|| reads.mean().unwrap_or(0.0) / mean),
        operations_p95: operations.quantile(PEAK_QUANTILE).unwrap_or(0.0),
        reads_peak: reads.most().unwrap_or(0.0),
        writes_peak: of(|d| Some(d.writes)).most().unwrap_or(0.0),
        operations_peak: operations.most().unwrap_or(0.0),
        bytes,
        // Reads and writes without a byte are those of a recording that tells none.
        block_bytes: (mean > 0.0 && bytes > 0.0).then(|| bytes / mean),
        wait_ms: waits.mean(),
        wait_peak_ms: settled.most(),
        queue: in_flight.mean(),
        queue_peak: in_flight.most(),
        util: of(|d| d.util).mean(),
        series: series.collect(),
    }
}
