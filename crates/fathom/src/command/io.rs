//! `fathom io`: one workload from flags.

use fathom_model::Target;

use crate::cli::Io;
use crate::command::run::execute_plan_on;
use crate::exit::Exit;
use crate::present;

pub(crate) fn run(io: Io) -> anyhow::Result<Exit> {
    let target: Target = match io.target.parse() {
        Ok(target) => target,
        Err(error) => {
            present::complain(&error.to_string());
            return Ok(Exit::Usage);
        }
    };
    let plan = io
        .flags
        .to_plan(target)
        .and_then(|plan| io.plan.apply(&plan))
        .and_then(|plan| io.host_mode.apply(plan));
    let plan = match plan {
        Ok(plan) => plan,
        Err(problems) => {
            present::write_stderr(&problems.render(use_color(&io)));
            return Ok(Exit::Usage);
        }
    };
    execute_plan_on(&io.hosts, plan, io.output)
}

fn use_color(io: &Io) -> bool {
    present::use_color(io.output.format.color, &std::io::stderr())
}
