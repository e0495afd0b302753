//! Stored runs side by side as one page.

use askama::Template;
use fathom_model::figure::Throughput;
use fathom_model::{Comparison, JudgedRun};

use super::compared_figures;
use super::comparison::ComparisonView;
use super::key_figures::KeyFigure;
use crate::chart::figure::ChartFigure;
use crate::chart::overlay;
use crate::compared_sides::{self, LETTERS, SidesTable};
use crate::table::Align;
use crate::{Result, moment};

#[derive(Template)]
#[template(path = "compared.html")]
struct Page<'a> {
    style: &'static str,
    script: &'static str,
    version: &'static str,
    title: String,
    /// What each side is, and when it was measured.
    sides: Vec<String>,
    figures: Vec<KeyFigure>,
    /// Why it does not prove anything, each reason once.
    reasons: Vec<&'a str>,
    overlay: Vec<ChartFigure>,
    /// Where A stands beside more than one side.
    all_sides: Option<SidesTable>,
    /// How their table is read.
    reading: String,
    comparisons: Vec<ComparisonView<'a>>,
}

/// The comparisons of the runs of side `a` with each of the others as one HTML document.
///
/// # Errors
/// Only when the template engine fails.
pub fn render(a: &[JudgedRun], others: &[(Comparison, Vec<JudgedRun>)]) -> Result<String> {
    let mut labels: Vec<&str> = others.iter().map(|(of, _)| of.a.label.as_str()).collect();
    labels.truncate(1);
    labels.extend(others.iter().map(|(of, _)| of.b.label.as_str()));
    let first = labels.first().map_or("", |label| *label);
    let mut sides = vec![side('A', first, a)];
    for ((comparison, b), letter) in others.iter().zip(LETTERS) {
        sides.push(side(letter, &comparison.b.label, b));
    }
    let mut trials = vec![a];
    trials.extend(others.iter().map(|(_, b)| b.as_slice()));
    let comparisons = others.iter().map(|(comparison, _)| comparison);
    let comparisons: Vec<&Comparison> = comparisons.collect();
    super::page(&Page {
        style: super::STYLE,
        script: super::SCRIPT,
        version: env!("CARGO_PKG_VERSION"),
        title: labels.join(" and "),
        sides,
        figures: compared_figures::of_all(&comparisons),
        reasons: reasons(&comparisons),
        overlay: overlay::of_sides(&trials),
        all_sides: (others.len() > 1).then(|| SidesTable::of(&comparisons, Throughput::Binary)),
        reading: compared_sides::reading(&comparisons),
        comparisons: match others {
            // The reasons of a single comparison are said above.
            [(comparison, _)] => vec![ComparisonView {
                reasons: &[],
                ..ComparisonView::of(comparison)
            }],
            _ => sections(&comparisons),
        },
    })
}

fn reasons<'a>(comparisons: &[&'a Comparison]) -> Vec<&'a str> {
    let mut reasons: Vec<&str> = Vec::new();
    for reason in comparisons
        .iter()
        .flat_map(|comparison| &comparison.reasons)
    {
        if !reasons.contains(&reason.as_str()) {
            reasons.push(reason);
        }
    }
    reasons
}

fn sections<'a>(comparisons: &[&'a Comparison]) -> Vec<ComparisonView<'a>> {
    let sides = comparisons.iter().zip(LETTERS);
    sides
        .map(|(comparison, letter)| ComparisonView::of_side(comparison, letter))
        .collect()
}

fn is_right(align: &Align) -> bool {
    *align == Align::Right
}

/// `A: quick on /data (20261127-…), 2026-11-27 18:05:55 UTC on node1; …`.
fn side(letter: char, label: &str, runs: &[JudgedRun]) -> String {
    let runs = runs.iter().map(|run| {
        let when = moment::readable(run.run.started_unix_ns);
        format!("{when} on {}", run.host.hostname)
    });
    let runs: Vec<String> = runs.collect();
    format!("{letter}: {label}, {}", runs.join("; "))
}
