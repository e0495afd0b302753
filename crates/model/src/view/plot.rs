//! Charts: lines over two axes.
//!
//! Axes are in binary units and hints name them: the charts of a view do not depend on
//! the unit that a reader chooses. Those of a standard's report are made for each.

use super::axis::Axis;

/// What a point's marker says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sign {
    /// Trusted, or with caveats.
    Plain,
    /// The offered load was not reached.
    Saturated,
    /// Not trusted.
    Untrusted,
}

/// One point of a line.
#[derive(Debug, Clone, PartialEq)]
pub struct PlotPoint {
    /// Place on the horizontal axis.
    pub x: f64,
    /// Place on the vertical axis.
    pub y: f64,
    /// The 95 % interval.
    pub interval: Option<(f64, f64)>,
    /// What its marker says.
    pub sign: Sign,
    /// A point between it and the one before has no figure: no line leads over it.
    pub after_gap: bool,
    /// What a reader learns on demand.
    pub hint: String,
}

/// What a line shows: a format chooses its colour by it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LineKind {
    /// Reads, or all operations together.
    Read,
    /// Writes.
    Write,
    /// Discards.
    Trim,
    /// Flushes.
    Sync,
    /// Writes that wait until they are durable.
    Commit,
    /// A median.
    P50,
    /// A 99th percentile.
    P99,
    /// A 99.9th percentile.
    P999,
    /// A figure beside those of the others.
    Beside,
    /// One of several of a kind, by its number.
    Nth(usize),
}

/// One line.
#[derive(Debug, Clone, PartialEq)]
pub struct PlotSeries {
    /// Its name in the legend.
    pub name: &'static str,
    /// What it shows.
    pub kind: LineKind,
    /// Its points, from left to right.
    pub points: Vec<PlotPoint>,
}

/// A line that is not data.
#[derive(Debug, Clone, PartialEq)]
pub struct Guide {
    /// Where it begins.
    pub from: (f64, f64),
    /// Where it ends, and its words stand.
    pub to: (f64, f64),
    /// Short words beside it; empty without.
    pub label: String,
    /// It is an answer rather than a help for the eye.
    pub strong: bool,
}

/// One chart.
#[derive(Debug, Clone, PartialEq)]
pub struct Plot {
    /// What it shows.
    pub title: String,
    /// The horizontal axis.
    pub x: Axis,
    /// The vertical axis.
    pub y: Axis,
    /// What stands below the horizontal axis.
    pub x_title: &'static str,
    /// What stands beside the vertical axis.
    pub y_title: String,
    /// The data.
    pub series: Vec<PlotSeries>,
    /// Lines that are not data.
    pub guides: Vec<Guide>,
}

impl Plot {
    /// Whether any point has this sign, so that a legend explains it.
    pub fn has(&self, sign: Sign) -> bool {
        let mut points = self.series.iter().flat_map(|series| &series.points);
        points.any(|point| point.sign == sign)
    }
}
