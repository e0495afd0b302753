//! The strip of figures at the head of a page: the few numbers that a reader
//! came for, each with its unit and its interval.
//!
//! Which rows give them follows from what the workloads do, not from the study
//! that ran them. Nothing is computed here: every figure is that of a row.

use fathom_model::figure::{Figure, Interval, Throughput};
use fathom_model::judged::{OpSummary, ResultRow};
use fathom_model::view::{AnswerFigure, AnswerValue};
use fathom_model::{Estimate, JudgedRun, OpKind, Validity};

use super::cell::Badge;
use super::{compared_figures, host_figures};
use crate::{facts, summary};

/// Figures in the strip; more would not be a strip.
pub(crate) const MOST: usize = 6;
/// Above blocks of this size people think in throughput, below in IOPS.
const SMALL_BLOCK: f64 = (64 << 10) as f64;

/// One figure.
#[derive(Debug, Clone, Default)]
pub(crate) struct KeyFigure {
    /// What it is: `Random read`.
    pub(crate) name: String,
    /// Where it is from: the row, or nothing where there is one.
    pub(crate) row: String,
    pub(crate) number: String,
    pub(crate) unit: String,
    /// The interval in words, or why there is none.
    pub(crate) interval: String,
    /// What a reader learns on demand.
    pub(crate) hint: String,
    pub(crate) bar: Option<IntervalBar>,
    /// Where the row is not trusted, or only with caveats.
    pub(crate) badge: Option<Badge>,
}

/// Percentages of the bar's width; it starts at zero.
#[derive(Debug, Clone)]
pub(crate) struct IntervalBar {
    pub(crate) value: String,
    /// Where an interval or range around the value begins, and how wide it is.
    pub(crate) range: Option<(String, String)>,
}

impl KeyFigure {
    /// A figure with its unit behind the last space: `9.41 Gbit/s`.
    pub(crate) fn measured(name: impl Into<String>, text: &str) -> KeyFigure {
        let (number, unit) = text.rsplit_once(' ').unwrap_or((text, ""));
        KeyFigure {
            name: name.into(),
            number: number.to_owned(),
            unit: unit.to_owned(),
            ..KeyFigure::default()
        }
    }

    /// How much of the most that there can be, or was, the value is.
    pub(crate) fn out_of(mut self, value: f64, most: f64) -> KeyFigure {
        self.bar = IntervalBar::plain(value, most);
        self
    }

    /// Where in its range the value lies.
    pub(crate) fn within(mut self, value: f64, low: f64, high: f64) -> KeyFigure {
        self.bar = IntervalBar::of(value, low, high);
        self
    }

    /// The figure of a row of this validity.
    pub(crate) fn judged(mut self, validity: Validity) -> KeyFigure {
        self.badge = (validity != Validity::Trusted).then(|| Badge::short(validity));
        self
    }

    /// What is said below the number.
    pub(crate) fn below(mut self, interval: impl Into<String>) -> KeyFigure {
        self.interval = interval.into();
        self
    }
}

impl IntervalBar {
    /// The bar of a value and its range; nothing where they are not finite.
    fn of(value: f64, low: f64, high: f64) -> Option<IntervalBar> {
        let end = high.max(value);
        let bar = IntervalBar::plain(value, end)?;
        let (from, to) = (percent_of(low, end), percent_of(high, end));
        low.is_finite().then(|| IntervalBar {
            range: Some((format!("{from:.1}"), format!("{:.1}", (to - from).max(0.8)))),
            ..bar
        })
    }

    /// The bar of a value on a track that ends at `most`.
    fn plain(value: f64, most: f64) -> Option<IntervalBar> {
        (most > 0.0 && most.is_finite() && value.is_finite()).then(|| IntervalBar {
            value: format!("{:.1}", percent_of(value, most)),
            range: None,
        })
    }
}

fn percent_of(value: f64, whole: f64) -> f64 {
    100.0 * (value / whole).clamp(0.0, 1.0)
}

/// The figures of a run, the most important first.
pub(super) fn of(run: &JudgedRun) -> Vec<KeyFigure> {
    if let Some(comparison) = &run.comparison {
        return compared_figures::of(comparison);
    }
    if let Some(figures) = host_figures::of(run) {
        return figures;
    }
    if let Some(figures) = of_study(run) {
        return figures;
    }
    let rows: Vec<&ResultRow> = run
        .rows
        .iter()
        .filter(|row| facts::is_result(row) && !row.ops.is_empty())
        .collect();
    let mut figures = match rows.as_slice() {
        [row] => of_row(run, row),
        rows => {
            let best = best_of(run, rows);
            if best.len() > 1 {
                best
            } else {
                let each = rows.iter().filter_map(|row| {
                    let op = main_op(row)?;
                    Some(rate(run, row, op, title(op.kind.name())))
                });
                each.collect()
            }
        }
    };
    figures.truncate(MOST);
    figures
}

/// The figures of the answer of the run's study; nothing where it has none.
fn of_study(run: &JudgedRun) -> Option<Vec<KeyFigure>> {
    let answer = run.view.as_ref().map(|view| view.figures.as_slice());
    let answer = answer.filter(|figures| !figures.is_empty())?;
    Some(answer.iter().take(MOST).map(of_answer).collect())
}

fn of_answer(answer: &AnswerFigure) -> KeyFigure {
    let name = answer.name.clone();
    let shown = match &answer.value {
        AnswerValue::Estimate(estimate) => figure(estimate, name, "IOPS"),
        AnswerValue::Text(text) => KeyFigure::measured(name, text),
    };
    KeyFigure {
        row: answer.place.clone(),
        ..shown.judged(answer.validity)
    }
}

/// The one row: how much, how often, how long.
fn of_row(run: &JudgedRun, row: &ResultRow) -> Vec<KeyFigure> {
    let ops: Vec<&OpSummary> = row.ops.iter().filter(|op| op.kind.is_data()).collect();
    let mut figures = Vec::new();
    for op in &ops {
        let kind = title(op.kind.name());
        if op.kind.moves_bytes() {
            let name = format!("{kind} throughput");
            figures.push(by_level(run, row, op, bytes_per_second, name));
        }
        let name = format!("{kind} rate");
        figures.push(by_level(run, row, op, ops_per_second, name));
        // A percentile over several levels means nothing; that of the last one is what stays.
        let last = run.levels_of(row).and_then(|levels| {
            let last = levels.level_ops().into_iter().next_back()?;
            last.iter().find(|of_level| of_level.kind == op.kind)
        });
        let kind = match last {
            Some(_) => format!("{kind}, last level:"),
            None => kind,
        };
        let latency = summary::first_latency(last.unwrap_or(op));
        let percents: &[f64] = if ops.len() > 1 {
            &[99.0]
        } else {
            &[50.0, 99.0]
        };
        for percent in percents {
            let name = format!("{kind} {}", summary::percentile_name(*percent));
            figures.push(figure(&latency.percentile(*percent), name, ""));
        }
    }
    let commit = row.ops.iter().find(|op| op.kind == OpKind::Commit);
    if let Some(op) = commit {
        // A commit is what the user waits for; its rate comes before the blocks'.
        let alone = KeyFigure {
            row: String::new(),
            badge: None,
            ..rate(run, row, op, "Durable commits".to_owned())
        };
        figures.insert(0, alone);
        let p99 = summary::first_latency(op).percentile(99.0);
        figures.insert(1, figure(&p99, "Commit p99".to_owned(), ""));
    }
    let figures = figures.into_iter();
    let validity = row.verdict.validity;
    figures.map(|figure| figure.judged(validity)).collect()
}

/// For each kind of workload the row with most in flight, and the best of several such: a
/// row that fitted into a cache must not stand for one that filled it.
fn best_of(run: &JudgedRun, rows: &[&ResultRow]) -> Vec<KeyFigure> {
    let best = |name: &str, random: bool, kind: OpKind, alone: bool| {
        let found = rows.iter().filter_map(|row| {
            let workload = &facts::first_trial(run, row)?.workload;
            let in_flight = u64::from(workload.workers) * u64::from(workload.queue_depth);
            let fits = workload.pattern.is_random() == random && (!alone || in_flight == 1);
            let op = row.ops.iter().find(|op| op.kind == kind)?;
            let commits = row.ops.iter().any(|op| op.kind == OpKind::Commit);
            let fits = fits && !(commits && kind != OpKind::Commit);
            let value = if random {
                op.ops_per_second.value
            } else {
                op.bytes_per_second.value
            };
            fits.then_some((in_flight, value?, *row, op))
        });
        let (.., row, op) = found.max_by(|a, b| a.0.cmp(&b.0).then(a.1.total_cmp(&b.1)))?;
        Some((row.row, rate(run, row, op, name.to_owned())))
    };
    let commits = rows.iter().find_map(|row| {
        let op = row.ops.iter().find(|op| op.kind == OpKind::Commit)?;
        Some((row.row, rate(run, row, op, "Durable commits".to_owned())))
    });
    let found = [
        best("Sequential read", false, OpKind::Read, false),
        best("Sequential write", false, OpKind::Write, false),
        best("Random read", true, OpKind::Read, false),
        best("Random write", true, OpKind::Write, false),
        best("Random read, one at a time", true, OpKind::Read, true),
        commits,
    ];
    let mut seen = Vec::new();
    let mut figures = Vec::new();
    for (row, figure) in found.into_iter().flatten() {
        if !seen.contains(&(row, figure.number.clone())) {
            seen.push((row, figure.number.clone()));
            figures.push(figure);
        }
    }
    figures
}

/// The operation of a row that says most: its commits, or what it did most.
fn main_op(row: &ResultRow) -> Option<&OpSummary> {
    let commit = row.ops.iter().find(|op| op.kind == OpKind::Commit);
    let data = row.ops.iter().filter(|op| op.kind.is_data());
    commit.or_else(|| data.max_by_key(|op| op.ops))
}

/// The rate of an operation of a row in the unit in which people think of it.
fn rate(run: &JudgedRun, row: &ResultRow, op: &OpSummary, name: String) -> KeyFigure {
    let mean = op.bytes as f64 / op.ops.max(1) as f64;
    let shown = match op.kind.moves_bytes() && mean > SMALL_BLOCK {
        true => by_level(run, row, op, bytes_per_second, name),
        false => by_level(run, row, op, ops_per_second, name),
    };
    KeyFigure {
        row: row_name(run, row),
        ..shown.judged(row.verdict.validity)
    }
}

fn bytes_per_second(op: &OpSummary) -> &Estimate {
    &op.bytes_per_second
}

fn ops_per_second(op: &OpSummary) -> &Estimate {
    &op.ops_per_second
}

/// A figure of a row, or those of its levels: their mean is a rate that it never had.
fn by_level(
    run: &JudgedRun,
    row: &ResultRow,
    op: &OpSummary,
    estimate: fn(&OpSummary) -> &Estimate,
    name: String,
) -> KeyFigure {
    let shown = figure(estimate(op), name, rate_unit(op.kind));
    let text = run
        .levels_of(row)
        .and_then(|levels| levels.level_text(op.kind, estimate, Throughput::Binary));
    match text {
        Some(number) => KeyFigure {
            number,
            interval: "its levels".to_owned(),
            hint: "no one rate describes it".to_owned(),
            bar: None,
            ..shown
        },
        None => shown,
    }
}

fn rate_unit(kind: OpKind) -> &'static str {
    match kind {
        OpKind::Read | OpKind::Write | OpKind::Trim => "IOPS",
        OpKind::Commit => "/s",
        _ => "ops/s",
    }
}

/// An estimate as it stands in the strip; `unit` where its own is none.
pub(super) fn figure(estimate: &Estimate, name: String, unit: &'static str) -> KeyFigure {
    let figure = Figure::of(estimate, Throughput::Binary);
    let (own, interval) = match &figure {
        Figure::Known {
            unit,
            interval: Some(Interval { low, high, .. }),
            ..
        } => (*unit, format!("95 %: {low} to {high}")),
        Figure::Known { unit, .. } => (*unit, "no interval".to_owned()),
        Figure::Missing { .. } => ("", "too few data".to_owned()),
    };
    let unit = match (figure.is_missing(), own) {
        (true, _) => "",
        (false, "") => unit,
        (false, own) => own,
    };
    KeyFigure {
        name,
        number: figure.number(),
        unit: unit.to_owned(),
        interval,
        hint: figure.reason().unwrap_or_default().to_owned(),
        bar: bar(estimate),
        ..KeyFigure::default()
    }
}

fn bar(estimate: &Estimate) -> Option<IntervalBar> {
    IntervalBar::of(estimate.value?, estimate.low?, estimate.high?)
}

fn row_name(run: &JudgedRun, row: &ResultRow) -> String {
    facts::first_trial(run, row)
        .map_or_else(|| row.label.clone(), |trial| facts::trial_name(run, trial))
}

/// With a capital, and words instead of a name's underscores.
pub(super) fn title(text: &str) -> String {
    let text = text.replace('_', " ");
    let mut letters = text.chars();
    letters.next().map_or(String::new(), |first| {
        first.to_uppercase().chain(letters).collect()
    })
}
