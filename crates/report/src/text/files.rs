//! Operations on files: what each phase did in all, first and last finisher,
//! and what it cost.

use fathom_model::{JudgedRun, JudgedTrial, unit};

use super::page::Page;
use crate::facts;
use crate::files::{self, FileLine};
use crate::table::{Align, Table};

pub(super) fn write(page: &mut Page, run: &JudgedRun) {
    let lines: Vec<(&JudgedTrial, FileLine)> = run
        .trials
        .iter()
        .filter_map(|trial| Some((trial, files::line(trial)?)))
        .collect();
    let Some((first, _)) = lines.first() else {
        return;
    };
    if let Some(text) = files::tree(first) {
        page.field("Files", &text);
        page.blank();
    }
    let head = ["done", "first done", "last done", "CPU/op", "max"];
    let columns = head.map(|text| (text, Align::Right));
    let mut table = Table::new(std::iter::once(("", Align::Left)).chain(columns));
    let iterations = run.trials.iter().any(|trial| trial.iteration > 0);
    for (trial, line) in lines {
        let mut name = facts::trial_name(run, trial);
        if iterations {
            name.push_str(&format!(" #{}", trial.iteration + 1));
        }
        let finisher = |at: Option<(f64, u64)>| match at {
            Some((rate, ns)) => format!("{}/s in {}", unit::count(rate), unit::span(ns)),
            None => "-".to_owned(),
        };
        table.row([
            name,
            unit::group(line.ops),
            finisher(line.first),
            finisher(line.last),
            line.cpu_ns.map_or_else(|| "-".to_owned(), unit::latency),
            line.max_ns
                .map_or_else(|| "-".to_owned(), |ns| unit::latency(ns as f64)),
        ]);
    }
    page.block(&table.render());
}
