//! Samples as columns.

use fathom_model::{ErrorClass, ErrorCounts, Histogram, OpKind, OpSample, Phase, Sample};

use super::varint::{Reader, put_column, put_column_u128, put_u64};
use super::{Budget, CodecError, histograms};

/// Plain numbers of a sample, one column each.
const NUMBERS: usize = 9;

/// Memory of a sample or of one kind of operation without its histograms.
const ROW_BYTES: usize = 256;

/// The columns in stored order. A new field of `Sample` stops the build here:
/// give it a place among the details, or a column, raise the version of the
/// envelope, and let `take` read every version.
fn numbers(sample: &Sample) -> [u64; NUMBERS] {
    let Sample {
        phase: _,
        index,
        start_ns,
        duration_ns,
        workers,
        ops: _,
        lateness: _,
        in_flight_ns: _,
        cpu_user_ns,
        cpu_system_ns,
        run_delay_ns,
        busiest_worker_cpu_ns,
        longest_stall_ns,
        operations: _,
        connection: _,
    } = sample;
    [
        u64::from(*index),
        *start_ns,
        *duration_ns,
        u64::from(*workers),
        *cpu_user_ns,
        *cpu_system_ns,
        *run_delay_ns,
        *busiest_worker_cpu_ns,
        *longest_stall_ns,
    ]
}

/// Bits of the flags byte of a sample: lateness, then the number of kinds.
const HAS_LATENESS: u64 = 1;

/// Bit of the flags of an operation: response; the classes of errors that
/// occurred follow above it.
const HAS_RESPONSE: u64 = 1;

pub(super) fn put(
    out: &mut Vec<u8>,
    samples: &[Sample],
    budget: &mut Budget,
) -> Result<(), CodecError> {
    if samples.is_empty() {
        return Ok(());
    }
    let ops: Vec<&OpSample> = samples.iter().flat_map(|s| &s.ops).collect();
    budget.charge((samples.len() + ops.len()).saturating_mul(ROW_BYTES))?;
    out.extend(samples.iter().map(|s| s.phase as u8));
    let rows: Vec<[u64; NUMBERS]> = samples.iter().map(numbers).collect();
    for column in 0..NUMBERS {
        put_column(out, rows.iter().map(|row| row[column]));
    }
    put_column_u128(out, samples.iter().map(|s| s.in_flight_ns));
    for sample in samples {
        let lateness = if sample.lateness.is_some() {
            HAS_LATENESS
        } else {
            0
        };
        put_u64(out, (sample.ops.len() as u64) << 1 | lateness);
    }
    put_ops(out, &ops);
    let service = ops.iter().map(|op| &op.service);
    let response = ops.iter().filter_map(|op| op.response.as_ref());
    let lateness = samples.iter().filter_map(|s| s.lateness.as_ref());
    let all: Vec<&Histogram> = service.chain(response).chain(lateness).collect();
    histograms::put(out, &all, budget)
}

fn put_ops(out: &mut Vec<u8>, ops: &[&OpSample]) {
    out.extend(ops.iter().map(|op| op.kind.index() as u8));
    put_column(out, ops.iter().map(|op| op.ops));
    put_column(out, ops.iter().map(|op| op.bytes));
    for op in ops {
        let OpSample {
            kind: _,
            ops: _,
            bytes: _,
            errors,
            service: _,
            response,
            halves: _,
        } = op;
        let mut flags = if response.is_some() { HAS_RESPONSE } else { 0 };
        for (class, _) in errors.iter() {
            flags |= 2 << class as u8;
        }
        put_u64(out, flags);
    }
    // Counts come in the order of the bits above: a reader gives the first one to the
    // lowest bit.
    for op in ops {
        debug_assert!(
            op.errors.iter().is_sorted_by_key(|(class, _)| class as u8),
            "classes of errors ascend"
        );
        for (_, count) in op.errors.iter() {
            put_u64(out, count);
        }
    }
}

pub(super) fn take(
    reader: &mut Reader<'_>,
    count: usize,
    budget: &mut Budget,
) -> Result<Vec<Sample>, CodecError> {
    if count == 0 {
        return Ok(Vec::new());
    }
    budget.charge(count.saturating_mul(ROW_BYTES))?;
    let phases = reader.take(count)?;
    let index = reader.column_u32(count)?;
    let start_ns = reader.column(count)?;
    let duration_ns = reader.column(count)?;
    let workers = reader.column_u32(count)?;
    let cpu_user_ns = reader.column(count)?;
    let cpu_system_ns = reader.column(count)?;
    let run_delay_ns = reader.column(count)?;
    let busiest_worker_cpu_ns = reader.column(count)?;
    let longest_stall_ns = reader.column(count)?;
    let in_flight_ns = reader.column_u128(count)?;
    let shapes = (0..count)
        .map(|_| reader.u64())
        .collect::<Result<Vec<_>, _>>()?;

    let kinds_of = |shape: u64| (shape >> 1) as usize;
    if shapes.iter().any(|s| kinds_of(*s) > OpKind::ALL.len()) {
        return Err(CodecError::Malformed("a sample has too many kinds"));
    }
    let op_count = shapes.iter().map(|s| kinds_of(*s)).sum();
    let late_count = shapes.iter().filter(|s| *s & HAS_LATENESS != 0).count();
    let (ops, lateness) = take_ops(reader, op_count, late_count, budget)?;
    let (mut ops, mut lateness) = (ops.into_iter(), lateness.into_iter());

    let mut samples = Vec::with_capacity(count);
    for (i, &shape) in shapes.iter().enumerate() {
        let phase = Phase::ALL
            .get(usize::from(phases[i]))
            .ok_or(CodecError::Malformed("an unknown phase"))?;
        samples.push(Sample {
            phase: *phase,
            index: index[i],
            start_ns: start_ns[i],
            duration_ns: duration_ns[i],
            workers: workers[i],
            ops: ops.by_ref().take(kinds_of(shape)).collect(),
            lateness: (shape & HAS_LATENESS != 0)
                .then(|| lateness.next())
                .flatten(),
            in_flight_ns: in_flight_ns[i],
            cpu_user_ns: cpu_user_ns[i],
            cpu_system_ns: cpu_system_ns[i],
            run_delay_ns: run_delay_ns[i],
            busiest_worker_cpu_ns: busiest_worker_cpu_ns[i],
            longest_stall_ns: longest_stall_ns[i],
            operations: Vec::new(),
            connection: None,
        });
    }
    Ok(samples)
}

fn take_ops(
    reader: &mut Reader<'_>,
    count: usize,
    late_count: usize,
    budget: &mut Budget,
) -> Result<(Vec<OpSample>, Vec<Histogram>), CodecError> {
    budget.charge(count.saturating_mul(ROW_BYTES))?;
    let kinds = reader.take(count)?;
    let done = reader.column(count)?;
    let bytes = reader.column(count)?;
    let flags = (0..count)
        .map(|_| reader.u64())
        .collect::<Result<Vec<_>, _>>()?;
    let errors = flags
        .iter()
        .map(|flags| take_errors(reader, flags >> 1))
        .collect::<Result<Vec<_>, _>>()?;

    let responses = flags.iter().filter(|f| *f & HAS_RESPONSE != 0).count();
    let mut service = histograms::take(reader, count + responses + late_count, budget)?;
    let mut response = service.split_off(count).into_iter();
    let mut ops = Vec::with_capacity(count);
    for (i, service) in service.into_iter().enumerate() {
        ops.push(OpSample {
            kind: OpKind::from_index(usize::from(kinds[i]))
                .ok_or(CodecError::Malformed("an unknown kind of operation"))?,
            ops: done[i],
            bytes: bytes[i],
            errors: errors[i],
            service,
            response: (flags[i] & HAS_RESPONSE != 0)
                .then(|| response.next())
                .flatten(),
            halves: None,
        });
    }
    Ok((ops, response.collect()))
}

fn take_errors(reader: &mut Reader<'_>, classes: u64) -> Result<ErrorCounts, CodecError> {
    if classes >> ErrorClass::ALL.len() != 0 {
        return Err(CodecError::Malformed("an unknown class of errors"));
    }
    let mut errors = ErrorCounts::default();
    for class in ErrorClass::ALL {
        if classes >> (class as u8) & 1 != 0 {
            errors.add_many(class, reader.u64()?);
        }
    }
    Ok(errors)
}
