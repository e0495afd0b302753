//! The rows of a plan: every workload with every combination of its matrix.

use std::collections::BTreeMap;

use crate::diagnostic::{Problems, error};
use crate::keys::{Axis, Matrix, PlanKeys, WorkloadKeys};
use crate::label;
use crate::limits::MAX_TRIALS;
use crate::node::{Located, Span};
use crate::section::Section;
use crate::spelling::Spelling;

/// One workload with all its keys: defaults, its own, one point of the matrix.
#[derive(Debug, Clone)]
pub(crate) struct Row {
    /// The keys put together.
    pub(crate) keys: WorkloadKeys,
    /// Name of the workload.
    pub(crate) name: String,
    /// What the row is called.
    pub(crate) label: String,
    /// Where the workload stands.
    pub(crate) entry: Option<Span>,
    /// Number of the workload in the plan.
    pub(crate) workload: usize,
}

/// All rows in the order of the plan, or an error where there are too many.
pub(crate) fn rows(plan: &PlanKeys, problems: &mut Problems) -> Vec<Row> {
    let workloads = plan.workloads.as_ref().map_or(&[][..], |w| &w.value.0);
    let total = match count(plan, workloads) {
        Some(total) if total <= MAX_TRIALS => total,
        _ => {
            let span = plan.matrix.as_ref().and_then(|m| m.span);
            let message = format!("the matrix makes more than {MAX_TRIALS} rows");
            let help = "give fewer values, or split the plan";
            problems.push(error("too_many_trials", span, message).help(help));
            return Vec::new();
        }
    };
    let mut rows: Vec<Row> = Vec::with_capacity(usize::try_from(total).unwrap_or(0));
    for (number, workload) in workloads.iter().enumerate() {
        let axes = axes(plan, &workload.value);
        fixed_and_varied(plan, workload, problems);
        let mut base = WorkloadKeys::default();
        if let Some(defaults) = &plan.defaults {
            base.overlay(&defaults.value);
        }
        base.overlay(&workload.value);
        base.matrix = None;
        expand(&base, &axes, (number, workload.span), &mut rows);
    }
    unique_labels(&rows, problems);
    rows
}

/// The axes of a workload: the plan's, then its own; its own values win.
fn axes<'a>(plan: &'a PlanKeys, workload: &'a WorkloadKeys) -> Vec<&'a Axis> {
    let list = |matrix: &'a Option<Located<Matrix>>| {
        matrix.as_ref().map_or(&[][..], |m| m.value.0.as_slice())
    };
    let own = list(&workload.matrix);
    let shared = list(&plan.matrix).iter();
    shared
        .filter(|axis| !own.iter().any(|mine| mine.key == axis.key))
        .chain(own)
        .collect()
}

fn count(plan: &PlanKeys, workloads: &[Located<WorkloadKeys>]) -> Option<u64> {
    workloads.iter().try_fold(0u64, |total, workload| {
        let points = axes(plan, &workload.value)
            .iter()
            .try_fold(1u64, |product, axis| {
                product.checked_mul(axis.values.len() as u64)
            })?;
        total.checked_add(points)
    })
}

/// A key cannot be fixed by the workload and varied by the matrix.
fn fixed_and_varied(plan: &PlanKeys, workload: &Located<WorkloadKeys>, problems: &mut Problems) {
    let fixed = workload.value.entries();
    for axis in axes(plan, &workload.value) {
        if fixed.iter().any(|(key, _)| key == axis.key) {
            let message = format!(
                "`{}` is fixed by a workload and varied by the matrix",
                axis.key
            );
            problems.push(
                error("matrix_conflict", axis.span, message)
                    .relate(workload.span, "the workload")
                    .help(
                        "remove it from one of the two, or give the workloads that shall vary a \
                         matrix of their own",
                    ),
            );
        }
    }
}

/// Adds a row for each point of the matrix; the last axis varies fastest.
fn expand(base: &WorkloadKeys, axes: &[&Axis], place: (usize, Option<Span>), rows: &mut Vec<Row>) {
    let names: Vec<&'static str> = axes.iter().map(|axis| axis.key).collect();
    let mut at = vec![0usize; axes.len()];
    loop {
        let mut keys = base.clone();
        for (axis, value) in axes.iter().zip(&at) {
            if let Some(value) = axis.values.get(*value) {
                keys.overlay(value);
            }
        }
        rows.push(Row {
            name: label::name(&keys),
            label: label::label(&keys, &names),
            keys,
            entry: place.1,
            workload: place.0,
        });
        let Some(turn) = (0..axes.len())
            .rev()
            .find(|axis| at[*axis] + 1 < axes[*axis].values.len())
        else {
            return;
        };
        at[turn] += 1;
        at[turn + 1..].fill(0);
    }
}

/// Rows are told apart by their labels.
fn unique_labels(rows: &[Row], problems: &mut Problems) {
    let mut seen = BTreeMap::new();
    let mut told = None;
    for row in rows {
        if let Some(first) = seen.insert(row.label.as_str(), row.entry)
            && first != row.entry
            && told != Some(row.entry)
        {
            told = Some(row.entry);
            let message = format!("two workloads are called `{}`", row.label);
            problems.push(
                error("same_label", row.entry, message)
                    .relate(first, "the first")
                    .help("give one of them a `name`"),
            );
        }
    }
}

/// Resolves and checks a row without a particular target.
pub(crate) fn check(row: &Row, spelling: Spelling, problems: &mut Problems) {
    let shape = crate::resolve::TargetShape::guess(None);
    let workload = crate::resolve::resolve(&row.keys, &row.name, shape, spelling, problems);
    crate::limits::check(&row.keys, spelling, problems);
    crate::check::check(&row.keys, &workload, shape, row.entry, spelling, problems);
}
