//! All charts of a run, each with a name, in the order of its page.

use fathom_model::JudgedRun;

use super::comparison::ComparisonView;
use super::hosts::HostsSection;
use super::overview;
use super::standard::StandardSection;
use crate::chart::figure::ChartFigure;
use crate::chart::{self, Drawing};
use crate::facts;
use crate::view::Section;

/// Points of a line: a file shows one chart and may be large.
const BUCKETS: usize = 600;

/// The part of the page with its charts.
pub(crate) fn of(run: &JudgedRun) -> Vec<(String, ChartFigure)> {
    let mut all: Vec<(String, ChartFigure)> = Vec::new();
    let mut add = |part: &str, charts: Vec<ChartFigure>| {
        all.extend(charts.into_iter().map(|chart| (part.to_owned(), chart)));
    };
    add("overview", overview::charts(run));
    if let Some(standard) = StandardSection::of(run) {
        add("standard", standard.charts());
    }
    if let Some(view) = facts::answer(run) {
        add(view.anchor, Section::below("", view).charts());
    }
    if let Some(hosts) = HostsSection::of(run) {
        let strips = hosts.workloads.into_iter().flat_map(|w| w.strips);
        add("hosts", strips.collect());
    }
    if let Some(comparison) = &run.comparison {
        let charts = ComparisonView::of(comparison).charts;
        add(
            "comparison",
            charts.into_iter().flat_map(|(_, charts)| charts).collect(),
        );
    }
    let drawing = Drawing {
        buckets: BUCKETS,
        bare: false,
    };
    for trial in &run.trials {
        let charts = chart::draw(trial, drawing).into_iter().flatten();
        add(&format!("trial {}", trial.index + 1), charts.collect());
    }
    all
}
