//! Plan files, read and scheduled with what this host knows of their targets.

use std::io::Read;
use std::path::Path;

use anyhow::Context;
use fathom_model::Schedule;
use fathom_observe::similar_name;
use fathom_plan::{Diagnostics, Plan, ScheduleContext};

use crate::output_flags::Color;
use crate::{distinct_files, present, surroundings};

/// More than any plan needs; keeps a wrong file from being read whole.
const PLAN_BYTES_MAX: u64 = 1 << 20;

/// The mistakes of a plan, each with its place.
#[derive(Debug, thiserror::Error)]
#[error("{}", .problems.render(false))]
pub struct PlanError {
    /// The mistakes.
    pub problems: Box<Diagnostics>,
    /// When they are shown in colour.
    pub color: Color,
}

impl PlanError {
    /// In the colour of the command.
    #[must_use]
    pub fn new(problems: Diagnostics, color: Color) -> PlanError {
        PlanError {
            problems: Box::new(problems),
            color,
        }
    }
}

/// A plan on this host, trial by trial.
///
/// # Errors
/// What of the plan cannot be done here.
pub fn schedule_here(plan: &Plan, color: Color) -> anyhow::Result<Schedule> {
    distinct_files::check_targets(&plan.targets())?;
    let schedule = plan.schedule(&surroundings::of(plan));
    Ok(schedule.map_err(|problems| PlanError::new(problems, color))?)
}

/// A plan on other hosts, trial by trial.
///
/// # Errors
/// What of the plan cannot be done anywhere.
pub fn schedule_on_hosts(plan: &Plan, color: Color) -> Result<Schedule, PlanError> {
    let schedule = plan.schedule(&surroundings::elsewhere());
    schedule.map_err(|problems| PlanError::new(problems, color))
}

/// Reads and checks a plan. Warnings go to standard error, and are mistakes
/// where they are denied.
///
/// # Errors
/// The file cannot be read, or the mistakes of the plan.
pub fn usable_plan(
    path: &Path,
    surroundings: fn(&Plan) -> ScheduleContext,
    color: Color,
    deny_warnings: bool,
) -> anyhow::Result<Plan> {
    let name = path.display().to_string();
    let text = read_limited(path)?;
    let plan = fathom_plan::parse(&name, &text);
    let plan = plan.map_err(|problems| PlanError::new(problems, color))?;
    let warnings = plan.lint(&surroundings(&plan));
    if warnings.is_empty() {
        return Ok(plan);
    }
    if deny_warnings {
        return Err(PlanError::new(warnings, color).into());
    }
    let color = present::use_color(color, &std::io::stderr());
    present::write_styled_stderr(&warnings.render(color));
    Ok(plan)
}

fn read_limited(path: &Path) -> anyhow::Result<String> {
    let mut text = String::new();
    let what = || format!("cannot read the plan {}", path.display());
    if path == Path::new("-") {
        std::io::stdin()
            .take(PLAN_BYTES_MAX + 1)
            .read_to_string(&mut text)
            .with_context(what)?;
    } else {
        let hint = || similar_name(path).map(|name| format!(" (did you mean '{name}'?)"));
        let similar = || format!("{}{}", what(), hint().unwrap_or_default());
        let file = fathom_deadline::paths::open(path).with_context(similar)?;
        file.take(PLAN_BYTES_MAX + 1)
            .read_to_string(&mut text)
            .with_context(what)?;
    }
    anyhow::ensure!(
        text.len() as u64 <= PLAN_BYTES_MAX,
        "the plan {} is longer than 1 MiB; is it the right file?",
        path.display()
    );
    Ok(text)
}
