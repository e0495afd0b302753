//! The section of a page that compares two sides.

use fathom_model::comparison::{
    ComparedMetric, ComparedRow, Comparison, ComparisonOutcome, Difference, Metric, Standing,
};
use fathom_model::figure::Throughput;

use super::checks::Checks;
use crate::chart::figure::ChartFigure;
use crate::chart::pairs;
use crate::comparison as words;
use crate::comparison_gaps;
use crate::sentence::sentence_of;

/// Charts that are drawn at most.
const MOST_CHARTS: usize = 40;

/// What the section is filled with.
pub(super) struct ComparisonView<'a> {
    /// By which the page links to it, and its title.
    pub(super) id: String,
    pub(super) title: String,
    /// The letter of the side beside A.
    pub(super) letter: char,
    pub(super) headline: String,
    pub(super) class: &'static str,
    pub(super) facts: Vec<(String, String)>,
    pub(super) reasons: &'a [String],
    pub(super) lines: Vec<FigureLine<'a>>,
    /// Whether any figure has an interval, and whether any was put to that test.
    pub(super) has_intervals: bool,
    pub(super) has_flips: bool,
    /// What the intervals rest on.
    pub(super) units: &'static str,
    /// How the figures are read.
    pub(super) reading: String,
    pub(super) unmatched: &'a [String],
    pub(super) missing: Vec<String>,
    pub(super) charts: Vec<(String, Vec<ChartFigure>)>,
    pub(super) undeclared: &'a [Difference],
    pub(super) declared: &'a [Difference],
    pub(super) checks: Checks<'a>,
}

/// One figure of one row.
pub(super) struct FigureLine<'a> {
    pub(super) row: &'a str,
    /// Whether the line above is of the same row.
    pub(super) again: bool,
    pub(super) name: String,
    pub(super) decides: bool,
    pub(super) a: String,
    pub(super) b: String,
    pub(super) change: String,
    pub(super) interval: String,
    pub(super) pairs: String,
    pub(super) p: String,
    pub(super) p_flip: String,
    pub(super) class: &'static str,
    pub(super) outcome: &'static str,
    pub(super) more: String,
}

impl<'a> ComparisonView<'a> {
    /// The only comparison of a page.
    pub(super) fn of(comparison: &'a Comparison) -> ComparisonView<'a> {
        ComparisonView {
            id: "comparison".to_owned(),
            title: "Comparison".to_owned(),
            ..ComparisonView::of_side(comparison, 'B')
        }
    }

    /// One of several, each beside A.
    pub(super) fn of_side(comparison: &'a Comparison, letter: char) -> ComparisonView<'a> {
        let mut facts = vec![
            ("A".to_owned(), words::side_line(&comparison.a)),
            (letter.to_string(), words::side_line(&comparison.b)),
            ("Design".to_owned(), words::design_line(comparison)),
        ];
        if let Some(control) = &comparison.control {
            facts.push(("Control".to_owned(), words::control_line(control)));
        }
        let class = match comparison.standing {
            Standing::Unproven => "warn",
            _ => class(comparison.outcome),
        };
        let lines = lines(comparison);
        ComparisonView {
            id: format!("side-{}", letter.to_ascii_lowercase()),
            title: format!("{letter} against A"),
            letter,
            headline: sentence_of(&words::headline_of(comparison, letter)),
            class,
            facts,
            reasons: &comparison.reasons,
            has_intervals: lines.iter().any(|line| !line.interval.is_empty()),
            has_flips: lines.iter().any(|line| !line.p_flip.is_empty()),
            units: match comparison.planned_pairs {
                Some(_) => "pairs",
                None => "trials",
            },
            lines,
            reading: reading(comparison),
            unmatched: &comparison.unmatched,
            missing: comparison_gaps::missing(comparison),
            charts: charts(comparison),
            undeclared: &comparison.undeclared,
            declared: &comparison.declared,
            checks: Checks::of(&comparison.findings),
        }
    }
}

fn class(outcome: ComparisonOutcome) -> &'static str {
    match outcome {
        ComparisonOutcome::Faster | ComparisonOutcome::Equivalent => "good",
        ComparisonOutcome::Slower => "bad",
        ComparisonOutcome::Inconclusive => "none",
    }
}

/// What the words and intervals of the table mean, of those that are there.
fn reading(comparison: &Comparison) -> String {
    let metrics = || comparison.rows.iter().flat_map(|row| &row.metrics);
    let any = |outcome| metrics().any(|metric| metric.outcome == outcome);
    let parts = [
        (true, "* the metric that decides."),
        (
            any(ComparisonOutcome::Equivalent),
            "Equivalent is proved by two one-sided tests.",
        ),
        (
            any(ComparisonOutcome::Inconclusive),
            "Inconclusive means that neither a difference nor its absence is proved.",
        ),
        (
            metrics().any(|metric| metric.ratio.low.is_some()),
            match comparison.planned_pairs {
                Some(_) => "Intervals come from the log ratios of the pairs.",
                None => "Intervals come from the logarithms of the trials.",
            },
        ),
    ];
    let parts = parts.into_iter().filter(|(is_there, _)| *is_there);
    parts.map(|(_, words)| words).collect::<Vec<_>>().join(" ")
}

fn lines(comparison: &Comparison) -> Vec<FigureLine<'_>> {
    let mut lines = Vec::new();
    for row in &comparison.rows {
        for (i, metric) in row.metrics.iter().enumerate() {
            let value = |side| words::side_value(side, Throughput::Binary);
            let units = metric.ratio.n_effective;
            let (change, interval) = words::change_cells(metric);
            lines.push(FigureLine {
                row: &row.label,
                again: i > 0,
                name: words::metric_name(metric),
                decides: i == 0,
                a: value(&metric.a),
                b: value(&metric.b),
                change,
                interval,
                pairs: units.map_or(String::new(), |n| format!("{n:.0}")),
                p: probability(metric.p_adjusted),
                p_flip: probability(metric.p_sign_flip),
                class: class(metric.outcome),
                outcome: words::table_word(comparison, metric),
                more: words::more_text(comparison, metric).unwrap_or_default(),
            });
        }
    }
    lines
}

fn probability(p: Option<f64>) -> String {
    match p {
        None => String::new(),
        Some(p) if p < 0.001 => "< 0.001".to_owned(),
        Some(p) => format!("{p:.3}"),
    }
}

fn charts(comparison: &Comparison) -> Vec<(String, Vec<ChartFigure>)> {
    let mut room = MOST_CHARTS;
    let mut groups = Vec::new();
    for row in &comparison.rows {
        let drawn: Vec<ChartFigure> = row
            .metrics
            .iter()
            .filter(|metric| !repeats(row, metric))
            .filter_map(|metric| pairs::render(comparison, metric))
            .take(room)
            .collect();
        room -= drawn.len();
        if !drawn.is_empty() {
            groups.push((row.label.clone(), drawn));
        }
    }
    groups
}

/// Bytes of blocks of one size say the same as operations.
fn repeats(row: &ComparedRow, metric: &ComparedMetric) -> bool {
    let same = |other: &ComparedMetric| {
        other.metric == Metric::OpsPerSecond && other.ratio == metric.ratio
    };
    metric.metric == Metric::BytesPerSecond && row.metrics.iter().any(same)
}
