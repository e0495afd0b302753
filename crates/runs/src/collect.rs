//! What hosts hold of runs whose coordinators were lost, brought into the
//! store: by `fathom fleet collect`, and whenever hosts are met again.

use std::collections::BTreeMap;
use std::path::Path;

use fathom_fleet::{Event, Fleet, HeldRun, TrialStart};
use fathom_model::run::TrialEnd;
use fathom_model::{Observation, RunState, Sample, unit};
use fathom_store::{Collected, Error, Store, TrialBegin};

/// What was held of one trial.
#[derive(Default)]
struct OfTrial {
    start: Option<TrialStart>,
    samples: Vec<Sample>,
    observations: Vec<Observation>,
    end: Option<(RunState, TrialEnd)>,
}

/// Collects from every host what it holds of runs of this store. Says in words
/// what came of each; nothing where nothing is held.
pub fn collect(fleet: &Fleet, store: &Path) -> Vec<String> {
    let held = fleet.held();
    if held.is_empty() {
        return Vec::new();
    }
    let hosts = fleet.hosts();
    let mut store = match Store::open(store) {
        Ok(store) => store,
        Err(error) => return vec![format!("what hosts hold is not collected: {error}")],
    };
    let told = held.into_iter().filter_map(|(place, held)| {
        let name = hosts.get(place).map_or("?", |host| host.name.as_str());
        let said = one(fleet, &mut store, place, &held)?;
        Some(format!("{name}: {said}"))
    });
    told.collect()
}

/// One run of one host. Runs of other stores stay where they are.
fn one(fleet: &Fleet, store: &mut Store, place: usize, held: &HeldRun) -> Option<String> {
    // Nothing is moved for a run that cannot take it.
    match store.add_collected(&held.run, &[]) {
        Ok(_) => {}
        Err(Error::NoSuchRun { .. } | Error::Alive { .. }) => return None,
        Err(error) => return Some(format!("run {}: {error}", held.run)),
    }
    let events = match fleet.collect(place, held) {
        Ok(events) => events,
        Err(why) => return Some(format!("run {} cannot be collected: {why}", held.run)),
    };
    let trials = by_trial(events);
    let parts: Vec<Collected<'_>> = trials.iter().map(part).collect();
    match store.add_collected(&held.run, &parts) {
        Ok(added) => {
            fleet.forget(place, held);
            Some(format!(
                "collected {} of run {}: {} and {}",
                unit::bytes(held.bytes),
                held.run,
                counted(added.seconds, "interval"),
                counted(added.ends, "end of a trial"),
            ))
        }
        Err(error) => Some(format!("run {}: {error}", held.run)),
    }
}

fn counted(count: usize, what: &str) -> String {
    match (count, what) {
        (1, _) => format!("1 {what}"),
        (n, "interval") => format!("{n} intervals"),
        (n, _) => format!("{n} ends of trials"),
    }
}

fn by_trial(events: Vec<Event>) -> BTreeMap<u32, OfTrial> {
    let mut trials: BTreeMap<u32, OfTrial> = BTreeMap::new();
    for event in events {
        match event {
            Event::TrialsStarted(starts) => {
                for start in starts {
                    let trial = trials.entry(start.spec.index).or_default();
                    trial.start = Some(start);
                }
            }
            Event::Interval(intervals) => {
                for interval in intervals {
                    let trial = trials.entry(interval.trial).or_default();
                    trial.samples.extend(interval.samples);
                    trial.observations.extend(interval.observations);
                }
            }
            Event::TrialsEnded(endings) => {
                for ending in endings {
                    let trial = trials.entry(ending.trial).or_default();
                    trial.end = Some((ending.state, ending.end));
                }
            }
            _ => {}
        }
    }
    trials
}

fn part<'t>((position, trial): (&u32, &'t OfTrial)) -> Collected<'t> {
    Collected {
        position: *position,
        begin: trial.start.as_ref().map(|start| TrialBegin {
            spec: &start.spec,
            started_unix_ns: start.started_unix_ns,
            target_before: start.target_before.as_ref(),
        }),
        samples: trial.samples.clone(),
        observations: trial.observations.clone(),
        end: trial.end.clone(),
    }
}
