//! A schedule for one host, made one for many: whose data each host uses and
//! who works when ([`HostMode`]).

mod cast;
mod error;
mod rotation;
mod steps;

use std::collections::HashMap;

use fathom_model::fleet::FleetHost;
use fathom_model::host_mode::{HostData, HostMode, HostPart};
use fathom_model::rng::derive_seed;
use fathom_model::schedule::MAX_TOGETHER;
use fathom_model::{Schedule, ScheduledTrial};

pub use error::SpreadError;

use error::MAX_TRIALS;
use rotation::Rotation;
use steps::{Numbers, SpreadStep};

/// A schedule on many hosts, in the schedule's own mode: each trial, or each
/// set, becomes a set with a part for every host, or several sets where hosts
/// take turns. Every part is a row of its own, named after its host, with its
/// own seed, so that hosts do not ask a common target for the same blocks in
/// the same order. Hosts that are missing keep their place and get no trials.
///
/// # Errors
/// When a set becomes larger than [`MAX_TOGETHER`], or the mode needs more
/// hosts than there are.
pub fn on_hosts(schedule: &Schedule, hosts: &[FleetHost]) -> Result<Schedule, SpreadError> {
    let present = present(hosts);
    let mode = schedule.host_mode;
    if mode.data == HostData::Rotated && present.len() < 2 {
        return Err(SpreadError::RotatedAlone);
    }
    let numbers = Numbers::of(mode.turns, present.len());
    let steps = steps::in_order(schedule, mode.turns, &numbers);
    spread(schedule, hosts, &steps, &numbers)
}

/// The schedule of a scale-out study: every set of the schedule on each of
/// these numbers of hosts, in `blocks` blocks, the numbers of a block in an
/// order of their own that follows from the schedule's seed. The schedule has
/// one iteration; a block becomes one.
///
/// # Errors
/// As [`on_hosts`].
pub fn scaled(
    schedule: &Schedule,
    hosts: &[FleetHost],
    numbers: &[usize],
    blocks: u32,
) -> Result<Schedule, SpreadError> {
    if schedule.host_mode.data == HostData::Rotated {
        return Err(SpreadError::RotatedScaled);
    }
    let numbers = Numbers::given(numbers, present(hosts).len());
    let steps = steps::in_blocks(schedule, &numbers, blocks);
    spread(schedule, hosts, &steps, &numbers)
}

/// Places of the hosts that can work.
fn present(hosts: &[FleetHost]) -> Vec<u32> {
    let places = (0..).zip(hosts);
    let there = places.filter(|(_, host)| host.lost.is_none());
    there.map(|(place, _)| place).collect()
}

fn spread(
    schedule: &Schedule,
    hosts: &[FleetHost],
    steps: &[SpreadStep],
    numbers: &Numbers,
) -> Result<Schedule, SpreadError> {
    let present = present(hosts);
    let mode = schedule.host_mode;
    let mut rotation = (mode.data == HostData::Rotated).then(|| Rotation::new(present.len()));
    let mut out = Spread {
        mode,
        hosts,
        growing: numbers.are_several(),
        rows: numbers.count() * hosts.len(),
        set: 0,
        trials: Vec::new(),
    };
    let mut shift = 0;
    for step in steps {
        let places = &present[step.hosts.clone()];
        if let Some(rotation) = &mut rotation {
            if rotation.needs_layout(&step.set) {
                let layout = step.layout();
                out.set(&layout, &present, &present, 0)?;
            }
            if step.begins {
                shift = rotation.shift(&step.set);
            }
            out.set(step, places, &present, shift)?;
        } else {
            out.set(step, places, places, 0)?;
        }
    }
    Ok(Schedule {
        trials: out.trials,
        // What is asked of a fleet is what it does together.
        depth_probe: false,
        ..schedule.clone()
    })
}

/// A schedule that is being spread.
struct Spread<'a> {
    mode: HostMode,
    hosts: &'a [FleetHost],
    /// Several numbers of hosts, each with rows of its own.
    growing: bool,
    /// Rows that one row becomes.
    rows: usize,
    /// Number of the next set.
    set: u32,
    trials: Vec<ScheduledTrial>,
}

impl Spread<'_> {
    /// A step on the hosts `places`, each with the data of the one that is
    /// `shift` places behind it in `among`.
    fn set(
        &mut self,
        step: &SpreadStep,
        places: &[u32],
        among: &[u32],
        shift: usize,
    ) -> Result<(), SpreadError> {
        let size = step.set.len().saturating_mul(places.len());
        if size > MAX_TOGETHER {
            return Err(SpreadError::TooManyTogether {
                trials: step.set.len(),
                hosts: places.len(),
            });
        }
        cast::check(step, places)?;
        if self.trials.len() + size > MAX_TRIALS {
            return Err(SpreadError::TooManyTrials);
        }
        for place in places {
            debug_assert!(among.contains(place), "host {place} has no data of its own");
            let at = among.iter().position(|other| other == place).unwrap_or(0);
            let number = (at + shift) % among.len().max(1);
            let part = HostPart {
                whose: among.get(number).copied().unwrap_or(*place),
                number: number as u32,
                of: among.len() as u32,
                divided: self.mode.data == HostData::Divided,
            };
            let part = (self.mode.data != HostData::Own).then_some(part);
            self.part(step, *place, part, places);
        }
        self.set += 1;
        Ok(())
    }

    /// The part of one host.
    fn part(&mut self, step: &SpreadStep, place: u32, part: Option<HostPart>, places: &[u32]) {
        let begin = self.trials.len();
        let moved = step.set.iter().zip(begin..);
        let indexes: HashMap<u32, u32> = moved.map(|(spec, at)| (spec.index, at as u32)).collect();
        debug_assert_eq!(
            indexes.len(),
            step.set.len(),
            "two trials of a set with one number would become one"
        );
        let name = self.hosts.get(place as usize).map_or("?", |h| &h.name);
        let of_number = (step.number * self.hosts.len()) as u32 + place;
        let (rows, set, growing) = (self.rows as u32, self.set, self.growing);
        let parts = step.set.iter().map(|spec| ScheduledTrial {
            index: indexes[&spec.index],
            row: spec.row.saturating_mul(rows).saturating_add(of_number),
            label: match growing {
                true => format!("{} by {} on {name}", spec.label, step.hosts.len()),
                false => format!("{} on {name}", spec.label),
            },
            seed: match place {
                0 => spec.seed,
                _ => derive_seed(spec.seed, u64::from(place)),
            },
            together: Some(set),
            follows: spec.follows.and_then(|of| indexes.get(&of).copied()),
            host: Some(place),
            part,
            ..spec.clone()
        });
        let cast = parts.map(|spec| cast::take(spec, places));
        self.trials.extend(cast);
    }
}

#[cfg(test)]
#[path = "spread_tests.rs"]
mod tests;
