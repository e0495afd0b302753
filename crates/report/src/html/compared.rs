//! Stored runs side by side as one page.

use askama::Template;
use fathom_model::{Comparison, JudgedRun};

use super::compared_figures;
use super::comparison::ComparisonView;
use super::key_figures::KeyFigure;
use crate::chart::figure::ChartFigure;
use crate::chart::overlay;
use crate::{Result, moment};

#[derive(Template)]
#[template(path = "compared.html")]
struct Page<'a> {
    style: &'static str,
    script: &'static str,
    version: &'static str,
    a: &'a str,
    b: &'a str,
    /// What each side is, and when it was measured.
    sides: Vec<String>,
    figures: Vec<KeyFigure>,
    overlay: Vec<ChartFigure>,
    c: ComparisonView<'a>,
}

/// A comparison of the runs of two sides as one HTML document.
///
/// # Errors
/// Only when the template engine fails.
pub fn render(comparison: &Comparison, a: &[JudgedRun], b: &[JudgedRun]) -> Result<String> {
    super::page(&Page {
        style: super::STYLE,
        script: super::SCRIPT,
        version: env!("CARGO_PKG_VERSION"),
        a: &comparison.a.label,
        b: &comparison.b.label,
        sides: vec![side("A", a), side("B", b)],
        figures: compared_figures::of(comparison),
        overlay: overlay::of_sides(a, b),
        c: ComparisonView::of(comparison),
    })
}

/// `A: quick on /data, 2026-11-27 18:05:55 UTC, on node1; …`.
fn side(letter: &str, runs: &[JudgedRun]) -> String {
    let runs = runs.iter().map(|run| {
        format!(
            "{}, {}, on {} (run {})",
            run.run.name,
            moment::readable(run.run.started_unix_ns),
            run.host.hostname,
            run.run.id
        )
    });
    format!("{letter}: {}", runs.collect::<Vec<_>>().join("; "))
}
