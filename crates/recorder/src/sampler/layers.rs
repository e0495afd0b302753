//! Caches in front of devices: bcache (Documentation/admin-guide/bcache.rst)
//! and ZFS (`/proc/spl/kstat/zfs/arcstats`); pools and cached volumes of the
//! device mapper where `dmsetup` answers.

use std::time::Duration;

use fathom_deadline::{answer_of, find_program};
use fathom_observe::{KeptFile, Sysroot};

use super::{Reading, numbers};
use crate::frame::Row;
use crate::kind::{ABSENT, Kind, cache, mapped};

/// A pool that waits for space may stop even a question about it.
const PATIENCE: Duration = Duration::from_secs(2);

#[derive(Debug)]
pub(super) struct Layers {
    zfs: KeptFile,
    /// Devices in front of which a bcache stands.
    cached: Vec<String>,
}

impl Layers {
    pub(super) fn open(sys: &Sysroot) -> Layers {
        Layers {
            zfs: KeptFile::open(sys, "/proc/spl/kstat/zfs/arcstats"),
            cached: Vec::new(),
        }
    }

    pub(super) fn read(&mut self, reading: &mut Reading<'_>) {
        if let Some(text) = self.zfs.read(reading.buffer) {
            let mut rows = arc(text);
            reading.rows.append(&mut rows);
        }
        if reading.very_slow() {
            let names = reading.sys.names("/sys/block");
            let cached = names.iter().filter(|name| name.starts_with("bcache"));
            self.cached = cached.cloned().collect();
            if names.iter().any(|name| name.starts_with("dm-")) && reading.sys.is_host() {
                reading.rows.extend(device_mapper());
            }
        }
        if reading.slow() {
            for name in &self.cached {
                reading.rows.extend(bcache(reading.sys, name));
            }
        }
    }
}

/// `hits 4 12345` lines.
fn arc(text: &str) -> Vec<Row> {
    let mut first = Row::absent(Kind::Cache, "arc".into());
    let mut second = Row::absent(Kind::Cache, "l2arc".into());
    for line in text.lines() {
        let mut fields = line.split_ascii_whitespace();
        let (Some(name), Some(value)) = (fields.next(), fields.nth(1)) else {
            continue;
        };
        let value = value.parse().unwrap_or(ABSENT);
        match name {
            "hits" => first.values[cache::HITS] = value,
            "misses" => first.values[cache::MISSES] = value,
            "size" => first.values[cache::USED] = value,
            "memory_throttle_count" => first.values[cache::THROTTLES] = value,
            "l2_hits" => second.values[cache::HITS] = value,
            "l2_misses" => second.values[cache::MISSES] = value,
            "l2_size" => second.values[cache::USED] = value,
            _ => {}
        }
    }
    let mut rows = vec![first, second];
    // A second level that does not exist has size and hits 0.
    rows.retain(|row| row.value(cache::USED).unwrap_or(0) > 0);
    rows
}

fn bcache(sys: &Sysroot, name: &str) -> Option<Row> {
    let folder = format!("/sys/block/{name}/bcache");
    let mut row = Row::absent(Kind::Cache, name.into());
    let count = |file: &str| {
        let text = sys.text(format!("{folder}/{file}"))?;
        numbers(&text).next()?
    };
    row.values[cache::HITS] = count("stats_total/cache_hits")?;
    row.values[cache::MISSES] = count("stats_total/cache_misses").unwrap_or(ABSENT);
    let size = |file: &str| sys.text(format!("{folder}/{file}")).and_then(|t| human(&t));
    row.values[cache::DIRTY] = size("dirty_data").unwrap_or(ABSENT);
    row.values[cache::BYPASSED] = size("stats_total/bypassed").unwrap_or(ABSENT);
    Some(row)
}

/// `1.2M` as bcache prints it, in powers of 1024.
fn human(text: &str) -> Option<u64> {
    let split = text.find(|c: char| !(c.is_ascii_digit() || c == '.'));
    let (number, unit) = text.split_at(split.unwrap_or(text.len()));
    let power = match unit.trim() {
        "" => 0,
        unit => 1 + "kMGTPE".find(unit.get(..1)?)? as i32,
    };
    let number: f64 = number.parse().ok()?;
    Some((number * 1024_f64.powi(power)) as u64)
}

/// Thin pools and cached volumes. Asking takes no I/O, but a moment, and root.
fn device_mapper() -> Vec<Row> {
    if !rustix::process::geteuid().is_root() {
        return Vec::new();
    }
    let Some(program) = find_program("dmsetup") else {
        return Vec::new();
    };
    match answer_of(&program, &["status", "--noflush"], PATIENCE) {
        Ok(answer) if answer.status.success() => mapped_rows(&answer.text),
        _ => Vec::new(),
    }
}

/// `pool: 0 2097152 thin-pool 1 14/1024 64/16384 - rw …`,
/// `fast: 0 2097152 cache 8 27/1024 128 100/1000 …`.
fn mapped_rows(status: &str) -> Vec<Row> {
    let row = |line: &str| {
        let (name, rest) = line.split_once(": ")?;
        let fields: Vec<&str> = rest.split_ascii_whitespace().collect();
        let (metadata, data) = match *fields.get(2)? {
            "thin-pool" => (4, 5),
            "cache" => (4, 6),
            _ => return None,
        };
        let share = |place: usize| {
            let (used, all) = fields.get(place)?.split_once('/')?;
            let (used, all): (u64, u64) = (used.parse().ok()?, all.parse().ok()?);
            used.saturating_mul(1000).checked_div(all)
        };
        let mut row = Row::absent(Kind::Mapped, name.into());
        row.values[mapped::METADATA_USED] = share(metadata)?;
        row.values[mapped::DATA_USED] = share(data)?;
        Some(row)
    };
    status.lines().filter_map(row).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_of_bcache_are_powers_of_1024() {
        assert_eq!(human("0.0k"), Some(0));
        assert_eq!(human("1.5M"), Some(1_572_864));
        assert_eq!(human("512"), Some(512));
        assert_eq!(human("x"), None);
        assert_eq!(human("1é"), None);
    }

    #[test]
    fn pools_and_cached_volumes_tell_their_space() {
        let text = "vg-pool: 0 2097152 thin-pool 1 256/1024 64/16384 - rw no_discard\n\
                    vg-root: 0 4096 linear\n\
                    vg-fast: 0 2097152 cache 8 27/1024 128 250/1000 1 2\n";
        let rows = mapped_rows(text);
        assert_eq!(rows.len(), 2);
        assert_eq!(rows[0].values, [3, 250]);
        assert_eq!(rows[1].values, [250, 26]);
    }

    #[test]
    fn the_cache_of_zfs_tells_hits_and_size() {
        let text = "13 1 0x01 96 26112 1 2\nname type data\nhits 4 100\nmisses 4 7\nsize 4 4096\nl2_size 4 0\n";
        let rows = arc(text);
        assert_eq!(rows.len(), 1);
        assert_eq!(rows[0].value(cache::HITS), Some(100));
        assert_eq!(rows[0].value(cache::THROTTLES), None);
    }
}
