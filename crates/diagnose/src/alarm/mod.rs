//! Alarms over numbers by name, whoever read them.
//!
//! The rules are [`fathom_rules::alarm`]. A rule that asks for a time looks at means
//! over a tenth of it, so that a single quiet second does not hide five bad
//! minutes, and fires when they are beyond the threshold at a stretch for that
//! long. What was seen too shortly to say so is not measurable, and the reason
//! tells how long to watch.

mod commits;
mod crossed;
mod prometheus;
mod recorded;
mod service;

use std::collections::BTreeMap;

use fathom_model::alarm::{ALARMS_SCHEMA, Alarm, AlarmInstance, AlarmReading, AlarmState, Alarms};
use fathom_model::machine::{HostReading, mean_of};
use fathom_rules::Rule;
use fathom_rules::alarm::TABLE;

pub use prometheus::prometheus_rules;
pub use recorded::readings_of;
pub use service::service_readings;

use commits::commit_latencies;
use crossed::{Crossed, crossed};

/// Evaluates every rule.
pub fn evaluate(host: &str, sources: Vec<String>, readings: &[HostReading]) -> Alarms {
    let seconds = readings.iter().map(|r| r.at_seconds).fold(0.0, f64::max);
    let commits = commit_latencies(readings);
    let mut by_quantity: BTreeMap<&str, BTreeMap<&str, Vec<&HostReading>>> = BTreeMap::new();
    let all = readings.iter().chain(&commits);
    for reading in all.filter(|r| r.value.is_finite()) {
        let instances = by_quantity.entry(&reading.quantity).or_default();
        instances
            .entry(&reading.instance)
            .or_default()
            .push(reading);
    }
    let mut alarms: Vec<Alarm> = TABLE
        .rules
        .iter()
        .map(|rule| {
            let quantity = rule.quantity.unwrap_or("");
            alarm(rule, by_quantity.get(quantity))
        })
        .collect();
    alarms.sort_by_key(|alarm| alarm.state);
    let summed = by_quantity.iter().flat_map(|(quantity, instances)| {
        let of = instances.iter();
        of.map(|(instance, readings)| summary(quantity, instance, readings))
    });
    Alarms {
        readings: summed.collect(),
        notes: Vec::new(),
        schema: ALARMS_SCHEMA.to_owned(),
        host: host.to_owned(),
        sources,
        seconds,
        table_version: TABLE.version,
        alarms,
    }
}

fn summary(quantity: &str, instance: &str, readings: &[&HostReading]) -> AlarmReading {
    let values = readings.iter().map(|reading| reading.value);
    let seconds: f64 = readings.iter().map(|reading| reading.seconds).sum();
    AlarmReading {
        quantity: quantity.to_owned(),
        instance: instance.to_owned(),
        mean: mean_of(readings.iter().copied()).unwrap_or(0.0),
        least: values.clone().fold(f64::INFINITY, f64::min),
        most: values.fold(f64::NEG_INFINITY, f64::max),
        seconds,
    }
}

fn alarm(rule: &Rule, instances: Option<&BTreeMap<&str, Vec<&HostReading>>>) -> Alarm {
    let mut judged: Vec<AlarmInstance> = Vec::new();
    let mut short: Option<f64> = None;
    for (name, readings) in instances.into_iter().flatten() {
        let Crossed {
            state,
            value,
            crossed_seconds,
            seen_seconds,
        } = crossed(rule, readings);
        if state == AlarmState::NotMeasurable {
            short = Some(seen_seconds);
        }
        judged.push(AlarmInstance {
            name: (*name).to_owned(),
            state,
            value,
            crossed_seconds,
        });
    }
    judged.sort_by(|a, b| {
        let order = match rule.below {
            true => a.value.total_cmp(&b.value),
            false => b.value.total_cmp(&a.value),
        };
        a.state.cmp(&b.state).then(order)
    });
    let state = match (judged.is_empty(), short) {
        (true, _) => AlarmState::NotMeasurable,
        (_, _) if judged.iter().any(|i| i.state == AlarmState::Firing) => AlarmState::Firing,
        (_, Some(_)) => AlarmState::NotMeasurable,
        _ => AlarmState::Ok,
    };
    if state != AlarmState::Ok {
        judged.retain(|instance| instance.state != AlarmState::Ok);
    }
    // Of those that are left the worst: one that is well explains no alarm.
    let reason = reason(rule, state, &judged, short);
    Alarm {
        rule: rule.id.to_owned(),
        title: rule.title.to_owned(),
        severity: rule.gravity().name().to_owned(),
        state,
        reason,
        unit: rule.unit.to_owned(),
        threshold: rule.limit(),
        below: rule.below,
        for_seconds: rule.for_seconds,
        instances: judged,
        remedy: rule.remedy.to_owned(),
    }
}

/// A value with its unit, as people write it.
pub fn shown(value: f64, unit: &str) -> String {
    use fathom_model::unit;
    match unit {
        "ratio" => format!("{:.1} %", 100.0 * value),
        "s" => unit::latency(value * 1e9),
        "bytes/s" => unit::throughput(value),
        "bytes" => unit::bytes_exact(value.max(0.0) as u64),
        "state" => if value > 0.0 { "yes" } else { "no" }.to_owned(),
        "1/s" => format!("{}/s", figure(value)),
        _ => format!("{} {unit}", figure(value)),
    }
}

fn figure(value: f64) -> String {
    match value.abs() {
        large if large >= 1000.0 => fathom_model::unit::group(value as u64),
        whole if whole.fract() == 0.0 => format!("{value:.0}"),
        _ => format!("{value:.2}"),
    }
}

fn reason(rule: &Rule, state: AlarmState, judged: &[AlarmInstance], short: Option<f64>) -> String {
    let Some(worst) = judged.first() else {
        return format!("what was read does not show it; it takes: {}", rule.method);
    };
    let name = match worst.name.as_str() {
        "" => String::new(),
        name => format!("{name}: "),
    };
    let value = shown(worst.value, rule.unit);
    match (state, short) {
        (AlarmState::NotMeasurable, Some(seen)) => format!(
            "{name}{value}, beyond the threshold for {:.0} s; {seen:.0} s were seen, and the rule \
             asks for {} s",
            worst.crossed_seconds, rule.for_seconds
        ),
        (AlarmState::Firing, _) if rule.for_seconds > 0 => {
            format!("{name}{value} for {:.0} s", worst.crossed_seconds)
        }
        (AlarmState::Ok, _) if worst.crossed_seconds > 0.0 => format!(
            "{name}{value} on average, beyond the threshold for {:.0} s at a stretch; the rule \
             asks for {} s",
            worst.crossed_seconds, rule.for_seconds
        ),
        (AlarmState::Ok, _) => {
            let of = match judged.len() {
                1 => String::new(),
                many => format!(", the worst of {many}"),
            };
            format!("{name}{value}{of}")
        }
        _ => format!("{name}{value}"),
    }
}

#[cfg(test)]
#[path = "alarm_tests.rs"]
mod tests;
