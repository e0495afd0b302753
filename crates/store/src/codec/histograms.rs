//! Histograms as columns.
//!
//! ```text
//! layout version   1 byte, only when there is a histogram
//! buckets          non-empty buckets of each histogram (varint)
//! sum, min, max    exact, as differences to the histogram before
//! gaps             empty buckets between two neighbours, all histograms
//! counts           count - 1 of each non-empty bucket, as differences to the
//!                  bucket before, all histograms
//! ```
//!
//! The first non-empty bucket is the one of the minimum and is not stored.
//! Gaps and counts lie apart because the gaps are nearly all zero, which lz4
//! folds away. Neighbouring buckets hold similar counts: at a million
//! operations per second their differences take a quarter less than they.

use fathom_model::Histogram;
use fathom_model::histogram::{BUCKETS, LAYOUT_VERSION, bucket_of};

use super::varint::{Reader, put_column, put_column_u128, put_u64};
use super::{Budget, CodecError};

/// Memory of one histogram.
const HISTOGRAM_BYTES: usize = BUCKETS * 4 + 128;

/// No histogram of a stretch holds more values: at 100 million operations per
/// second this is a month.
const MAX_COUNT: u64 = 1 << 48;

pub(super) fn put(
    out: &mut Vec<u8>,
    histograms: &[&Histogram],
    budget: &mut Budget,
) -> Result<(), CodecError> {
    if histograms.is_empty() {
        return Ok(());
    }
    budget.charge(histograms.len().saturating_mul(HISTOGRAM_BYTES))?;
    if histograms.iter().any(|h| h.count() > MAX_COUNT) {
        return Err(CodecError::Malformed("a histogram holds too many values"));
    }
    out.push(LAYOUT_VERSION);
    for histogram in histograms {
        put_u64(out, histogram.buckets().count() as u64);
    }
    put_column_u128(out, histograms.iter().map(|h| h.sum()));
    put_column(out, histograms.iter().map(|h| h.min().unwrap_or(0)));
    put_column(out, histograms.iter().map(|h| h.max().unwrap_or(0)));
    for histogram in histograms {
        let mut previous = None;
        // The reader takes the first bucket from the minimum: if they differed, every
        // count would come back as that of another latency.
        debug_assert_eq!(
            histogram.buckets().next().map(|(bucket, _)| bucket),
            histogram.min().map(bucket_of),
            "the lowest count is that of the minimum"
        );
        for (bucket, _) in histogram.buckets() {
            if let Some(previous) = previous {
                put_u64(out, (bucket - previous - 1) as u64);
            }
            previous = Some(bucket);
        }
    }
    for histogram in histograms {
        // Less one: an empty bucket is not stored, so 0 would never occur.
        put_column(out, histogram.buckets().map(|(_, count)| count - 1));
    }
    Ok(())
}

pub(super) fn take(
    reader: &mut Reader<'_>,
    count: usize,
    budget: &mut Budget,
) -> Result<Vec<Histogram>, CodecError> {
    if count == 0 {
        return Ok(Vec::new());
    }
    budget.charge(count.saturating_mul(HISTOGRAM_BYTES))?;
    match reader.byte()? {
        LAYOUT_VERSION => {}
        other => return Err(CodecError::UnknownLayout(other)),
    }
    let sizes = (0..count)
        .map(|_| reader.count(BUCKETS))
        .collect::<Result<Vec<_>, _>>()?;
    let sums = reader.column_u128(count)?;
    let minima = reader.column(count)?;
    let maxima = reader.column(count)?;
    let mut buckets = Vec::with_capacity(count);
    for (&size, &min) in sizes.iter().zip(&minima) {
        buckets.push(take_buckets(reader, size, min)?);
    }
    let mut histograms = Vec::with_capacity(count);
    for (i, buckets) in buckets.into_iter().enumerate() {
        let parts = take_counts(reader, buckets)?;
        let histogram = Histogram::from_parts(parts, sums[i], minima[i], maxima[i])
            .ok_or(CodecError::Malformed("a histogram"))?;
        histograms.push(histogram);
    }
    Ok(histograms)
}

fn take_buckets(reader: &mut Reader<'_>, size: usize, min: u64) -> Result<Vec<usize>, CodecError> {
    let mut buckets = Vec::with_capacity(size);
    let mut bucket = bucket_of(min);
    for i in 0..size {
        if i > 0 {
            bucket += reader.count(BUCKETS)? + 1;
        }
        if bucket >= BUCKETS {
            return Err(CodecError::Malformed("a bucket beyond the last"));
        }
        buckets.push(bucket);
    }
    Ok(buckets)
}

fn take_counts(
    reader: &mut Reader<'_>,
    buckets: Vec<usize>,
) -> Result<Vec<(usize, u64)>, CodecError> {
    let counts = reader.column(buckets.len())?;
    let mut total = 0u64;
    buckets
        .into_iter()
        .zip(counts)
        .map(|(bucket, count)| {
            let count = count.saturating_add(1);
            total = total.saturating_add(count);
            if total > MAX_COUNT {
                return Err(CodecError::Malformed("a histogram holds too many values"));
            }
            Ok((bucket, count))
        })
        .collect()
}
