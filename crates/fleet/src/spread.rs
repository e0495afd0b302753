//! A schedule for one host, made one for many.

use std::collections::{HashMap, VecDeque};

use fathom_model::fleet::FleetHost;
use fathom_model::rng::derive_seed;
use fathom_model::schedule::{MAX_TOGETHER, take_set};
use fathom_model::{Schedule, ScheduledTrial};

/// The same trials on every host at the same time: each trial, or each set,
/// becomes a set with a part for every host. Every part is a row of its own,
/// named after its host, with its own seed, so that hosts do not ask a common
/// target for the same blocks in the same order. Hosts that are missing keep
/// their place and get no trials.
///
/// # Errors
/// When a set becomes larger than [`MAX_TOGETHER`].
pub fn on_hosts(schedule: &Schedule, hosts: &[FleetHost]) -> Result<Schedule, String> {
    let mut left: VecDeque<ScheduledTrial> = schedule.trials.iter().cloned().collect();
    let mut trials = Vec::with_capacity(schedule.trials.len().saturating_mul(hosts.len()));
    for number in 0.. {
        let set = take_set(&mut left);
        if set.is_empty() {
            break;
        }
        let size = set.len().saturating_mul(hosts.len());
        if size > MAX_TOGETHER {
            return Err(format!(
                "{} trials on {} hosts would run at the same time; the limit is {MAX_TOGETHER}",
                set.len(),
                hosts.len()
            ));
        }
        for (place, host) in (0..).zip(hosts).filter(|(_, host)| host.lost.is_none()) {
            part(&set, (place, &host.name), hosts.len(), number, &mut trials);
        }
    }
    Ok(Schedule {
        trials,
        // What is asked of a fleet is what it does together.
        depth_probe: false,
        ..schedule.clone()
    })
}

/// The part of one host.
fn part(
    set: &[ScheduledTrial],
    (place, name): (u32, &str),
    hosts: usize,
    number: u32,
    trials: &mut Vec<ScheduledTrial>,
) {
    let begin = trials.len();
    let moved = set.iter().zip(begin..);
    let indexes: HashMap<u32, u32> = moved.map(|(spec, at)| (spec.index, at as u32)).collect();
    trials.extend(set.iter().map(|spec| ScheduledTrial {
        index: indexes[&spec.index],
        row: spec.row.saturating_mul(hosts as u32).saturating_add(place),
        label: format!("{} on {name}", spec.label),
        seed: match place {
            0 => spec.seed,
            _ => derive_seed(spec.seed, u64::from(place)),
        },
        together: Some(number),
        follows: spec.follows.and_then(|of| indexes.get(&of).copied()),
        host: Some(place),
        ..spec.clone()
    }));
}

#[cfg(test)]
mod tests {
    use fathom_model::Workload;
    use fathom_model::schedule::{Pause, Purpose, TrialRole};

    use super::*;

    fn trial(index: u32, together: Option<u32>, follows: Option<u32>) -> ScheduledTrial {
        ScheduledTrial {
            index,
            iteration: 0,
            row: index,
            label: format!("t{index}"),
            target: fathom_model::Target::Null,
            workload: Workload::example("trial"),
            seed: 7,
            role: TrialRole::Measure,
            together,
            start_delay_ns: 0,
            follows,
            ends_others: false,
            file_set: 0,
            host: None,
            spares_others: false,
            pause: Pause {
                floor_ns: 0,
                ceiling_ns: 0,
                until_quiet: false,
            },
        }
    }

    fn schedule(trials: Vec<ScheduledTrial>) -> Schedule {
        Schedule {
            name: "test".to_owned(),
            seed: 7,
            destructive: false,
            keep_files: false,
            purpose: Purpose::Measure,
            trials,
            depth_probe: true,
        }
    }

    fn host(name: &str) -> FleetHost {
        FleetHost {
            name: name.to_owned(),
            ..FleetHost::default()
        }
    }

    #[test]
    fn a_missing_host_gets_no_trials() {
        let mut hosts = ["a", "b", "c"].map(host);
        hosts[1].lost = Some("it does not answer".to_owned());
        let spread = on_hosts(&schedule(vec![trial(0, None, None)]), &hosts).unwrap();
        let places: Vec<_> = spread.trials.iter().map(|t| (t.index, t.host)).collect();
        assert_eq!(places, [(0, Some(0)), (1, Some(2))]);
    }

    #[test]
    fn each_trial_becomes_a_set_and_each_set_a_larger_one() {
        let alone = trial(0, None, None);
        let (first, second) = (trial(1, Some(4), None), trial(2, Some(4), Some(1)));
        let hosts = ["a", "b"].map(host);
        let spread = on_hosts(&schedule(vec![alone, first, second]), &hosts).unwrap();
        let facts: Vec<_> = spread
            .trials
            .iter()
            .map(|t| (t.index, t.label.as_str(), t.host, t.together, t.follows))
            .collect();
        assert_eq!(
            facts,
            [
                (0, "t0 on a", Some(0), Some(0), None),
                (1, "t0 on b", Some(1), Some(0), None),
                (2, "t1 on a", Some(0), Some(1), None),
                (3, "t2 on a", Some(0), Some(1), Some(2)),
                (4, "t1 on b", Some(1), Some(1), None),
                (5, "t2 on b", Some(1), Some(1), Some(4)),
            ]
        );
        let mut rows: Vec<u32> = spread.trials.iter().map(|t| t.row).collect();
        rows.sort_unstable();
        assert_eq!(rows, [0, 1, 2, 3, 4, 5]);
        assert_ne!(spread.trials[0].seed, spread.trials[1].seed);
        assert!(!spread.depth_probe);
    }

    #[test]
    fn a_set_has_its_limit() {
        let hosts = vec![host("a"); MAX_TOGETHER + 1];
        let error = on_hosts(&schedule(vec![trial(0, None, None)]), &hosts).unwrap_err();
        assert!(error.contains("limit"), "{error}");
    }
}
