//! The report of a test in the form of the standard.

mod plot;
mod records;
mod table;

use fathom_model::figure::{Figure, Throughput, digits};
use fathom_model::judged::JudgedTrial;
use fathom_model::schedule::TrialRole;
use fathom_model::snia::{SniaFact, SniaPart, SniaReport, SniaRequirement};
use fathom_model::view::{ByUnit, ReportPart, Requirement, StandardReport, StatedFact, View};
use fathom_model::{Estimate, JudgedRun, Unit, unit};
use fathom_rules::check::v11::{CAVEAT, EXCURSION};

/// How to read the figures.
const NOTE: &str = "R/W: reads over writes in percent. Figures are means over the rounds of the \
                    measurement window. Rounds before it are in the convergence plot; the store \
                    and the JSON have their trials.";

/// The view of a run with this report.
pub(super) fn view(run: &JudgedRun, report: &SniaReport) -> View {
    let parts = |throughput| {
        let parts = report.parts.iter();
        parts
            .map(|part| part_of(report, part, throughput))
            .collect()
    };
    let unlisted = run.trials.iter().filter(|trial| !is_listed(trial));
    View {
        anchor: "snia",
        title: format!("SNIA SSS PTS 2.0.2: {}", report.test.title()),
        notes: vec![NOTE.to_owned()],
        standard: Some(StandardReport {
            conforming: report.conforming,
            claim: report.claim.clone(),
            requirements: report.requirements.iter().map(requirement).collect(),
            facts: report.facts.iter().map(fact).collect(),
            parts: ByUnit::of(parts),
        }),
        records: Some(records::of(&run.run.id, report)),
        unlisted_trials: unlisted.map(|trial| trial.index).collect(),
        ..View::default()
    }
}

/// Whether a trial gets a place of its own: of hundreds of rounds only those
/// of the measurement window, and what came before the rounds.
fn is_listed(trial: &JudgedTrial) -> bool {
    let before = trial.workload.bounds.time_ns.is_none();
    trial.role == TrialRole::Measure || before
}

fn requirement(of: &SniaRequirement) -> Requirement {
    Requirement {
        name: of.name.clone(),
        kept: of.kept,
        evidence: of.evidence.clone(),
    }
}

fn fact(of: &SniaFact) -> StatedFact {
    StatedFact {
        name: of.name.clone(),
        value: of.value.clone(),
    }
}

fn part_of(report: &SniaReport, part: &SniaPart, throughput: Throughput) -> ReportPart {
    let figures = window(part, throughput).into_iter();
    ReportPart {
        name: (report.parts.len() > 1).then(|| part.name.clone()),
        headline: headline(part),
        figures: figures
            .map(|(name, value)| StatedFact {
                name: name.to_owned(),
                value,
            })
            .collect(),
        charts: plot::of(report.test, part, throughput),
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
            format!("{} (20 % of the average)", value(average * CAVEAT)),
        ),
        (
            "Data excursion, actual",
            format!(
                "{} ({}), {}",
                value(average * window.range),
                percent(window.range),
                mark(window.range <= CAVEAT)
            ),
        ),
        (
            "Slope excursion, max allowed",
            format!("{} (10 % of the average)", value(average * EXCURSION)),
        ),
        (
            "Slope excursion, actual",
            format!(
                "{} ({}), {}",
                value(average * window.excursion),
                percent(window.excursion),
                mark(window.excursion <= EXCURSION)
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
fn value(unit: Unit, value: f64, throughput: Throughput) -> String {
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
