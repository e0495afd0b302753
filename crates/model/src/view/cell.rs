//! What stands in a table.

use super::UnitText;
use crate::estimate::Estimate;
use crate::verdict::Validity;

/// A cell.
#[derive(Debug, Clone, PartialEq)]
pub enum Cell {
    /// Words, or a figure as a study prints it.
    Text(UnitText),
    /// Nothing was measured here.
    Empty,
    /// Why there are no figures, in place of the first of them.
    State {
        /// How far the measurement came: `failed`.
        words: &'static str,
        /// Of what was measured.
        validity: Validity,
    },
    /// A number with its interval, or the reason that there is none.
    Estimate(Box<EstimateCell>),
    /// A largest or smallest latency in nanoseconds, which has no interval.
    Extreme(Option<u64>),
}

/// An estimate as a format prints it.
#[derive(Debug, Clone, PartialEq)]
pub struct EstimateCell {
    /// The number.
    pub estimate: Estimate,
    /// What is shown in its place where no one number describes the result.
    pub levels: Option<UnitText>,
    /// Of the row, or of its group of columns: on the first of its estimates.
    pub validity: Option<Validity>,
}

impl Cell {
    /// An estimate.
    pub fn estimate(estimate: Estimate) -> Cell {
        Cell::Estimate(Box::new(EstimateCell {
            estimate,
            levels: None,
            validity: None,
        }))
    }

    /// The estimate, where the cell is one.
    pub fn as_estimate(&self) -> Option<&EstimateCell> {
        match self {
            Cell::Estimate(cell) => Some(cell),
            Cell::Text(_) | Cell::Empty | Cell::State { .. } | Cell::Extreme(_) => None,
        }
    }

    /// The validity of what begins here.
    pub fn validity(&self) -> Option<Validity> {
        match self {
            Cell::State { validity, .. } => Some(*validity),
            Cell::Estimate(cell) => cell.validity,
            Cell::Text(_) | Cell::Empty | Cell::Extreme(_) => None,
        }
    }
}

impl<T: Into<UnitText>> From<T> for Cell {
    fn from(text: T) -> Cell {
        Cell::Text(text.into())
    }
}
