//! The trials in turns, each behind the command of its side.

use std::collections::VecDeque;
use std::fmt::Display;

use fathom_model::conduct::{Conductor, Step};
use fathom_model::run::TrialRecord;
use fathom_model::schedule::{Pause, TrialRole};
use fathom_model::{ScheduledTrial, Target};

use super::plan::Sides;

/// Hands out the trials, each after the command of its side.
pub struct Turns<S> {
    left: VecDeque<(ScheduledTrial, Option<Before>)>,
    /// Sets up a side by its command.
    set_up: S,
}

/// A command and the side that it sets up.
#[derive(Clone)]
struct Before {
    side: char,
    command: String,
}

/// There are more trials than anybody waits for.
pub struct TooMany;

impl<S: FnMut(char, &str) -> Result<(), E>, E: Display> Turns<S> {
    /// Every row in pairs: A B, B A, A B, …; the control stands before each
    /// trial, the command of the side before the control. `set_up` runs the command
    /// of a side.
    ///
    /// # Errors
    /// There are more than `most` trials.
    pub fn unroll(
        sides: &Sides,
        pairs: u32,
        control: Option<&ScheduledTrial>,
        most: usize,
        set_up: S,
    ) -> Result<Turns<S>, TooMany> {
        let mut left = VecDeque::new();
        let control_row = u32::try_from(sides.pairs().count() * 2).map_err(|_| TooMany)?;
        for pair in 0..pairs {
            for (row, (a, b)) in (0u32..).step_by(2).zip(sides.pairs()) {
                let a = (a, TrialRole::A, row, 'A', &sides.a.before);
                let b = (b, TrialRole::B, row + 1, 'B', &sides.b.before);
                let order = if pair % 2 == 0 { [a, b] } else { [b, a] };
                for (spec, role, row, side, before) in order {
                    let mut before = before.clone().map(|command| Before { side, command });
                    if let Some(control) = control {
                        let mut spec = placed(control, sides.seed(), pair, control_row);
                        spec.role = TrialRole::Control;
                        left.push_back((spec, before.take()));
                    }
                    let mut spec = placed(spec, sides.seed(), pair, row);
                    spec.role = role;
                    spec.label = format!("{side} {}", spec.label);
                    left.push_back((spec, before));
                }
                if left.len() > most {
                    return Err(TooMany);
                }
            }
        }
        for (index, (spec, _)) in (0u32..).zip(left.iter_mut()) {
            spec.index = index;
        }
        Ok(Turns { left, set_up })
    }

    /// All trials in order.
    pub fn trials(&self) -> Vec<ScheduledTrial> {
        self.left.iter().map(|(spec, _)| spec.clone()).collect()
    }
}

/// A trial at its place. Each has a seed of its own: the second of a pair
/// must not find what the first left in a cache.
fn placed(spec: &ScheduledTrial, seed: u64, pair: u32, row: u32) -> ScheduledTrial {
    let mut spec = spec.clone().in_row(row, pair, seed);
    if !matches!(spec.target, Target::Path(_)) {
        // No device has to become quiet.
        spec.pause = Pause::NONE;
    }
    spec
}

impl<S: FnMut(char, &str) -> Result<(), E> + Send, E: Display> Conductor for Turns<S> {
    fn next(&mut self, _last: &[TrialRecord]) -> Step {
        let Some((spec, before)) = self.left.pop_front() else {
            return Step::End(None);
        };
        match before.map(|before| (self.set_up)(before.side, &before.command)) {
            Some(Err(problem)) => Step::Fail(problem.to_string()),
            _ => Step::Run(Box::new(spec)),
        }
    }

    fn looks(&self) -> bool {
        false
    }
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;

    use fathom_model::{Schedule, Workload};

    use super::*;
    use crate::ab::Side;

    fn side(label: &str) -> Side {
        let target = Target::Sim("ideal".to_owned());
        let trial = ScheduledTrial::new("reads", target, Workload::example("reads"));
        let text = "plan: 1\ntargets: [\"sim:ideal\"]\nworkloads:\n  - {name: reads, rw: randread, runtime: 1s}\n";
        Side {
            label: label.to_owned(),
            before: Some(format!("set {label}")),
            plan: fathom_plan::parse("plan", text).unwrap(),
            schedule: Schedule::new(label, vec![trial]),
        }
    }

    #[test]
    fn sides_take_turns_each_behind_its_command() {
        let sides = Sides::paired(side("x"), side("y")).ok().unwrap();
        let control = ScheduledTrial::new("control", Target::Null, Workload::example("control"));
        let mut calls = Vec::new();
        let mut roles = Vec::new();
        let set_up = |side: char, command: &str| {
            calls.push(format!("{side} {command}"));
            Ok::<(), Infallible>(())
        };
        let turns = Turns::unroll(&sides, 2, Some(&control), 100, set_up);
        let mut turns = turns.ok().unwrap();
        assert_eq!(turns.trials().len(), 8);
        while let Step::Run(trial) = turns.next(&[]) {
            roles.push(trial.role);
        }
        drop(turns);
        let control = TrialRole::Control;
        let (a, b) = (TrialRole::A, TrialRole::B);
        assert_eq!(roles, [control, a, control, b, control, b, control, a]);
        assert_eq!(calls, ["A set x", "B set y", "B set y", "A set x"]);
    }

    #[test]
    fn a_failed_command_ends_the_run_and_too_many_trials_begin_none() {
        let sides = Sides::paired(side("x"), side("y")).ok().unwrap();
        let fails = |_: char, _: &str| Err("no".to_owned());
        let turns = Turns::unroll(&sides, 1, None, 100, fails);
        let step = turns.ok().unwrap().next(&[]);
        assert!(matches!(step, Step::Fail(problem) if problem == "no"));
        assert!(Turns::unroll(&sides, 9, None, 10, fails).is_err());
    }
}
