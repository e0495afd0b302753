//! A histogram as text: its filled buckets and exact fields.

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::Histogram;

/// The parts of a histogram.
#[derive(Serialize, Deserialize)]
struct HistogramParts {
    /// Bucket and count, ascending.
    buckets: Vec<(u32, u64)>,
    sum_ns: u64,
    min_ns: u64,
    max_ns: u64,
}

/// Writes the filled buckets.
pub(super) fn serialize<S: Serializer>(
    histogram: &Histogram,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    HistogramParts {
        buckets: histogram
            .buckets()
            .map(|(bucket, count)| (bucket as u32, count))
            .collect(),
        sum_ns: u64::try_from(histogram.sum()).unwrap_or(u64::MAX),
        min_ns: histogram.min().unwrap_or(0),
        max_ns: histogram.max().unwrap_or(0),
    }
    .serialize(serializer)
}

/// Reads them back; contradictions are errors.
pub(super) fn deserialize<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Histogram, D::Error> {
    let parts = HistogramParts::deserialize(deserializer)?;
    let buckets = parts
        .buckets
        .into_iter()
        .map(|(b, count)| (b as usize, count));
    Histogram::from_parts(
        buckets,
        u128::from(parts.sum_ns),
        parts.min_ns,
        parts.max_ns,
    )
    .ok_or_else(|| D::Error::custom("the counts of a histogram contradict one another"))
}
