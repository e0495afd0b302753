//! The report of a test of the SNIA specification made ready to be shown, the
//! same for text, Markdown and HTML.

mod csv;
mod markdown;
mod plot;
mod table;

pub(crate) use csv::render as csv;
pub(crate) use markdown::push as push_markdown;
pub(crate) use table::Matrix;

use fathom_model::figure::{Figure, Throughput, digits};
use fathom_model::snia::{SniaFact, SniaPart, SniaReport, SniaRequirement};
use fathom_model::view::plot::Plot;
use fathom_model::{Estimate, JudgedRun, Unit, unit};

/// A report to be shown.
pub(crate) struct SniaView<'a> {
    /// What was run.
    pub(crate) title: String,
    /// Every requirement was kept.
    pub(crate) conforming: bool,
    /// What may be claimed.
    pub(crate) claim: &'a str,
    pub(crate) requirements: &'a [SniaRequirement],
    pub(crate) facts: &'a [SniaFact],
    pub(crate) parts: Vec<PartView>,
}

/// One part with its rounds.
pub(crate) struct PartView {
    /// What it is called, where there are several.
    pub(crate) name: Option<String>,
    /// Whether steady state was achieved, in a word.
    pub(crate) headline: String,
    /// The window's numbers in the standard's terms: name and value.
    pub(crate) window: Vec<(&'static str, String)>,
    /// Convergence, measurement window, results.
    pub(crate) plots: Vec<Plot>,
    /// The results.
    pub(crate) tables: Vec<Matrix>,
}

/// The report of a run, where it is such a test.
pub(crate) fn view(run: &JudgedRun, throughput: Throughput) -> Option<SniaView<'_>> {
    let report = run.snia.as_ref()?;
    Some(SniaView {
        title: format!("SNIA SSS PTS 2.0.2: {}", report.test.title()),
        conforming: report.conforming,
        claim: &report.claim,
        requirements: &report.requirements,
        facts: &report.facts,
        parts: report
            .parts
            .iter()
            .map(|part| part_view(report, part, throughput))
            .collect(),
    })
}

fn part_view(report: &SniaReport, part: &SniaPart, throughput: Throughput) -> PartView {
    PartView {
        name: (report.parts.len() > 1).then(|| part.name.clone()),
        headline: headline(part),
        window: window(part, throughput),
        plots: plot::of(report.test, part, throughput),
        tables: table::of(report.test, part, throughput),
    }
}

fn headline(part: &SniaPart) -> String {
    let rounds = match part.rounds() {
        1 => "1 round".to_owned(),
        n => format!("{} rounds", unit::group(n as u64)),
    };
    match (part.window_from, part.steady) {
        (None, _) => format!("{rounds}: too few for a measurement window"),
        (Some(from), true) => format!(
            "steady state achieved in {rounds}, measurement window {} to {}",
            unit::group(u64::from(from)),
            unit::group(part.rounds() as u64)
        ),
        (Some(_), false) => format!("steady state not achieved in {rounds}"),
    }
}

/// The window's numbers as the standard prints them.
fn window(part: &SniaPart, throughput: Throughput) -> Vec<(&'static str, String)> {
    let mut lines = vec![("Tracked variable", part.tracked.clone())];
    let Some(window) = &part.window else {
        return lines;
    };
    let value = |v: f64| value(part.unit, v, throughput);
    let average = window.average;
    let percent = |share: f64| format!("{} %", digits(share * 100.0));
    let (scale, name) = scale(part.unit, throughput);
    let mark = |kept: bool| if kept { "within" } else { "beyond" };
    lines.extend([
        ("Average in the window", value(average)),
        (
            "Data excursion, max allowed",
            format!("{} (20 % of the average)", value(average * 0.2)),
        ),
        (
            "Data excursion, actual",
            format!(
                "{} ({}), {}",
                value(average * window.range),
                percent(window.range),
                mark(window.range <= 0.2)
            ),
        ),
        (
            "Slope excursion, max allowed",
            format!("{} (10 % of the average)", value(average * 0.1)),
        ),
        (
            "Slope excursion, actual",
            format!(
                "{} ({}), {}",
                value(average * window.excursion),
                percent(window.excursion),
                mark(window.excursion <= 0.1)
            ),
        ),
    ]);
    lines.extend(part.formula(scale).map(|formula| {
        let text = format!("{formula} in {name}, R the number of the round");
        ("Least-squares line", text)
    }));
    lines
}

/// Base units in the unit of a formula, and its name.
fn scale(unit: Unit, throughput: Throughput) -> (f64, &'static str) {
    match unit {
        Unit::BytesPerSecond => (throughput.bytes(), throughput.name()),
        Unit::Nanoseconds => (1e3, "µs"),
        _ => (1.0, "IOPS"),
    }
}

/// A fact of the run with its unit.
pub(crate) fn value(unit: Unit, value: f64, throughput: Throughput) -> String {
    let text = Figure::of(
        &Estimate::point(unit, value, "a fact of this run"),
        throughput,
    )
    .value();
    match unit {
        Unit::OpsPerSecond if !text.contains("ops") => format!("{text} IOPS"),
        _ => text,
    }
}
