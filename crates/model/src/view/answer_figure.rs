//! The figures of which the answer of a study consists.

use crate::estimate::Estimate;
use crate::verdict::Validity;

/// A figure of an answer.
#[derive(Debug, Clone, PartialEq)]
pub struct AnswerFigure {
    /// What it is: `Holds p99<2ms up to`.
    pub name: String,
    /// How much.
    pub value: AnswerValue,
    /// Where it was measured, or what it means, in a few words; empty without.
    pub place: String,
    /// Of the point where it was measured.
    pub validity: Validity,
}

/// How much a figure of an answer is.
#[derive(Debug, Clone, PartialEq)]
pub enum AnswerValue {
    /// A measured figure with its interval.
    Estimate(Estimate),
    /// A number with its unit behind the last space, in binary units: `704,000 IOPS`.
    Text(String),
}

impl AnswerFigure {
    /// A number with its unit behind the last space.
    pub fn text(name: impl Into<String>, text: impl Into<String>) -> AnswerFigure {
        AnswerFigure::new(name, AnswerValue::Text(text.into()))
    }

    /// A measured figure.
    pub fn estimate(name: impl Into<String>, estimate: &Estimate) -> AnswerFigure {
        AnswerFigure::new(name, AnswerValue::Estimate(estimate.clone()))
    }

    /// The figure with where it was measured, or what it means.
    pub fn at(self, place: impl Into<String>) -> AnswerFigure {
        AnswerFigure {
            place: place.into(),
            ..self
        }
    }

    /// The figure of a point of this validity.
    pub fn judged(self, validity: Validity) -> AnswerFigure {
        AnswerFigure { validity, ..self }
    }

    fn new(name: impl Into<String>, value: AnswerValue) -> AnswerFigure {
        AnswerFigure {
            name: name.into(),
            value,
            place: String::new(),
            validity: Validity::Trusted,
        }
    }
}
