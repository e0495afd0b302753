//! The output of the script: sections between signs that `grep '==='` finds,
//! the line of each host, sums and averages.

use std::fmt::Write as _;

use super::{AtIoIopsUnit, AtIoSection};
use fathom_model::run::{RunRecord, TrialRecord};

use super::rate::{Rate, rate};

const RULE: &str = "=====";

/// The head of a section: its title, and the settings as `at_io_iops -a` prints
/// them.
pub fn head(section: &AtIoSection) -> String {
    let version = concat!("fathom ", env!("CARGO_PKG_VERSION"));
    let options = &section.options;
    let command_line = format!("-a {}", options.command_line());
    let files = format!("{}/at_io_iops-hN.0…", options.place.display());
    let settings = options.settings(&command_line, version, &files);
    format!("{RULE} {} {RULE}\n{settings}", section.title)
}

/// The lines of all hosts in all iterations, each with its sum, and their
/// average.
pub fn results(record: &RunRecord, unit: AtIoIopsUnit) -> String {
    let mut text = String::new();
    let mut sums: Vec<f64> = Vec::new();
    let iterations = record.trials.iter().map(|trial| trial.spec.iteration).max();
    for iteration in 0..iterations.map_or(0, |last| last + 1) {
        let of_it = |trial: &&TrialRecord| trial.spec.iteration == iteration;
        let rates: Vec<(String, String, Option<Rate>)> = record
            .trials
            .iter()
            .filter(of_it)
            .map(|trial| (host(record, trial), time_of_day(trial), rate(trial, unit)))
            .collect();
        if rates.is_empty() {
            continue;
        }
        let mut sum = 0.0;
        for (number, (host, time, rate)) in (1..).zip(&rates) {
            let state = if rate.is_some() { "SUCCESS" } else { "FAILURE" };
            let _ = writeln!(text, "[{number}] {time} [{state}] {host}");
            if let Some(rate) = rate {
                sum += rate.per_second();
                let _ = writeln!(text, "{}", rate.line(unit));
            }
        }
        let number = iteration + 1;
        let _ = writeln!(
            text,
            "  Sum value on iteration {number} = {{ {sum:.5} }} {};",
            unit.name()
        );
        sums.push(sum);
    }
    let average = sums.iter().sum::<f64>() / sums.len().max(1) as f64;
    let _ = writeln!(
        text,
        "{RULE} Average value = {{ {average:.5} }} {}; {RULE}",
        unit.name()
    );
    text
}

fn host(record: &RunRecord, trial: &TrialRecord) -> String {
    let place = trial
        .spec
        .host
        .and_then(|place| record.meta.hosts.get(place as usize));
    place.map_or_else(|| "localhost".to_owned(), |host| host.name.clone())
}

/// When a trial was over, by the wall clock.
fn time_of_day(trial: &TrialRecord) -> String {
    let began_ns = trial.end.as_ref().and_then(|end| end.load_started_unix_ns);
    let measured_ns: u64 = trial.samples.iter().map(|sample| sample.duration_ns).sum();
    let ended_ns = began_ns
        .unwrap_or(trial.started_unix_ns)
        .saturating_add(measured_ns);
    let at = jiff::Timestamp::from_nanosecond(i128::from(ended_ns)).unwrap_or_default();
    let at = at.to_zoned(jiff::tz::TimeZone::system());
    at.strftime("%H:%M:%S").to_string()
}
