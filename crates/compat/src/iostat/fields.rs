//! The columns of iostat, by all names that they have had.
//!
//! `-x` has had other names before 11.5.7 (`avgrq-sz`, `avgqu-sz`, `%util`),
//! lost `svctm` and got discards with 12.1.2, and flushes with 12.3.1. Rates in
//! sectors, kB, MB or GB depend on options.

use fathom_diagnose::recording::DiskMoment;

const SECTOR: f64 = 512.0;
const KIB: f64 = 1024.0;

/// Puts a column's value where it belongs; whether its name is known.
pub(crate) fn put(disk: &mut DiskMoment, name: &str, value: f64) -> bool {
    if let Some((direction, bytes)) = bytes_per_second(name) {
        match direction {
            b'r' => disk.read_bytes += value * bytes,
            b'w' => disk.write_bytes += value * bytes,
            b'u' => disk.undivided_bytes += value * bytes,
            _ => {}
        }
        return true;
    }
    match name {
        "r/s" => disk.reads = value,
        "w/s" => disk.writes = value,
        "d/s" => disk.discards = value,
        "f/s" => disk.flushes = value,
        "tps" => disk.undivided = value,
        "r_await" => disk.read_wait_ms = Some(value),
        "w_await" => disk.write_wait_ms = Some(value),
        "await" => disk.wait_ms = Some(value),
        "d_await" => disk.discard_wait_ms = Some(value),
        "f_await" => disk.flush_wait_ms = Some(value),
        "aqu-sz" | "avgqu-sz" => disk.queue = Some(value),
        "util" | "%util" | "util-percent" => disk.util = Some(value / 100.0),
        "rrqm/s" | "wrqm/s" | "drqm/s" | "rrqm" | "wrqm" | "drqm" | "%rrqm" | "%wrqm" | "%drqm"
        | "rareq-sz" | "wareq-sz" | "dareq-sz" | "areq-sz" | "avgrq-sz" | "svctm" | "rqm/s"
        | "%rqm" => {}
        _ => return false,
    }
    true
}

/// A value that was printed with a unit of its own (`-h`), in that of its column.
pub(crate) fn in_unit_of(name: &str, bytes: f64) -> f64 {
    // Sizes of requests are in KiB.
    bytes / bytes_per_second(name).map_or(KIB, |(_, unit)| unit)
}

/// Direction and unit of a rate of bytes.
fn bytes_per_second(name: &str) -> Option<(u8, f64)> {
    let (direction, unit) = match name {
        // Without -x: kB_read/s, Blk_wrtn/s.
        _ if name.ends_with("_read/s") => (b'r', name.strip_suffix("_read/s")?),
        _ if name.ends_with("_wrtn/s") => (b'w', name.strip_suffix("_wrtn/s")?),
        _ if name.ends_with("_dscd/s") => (b'd', name.strip_suffix("_dscd/s")?),
        // With -s: of reads and writes together.
        "sec/s" | "kB/s" | "MB/s" | "GB/s" => (b'u', name.strip_suffix("/s")?),
        // sadf: rkB, wkB, dkB, and the same in sectors, which are left out.
        "rkB" | "wkB" | "dkB" => (name.as_bytes()[0], "kB"),
        _ => {
            let rest = name.strip_suffix("/s")?;
            let direction = *rest.as_bytes().first()?;
            if !matches!(direction, b'r' | b'w' | b'd') {
                return None;
            }
            (direction, &rest[1..])
        }
    };
    let bytes = match unit {
        "sec" | "Blk" => SECTOR,
        "kB" => KIB,
        "MB" => KIB * KIB,
        "GB" => KIB * KIB * KIB,
        _ => return None,
    };
    Some((direction, bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_generation_of_names_says_the_same() {
        let of = |columns: &[(&str, f64)]| {
            let mut disk = DiskMoment::default();
            for (name, value) in columns {
                assert!(put(&mut disk, name, *value), "{name}");
            }
            disk
        };
        let oldest = of(&[
            ("r/s", 10.0),
            ("rsec/s", 80.0),
            ("avgqu-sz", 2.0),
            ("%util", 50.0),
            ("svctm", 1.0),
        ]);
        let newest = of(&[
            ("r/s", 10.0),
            ("rkB/s", 40.0),
            ("aqu-sz", 2.0),
            ("util", 50.0),
        ]);
        assert_eq!(oldest, newest);
        assert_eq!(of(&[("f_await", 3.0)]).flush_wait_ms, Some(3.0));
        assert_eq!(of(&[("d_await", 3.0)]).discard_wait_ms, Some(3.0));
        assert_eq!(of(&[("MB_read/s", 1.0)]).read_bytes, 1_048_576.0);
        assert_eq!(of(&[("wMB/s", 1.0)]).write_bytes, 1_048_576.0);
        assert_eq!(of(&[("kB/s", 3.0)]).bytes(), 3072.0);
        assert_eq!(in_unit_of("rMB/s", 1_048_576.0), 1.0);
        assert_eq!(of(&[("Blk_wrtn/s", 2.0)]).write_bytes, 1024.0);
        assert!(!put(&mut DiskMoment::default(), "colour", 1.0));
        assert!(!put(&mut DiskMoment::default(), "/s", 1.0));
    }
}
