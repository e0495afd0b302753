//! V35: is the way to the drive as wide and fast as both ends allow?

use fathom_model::verdict::FindingStatus;
use fathom_rules::{Rule, TargetKind, check};

use super::Facts;
use super::device_facts::{Pair, pairs};
use super::state::pass;
use crate::outcome::Outcome;
use crate::trial::Trial;

const RULE: &Rule = check::V35;

type Fault = (FindingStatus, String);

/// V35: links that were trained down, and errors on them.
pub(super) fn link(facts: &Facts<'_>) -> Option<Outcome> {
    let trial = facts.trial;
    if trial.artificial().is_some() || trial.kind == TargetKind::Memory {
        return None;
    }
    let devices = pairs(trial);
    let mut seen: Vec<String> = Vec::new();
    let mut faults: Vec<Fault> = Vec::new();
    for device in &devices {
        faults.extend(pcie(device, &mut seen));
        faults.extend(sata(device, &mut seen));
    }
    faults.extend(network(trial, &mut seen));
    if seen.is_empty() {
        let reason = "no link of the devices under the target shows its speed";
        return Some(Outcome::not_measured(RULE, reason));
    }
    faults.sort_by_key(|(status, _)| std::cmp::Reverse(*status));
    let Some((worst, _)) = faults.first() else {
        return Some(pass(RULE, seen.join(", ")));
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

/// Number at the start of `16.0 GT/s PCIe`, `6.0 Gbps` or `x4`.
fn number(text: &str) -> Option<f64> {
    let digits = text.trim_start_matches('x');
    let end = digits.find(|c: char| !c.is_ascii_digit() && c != '.');
    digits[..end.unwrap_or(digits.len())].parse().ok()
}

/// A link below what both ends can do was trained down: a caveat. A drive that
/// is faster than its slot is information.
fn pcie(device: &Pair<'_>, seen: &mut Vec<String>) -> Vec<Fault> {
    let mut faults = Vec::new();
    let name = device.name();
    for (what, fact, unit) in [
        ("speed", "pcie_link_speed", "GT/s"),
        ("width", "pcie_link_width", "lanes"),
    ] {
        let value = |name: &str| device.both(name).filter_map(number).reduce(f64::min);
        let Some(now) = value(fact) else { continue };
        seen.push(format!("{name}: link {what} {now} {unit}"));
        let Some(most) = value(&format!("{fact}_max")) else {
            continue;
        };
        let port = match fact {
            "pcie_link_speed" => value("pcie_port_link_speed_max"),
            _ => value("pcie_port_link_width_max"),
        };
        if now >= most {
            continue;
        }
        faults.push(match port {
            Some(port) if now >= port => (
                FindingStatus::Info,
                format!("{name}: the slot gives {now} {unit}, the drive could use {most}"),
            ),
            Some(_) => (
                FindingStatus::Caveat,
                format!("{name}: the link runs at {now} {unit}, both ends could do more ({most})"),
            ),
            None => (
                FindingStatus::Info,
                format!("{name}: the link runs at {now} {unit}, the drive could use {most}"),
            ),
        });
    }
    for (fact, status, what) in [
        ("pcie_errors_corrected", FindingStatus::Info, "corrected"),
        ("pcie_errors_nonfatal", FindingStatus::Caveat, "uncorrected"),
        ("pcie_errors_fatal", FindingStatus::Caveat, "fatal"),
    ] {
        if let Some(new) = device.growth(fact).filter(|new| *new > 0) {
            faults.push((
                status,
                format!("{name}: {new} {what} link errors in the trial"),
            ));
        }
    }
    faults
}

fn sata(device: &Pair<'_>, seen: &mut Vec<String>) -> Option<Fault> {
    let name = device.name();
    let speed = device.fact("sata_link")?;
    number(speed)?;
    seen.push(format!("{name}: SATA link {speed}"));
    let drops = device.largest("sata_link_slowdowns").unwrap_or(0);
    (drops > 0).then(|| {
        let text =
            format!("{name}: the SATA link was slowed down {drops} times, it runs at {speed}");
        (FindingStatus::Caveat, text)
    })
}

fn network(trial: &Trial<'_>, seen: &mut Vec<String>) -> Option<Fault> {
    let facts = &trial.filesystem()?.facts;
    let card = facts.get("nic")?;
    let speed = facts.get("nic_speed_mbit")?;
    seen.push(format!("{card}: {speed} Mbit/s"));
    let half = facts
        .get("nic_duplex")
        .is_some_and(|duplex| duplex == "half");
    half.then(|| {
        let text = format!("{card}: half duplex at {speed} Mbit/s");
        (FindingStatus::Caveat, text)
    })
}

#[cfg(test)]
#[path = "link_tests.rs"]
mod tests;
