//! SMART / Health Information of an NVMe controller: log page 2 (NVM Express
//! Base Specification 2.0, 5.16.1.3). Asking needs root; a page that could not
//! be read is said to be so and is never zero.
//!
//! The thermal management counters prove throttling when they grow. That they
//! do not grow proves nothing: drives may slow down without counting.

use std::collections::BTreeMap;
use std::fs::File;
use std::path::{Path, PathBuf};

use fathom_deadline::paths;

use crate::Sysroot;
use crate::block_link::insert;
use crate::device::device_dir;
use crate::kernel_calls::nvme_log_page;
use crate::nvme_logs::{add_cloud_facts, add_self_test_facts};

/// Log page 2: SMART / Health Information.
const HEALTH: u8 = 2;
/// Its length.
const HEALTH_PAGE_BYTES: usize = 512;

/// Temperatures of a drive that has a sensor and, for NVMe on the running host,
/// its health page, by name. `name` is the device's kernel name.
pub fn drive_health(sys: &Sysroot, name: &str) -> BTreeMap<String, String> {
    let mut facts = BTreeMap::new();
    add_health_facts(sys, name, &mut facts);
    facts
}

/// Adds temperatures (of any drive that has a sensor) and, for NVMe on the
/// running host, the health page. `name` is the device's kernel name.
pub(crate) fn add_health_facts(sys: &Sysroot, name: &str, facts: &mut BTreeMap<String, String>) {
    let device = device_dir(name).join("device");
    add_temperatures(sys, &device, facts);
    if !name.starts_with("nvme") || !sys.is_host() {
        return;
    }
    let controller = sys.resolve(&device);
    let controller = controller
        .as_deref()
        .and_then(Path::file_name)
        .and_then(|name| name.to_str());
    // A multipath head lies on a subsystem; its paths have the controllers.
    let is_controller = |name: &&str| {
        let number = name.strip_prefix("nvme");
        number.is_some_and(|number| number.parse::<u32>().is_ok())
    };
    let Some(controller) = controller.filter(is_controller) else {
        return;
    };
    let cloud = sys.text(device.join("model"));
    let cloud = cloud.is_some_and(|model| model.starts_with("Amazon Elastic Block Store"));
    let node = PathBuf::from(format!("/dev/{controller}"));
    let asked = paths::on_device(&node, move |node| {
        let file = File::open(node)?;
        let mut facts = BTreeMap::new();
        add_log_facts(&file, cloud, &mut facts);
        Ok(facts)
    });
    match asked {
        Ok(found) => facts.extend(found),
        Err(error) => {
            facts.insert("health".to_owned(), format!("not read: {error}"));
        }
    }
}

fn add_log_facts(file: &File, cloud: bool, facts: &mut BTreeMap<String, String>) {
    match nvme_log_page(file, HEALTH, u32::MAX) {
        Ok(page) => facts.extend(parse_health_page(&page)),
        Err(error) => {
            facts.insert("health".to_owned(), format!("not read: {error}"));
        }
    }
    add_self_test_facts(file, facts);
    if cloud {
        add_cloud_facts(file, facts);
    }
}

/// Sensors of the drive (hwmon): NVMe since Linux 5.5, SATA with `drivetemp`.
/// The limits of NVMe are its warning and critical composite temperature.
fn add_temperatures(sys: &Sysroot, device: &Path, facts: &mut BTreeMap<String, String>) {
    for folder in [
        device.to_path_buf(),
        device.join("hwmon"),
        device.join("device/hwmon"),
    ] {
        let names = sys.names(&folder);
        let Some(sensor) = names.iter().find(|name| {
            let number = name.strip_prefix("hwmon");
            number.is_some_and(|number| number.parse::<u32>().is_ok())
        }) else {
            continue;
        };
        for (name, file) in [
            ("temperature_celsius", "temp1_input"),
            ("temperature_warning_celsius", "temp1_max"),
            ("temperature_critical_celsius", "temp1_crit"),
        ] {
            let text = sys.text(folder.join(sensor).join(file));
            let millis: Option<i64> = text.and_then(|text| text.parse().ok());
            insert(
                facts,
                name,
                millis.map(|millis| (millis / 1000).to_string()),
            );
        }
        return;
    }
}

/// The facts in a health page, by name.
fn parse_health_page(page: &[u8; HEALTH_PAGE_BYTES]) -> BTreeMap<String, String> {
    let byte = |at: usize| u128::from(page[at]);
    let number = |at: usize, length: usize| {
        let bytes = &page[at..at + length];
        bytes
            .iter()
            .rev()
            .fold(0_u128, |sum, &byte| sum << 8 | u128::from(byte))
    };
    let values = [
        ("critical_warning", byte(0)),
        ("available_spare_percent", byte(3)),
        ("spare_threshold_percent", byte(4)),
        ("percentage_used", byte(5)),
        // Thousands of 512-byte units.
        ("data_units_read", number(32, 16)),
        ("data_units_written", number(48, 16)),
        ("host_read_commands", number(64, 16)),
        ("host_write_commands", number(80, 16)),
        ("controller_busy_minutes", number(96, 16)),
        ("power_on_hours", number(128, 16)),
        ("unsafe_shutdowns", number(144, 16)),
        ("media_errors", number(160, 16)),
        ("error_log_entries", number(176, 16)),
        ("warning_temperature_minutes", number(192, 4)),
        ("critical_temperature_minutes", number(196, 4)),
        ("thermal_1_transitions", number(216, 4)),
        ("thermal_2_transitions", number(220, 4)),
        ("thermal_1_seconds", number(224, 4)),
        ("thermal_2_seconds", number(228, 4)),
    ];
    let named = values
        .into_iter()
        .map(|(name, value)| (format!("health_{name}"), value.to_string()));
    let mut facts: BTreeMap<String, String> = named.collect();
    let kelvin = number(1, 2);
    if let Some(celsius) = kelvin.checked_sub(273).filter(|_| kelvin > 0) {
        facts.insert("temperature_celsius".to_owned(), celsius.to_string());
    }
    facts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_found_at_their_places() {
        let mut page = [0_u8; HEALTH_PAGE_BYTES];
        page[0] = 2;
        page[1..3].copy_from_slice(&323_u16.to_le_bytes());
        page[3..6].copy_from_slice(&[100, 10, 7]);
        page[32..48].copy_from_slice(&(1_u128 << 70).to_le_bytes());
        page[160] = 3;
        page[192..196].copy_from_slice(&60_u32.to_le_bytes());
        page[216..220].copy_from_slice(&5_u32.to_le_bytes());
        page[228..232].copy_from_slice(&9_u32.to_le_bytes());
        let facts = parse_health_page(&page);
        let fact = |name: &str| facts[name].as_str();
        assert_eq!(
            (fact("health_critical_warning"), fact("temperature_celsius")),
            ("2", "50")
        );
        assert_eq!(fact("health_available_spare_percent"), "100");
        assert_eq!(fact("health_percentage_used"), "7");
        assert_eq!(fact("health_data_units_read"), (1_u128 << 70).to_string());
        assert_eq!(
            (
                fact("health_media_errors"),
                fact("health_warning_temperature_minutes")
            ),
            ("3", "60")
        );
        assert_eq!(
            (
                fact("health_thermal_1_transitions"),
                fact("health_thermal_2_seconds")
            ),
            ("5", "9")
        );
        let empty = parse_health_page(&[0; HEALTH_PAGE_BYTES]);
        assert!(
            !empty.contains_key("temperature_celsius"),
            "0 K is not a temperature"
        );
    }
}
