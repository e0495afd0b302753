//! `sadf -j`: what sar recorded, as JSON.

use serde_json::Value;

use crate::iostat::json::{about, disk};
use crate::recordings::moments::MOST_DISKS;
use crate::recordings::{RecordingError, times};
use fathom_diagnose::recording::{CpuShares, Moment, Recording};

/// sysstat's page size in what it counts in pages; larger pages are rare and
/// not told.
const PAGE_BYTES: f64 = 4096.0;

/// A sample of sadf tells its length; one of iostat has a plain time.
pub(crate) fn is_one(sample: &Value) -> bool {
    sample.get("timestamp").is_some_and(Value::is_object) || sample.get("cpu-load").is_some()
}

pub(crate) fn read(host: &Value) -> Result<Recording, RecordingError> {
    let samples = host.get("statistics").and_then(Value::as_array);
    let moments: Vec<Moment> = samples
        .into_iter()
        .flatten()
        .filter(|s| is_one(s))
        .map(moment)
        .collect();
    if moments.is_empty() {
        return Err(RecordingError::Empty("sadf"));
    }
    let mut remarks = Vec::new();
    if moments.iter().all(|m| m.disks.is_empty()) {
        let words = "it holds no disks; record with sar -d, or sadf -j -- -A";
        remarks.push(words.to_owned());
    }
    Ok(Recording {
        host: about(host),
        source: "sadf (JSON)".to_owned(),
        moments,
        remarks,
    })
}

fn number(value: &Value, pointer: &str) -> Option<f64> {
    value.pointer(pointer)?.as_f64()
}

fn moment(sample: &Value) -> Moment {
    let word = |pointer: &str| sample.pointer(pointer).and_then(Value::as_str);
    let at = word("/timestamp/date").zip(word("/timestamp/time"));
    let share = |pointer: &str| number(sample, pointer).map(|percent| percent / 100.0);
    let pages = |pointer: &str| number(sample, pointer).map(|pages| pages * PAGE_BYTES);
    let rows = |pointer: &str| {
        let rows = sample.pointer(pointer).and_then(Value::as_array);
        rows.into_iter().flatten().take(MOST_DISKS)
    };
    let used = rows("/network/net-dev").filter_map(|d| number(d, "/ifutil-percent"));
    Moment {
        at: at.and_then(|(date, time)| times::parse(&format!("{date} {time}"))),
        seconds: number(sample, "/timestamp/interval").filter(|s| *s > 0.0),
        cpu: rows("/cpu-load")
            .find(|cpu| cpu.get("cpu").and_then(Value::as_str) == Some("all"))
            .map(shares),
        runnable: number(sample, "/queue/runq-sz"),
        blocked: number(sample, "/queue/blocked"),
        load: number(sample, "/queue/ldavg-1"),
        swap_in_bytes_per_second: pages("/swap-pages/pswpin"),
        swap_out_bytes_per_second: pages("/swap-pages/pswpout"),
        paged_bytes_per_second: number(sample, "/paging/pgpgin")
            .zip(number(sample, "/paging/pgpgout"))
            .map(|(read_kib, written_kib)| (read_kib + written_kib) * 1024.0),
        io_pressure_some: share("/psi/psi-io/some_avg"),
        io_pressure_full: share("/psi/psi-io/full_avg"),
        memory_pressure_some: share("/psi/psi-mem/some_avg"),
        network_use: used
            .fold(None, |most, one| Some(one.max(most.unwrap_or(0.0))))
            .map(|p| p / 100.0),
        disks: rows("/disk").filter_map(disk).collect(),
        ..Moment::default()
    }
}

/// Names differ with what was asked for: `-u` has user and system, `-u ALL`
/// usr, sys, irq and soft.
fn shares(cpu: &Value) -> CpuShares {
    let share = |keys: &[&str]| {
        let sum: f64 = keys.iter().filter_map(|key| cpu.get(*key)?.as_f64()).sum();
        sum / 100.0
    };
    CpuShares {
        user: share(&["user", "usr", "nice", "guest", "gnice"]),
        nice: cpu.get("nice").map(|_| share(&["nice", "gnice"])),
        system: share(&["system", "sys", "irq", "soft"]),
        iowait: share(&["iowait"]),
        steal: share(&["steal"]),
        idle: share(&["idle"]),
    }
}
