//! What drives say of their health, and whether links run below what they can,
//! at a slow pace: asking costs the drive a command.

use fathom_observe::drive_health;
use fathom_observe::machine::links_below_rated;

use super::Reading;
use crate::frame::Row;
use crate::kind::{ABSENT, Kind};

const MOST_DRIVES: usize = 128;

/// Facts in the order of the kind's fields.
const FACTS: [&str; 11] = [
    "temperature_celsius",
    "health_critical_warning",
    "health_available_spare_percent",
    "health_percentage_used",
    "health_media_errors",
    "health_thermal_1_seconds",
    "health_thermal_2_seconds",
    "cloud_volume_iops_exceeded_us",
    "cloud_volume_throughput_exceeded_us",
    "cloud_instance_iops_exceeded_us",
    "cloud_instance_throughput_exceeded_us",
];

#[derive(Debug)]
pub(super) struct Drives;

impl Drives {
    pub(super) fn read(&self, reading: &mut Reading<'_>) {
        if !reading.very_slow() {
            return;
        }
        let names = reading.sys.names("/sys/block");
        let drives = names
            .iter()
            .filter(|name| name.starts_with("nvme") || name.starts_with("sd"));
        for name in drives.take(MOST_DRIVES) {
            let facts = drive_health(reading.sys, name);
            let value = |fact: &str| facts.get(fact).and_then(|text| text.parse().ok());
            let values: Vec<u64> = FACTS.iter().map(|f| value(f).unwrap_or(ABSENT)).collect();
            if values.iter().any(|value| *value != ABSENT) {
                reading.rows.push(Row {
                    kind: Kind::Health,
                    name: name.as_str().into(),
                    values,
                });
            }
        }
        for (name, below) in links_below_rated(reading.sys) {
            reading.rows.push(Row {
                kind: Kind::Bus,
                name: name.into(),
                values: vec![u64::from(below)],
            });
        }
    }
}
