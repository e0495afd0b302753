//! Two sides and their rows, and the control between them.

use fathom_model::comparison::{Difference, RowDesign};
use fathom_model::schedule::{Pause, TrialRole};
use fathom_model::{Schedule, ScheduledTrial, Target};
use fathom_plan::Plan;

/// One side, ready to be unrolled.
pub struct Side {
    /// What it is called.
    pub label: String,
    /// A command that sets it up, as it is run, with its secrets.
    pub before: Option<String>,
    /// Its plan.
    pub plan: Plan,
    /// Its schedule, each row once.
    pub schedule: Schedule,
}

/// Why two sides cannot be compared.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SidesError {
    /// A permission that only one of them has.
    #[error(
        "only one of the sides allows devices to be overwritten; say --destructive for both, or in \
         neither plan"
    )]
    DestructiveAlone,
    /// Sets of workloads cannot take turns.
    #[error(
        "a comparison takes turns with one workload at a time; the plan has workloads that run at \
         the same time (`together`)"
    )]
    Together,
    /// There is nothing to pair some rows with.
    #[error(
        "side A has {} rows and side B has {}; rows are paired by label: A has {}; B has {}",
        .a.len(),
        .b.len(),
        .a.join(", "),
        .b.join(", ")
    )]
    RowCounts {
        /// Labels of side A.
        a: Vec<String>,
        /// Labels of side B.
        b: Vec<String>,
    },
    /// A label of side A that side B does not have, though it has others.
    #[error("side B has no row called {0:?}")]
    NoSuchRow(String),
}

/// Both sides; rows stand in the same order.
pub struct Sides {
    /// Side A.
    pub a: Side,
    /// Side B.
    pub b: Side,
}

impl Sides {
    /// The sides with their rows paired by label, or by place where no label is
    /// shared.
    ///
    /// # Errors
    /// The sides cannot be compared.
    pub fn paired(a: Side, b: Side) -> Result<Sides, SidesError> {
        let mut sides = Sides { a, b };
        sides.pair_rows()?;
        Ok(sides)
    }

    /// Puts the rows of B into the order of those of A: by label, or by place
    /// where no label is shared.
    fn pair_rows(&mut self) -> Result<(), SidesError> {
        let (a, b) = (&self.a.schedule, &mut self.b.schedule);
        if a.destructive != b.destructive {
            return Err(SidesError::DestructiveAlone);
        }
        let sets = [a, &*b].map(|s| s.trials.iter().any(|t| t.together.is_some()));
        if sets.contains(&true) {
            return Err(SidesError::Together);
        }
        let labels = |s: &Schedule| s.trials.iter().map(|t| t.label.clone()).collect::<Vec<_>>();
        let (la, lb) = (labels(a), labels(b));
        if la.len() != lb.len() {
            return Err(SidesError::RowCounts { a: la, b: lb });
        }
        if la.iter().all(|label| lb.contains(label)) {
            b.trials
                .sort_by_key(|t| la.iter().position(|label| *label == t.label));
        } else if la.iter().any(|label| lb.contains(label)) {
            let alone = la.into_iter().find(|label| !lb.contains(label));
            return Err(SidesError::NoSuchRow(alone.unwrap_or_default()));
        }
        Ok(())
    }

    /// Both trials of each row.
    pub fn pairs(&self) -> impl Iterator<Item = (&ScheduledTrial, &ScheduledTrial)> {
        let (a, b) = (&self.a.schedule.trials, &self.b.schedule.trials);
        a.iter().zip(b)
    }

    /// The rows of the comparison. Those of the run are numbered A, B, A, B.
    pub fn rows(&self) -> Vec<RowDesign> {
        let each = self.pairs().zip((0u32..).step_by(2));
        each.map(|((a, b), row)| RowDesign {
            label: match a.label == b.label {
                true => a.label.clone(),
                false => format!("{} / {}", a.label, b.label),
            },
            a_row: row,
            b_row: row + 1,
        })
        .collect()
    }

    /// What the two plans declare as different.
    pub fn factor(&self) -> Vec<Difference> {
        let mut factor: Vec<Difference> = Vec::new();
        for (a, b) in self.pairs() {
            let declared = fathom_analysis::declared_differences(
                (&a.target, &a.workload),
                (&b.target, &b.workload),
            );
            for difference in declared {
                if !factor.contains(&difference) {
                    factor.push(difference);
                }
            }
        }
        factor
    }

    /// The schedule of the whole, without its trials.
    pub fn schedule(&self) -> Schedule {
        let name = format!("ab {} / {}", self.a.label, self.b.label);
        Schedule {
            seed: self.seed(),
            destructive: self.a.schedule.destructive,
            keep_files: self.a.schedule.keep_files || self.b.schedule.keep_files,
            ..Schedule::new(name, Vec::new())
        }
    }

    /// The seed of both sides.
    pub(super) fn seed(&self) -> u64 {
        self.a.schedule.seed
    }
}

/// What is measured as the untouched control, and why.
pub struct ControlTarget {
    /// What is measured.
    pub target: Target,
    /// Why it was chosen.
    pub why: &'static str,
}

/// The control without another choice; `None` where nothing could move.
///
/// The null target cannot be touched by anything that differs in the storage, and
/// what moves it (the clock rate of the CPUs, other load, a hypervisor) moves every
/// result. A virtual clock has no surroundings.
pub fn default_control(sides: &Sides) -> Option<ControlTarget> {
    let simulated = sides
        .pairs()
        .all(|(a, b)| matches!((&a.target, &b.target), (Target::Sim(_), Target::Sim(_))));
    (!simulated).then_some(ControlTarget {
        target: Target::Null,
        why: "not storage: shows the host's CPUs",
    })
}

/// The trial of a schedule as the control.
pub fn as_control(mut trial: ScheduledTrial) -> ScheduledTrial {
    trial.role = TrialRole::Control;
    trial.label = "control".to_owned();
    trial.pause = Pause::NONE;
    trial
}
