//! A judged result as answers, charts, tables and sentences, independent of how it
//! is printed.
//!
//! A study makes a view; formats render it and know nothing of the study. Texts
//! are plain: a format escapes and wraps them.

pub mod axis;
mod map;
pub mod plot;
mod table;

pub use map::{LatencyMap, MapCell};
pub use table::{Column, ColumnKind, Table, UnitText};

/// What a study shows.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct View {
    /// By which a page links to it: a word.
    pub anchor: &'static str,
    /// What it is about, in a few words.
    pub title: String,
    /// What it says, the most important first: before everything else, without a
    /// capital or full stop.
    pub answers: Vec<String>,
    /// The answers say up to where a target is held: the verdict needs no more
    /// than that it is.
    pub says_fitness: bool,
    /// The view adds up what ran at the same time: sums of the run's sets would say
    /// it twice.
    pub adds_up_sets: bool,
    /// Charts, the most important first.
    pub charts: Vec<plot::Plot>,
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
}
