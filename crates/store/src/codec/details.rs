//! What only some workloads ask for: halves of service latency, sums of
//! squares, single operations. Stored behind everything else, and only where
//! there is any, so that a blob without them is one of the first version.
//!
//! ```text
//! flags        of each kind of operation: halves, squares (varint)
//! halves       submission and completion histograms, in turns
//! squares      as differences, of the histograms that have them
//! operations   how many in each sample, then one column a field
//! ```

use fathom_model::sample::Halves;
use fathom_model::{Histogram, OpKind, OpSample, Operation, Sample};

use super::varint::{Reader, put_column, put_column_u128, put_u64};
use super::{Budget, CodecError, histograms};

const HALVES: u64 = 1;
const SERVICE_SQUARES: u64 = 2;
const SUBMISSION_SQUARES: u64 = 4;
const COMPLETION_SQUARES: u64 = 8;
const ALL_FLAGS: u64 = 15;

/// Most operations in one blob that a reader accepts.
const MAX_OPERATIONS: usize = 4 << 20;

/// Whether there is anything to store.
pub(super) fn are_in(samples: &[Sample]) -> bool {
    samples.iter().any(|sample| {
        !sample.operations.is_empty() || sample.ops.iter().any(|op| flags_of(op) != 0)
    })
}

fn flags_of(op: &OpSample) -> u64 {
    let mut flags = 0;
    if op.service.squares().is_some() {
        flags |= SERVICE_SQUARES;
    }
    if let Some(halves) = &op.halves {
        flags |= HALVES;
        if halves.submission.squares().is_some() {
            flags |= SUBMISSION_SQUARES;
        }
        if halves.completion.squares().is_some() {
            flags |= COMPLETION_SQUARES;
        }
    }
    flags
}

pub(super) fn put(
    out: &mut Vec<u8>,
    samples: &[Sample],
    budget: &mut Budget,
) -> Result<(), CodecError> {
    let ops: Vec<&OpSample> = samples.iter().flat_map(|s| &s.ops).collect();
    for op in &ops {
        put_u64(out, flags_of(op));
    }
    let halves = ops.iter().filter_map(|op| op.halves.as_ref());
    let both: Vec<&Histogram> = halves
        .flat_map(|h| [&h.submission, &h.completion])
        .collect();
    histograms::put(out, &both, budget)?;
    let squares = ops.iter().flat_map(|op| {
        let halves = op.halves.as_ref();
        [
            op.service.squares(),
            halves.and_then(|h| h.submission.squares()),
            halves.and_then(|h| h.completion.squares()),
        ]
    });
    put_column_u128(out, squares.flatten());
    for sample in samples {
        put_u64(out, sample.operations.len() as u64);
    }
    put_operations(out, samples, budget)
}

fn put_operations(
    out: &mut Vec<u8>,
    samples: &[Sample],
    budget: &mut Budget,
) -> Result<(), CodecError> {
    let all = || samples.iter().flat_map(|s| &s.operations);
    budget.charge(all().count().saturating_mul(size_of::<Operation>()))?;
    out.extend(all().map(|o| o.kind.index() as u8));
    put_column(out, all().map(|o| u64::from(o.worker)));
    put_column(out, all().map(|o| u64::from(o.file)));
    put_column(out, all().map(|o| u64::from(o.bytes)));
    put_column(out, all().map(|o| o.offset_bytes));
    put_column(out, all().map(|o| o.ended_ns));
    put_column(out, all().map(|o| o.service_ns));
    put_column(out, all().map(|o| o.submission_ns));
    Ok(())
}

/// Reads details into the samples that they belong to.
pub(super) fn take(
    reader: &mut Reader<'_>,
    samples: &mut [Sample],
    budget: &mut Budget,
) -> Result<(), CodecError> {
    let op_count = samples.iter().map(|s| s.ops.len()).sum::<usize>();
    let flags = (0..op_count)
        .map(|_| reader.u64())
        .collect::<Result<Vec<_>, _>>()?;
    if flags.iter().any(|flags| flags & !ALL_FLAGS != 0) {
        return Err(CodecError::Malformed("an unknown detail"));
    }
    let with_halves = flags.iter().filter(|f| *f & HALVES != 0).count();
    let mut halves = histograms::take(reader, 2 * with_halves, budget)?.into_iter();
    let squared = [SERVICE_SQUARES, SUBMISSION_SQUARES, COMPLETION_SQUARES];
    let of_each = |f: &u64| squared.iter().filter(|bit| f & *bit != 0).count();
    let mut squares = reader
        .column_u128(flags.iter().map(of_each).sum())?
        .into_iter();
    let ops = samples.iter_mut().flat_map(|s| &mut s.ops);
    for (op, flags) in ops.zip(flags) {
        let mut squared = |histogram: Histogram, bit: u64| match squares.as_slice() {
            [_, ..] if flags & bit != 0 => histogram.with_squares(squares.next().unwrap_or(0)),
            _ => histogram,
        };
        op.service = squared(std::mem::take(&mut op.service), SERVICE_SQUARES);
        if flags & HALVES != 0 {
            let submission = halves.next().unwrap_or_default();
            let completion = halves.next().unwrap_or_default();
            op.halves = Some(Box::new(Halves {
                submission: squared(submission, SUBMISSION_SQUARES),
                completion: squared(completion, COMPLETION_SQUARES),
            }));
        }
    }
    let counts = samples
        .iter()
        .map(|_| reader.count(MAX_OPERATIONS))
        .collect::<Result<Vec<_>, _>>()?;
    let mut operations = take_operations(reader, counts.iter().sum(), budget)?.into_iter();
    for (sample, count) in samples.iter_mut().zip(counts) {
        sample.operations = operations.by_ref().take(count).collect();
    }
    Ok(())
}

fn take_operations(
    reader: &mut Reader<'_>,
    count: usize,
    budget: &mut Budget,
) -> Result<Vec<Operation>, CodecError> {
    budget.charge(count.saturating_mul(size_of::<Operation>()))?;
    let kinds = reader.take(count)?;
    let worker = reader.column_u32(count)?;
    let file = reader.column_u32(count)?;
    let bytes = reader.column_u32(count)?;
    let offset_bytes = reader.column(count)?;
    let ended_ns = reader.column(count)?;
    let service_ns = reader.column(count)?;
    let submission_ns = reader.column(count)?;
    (0..count)
        .map(|i| {
            Ok(Operation {
                kind: OpKind::from_index(usize::from(kinds[i]))
                    .ok_or(CodecError::Malformed("an unknown kind of operation"))?,
                worker: worker[i],
                file: file[i],
                bytes: bytes[i],
                offset_bytes: offset_bytes[i],
                ended_ns: ended_ns[i],
                service_ns: service_ns[i],
                submission_ns: submission_ns[i],
            })
        })
        .collect()
}
