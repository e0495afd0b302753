use std::path::Path;

use super::*;

fn fixture(name: &str) -> SmartDrive {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/smartctl");
    let text = std::fs::read_to_string(folder.join(format!("{name}.json"))).unwrap();
    parse_smartctl(&text).unwrap_or_else(|| panic!("{name} is not an output of smartctl"))
}

#[test]
fn a_worn_disk_tells_its_sectors_and_raw_values_are_unpacked() {
    let drive = fixture("ata-hdd-worn");
    assert_eq!(drive.name, "sda");
    let expected = SmartHealth {
        failing: Some(false),
        rotating: Some(true),
        temperature_celsius: Some(36),
        power_on_hours: Some(36_059),
        reallocated_sectors: Some(1288),
        pending_sectors: Some(16),
        offline_uncorrectable_sectors: Some(24),
        uncorrected_errors: Some(3),
        interface_crc_errors: Some(7),
        ..SmartHealth::default()
    };
    assert_eq!(drive.health, expected);
    let numbers = drive.health.quantities();
    for expected in [("drive_pending", 24.0), ("drive_reallocated", 1288.0)] {
        assert!(numbers.contains(&expected), "{expected:?}: {numbers:?}");
    }
}

#[test]
fn wear_of_flash_is_found_wherever_the_drive_tells_it() {
    for (name, used) in [
        ("ata-ssd-worn", 88),
        // The drive's statistics go before an attribute of its vendor.
        ("ata-ssd-statistics", 27),
        ("sas-ssd-failing", 91),
        ("nvme", 7),
    ] {
        assert_eq!(fixture(name).health.percentage_used, Some(used), "{name}");
    }
    // Flash replaces blocks all its life, which is no sign.
    let worn = fixture("ata-ssd-worn").health;
    assert_eq!(worn.reallocated_sectors, Some(4));
    let names: Vec<&str> = worn.quantities().iter().map(|(name, _)| *name).collect();
    assert!(!names.contains(&"drive_reallocated"), "{names:?}");
    let left = parse_smartctl(
        r#"{"smartctl": {}, "ata_smart_attributes": {"table": [
            {"id": 231, "name": "SSD_Life_Left", "value": 100, "raw": {"value": 74, "string": "74"}}]}}"#,
    );
    assert_eq!(left.unwrap().health.percentage_used, Some(26));
}

#[test]
fn sas_disks_tell_defects_uncorrected_errors_and_that_they_fail() {
    let worn = fixture("sas-hdd-worn").health;
    assert_eq!(worn.reallocated_sectors, Some(56));
    assert_eq!(worn.uncorrected_errors, Some(3));
    assert_eq!(
        (worn.failing, worn.power_on_hours),
        (Some(false), Some(22_364))
    );
    assert_eq!(fixture("sas-ssd-failing").health.failing, Some(true));
}

#[test]
fn what_is_not_told_is_not_known_and_the_reason_is_kept() {
    let asleep = fixture("asleep");
    assert!(asleep.health.is_empty());
    let message = asleep.message.unwrap();
    assert!(message.contains("STANDBY"), "{message}");
    let message = fixture("not-permitted").message.unwrap();
    assert!(message.contains("Permission denied"), "{message}");
    let silent = fixture("behind-adapter-silent");
    assert_eq!(silent.name, "bus/0 [megaraid_disk_02]");
    assert!(silent.health.is_empty(), "0 degrees is not a temperature");
    for text in [
        "",
        "{}",
        "{\"smartctl\": {}, \"devices\": []}",
        "[1]",
        "sda",
    ] {
        assert_eq!(parse_smartctl(text), None, "{text}");
    }
}

#[test]
fn an_attribute_at_its_threshold_is_a_drive_that_fails() {
    let text = |when: &str| {
        format!(
            r#"{{"smartctl": {{}}, "smart_status": {{"passed": true}}, "ata_smart_attributes": {{"table": [
            {{"id": 5, "name": "Reallocated_Sector_Ct", "value": 5, "thresh": 10,
              "when_failed": "{when}", "raw": {{"value": 9000, "string": "9000"}}}}]}}}}"#
        )
    };
    let failing = |when: &str| parse_smartctl(&text(when)).unwrap().health.failing;
    assert_eq!(failing("now"), Some(true));
    assert_eq!(failing("past"), Some(false));
}
