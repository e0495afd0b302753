//! Values over the moments of a recording.

use crate::draw::Draw;

/// How a value goes on from moment to moment.
#[derive(Clone)]
pub(crate) enum Course {
    Unknown,
    Always(f64),
    /// The first value, but the second in this many of every twenty moments.
    Shared(f64, f64, u64),
    /// In turn, so that the mean lies between them.
    Alternating(f64, f64),
    /// Values of their own.
    Each(Vec<f64>),
}

impl Course {
    /// Draws one around these values.
    pub(crate) fn drawn(draw: &mut Draw, values: &[f64]) -> Course {
        let value = draw.pick(values);
        match draw.below(12) {
            0 | 1 => Course::Unknown,
            2 | 3 => Course::Shared(draw.pick(values), value, 1 + draw.below(19)),
            4 => Course::Alternating(draw.pick(values), value),
            5 | 6 => Course::about(draw, value, 0.02),
            7 => Course::about(draw, value, 0.4),
            _ => Course::Always(value),
        }
    }

    /// As [`Course::drawn`], and known in every moment.
    pub(crate) fn known(draw: &mut Draw, values: &[f64]) -> Course {
        match Course::drawn(draw, values) {
            Course::Unknown => Course::Always(draw.pick(values)),
            known => known,
        }
    }

    /// Values that differ from this one by such a share of it at most.
    pub(crate) fn about(draw: &mut Draw, value: f64, share: f64) -> Course {
        let values = (0..20).map(|_| value * (1.0 + share * (2.0 * draw.unit() - 1.0)));
        Course::Each(values.collect())
    }

    pub(crate) fn at(&self, moment: usize) -> Option<f64> {
        let place = moment % 20;
        match self {
            Course::Unknown => None,
            Course::Always(value) => Some(*value),
            Course::Shared(one, other, count) => Some(match (place as u64) < *count {
                true => *other,
                false => *one,
            }),
            Course::Alternating(one, other) => Some(if place.is_multiple_of(2) {
                *one
            } else {
                *other
            }),
            Course::Each(values) => values.get(place).copied(),
        }
    }

    pub(crate) fn or(&self, moment: usize, other: f64) -> f64 {
        self.at(moment).unwrap_or(other)
    }
}
