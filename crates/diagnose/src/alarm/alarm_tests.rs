use super::*;

fn readings(quantity: &str, instance: &str, values: &[(f64, f64)]) -> Vec<HostReading> {
    let mut at_seconds = 0.0;
    let one = |(seconds, value): &(f64, f64)| {
        at_seconds += seconds;
        HostReading {
            quantity: quantity.to_owned(),
            instance: instance.to_owned(),
            value: *value,
            at_seconds,
            seconds: *seconds,
            operations: 0.0,
        }
    };
    values.iter().map(one).collect()
}

fn state(readings: &[HostReading], rule: &str) -> Alarm {
    let all = evaluate("host", Vec::new(), readings);
    all.alarms
        .into_iter()
        .find(|alarm| alarm.rule == rule)
        .unwrap()
}

#[test]
fn every_rule_has_a_quantity_and_a_threshold() {
    for rule in TABLE.rules {
        assert!(rule.quantity.is_some(), "{}", rule.id);
        assert!(rule.threshold.is_some(), "{}", rule.id);
        assert!(!rule.read_from.is_empty(), "{}", rule.id);
    }
}

#[test]
fn what_lasts_at_its_threshold_is_not_beyond_it() {
    let lasting = TABLE.rules.iter().filter(|rule| rule.for_seconds > 0);
    for rule in lasting {
        let quantity = rule.quantity.unwrap();
        // Lengths and values whose sums are rounded.
        let steady = |value: f64| {
            let count = rule.for_seconds as usize * 4;
            let values: Vec<(f64, f64)> = (0..count)
                .map(|n| (0.7 + 0.1 * (n % 7) as f64, value))
                .collect();
            state(&readings(quantity, "one", &values), rule.id).state
        };
        let sign = if rule.below { -1.0 } else { 1.0 };
        let limit = rule.limit();
        assert_eq!(steady(limit), AlarmState::Ok, "{}", rule.id);
        let beyond = limit + sign * limit.abs().max(1.0) * 1e-6;
        assert_eq!(steady(beyond), AlarmState::Firing, "{}", rule.id);
    }
}

#[test]
fn an_alarm_that_ended_says_for_how_long_it_was_crossed() {
    let rule = TABLE.rules.iter().find(|rule| rule.id == "operation-time");
    let rule = rule.unwrap();
    let short = rule.for_seconds as usize / 2;
    let mut values = vec![(1.0, 100.0 * rule.limit()); short];
    values.extend(vec![(1.0, 0.0); rule.for_seconds as usize]);
    let alarm = state(&readings("disk_wait", "sda", &values), rule.id);
    assert_eq!(alarm.state, AlarmState::Ok);
    let said = format!("beyond the threshold for {short} s at a stretch; the rule asks for");
    assert!(alarm.reason.contains(&said), "{}", alarm.reason);
}

#[test]
fn a_state_fires_at_once_and_names_its_instance() {
    let mut full = readings("space_used", "/", &[(0.0, 0.5)]);
    full.extend(readings("space_used", "/data", &[(0.0, 0.93)]));
    let alarm = state(&full, "disk-space");
    assert_eq!(alarm.state, AlarmState::Firing);
    assert_eq!(alarm.instances.len(), 1);
    assert_eq!(alarm.reason, "/data: 93.0 %");
    assert_eq!(state(&full[..1], "disk-space").state, AlarmState::Ok);
    assert_eq!(state(&[], "disk-space").state, AlarmState::NotMeasurable);
}

#[test]
fn an_alarm_is_explained_by_an_instance_that_causes_it() {
    let mut both = readings("disk_wait", "loop0", &[(1.0, 0.107); 13]);
    both.extend(readings("disk_wait", "vda", &[(1.0, 0.0008); 13]));
    let alarm = state(&both, "operation-time");
    assert_eq!(alarm.state, AlarmState::NotMeasurable);
    assert!(alarm.reason.starts_with("loop0: 107"), "{}", alarm.reason);
}

#[test]
fn a_time_must_be_seen_to_fire() {
    // Five minutes of 90 % with a second of rest each minute.
    let minutes: Vec<(f64, f64)> = (0..310)
        .map(|second| (1.0, if second % 60 == 59 { 0.1 } else { 0.9 }))
        .collect();
    let alarm = state(&readings("metadata_cpu", "mds", &minutes), "metadata-cpu");
    assert_eq!(alarm.state, AlarmState::Firing, "{}", alarm.reason);
    let alarm = state(
        &readings("metadata_cpu", "mds", &minutes[..30]),
        "metadata-cpu",
    );
    assert_eq!(alarm.state, AlarmState::NotMeasurable);
    assert!(alarm.reason.contains("asks for 300 s"), "{}", alarm.reason);
    // What ended did not last.
    let mut ended = minutes[..60].to_vec();
    ended.extend(vec![(1.0, 0.1); 240]);
    let alarm = state(&readings("metadata_cpu", "mds", &ended), "metadata-cpu");
    assert_eq!(alarm.state, AlarmState::Ok);
}

#[test]
fn low_values_can_be_the_bad_ones() {
    let worn = readings("drive_spare", "nvme0n1", &[(0.0, 0.05)]);
    assert_eq!(state(&worn, "drive-spare").state, AlarmState::Firing);
    let fresh = readings("drive_spare", "nvme0n1", &[(0.0, 1.0)]);
    assert_eq!(state(&fresh, "drive-spare").state, AlarmState::Ok);
}

#[test]
fn a_description_of_a_service_tells_of_its_journal() {
    let text = "\
| device         | sdc                             |
| service_params | journal_data_size: 27053260     |
|                | journal_type: inner_cache       |
";
    let found = service_readings(text);
    assert_eq!(state(&found, "journal-small").state, AlarmState::Firing);
    assert_eq!(state(&found, "journal-small").instances[0].name, "sdc");
    assert_eq!(state(&found, "journal-on-data").state, AlarmState::Firing);
    assert!(service_readings("no table").is_empty());
}

#[derive(serde::Deserialize)]
struct RulesFile {
    groups: Vec<Group>,
}

#[derive(serde::Deserialize)]
struct Group {
    name: String,
    rules: Vec<BTreeMap<String, serde_json::Value>>,
}

#[test]
fn the_rules_file_is_yaml_with_every_rule_that_has_an_expression() {
    let file: RulesFile = serde_saphyr::from_str(&prometheus_rules()).unwrap();
    let expected = TABLE
        .rules
        .iter()
        .filter(|r| r.prometheus.is_some())
        .count();
    let rules: usize = file.groups.iter().map(|group| group.rules.len()).sum();
    assert_eq!(rules, expected);
    for group in &file.groups {
        assert!(group.name.starts_with("fathom-"));
        for rule in &group.rules {
            let expression = rule["expr"].as_str().unwrap();
            assert!(!expression.contains('{') || !expression.contains("{threshold}"));
            assert!(rule["alert"].as_str().unwrap().starts_with("Fathom"));
            assert!(rule.contains_key("labels") && rule.contains_key("annotations"));
        }
    }
}

proptest::proptest! {
    #[test]
    fn any_readings_are_survived(
        values in proptest::collection::vec((-1.0..1e9_f64, proptest::num::f64::ANY), 0..40),
        text in "\\PC*(journal_data_size: [0-9]{0,30}\n|\\|)*",
    ) {
        let all = evaluate("x", Vec::new(), &readings("metadata_cpu", "a", &values));
        proptest::prop_assert_eq!(all.alarms.len(), TABLE.rules.len());
        let _ = service_readings(&text).len();
    }
}

#[test]
fn a_time_without_readings_ends_a_stretch() {
    let mut twice = readings("metadata_cpu", "mds", &[(1.0, 0.9); 200]);
    let mut later = readings("metadata_cpu", "mds", &[(1.0, 0.9); 200]);
    let whole: Vec<HostReading> = later
        .iter()
        .map(|reading| HostReading {
            at_seconds: reading.at_seconds + 200.0,
            ..reading.clone()
        })
        .collect();
    let all: Vec<HostReading> = twice.iter().cloned().chain(whole).collect();
    assert_eq!(state(&all, "metadata-cpu").state, AlarmState::Firing);
    for reading in &mut later {
        reading.at_seconds += 5000.0;
    }
    twice.extend(later);
    let alarm = state(&twice, "metadata-cpu");
    assert_eq!(alarm.state, AlarmState::NotMeasurable, "{}", alarm.reason);
}

#[test]
fn slow_flushes_for_five_minutes_are_slow_commits() {
    // One flush in ten takes 3 s, the others 10 ms: the mean hides it.
    let flushes = |seconds: usize| -> Vec<HostReading> {
        let values: Vec<(f64, f64)> = (0..seconds)
            .map(|second| (1.0, if second % 10 == 0 { 3.0 } else { 0.01 }))
            .collect();
        readings("disk_flush_wait", "sda", &values)
    };
    let alarm = state(&flushes(400), "commit-latency");
    assert_eq!(alarm.state, AlarmState::Firing, "{}", alarm.reason);
    assert!(alarm.reason.starts_with("sda: 3.00 s"), "{}", alarm.reason);
    let alarm = state(&flushes(60), "commit-latency");
    assert_eq!(alarm.state, AlarmState::NotMeasurable);
    let quick = readings("disk_flush_wait", "sda", &[(1.0, 0.01); 60]);
    assert_eq!(state(&quick, "commit-latency").state, AlarmState::Ok);
}

#[test]
fn what_was_read_is_summed_up_by_quantity_and_instance() {
    let mut all = readings("disk_queue", "sda", &[(1.0, 1.0), (3.0, 5.0)]);
    all.extend(readings("space_used", "/", &[(0.0, 0.5), (0.0, 0.7)]));
    let found = evaluate("host", Vec::new(), &all).readings;
    let queue = found
        .iter()
        .find(|one| one.quantity == "disk_queue")
        .unwrap();
    assert_eq!(
        (queue.mean, queue.least, queue.most, queue.seconds),
        (4.0, 1.0, 5.0, 4.0)
    );
    let space = found
        .iter()
        .find(|one| one.quantity == "space_used")
        .unwrap();
    assert_eq!((space.mean, space.seconds), (0.7, 0.0));
}
