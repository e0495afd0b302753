//! Whole block devices: `/proc/diskstats`
//! (Documentation/admin-guide/iostats.rst). Partitions are left out, since
//! their disks count the same operations, and devices that were never used.

use std::collections::HashMap;
use std::sync::Arc;

use fathom_observe::{KeptFile, Sysroot, each_device, parse_stat};

use super::Reading;
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
}

impl Devices {
    pub(super) fn open(sys: &Sysroot) -> Devices {
        Devices {
            file: KeptFile::open(sys, "/proc/diskstats"),
            known: HashMap::new(),
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
            if let Some(row) = name.and_then(|name| row(name, counters)) {
                reading.rows.push(row);
            }
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
