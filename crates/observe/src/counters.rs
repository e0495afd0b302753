//! Counters of block devices: `/proc/diskstats` and `/sys/block/*/stat`
//! (Documentation/admin-guide/iostats.rst).
//!
//! Eleven fields since Linux 2.6, four for discards since 4.18, two for
//! flushes since 5.5; later kernels may add more. Times are milliseconds and
//! printed as 32 bits on every kernel, so they wrap after 49.7 days of summed
//! request time; on 32-bit kernels all counters wrap.

use fathom_model::observation::DeviceActivity;

/// A sector of the counters is 512 bytes, whatever the device's block size.
const SECTOR_BYTES: u64 = 512;
const NS_PER_MS: u64 = 1_000_000;

/// No counter can grow by this much between two readings: 2^28 sectors are
/// 137 GB, 2^28 ms of request time need a queue of 70,000 for an hour. It tells
/// a counter that wrapped from one that started again.
const WRAP_GROWTH_LIMIT: u64 = 1 << 28;

/// The counters of one device, as the kernel shows them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct DeviceCounters {
    /// Completed reads.
    pub reads: u64,
    /// Reads merged into others.
    pub read_merges: u64,
    /// Sectors read.
    pub read_sectors: u64,
    /// Time of reads.
    pub read_ms: u64,
    /// Completed writes.
    pub writes: u64,
    /// Writes merged into others.
    pub write_merges: u64,
    /// Sectors written.
    pub write_sectors: u64,
    /// Time of writes.
    pub write_ms: u64,
    /// Requests in flight now; not a counter.
    pub in_flight: u64,
    /// Time with at least one request in flight. Wrong on many kernels (sampled
    /// at request start and end from 5.0 to 5.6): nothing is judged by it.
    pub busy_ms: u64,
    /// Time in flight, summed over requests.
    pub queue_ms: u64,
    /// Completed discards, sectors, time; since Linux 4.18.
    pub discards: Option<(u64, u64, u64)>,
    /// Completed flushes, time; since Linux 5.5.
    pub flushes: Option<(u64, u64)>,
}

/// Reads the content of `/sys/block/*/stat`. `None` when it has fewer than the
/// eleven fields that every kernel since 2.6.25 shows.
pub fn parse_stat(text: &str) -> Option<DeviceCounters> {
    // A field that is no number ends the line, so a future field of another
    // kind does not hide the ones before it.
    let mut numbers = [0_u64; 17];
    let mut count = 0;
    for field in text.split_ascii_whitespace().take(numbers.len()) {
        // Kernels before 5.0 can show a negative number in flight.
        let Some(number) = field.parse().ok().or_else(|| negative_as_zero(field)) else {
            break;
        };
        numbers[count] = number;
        count += 1;
    }
    let n = numbers;
    (count >= 11).then(|| DeviceCounters {
        reads: n[0],
        read_merges: n[1],
        read_sectors: n[2],
        read_ms: n[3],
        writes: n[4],
        write_merges: n[5],
        write_sectors: n[6],
        write_ms: n[7],
        in_flight: n[8],
        busy_ms: n[9],
        queue_ms: n[10],
        discards: (count >= 15).then_some((n[11], n[13], n[14])),
        flushes: (count >= 17).then_some((n[15], n[16])),
    })
}

fn negative_as_zero(field: &str) -> Option<u64> {
    field.parse::<i64>().ok().map(|_| 0)
}

/// Reads `/proc/diskstats` and gives the counters of the device that the
/// kernel calls `name`.
pub fn parse_diskstats(text: &str, name: &str) -> Option<DeviceCounters> {
    text.lines().find_map(|line| {
        let (before, rest) = split_name(line)?;
        (before == name || is_slashed(before, name)).then(|| parse_stat(rest))?
    })
}

/// The devices of `/proc/diskstats` in its order, with the text of their
/// counters for [`parse_stat`].
pub fn each_device(diskstats: &str) -> impl Iterator<Item = (&str, &str)> {
    diskstats.lines().filter_map(split_name)
}

/// `   8       0 sda 1 2 …` to `sda` and ` 1 2 …`.
fn split_name(line: &str) -> Option<(&str, &str)> {
    let mut rest = line.trim_start();
    for _ in 0..2 {
        rest = rest
            .split_once(|c: char| c.is_ascii_whitespace())?
            .1
            .trim_start();
    }
    rest.split_once(|c: char| c.is_ascii_whitespace())
}

/// sysfs writes `cciss!c0d0` for what diskstats calls `cciss/c0d0`.
fn is_slashed(shown: &str, name: &str) -> bool {
    name.contains('!') && name.replace('!', "/") == shown
}

impl DeviceCounters {
    /// Whether the device was taken away and came back between two readings:
    /// a count of operations or sectors went back and did not wrap.
    fn started_again(&self, last: &DeviceCounters) -> bool {
        let pairs = [
            (self.reads, last.reads),
            (self.read_sectors, last.read_sectors),
            (self.writes, last.writes),
            (self.write_sectors, last.write_sectors),
        ];
        pairs.iter().any(|&(now, last)| growth(now, last).is_none())
    }

    /// What happened between `last` and this reading. A device that came back
    /// counts from zero, so what it shows now is what happened since.
    pub fn since(&self, last: &DeviceCounters) -> DeviceActivity {
        let zero = DeviceCounters {
            discards: Some((0, 0, 0)),
            flushes: Some((0, 0)),
            ..DeviceCounters::default()
        };
        let last = if self.started_again(last) {
            &zero
        } else {
            last
        };
        let grown = |now: u64, last: u64| growth(now, last).unwrap_or(0);
        let ns = |now: u64, last: u64| grown(now, last).saturating_mul(NS_PER_MS);
        let bytes = |now: u64, last: u64| grown(now, last).saturating_mul(SECTOR_BYTES);
        let discards = self.discards.zip(last.discards);
        let flushes = self.flushes.zip(last.flushes);
        DeviceActivity {
            name: String::new(),
            leaf: false,
            reads: grown(self.reads, last.reads),
            read_bytes: bytes(self.read_sectors, last.read_sectors),
            read_time_ns: ns(self.read_ms, last.read_ms),
            writes: grown(self.writes, last.writes),
            write_bytes: bytes(self.write_sectors, last.write_sectors),
            write_time_ns: ns(self.write_ms, last.write_ms),
            discards: discards.map(|(now, last)| grown(now.0, last.0)),
            discard_bytes: discards.map(|(now, last)| bytes(now.1, last.1)),
            flushes: flushes.map(|(now, last)| grown(now.0, last.0)),
            flush_time_ns: flushes.map(|(now, last)| ns(now.1, last.1)),
            in_flight: self.in_flight,
            queue_time_ns: ns(self.queue_ms, last.queue_ms),
            busy_ns: Some(ns(self.busy_ms, last.busy_ms)),
            read_merges: Some(grown(self.read_merges, last.read_merges)),
            write_merges: Some(grown(self.write_merges, last.write_merges)),
        }
    }
}

/// How far a counter grew, with a wrap at 2^32 undone; `None` when it went back.
fn growth(now: u64, last: u64) -> Option<u64> {
    if let Some(grown) = now.checked_sub(last) {
        return Some(grown);
    }
    let wrapped = now.checked_add(1 << 32)?.checked_sub(last)?;
    (wrapped < WRAP_GROWTH_LIMIT).then_some(wrapped)
}

#[cfg(test)]
#[path = "counters_tests.rs"]
mod tests;
