//! Pauses of devices that samples of a second don't show: requests in flight, and none
//! completed for some tenths of a second.
//!
//! `/proc/diskstats` is looked at often (Documentation/admin-guide/iostats.rst). A device
//! pauses from the first look that finds something in flight to the last one that finds
//! nothing completed since. What the looks cost is measured, and a host with thousands of
//! devices gets fewer of them.

use std::collections::HashMap;

use fathom_observe::{DeviceCounters, KeptFile, Sysroot, each_device, parse_stat};

/// A look each tenth of a second.
pub(crate) const LOOK_NS: u64 = 100_000_000;
/// A look takes at most this part of the time.
const MOST_COST: u64 = 100;
/// A pause that is kept spans as many looks: less may be two slow requests.
const LEAST_LOOKS: u64 = 2;

#[derive(Debug)]
pub(crate) struct PauseWatch {
    file: KeptFile,
    buffer: Vec<u8>,
    devices: HashMap<String, Watched>,
    last_ns: Option<u64>,
    next_ns: u64,
}

/// A device between two looks.
#[derive(Debug, Default)]
struct Watched {
    completions: u64,
    /// Since when something is in flight and nothing was completed.
    since_ns: Option<u64>,
    /// Lengths of pauses that ended, in seconds.
    pauses_s: Vec<f64>,
}

impl PauseWatch {
    pub(crate) fn new(sys: &Sysroot) -> PauseWatch {
        PauseWatch {
            file: KeptFile::open(sys, "/proc/diskstats"),
            buffer: Vec::new(),
            devices: HashMap::new(),
            last_ns: None,
            next_ns: 0,
        }
    }

    /// Looks at all devices, where that is due; `clock` gives monotonic nanoseconds.
    pub(crate) fn look(&mut self, clock: impl Fn() -> u64) {
        let now_ns = clock();
        if now_ns < self.next_ns {
            return;
        }
        // The host itself stood still: what devices did meanwhile is not known.
        let gap_ns = self.last_ns.map_or(0, |last_ns| now_ns - last_ns);
        let missed = gap_ns > 2 * LOOK_NS.max(self.next_ns - self.last_ns.unwrap_or(self.next_ns));
        let Some(text) = self.file.read(&mut self.buffer) else {
            return;
        };
        for (name, counters) in each_device(text) {
            let Some(counters) = parse_stat(counters) else {
                continue;
            };
            match self.devices.get_mut(name) {
                Some(device) => device.look(&counters, now_ns, missed),
                None => {
                    let mut device = Watched::default();
                    device.look(&counters, now_ns, true);
                    self.devices.insert(name.to_owned(), device);
                }
            }
        }
        let cost_ns = clock().saturating_sub(now_ns);
        self.last_ns = Some(now_ns);
        self.next_ns = now_ns + (MOST_COST * cost_ns).max(LOOK_NS / 2);
    }

    /// The pauses of a device that ended since this was asked, in seconds.
    pub(crate) fn take(&mut self, name: &str) -> Vec<f64> {
        let device = self.devices.get_mut(name);
        device.map_or_else(Vec::new, |device| std::mem::take(&mut device.pauses_s))
    }

    /// The pause in which a device is at the last look, in seconds so far.
    pub(crate) fn running(&self, name: &str) -> Option<f64> {
        let since_ns = self.devices.get(name)?.since_ns?;
        pause_s(since_ns, self.last_ns?)
    }
}

/// Seconds between two looks, where they span enough of them.
fn pause_s(since_ns: u64, now_ns: u64) -> Option<f64> {
    let pause_ns = now_ns.saturating_sub(since_ns);
    (pause_ns > LEAST_LOOKS * LOOK_NS).then_some(pause_ns as f64 / 1e9)
}

impl Watched {
    fn look(&mut self, counters: &DeviceCounters, now_ns: u64, missed: bool) {
        let discards = counters.discards.map_or(0, |discards| discards.0);
        let flushes = counters.flushes.map_or(0, |flushes| flushes.0);
        let completions = counters.reads + counters.writes + discards + flushes;
        let is_same = completions == self.completions && counters.in_flight > 0;
        if is_same && !missed && self.since_ns.is_some() {
            return;
        }
        if let (Some(since_ns), false) = (self.since_ns, missed) {
            self.pauses_s.extend(pause_s(since_ns, now_ns));
        }
        self.completions = completions;
        self.since_ns = (counters.in_flight > 0).then_some(now_ns);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;

    /// Looks at the given times in milliseconds: reads that ended, and what is in flight.
    fn watched(looks: &[(u64, u64, u64)]) -> PauseWatch {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("proc")).unwrap();
        let file = folder.path().join("proc/diskstats");
        std::fs::write(&file, "").unwrap();
        let mut watch = PauseWatch::new(&Sysroot::at(folder.path()));
        for (at_ms, reads, in_flight) in looks {
            let line = format!("   8  0 sda {reads} 0 0 0 0 0 0 0 {in_flight} 0 0\n");
            std::fs::write(&file, line).unwrap();
            watch.look(|| at_ms * MS);
        }
        watch
    }

    fn pauses(looks: &[(u64, u64, u64)]) -> Vec<f64> {
        watched(looks).take("sda")
    }

    fn every_tenth(counts: impl Fn(u64) -> (u64, u64)) -> Vec<f64> {
        let look = |number| {
            let (reads, in_flight) = counts(number);
            (100 * number, reads, in_flight)
        };
        let looks: Vec<_> = (1..40).map(look).collect();
        pauses(&looks)
    }

    #[test]
    fn a_pause_of_some_tenths_is_seen_with_its_length() {
        // Nothing is completed from the tenth look to the fifteenth.
        let found = every_tenth(|n| {
            (
                if n <= 10 {
                    10 * n
                } else {
                    100 + 10 * n.saturating_sub(15)
                },
                3,
            )
        });
        assert_eq!(found.len(), 1, "{found:?}");
        assert!((found[0] - 0.6).abs() < 1e-9, "{found:?}");
    }

    #[test]
    fn a_pause_that_has_not_ended_is_told_apart() {
        let looks = [
            (100, 10, 1),
            (200, 20, 2),
            (300, 20, 2),
            (400, 20, 2),
            (500, 20, 2),
        ];
        let mut watch = watched(&looks);
        assert_eq!(watch.take("sda"), Vec::<f64>::new());
        assert_eq!(watch.running("sda"), Some(0.3));
        assert_eq!(watch.running("sdb"), None);
        assert_eq!(watched(&looks[..3]).running("sda"), None, "short");
    }

    #[test]
    fn a_device_without_work_or_with_progress_does_not_pause() {
        assert_eq!(every_tenth(|_| (70, 0)), Vec::<f64>::new());
        assert_eq!(every_tenth(|n| (n, 1)), Vec::<f64>::new());
        // Two slow requests.
        assert_eq!(every_tenth(|n| (n / 2, 1)), Vec::<f64>::new());
    }

    #[test]
    fn a_time_in_which_the_host_stood_still_is_no_pause() {
        let looks = [
            (100, 10, 1),
            (200, 10, 1),
            (900, 10, 1),
            (1_000, 20, 1),
            (1_100, 30, 1),
        ];
        assert_eq!(pauses(&looks), Vec::<f64>::new());
    }
}
