//! Packing the per-second chunks of a trial together once it has ended.

use rusqlite::Transaction;

use crate::codec;
use crate::rows::{Totals, unsigned};
use crate::transaction::Failure;
use crate::write::insert_chunk;
use crate::{Error, Store, TrialKey};

/// A chunk with its series decoded.
struct Chunk {
    key: i64,
    written_unix_ns: u64,
    samples: Vec<fathom_model::Sample>,
    observations: Vec<fathom_model::Observation>,
}

impl Store {
    /// Replaces the small chunks of a trial by large ones, a group per
    /// transaction, so that the write lock is never held for long. A chunk
    /// that cannot be read stays as it is: nothing is discarded.
    pub(crate) fn compact(&mut self, trial: TrialKey) -> Result<(), Error> {
        let (mut from, to) = trial.chunks();
        while from < to {
            let next = self
                .transaction(|transaction| compact_group(transaction, from, to))
                .map_err(|failure| failure.into_error(&self.path))?;
            match next {
                Some(key) => from = key,
                None => break,
            }
        }
        Ok(())
    }

    /// Packs what earlier calls could not pack, for example the trials of
    /// killed runs, and gives free space back to the file system.
    ///
    /// Reads and rewrites much of the file: never call it while measuring.
    pub fn shrink(&mut self) -> Result<(), Error> {
        let ended: Vec<i64> = self
            .connection
            .prepare("SELECT key FROM trial WHERE state <> 'running'")
            .and_then(|mut trials| trials.query_map([], |row| row.get(0))?.collect())
            .map_err(|error| self.error(error))?;
        for key in ended {
            self.compact(TrialKey(key))?;
        }
        self.release_pages()
    }

    /// Gives the pages that nothing uses back to the file system.
    pub(crate) fn release_pages(&self) -> Result<(), Error> {
        // In steps, so that other processes can write in between.
        const STEP_PAGES: u32 = 1024;
        let step = || -> rusqlite::Result<u32> {
            let mut vacuum = self
                .connection
                .prepare(&format!("PRAGMA incremental_vacuum({STEP_PAGES})"))?;
            let mut rows = vacuum.query([])?;
            while rows.next()?.is_some() {}
            self.connection
                .query_row("PRAGMA freelist_count", [], |row| row.get(0))
        };
        let mut before = u32::MAX;
        loop {
            let free = step().map_err(|error| self.error(error))?;
            if free == 0 || free >= before {
                break;
            }
            before = free;
        }
        self.checkpoint();
        Ok(())
    }
}

/// Packs the chunks from `from` on until a group is full. Returns where the
/// next group starts.
fn compact_group(
    transaction: &Transaction<'_>,
    from: i64,
    to: i64,
) -> Result<Option<i64>, Failure> {
    let mut group: Vec<Chunk> = Vec::new();
    let mut next = None;
    let (mut samples, mut observations) = (0, 0);
    let mut statement = transaction.prepare(
        "SELECT key, written_unix_ns, series FROM chunk
         WHERE key >= ? AND key < ? ORDER BY key",
    )?;
    let mut rows = statement.query([from, to])?;
    while let Some(row) = rows.next()? {
        let key: i64 = row.get(0)?;
        let Ok(series) = codec::unpack(row.get_ref(2)?.as_blob().unwrap_or_default()) else {
            next = Some(key + 1);
            break;
        };
        samples += series.0.len();
        observations += series.1.len();
        if !group.is_empty() && samples.max(observations) > codec::GROUP_ROWS {
            next = Some(key);
            break;
        }
        group.push(Chunk {
            key,
            written_unix_ns: unsigned(row.get(1)?),
            samples: series.0,
            observations: series.1,
        });
    }
    drop(rows);
    if group.len() > 1 {
        replace(transaction, group)?;
    }
    Ok(next)
}

fn replace(transaction: &Transaction<'_>, group: Vec<Chunk>) -> Result<(), Failure> {
    let (first, last) = (group[0].key, group[group.len() - 1].key);
    debug_assert!(
        group.is_sorted_by(|a, b| a.key < b.key),
        "chunks are joined in the order of time"
    );
    let written = group[group.len() - 1].written_unix_ns;
    let (mut samples, mut observations) = (Vec::new(), Vec::new());
    for chunk in group {
        samples.extend(chunk.samples);
        observations.extend(chunk.observations);
    }
    let Ok(packed) = codec::pack(&samples, &observations) else {
        return Ok(());
    };
    if packed.len() as i64 > last - first {
        return Ok(());
    }
    // What follows removes the only copy: nothing may be left out of the new one.
    assert_eq!(
        packed.iter().map(|part| part.samples.len()).sum::<usize>(),
        samples.len(),
        "each second goes into one chunk"
    );
    transaction.execute(
        "DELETE FROM chunk WHERE key >= ? AND key <= ?",
        [first, last],
    )?;
    for (key, part) in (first..).zip(&packed) {
        let totals = Totals::of(&samples[part.samples.clone()]);
        insert_chunk(transaction, key, written, totals, &part.blob)?;
    }
    Ok(())
}
