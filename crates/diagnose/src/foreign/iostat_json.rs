//! `iostat -o JSON`.

use serde_json::Value;

use super::{ForeignError, MOST_DISKS, fields, fill_lengths, leave_out_first, times};
use crate::recording::{CpuShares, DiskMoment, Moment, RecordedHost, Recording};

pub(super) fn read(host: &Value) -> Result<Recording, ForeignError> {
    let samples = host.get("statistics").and_then(Value::as_array);
    let samples = samples.filter(|s| !s.is_empty());
    let samples = samples.ok_or(ForeignError::Empty("iostat"))?;
    let mut recording = Recording {
        host: about(host),
        source: "iostat (JSON)".to_owned(),
        moments: samples.iter().map(moment).collect(),
        remarks: Vec::new(),
    };
    fill_lengths(&mut recording.moments);
    leave_out_first(&mut recording);
    Ok(recording)
}

/// What sysstat says of the host.
pub(super) fn about(host: &Value) -> RecordedHost {
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
        system: share("system"),
        iowait: share("iowait"),
        steal: share("steal"),
        idle: share("idle"),
    }
}

/// One device, whose name has had three names itself.
pub(super) fn disk(value: &Value) -> Option<DiskMoment> {
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
