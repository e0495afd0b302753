//! A test file that cannot be left behind: it has no name from the moment that
//! it exists (`O_TMPFILE`), or loses it at once where the file system does not
//! know that. Whatever ends the process removes the file.

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::Path;

use fathom_model::workload::{CacheMode, Payload};
use rustix::fs::{
    Advice, AtFlags, FallocateFlags, Mode, OFlags, StatxFlags, fadvise, fallocate, fcntl_setfl,
    unlinkat,
};

use crate::Error;
use crate::payload::PayloadPool;
use crate::prepare::aligned::AlignedBuffer;
use crate::prepare::check_room;
use crate::prepare::{PrepareHooks, PrepareProgress};
use crate::target_file::{FileFacts, FileIdentity, open_beneath, open_directory};

/// Written in one call while the file is filled.
const CHUNK_BYTES: usize = 1 << 20;
/// What direct I/O needs where the kernel does not say.
const COMMON_ALIGN_BYTES: u32 = 512;
/// `STATX_DIOALIGN`, Linux 6.1.
const STATX_DIOALIGN: StatxFlags = StatxFlags::from_bits_retain(0x2000);

/// A file without a name, filled with random data.
pub(super) struct OwnFile {
    pub(super) file: File,
    /// Whether direct I/O was asked for and works.
    pub(super) direct: bool,
    /// Multiple that direct I/O needs of offsets and lengths.
    pub(super) align_bytes: u32,
}

impl OwnFile {
    /// Makes and fills a file of `size_bytes` in `dir`.
    ///
    /// # Errors
    /// There is no room, the user may not write there, or wants to stop.
    pub(super) fn make(
        dir: &Path,
        size_bytes: u64,
        cache: CacheMode,
        seed: u64,
        hooks: &mut dyn PrepareHooks,
    ) -> Result<OwnFile, Error> {
        check_room(dir, size_bytes)?;
        let file = nameless(dir)?;
        // A lack of room is to show now. Not every file system can reserve it.
        let _ = fallocate(&file, FallocateFlags::empty(), 0, size_bytes);
        fill(&file, dir, size_bytes, seed, hooks)?;
        file.sync_data()
            .map_err(Error::io("flush a test file in", dir))?;
        let wanted = cache == CacheMode::Direct;
        if wanted {
            let _ = fadvise(&file, 0, None, Advice::DontNeed);
        }
        let direct = wanted && fcntl_setfl(&file, OFlags::DIRECT).is_ok();
        Ok(OwnFile {
            align_bytes: align_of(&file),
            direct,
            file,
        })
    }
}

fn nameless(dir: &Path) -> Result<File, Error> {
    let create = Error::io("create a test file in", dir);
    let (mode, flags) = (Mode::RUSR | Mode::WUSR, OFlags::RDWR | OFlags::CLOEXEC);
    if let Ok(file) = rustix::fs::open(dir, flags | OFlags::TMPFILE, mode) {
        return Ok(file.into());
    }
    let opened = dir.canonicalize();
    let opened = opened.and_then(|resolved| open_directory(&resolved, OFlags::RDONLY));
    let opened = opened.map_err(Error::io("open", dir))?;
    // Exclusively, so that nothing that is there can be meant.
    let name = format!(".fathom-ping-{}", std::process::id());
    let new = flags | OFlags::CREATE | OFlags::EXCL;
    let file = open_beneath(&opened, &name, new, mode).map_err(|errno| create(errno.into()))?;
    let identity = FileIdentity::of(&file).map_err(Error::io("examine a test file in", dir))?;
    // Whoever took the file's name away has done what was to be done.
    if FileFacts::at(&opened, &name).is_ok_and(|found| found.identity.is(&identity)) {
        let removed = unlinkat(&opened, &name, AtFlags::empty());
        removed.map_err(|errno| Error::io("take the name off", &dir.join(&name))(errno.into()))?;
    }
    Ok(file.into())
}

fn fill(
    file: &File,
    dir: &Path,
    size_bytes: u64,
    seed: u64,
    hooks: &mut dyn PrepareHooks,
) -> Result<(), Error> {
    let mut pool = PayloadPool::new(&Payload::default(), seed, u32::MAX);
    let mut buffer = AlignedBuffer::new(CHUNK_BYTES);
    let mut at = 0;
    while at < size_bytes {
        if hooks.stop_requested() {
            return Err(Error::Stopped);
        }
        let length = (size_bytes - at).min(CHUNK_BYTES as u64);
        let block = &mut buffer.bytes_mut()[..length as usize];
        pool.fill(at, block);
        file.write_all_at(block, at)
            .map_err(Error::io("fill a test file in", dir))?;
        at += length;
        hooks.progress(PrepareProgress {
            what: "filling a test file",
            done_bytes: at,
            total_bytes: size_bytes,
        });
    }
    Ok(())
}

fn align_of(file: &File) -> u32 {
    let stat = rustix::fs::statx(file, "", AtFlags::EMPTY_PATH, STATX_DIOALIGN);
    match stat {
        Ok(stat) if stat.stx_mask & STATX_DIOALIGN.bits() != 0 && stat.stx_dio_offset_align > 0 => {
            stat.stx_dio_offset_align
        }
        _ => COMMON_ALIGN_BYTES,
    }
}
