//! A run on one sheet of paper, and a second one with its main charts: what a report
//! to others needs, without the evidence of each trial.

use std::collections::BTreeMap;

use askama::Template;
use fathom_model::judged::ResultRow;
use fathom_model::{Finding, JudgedRun};

use super::cell::Badge;
use super::comparison::ComparisonView;
use super::hosts::HostsSection;
use super::key_figures::{self, KeyFigure};
use super::overview;
use super::rows::{self, ResultLine};
use super::view::{FitnessView, fitness_view};
use crate::Result;
use crate::chart::figure::ChartFigure;
use crate::chart::{self, Drawing};
use crate::view::{Results, Section};
use crate::{affected, facts, headline, limits, moment, names};

/// Rows of results that fit on the sheet.
const MOST_ROWS: usize = 24;
/// Where the charts on the second sheet hold them all there are fewer.
const MOST_POINT_ROWS: usize = 12;
/// Of several hosts each is a row, and the slowest are named above.
const MOST_HOST_ROWS: usize = 10;
/// Objections that fit on the sheet.
const MOST_OBJECTIONS: usize = 4;
/// Charts that fit on the second sheet, and pictures as wide as the sheet.
const MOST_CHARTS: usize = 6;
const MOST_STRIPS: usize = 1;
/// Points of a line.
const BUCKETS: usize = 300;

#[derive(Template)]
#[template(path = "summary.html")]
struct Page<'a> {
    style: &'static str,
    run: &'a JudgedRun,
    on_targets: String,
    started: String,
    label: Option<String>,
    ended: Option<String>,
    failures: Option<String>,
    figures: Vec<KeyFigure>,
    sentence: String,
    badge: Badge,
    /// How many rows the validity applies to, where not to all.
    affected_rows: Option<String>,
    checks: String,
    objections: Vec<&'a Finding>,
    more_objections: usize,
    limiter: &'static str,
    limiter_lines: Vec<String>,
    ceiling: Option<String>,
    fitness: Option<FitnessView<'a>>,
    next: Option<String>,
    answers: &'a [String],
    slowest: Vec<String>,
    compared: Option<ComparisonView<'a>>,
    form: Option<Results<'a>>,
    results: Vec<ResultLine>,
    has_intervals: bool,
    more_results: usize,
    strips: Vec<ChartFigure>,
    charts: Vec<ChartFigure>,
    command: String,
}

/// The summary of a run as one HTML document.
///
/// # Errors
/// Only when the template engine fails.
pub fn render(run: &JudgedRun) -> Result<String> {
    super::page(&Page::of(run))
}

impl<'a> Page<'a> {
    fn of(run: &'a JudgedRun) -> Page<'a> {
        let findings = &run.verdict.findings;
        let mut objections = names::objections(findings);
        let more_objections = objections.len().saturating_sub(MOST_OBJECTIONS);
        objections.truncate(MOST_OBJECTIONS);
        let mut results = rows::lines(run, slowest_first(run));
        let in_charts = run.view.as_ref().is_some_and(|view| view.charts_hold_rows);
        let most_rows = match run.fleet {
            Some(_) => MOST_HOST_ROWS,
            None if in_charts => MOST_POINT_ROWS,
            None => MOST_ROWS,
        };
        let more_results = results.len().saturating_sub(most_rows);
        results.truncate(most_rows);
        let (slowest, strips) = hosts(run);
        let strip_rows = strips.len();
        Page {
            style: super::STYLE,
            run,
            on_targets: facts::on_targets(run),
            started: moment::readable(run.run.started_unix_ns),
            label: facts::label_line(run),
            ended: facts::ended_line(run),
            failures: facts::failures_line(run),
            figures: figures(run),
            sentence: headline::sentence(run),
            badge: Badge::of(run.verdict.validity),
            affected_rows: affected::of(run).map(|rows| rows.count),
            checks: names::checks_passed(findings, names::NOT_RUN),
            objections,
            more_objections,
            limiter: names::limiter(run.verdict.limiter),
            limiter_lines: limits::limiter_lines(run),
            ceiling: limits::ceiling_line(run),
            fitness: fitness_view(run),
            next: headline::next_step(run),
            // The first one is the sentence.
            answers: run
                .view
                .as_ref()
                .and_then(|view| view.answers.get(1..))
                .unwrap_or_default(),
            slowest,
            compared: run.comparison.as_ref().map(ComparisonView::of),
            form: facts::result_form(run).map(Results::of),
            has_intervals: results.iter().any(|line| {
                let mut intervals = line.cells.iter().map(|cell| cell.interval());
                intervals.any(|interval| interval.is_some())
            }),
            results,
            more_results,
            strips,
            // Beside a picture of hosts there is room for two charts.
            charts: charts(run, MOST_CHARTS - 4 * strip_rows.min(1)),
            command: run.run.command_line.join(" "),
        }
    }
}

/// The key figures as numbers: paper shows no hints, and bars take room.
fn figures(run: &JudgedRun) -> Vec<KeyFigure> {
    let figures = key_figures::of(run).into_iter();
    let plain = figures.map(|figure| KeyFigure {
        bar: None,
        hint: String::new(),
        ..figure
    });
    plain.collect()
}

/// The rows of the results; those of hosts by their share of the median.
fn slowest_first(run: &JudgedRun) -> Vec<&ResultRow> {
    let mut rows = rows::results(run);
    let workloads = run.fleet.iter().flat_map(|fleet| &fleet.workloads);
    let shares = workloads.flat_map(|workload| {
        workload.hosts.iter().filter_map(|host| {
            let share = host.figure.value? / workload.median.filter(|median| *median > 0.0)?;
            Some((run.rows.get(host.row)?.row, share))
        })
    });
    let shares: BTreeMap<u32, f64> = shares.collect();
    let share = |row: &ResultRow| shares.get(&row.row).copied().unwrap_or(1.0);
    rows.sort_by(|a, b| share(a).total_cmp(&share(b)));
    rows
}

/// The slowest hosts under each workload, and the first picture of hosts.
fn hosts(run: &JudgedRun) -> (Vec<String>, Vec<ChartFigure>) {
    let workloads = HostsSection::of(run).map_or_else(Vec::new, |hosts| hosts.workloads);
    let slowest = workloads.iter().filter_map(|workload| {
        let line = workload.slowest.as_ref()?;
        Some(format!("{}: {line}", workload.table.title))
    });
    let slowest = slowest.take(MOST_OBJECTIONS).collect();
    let strips = workloads.into_iter().flat_map(|workload| workload.strips);
    let strips = strips.take(MOST_STRIPS).map(ChartFigure::still);
    (slowest, strips.collect())
}

/// The charts that say most about a run.
fn charts(run: &JudgedRun, most: usize) -> Vec<ChartFigure> {
    let mut all = overview::charts(run);
    if let Some(view) = facts::answer(run) {
        all.extend(Section::below("", view).charts());
    }
    if let Some(comparison) = &run.comparison {
        let charts = ComparisonView::of(comparison).charts;
        all.extend(charts.into_iter().flat_map(|(_, charts)| charts));
    }
    let drawing = Drawing {
        buckets: BUCKETS,
        bare: false,
    };
    // Of many trials no single one speaks for all.
    let alone = run.trials.first().filter(|_| run.rows.len() == 1);
    for (at, group) in alone
        .iter()
        .flat_map(|trial| chart::draw(trial, drawing))
        .enumerate()
    {
        // Of the trial as a whole its rates; devices and CPUs are on the page.
        let shown = if at == 0 { 2 } else { group.len() };
        all.extend(group.into_iter().take(shown));
    }
    all.truncate(most);
    all.into_iter().map(ChartFigure::still).collect()
}
