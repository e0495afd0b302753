//! Which drives smartctl knows here: `smartctl --scan -j`, which opens none. It
//! finds the disks behind the adapters of RAIDs too.

use serde_json::Value;

use super::short_name;

/// More drives are not asked.
const DRIVES_MAX: usize = 256;

/// How a drive is asked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct SmartDevice {
    pub(super) name: String,
    pub(super) arguments: Vec<String>,
}

/// The drives of a scan that are no NVMe drives.
pub(super) fn parse_scan(text: &str) -> Vec<SmartDevice> {
    let value: Value = serde_json::from_str(text).unwrap_or_default();
    let devices = value.get("devices").and_then(Value::as_array);
    let one = |device: &Value| {
        let words = |key: &str| device.get(key).and_then(Value::as_str);
        let path = words("name").filter(|path| path.starts_with('/'))?;
        let way = words("type").unwrap_or_default();
        if words("protocol") == Some("NVMe") || way.starts_with("nvme") {
            return None;
        }
        let mut arguments = Vec::new();
        // A scan calls SATA disks SCSI; left alone, smartctl finds out. Only
        // the number of a disk behind an adapter has to be said.
        if way.contains(',') {
            arguments.extend(["-d".to_owned(), way.to_owned()]);
        }
        arguments.push(path.to_owned());
        let name = words("info_name").unwrap_or(path);
        Some(SmartDevice {
            name: short_name(name),
            arguments,
        })
    };
    let found = devices.into_iter().flatten().filter_map(one);
    found.take(DRIVES_MAX).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn disks_behind_adapters_are_asked_by_their_number_and_nvme_is_left_out() {
        let scan = r#"{"smartctl": {"version": [7, 4]}, "devices": [
            {"name": "/dev/sda", "info_name": "/dev/sda", "type": "scsi", "protocol": "SCSI"},
            {"name": "/dev/bus/0", "info_name": "/dev/bus/0 [megaraid_disk_02]",
             "type": "megaraid,2", "protocol": "SCSI"},
            {"name": "/dev/nvme0", "info_name": "/dev/nvme0", "type": "nvme", "protocol": "NVMe"},
            {"name": "-x", "type": "scsi"}]}"#;
        let found = parse_scan(scan);
        let shown: Vec<String> = found
            .iter()
            .map(|one| format!("{}: {}", one.name, one.arguments.join(" ")))
            .collect();
        let second = "bus/0 [megaraid_disk_02]: -d megaraid,2 /dev/bus/0";
        assert_eq!(shown, ["sda: /dev/sda", second]);
        assert!(parse_scan("{}").is_empty() && parse_scan("no").is_empty());
    }
}
