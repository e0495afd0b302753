//! Whether a host has the memory and the threads that a set of trials asks
//! for. Memory that is only promised would end in a kill, not in an error.

use fathom_model::limits::{MAX_BUFFER_BYTES, MAX_WORKERS};
use fathom_model::{ScheduledTrial, Workload};
use fathom_observe::available_memory_bytes;

use super::{AdmissionError, SetError};

/// What a worker needs beside its buffers: stack, counts of two seconds.
const WORKER_BYTES: u128 = 256 << 10;

/// What an operation in flight needs beside its buffer.
const OPERATION_BYTES: u128 = 512;

/// What a test file needs: its path and its place in the layout.
const FILE_BYTES: u128 = 256;

/// Threads of all trials of a set.
const MAX_THREADS: u64 = 4 * MAX_WORKERS;

pub(super) fn check(specs: &[ScheduledTrial]) -> Result<(), SetError> {
    let available = available_memory_bytes().map_or(u128::MAX, u128::from);
    let (mut bytes, mut threads) = (0u128, 0u64);
    for (place, spec) in specs.iter().enumerate() {
        threads += u64::from(spec.workload.workers);
        if threads > MAX_THREADS {
            let error = AdmissionError::TooManyThreads {
                threads,
                most: MAX_THREADS,
            };
            return Err(SetError { place, error });
        }
        let buffers = buffer_bytes(&spec.workload);
        if buffers > u128::from(MAX_BUFFER_BYTES) {
            let error = AdmissionError::TooLargeBuffers {
                bytes: buffers,
                most: MAX_BUFFER_BYTES,
            };
            return Err(SetError { place, error });
        }
        bytes += buffers
            + u128::from(spec.workload.total_depth()) * OPERATION_BYTES
            + u128::from(spec.workload.workers) * WORKER_BYTES
            + files(&spec.workload) * FILE_BYTES;
        if bytes > available {
            let error = AdmissionError::NoMemory {
                needed: bytes,
                available,
            };
            return Err(SetError { place, error });
        }
    }
    Ok(())
}

/// Test files of all workers.
fn files(workload: &Workload) -> u128 {
    let count = u128::from(workload.data_set.files.count);
    match workload.data_set.files.shared {
        true => count,
        false => count * u128::from(workload.workers),
    }
}

/// Bytes of the I/O buffers of all workers.
fn buffer_bytes(workload: &Workload) -> u128 {
    let block = workload.max_block_bytes();
    let record = workload.files_work().map_or(0, |m| m.tree.record_bytes);
    u128::from(workload.total_depth()) * u128::from(block.max(record))
}
