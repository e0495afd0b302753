//! Whether a file must be written before it is read: a read of a hole or an
//! unwritten extent never reaches the device, and makes a benchmark measure
//! memory.

use std::fs::File;

use rustix::fs::SeekFrom;
use rustix::io::Errno;
use rustix::ioctl::{Opcode, Updater, ioctl, opcode};

/// A share of a range, and how it was found out.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Share {
    /// 0 to 1; `None` when it could not be found out.
    pub(crate) value: Option<f64>,
    /// How it was found out, or why not.
    pub(crate) method: &'static str,
}

const FIEMAP_FLAG_SYNC: u32 = 1;
const FIEMAP_EXTENT_LAST: u32 = 1;
const FIEMAP_EXTENT_DELALLOC: u32 = 4;
const FIEMAP_EXTENT_UNWRITTEN: u32 = 0x800;
const EXTENTS: usize = 256;

#[repr(C)]
struct FiemapHeader {
    start: u64,
    length: u64,
    flags: u32,
    mapped_extents: u32,
    extent_count: u32,
    reserved: u32,
}

#[repr(C)]
#[derive(Clone, Copy, Default)]
struct FiemapExtent {
    logical: u64,
    physical: u64,
    length: u64,
    reserved64: [u64; 2],
    flags: u32,
    reserved: [u32; 3],
}

#[repr(C)]
struct Fiemap {
    header: FiemapHeader,
    extents: [FiemapExtent; EXTENTS],
}

const FS_IOC_FIEMAP: Opcode = opcode::read_write::<FiemapHeader>(b'f', 11);

/// The share of `start .. start + length` that the file system has not
/// allocated or not written.
pub(crate) fn unwritten_share(file: &File, start: u64, length: u64) -> Share {
    if length == 0 {
        return Share {
            value: Some(0.0),
            method: "empty",
        };
    }
    match written_by_fiemap(file, start, length) {
        Ok(written) => Share {
            value: Some(1.0 - written as f64 / length as f64),
            method: "FIEMAP",
        },
        Err(_) => match data_by_seek(file, start, length) {
            Ok(data) => Share {
                value: Some(1.0 - data as f64 / length as f64),
                method: "SEEK_HOLE",
            },
            Err(_) => Share {
                value: None,
                method: "the file system knows neither FIEMAP nor SEEK_HOLE",
            },
        },
    }
}

fn written_by_fiemap(file: &File, start: u64, length: u64) -> Result<u64, Errno> {
    let end = start + length;
    let mut written = 0;
    let mut at = start;
    while at < end {
        let mut request = Fiemap {
            header: FiemapHeader {
                start: at,
                length: end - at,
                flags: FIEMAP_FLAG_SYNC,
                mapped_extents: 0,
                extent_count: EXTENTS as u32,
                reserved: 0,
            },
            extents: [FiemapExtent::default(); EXTENTS],
        };
        // SAFETY: the request has the layout of `struct fiemap`, with room for
        // as many extents as it says, and outlives the call.
        unsafe { ioctl(file, Updater::<FS_IOC_FIEMAP, Fiemap>::new(&mut request)) }?;
        let mapped = (request.header.mapped_extents as usize).min(EXTENTS);
        let Some(last) = request.extents[..mapped].last() else {
            break;
        };
        for extent in &request.extents[..mapped] {
            let from = extent.logical.max(at);
            let to = extent.logical.saturating_add(extent.length).min(end);
            if extent.flags & (FIEMAP_EXTENT_UNWRITTEN | FIEMAP_EXTENT_DELALLOC) == 0 {
                written += to.saturating_sub(from);
            }
        }
        let next = last.logical.saturating_add(last.length);
        if last.flags & FIEMAP_EXTENT_LAST != 0 || next <= at {
            break;
        }
        at = next;
    }
    Ok(written)
}

fn data_by_seek(file: &File, start: u64, length: u64) -> Result<u64, Errno> {
    let end = start + length;
    let mut data = 0;
    let mut at = start;
    while at < end {
        let from = match rustix::fs::seek(file, SeekFrom::Data(at)) {
            Ok(from) => from.min(end),
            // No data from here to the end.
            Err(Errno::NXIO) => break,
            Err(errno) => return Err(errno),
        };
        let to = rustix::fs::seek(file, SeekFrom::Hole(from))?.min(end);
        data += to.saturating_sub(from);
        if to <= at {
            break;
        }
        at = to;
    }
    Ok(data)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::FileExt;

    use super::*;

    const MIB: u64 = 1 << 20;

    fn file() -> File {
        tempfile::tempfile().unwrap()
    }

    #[test]
    fn holes_and_unwritten_extents_are_unwritten() {
        let sparse = file();
        sparse.set_len(4 * MIB).unwrap();
        let share = unwritten_share(&sparse, 0, 4 * MIB);
        assert_eq!(share.value, Some(1.0), "{share:?}");
        sparse.write_all_at(&vec![1; MIB as usize], MIB).unwrap();
        assert_eq!(unwritten_share(&sparse, 0, 4 * MIB).value, Some(0.75));
        assert_eq!(unwritten_share(&sparse, MIB, MIB).value, Some(0.0));
        let reserved = file();
        let flags = rustix::fs::FallocateFlags::empty();
        if rustix::fs::fallocate(&reserved, flags, 0, 4 * MIB).is_err() {
            println!("skipped: fallocate does not work on the file system of the temporary files");
            return;
        }
        let share = unwritten_share(&reserved, 0, 4 * MIB);
        if share.method == "FIEMAP" {
            assert_eq!(share.value, Some(1.0));
        }
    }

    #[test]
    fn many_extents_are_all_counted() {
        let file = file();
        file.set_len(1200 * 8192).unwrap();
        for block in 0..1200 {
            file.write_all_at(&[1; 4096], block * 8192).unwrap();
        }
        let share = unwritten_share(&file, 0, 1200 * 8192);
        assert_eq!(share.value, Some(0.5), "{share:?}");
        let seek = data_by_seek(&file, 0, 1200 * 8192);
        assert!(seek.is_err() || seek == Ok(600 * 8192), "{seek:?}");
    }
}
