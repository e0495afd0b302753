use fathom_model::verdict::FindingStatus::{Caveat, Invalid, NotMeasured, Pass};
use fathom_model::verdict::Limiter;

use crate::test_records::RecordBuilder;

fn drive(before: &[(&str, &str)], after: &[(&str, &str)]) -> RecordBuilder {
    RecordBuilder::reads().drive_facts(before, after)
}

const COOL: [(&str, &str); 6] = [
    ("health_thermal_1_transitions", "4"),
    ("health_thermal_1_seconds", "100"),
    ("health_thermal_2_seconds", "0"),
    ("health_warning_temperature_minutes", "7"),
    ("temperature_celsius", "40"),
    ("temperature_warning_celsius", "70"),
];

#[test]
fn a_cool_drive_passes_whatever_it_went_through_before() {
    assert_eq!(drive(&COOL, &[]).status("V33"), Some(Pass));
}

#[test]
fn throttling_in_the_trial_is_a_caveat_and_for_long_the_limiter() {
    let briefly = drive(&COOL, &[("health_thermal_1_seconds", "102")]);
    assert_eq!(briefly.status("V33"), Some(Caveat));
    assert_eq!(briefly.limiter(), Limiter::Unknown, "2 s of 60 s");
    let long = drive(&COOL, &[("health_thermal_1_seconds", "130")]);
    assert_eq!(long.limiter(), Limiter::Thermal);
    let filled = long.with_end(|end| end.data.prepared_bytes = 1 << 30);
    assert_eq!(
        filled.limiter(),
        Limiter::Unknown,
        "the fill may have heated it"
    );
    let counted = drive(&COOL, &[("health_thermal_1_transitions", "5")]);
    assert_eq!(counted.status("V33"), Some(Caveat));
}

#[test]
fn near_the_warning_temperature_is_a_caveat() {
    let hot = drive(&COOL, &[("temperature_celsius", "65")]);
    assert_eq!(hot.status("V33"), Some(Caveat));
    let warm = drive(&COOL, &[("temperature_celsius", "64")]);
    assert_eq!(warm.status("V33"), Some(Pass));
    let unlimited = drive(&[("temperature_celsius", "90")], &[]);
    assert_eq!(unlimited.status("V33"), Some(Pass), "no limit is known");
}

#[test]
fn drives_that_say_nothing_are_not_measured() {
    let silent = RecordBuilder::reads();
    assert_eq!(silent.status("V33"), Some(NotMeasured));
    let refused = drive(&[("health", "not read: Permission denied")], &[]);
    let finding = refused.finding("V34").unwrap();
    assert_eq!(finding.status, NotMeasured);
    assert!(
        finding.evidence.contains("Permission denied"),
        "{finding:?}"
    );
    let unknown = RecordBuilder::reads().with(|b| b.fingerprint = None);
    assert_eq!(unknown.status("V34"), Some(NotMeasured));
    assert_eq!(RecordBuilder::reads().on("tmpfs", true).status("V34"), None);
}

const SOUND: [(&str, &str); 5] = [
    ("health_critical_warning", "0"),
    ("health_percentage_used", "3"),
    ("health_available_spare_percent", "100"),
    ("health_spare_threshold_percent", "10"),
    ("health_media_errors", "2"),
];

#[test]
fn health_is_graded_by_what_is_wrong() {
    let cases: [(&str, &str, _); 6] = [
        ("health_percentage_used", "99", Pass),
        ("health_percentage_used", "100", Caveat),
        ("health_available_spare_percent", "9", Caveat),
        ("health_critical_warning", "1", Caveat),
        ("health_critical_warning", "4", Invalid),
        ("health_media_errors", "3", Invalid),
    ];
    for (name, value, expected) in cases {
        let status = drive(&SOUND, &[(name, value)]).status("V34");
        assert_eq!(status, Some(expected), "{name} {value}");
    }
    assert_eq!(drive(&SOUND, &[]).status("V34"), Some(Pass));
    let emulated = [
        ("health_critical_warning", "0"),
        ("health_available_spare_percent", "0"),
    ];
    assert_eq!(drive(&emulated, &[]).status("V34"), Some(Pass));
}
