//! `fathom curve`: a figure against a swept quantity.

mod arguments;
mod arrange;

pub(crate) use arguments::Curve;
pub(crate) use arrange::least_block;

use arguments::Common;
use fathom_model::Target;
use fathom_model::schedule::Purpose;
use fathom_observe::Sysroot;
use fathom_studies::curve::CurveConductor;

use crate::command::run::schedule;
use crate::exit::Exit;
use crate::pipeline::{self, Request};
use crate::{present, run_identity};

pub(crate) fn run(curve: Curve) -> anyhow::Result<Exit> {
    let (sweep, swept, common) = curve.into_parts();
    let target: Target = match common.target.parse() {
        Ok(target) => target,
        Err(error) => return usage(&error.to_string()),
    };
    let Common {
        mut flags,
        seconds,
        seed,
        destructive,
        keep_files,
        output,
        ..
    } = common;
    if let Some(problem) = arrange::conflict(sweep, &flags) {
        return usage(&problem);
    }
    let arrival = flags.take_arrival();
    arrange::fill_in(sweep, &mut flags, &target, seconds);
    let plan = flags.to_plan(target.clone());
    let mut plan = match plan {
        Ok(plan) => plan,
        Err(problems) => {
            let color = present::use_color(output.format.color, &std::io::stderr());
            present::write_stderr(&problems.render(color));
            return Ok(Exit::Usage);
        }
    };
    plan.set_name(&format!("curve {}", sweep.name().replace('_', "-")));
    plan.set_destructive(destructive);
    plan.set_keep_files(keep_files);
    plan.set_seed(seed.unwrap_or_else(run_identity::fresh_seed));
    let color = present::use_color(output.format.color, &std::io::stderr());
    let Some(mut schedule) = schedule(&plan, color) else {
        return Ok(Exit::Usage);
    };
    let options = match arrange::options(sweep, &swept, &plan, &schedule, arrival) {
        Ok(options) => options,
        Err(problem) => return usage(&problem),
    };
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

fn usage(problem: &str) -> anyhow::Result<Exit> {
    present::complain(problem);
    Ok(Exit::Usage)
}
