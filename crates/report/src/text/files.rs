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
    let mut calls = Vec::new();
    for (trial, line) in lines {
        let mut name = facts::trial_name(run, trial);
        if iterations {
            name.push_str(&format!(" #{}", trial.iteration + 1));
        }
        let finisher = |at: Option<(f64, u64)>| match at {
            Some((rate, ns)) => format!("{}/s in {}", unit::count(rate), unit::span(ns)),
            None => "-".to_owned(),
        };
        if let Some(made) = files::calls(trial) {
            calls.push(format!("{name}: {made}"));
        }
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
    page.table(&table);
    // The same phase makes the same calls in each iteration.
    calls.truncate(run.rows.len());
    if !calls.is_empty() {
        page.blank();
        page.paragraph(
            0,
            2,
            "System calls on the files per operation, counted by the engine:",
        );
        for line in calls {
            page.paragraph(2, 4, &line);
        }
    }
    let lookups = crate::gluster::lines(run);
    if !lookups.is_empty() {
        page.blank();
    }
    for line in lookups {
        let text = line.trim_start();
        let indent = line.len() - text.len();
        page.paragraph(indent, indent + 2, text);
    }
}
