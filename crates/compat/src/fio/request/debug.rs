//! What `--debug` says of criteria of a steady state and of random numbers, in
//! the words that scripts look for.

use fathom_model::Schedule;

use super::jobs::{FioJobs, FioSetting};
use super::switches::FioRun;
use super::value::words::{self, Steady};

/// One line for each criterion that is written anywhere.
pub fn fio_steady_words(jobs: &FioJobs) -> String {
    let own = jobs.jobs.iter().flat_map(|job| &job.settings);
    let all = jobs.globals.iter().chain(own);
    let criteria = all.filter(|setting| setting.option.name == "steadystate");
    criteria.filter_map(line).collect()
}

fn line(setting: &FioSetting) -> Option<String> {
    let steady = words::steady(setting.value.as_deref()?).ok()?;
    let Steady {
        of, limit, percent, ..
    } = steady;
    let words = match (percent, of) {
        (true, _) => format!("threshold to {limit:.6}%"),
        (false, "iops") => format!("IOPS threshold to {limit:.6}"),
        (false, "bw") => format!("BW threshold to {limit:.0}"),
        (false, _) => format!("latency threshold to {limit:.0} nsec"),
    };
    Some(format!("parse    0 set steady state {words}\n"))
}

/// What `--debug=random` says: where the random numbers of each job begin.
pub fn fio_random_words(schedule: &Schedule, run: &FioRun) -> String {
    let debug = run.debug.as_deref().unwrap_or_default();
    if !debug
        .split(',')
        .any(|part| part == "random" || part == "all")
    {
        return String::new();
    }
    let jobs = schedule.trials.iter().zip(1..);
    let lines = jobs.map(|(trial, number): (_, u32)| {
        format!(
            "random   {number} FIO_RAND_NR_OFFS=1\nrandom   {number} rand_seeds[0]={}\n",
            trial.seed
        )
    });
    lines.collect()
}
