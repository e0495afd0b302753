//! Readings that are drawn for every alarm: whether it is raised, and with which words.

use std::fmt::Write as _;

use fathom_diagnose::alarm::{evaluate, prometheus_rules, readings_of, service_readings, shown};
use fathom_model::alarm::{Alarm, Alarms};
use fathom_model::machine::HostReading;
use fathom_rules::Rule;
use fathom_rules::alarm::TABLE;

use crate::draw::Draw;
use crate::hosts;
use crate::kept::{is_as_kept, of_document, of_text};

/// Series of each alarm that are kept in words, and those of which a digest is.
const READ: u64 = 4;
const DIGESTS: u64 = 24;

/// What the alarm looks at: that of commits is made from flushes.
fn quantity(rule: &Rule, draw: &mut Draw) -> &'static str {
    match rule.quantity {
        Some("commit_latency") if draw.one_in(2) => "disk_flush_wait",
        quantity => quantity.unwrap_or(""),
    }
}

/// Readings of one instance, some of them beyond the threshold.
fn series(rule: &Rule, draw: &mut Draw, instance: &str) -> Vec<HostReading> {
    let quantity = quantity(rule, draw);
    let asked = rule.for_seconds as f64;
    // As long as the rule asks for, a part of that more or less, or much less.
    let parts = draw.pick(&[10.0, 10.0, 11.0, 9.0, 30.0, 3.0, 0.0]);
    let step = match rule.for_seconds {
        0 => draw.pick(&[0.0, 1.0]),
        _ => asked / 10.0 / draw.pick(&[1.0, 1.0, 2.0, 3.0, 0.4]),
    };
    let count = match rule.for_seconds {
        0 => 1 + draw.below(4),
        _ => (parts * asked / 10.0 / step).round() as u64,
    };
    let usual = draw.around(rule.limit());
    let other = draw.around(rule.limit());
    let (from, to) = (draw.below(count + 1), draw.below(2 * count + 2));
    let pause = draw.pick(&[0.0, 0.0, asked / 10.0, asked / 10.0 + 0.5, asked, -asked]);
    let pause_at = draw.below(count + 1);
    let mut at_seconds = draw.pick(&[0.0, 0.0, 100.0]);
    let mut readings = Vec::new();
    for place in 0..count {
        at_seconds += step + if place == pause_at { pause } else { 0.0 };
        readings.push(HostReading {
            quantity: quantity.to_owned(),
            instance: instance.to_owned(),
            value: match (from..to).contains(&place) {
                true => other,
                false => usual,
            },
            at_seconds,
            seconds: step,
            operations: 0.0,
        });
    }
    if draw.one_in(8)
        && let Some(last) = readings.last_mut()
    {
        last.value = draw.pick(&[f64::NAN, f64::INFINITY]);
    }
    readings
}

fn of_rule(rule: &Rule, case: u64) -> Vec<HostReading> {
    let mut draw = Draw::of(0xA1A2, case);
    let instances = ["sda", "sdb", ""];
    let count = 1 + draw.below(3) as usize;
    let mut all = Vec::new();
    for instance in &instances[..count] {
        all.extend(series(rule, &mut draw, instance));
    }
    all
}

fn alarm<'a>(alarms: &'a Alarms, rule: &Rule) -> &'a Alarm {
    let mut all = alarms.alarms.iter();
    all.find(|alarm| alarm.rule == rule.id)
        .expect("every rule is evaluated")
}

#[test]
fn what_is_said_of_drawn_readings_is_as_kept() {
    let mut said = String::new();
    for (rule, number) in TABLE.rules.iter().zip(0..) {
        let mut digests = String::new();
        let mut states = Vec::new();
        for case in 0..READ + DIGESTS {
            let readings = of_rule(rule, number * 100 + case);
            let alarms = evaluate("host", vec!["a test".to_owned()], &readings);
            let alarm = alarm(&alarms, rule);
            states.push(alarm.state);
            if case < READ {
                let (state, reason) = (alarm.state, &alarm.reason);
                let _ = writeln!(said, "{} {state:?}: {reason}", rule.id);
            }
            digests.push_str(&of_document(&alarm));
            digests.push_str(&of_document(&alarms.readings));
        }
        states.sort();
        states.dedup();
        let _ = writeln!(said, "  {states:?} {}", of_text(&digests));
    }
    is_as_kept("alarms.txt", &said);
}

/// Quiet, then bad for longer than any alarm asks for, and quiet again.
#[test]
fn every_alarm_is_raised_and_ends_again() {
    for rule in TABLE.rules {
        let far = if rule.limit() == 0.0 {
            1.0
        } else {
            0.5 * rule.limit()
        };
        let bad = rule.limit() + if rule.below { -far } else { far };
        let good = rule.limit() + if rule.below { far } else { -far };
        let part = rule.for_seconds as f64 / 10.0;
        let readings = |values: &[(f64, usize)]| -> Vec<HostReading> {
            let values = values
                .iter()
                .flat_map(|(value, count)| vec![*value; *count]);
            let readings = values.zip(1..).map(|(value, place)| HostReading {
                quantity: rule.quantity.unwrap_or("").to_owned(),
                instance: "one".to_owned(),
                value,
                at_seconds: f64::from(place) * part,
                seconds: part,
                operations: 0.0,
            });
            readings.collect()
        };
        let state = |values: &[(f64, usize)]| {
            let alarms = evaluate("host", Vec::new(), &readings(values));
            format!("{:?}", alarm(&alarms, rule).state)
        };
        assert_eq!(state(&[(good, 12)]), "Ok", "{}", rule.id);
        assert_eq!(state(&[(good, 12), (bad, 10)]), "Firing", "{}", rule.id);
        if rule.for_seconds == 0 {
            assert_eq!(state(&[(rule.limit(), 1)]), "Ok", "{}", rule.id);
            let ended = state(&[(bad, 1), (good, 1)]);
            assert_eq!(ended, "Ok", "{}", rule.id);
        } else {
            assert_eq!(
                state(&[(good, 12), (bad, 9)]),
                "NotMeasurable",
                "{}",
                rule.id
            );
            let ended = state(&[(good, 12), (bad, 9), (good, 1)]);
            assert_eq!(ended, "Ok", "{}", rule.id);
        }
    }
}

#[test]
fn what_is_read_from_drawn_recordings_is_as_kept() {
    let mut said = String::new();
    for case in 0..120 {
        let recording = hosts::recording(&mut Draw::of(0x4EAD, case));
        let readings = readings_of(&recording);
        let alarms = evaluate("host", Vec::new(), &readings);
        let (of, alarms) = (of_document(&readings), of_document(&alarms));
        let _ = writeln!(
            said,
            "recording {case}: {} readings {of} {alarms}",
            readings.len()
        );
    }
    is_as_kept("readings.txt", &said);
}

#[test]
fn values_rules_and_services_are_as_kept() {
    let mut said = format!("rules for Prometheus {}\n", of_text(&prometheus_rules()));
    let units = [
        "ratio", "s", "bytes/s", "bytes", "state", "1/s", "tasks", "",
    ];
    let values = [
        -1.0, 0.0, 0.004, 1.0, 2.5, 999.0, 999.99, 1000.0, 1234.5, 1e9,
    ];
    for unit in units {
        let values = values.map(|value| shown(value, unit));
        let _ = writeln!(said, "{unit}: {}", values.join("; "));
    }
    let texts = [
        "| device | sdc |\njournal_data_size: 1 | journal_type: inner_cache\nid | sdd\njournal_type: x",
        "journal_data_size: many\njournal_type: inner_cache\n| id",
        "other: 1\ndevice | a | id | b\n | journal_data_size : 256000000 |",
    ];
    for text in texts {
        for reading in service_readings(text) {
            let HostReading {
                quantity,
                instance,
                value,
                ..
            } = reading;
            let _ = writeln!(said, "{quantity} of '{instance}': {value}");
        }
    }
    is_as_kept("shown.txt", &said);
}
