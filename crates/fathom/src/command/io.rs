//! `fathom io`: one workload from flags.

use fathom_model::Target;

use crate::cli::Io;
use crate::command::run::execute_plan;
use crate::exit::Exit;

pub(crate) fn run(io: Io) -> anyhow::Result<Exit> {
    let target: Target = match io.target.parse() {
        Ok(target) => target,
        Err(error) => return Ok(usage(&error)),
    };
    let mut plan = match io.flags.to_plan(target) {
        Ok(plan) => plan,
        Err(error) => return Ok(usage(&error)),
    };
    plan.set_iterations(io.iterations);
    execute_plan(plan, None, io.output)
}

fn usage(error: &dyn std::fmt::Display) -> Exit {
    crate::present::complain(&error.to_string());
    Exit::Usage
}
