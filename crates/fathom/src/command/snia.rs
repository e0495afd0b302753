//! `fathom snia`: the tests of the SNIA performance test specification.

mod arguments;
mod arrange;

pub(crate) use arguments::Snia;

use fathom_analysis::snia::{SniaOptions, SniaRounds};
use fathom_model::Target;
use fathom_model::schedule::Purpose;
use fathom_plan::IoFlags;
use fathom_studies::snia::{LEAST_ROUNDS, estimate};

use crate::command::run::schedule;
use crate::exit::Exit;
use crate::pipeline::{self, Request};
use crate::{present, run_identity};

pub(crate) fn run(snia: Snia) -> anyhow::Result<Exit> {
    let (test, common) = snia.into_parts();
    let target: Target = match common.target.parse() {
        Ok(target) => target,
        Err(error) => return usage(&error.to_string()),
    };
    let place = match arrange::place(&target, common.size) {
        Ok(place) => place,
        Err(problem) => return usage(&problem),
    };
    let settings = match arrange::settings(test, &common, &target, &place) {
        Ok(settings) => settings,
        Err(problem) => return usage(&problem),
    };
    let color = present::use_color(common.output.format.color, &std::io::stderr());
    let mut plan = match base_flags(&settings, place.size_bytes).to_plan(target.clone()) {
        Ok(plan) => plan,
        Err(problems) => {
            present::write_stderr(&problems.render(color));
            return Ok(Exit::Usage);
        }
    };
    plan.set_name(&format!("snia {}", test.name()));
    plan.set_destructive(common.destructive);
    plan.set_keep_files(common.keep_files);
    plan.set_seed(common.seed.unwrap_or_else(run_identity::fresh_seed));
    let Some(mut schedule) = schedule(&plan, color) else {
        return Ok(Exit::Usage);
    };
    let Some(first) = schedule.trials.first() else {
        return usage("there is nothing to measure");
    };
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

/// The workload from which all others are made: random writes of 4 KiB.
fn base_flags(settings: &fathom_model::snia::SniaSettings, size_bytes: Option<u64>) -> IoFlags {
    let mut flags = IoFlags::default();
    flags.fill_in("rw", "randwrite");
    flags.fill_in("bs", "4k");
    flags.fill_in("iodepth", &settings.outstanding.to_string());
    flags.fill_in("warmup", "0s");
    let seconds = settings.round_ns / 1_000_000_000;
    flags.fill_in("runtime", &format!("{seconds}s"));
    if let Some(bytes) = size_bytes {
        flags.fill_in("size", &bytes.to_string());
    }
    flags
}

fn usage(problem: &str) -> anyhow::Result<Exit> {
    present::complain(problem);
    Ok(Exit::Usage)
}
