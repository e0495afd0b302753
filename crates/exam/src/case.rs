//! A scenario and a case drawn from it.

use fathom_model::run::{RunRecord, TrialRecord};
use fathom_model::verdict::{FindingStatus, Limiter};
use fathom_model::workload::Workload;

use crate::host::Host;

/// What a right judgement says.
#[derive(Debug, Clone, PartialEq)]
pub enum Expected {
    /// Nothing is wrong: trusted, without a caveat.
    Sound {
        /// Limiters that are true. `Unknown` is always allowed.
        limiters: Vec<Limiter>,
    },
    /// Something is wrong.
    Faulty {
        /// One of these checks must object.
        findings: Vec<&'static str>,
        /// How loudly at least: `Info` where the number is true and only asks
        /// for a remark.
        least: FindingStatus,
        /// Limiters that are true. `Unknown` is always allowed.
        limiters: Vec<Limiter>,
    },
    /// The number is true, but the name of what set it is the point.
    Limited {
        /// The limiter that must be named.
        limiter: Limiter,
    },
}

/// A change of the record that no drive can produce, for example a switch of
/// units by whoever wrote it.
pub type Edit = fn(&mut TrialRecord);

/// One trial of a case.
#[derive(Debug, Clone)]
pub struct Trial {
    /// What is done. The engine is replaced by the simulation.
    pub workload: Workload,
    /// Row of the run.
    pub row: u32,
    /// Iteration within the row.
    pub iteration: u32,
    /// The depth that the record claims; the load runs at the workload's.
    pub claimed_depth: Option<u32>,
}

impl Trial {
    /// The first trial of row 0.
    pub fn new(workload: Workload) -> Trial {
        Trial {
            workload,
            row: 0,
            iteration: 0,
            claimed_depth: None,
        }
    }
}

/// One drawn case.
#[derive(Debug, Clone)]
pub struct Case {
    /// The drive, as after `sim:`.
    pub drive: String,
    /// What is run on it, in order.
    pub trials: Vec<Trial>,
    /// The host, and what is between it and the drive.
    pub host: Host,
    /// Changes of each trial's record.
    pub edits: Vec<Edit>,
    /// Changes of the whole record.
    pub run_edits: Vec<fn(&mut RunRecord)>,
}

impl Case {
    /// One trial on a drive of a sound host.
    pub fn new(drive: impl Into<String>, workload: Workload) -> Case {
        Case {
            drive: drive.into(),
            trials: vec![Trial::new(workload)],
            host: Host::default(),
            edits: Vec::new(),
            run_edits: Vec::new(),
        }
    }

    /// With a changed host.
    pub fn on(mut self, change: impl FnOnce(&mut Host)) -> Case {
        change(&mut self.host);
        self
    }

    /// With a changed record.
    pub fn edit(mut self, edit: Edit) -> Case {
        self.edits.push(edit);
        self
    }

    /// The first trial so many times, as iterations of its row.
    pub fn iterations(mut self, count: u32) -> Case {
        let first = self.trials.remove(0);
        self.trials = (0..count)
            .map(|iteration| Trial {
                iteration,
                ..first.clone()
            })
            .collect();
        self
    }
}

/// A family of cases with one truth.
pub struct Scenario {
    /// What it is, in a few words.
    pub name: &'static str,
    /// What a right judgement says of every case.
    pub expected: Expected,
    /// Draws a case.
    pub draw: fn(&mut crate::scenarios::Draw) -> Case,
}
