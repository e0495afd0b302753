//! `iostat -o JSON`.

use serde_json::Value;

use super::fields;
use crate::recordings::moments::{MOST_DISKS, fill_lengths, leave_out_first};
use crate::recordings::{RecordingError, times};
use fathom_diagnose::recording::{CpuShares, DiskMoment, Moment, RecordedHost, Recording};

/// Reads the samples of a host, with or without the mean since it was started.
pub(crate) fn read(host: &Value, without_mean: bool) -> Result<Recording, RecordingError> {
    let samples = host.get("statistics").and_then(Value::as_array);
    let samples = samples.filter(|s| !s.is_empty());
    let samples = samples.ok_or(RecordingError::Empty("iostat"))?;
    let mut recording = Recording {
        host: about(host),
        source: "iostat (JSON)".to_owned(),
        moments: samples.iter().map(moment).collect(),
        remarks: Vec::new(),
    };
    fill_lengths(&mut recording.moments);
    leave_out_first(&mut recording, "iostat", without_mean);
    if let Some(times) = times_too_many(samples) {
        for disk in recording.moments.iter_mut().flat_map(|m| &mut m.disks) {
            disk.read_bytes /= times;
            disk.write_bytes /= times;
        }
        let words = "mended: this version of iostat wrote sectors under the names of larger units";
        recording.remarks.push(words.to_owned());
    }
    Ok(recording)
}

/// Some versions before 12.3.1 wrote sectors into JSON whatever unit they named.
/// The mean size of requests is in KiB in any version, so that requests times
/// their size tells by how much the rate of bytes is too high.
fn times_too_many(samples: &[Value]) -> Option<f64> {
    let disks = samples
        .iter()
        .filter_map(|sample| sample.get("disk")?.as_array());
    let (mut written, mut follows) = (0.0, 0.0);
    for columns in disks.flatten() {
        let of = |key: &str| columns.get(key).and_then(Value::as_f64);
        for (count, size) in [("r/s", "rareq-sz"), ("w/s", "wareq-sz")] {
            let Some((count, kib)) = of(count).zip(of(size)) else {
                continue;
            };
            let letter = &size[..1];
            let rate = of(&format!("{letter}kB/s"));
            let rate = rate.or_else(|| Some(1024.0 * of(&format!("{letter}MB/s"))?));
            if let Some(rate) = rate {
                written += rate;
                follows += count * kib;
            }
        }
    }
    // Sectors of 512 bytes are two of a KiB and 2,048 of a MiB.
    let ratio = written / follows;
    [2.0, 2048.0]
        .into_iter()
        .find(|times| (0.95..1.05).contains(&(ratio / times)))
}

/// What sysstat says of the host.
pub(crate) fn about(host: &Value) -> RecordedHost {
    let text = |key: &str| host.get(key).and_then(Value::as_str).map(str::to_owned);
    let cpus = host.get("number-of-cpus").and_then(Value::as_u64);
    RecordedHost {
        name: text("nodename"),
        kernel: text("release"),
        cpus: cpus.and_then(|n| u32::try_from(n).ok()).filter(|n| *n > 0),
    }
}

fn moment(sample: &Value) -> Moment {
    let at = sample.get("timestamp").and_then(Value::as_str);
    let disks = sample.get("disk").and_then(Value::as_array);
    Moment {
        at: at.and_then(times::parse),
        cpu: sample.get("avg-cpu").map(shares),
        disks: disks
            .into_iter()
            .flatten()
            .take(MOST_DISKS)
            .filter_map(disk)
            .collect(),
        ..Moment::default()
    }
}

fn shares(cpu: &Value) -> CpuShares {
    let share = |key: &str| cpu.get(key).and_then(Value::as_f64).unwrap_or(0.0) / 100.0;
    CpuShares {
        user: share("user") + share("nice"),
        nice: cpu.get("nice").map(|_| share("nice")),
        system: share("system"),
        iowait: share("iowait"),
        steal: share("steal"),
        idle: share("idle"),
    }
}

/// One device, whose name has had three names itself.
pub(crate) fn disk(value: &Value) -> Option<DiskMoment> {
    let columns = value.as_object()?;
    let names = ["disk_device", "disk-device", "device"];
    let name = names.iter().find_map(|key| columns.get(*key)?.as_str())?;
    let mut disk = DiskMoment {
        name: name.to_owned(),
        ..DiskMoment::default()
    };
    for (key, value) in columns {
        if let Some(value) = value.as_f64() {
            fields::put(&mut disk, key, value);
        }
    }
    Some(disk)
}
