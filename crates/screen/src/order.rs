//! The order of devices and of those who use them, and which of them a filter leaves.

use clap::ValueEnum;
use fathom_diagnose::recording::{DiskMoment, DoerMoment, Moment};
use fathom_model::diagnosis::DiskLoad;

use crate::filter::Filter;
use crate::history::Seen;

/// Order of devices and processes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub enum Sort {
    /// Operations in flight; of processes the time that they waited.
    #[default]
    Queue,
    /// Operations per second.
    Operations,
    /// Bytes per second.
    Bytes,
    /// Time of an operation.
    Wait,
    /// By name.
    Name,
}

impl Sort {
    pub(crate) fn next(self) -> Sort {
        match self {
            Sort::Queue => Sort::Operations,
            Sort::Operations => Sort::Bytes,
            Sort::Bytes => Sort::Wait,
            Sort::Wait => Sort::Name,
            Sort::Name => Sort::Queue,
        }
    }

    pub(crate) fn word(self) -> &'static str {
        match self {
            Sort::Queue => "queue",
            Sort::Operations => "operations",
            Sort::Bytes => "bytes",
            Sort::Wait => "wait",
            Sort::Name => "name",
        }
    }
}

/// Devices in order, by what they did in the time of the verdict: the order does not
/// contradict it, and rows stay where they are.
pub(crate) fn devices<'a>(seen: &Seen<'a>, sort: Sort, filter: &Filter) -> Vec<&'a DiskMoment> {
    let is_shown = |disk: &&DiskMoment| {
        let place = seen.place_of(&disk.name);
        let mounts = place
            .map(|place| place.mounts.as_slice())
            .unwrap_or_default();
        filter.takes(&disk.name) || mounts.iter().any(|mount| filter.takes(mount))
    };
    let disks = seen.moment.disks.iter().filter(is_shown);
    let mut order: Vec<([f64; 2], &DiskMoment)> = disks
        .map(|disk| (key(disk, seen.load(&disk.name), sort), disk))
        .collect();
    order.sort_by(|(a, one), (b, other)| {
        let larger = b[0].total_cmp(&a[0]).then(b[1].total_cmp(&a[1]));
        larger.then(one.name.cmp(&other.name))
    });
    order.into_iter().map(|(_, disk)| disk).collect()
}

/// The larger comes first. Of those that are alike, the one that moves more bytes.
fn key(disk: &DiskMoment, load: Option<&DiskLoad>, sort: Sort) -> [f64; 2] {
    let bytes = load.map_or(0.0, |load| load.bytes);
    let first = match sort {
        Sort::Queue => {
            let now = disk.in_flight().unwrap_or(0.0);
            load.map_or(now, |load| load.queue.unwrap_or(0.0))
        }
        Sort::Operations => load.map_or(0.0, |load| load.operations),
        Sort::Bytes => bytes,
        Sort::Wait => load.and_then(|load| load.wait_ms).unwrap_or(0.0),
        Sort::Name => return [0.0; 2],
    };
    [first, bytes]
}

/// Processes or groups in order, and the bytes that their shares are of: all of
/// theirs, or what the devices moved where that is more. Those who did the rest
/// were not looked at, or have ended.
pub(crate) fn doers<'m>(
    moment: &Moment,
    doers: &'m [DoerMoment],
    sort: Sort,
    filter: &Filter,
) -> (Vec<&'m DoerMoment>, f64) {
    let shown = doers.iter().filter(|doer| filter.takes(&doer.name));
    let mut order: Vec<&DoerMoment> = shown.collect();
    let key = |doer: &DoerMoment| match sort {
        Sort::Queue | Sort::Wait => (doer.io_wait.unwrap_or(0.0), doer.bytes()),
        Sort::Operations | Sort::Bytes => (doer.bytes(), doer.cpus),
        Sort::Name => (0.0, 0.0),
    };
    order.sort_by(|a, b| {
        let (x, y) = (key(a), key(b));
        let by_cpu = match sort {
            Sort::Name => std::cmp::Ordering::Equal,
            _ => b.cpus.total_cmp(&a.cpus),
        };
        (y.0.total_cmp(&x.0))
            .then(y.1.total_cmp(&x.1))
            .then(by_cpu)
            .then(a.name.cmp(&b.name))
    });
    let all: f64 = doers.iter().map(DoerMoment::bytes).sum();
    (order, all.max(moment.moved_bytes()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cells;

    #[test]
    fn a_share_is_of_what_the_devices_moved() {
        let of = |disk_bytes: f64| {
            let moment = Moment {
                disks: vec![DiskMoment {
                    name: "sda".to_owned(),
                    write_bytes: disk_bytes,
                    ..DiskMoment::default()
                }],
                processes: vec![DoerMoment {
                    name: "7 tar".to_owned(),
                    write_bytes: 1e6,
                    ..DoerMoment::default()
                }],
                ..Moment::default()
            };
            let (order, all) = doers(&moment, &moment.processes, Sort::Bytes, &Filter::default());
            cells::doer(order[0], all)[5].clone()
        };
        // Another did the rest.
        assert_eq!(of(300e6), "·");
        assert_eq!(of(2e6), "50 %");
        // In the page cache still.
        assert_eq!(of(0.0), "100 %");
    }
}
