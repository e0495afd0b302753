//! V36, V39: does the host save power or memory at the cost of the result?

use fathom_model::unit;
use fathom_model::verdict::FindingStatus;
use fathom_rules::{Rule, TargetKind, check};

use super::Facts;
use super::state::pass;
use crate::outcome::Outcome;

/// V36: throttled cores, slow governors, deep sleep under light load.
pub(super) fn power(facts: &Facts<'_>) -> Option<Outcome> {
    const RULE: &Rule = check::V36;
    let trial = facts.trial;
    if trial.kind == TargetKind::Sim {
        return None;
    }
    let host = trial.host;
    let throttles = trial
        .end()
        .and_then(|end| end.host.as_ref()?.core_throttles);
    if let Some(count) = throttles.filter(|count| *count > 0) {
        let evidence = format!("CPUs throttled themselves for heat {count} times in the trial");
        let status = FindingStatus::Caveat;
        return Some(Outcome::decided(
            RULE,
            status,
            count as f64,
            RULE.caveat,
            evidence,
        ));
    }
    let fact = |name: &str| host.facts.get(name).map(String::as_str);
    let mut notes: Vec<String> = Vec::new();
    let governor = host.cpu_governor.as_deref();
    let driver = fact("cpu_scaling_driver").unwrap_or_default();
    // The drivers of the CPU's own governor scale under "powersave" as well.
    let own_governor = driver.starts_with("intel_pstate") || driver.starts_with("amd-pstate-epp");
    if governor == Some("powersave") && !own_governor {
        notes.push("the governor powersave keeps the CPUs at their lowest frequency".to_owned());
    }
    if fact("power_source") == Some("battery") {
        notes.push("the host runs on battery".to_owned());
    }
    let latency = fact("cpu_idle_latency_us").and_then(|us| us.parse::<f64>().ok());
    let deep = check::v36::DEEP_IDLE_US;
    if let Some(us) = latency.filter(|us| *us > deep && trial.total_depth() == 1) {
        notes.push(format!(
            "at one operation at a time the CPU may sleep in between; it wakes within {us:.0} µs"
        ));
    }
    if !notes.is_empty() {
        let status = FindingStatus::Info;
        let count = notes.len() as f64;
        return Some(Outcome::decided(
            RULE,
            status,
            count,
            None,
            notes.join("; "),
        ));
    }
    let seen = match (governor, throttles, latency) {
        (Some(governor), ..) => format!("governor {governor}"),
        (None, Some(_), _) => "no core was throttled".to_owned(),
        (None, None, Some(_)) => "the CPUs wake up quickly enough".to_owned(),
        (None, None, None) => {
            let reason = "this host does not show how it saves power";
            return Some(Outcome::not_measured(RULE, reason));
        }
    };
    Some(pass(RULE, seen))
}

/// V39: did the host swap during the load?
pub(super) fn swapping(facts: &Facts<'_>) -> Option<Outcome> {
    const RULE: &Rule = check::V39;
    let trial = facts.trial;
    if trial.kind == TargetKind::Sim {
        return None;
    }
    let Some(load) = trial.end().and_then(|end| end.host.as_ref()) else {
        return Some(Outcome::not_measured(RULE, "the host was not observed"));
    };
    let (Some(came), Some(went)) = (load.swap_in_bytes, load.swap_out_bytes) else {
        return Some(Outcome::not_measured(
            RULE,
            "the host does not count its swapping",
        ));
    };
    let seconds = load.duration_ns as f64 / 1e9;
    let rate = (came as f64 + went as f64) / seconds.max(1.0);
    let evidence = format!(
        "{} came back from swap and {} went there during the load",
        unit::bytes(came),
        unit::bytes(went)
    );
    Some(Outcome::graded(RULE, rate, evidence))
}

#[cfg(test)]
#[path = "power_tests.rs"]
mod tests;
