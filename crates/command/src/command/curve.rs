//! `fathom curve`: a figure against a swept quantity.

mod arguments;
mod look;

pub(crate) use arguments::Curve;
pub(crate) use look::least_block;

use arguments::Common;
use fathom_model::Target;
use fathom_model::schedule::Purpose;
use fathom_observe::Sysroot;
use fathom_studies::curve::{self, CurveConductor, TargetLook};

use crate::command::run::schedule_here;
use crate::exit::{CommandError, Exit};
use crate::pipeline::{self, Request};
use crate::{run_identity, surroundings};

pub(crate) fn run(of: Curve) -> anyhow::Result<Exit> {
    let (sweep, swept, common) = of.into_parts();
    let target: Target = common.target.parse().map_err(CommandError::usage)?;
    let Common {
        mut flags,
        seconds,
        seed,
        destructive,
        keep_files,
        output,
        ..
    } = common;
    let color = output.format.color;
    curve::refuse_conflict(sweep, &flags).map_err(CommandError::usage)?;
    let seconds = curve::point_seconds(&mut flags, seconds).map_err(CommandError::usage)?;
    let arrival = flags.take_arrival();
    curve::fill_in(sweep, &mut flags, look::room(&target), seconds);
    let plan = flags.to_plan(target.clone());
    let mut plan = plan.map_err(|problems| CommandError::plan(problems, color))?;
    plan.set_name(&format!("curve {}", sweep.name().replace('_', "-")));
    plan.set_destructive(destructive);
    plan.set_keep_files(keep_files);
    plan.set_seed(seed.unwrap_or_else(run_identity::fresh_seed));
    let mut schedule = schedule_here(&plan, color)?;
    let look = TargetLook {
        least_block_bytes: &least_block,
        size_bytes: &|target| surroundings::of(&plan).facts.get(target)?.size_bytes,
    };
    let options = curve::options(sweep, &swept, &schedule, arrival, &look);
    let options = options.map_err(CommandError::usage)?;
    let slo = options.base.slo.as_ref().map(ToString::to_string);
    let host = fathom_observe::host_fingerprint(&Sysroot::host());
    let mut conductor = CurveConductor::new(options, host);
    schedule.trials = conductor.expected();
    schedule.purpose = Purpose::Curve {
        sweep: sweep.name().to_owned(),
        slo,
    };
    // Writes of a few seconds may stay in caches.
    let writes = schedule.trials.iter().any(|t| t.workload.mix.modifies());
    let label = writes.then(|| "burst".to_owned());
    let request = Request {
        plan,
        schedule,
        label,
        output,
    };
    pipeline::Run::new(&request)
        .conductor(&mut conductor)
        .report()
}
