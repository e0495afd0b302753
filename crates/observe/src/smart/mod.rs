//! SMART of SATA and SAS disks, as `smartctl --json` of smartmontools tells it
//! (man 8 smartctl; the attributes: INCITS ACS-4 and the vendors; SCSI: log
//! pages 02h to 06h and 11h of SPC and SBC). NVMe drives are asked directly,
//! but what smartctl wrote of one into a file is read as well.
//!
//! What a drive does not tell is `None`, never zero.

mod ask;
mod attributes;
mod devices;

use serde_json::Value;

use attributes::Attributes;

pub use ask::{NoSmart, SmartAnswer, smart_answers};

/// Longer texts are no output of smartctl.
const TEXT_BYTES_MAX: usize = 16 << 20;

/// What a drive says of its health.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SmartHealth {
    /// Whether the drive itself says that it fails: its own assessment, or an
    /// attribute that is at its threshold now.
    pub failing: Option<bool>,
    /// Whether it has turning parts.
    pub rotating: Option<bool>,
    /// In degrees Celsius.
    pub temperature_celsius: Option<u64>,
    /// Hours that it was powered.
    pub power_on_hours: Option<u64>,
    /// Percent of its rated writes that are used up; may be above 100.
    pub percentage_used: Option<u64>,
    /// Percent of spare blocks that are left (NVMe).
    pub available_spare_percent: Option<u64>,
    /// Sectors that were replaced: attribute 5, or the grown defects of SCSI.
    pub reallocated_sectors: Option<u64>,
    /// Sectors that could not be read and wait to be written (attribute 197).
    pub pending_sectors: Option<u64>,
    /// Sectors that its own scan could not read (attribute 198).
    pub offline_uncorrectable_sectors: Option<u64>,
    /// Errors that it could not correct: attribute 187, the uncorrected errors
    /// of SCSI, the media errors of NVMe.
    pub uncorrected_errors: Option<u64>,
    /// Errors on the way between drive and adapter (attribute 199).
    pub interface_crc_errors: Option<u64>,
}

impl SmartHealth {
    /// Whether nothing is known.
    pub fn is_empty(&self) -> bool {
        let rotating = self.rotating;
        *self
            == SmartHealth {
                rotating,
                ..SmartHealth::default()
            }
    }

    /// The same as numbers by name, for alarms and the table of use.
    pub fn quantities(&self) -> Vec<(&'static str, f64)> {
        // Flash replaces blocks all its life; its wear is told otherwise.
        let reallocated = self
            .reallocated_sectors
            .filter(|_| self.rotating != Some(false));
        let unreadable = self.pending_sectors.max(self.offline_uncorrectable_sectors);
        let percent = |value: Option<u64>| value.map(|percent| percent as f64 / 100.0);
        let count = |value: Option<u64>| value.map(|count| count as f64);
        let all = [
            (
                "drive_warning",
                self.failing.map(|fails| f64::from(u8::from(fails))),
            ),
            ("drive_worn", percent(self.percentage_used)),
            ("drive_spare", percent(self.available_spare_percent)),
            ("drive_media_errors", count(self.uncorrected_errors)),
            ("drive_reallocated", count(reallocated)),
            ("drive_pending", count(unreadable)),
            ("drive_crc_errors", count(self.interface_crc_errors)),
            ("drive_temperature", count(self.temperature_celsius)),
            ("drive_hours", count(self.power_on_hours)),
        ];
        let known = all.into_iter();
        known
            .filter_map(|(name, value)| Some((name, value?)))
            .collect()
    }
}

/// A drive in the output of smartctl.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SmartDrive {
    /// Its name: `sda`, `bus/0 [megaraid_disk_02]`.
    pub name: String,
    /// What it says of itself.
    pub health: SmartHealth,
    /// Why nothing is known: `Device is in STANDBY mode`.
    pub message: Option<String>,
}

/// Reads what `smartctl --json` wrote of one drive; `None` where the text is
/// something else.
pub fn parse_smartctl(text: &str) -> Option<SmartDrive> {
    let text = text.trim_start_matches('\u{feff}').trim_start();
    if !text.starts_with('{') || text.len() > TEXT_BYTES_MAX {
        return None;
    }
    let value: Value = serde_json::from_str(text).ok()?;
    // Some leave out what it says of itself.
    value
        .get("smartctl")
        .or_else(|| value.pointer("/device/protocol"))?;
    let words = |pointer: &str| value.pointer(pointer).and_then(Value::as_str);
    // A scan has a list of devices and no device.
    if value.get("devices").is_some() {
        return None;
    }
    let name = words("/device/info_name").or_else(|| words("/device/name"));
    let message = value
        .pointer("/smartctl/messages/0/string")
        .and_then(Value::as_str);
    Some(SmartDrive {
        name: short_name(name.unwrap_or("drive")),
        health: health(&value),
        message: message.map(str::to_owned),
    })
}

/// `/dev/sda [SAT]` to `sda`; the disks behind an adapter keep their number.
fn short_name(told: &str) -> String {
    let name = told.trim().trim_start_matches("/dev/");
    match name.split_once(' ') {
        Some((device, way)) if !way.contains('_') => device.to_owned(),
        _ => name.to_owned(),
    }
}

fn health(value: &Value) -> SmartHealth {
    let number = |pointer: &str| value.pointer(pointer).and_then(Value::as_u64);
    let attributes = Attributes::of(value);
    let nvme = |name: &str| number(&format!("/nvme_smart_health_information_log/{name}"));
    let passed = value
        .pointer("/smart_status/passed")
        .and_then(Value::as_bool);
    let failing = match (passed, attributes.fails_now()) {
        (Some(false), _) | (_, true) => Some(true),
        (Some(true), false) => Some(false),
        // The warning of NVMe stands for its assessment.
        (None, false) => nvme("critical_warning").map(|warning| warning != 0),
    };
    let uncorrected = attributes
        .uncorrected()
        .or_else(|| scsi_uncorrected(value))
        .or_else(|| nvme("media_errors"));
    SmartHealth {
        failing,
        rotating: number("/rotation_rate").map(|rate| rate > 0),
        // Adapters answer 0 for what they do not know.
        temperature_celsius: number("/temperature/current").filter(|celsius| *celsius > 0),
        power_on_hours: number("/power_on_time/hours"),
        percentage_used: number("/endurance_used/current_percent")
            .or_else(|| nvme("percentage_used"))
            .or_else(|| number("/scsi_percentage_used_endurance_indicator"))
            .or_else(|| statistic(value, "Percentage Used Endurance Indicator"))
            .or_else(|| attributes.percentage_used()),
        available_spare_percent: nvme("available_spare"),
        reallocated_sectors: attributes
            .reallocated()
            .or_else(|| number("/scsi_grown_defect_list")),
        pending_sectors: attributes.pending(),
        offline_uncorrectable_sectors: attributes.offline_uncorrectable(),
        uncorrected_errors: uncorrected,
        interface_crc_errors: attributes.interface_crc(),
    }
}

/// Uncorrected errors of reading, writing and verifying.
fn scsi_uncorrected(value: &Value) -> Option<u64> {
    let counters = value.get("scsi_error_counter_log")?.as_object()?;
    let one = |counter: &Value| counter.get("total_uncorrected_errors")?.as_u64();
    counters
        .values()
        .filter_map(one)
        .reduce(u64::saturating_add)
}

/// A number of ATA's device statistics log.
fn statistic(value: &Value, name: &str) -> Option<u64> {
    let pages = value.pointer("/ata_device_statistics/pages")?.as_array()?;
    let rows = pages
        .iter()
        .filter_map(|page| page.get("table")?.as_array())
        .flatten();
    let valid = |row: &&Value| {
        let flag = row.pointer("/flags/valid").and_then(Value::as_bool);
        row.get("name").and_then(Value::as_str) == Some(name) && flag != Some(false)
    };
    rows.filter(valid)
        .find_map(|row| row.get("value")?.as_u64())
}

#[cfg(test)]
#[path = "smart_tests.rs"]
mod tests;
