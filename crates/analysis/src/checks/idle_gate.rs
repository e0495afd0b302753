//! V79: were the devices quiet when the trial began?

use fathom_model::idle_gate::IdleGate;
use fathom_model::unit;
use fathom_rules::{Rule, check};

use super::Facts;
use crate::outcome::Outcome;

/// V79: the wait for quiet devices, and whether it was given up.
pub(super) fn busy_before(facts: &Facts<'_>) -> Option<Outcome> {
    const RULE: &Rule = check::V79;
    let gate = facts.trial.end()?.gate.as_deref()?;
    if gate.watched.is_empty() {
        return None;
    }
    let waited = unit::span(gate.waited_ns);
    let evidence = match (gate.gave_up, gate.busy.is_empty()) {
        (true, _) => format!("waited {waited} and gave up: {}", devices(gate)),
        (false, true) => format!("{} quiet, waited {waited}", gate.watched.join(", ")),
        (false, false) => format!(
            "waited {waited} until {} quiet: {} before",
            match gate.watched.len() {
                1 => "the device was",
                _ => "the devices were",
            },
            devices(gate)
        ),
    };
    let measured = match gate.gave_up {
        true => gate.longest_queue(),
        false => 0.0,
    };
    Some(Outcome::graded(RULE, measured, evidence))
}

/// The busy devices with their queues.
fn devices(gate: &IdleGate) -> String {
    let of_device = |device: &fathom_model::idle_gate::BusyDevice| {
        format!(
            "{} had {:.1} requests in flight on average",
            device.name, device.queue
        )
    };
    let all: Vec<String> = gate.busy.iter().map(of_device).collect();
    all.join(", ")
}

#[cfg(test)]
mod tests {
    use fathom_model::idle_gate::BusyDevice;
    use fathom_model::verdict::FindingStatus;

    use super::*;
    use crate::test_records::{RecordBuilder, run_of};

    fn finding(gate: Option<IdleGate>) -> Option<(FindingStatus, String)> {
        let builder = RecordBuilder::reads().with_end(|end| end.gate = gate.map(Box::new));
        let run = crate::judge(&run_of(vec![builder.trial()], builder.host.clone()));
        let findings = &run.trials[0].verdict.findings;
        let found = findings.iter().find(|finding| finding.id == "V79")?;
        Some((found.status, found.evidence.clone()))
    }

    fn gate(queue: f64, gave_up: bool) -> IdleGate {
        IdleGate {
            waited_ns: 3_000_000_000,
            ceiling_ns: 3_000_000_000,
            watched: vec!["sda".to_owned()],
            busy: vec![BusyDevice {
                name: "sda".to_owned(),
                queue,
            }],
            gave_up,
        }
    }

    #[test]
    fn only_a_wait_that_was_given_up_weakens_the_verdict() {
        assert_eq!(finding(None), None, "records of older versions");
        let (status, text) = finding(Some(gate(0.5, true))).unwrap();
        assert_eq!(status, FindingStatus::Caveat);
        assert!(
            text.contains("waited 3 s and gave up: sda had 0.5 requests"),
            "{text}"
        );
        let (status, _) = finding(Some(gate(0.02, true))).unwrap();
        assert_eq!(status, FindingStatus::Info);
        let (status, text) = finding(Some(gate(0.5, false))).unwrap();
        assert_eq!(status, FindingStatus::Pass);
        assert!(text.contains("until the device was quiet"), "{text}");
        let quiet = IdleGate {
            busy: Vec::new(),
            ..gate(0.0, false)
        };
        let (_, text) = finding(Some(quiet)).unwrap();
        assert!(text.contains("sda quiet"), "{text}");
    }
}
