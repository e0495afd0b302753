//! The trials in turns, and the commands that run before them.

use std::collections::VecDeque;
use std::process::Stdio;

use fathom_model::conduct::{Conductor, Step};
use fathom_model::run::TrialRecord;
use fathom_model::schedule::{Pause, TrialRole};
use fathom_model::{ScheduledTrial, Target};

use super::sides::Sides;

/// Trials that a comparison has at most.
const MOST_TRIALS: usize = 100_000;

/// Hands out the trials, each after the command of its side.
pub(crate) struct Turns {
    left: VecDeque<(ScheduledTrial, Option<Before>)>,
}

/// A command and the side that it sets up.
#[derive(Clone)]
struct Before {
    side: char,
    command: String,
}

/// There are more trials than anybody waits for.
pub(crate) struct TooMany;

impl Turns {
    /// Every row in pairs: A B, B A, A B, …; the control stands before each
    /// trial, the command of the side before the control.
    pub(crate) fn unroll(
        sides: &Sides,
        pairs: u32,
        control: Option<&ScheduledTrial>,
    ) -> Result<Turns, TooMany> {
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
                if left.len() > MOST_TRIALS {
                    return Err(TooMany);
                }
            }
        }
        for (index, (spec, _)) in (0u32..).zip(left.iter_mut()) {
            spec.index = index;
        }
        Ok(Turns { left })
    }

    /// All trials in order.
    pub(crate) fn trials(&self) -> Vec<ScheduledTrial> {
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

impl Conductor for Turns {
    fn next(&mut self, _last: &[TrialRecord]) -> Step {
        let Some((spec, before)) = self.left.pop_front() else {
            return Step::End(None);
        };
        match before.map(|before| before.run()) {
            Some(Err(problem)) => Step::Fail(problem),
            _ => Step::Run(Box::new(spec)),
        }
    }

    fn looks(&self) -> bool {
        false
    }
}

impl Before {
    /// Runs the command in a shell. What it prints goes to standard error,
    /// which is not the result.
    fn run(&self) -> Result<(), String> {
        let status = fathom_deadline::command("sh").and_then(|mut shell| {
            shell
                .args(["-c", &self.command])
                .env("FATHOM_SIDE", self.side.to_string())
                .stdin(Stdio::null())
                .stdout(Stdio::from(std::io::stderr()))
                .status()
        });
        let problem = match status {
            Ok(status) if status.success() => return Ok(()),
            Ok(status) => format!("ended with {status}"),
            Err(error) => format!("could not be run: {error}"),
        };
        let (side, command) = (self.side.to_ascii_lowercase(), &self.command);
        Err(format!(
            "the command of --before-{side} {problem}: {command}"
        ))
    }
}
