//! Writing real data to all of a target.
//!
//! Large blocks, several in flight, past the page cache where that works, then
//! a flush. Preallocation alone would leave unwritten extents, which read as
//! zeros at the speed of memory.

use std::fs::File;
use std::os::unix::fs::FileExt;

use fathom_model::Job;
use fathom_model::rng::derive_seed;

use super::aligned::{AlignedBuffer, PAGE_BYTES};
use super::hooks::PrepareHooks;
use super::{crew, direct, space};
use crate::Error;
use crate::access::{Layout, Permutation};
use crate::payload::PayloadPool;
use crate::target_file::TargetFile;
use crate::verify::Ledger;

/// Bytes that are written at once.
const CHUNK_BYTES: u64 = 1 << 20;
/// Writes in flight, in sequence.
const THREADS: usize = 8;
/// Writes in flight, at random places.
const RANDOM_THREADS: usize = 32;
/// Blocks at random places that one step of the crew writes.
const RANDOM_BATCH: u64 = 64;
/// Label under which the payload of prepared data is derived from the seed.
const LABEL: u64 = 0xF111;

/// A part of a file that is to be written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Stretch {
    pub(crate) file: u32,
    pub(crate) from: u64,
    pub(crate) to: u64,
}

/// Writes data to a layout.
pub(crate) struct Filler<'a> {
    pub(crate) job: &'a Job,
    pub(crate) layout: &'a Layout,
    pub(crate) ledger: Option<&'a Ledger>,
    /// Direct I/O works, at this alignment.
    pub(crate) direct_align: Option<u32>,
}

/// What each thread has of its own.
struct Tools {
    payload: PayloadPool,
    buffer: AlignedBuffer,
    open: Option<Open>,
}

struct Open {
    file: u32,
    buffered: File,
    direct: Option<File>,
}

/// Equal chunks of a stretch, the last one shorter.
struct ChunkRun {
    file: u32,
    from: u64,
    to: u64,
    chunk_bytes: u64,
    /// Number of its first chunk.
    first_chunk: u64,
}

impl Filler<'_> {
    /// Writes stretches in sequence, then makes them durable. Returns the
    /// bytes that were written.
    pub(crate) fn fill(
        &self,
        what: &str,
        stretches: &[Stretch],
        hooks: &mut dyn PrepareHooks,
    ) -> Result<u64, Error> {
        let (runs, chunks) = self.cut(stretches);
        let total_bytes = runs.iter().map(|run| run.to - run.from).sum();
        let work = crew::CrewWork {
            what,
            chunks,
            total_bytes,
            threads: THREADS,
        };
        let largest = runs.iter().map(|run| run.chunk_bytes).max().unwrap_or(0);
        let block = self.job.workload.max_block_bytes().clamp(1, CHUNK_BYTES);
        let blocks_per_chunk = largest.div_ceil(block);
        crew::run(
            &work,
            hooks,
            || Ok(self.tools(largest)),
            |tools, chunk| {
                let at = runs.partition_point(|run| run.first_chunk <= chunk);
                let Some(run) = at.checked_sub(1).and_then(|at| runs.get(at)) else {
                    return Ok(0);
                };
                let from = run.from + (chunk - run.first_chunk) * run.chunk_bytes;
                let to = (from + run.chunk_bytes).min(run.to);
                let first = chunk * blocks_per_chunk;
                self.write(tools, run.file, from, to - from, block, first)
            },
        )?;
        self.flush(stretches, hooks)?;
        Ok(total_bytes)
    }

    /// Writes each block of the accessed ranges once more, at the workload's
    /// block size and in random order, then makes them durable.
    pub(crate) fn refill_at_random(&self, hooks: &mut dyn PrepareHooks) -> Result<u64, Error> {
        let workload = &self.job.workload;
        let Some(first) = self.layout.files.first() else {
            return Ok(0);
        };
        let block = workload.max_block_bytes();
        let align = workload.align_bytes.max(1);
        let step = block.div_ceil(align) * align;
        let base = first.start_bytes + workload.misalign_bytes;
        let span = first.span_bytes.saturating_sub(workload.misalign_bytes);
        let per_file = span.checked_sub(block).map_or(0, |slack| slack / step + 1);
        let cells = per_file * self.layout.files.len() as u64;
        let order = Permutation::new(cells, derive_seed(self.job.seed, LABEL + 1));
        let work = crew::CrewWork {
            what: "writing blocks at random",
            chunks: cells.div_ceil(RANDOM_BATCH),
            total_bytes: cells * block,
            threads: RANDOM_THREADS,
        };
        crew::run(
            &work,
            hooks,
            || Ok(self.tools(block)),
            |tools, batch| {
                let places = batch * RANDOM_BATCH..((batch + 1) * RANDOM_BATCH).min(cells);
                let mut done = 0;
                for place in places {
                    let cell = order.at(place);
                    let from = base + cell % per_file * step;
                    // Numbers of their own, so that nothing repeats the first fill.
                    let number = (1 << 40) + cell;
                    let file = (cell / per_file) as u32;
                    done += self.write(tools, file, from, block, block, number)?;
                }
                Ok(done)
            },
        )?;
        let all = self.everything();
        self.flush(&all, hooks)?;
        Ok(work.total_bytes)
    }

    /// All of all files.
    pub(crate) fn everything(&self) -> Vec<Stretch> {
        (0u32..)
            .zip(&self.layout.files)
            .map(|(file, facts)| Stretch {
                file,
                from: 0,
                to: facts.size_bytes,
            })
            .collect()
    }

    /// The accessed ranges of all files.
    pub(crate) fn accessed(&self) -> Vec<Stretch> {
        (0u32..)
            .zip(&self.layout.files)
            .map(|(file, facts)| Stretch {
                file,
                from: facts.start_bytes,
                to: facts.start_bytes + facts.span_bytes,
            })
            .collect()
    }

    /// Cuts stretches into chunks. Where data are stamped, no chunk's end cuts
    /// through a unit of the ledger.
    fn cut(&self, stretches: &[Stretch]) -> (Vec<ChunkRun>, u64) {
        let mut runs = Vec::new();
        let mut chunks = 0;
        for stretch in stretches {
            let (start, end, stamped_chunk) = match self.ledger {
                Some(ledger) => {
                    let units = (CHUNK_BYTES / ledger.unit_bytes()).max(1);
                    let (start, end) = ledger.range();
                    (start, end, units * ledger.unit_bytes())
                }
                None => (0, 0, CHUNK_BYTES),
            };
            let parts = [
                (0, start, CHUNK_BYTES),
                (start, end, stamped_chunk),
                (end, u64::MAX, CHUNK_BYTES),
            ];
            for (part_from, part_to, chunk_bytes) in parts {
                let from = stretch.from.max(part_from);
                let to = stretch.to.min(part_to);
                if from < to {
                    runs.push(ChunkRun {
                        file: stretch.file,
                        from,
                        to,
                        chunk_bytes,
                        first_chunk: chunks,
                    });
                    chunks += (to - from).div_ceil(chunk_bytes);
                }
            }
        }
        (runs, chunks)
    }

    fn tools(&self, buffer_bytes: u64) -> Tools {
        let seed = derive_seed(self.job.seed, LABEL);
        Tools {
            payload: PayloadPool::new(&self.job.workload.payload, seed, 0),
            buffer: AlignedBuffer::new(buffer_bytes as usize),
            open: None,
        }
    }

    /// Writes one piece of a file, filled block by block from number `number`.
    fn write(
        &self,
        tools: &mut Tools,
        file: u32,
        from: u64,
        length: u64,
        block: u64,
        number: u64,
    ) -> Result<u64, Error> {
        let path = &self.layout.files[file as usize].path;
        if tools.open.as_ref().is_none_or(|open| open.file != file) {
            tools.open = Some(self.open(file)?);
        }
        let bytes = &mut tools.buffer.bytes_mut()[..length as usize];
        let offsets = (from..).step_by(block as usize);
        let pieces = bytes.chunks_mut(block as usize).zip(offsets);
        for (number, (piece, offset)) in (number..).zip(pieces) {
            tools.payload.fill_numbered(number, offset, piece);
        }
        if let Some(ledger) = self.ledger {
            ledger.stamp_prepared(file, from, bytes);
        }
        let Some(open) = &tools.open else {
            return Ok(0);
        };
        let align = u64::from(self.direct_align.unwrap_or(1)).max(1);
        let aligned = from.is_multiple_of(align) && length.is_multiple_of(align);
        let handle = match &open.direct {
            Some(direct) if aligned => direct,
            _ => &open.buffered,
        };
        handle
            .write_all_at(bytes, from)
            .map_err(|error| space::write_error(path, from, error))?;
        Ok(length)
    }

    fn open(&self, file: u32) -> Result<Open, Error> {
        let target = self.layout.files[file as usize].opened()?;
        let buffered = direct::open_to_write(target, false)?;
        let direct = match self.direct_align {
            Some(_) => direct::open_to_write(target, true)?,
            None => None,
        };
        let buffered =
            buffered.ok_or_else(|| Error::target(target.path(), "cannot be opened for writing"))?;
        Ok(Open {
            file,
            buffered,
            direct,
        })
    }

    /// Makes durable what earlier loads left in caches of the host and of drives.
    pub(crate) fn settle(&self, hooks: &mut dyn PrepareHooks) -> Result<(), Error> {
        self.flush(&self.everything(), hooks)
    }

    /// Makes what was written durable. The crew does it, so that the caller
    /// goes on hearing of it.
    fn flush(&self, stretches: &[Stretch], hooks: &mut dyn PrepareHooks) -> Result<(), Error> {
        let work = crew::CrewWork {
            what: "flushing to stable storage",
            chunks: stretches.len() as u64,
            total_bytes: stretches.iter().map(|s| s.to - s.from).sum(),
            threads: THREADS,
        };
        crew::run(
            &work,
            hooks,
            || Ok(()),
            |(), chunk| {
                let stretch = &stretches[chunk as usize];
                let target = self.layout.files[stretch.file as usize].opened()?;
                if let Some(handle) = direct::open_to_write(target, false)? {
                    handle
                        .sync_data()
                        .map_err(|error| space::write_error(target.path(), stretch.to, error))?;
                }
                Ok(stretch.to - stretch.from)
            },
        )
    }
}

/// Writes back and drops what the page cache holds of some files. Somebody may
/// have left gigabytes there, so the crew does it.
pub(crate) fn forget_cached(
    what: &str,
    files: &[&TargetFile],
    hooks: &mut dyn PrepareHooks,
) -> Result<(), Error> {
    let work = crew::CrewWork {
        what,
        chunks: files.len() as u64,
        total_bytes: 0,
        threads: THREADS,
    };
    crew::run(
        &work,
        hooks,
        || Ok(()),
        |(), file| {
            direct::forget_cached(files[file as usize]);
            Ok(0)
        },
    )
}

const _: () = assert!(CHUNK_BYTES.is_multiple_of(PAGE_BYTES as u64));
