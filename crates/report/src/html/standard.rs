//! The section of a page that has the report of a standard.

use fathom_model::JudgedRun;
use fathom_model::figure::Throughput;
use fathom_model::view::{ReportPart, StandardReport, View};

use crate::chart::figure::ChartFigure;
use crate::{chart, facts};

/// What the section is filled with.
pub(super) struct StandardSection<'a> {
    pub(super) view: &'a View,
    pub(super) report: &'a StandardReport,
    figures: Vec<Vec<ChartFigure>>,
}

impl<'a> StandardSection<'a> {
    pub(super) fn of(run: &'a JudgedRun) -> Option<StandardSection<'a>> {
        let (view, report) = facts::standard(run)?;
        let drawn = |part: &ReportPart| part.charts.iter().map(chart::plot::plot).collect();
        Some(StandardSection {
            figures: parts_of(report).iter().map(drawn).collect(),
            report,
            view,
        })
    }

    /// The charts of all parts.
    pub(super) fn charts(self) -> Vec<ChartFigure> {
        self.figures.into_iter().flatten().collect()
    }

    /// The parts with their charts.
    pub(super) fn parts(&self) -> impl Iterator<Item = (&ReportPart, &Vec<ChartFigure>)> {
        parts_of(self.report).iter().zip(&self.figures)
    }
}

fn parts_of(report: &StandardReport) -> &[ReportPart] {
    report.parts.shown(Throughput::Binary)
}
