//! V33, V34: heat and health of the drives.

use fathom_model::unit;
use fathom_model::verdict::FindingStatus;
use fathom_rules::check::v33::THROTTLED_SHARE;
use fathom_rules::{Rule, check};

use super::Facts;
use super::device_facts::{Pair, pairs};
use super::state::{out_of_sight, pass};
use crate::outcome::Outcome;
use crate::trial::Trial;

const COUNTERS: [&str; 4] = [
    "health_thermal_1_transitions",
    "health_thermal_2_transitions",
    "health_warning_temperature_minutes",
    "health_critical_temperature_minutes",
];

/// Seconds that a drive spent throttled during the trial.
fn throttled_seconds(device: &Pair<'_>) -> Option<u64> {
    let light = device.growth("health_thermal_1_seconds");
    let heavy = device.growth("health_thermal_2_seconds");
    match (light, heavy) {
        (None, None) => None,
        (light, heavy) => Some(light.unwrap_or(0).saturating_add(heavy.unwrap_or(0))),
    }
}

/// V33: did the drive slow down for heat, or come near to it?
pub(super) fn thermal(facts: &Facts<'_>) -> Option<Outcome> {
    const RULE: &Rule = check::V33;
    let trial = facts.trial;
    if let Some(outcome) = out_of_sight(RULE, trial) {
        return outcome;
    }
    let devices = pairs(trial);
    let throttled = devices.iter().find_map(|device| {
        let seconds = throttled_seconds(device).unwrap_or(0);
        let events = COUNTERS.iter().filter_map(|name| device.growth(name));
        let events = events.fold(0, u64::saturating_add);
        (seconds > 0 || events > 0).then(|| (device.name(), seconds, events))
    });
    if let Some((name, seconds, events)) = throttled {
        let evidence = format!(
            "{name} was throttled for {seconds} s during the trial ({events} transitions and \
             minutes of warning were counted)"
        );
        let measured = seconds.max(events) as f64;
        let status = FindingStatus::Caveat;
        return Some(Outcome::decided(
            RULE,
            status,
            measured,
            RULE.caveat,
            evidence,
        ));
    }
    let margin = check::v33::MARGIN_CELSIUS;
    let near = devices.iter().find_map(|device| {
        let hottest = device.largest("temperature_celsius")?;
        let warning = device.largest("temperature_warning_celsius")?;
        let close = hottest as f64 + margin >= warning as f64;
        (close && warning > 0).then(|| (device.name(), hottest, warning))
    });
    if let Some((name, hottest, warning)) = near {
        let evidence = format!("{name} had {hottest} °C; it warns at {warning} °C");
        let status = FindingStatus::Caveat;
        return Some(Outcome::decided(
            RULE,
            status,
            hottest as f64,
            None,
            evidence,
        ));
    }
    let hottest = devices
        .iter()
        .filter_map(|d| Some((d.largest("temperature_celsius")?, d.name())))
        .max();
    let counted = devices.iter().any(|d| throttled_seconds(d).is_some());
    Some(match (hottest, counted) {
        (Some((celsius, name)), _) => pass(RULE, format!("{name} had {celsius} °C at most")),
        (None, true) => pass(RULE, "the drives counted no throttling".to_owned()),
        (None, false) => Outcome::not_measured(RULE, unread(&devices, "temperature")),
    })
}

/// Why a drive says nothing of itself.
fn unread(devices: &[Pair<'_>], what: &str) -> String {
    let refused = devices
        .iter()
        .find_map(|d| Some((d.name(), d.fact("health")?)));
    match refused {
        Some((name, why)) => format!("the health page of {name} was {why}"),
        None => format!("the drives show no {what} to this host"),
    }
}

/// The evidence that heat set the rate: throttled for a good part of the
/// measure phase, and by nothing that was done before it.
pub(crate) fn heat_limited(trial: &Trial<'_>) -> Option<String> {
    if trial.end()?.data.prepared_bytes > 0 {
        return None;
    }
    pairs(trial).iter().find_map(|device| {
        let seconds = throttled_seconds(device)?;
        let share = seconds as f64 / trial.duration_seconds();
        (trial.duration_ns > 0 && share >= THROTTLED_SHARE).then(|| {
            format!(
                "{} was throttled for heat for {} of {}",
                device.name(),
                unit::span(seconds.saturating_mul(1_000_000_000)),
                unit::span(trial.duration_ns)
            )
        })
    })
}

/// V34: worn out, failing, or with new errors?
pub(super) fn health(facts: &Facts<'_>) -> Option<Outcome> {
    const RULE: &Rule = check::V34;
    let trial = facts.trial;
    if let Some(outcome) = out_of_sight(RULE, trial) {
        return outcome;
    }
    let devices = pairs(trial);
    let known: Vec<&Pair<'_>> = devices
        .iter()
        .filter(|device| device.fact("health_critical_warning").is_some())
        .collect();
    if known.is_empty() {
        return Some(Outcome::not_measured(RULE, unread(&devices, "health page")));
    }
    let faults = known.iter().flat_map(|device| faults_of(device));
    let mut faults: Vec<(FindingStatus, String)> = faults.collect();
    faults.sort_by_key(|(status, _)| std::cmp::Reverse(*status));
    let Some((worst, _)) = faults.first() else {
        let names: Vec<&str> = known.iter().map(|d| d.name()).collect();
        let used = known
            .iter()
            .filter_map(|d| d.latest("health_percentage_used"));
        let used = used.max().unwrap_or(0);
        let evidence = format!(
            "{}: no warning; {used} % of the endurance used",
            names.join(", ")
        );
        return Some(pass(RULE, evidence));
    };
    let texts: Vec<&str> = faults.iter().map(|(_, text)| text.as_str()).collect();
    let count = faults.len() as f64;
    Some(Outcome::decided(
        RULE,
        *worst,
        count,
        RULE.caveat,
        texts.join("; "),
    ))
}

fn faults_of(device: &Pair<'_>) -> Vec<(FindingStatus, String)> {
    let name = device.name();
    let mut faults = Vec::new();
    let warning = device.largest("health_critical_warning").unwrap_or(0);
    // NVM Express Base Specification 2.0, figure 207.
    for (bit, status, what) in [
        (
            0,
            FindingStatus::Caveat,
            "spare blocks are below the threshold",
        ),
        (
            1,
            FindingStatus::Caveat,
            "temperature is beyond a threshold",
        ),
        (
            2,
            FindingStatus::Invalid,
            "reliability is degraded by media errors",
        ),
        (3, FindingStatus::Invalid, "media are read-only"),
        (
            4,
            FindingStatus::Caveat,
            "backup of the volatile memory has failed",
        ),
        (
            5,
            FindingStatus::Caveat,
            "persistent memory region is unreliable",
        ),
    ] {
        if warning >> bit & 1 == 1 {
            faults.push((status, format!("{name}: the {what}")));
        }
    }
    let used = device.latest("health_percentage_used").unwrap_or(0);
    if used >= 100 {
        let text = format!("{name}: {used} % of its endurance is used");
        faults.push((FindingStatus::Caveat, text));
    }
    let spare = device.latest("health_available_spare_percent");
    let threshold = device.latest("health_spare_threshold_percent");
    if let (Some(spare), Some(threshold), true) = (spare, threshold, warning & 1 == 0)
        && spare < threshold
    {
        let text =
            format!("{name}: {spare} % of spare blocks are left, the threshold is {threshold} %");
        faults.push((FindingStatus::Caveat, text));
    }
    if let Some(new) = device.growth("health_media_errors").filter(|new| *new > 0) {
        let text = format!("{name}: {new} new media errors during the trial");
        faults.push((FindingStatus::Invalid, text));
    }
    faults
}

#[cfg(test)]
#[path = "drive_tests.rs"]
mod tests;
