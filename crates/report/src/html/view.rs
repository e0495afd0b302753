//! What the page's template is filled with.

use askama::Template;
use fathom_model::figure;
use fathom_model::target::Target;
use fathom_model::verdict::Fit;
use fathom_model::{Finding, JudgedRun, JudgedTrial, RunState, unit};

use super::cell::{self, Badge, NumberCell};
use super::checks::Checks;
use super::comparison::ComparisonView;
use super::fingerprint::{TargetView, host_facts, target_view};
use super::hosts::HostsSection;
use super::key_figures::{self, KeyFigure};
use super::overview;
use super::rows::{self, ResultLine};
use super::standard::StandardSection;
use crate::chart::figure::ChartFigure;
use crate::chart::{self, Drawing, bars};
use crate::steady::{self, RungLine};
use crate::view::{Results, Section};
use crate::{affected, facts, headline, limits, moment, names, shape};

/// Points that all lines of a page may have together, by which the number of
/// buckets of each is chosen: of charts that the script draws there may be more.
const PAGE_BUCKETS: usize = 48_000;
const LATER_BUCKETS: usize = 200_000;
/// Pages of more points or trials leave the charts of folded trials to the script.
const INLINE_POINTS: usize = 12_000;
const INLINE_TRIALS: usize = 40;
/// A line needs no more buckets than its chart has pixels.
const MOST_BUCKETS: usize = 600;
/// Up to so many trials are shown open.
const OPEN_TRIALS: usize = 2;
/// Bytes of charts in a page; the charts of trials beyond are left out.
const MOST_CHART_BYTES: usize = 6 << 20;

/// The page.
#[derive(Template)]
#[template(path = "report.html")]
pub(super) struct Page<'a> {
    style: &'static str,
    script: &'static str,
    run: &'a JudgedRun,
    on_targets: String,
    started: String,
    spent: String,
    below: Vec<String>,
    label: Option<String>,
    ended: Option<String>,
    failures: Option<String>,
    unfinished: Vec<Unfinished>,
    figures: Vec<KeyFigure>,
    sentence: String,
    answers: &'a [String],
    next: Option<String>,
    overview: Vec<ChartFigure>,
    /// Whether there are intervals in it.
    overview_ranges: bool,
    badge: Badge,
    affected: Option<String>,
    /// How many rows the validity applies to, where not to all.
    affected_rows: Option<String>,
    checks: String,
    objections: Vec<&'a Finding>,
    limiter: &'static str,
    limiter_lines: Vec<String>,
    /// The same in one line.
    limiter_line: String,
    ceiling: Option<String>,
    fitness: Option<FitnessView<'a>>,
    fleet: Option<HostsSection>,
    study: Option<Section<'a>>,
    standard: Option<StandardSection<'a>>,
    compared: Option<ComparisonView<'a>>,
    form: Option<Results<'a>>,
    results: Vec<ResultLine>,
    /// What was measured beside them, and why.
    control: Option<String>,
    sums: Vec<rows::SumTable>,
    /// How the tables of results are read, and those of trials where that says more.
    reading: String,
    trials_reading: String,
    several_targets: bool,
    iterations: bool,
    trials: Vec<TrialView<'a>>,
    trials_undrawn: usize,
    judged: Checks<'a>,
    host: Vec<(String, String)>,
    target_facts: Vec<TargetView>,
    command: String,
}

/// A trial that did not end as planned.
pub(super) struct Unfinished {
    number: u32,
    state: &'static str,
    label: String,
    reason: String,
}

/// The third question, where it was asked.
pub(super) struct FitnessView<'a> {
    pub(super) target: &'a str,
    /// Empty where the answers of the study have it.
    pub(super) evidence: &'a str,
    pub(super) words: &'static str,
    pub(super) class: &'static str,
    pub(super) sign: &'static str,
}

/// One trial.
pub(super) struct TrialView<'a> {
    trial: &'a JudgedTrial,
    number: u32,
    name: String,
    open: bool,
    state: &'static str,
    finished: bool,
    badge: Badge,
    limiter: &'static str,
    facts: Vec<(&'static str, String)>,
    lines: Vec<(String, Vec<NumberCell>)>,
    charts: Vec<Vec<ChartFigure>>,
    /// The charts are drawn when the trial is opened.
    later: bool,
    objections: Vec<&'a Finding>,
    steadiness: Option<String>,
    ladder: Vec<RungLine>,
}

impl<'a> Page<'a> {
    /// Fills the page.
    pub(super) fn of(run: &'a JudgedRun) -> Page<'a> {
        let findings = &run.verdict.findings;
        let targets = facts::targets(run);
        let (trials, trials_undrawn) = trial_views(run);
        let overview = overview::charts(run);
        let form = facts::result_form(run).map(Results::of);
        let sentence = headline::sentence(run);
        let results = rows::lines(run, rows::results(run));
        let sums = rows::sums(run);
        let reading = reading(form.as_ref(), &results, &sums);
        let of_trials = trials.iter().flat_map(|trial| &trial.lines);
        let of_trials = cell::reading(of_trials.flat_map(|line| &line.1));
        Page {
            style: super::STYLE,
            script: super::SCRIPT,
            run,
            started: moment::readable(run.run.started_unix_ns),
            spent: spent(run),
            below: below(run),
            label: facts::label_line(run),
            ended: facts::ended_line(run),
            failures: facts::failures_line(run),
            unfinished: facts::unfinished(run).map(unfinished).collect(),
            badge: Badge::of(run.verdict.validity),
            affected: affected::rows(run),
            affected_rows: affected::of(run).map(|rows| rows.count),
            checks: checks_line(findings),
            figures: key_figures::of(run),
            next: headline::next_step(run),
            overview_ranges: overview.iter().any(bars::has_ranges),
            overview,
            objections: names::objections(findings),
            limiter: names::limiter(run.verdict.limiter),
            limiter_lines: limits::limiter_lines(run),
            limiter_line: limits::limiter_line(run),
            ceiling: limits::ceiling_line(run),
            fitness: fitness_view(run),
            fleet: HostsSection::of(run),
            study: facts::answer(run).map(|view| Section::below(&sentence, view)),
            sentence,
            standard: StandardSection::of(run),
            compared: run.comparison.as_ref().map(ComparisonView::of),
            answers: headline::more_answers(run),
            trials_reading: if of_trials == reading {
                String::new()
            } else {
                of_trials
            },
            form,
            results,
            control: rows::control_line(run),
            sums,
            reading,
            several_targets: targets.len() > 1,
            iterations: run.trials.iter().any(|t| t.iteration > 0),
            on_targets: facts::on_targets(run),
            trials,
            trials_undrawn,
            judged: Checks::of(findings),
            host: host_facts(run),
            target_facts: facts::fingerprints(run)
                .into_iter()
                .map(target_view)
                .collect(),
            command: run.run.command_line.join(" "),
        }
    }
}

impl Page<'_> {
    /// Whether the study has charts, which say more than bars of the rows.
    fn study_first(&self) -> bool {
        self.study.as_ref().is_some_and(Section::has_charts)
    }

    /// Where the first charts are, and the name of the link to them; `None` without any.
    fn first_charts(&self) -> Option<(&'static str, &'static str)> {
        match facts::answer(self.run) {
            Some(view) if self.study_first() => Some((view.anchor, "Charts")),
            _ if self.overview.is_empty() => None,
            _ => Some(("overview", "Overview")),
        }
    }
}

pub(super) fn fitness_view(run: &JudgedRun) -> Option<FitnessView<'_>> {
    let fitness = run.verdict.fitness.as_ref()?;
    let is_said = run.view.as_ref().is_some_and(|view| view.says_fitness);
    let (class, sign) = match fitness.outcome {
        Fit::Met => ("good", "✓"),
        Fit::NotProven => ("warn", "▲"),
        Fit::NotMet => ("bad", "✕"),
    };
    Some(FitnessView {
        target: &fitness.target,
        evidence: if is_said { "" } else { &fitness.evidence },
        words: names::fit(fitness.outcome),
        class,
        sign,
    })
}

/// How the tables of results are read.
fn reading(form: Option<&Results<'_>>, results: &[ResultLine], sums: &[rows::SumTable]) -> String {
    let of_form = form.into_iter().flat_map(Results::cells);
    let of_rows = results.iter().flat_map(|line| &line.cells);
    let of_sums = sums.iter().flat_map(|sum| &sum.lines);
    let of_sums = of_sums.flat_map(|line| &line.1);
    cell::reading(of_form.chain(of_rows).chain(of_sums))
}

/// `21 checks passed, 3 could not run here, 1 objection`.
fn checks_line(findings: &[Finding]) -> String {
    let passed = names::checks_passed(findings, names::NOT_RUN);
    match names::objections(findings).len() {
        0 => passed,
        n => format!("{passed}, {}", unit::counted(n as u64, "objection")),
    }
}

/// What lies under the targets, for the head of the page.
fn below(run: &JudgedRun) -> Vec<String> {
    let mut lines = Vec::new();
    for target in facts::fingerprints(run) {
        lines.extend(target.filesystem.as_ref().map(facts::filesystem_line));
        lines.extend(facts::leaves(target).map(facts::device_line));
    }
    lines.dedup();
    lines
}

/// How long it took; of simulated drives, by their own clock.
fn spent(run: &JudgedRun) -> String {
    let is_simulated = |trial: &JudgedTrial| matches!(trial.target, Target::Sim(_));
    if !run.trials.is_empty() && run.trials.iter().all(is_simulated) {
        let durations = run.trials.iter().map(|trial| trial.summary.duration_ns);
        return unit::span(durations.sum());
    }
    run.run
        .ended_unix_ns
        .and_then(|end| end.checked_sub(run.run.started_unix_ns))
        .map_or(String::new(), unit::span)
}

fn unfinished(trial: &JudgedTrial) -> Unfinished {
    Unfinished {
        number: trial.index + 1,
        state: names::state(trial.state),
        label: trial.label.clone(),
        reason: facts::reason_of(trial).to_owned(),
    }
}

fn trial_views(run: &JudgedRun) -> (Vec<TrialView<'_>>, usize) {
    let open = run.trials.len() <= OPEN_TRIALS;
    let drawing = drawing(run, open);
    let mut room = MOST_CHART_BYTES;
    let mut undrawn = 0;
    let unlisted = run.view.as_ref().map(|view| &view.unlisted_trials);
    let is_listed = |trial: &&JudgedTrial| unlisted.is_none_or(|them| !them.contains(&trial.index));
    let views = run
        .trials
        .iter()
        .filter(is_listed)
        .map(|trial| {
            let charts = if room > 0 {
                chart::draw(trial, drawing)
            } else {
                undrawn += 1;
                Vec::new()
            };
            room = room.saturating_sub(charts.iter().flatten().map(ChartFigure::bytes).sum());
            TrialView {
                name: facts::trial_name(run, trial),
                open,
                later: drawing.bare && !charts.is_empty(),
                ..trial_view(trial, charts)
            }
        })
        .collect();
    (views, undrawn)
}

/// How the charts of trials are drawn: whole where a page of them is small, so that it
/// needs no script.
fn drawing(run: &JudgedRun, open: bool) -> Drawing {
    // Two lines of throughput, two of devices, two of CPU and five
    // percentiles per kind of operation.
    let lines = |trial: &JudgedTrial| 6 + 5 * trial.summary.ops.len();
    let all: usize = run.trials.iter().map(lines).sum();
    let buckets = |points: usize| (points / all.max(1)).clamp(60, MOST_BUCKETS);
    let whole = buckets(PAGE_BUCKETS);
    let points = run.trials.iter();
    let points = points.map(|trial| lines(trial) * trial.intervals.len().min(whole));
    let is_large = points.sum::<usize>() > INLINE_POINTS || run.trials.len() > INLINE_TRIALS;
    match is_large && !open {
        true => Drawing {
            buckets: buckets(LATER_BUCKETS),
            bare: true,
        },
        false => Drawing {
            buckets: whole,
            bare: false,
        },
    }
}

fn trial_view<'a>(trial: &'a JudgedTrial, charts: Vec<Vec<ChartFigure>>) -> TrialView<'a> {
    TrialView {
        trial,
        number: trial.index + 1,
        name: trial.label.clone(),
        open: false,
        state: names::state(trial.state),
        finished: trial.state == RunState::Complete,
        badge: Badge::of(trial.verdict.validity),
        limiter: names::limiter(trial.verdict.limiter),
        facts: trial_facts(trial),
        lines: rows::trial_cells(trial),
        charts,
        later: false,
        objections: names::objections(&trial.verdict.findings),
        steadiness: trial.steadiness.as_ref().map(steady::headline),
        ladder: trial
            .steadiness
            .as_ref()
            .map(steady::ladder)
            .unwrap_or_default(),
    }
}

fn trial_facts(trial: &JudgedTrial) -> Vec<(&'static str, String)> {
    let summary = &trial.summary;
    let mut out = vec![
        ("Workload", shape::words(&trial.workload)),
        ("Target", trial.target.to_string()),
        ("Started", moment::readable(trial.started_unix_ns)),
        ("Measured", unit::span(summary.duration_ns)),
    ];
    if let Some(engine) = summary.engine {
        let direct = if summary.direct {
            ", O_DIRECT"
        } else {
            ", page cache"
        };
        out.push(("Engine", format!("{}{direct}", engine.name())));
    }
    out.push(("Data set", unit::bytes(summary.active_bytes).to_string()));
    if let Some(in_flight) = summary.mean_in_flight {
        out.push(("Mean in flight", figure::digits(in_flight)));
    }
    if let Some(cpu) = summary.cpu_ns_per_op {
        out.push(("CPU per operation", unit::latency(cpu)));
    }
    if let Some(work) = crate::objects::work(trial) {
        out.push(("Objects", work));
    }
    if let Some(tree) = crate::files::tree(trial) {
        out.push(("Files", tree));
    }
    for (name, at) in crate::files::line(trial).into_iter().flat_map(|line| {
        [
            ("First worker done", line.first),
            ("Last worker done", line.last),
        ]
    }) {
        if let Some((rate, ns)) = at {
            let text = format!("{} ops/s in {}", unit::count(rate), unit::span(ns));
            out.push((name, text));
        }
    }
    if let Some(share) = limits::trial_ceiling_share(trial) {
        out.push(("Generator headroom used", figure::percent(share)));
    }
    if let Some(flush) = summary.final_flush_ns {
        out.push(("Final flush", unit::latency(flush as f64)));
    }
    if let Some(lateness) = &summary.lateness {
        let p99 = crate::summary::percentile(lateness, 99.0);
        let max = lateness
            .max_ns
            .map_or("n/a".to_owned(), |ns| unit::latency(ns as f64));
        out.push(("Schedule lag", format!("p99 {}, max {max}", p99.inline())));
    }
    out.push(("Seed", trial.seed.to_string()));
    out
}
