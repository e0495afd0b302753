//! Whole block devices: `/proc/diskstats`
//! (Documentation/admin-guide/iostats.rst). Partitions are left out, since
//! their disks count the same operations, and devices that were never used.

use std::collections::HashMap;
use std::sync::Arc;

use fathom_observe::{KeptFile, Sysroot, each_device, parse_stat};

use super::{Reading, SLOW};
use crate::frame::Row;
use crate::kind::{ABSENT, Kind};

const SECTOR_BYTES: u64 = 512;
/// More devices are not recorded.
const MOST_DEVICES: usize = 4096;
/// Memory that looks like a device.
const NO_STORAGE: [&str; 2] = ["ram", "zram"];

#[derive(Debug)]
pub(super) struct Devices {
    file: KeptFile,
    /// Names that were seen; whole devices have a name to record.
    known: HashMap<String, Option<Arc<str>>>,
    /// What sysfs told of each, and the frame in which it was looked at.
    slow: HashMap<Arc<str>, (u64, [u64; 2])>,
}

impl Devices {
    pub(super) fn open(sys: &Sysroot) -> Devices {
        Devices {
            file: KeptFile::open(sys, "/proc/diskstats"),
            known: HashMap::new(),
            slow: HashMap::new(),
        }
    }

    pub(super) fn read(&mut self, reading: &mut Reading<'_>) {
        if reading.very_slow() {
            // A name may have come back as another kind of device.
            self.known.clear();
        }
        let Some(text) = self.file.read(reading.buffer) else {
            return;
        };
        for (shown, counters) in each_device(text) {
            let name = match self.known.get(shown) {
                Some(known) => known.clone(),
                None if self.known.len() >= MOST_DEVICES => None,
                None => {
                    let name = is_whole(reading.sys, shown).then(|| Arc::from(shown));
                    self.known.insert(shown.to_owned(), name.clone());
                    name
                }
            };
            let Some(mut row) = name.and_then(|name| row(name, counters)) else {
                continue;
            };
            // Counters that are looked at more rarely stand still in between.
            let slow = self.slow.get(&row.name).copied();
            let (_, values) = match slow.filter(|(at, _)| reading.count < at + SLOW) {
                Some(slow) => slow,
                None => {
                    let found = (reading.count, of_sysfs(reading.sys, shown));
                    self.slow.insert(Arc::clone(&row.name), found);
                    found
                }
            };
            row.values.extend(values);
            reading.rows.push(row);
        }
    }
}

fn is_whole(sys: &Sysroot, shown: &str) -> bool {
    let memory = NO_STORAGE.iter().any(|kind| {
        let number = shown.strip_prefix(kind);
        number.is_some_and(|n| n.bytes().all(|b| b.is_ascii_digit()))
    });
    // A partition without its disk, as Xen guests have, is not told as one.
    let folder = format!("/sys/class/block/{}", shown.replace('/', "!"));
    !memory && !sys.exists(format!("{folder}/partition"))
}

/// What the queue holds, and errors of SCSI (`device/ioerr_cnt`, hexadecimal).
fn of_sysfs(sys: &Sysroot, shown: &str) -> [u64; 2] {
    let folder = format!("/sys/class/block/{}", shown.replace('/', "!"));
    let errors = sys.text(format!("{folder}/device/ioerr_cnt"));
    let errors =
        errors.and_then(|text| u64::from_str_radix(text.trim_start_matches("0x"), 16).ok());
    let requests = sys.number(format!("{folder}/queue/nr_requests"));
    [requests.unwrap_or(ABSENT), errors.unwrap_or(ABSENT)]
}

/// All but what sysfs tells.
fn row(name: Arc<str>, counters: &str) -> Option<Row> {
    let c = parse_stat(counters)?;
    let used = c.reads + c.writes + c.in_flight + c.discards.map_or(0, |d| d.0);
    if used == 0 {
        return None;
    }
    let (discards, flushes) = (c.discards, c.flushes);
    let values = vec![
        c.reads,
        c.read_merges,
        c.read_sectors.saturating_mul(SECTOR_BYTES),
        c.read_ms,
        c.writes,
        c.write_merges,
        c.write_sectors.saturating_mul(SECTOR_BYTES),
        c.write_ms,
        c.in_flight,
        c.busy_ms,
        c.queue_ms,
        discards.map_or(ABSENT, |d| d.0),
        discards.map_or(ABSENT, |d| d.1.saturating_mul(SECTOR_BYTES)),
        discards.map_or(ABSENT, |d| d.2),
        flushes.map_or(ABSENT, |f| f.0),
        flushes.map_or(ABSENT, |f| f.1),
    ];
    Some(Row {
        kind: Kind::Disk,
        name,
        values,
    })
}
