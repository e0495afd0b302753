//! Reading back everything that a trial wrote.

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use fathom_model::Job;

use super::check::{Demand, check_unit};
use super::ledger::Ledger;
use super::mismatch::{Mismatch, MismatchKind};
use crate::Error;
use crate::access::LayoutFile;
use crate::object::BlockStore;
use crate::prepare::aligned::{AlignedBuffer, PAGE_BYTES};
use crate::prepare::{PrepareHooks, Prepared, crew, direct, fill};
use crate::target_file::TargetFile;

/// Bytes that are read at once.
const CHUNK_BYTES: u64 = 1 << 20;
/// Reads in flight.
const THREADS: usize = 8;
/// Mismatches that are kept in full.
const KEPT: usize = 100;

/// What reading back found.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AfterReport {
    /// Bytes that were read and checked.
    pub checked_bytes: u64,
    /// Units that were not as they should be.
    pub mismatches: u64,
    /// The first mismatches, at most 100.
    pub first: Vec<Mismatch>,
}

/// Reads back everything that the trial wrote and checks it. Nothing may be in
/// flight any more. The page cache is left aside where the target allows it.
///
/// # Errors
/// [`Error::Workload`] when the trial was not prepared for verification,
/// [`Error::Io`] when the target cannot be opened, [`Error::Stopped`].
pub fn verify_after(
    job: &Job,
    prepared: &Prepared,
    hooks: &mut dyn PrepareHooks,
) -> Result<AfterReport, Error> {
    let ledger = prepared.ledger.as_deref().ok_or_else(|| {
        Error::Workload(format!(
            "workload '{}' was not prepared for verification",
            job.workload.name
        ))
    })?;
    let units_per_chunk = (CHUNK_BYTES / ledger.unit_bytes()).max(1);
    let chunks_per_file = ledger.units_per_file().div_ceil(units_per_chunk);
    let work = crew::CrewWork {
        what: "reading back what was written",
        chunks: chunks_per_file * ledger.files() as u64,
        total_bytes: ledger.units_per_file() * ledger.unit_bytes() * ledger.files() as u64,
        threads: THREADS,
    };
    let findings = Findings::default();
    let buffer_bytes = units_per_chunk * ledger.unit_bytes() + 2 * PAGE_BYTES as u64;
    let tools = || {
        Ok(BlockReader {
            open: None,
            buffer: AlignedBuffer::new(buffer_bytes as usize),
        })
    };
    if prepared.ready.blocks().is_none() {
        let files = prepared.layout.files.iter().map(LayoutFile::opened);
        let files = files.collect::<Result<Vec<&TargetFile>, Error>>()?;
        fill::forget_cached("flushing what was written", &files, hooks)?;
    }
    crew::run(&work, hooks, tools, |reader, chunk| {
        let file = (chunk / chunks_per_file) as u32;
        let first = chunk % chunks_per_file * units_per_chunk;
        let units = first..(first + units_per_chunk).min(ledger.units_per_file());
        let bytes = (units.end - units.start) * ledger.unit_bytes();
        read_back(ledger, prepared, reader, file, units, &findings)?;
        Ok(bytes)
    })?;
    Ok(findings.report())
}

/// One thread's open file and buffer.
struct BlockReader {
    open: Option<(u32, File)>,
    buffer: AlignedBuffer,
}

#[derive(Default)]
struct Findings {
    checked_bytes: AtomicU64,
    mismatches: AtomicU64,
    first: Mutex<Vec<Mismatch>>,
}

impl Findings {
    fn add(&self, mismatch: Mismatch) {
        self.mismatches.fetch_add(1, Ordering::Relaxed);
        let mut first = self.first.lock().unwrap_or_else(PoisonError::into_inner);
        if first.len() < KEPT {
            first.push(mismatch);
        }
    }

    fn report(self) -> AfterReport {
        let mut first = self
            .first
            .into_inner()
            .unwrap_or_else(PoisonError::into_inner);
        first.sort_by_key(|mismatch| (mismatch.file, mismatch.offset));
        AfterReport {
            checked_bytes: self.checked_bytes.into_inner(),
            mismatches: self.mismatches.into_inner(),
            first,
        }
    }
}

/// Reads a run of units that holds at least one written unit, and checks those.
fn read_back(
    ledger: &Ledger,
    prepared: &Prepared,
    reader: &mut BlockReader,
    file: u32,
    units: std::ops::Range<u64>,
    findings: &Findings,
) -> Result<(), Error> {
    let written = |unit: &u64| {
        let state = ledger.state(file, *unit);
        state.generation > 0 && state.in_flight == 0 && ledger.knows(state)
    };
    let (Some(first), Some(last)) = (units.clone().find(written), units.rev().find(written)) else {
        return Ok(());
    };
    if let Some(store) = prepared.ready.blocks() {
        return read_objects(
            ledger,
            store,
            file,
            (first..=last).filter(written),
            findings,
        );
    }
    let target = prepared.layout.files[file as usize].opened()?;
    if reader.open.as_ref().is_none_or(|(open, _)| *open != file) {
        let handle = direct::open_to_read(target, prepared.open.direct_works)?;
        reader.open = Some((file, handle));
    }
    let Some((_, handle)) = &reader.open else {
        return Ok(());
    };
    // Direct I/O wants whole pages; the file may end within the last.
    let page = PAGE_BYTES as u64;
    let from = ledger.offset_of(first) / page * page;
    let to = (ledger.offset_of(last) + ledger.unit_bytes()).div_ceil(page) * page;
    let block = &mut reader.buffer.bytes_mut()[..(to - from) as usize];
    let got = match read_up_to(handle, block, from) {
        Ok(got) => got,
        Err(error) => {
            findings.add(unreadable(file, from, &error));
            return Ok(());
        }
    };
    for unit in (first..=last).filter(written) {
        let offset = ledger.offset_of(unit);
        let start = (offset - from) as usize;
        let end = start + ledger.unit_bytes() as usize;
        let Some(piece) = block[..got].get(start..end) else {
            findings.add(missing(file, offset));
            continue;
        };
        findings
            .checked_bytes
            .fetch_add(ledger.unit_bytes(), Ordering::Relaxed);
        let state = ledger.state(file, unit);
        if let Some(demand) = Demand::between(ledger, state, state)
            && let Err(mismatch) = check_unit(ledger, file, offset, demand, piece)
        {
            findings.add(mismatch);
        }
    }
    Ok(())
}

/// Reads units back that are objects of a store, and checks them.
fn read_objects(
    ledger: &Ledger,
    store: &BlockStore,
    file: u32,
    units: impl Iterator<Item = u64>,
    findings: &Findings,
) -> Result<(), Error> {
    for unit in units {
        let (offset, bytes) = (ledger.offset_of(unit), ledger.unit_bytes());
        let piece = match store.read(file as usize, offset, bytes as u32) {
            Ok(piece) if piece.len() as u64 == bytes => piece,
            Ok(_) => {
                findings.add(missing(file, offset));
                continue;
            }
            Err(error) => {
                findings.add(unreadable(file, offset, &std::io::Error::other(error)));
                continue;
            }
        };
        findings.checked_bytes.fetch_add(bytes, Ordering::Relaxed);
        let state = ledger.state(file, unit);
        if let Some(demand) = Demand::between(ledger, state, state)
            && let Err(mismatch) = check_unit(ledger, file, offset, demand, &piece)
        {
            findings.add(mismatch);
        }
    }
    Ok(())
}

fn read_up_to(file: &File, block: &mut [u8], offset: u64) -> std::io::Result<usize> {
    let mut got = 0;
    while got < block.len() {
        match file.read_at(&mut block[got..], offset + got as u64) {
            Ok(0) => break,
            Ok(more) => got += more,
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
            // Past an odd end of file direct I/O refuses to go on.
            Err(error) if got == 0 => return Err(error),
            Err(_) => break,
        }
    }
    Ok(got)
}

fn unreadable(file: u32, offset: u64, error: &std::io::Error) -> Mismatch {
    Mismatch {
        kind: MismatchKind::Wrong,
        file,
        offset,
        expected: "data that were written".to_owned(),
        found: format!("an error while reading back: {error}"),
    }
}

fn missing(file: u32, offset: u64) -> Mismatch {
    Mismatch {
        kind: MismatchKind::Wrong,
        file,
        offset,
        expected: "data that were written".to_owned(),
        found: "the end of the file".to_owned(),
    }
}
