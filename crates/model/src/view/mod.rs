//! A judged result as answers, charts, tables and sentences, independent of how it
//! is printed.
//!
//! A study makes a view; formats render it and know nothing of the study. Texts
//! are plain: a format escapes and wraps them.

mod answer_figure;
pub mod axis;
mod by_unit;
mod cell;
mod document;
mod map;
pub mod plot;
mod standard;
mod table;

use std::collections::{BTreeMap, BTreeSet};

pub use answer_figure::{AnswerFigure, AnswerValue};
pub use by_unit::ByUnit;
pub use cell::{Cell, EstimateCell};
pub use document::{Document, Field, List, Section, Tone};
pub use map::{LatencyMap, MapCell};
pub use standard::{Records, ReportPart, Requirement, StandardReport, StatedFact};
pub use table::{Column, ColumnKind, Table, UnitText};

/// What a study shows.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct View {
    /// By which a page links to it: a word.
    pub anchor: &'static str,
    /// What it is about, in a few words.
    pub title: String,
    /// What it says, the most important first: before everything else, or below the
    /// tables where these are the results themselves. Without a capital or full stop.
    pub answers: Vec<String>,
    /// The figures of the answer, the most important first: what a page shows above
    /// everything else, in place of figures of single rows.
    pub figures: Vec<AnswerFigure>,
    /// What to do next where no finding asks for something, a sentence.
    pub next_step: Option<String>,
    /// The answers say up to where a target is held: the verdict needs no more
    /// than that it is.
    pub says_fitness: bool,
    /// The view adds up what ran at the same time: sums of the run's sets would say
    /// it twice.
    pub adds_up_sets: bool,
    /// Charts, the most important first.
    pub charts: Vec<plot::Plot>,
    /// The charts hold the figures of every row: bars of the rows would repeat them.
    pub charts_hold_rows: bool,
    /// Latencies by two quantities.
    pub map: Option<LatencyMap>,
    /// What stands out to its disadvantage, a sentence each without a full stop.
    pub warnings: Vec<UnitText>,
    /// Tables, in order.
    pub tables: Vec<Table>,
    /// What the tables say, a sentence or two each.
    pub sentences: Vec<String>,
    /// How the figures were measured and how to read them, a sentence each.
    pub notes: Vec<String>,
    /// Figures carry half an interval and the sign of their validity, which a
    /// format explains.
    pub has_signs: bool,
    /// The tables are the results of the run themselves, in another form than that
    /// of any run.
    pub form: Option<ResultForm>,
    /// The results in the form that a standard prescribes, in place of answers, charts
    /// and tables.
    pub standard: Option<StandardReport>,
    /// What CSV holds in place of the trials.
    pub records: Option<Records>,
    /// Trials that get no place of their own on a page, by their index: rounds of
    /// which the charts show the figures.
    pub unlisted_trials: BTreeSet<u32>,
}

/// How a view stands in for the results of its run.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ResultForm {
    /// Rows of the run that have no place in the tables: they are printed as those
    /// of any run.
    pub other_rows: Vec<usize>,
    /// What a trial is called: `cell`.
    pub trial_word: &'static str,
    /// What single trials are called, by their index, where not by their label.
    pub trial_names: BTreeMap<u32, String>,
}
