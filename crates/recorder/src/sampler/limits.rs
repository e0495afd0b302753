//! How much of what it may do to a device a control group does: `io.max` of
//! version 2 (Documentation/admin-guide/cgroup-v2.rst) and
//! `blkio.throttle.*_device` of version 1
//! (Documentation/admin-guide/cgroup-v1/blkio-controller.rst).
//!
//! Operations that a limit holds back are not yet at the device: its queue is
//! short and its times are good, and only this tells why work waits.

use std::collections::HashMap;
use std::path::Path;

use fathom_observe::Sysroot;

/// Bytes read and written, reads, writes: keys of `io.max` and of `io.stat`,
/// files of version 1.
const WORDS: [(&str, &str, &str); 4] = [
    ("rbps", "rbytes", "blkio.throttle.read_bps_device"),
    ("wbps", "wbytes", "blkio.throttle.write_bps_device"),
    ("riops", "rios", "blkio.throttle.read_iops_device"),
    ("wiops", "wios", "blkio.throttle.write_iops_device"),
];

/// Place of the first of them that counts operations.
const FIRST_OF_OPERATIONS: usize = 2;
/// Slices of a second in which the kernel lets operations pass.
const SLICES: u64 = 10;

/// What a group may do to one device each second, and what it did so far.
type PerDevice<T> = HashMap<String, [T; 4]>;

#[derive(Debug, Default)]
pub(super) struct Limits {
    most: PerDevice<Option<u64>>,
    last: PerDevice<u64>,
}

impl Limits {
    /// Reads the limits anew, which change rarely.
    pub(super) fn refresh(&mut self, sys: &Sysroot, folder: &Path, unified: bool) {
        self.most = match unified {
            true => of_version_2(&sys.text(folder.join("io.max")).unwrap_or_default()),
            false => {
                let texts = WORDS.map(|(_, _, file)| sys.text(folder.join(file)));
                of_version_1(&texts.map(Option::unwrap_or_default))
            }
        };
    }

    pub(super) fn is_empty(&self) -> bool {
        self.most.is_empty()
    }

    /// The fullest of the limits, in thousandths of what it allows. `texts` are
    /// `io.stat`, or bytes and operations of version 1.
    pub(super) fn used(&mut self, texts: [&str; 2], unified: bool, seconds: f64) -> Option<u64> {
        if self.most.is_empty() {
            self.last.clear();
            return None;
        }
        let now = match unified {
            true => counters_of_version_2(texts[0]),
            false => counters_of_version_1(texts),
        };
        let last = std::mem::replace(&mut self.last, now);
        let mut fullest: Option<u64> = None;
        if seconds <= 0.0 {
            return None;
        }
        for (device, most) in &self.most {
            let (Some(now), Some(last)) = (self.last.get(device), last.get(device)) else {
                continue;
            };
            for (place, most) in most.iter().enumerate() {
                let Some(most) = most.filter(|most| *most > 0) else {
                    continue;
                };
                let rate = now[place].saturating_sub(last[place]) as f64 / seconds;
                let used = used_share(rate, most, place >= FIRST_OF_OPERATIONS);
                fullest = fullest.max(Some((1000.0 * used).round() as u64));
            }
        }
        fullest
    }
}

/// What a rate is of a limit. Operations come in slices of a tenth of a second, and
/// whole ones only: of 88 a second the kernel lets 80 pass (block/blk-throttle.c). What
/// is more than that is held against the limit itself.
fn used_share(rate: f64, most: u64, operations: bool) -> f64 {
    let of_limit = rate / most as f64;
    let whole = match operations {
        true => most / SLICES * SLICES,
        false => most,
    };
    match whole {
        0 => of_limit,
        _ => of_limit.max((rate / whole as f64).min(1.0)),
    }
}

/// `259:0 rbps=max wbps=1048576 riops=500 wiops=max`.
fn of_version_2(text: &str) -> PerDevice<Option<u64>> {
    by_device(text, |key, value| {
        let place = WORDS.iter().position(|(limit, _, _)| *limit == key)?;
        Some((place, Some(value.parse().ok()?)))
    })
}

/// `8:0 rbytes=1 wbytes=2 rios=3 wios=4 dbytes=0 dios=0`.
fn counters_of_version_2(text: &str) -> PerDevice<u64> {
    by_device(text, |key, value| {
        let place = WORDS.iter().position(|(_, counter, _)| *counter == key)?;
        Some((place, value.parse().ok()?))
    })
}

fn by_device<T: Copy + Default>(
    text: &str,
    read: impl Fn(&str, &str) -> Option<(usize, T)>,
) -> PerDevice<T> {
    let mut devices = HashMap::new();
    for line in text.lines() {
        let mut fields = line.split_ascii_whitespace();
        let Some(device) = fields.next() else {
            continue;
        };
        let found: Vec<(usize, T)> = fields
            .filter_map(|field| field.split_once('='))
            .filter_map(|(key, value)| read(key, value))
            .collect();
        if found.is_empty() {
            continue;
        }
        let of_device: &mut [T; 4] = devices.entry(device.to_owned()).or_default();
        for (place, value) in found {
            of_device[place] = value;
        }
    }
    devices
}

/// One file for each limit: `8:0 500`.
fn of_version_1(texts: &[String; 4]) -> PerDevice<Option<u64>> {
    let mut devices: PerDevice<Option<u64>> = HashMap::new();
    for (place, text) in texts.iter().enumerate() {
        for (device, most) in text.lines().filter_map(|line| line.split_once(' ')) {
            if let Ok(most) = most.trim().parse() {
                devices.entry(device.to_owned()).or_default()[place] = Some(most);
            }
        }
    }
    devices
}

/// `8:0 Read 4096`, in one file for bytes and one for operations.
fn counters_of_version_1(texts: [&str; 2]) -> PerDevice<u64> {
    let mut devices: PerDevice<u64> = HashMap::new();
    for (of_file, text) in texts.iter().enumerate() {
        for line in text.lines() {
            let mut fields = line.split_ascii_whitespace();
            let (Some(device), Some(direction), Some(value)) =
                (fields.next(), fields.next(), fields.next())
            else {
                continue;
            };
            let place = match direction {
                "Read" => 2 * of_file,
                "Write" => 2 * of_file + 1,
                _ => continue,
            };
            let of_device = devices.entry(device.to_owned()).or_default();
            of_device[place] = value.parse().unwrap_or(0);
        }
    }
    devices
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn version_2_is_held_against_its_limits() {
        let mut limits = Limits {
            most: of_version_2("8:0 rbps=max wbps=1000 riops=500 wiops=max\n9:0 rbps=max\n"),
            ..Limits::default()
        };
        assert_eq!(limits.most["8:0"], [None, Some(1000), Some(500), None]);
        assert!(!limits.most.contains_key("9:0"));
        let stat = |wbytes: u64, rios: u64| {
            format!(
                "8:0 rbytes=9 wbytes={wbytes} rios={rios} wios=1\n9:0 rbytes=1 wbytes=1 rios=1 wios=1\n"
            )
        };
        assert_eq!(limits.used([&stat(0, 0), ""], true, 1.0), None);
        assert_eq!(limits.used([&stat(1000, 800), ""], true, 2.0), Some(800));
        assert_eq!(limits.used([&stat(1000, 800), ""], true, 1.0), Some(0));
    }

    #[test]
    fn a_limit_that_slices_cut_is_used_in_full() {
        assert_eq!(used_share(80.0, 88, true), 1.0);
        assert_eq!(used_share(79.0, 88, true), 79.0 / 80.0);
        assert_eq!(used_share(110.0, 88, true), 1.25);
        assert_eq!(used_share(5.0, 8, true), 5.0 / 8.0);
        assert_eq!(used_share(80.0, 88, false), 80.0 / 88.0);
    }

    #[test]
    fn version_1_has_a_file_for_each_limit() {
        let texts = ["", "7:1 2048\n", "7:1 300\n", "junk\n"].map(str::to_owned);
        let mut limits = Limits {
            most: of_version_1(&texts),
            ..Limits::default()
        };
        let look = |limits: &mut Limits, bytes: &str, operations: &str| {
            limits.used([bytes, operations], false, 1.0)
        };
        let before = (
            "7:1 Read 0\n7:1 Write 0\nTotal 0\n",
            "7:1 Read 10\n7:1 Write 1\n",
        );
        assert_eq!(look(&mut limits, before.0, before.1), None);
        let after = (
            "7:1 Read 4096\n7:1 Write 1024\n7:1 Sync 9\n",
            "7:1 Read 307\n7:1 Write 2\n",
        );
        assert_eq!(look(&mut limits, after.0, after.1), Some(990));
        // Without limits nothing is remembered.
        limits.most.clear();
        assert_eq!(look(&mut limits, after.0, after.1), None);
        assert!(limits.last.is_empty());
    }
}
