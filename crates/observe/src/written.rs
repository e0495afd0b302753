//! How much of a data set was never written: holes and unwritten extents are
//! answered with zeros without touching the device.

use std::fs::File;
use std::io;
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::Path;
use std::time::{Duration, Instant};

use fathom_model::rng::Rng;
use rustix::fs::{OFlags, SeekFrom, fcntl_getfl, fcntl_setfl};

use crate::Error;
use crate::kernel_calls::{EXTENTS_PER_CALL, extents};

/// `FIEMAP_EXTENT_UNWRITTEN`: allocated, but reads as zeros.
const EXTENT_UNWRITTEN: u32 = 0x800;
/// `FIEMAP_EXTENT_LAST`.
const EXTENT_LAST: u32 = 0x1;
/// Extents of one file that are looked at: a very fragmented file must not
/// delay the run for minutes.
const EXTENT_LIMIT: usize = 1_000_000;
/// Steps of the search for holes.
const HOLE_LIMIT: usize = 1_000_000;
/// Blocks that are read from a device.
const SAMPLES: u64 = 1000;
/// Time after which fewer samples must do (slow disks).
const SAMPLE_TIME: Duration = Duration::from_secs(8);
/// Fewer samples than this say nothing about one per mille.
const SAMPLES_NEEDED: u64 = 100;
/// Smallest block that is looked at.
const SAMPLE_BYTES: usize = 4096;

/// Bytes of a range that were never written, and how that was found.
pub(crate) struct Unwritten {
    pub(crate) bytes: u64,
    pub(crate) method: String,
}

/// Bytes of `start..end` of a regular file that are holes or unwritten extents.
pub(crate) fn unwritten_bytes(
    path: &Path,
    file: &File,
    start: u64,
    end: u64,
) -> Result<Unwritten, Error> {
    match unwritten_by_extents(file, start, end) {
        Ok(unwritten) => Ok(unwritten),
        Err(error) if is_unsupported(&error) => unwritten_by_holes(path, file, start, end),
        Err(source) => Err(Error::Ask {
            what: "list extents",
            path: path.to_owned(),
            source,
        }),
    }
}

fn is_unsupported(error: &io::Error) -> bool {
    matches!(
        error.raw_os_error(),
        Some(
            libc::EOPNOTSUPP
                | libc::ENOTTY
                | libc::EINVAL
                | libc::ENOSYS
                | libc::EBADR
                | libc::EPERM
        )
    )
}

fn unwritten_by_extents(file: &File, start: u64, end: u64) -> io::Result<Unwritten> {
    let mut written = 0_u64;
    let mut at = start;
    let mut seen = 0;
    let mut method = "FIEMAP".to_owned();
    while at < end {
        let batch = extents(file, at, end - at)?;
        let full = batch.len() == EXTENTS_PER_CALL;
        seen += batch.len();
        let last = batch.iter().any(|extent| extent.flags & EXTENT_LAST != 0);
        let before = at;
        for extent in &batch {
            let from = extent.logical.max(at);
            let to = extent.logical.saturating_add(extent.length).min(end);
            if extent.flags & EXTENT_UNWRITTEN == 0 {
                written += to.saturating_sub(from);
            }
            at = at.max(to);
        }
        if last || !full || at == before {
            at = end;
        } else if seen >= EXTENT_LIMIT && at < end {
            // What was seen stands for the rest.
            let share = written as f64 / (at - start).max(1) as f64;
            written = (share * (end - start) as f64) as u64;
            method = format!("FIEMAP, first {seen} extents");
            break;
        }
    }
    Ok(Unwritten {
        bytes: (end - start).saturating_sub(written),
        method,
    })
}

fn unwritten_by_holes(path: &Path, file: &File, start: u64, end: u64) -> Result<Unwritten, Error> {
    let ask = |source: io::Error| Error::Ask {
        what: "seek for holes",
        path: path.to_owned(),
        source,
    };
    let mut holes = 0_u64;
    let mut at = start;
    for _ in 0..HOLE_LIMIT {
        if at >= end {
            break;
        }
        let data = seek(file, SeekFrom::Data(at))
            .map_err(ask)?
            .unwrap_or(end)
            .clamp(at, end);
        holes += data - at;
        if data == end {
            at = end;
            break;
        }
        let hole = seek(file, SeekFrom::Hole(data))
            .map_err(ask)?
            .unwrap_or(end);
        at = hole.clamp(data + 1, end);
    }
    if at < end {
        let reason = "too many holes to count".to_owned();
        return Err(Error::Unknown {
            path: path.to_owned(),
            reason,
        });
    }
    let metadata = file.metadata().map_err(ask)?;
    let allocated = metadata.blocks().saturating_mul(512);
    // File systems without the call report one piece of data; a file that has
    // fewer blocks than bytes is then sparse or compressed, who knows.
    if holes == 0 && allocated < metadata.len() / 100 * 99 {
        let reason = "no holes are reported, but fewer blocks are allocated than the file is long: sparse or compressed".to_owned();
        return Err(Error::Unknown {
            path: path.to_owned(),
            reason,
        });
    }
    Ok(Unwritten {
        bytes: holes,
        method: "SEEK_HOLE, which does not show preallocated blocks everywhere".to_owned(),
    })
}

/// `None` when there is nothing more of the kind.
fn seek(file: &File, to: SeekFrom) -> io::Result<Option<u64>> {
    match rustix::fs::seek(file, to) {
        Ok(offset) => Ok(Some(offset)),
        Err(rustix::io::Errno::NXIO) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

/// Looks at about 1000 evenly spread blocks of a device in `start..end`; blocks
/// of zeros count as unwritten. Trimmed blocks read as zeros on most drives;
/// on the others, and on encrypted devices, this finds nothing.
///
/// The descriptor reads past the page cache from then on; `path` is for messages.
pub(crate) fn unwritten_by_sampling(
    path: &Path,
    file: &File,
    start: u64,
    end: u64,
) -> Result<Unwritten, Error> {
    let direct = reads_directly(file);
    let block = block_bytes(file).max(SAMPLE_BYTES);
    let mut buffer = AlignedBuffer::new(block);
    let first = start.div_ceil(block as u64);
    let blocks = (end / block as u64).saturating_sub(first);
    let wanted = blocks.min(SAMPLES);
    let mut rng = Rng::new(0x5eed);
    let began = Instant::now();
    let (mut zero, mut read) = (0_u64, 0_u64);
    for stratum in 0..wanted {
        let bound =
            |index: u64| (u128::from(blocks) * u128::from(index) / u128::from(wanted)) as u64;
        let (low, high) = (bound(stratum), bound(stratum + 1));
        let offset = (first + low + rng.below((high - low).max(1))) * block as u64;
        let bytes = buffer.bytes();
        file.read_exact_at(bytes, offset)
            .map_err(|source| Error::Ask {
                what: "read a block",
                path: path.to_owned(),
                source,
            })?;
        zero += u64::from(bytes.iter().all(|&byte| byte == 0));
        read += 1;
        if began.elapsed() > SAMPLE_TIME && read < wanted {
            break;
        }
    }
    if read < wanted.min(SAMPLES_NEEDED) || wanted == 0 {
        let reason = format!("only {read} blocks could be sampled");
        return Err(Error::Unknown {
            path: path.to_owned(),
            reason,
        });
    }
    let share = zero as f64 / read as f64;
    let how = if direct { "direct" } else { "buffered" };
    Ok(Unwritten {
        bytes: (share * (end - start) as f64) as u64,
        method: format!("{zero} of {read} sampled {block}-byte blocks were all zero ({how} reads)"),
    })
}

/// Has an open file read past the page cache; false where it cannot.
fn reads_directly(file: &File) -> bool {
    let flags = fcntl_getfl(file);
    flags.is_ok_and(|flags| fcntl_setfl(file, flags | OFlags::DIRECT).is_ok())
}

fn block_bytes(file: &File) -> usize {
    rustix::fs::ioctl_blksszget(file).map_or(SAMPLE_BYTES, |bytes| bytes as usize)
}

/// Memory whose start is aligned as direct I/O wants it.
struct AlignedBuffer {
    memory: Vec<u8>,
    start: usize,
    length: usize,
}

impl AlignedBuffer {
    fn new(length: usize) -> Self {
        let memory = vec![0; length * 2];
        let start = memory.as_ptr().align_offset(length.next_power_of_two());
        // `align_offset` may decline; an unaligned buffer then fails politely.
        let start = if start <= length { start } else { 0 };
        AlignedBuffer {
            memory,
            start,
            length,
        }
    }

    fn bytes(&mut self) -> &mut [u8] {
        &mut self.memory[self.start..self.start + self.length]
    }
}

#[cfg(test)]
#[path = "written_tests.rs"]
mod tests;
