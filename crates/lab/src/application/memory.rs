//! Memory that is used again and again, and may be paged out in between.

use std::thread;
use std::time::Duration;

use rustix::mm::{Advice, madvise};

use crate::Error;

const PAGE_BYTES: usize = 4096;
/// More would be no small application.
const MOST_BYTES: u64 = 1 << 30;

/// Uses `bytes` of memory until the process is killed.
pub(super) fn touch(bytes: u64, page_out: bool, pause_ms: u64) -> Result<(), Error> {
    if bytes > MOST_BYTES {
        return Err(Error::Description(format!(
            "the application: {bytes} bytes of memory are more than the {MOST_BYTES} that it may use"
        )));
    }
    let bytes = bytes as usize / PAGE_BYTES * PAGE_BYTES;
    let mut room = vec![0_u8; bytes + PAGE_BYTES];
    let start = room.as_ptr().align_offset(PAGE_BYTES);
    let mut round = 0_u8;
    loop {
        round = round.wrapping_add(1);
        for page in room[start..start + bytes].chunks_mut(PAGE_BYTES) {
            // All of it differs, so that no page is one of zeros.
            page[0] = page[0].wrapping_add(round);
        }
        if page_out {
            let begin = room[start..].as_mut_ptr();
            // SAFETY: the range lies within `room`, which lives; paging out
            // keeps its content.
            let _ = unsafe { madvise(begin.cast(), bytes, Advice::LinuxPageOut) };
        }
        thread::sleep(Duration::from_millis(pause_ms));
    }
}
