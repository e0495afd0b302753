//! Memory that is mapped once and never moves: I/O buffers and interval counts.
//!
//! One anonymous map per worker. Pages cost memory only when touched; the start
//! is aligned to a page, which every direct I/O alignment divides. Huge
//! pages are asked for explicitly first, then as transparent ones.

use std::io;
use std::ptr::NonNull;
use std::sync::atomic::AtomicU32;

use rustix::mm::{Advice, MapFlags, ProtFlags};

const HUGE_PAGE: usize = 2 << 20;

/// What an arena's memory may be shared as.
///
/// # Safety
/// Zero bytes must be a valid value, the alignment at most that of a page, and
/// every byte part of an atomic.
pub(crate) unsafe trait Zeroed {}

// SAFETY: an atomic; zero is 0.
unsafe impl Zeroed for AtomicU32 {}

/// Zeroed, page-aligned memory of its own.
#[derive(Debug)]
pub(crate) struct Arena {
    start: NonNull<u8>,
    bytes: usize,
}

/// What kind of pages an arena got.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Pages {
    /// Of ordinary size.
    Ordinary,
    /// From the pool of huge pages.
    Huge,
    /// Ordinary ones that the kernel was asked to merge into huge ones.
    Transparent,
}

// SAFETY: the map belongs to this value alone and has no thread affinity.
unsafe impl Send for Arena {}
// SAFETY: shared access gives out only atomics.
unsafe impl Sync for Arena {}

fn map(bytes: usize, extra: MapFlags) -> io::Result<NonNull<u8>> {
    // SAFETY: a new anonymous private map at an address of the kernel's choice
    // overlaps nothing.
    let start = unsafe {
        rustix::mm::mmap_anonymous(
            std::ptr::null_mut(),
            bytes,
            ProtFlags::READ | ProtFlags::WRITE,
            MapFlags::PRIVATE | extra,
        )
    }?;
    NonNull::new(start.cast()).ok_or_else(|| io::Error::from_raw_os_error(libc::ENOMEM))
}

impl Arena {
    /// `bytes` zero bytes on ordinary pages.
    ///
    /// # Errors
    /// When the system gives no memory.
    pub(crate) fn new(bytes: usize) -> io::Result<Arena> {
        let bytes = bytes.max(1).next_multiple_of(4096);
        Ok(Arena {
            start: map(bytes, MapFlags::NORESERVE)?,
            bytes,
        })
    }

    /// No memory.
    pub(crate) fn empty() -> Arena {
        Arena {
            start: NonNull::<u64>::dangling().cast(),
            bytes: 0,
        }
    }

    /// At least `bytes` zero bytes on huge pages, if the system grants them.
    ///
    /// # Errors
    /// When the system gives no memory at all.
    pub(crate) fn with_huge_pages(bytes: usize) -> io::Result<(Arena, Pages)> {
        let rounded = bytes.max(1).next_multiple_of(HUGE_PAGE);
        // Reserved at once: a huge page that is missing later kills the process.
        if let Ok(start) = map(rounded, MapFlags::HUGETLB) {
            let arena = Arena {
                start,
                bytes: rounded,
            };
            return Ok((arena, Pages::Huge));
        }
        let arena = Arena::new(rounded)?;
        // SAFETY: the range is exactly the map made above.
        let merged = unsafe {
            rustix::mm::madvise(arena.start.as_ptr().cast(), rounded, Advice::LinuxHugepage)
        };
        Ok((
            arena,
            if merged.is_ok() {
                Pages::Transparent
            } else {
                Pages::Ordinary
            },
        ))
    }

    /// Address of the first byte.
    pub(crate) fn as_ptr(&self) -> *mut u8 {
        self.start.as_ptr()
    }

    /// A part of the memory. Panics when it is out of range.
    #[inline]
    pub(crate) fn slice(&mut self, offset: usize, bytes: usize) -> &mut [u8] {
        assert!(offset <= self.bytes && bytes <= self.bytes - offset);
        // SAFETY: in range, initialised (zero pages), and `&mut self` excludes
        // any other Rust reference. The kernel touches it only while an operation
        // is in flight, when the worker does not ask for its buffer.
        unsafe { std::slice::from_raw_parts_mut(self.start.as_ptr().add(offset), bytes) }
    }
}

/// Shared values in an arena of their own, zeroed at first.
#[derive(Debug)]
pub(crate) struct SharedTable<T> {
    arena: Arena,
    count: usize,
    of: std::marker::PhantomData<T>,
}

impl<T: Zeroed> SharedTable<T> {
    /// `count` values.
    ///
    /// # Errors
    /// When the system gives no memory.
    pub(crate) fn new(count: usize) -> io::Result<SharedTable<T>> {
        let bytes = count.checked_mul(size_of::<T>());
        let bytes = bytes.ok_or_else(|| io::Error::from_raw_os_error(libc::ENOMEM))?;
        Ok(SharedTable {
            arena: Arena::new(bytes)?,
            count,
            of: std::marker::PhantomData,
        })
    }
}

impl<T: Zeroed> std::ops::Deref for SharedTable<T> {
    type Target = [T];

    #[inline]
    fn deref(&self) -> &[T] {
        // SAFETY: page-aligned and large enough, zero is a valid `T`, and shared
        // references to the memory are only ever to values that may change
        // behind them.
        unsafe { std::slice::from_raw_parts(self.arena.start.as_ptr().cast(), self.count) }
    }
}

impl Drop for Arena {
    fn drop(&mut self) {
        if self.bytes == 0 {
            return;
        }
        // SAFETY: the map was made by this value and no reference outlives it.
        let _ = unsafe { rustix::mm::munmap(self.start.as_ptr().cast(), self.bytes) };
    }
}

/// A worker's I/O buffers: equally long, in one arena.
#[derive(Debug)]
pub(crate) struct Buffers {
    arena: Arena,
    stride: usize,
    count: u32,
}

/// Where a worker's buffers are. They stay there, also when their owner is
/// moved; whoever holds a view must not outlive the owner.
#[derive(Debug, Clone, Copy)]
pub(crate) struct BufferView {
    start: *mut u8,
    stride: usize,
    count: u32,
}

impl BufferView {
    /// Address of the first buffer.
    pub(crate) fn as_ptr(&self) -> *mut u8 {
        self.start
    }

    /// Address of a buffer that there is.
    #[inline]
    pub(crate) fn at(&self, index: u32) -> *mut u8 {
        // Without any buffers the engine moves no bytes and the address is not used.
        debug_assert!(
            index < self.count || self.stride == 0,
            "buffer {index} of {}",
            self.count
        );
        self.start.wrapping_add(index as usize * self.stride)
    }

    /// Bytes from one buffer to the next.
    pub(crate) fn stride(&self) -> usize {
        self.stride
    }

    /// How many there are.
    pub(crate) fn count(&self) -> u32 {
        self.count
    }
}

impl Buffers {
    /// `count` buffers of `block_bytes`, and which pages they are on.
    ///
    /// # Errors
    /// When the system gives no memory.
    pub(crate) fn new(count: u32, block_bytes: u64, huge: bool) -> io::Result<(Buffers, Pages)> {
        let too_large = || io::Error::from_raw_os_error(libc::ENOMEM);
        let stride =
            usize::try_from(block_bytes.max(1).next_multiple_of(4096)).map_err(|_| too_large())?;
        let bytes = stride.checked_mul(count as usize).ok_or_else(too_large)?;
        let (arena, pages) = if huge {
            Arena::with_huge_pages(bytes)?
        } else {
            (Arena::new(bytes)?, Pages::Ordinary)
        };
        let buffers = Buffers {
            arena,
            stride,
            count,
        };
        Ok((buffers, pages))
    }

    /// No buffers at all.
    pub(crate) fn none() -> Buffers {
        Buffers {
            arena: Arena::empty(),
            stride: 0,
            count: 0,
        }
    }

    /// Where the buffers are, for those who hand them to the kernel.
    pub(crate) fn view(&self) -> BufferView {
        BufferView {
            start: self.arena.as_ptr(),
            stride: self.stride,
            count: self.count,
        }
    }

    /// The first `bytes` of a buffer, which must not be in flight.
    #[inline]
    pub(crate) fn block(&mut self, buffer: u32, bytes: u32) -> &mut [u8] {
        debug_assert!(bytes as usize <= self.stride);
        self.arena
            .slice(buffer as usize * self.stride, bytes as usize)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::Ordering;

    #[test]
    fn buffers_are_aligned_apart_and_zero() {
        let (mut buffers, _) = Buffers::new(3, 5000, false).unwrap();
        assert_eq!(buffers.view().stride() % 4096, 0);
        assert_eq!(buffers.view().as_ptr() as usize % 4096, 0);
        buffers.block(0, 5000).fill(1);
        buffers.block(2, 5000).fill(3);
        assert!(buffers.block(1, 5000).iter().all(|b| *b == 0));
        assert!(buffers.block(0, 5000).iter().all(|b| *b == 1));
    }

    #[test]
    fn huge_pages_or_not_the_memory_is_there() {
        let (mut arena, pages) = Arena::with_huge_pages(100).unwrap();
        let last = HUGE_PAGE - 1;
        arena.slice(last, 1)[0] = 7;
        assert_eq!(arena.slice(last, 1)[0], 7, "{pages:?}");
    }

    #[test]
    fn a_table_is_zeroed_and_keeps_what_is_stored() {
        let table = SharedTable::<AtomicU32>::new(3000).unwrap();
        assert_eq!(table.len(), 3000);
        assert!(table.iter().all(|cell| cell.load(Ordering::Relaxed) == 0));
        table[2999].store(7, Ordering::Relaxed);
        assert_eq!(table[2999].load(Ordering::Relaxed), 7);
        assert!(SharedTable::<AtomicU32>::new(usize::MAX / 2).is_err());
    }

    #[test]
    #[should_panic(expected = "offset")]
    fn a_part_beyond_the_end_is_refused() {
        Arena::new(4096).unwrap().slice(4095, 2);
    }

    #[test]
    fn absurd_sizes_are_an_error() {
        assert!(Buffers::new(u32::MAX, u64::MAX / 2, false).is_err());
    }
}
