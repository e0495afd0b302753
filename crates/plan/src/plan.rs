//! A plan: what the user wrote, read and checked.

use fathom_model::{PLAN_SCHEMA, Target};

use crate::diagnostic::{Diagnostics, Problems, Source, error};
use crate::keys::{PlanKeys, WorkloadKeys, WorkloadList};
use crate::limits::MAX_TRIALS;
use crate::node::{Located, Out};
use crate::rows::{self, Row};
use crate::section::{self, Section};
use crate::spelling::Spelling;
use crate::value::{Count, Name, Switch, Targets};
use crate::yaml;

/// Iterations of a row that nobody gave a number.
const DEFAULT_ITERATIONS: u32 = 3;
const MAX_ITERATIONS: u64 = 1000;

/// A plan that was read without an error.
///
/// Two plans are equal when they say the same, wherever and in whatever
/// layout they were written.
#[derive(Debug, Clone)]
pub struct Plan {
    pub(crate) keys: PlanKeys,
    pub(crate) source: Source,
    pub(crate) spelling: Spelling,
    pub(crate) warnings: Diagnostics,
}

impl PartialEq for Plan {
    fn eq(&self, other: &Self) -> bool {
        self.keys == other.keys
    }
}

/// Reads a plan file. `file_name` is used in messages and, without its
/// extension, as the plan's name where the plan has none.
///
/// # Errors
///
/// Every mistake in the text, each with its place.
pub fn parse(file_name: &str, text: &str) -> Result<Plan, Diagnostics> {
    let source = Source::new(file_name, text);
    let mut problems = Problems::default();
    let keys = match yaml::read(text) {
        Ok(root) => section::read::<PlanKeys>(&root, &mut problems),
        Err(wrong) => {
            problems.error("syntax", wrong.span, wrong.message);
            return Err(problems.finish(&source));
        }
    };
    check_version(&keys, &mut problems);
    Plan::checked(keys, source, Spelling::Plan, problems)
}

fn check_version(keys: &PlanKeys, problems: &mut Problems) {
    match &keys.plan {
        Some(version) if version.value.0 == u64::from(PLAN_SCHEMA) => {}
        Some(version) => {
            let message = format!(
                "this plan has the version {}; this fathom reads version {PLAN_SCHEMA}",
                version.value.0
            );
            problems.error("version", version.span, message);
        }
        None => problems.push(
            error("version", None, "the plan does not say its version")
                .help(format!("begin the file with `plan: {PLAN_SCHEMA}`")),
        ),
    }
}

impl Plan {
    /// Checks the keys and keeps them when nothing is wrong.
    ///
    /// # Errors
    /// Everything that is wrong with them.
    pub fn checked(
        keys: PlanKeys,
        source: Source,
        spelling: Spelling,
        mut problems: Problems,
    ) -> Result<Plan, Diagnostics> {
        check_numbers(&keys, &mut problems);
        crate::check::host_mode::check(&keys, &mut problems);
        let rows = check_workloads(&keys, &mut problems);
        for row in &rows {
            if problems.is_full() {
                break;
            }
            rows::check(row, spelling, &mut problems);
        }
        crate::together::turns(&rows, &mut problems);
        check_trials(&keys, rows.len(), &mut problems);
        let failed = problems.has_errors();
        let warnings = problems.finish(&source);
        match failed {
            true => Err(warnings),
            false => Ok(Plan {
                keys,
                source,
                spelling,
                warnings,
            }),
        }
    }

    /// A plan from code that is known to be right.
    pub fn trusted(keys: PlanKeys) -> Plan {
        let source = Source::new("", "");
        Plan {
            keys,
            warnings: Problems::default().finish(&source),
            source,
            spelling: Spelling::Flags,
        }
    }

    /// The plan's name: its own, or that of its file.
    pub fn name(&self) -> String {
        match &self.keys.name {
            Some(name) => name.value.0.clone(),
            None => {
                let file = self.source.name.rsplit('/').next().unwrap_or_default();
                let stem = file
                    .strip_suffix(".yaml")
                    .or_else(|| file.strip_suffix(".yml"));
                stem.unwrap_or(file).to_owned()
            }
        }
    }

    /// Warnings that were found while reading. More need facts of the host:
    /// see [`Plan::lint`].
    pub fn warnings(&self) -> &Diagnostics {
        &self.warnings
    }

    /// The targets that the plan names; empty when it leaves them to the
    /// command line.
    pub fn targets(&self) -> Vec<Target> {
        let targets = self.keys.targets.as_ref();
        let targets = targets.map_or(&[][..], |t| &t.value.0);
        targets.iter().map(|t| t.value.clone()).collect()
    }

    /// Replaces the targets.
    pub fn set_targets(&mut self, targets: Vec<Target>) {
        let targets = targets.into_iter().map(Located::new).collect();
        self.keys.targets = Some(Located::new(Targets(targets)));
    }

    /// The seed, where the plan has one.
    pub fn seed(&self) -> Option<u64> {
        self.keys.seed.as_ref().map(|seed| seed.value.0)
    }

    /// Sets the seed.
    pub fn set_seed(&mut self, seed: u64) {
        self.keys.seed = Some(Located::new(Count(seed)));
    }

    /// Trials of each row.
    pub fn iterations(&self) -> u32 {
        let iterations = self.keys.iterations.as_ref();
        iterations.map_or(DEFAULT_ITERATIONS, |n| {
            u32::try_from(n.value.0).unwrap_or(u32::MAX)
        })
    }

    /// Sets the trials of each row; 0 counts as 1.
    pub fn set_iterations(&mut self, iterations: u32) {
        let iterations = u64::from(iterations).clamp(1, MAX_ITERATIONS);
        self.keys.iterations = Some(Located::new(Count(iterations)));
    }

    /// Whether the plan allows devices and foreign files to be overwritten.
    pub fn destructive(&self) -> bool {
        self.keys.destructive.as_ref().is_some_and(|d| d.value.0)
    }

    /// Whether test files stay for the next run.
    pub fn keep_files(&self) -> bool {
        self.keys.keep_files.as_ref().is_some_and(|k| k.value.0)
    }

    /// Whether a row whose limiter is unknown is probed at twice its depth.
    pub fn depth_probe(&self) -> bool {
        self.keys.probe.as_ref().is_none_or(|p| p.value.0)
    }

    /// Whether the effect of the payload is probed.
    pub fn payload_probe(&self) -> bool {
        self.keys.payload_probe.as_ref().is_some_and(|p| p.value.0)
    }

    /// The plan as a plan file that [`parse`] reads back to an equal plan.
    pub fn to_yaml(&self) -> String {
        yaml::write(&Out::Map(self.keys.entries()))
    }

    pub(crate) fn rows(&self) -> Vec<Row> {
        // Problems were reported when the plan was read.
        rows::rows(&self.keys, &mut Problems::default())
    }

    /// A plan from code: one entry per workload, no file behind it.
    pub fn build(name: &str, workloads: Vec<WorkloadKeys>) -> PlanKeys {
        let workloads = workloads.into_iter().map(Located::new).collect();
        PlanKeys {
            plan: Some(Located::new(Count(u64::from(PLAN_SCHEMA)))),
            name: Some(Located::new(Name(name.to_owned()))),
            workloads: Some(Located::new(WorkloadList(workloads))),
            ..PlanKeys::default()
        }
    }

    /// Lets devices and foreign files be overwritten, or not.
    pub fn set_destructive(&mut self, destructive: bool) {
        self.keys.destructive = Some(Located::new(Switch(destructive)));
    }

    /// Gives the plan a name.
    pub fn set_name(&mut self, name: &str) {
        self.keys.name = Some(Located::new(Name(name.to_owned())));
    }

    /// Keeps the test files for the next run, or not.
    pub fn set_keep_files(&mut self, keep: bool) {
        self.keys.keep_files = Some(Located::new(Switch(keep)));
    }
}

fn check_numbers(keys: &PlanKeys, problems: &mut Problems) {
    if let Some(iterations) = &keys.iterations
        && !(1..=MAX_ITERATIONS).contains(&iterations.value.0)
    {
        let message = format!("iterations must be from 1 to {MAX_ITERATIONS}");
        problems.error("limit", iterations.span, message);
    }
    if let Some(pause) = &keys.pause {
        let floor = pause.value.floor.as_ref();
        let ceiling = pause.value.ceiling.as_ref();
        let (floor_ns, ceiling_ns) = crate::pause::pause_bounds(Some(&pause.value));
        if floor_ns > ceiling_ns {
            let message = "the floor of the pause is above its ceiling";
            let span = floor.or(ceiling).and_then(|t| t.span);
            let problem = error("pause", span, message);
            problems.push(problem.help("the ceiling is 3s where none is given"));
        }
        if ceiling_ns > fathom_model::limits::MAX_PAUSE_NS {
            let span = ceiling.or(floor).and_then(|t| t.span);
            problems.error("limit", span, "a pause can last a day at most");
        }
    }
}

fn check_workloads(keys: &PlanKeys, problems: &mut Problems) -> Vec<Row> {
    let workloads = keys.workloads.as_ref();
    if workloads.is_none_or(|w| w.value.0.is_empty()) {
        // A list that could not be read was reported already.
        if !problems.has_errors() {
            problems.push(
                error(
                    "no_workload",
                    workloads.and_then(|w| w.span),
                    "the plan has no workload",
                )
                .help(
                    "add for example:\nworkloads:\n  - rw: randread\n    bs: 4k\n    runtime: 30s",
                ),
            );
        }
        return Vec::new();
    }
    rows::rows(keys, problems)
}

fn check_trials(keys: &PlanKeys, rows: usize, problems: &mut Problems) {
    let iterations = keys.iterations.as_ref();
    let each = iterations.map_or(u64::from(DEFAULT_ITERATIONS), |n| n.value.0);
    let targets = keys.targets.as_ref().map_or(1, |t| t.value.0.len().max(1));
    let trials = each
        .saturating_mul(rows as u64)
        .saturating_mul(targets as u64);
    if trials > MAX_TRIALS && each <= MAX_ITERATIONS {
        let span = keys.matrix.as_ref().and_then(|m| m.span);
        let message = format!(
            "{rows} rows × {targets} targets × {each} iterations make {trials} trials; the limit \
             is {MAX_TRIALS}"
        );
        let span = span.or(iterations.and_then(|i| i.span));
        problems.push(
            error("too_many_trials", span, message).help("give fewer values, or split the plan"),
        );
    }
}

#[cfg(test)]
#[path = "plan_tests.rs"]
mod tests;
