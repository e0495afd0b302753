//! Trials of both tools in turns: fathom's are handed out, between them the other
//! tool measures on the same files.

use std::collections::VecDeque;
use std::fmt::Display;
use std::time::Duration;

use fathom_compat::results::ResultJob;
use fathom_model::ScheduledTrial;
use fathom_model::conduct::{Conductor, Step};
use fathom_model::run::TrialRecord;

use super::peer_side::cross_side;
use super::plan::{CrossPlan, PlannedRow};
use super::repeats::Repeats;
use super::row::PeerResult;

/// The host on which both tools measure, as the turns need it.
pub trait CrossBench: Send {
    /// Why a trial of the other tool failed.
    type Error: Display;

    /// Waits for so long, or until the run is interrupted.
    fn pause(&mut self, time: Duration);

    /// Whether the user has interrupted the run.
    fn is_interrupted(&self) -> bool;

    /// A trial of either tool begins.
    fn trial_begins(&mut self);

    /// The share of the CPUs that the hypervisor took since then; `None` where that
    /// cannot be told.
    fn stolen_share(&mut self) -> Option<f64>;

    /// A trial of the other tool.
    ///
    /// # Errors
    /// It failed.
    fn measure(&mut self, trial: &PeerTrial<'_>) -> Result<ResultJob, Self::Error>;
}

/// A trial of the other tool.
pub struct PeerTrial<'a> {
    /// What is measured.
    pub row: &'a PlannedRow,
    /// Number of the row, from 0.
    pub number: usize,
    /// Number of the pair, from 0.
    pub pair: u32,
    /// Pairs of each row that were planned; later ones replace disturbed ones.
    pub planned_pairs: u32,
}

/// Whose turn it is.
enum Turn {
    Fathom(Box<ScheduledTrial>),
    Peer { row: usize, pair: u32 },
}

/// Hands out fathom's trials, and lets the other tool measure in between.
pub struct Turns<'a, B> {
    left: VecDeque<Turn>,
    rows: &'a [PlannedRow],
    pairs: u32,
    bench: B,
    results: Vec<PeerResult>,
    /// Wait before the next turn.
    pause: Duration,
    repeats: Repeats,
    /// fathom's trial that was handed out: row and pair.
    open: Option<(usize, u32)>,
    /// Number of the next trial that was not planned.
    next_index: u32,
}

impl<'a, B: CrossBench> Turns<'a, B> {
    /// The turns of a plan, each row in so many pairs: an even number, so that each
    /// tool is the first as often. Pairs during which the hypervisor took more than
    /// this share of the CPUs are measured again.
    pub fn new(plan: &'a CrossPlan, pairs: u32, most_stolen: f64, bench: B) -> Turns<'a, B> {
        let trials = plan.trials(pairs);
        Turns {
            next_index: u32::try_from(trials.len()).unwrap_or(u32::MAX),
            left: trials.into_iter().flat_map(turns_of).collect(),
            repeats: Repeats::new(plan.rows.len(), pairs, most_stolen),
            open: None,
            rows: &plan.rows,
            pairs,
            bench,
            results: Vec::new(),
            pause: Duration::ZERO,
        }
    }

    /// What the other tool gave so far.
    pub(super) fn results(&self) -> &[PeerResult] {
        &self.results
    }

    /// Which pairs were measured again.
    pub(super) fn repeats(&self) -> &Repeats {
        &self.repeats
    }

    /// One trial of a pair has ended.
    fn ended(&mut self, row: usize, pair: u32) {
        if let Some(share) = self.bench.stolen_share() {
            self.repeats.trial(row, pair, share);
        }
        // It was the second one where the other is no longer to come.
        if self.left.front().map(Turn::pair) == Some((row, pair)) {
            return;
        }
        let again = self.repeats.again(row, pair);
        let (Some(again), Some(of)) = (again, self.rows.get(row)) else {
            return;
        };
        let mut spec = of.trial_of(u32::try_from(row).unwrap_or(u32::MAX), again);
        spec.index = self.next_index;
        self.next_index += 1;
        // After the others of its row: files are resized for the next one.
        let place = self.left.iter().position(|turn| turn.pair().0 > row);
        let place = place.unwrap_or(self.left.len());
        for turn in turns_of(spec).into_iter().rev() {
            self.left.insert(place, turn);
        }
    }

    /// One trial of the other tool.
    fn measure(&mut self, row: &PlannedRow, number: usize, pair: u32) -> Result<(), B::Error> {
        let job = self.bench.measure(&PeerTrial {
            row,
            number,
            pair,
            planned_pairs: self.pairs,
        })?;
        self.results.push(PeerResult {
            row: number,
            pair,
            side: cross_side(&job),
        });
        Ok(())
    }
}

impl Turn {
    /// Row and pair.
    fn pair(&self) -> (usize, u32) {
        match self {
            Turn::Fathom(spec) => (spec.row as usize, spec.iteration),
            Turn::Peer { row, pair } => (*row, *pair),
        }
    }
}

/// Pairs take turns. fathom is the first of all: it makes the files.
pub(super) fn peer_first(pair: u32) -> bool {
    pair % 2 == 1
}

/// Both trials of a pair in their order.
fn turns_of(trial: ScheduledTrial) -> [Turn; 2] {
    let (row, pair) = (trial.row as usize, trial.iteration);
    let (ours, theirs) = (Turn::Fathom(Box::new(trial)), Turn::Peer { row, pair });
    match peer_first(pair) {
        true => [theirs, ours],
        false => [ours, theirs],
    }
}

impl<B: CrossBench> Conductor for Turns<'_, B> {
    fn next(&mut self, _last: &[TrialRecord]) -> Step {
        if let Some((row, pair)) = self.open.take() {
            self.ended(row, pair);
        }
        loop {
            let Some(turn) = self.left.pop_front() else {
                return Step::End(None);
            };
            let (number, pair) = turn.pair();
            let floor_ns = self.rows.get(number).map_or(0, |row| row.pause.floor_ns);
            self.bench.pause(self.pause);
            self.pause = Duration::from_nanos(floor_ns);
            self.bench.trial_begins();
            if let Turn::Fathom(spec) = turn {
                self.open = Some((number, pair));
                return Step::Run(spec);
            }
            if self.bench.is_interrupted() {
                return Step::Fail("interrupted".to_owned());
            }
            let Some(row) = self.rows.get(number) else {
                return Step::Fail("there is no such row".to_owned());
            };
            if let Err(reason) = self.measure(row, number, pair) {
                return Step::Fail(reason.to_string());
            }
            self.ended(number, pair);
        }
    }

    fn looks(&self) -> bool {
        false
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::convert::Infallible;

    use fathom_compat::fio::job_file::{FioExport, FioFiles};
    use fathom_model::{Schedule, Target, Workload};

    use super::*;

    /// A bench on which the hypervisor takes half of the CPUs in some trials.
    #[derive(Default)]
    struct Busy {
        trials: usize,
        stolen_in: Vec<usize>,
        measured: Vec<u32>,
    }

    impl CrossBench for &mut Busy {
        type Error = Infallible;

        fn pause(&mut self, _: Duration) {}

        fn is_interrupted(&self) -> bool {
            false
        }

        fn trial_begins(&mut self) {
            self.trials += 1;
        }

        fn stolen_share(&mut self) -> Option<f64> {
            let stolen = self.stolen_in.contains(&self.trials);
            Some(if stolen { 0.5 } else { 0.0 })
        }

        fn measure(&mut self, trial: &PeerTrial<'_>) -> Result<ResultJob, Infallible> {
            self.measured.push(trial.pair);
            Ok(ResultJob::default())
        }
    }

    #[test]
    fn tools_take_turns_and_a_disturbed_pair_is_measured_again() {
        let target = Target::Path("/nonexistent".into());
        let trial = ScheduledTrial::new("reads", target, Workload::example("reads"));
        let export = FioExport {
            facts: &BTreeMap::new(),
            files: FioFiles::Given("data"),
        };
        let schedule = Schedule::new("reads", vec![trial]);
        let plan = CrossPlan::of(schedule, Some(1), &export, |_| true);
        let plan = plan.unwrap();
        // The third trial is the second pair's first one: that of the other tool.
        let mut bench = Busy {
            stolen_in: vec![3],
            ..Busy::default()
        };
        let mut turns = Turns::new(&plan, 2, 0.02, &mut bench);
        let mut ours = Vec::new();
        while let Step::Run(trial) = turns.next(&[]) {
            ours.push(trial.iteration);
        }
        // The repeat of pair 1 has an odd number, too: the other tool begins.
        assert_eq!(ours, [0, 1, 3]);
        assert_eq!(turns.results().len(), 3);
        assert!(turns.repeats().is_aside(0, 1) && !turns.repeats().is_aside(0, 0));
        drop(turns);
        assert_eq!(bench.measured, [0, 1, 3]);
    }
}
