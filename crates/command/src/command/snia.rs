//! `fathom snia`: the tests of the SNIA performance test specification.

mod arguments;
mod place;

pub(crate) use arguments::Snia;

use std::os::unix::fs::FileTypeExt;

use fathom_engine::guard;
use fathom_model::Target;
use fathom_model::schedule::Purpose;
use fathom_studies::snia::{self, LEAST_ROUNDS, SniaOptions, SniaRounds, estimate};

use crate::command::run::schedule_here;
use crate::exit::{CommandError, Exit};
use crate::pipeline::{self, Request};
use crate::{present, run_identity};

pub(crate) fn run(of: Snia) -> anyhow::Result<Exit> {
    let (test, common) = of.into_parts();
    let color = common.output.format.color;
    let target: Target = common.target.parse().map_err(CommandError::usage)?;
    let place = place::place(&target, common.size).map_err(CommandError::usage)?;
    let settings = snia::settings(test, &common.choices(), &target, &place);
    let settings = settings.map_err(CommandError::usage)?;
    let plan = snia::plan(test, &target, &settings, &place);
    let mut plan = plan.map_err(|problems| CommandError::plan(problems, color))?;
    plan.set_destructive(common.destructive);
    plan.set_keep_files(common.keep_files);
    plan.set_seed(common.seed.unwrap_or_else(run_identity::fresh_seed));
    let mut schedule = schedule_here(&plan, color)?;
    let Some(first) = schedule.trials.first() else {
        return Err(CommandError::usage("there is nothing to measure").into());
    };
    let device = target.clone();
    let options = SniaOptions {
        test,
        target,
        base: first.workload.clone(),
        seed: schedule.seed,
        settings: settings.clone(),
    };
    let mut rounds = SniaRounds::new(options);
    let text = estimate(test, &settings, &rounds, &schedule, common.destructive);
    if common.dry_run {
        present::write_stdout(&text)?;
        if let Some(refused) = refusal(&device) {
            anyhow::bail!("this would not run: {refused}");
        }
        return Ok(Exit::Success);
    }
    if !common.output.quiet {
        present::write_stderr(&text);
    }
    schedule.trials = rounds.expected(LEAST_ROUNDS);
    schedule.purpose = Purpose::Snia {
        test: test.name().to_owned(),
        settings,
    };
    let request = Request {
        plan,
        schedule,
        label: None,
        output: common.output,
    };
    pipeline::Run::new(&request).conductor(&mut rounds).report()
}

/// Why the device of a target is not written to, where it is one.
fn refusal(target: &Target) -> Option<fathom_engine::Error> {
    let path = target.path()?;
    let kind = fathom_deadline::paths::metadata(path).ok()?.file_type();
    if !kind.is_block_device() {
        return None;
    }
    let guard = guard::inspect_device(path);
    guard.and_then(|guard| guard.permit()).err()
}
