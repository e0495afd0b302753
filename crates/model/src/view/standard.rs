//! The report that a standard prescribes: requirements, facts, results by part.

use super::plot::Plot;
use super::{ByUnit, Table};

/// What a standard wants to be reported of a test.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct StandardReport {
    /// Every requirement was kept.
    pub conforming: bool,
    /// What may be claimed, in one sentence without a full stop.
    pub claim: String,
    /// What the standard asks for, and whether it was kept.
    pub requirements: Vec<Requirement>,
    /// What has to be stated of the test.
    pub facts: Vec<StatedFact>,
    /// The parts of the test, each with its results. Their charts show figures in the
    /// unit of the reader, unlike those of other views.
    pub parts: ByUnit<Vec<ReportPart>>,
}

/// A requirement of a standard.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Requirement {
    /// What is asked for.
    pub name: String,
    /// Whether it was kept.
    pub kept: bool,
    /// What was done, or why it was not.
    pub evidence: String,
}

/// A fact with its name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StatedFact {
    /// What it is.
    pub name: String,
    /// The fact in words.
    pub value: String,
}

/// A part of a test.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ReportPart {
    /// What it is called, where there are several.
    pub name: Option<String>,
    /// What came of it, in a few words.
    pub headline: String,
    /// Its figures by name, in the terms of the standard.
    pub figures: Vec<StatedFact>,
    /// How the results came about, then the results.
    pub charts: Vec<Plot>,
    /// The results, the most important first: all cells are figures, a row begins
    /// with its name.
    pub tables: Vec<Table>,
}

/// Figures for a machine, in base units.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Records {
    /// Names of the columns.
    pub columns: &'static [&'static str],
    /// A value for each column; empty where there is none.
    pub rows: Vec<Vec<String>>,
}
