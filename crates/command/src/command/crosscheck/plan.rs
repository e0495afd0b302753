//! The plan: from a file, or from flags for a target.

use std::path::Path;

use fathom_compat::fio::job_file::{FioExport, FioFiles};
use fathom_deadline::paths;
use fathom_model::Target;
use fathom_plan::Plan;
use fathom_studies::crosscheck::{CrossPlan, NotComparable};

use super::Crosscheck;
use crate::command::plan::not_in_fio;
use crate::command::run::{schedule_here, usable_plan};
use crate::exit::CommandError;
use crate::pipeline::FILE_PREFIX;
use crate::surroundings;

/// The plan and its rows.
pub(super) fn of(args: &Crosscheck) -> anyhow::Result<(Plan, CrossPlan)> {
    let plan = read(args)?;
    let schedule = schedule_here(&plan, args.output.color)?;
    let surroundings = surroundings::of(&plan);
    let export = FioExport {
        facts: &surroundings.facts,
        files: FioFiles::Given(FILE_PREFIX),
    };
    let rows = CrossPlan::of(schedule, args.seconds, &export, paths::is_dir);
    let rows = rows.map_err(|problem| match problem {
        NotComparable::NotInFio(refusals) => not_in_fio(&refusals),
        problem => CommandError::usage(problem),
    })?;
    Ok((plan, rows))
}

fn read(args: &Crosscheck) -> anyhow::Result<Plan> {
    let color = args.output.color;
    let path = Path::new(&args.plan);
    let extension = path.extension().and_then(|e| e.to_str());
    let target = args.target.as_deref().map(str::parse::<Target>);
    let made = if args.plan == "-" || matches!(extension, Some("yaml" | "yml")) {
        let mut plan = usable_plan(path, surroundings::of, color, false)?;
        if let Some(target) = target {
            plan.set_targets(vec![target.map_err(CommandError::usage)?]);
        }
        args.flags.apply(&plan)
    } else if target.is_some() {
        let problem = "--target goes with a plan; the target is named already";
        return Err(CommandError::usage(problem).into());
    } else {
        let target: Target = args.plan.parse().map_err(CommandError::usage)?;
        args.flags.to_plan(target)
    };
    let made = made.and_then(|plan| args.plan_flags.apply(&plan));
    Ok(made.map_err(|problems| CommandError::plan(problems, color))?)
}
