//! V42: was the network the limit? Counters of the links, read before and after
//! each load, against their rated speed.

use fathom_model::host_load::LinkLoad;
use fathom_model::run::{RunRecord, TrialRecord};
use fathom_rules::{Rule, check};

use super::alike::is_shared;
use crate::outcome::Outcome;

const LINK_LOAD: &Rule = check::V42;

/// The busiest link of all loads. Only where a network is in the way: several
/// hosts, a file system of a server, or an object store elsewhere.
pub(super) fn finding(record: &RunRecord) -> Option<Outcome> {
    let over_network = |trial: &&TrialRecord| {
        let facts = trial.target_before.as_ref();
        let shared = facts.and_then(|facts| facts.filesystem.as_ref());
        shared.is_some_and(|fs| is_shared(&fs.kind))
            || trial.spec.host.is_some()
            || is_far_store(trial)
    };
    let trials: Vec<&TrialRecord> = record.trials.iter().filter(over_network).collect();
    if trials.is_empty() {
        return None;
    }
    let mut busiest: Option<(f64, String)> = None;
    let mut lost = Vec::new();
    for trial in trials {
        let Some(load) = trial.end.as_ref().and_then(|end| end.host.as_ref()) else {
            continue;
        };
        let host = host_of(record, trial);
        for link in &load.links {
            if link.lost_frames > 0 {
                let said = format!("{host}{} lost {} frames", link.interface, link.lost_frames);
                lost.push(said);
            }
            let Some((share, words)) = share(link, load.duration_ns) else {
                continue;
            };
            if busiest.as_ref().is_none_or(|(most, _)| share > *most) {
                busiest = Some((share, format!("{host}{} {words}", link.interface)));
            }
        }
    }
    let Some((share, mut evidence)) = busiest else {
        let why = "no link of the hosts tells its rated speed";
        return Some(Outcome::not_measured(LINK_LOAD, why));
    };
    lost.dedup();
    for said in lost.iter().take(3) {
        evidence = format!("{evidence}; {said}");
    }
    Some(Outcome::graded(LINK_LOAD, share, evidence))
}

/// Whether the load went to an object store on another host.
fn is_far_store(trial: &TrialRecord) -> bool {
    let spec = &trial.spec;
    let Some(store) = spec.workload.store() else {
        return false;
    };
    let near = |name: &String| {
        let host = name
            .split_once("://")
            .map_or(name.as_str(), |(_, rest)| rest);
        host.starts_with("127.") || host.starts_with("localhost") || host.starts_with("[::1]")
    };
    matches!(spec.target, fathom_model::Target::Bucket(_)) && !store.endpoints.iter().any(near)
}

fn host_of(record: &RunRecord, trial: &TrialRecord) -> String {
    let place = trial
        .spec
        .host
        .and_then(|place| record.meta.hosts.get(place as usize));
    place.map_or_else(String::new, |host| format!("{}: ", host.name))
}

/// The share of its speed that a link used, in the direction that was busier.
fn share(link: &LinkLoad, duration_ns: u64) -> Option<(f64, String)> {
    let speed = link.speed_bits.filter(|bits| *bits > 0)? as f64;
    let seconds = Some(duration_ns as f64 / 1e9).filter(|seconds| *seconds > 0.0)?;
    let (bytes, way) = match link.received_bytes >= link.sent_bytes {
        true => (link.received_bytes, "received"),
        false => (link.sent_bytes, "sent"),
    };
    let rate = bytes as f64 * 8.0 / seconds;
    let words = format!(
        "{way} {:.2} of {:.2} Gbit/s ({:.0} %)",
        rate / 1e9,
        speed / 1e9,
        rate / speed * 100.0
    );
    Some((rate / speed, words))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_busier_direction_counts_against_the_rated_speed() {
        let link = |speed_bits, received_bytes, sent_bytes| LinkLoad {
            interface: "eth0".to_owned(),
            speed_bits,
            received_bytes,
            sent_bytes,
            lost_frames: 0,
        };
        let (used, words) = share(
            &link(Some(1_000_000_000), 10, 1_187_500_000),
            10_000_000_000,
        )
        .unwrap();
        assert!((used - 0.95).abs() < 1e-9, "{used}");
        assert_eq!(words, "sent 0.95 of 1.00 Gbit/s (95 %)");
        assert_eq!(share(&link(None, 1, 1), 1), None);
        assert_eq!(share(&link(Some(1), 1, 1), 0), None);
    }
}
