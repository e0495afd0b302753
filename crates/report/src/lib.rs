//! A judged run as text: for a terminal, for machines (JSON, CSV), for an
//! issue (Markdown) and as one self-contained HTML file.
//!
//! Everything here is a pure function from [`fathom_model::JudgedRun`] to a
//! `String`. Nothing is measured, judged or computed anew: a figure about the
//! system is printed from its [`fathom_model::Estimate`] only, and where the
//! estimate has no value its reason is printed in the value's place. The three
//! questions (validity, limiter, fitness) are answered apart, each with its
//! evidence, and never folded into one score.

pub mod compared_sides;
pub mod comparison;
mod comparison_gaps;
pub mod csv;
pub mod gluster;
pub mod hosts;
pub mod html;
pub mod images;
pub mod json;
pub mod latency_steps;
pub mod markdown;
pub mod metrics;
pub mod network;
pub mod node_size;
pub mod opinion;
pub mod page;
pub mod rules;
pub mod schedule;
pub mod table;
pub mod text;

use fathom_model::JudgedRun;

mod affected;
pub mod alarms;
mod chart;
pub mod cluster;
pub mod diagnosis;
mod escape;
mod facts;
mod files;
mod fleet;
mod headline;
mod levels;
mod limits;
mod listing;
pub mod machine;
mod moment;
mod names;
mod next_step;
mod objects;
mod sentence;
mod sets;
mod shape;
pub mod stack;
mod steady;
mod summary;
mod view;
pub mod watch_line;

/// Why a report could not be written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A number that must exist is not finite, so JSON cannot carry it.
    #[error("{field} is not a finite number, which JSON cannot carry; please report this run")]
    NotFinite {
        /// Where in the document.
        field: String,
    },
    /// The document could not be serialised.
    #[error("the run could not be written as JSON: {0}")]
    Json(#[from] serde_json::Error),
    /// The page could not be written.
    #[error("the run could not be written as HTML: {0}")]
    Html(#[from] askama::Error),
    /// A chart could not be drawn.
    #[error("the chart {name} could not be drawn: {why}")]
    Image {
        /// Which one.
        name: String,
        /// What stands in the way.
        why: String,
    },
}

/// Result of a renderer.
pub type Result<T> = std::result::Result<T, Error>;

/// A format of judged runs that a flag of its name chooses, beside the text for a
/// terminal, which needs to know its width and colours.
pub struct RunFormat {
    /// The word of the flag.
    pub name: &'static str,
    /// What the help of the flag says.
    pub help: &'static str,
    /// The whole document.
    pub render: fn(&JudgedRun) -> Result<String>,
}

/// The formats, in the order of the help.
pub const RUN_FORMATS: &[RunFormat] = &[
    RunFormat {
        name: "json",
        help: "Print JSON (schema fathom.run/1) and nothing else on standard output",
        render: |run| json::render(run, true),
    },
    RunFormat {
        name: "csv",
        help: "Print CSV",
        render: |run| Ok(csv::render(run)),
    },
    RunFormat {
        name: "markdown",
        help: "Print Markdown",
        render: |run| Ok(markdown::render(run)),
    },
];

#[cfg(test)]
mod schemas_tests;
