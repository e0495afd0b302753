//! Surviving SIGBUS on a memory map.
//!
//! While a thread copies, it says which range it touches. If the kernel cannot
//! give it a page of that range, the signal handler puts a zero page in its
//! place and notes the fault, and the copy goes on; afterwards the operation is
//! counted as failed and the map is put right. (The way of Wayland's shared
//! memory.) A SIGBUS anywhere else goes to whoever handled it before.

use std::cell::Cell;
use std::io;
use std::sync::OnceLock;
use std::sync::atomic::{Ordering, compiler_fence};

/// What the current thread is copying.
#[derive(Debug, Clone, Copy)]
struct Guard {
    start: usize,
    bytes: usize,
    faulted: bool,
}

thread_local! {
    // No destructor and a constant start: safe to touch from a signal handler.
    static GUARD: Cell<Guard> = const {
        Cell::new(Guard { start: 0, bytes: 0, faulted: false })
    };
}

/// Size of a page.
pub(super) fn page_bytes() -> usize {
    rustix::param::page_size()
}

/// Runs `copy`, which touches `bytes` bytes from `start` on. Returns whether the
/// kernel could not give all of their pages.
#[inline]
pub(super) fn guarded(start: *mut u8, bytes: usize, copy: impl FnOnce()) -> bool {
    GUARD.set(Guard {
        start: start as usize,
        bytes,
        faulted: false,
    });
    compiler_fence(Ordering::SeqCst);
    copy();
    compiler_fence(Ordering::SeqCst);
    let guard = GUARD.replace(Guard {
        start: 0,
        bytes: 0,
        faulted: false,
    });
    guard.faulted
}

/// The handler that was there before.
static PREVIOUS: OnceLock<libc::sigaction> = OnceLock::new();

/// Installs the handler, once per process.
///
/// # Errors
/// When the system refuses.
pub(super) fn install() -> io::Result<()> {
    static RESULT: OnceLock<Result<(), i32>> = OnceLock::new();
    let result = RESULT.get_or_init(|| {
        // SAFETY: zero is a valid value of every field of the C structure.
        let mut action: libc::sigaction = unsafe { std::mem::zeroed() };
        // SAFETY: as above.
        let mut before: libc::sigaction = unsafe { std::mem::zeroed() };
        action.sa_sigaction = handle as *const () as usize;
        action.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK | libc::SA_NODEFER;
        // SAFETY: both point to valid structures; the handler is a function of
        // the right type that calls only what is safe in signal handlers.
        let done = unsafe { libc::sigaction(libc::SIGBUS, &raw const action, &raw mut before) };
        if done == 0 {
            let _ = PREVIOUS.set(before);
            Ok(())
        } else {
            Err(crate::engines::blocking::errno())
        }
    });
    result.map_err(io::Error::from_raw_os_error)
}

extern "C" fn handle(signal: i32, info: *mut libc::siginfo_t, context: *mut libc::c_void) {
    // SAFETY: the kernel passes a valid structure.
    let address = unsafe { (*info).si_addr() } as usize;
    let guard = GUARD.get();
    if address >= guard.start && address < guard.start + guard.bytes {
        let page = page_bytes();
        // SAFETY: replaces one page within the guarded map, which this thread is
        // copying from or to, by a zero page.
        let mapped = unsafe {
            libc::mmap(
                (address / page * page) as *mut libc::c_void,
                page,
                libc::PROT_READ | libc::PROT_WRITE,
                libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_FIXED,
                -1,
                0,
            )
        };
        if mapped != libc::MAP_FAILED {
            GUARD.set(Guard {
                faulted: true,
                ..guard
            });
            return;
        }
    }
    pass_on(signal, info, context);
}

/// Not ours: as if this handler did not exist.
fn pass_on(signal: i32, info: *mut libc::siginfo_t, context: *mut libc::c_void) {
    let previous = PREVIOUS.get();
    match previous {
        Some(before)
            if before.sa_sigaction != libc::SIG_DFL && before.sa_sigaction != libc::SIG_IGN =>
        {
            if before.sa_flags & libc::SA_SIGINFO != 0 {
                // SAFETY: with this flag it is a function of this type.
                let handler: extern "C" fn(i32, *mut libc::siginfo_t, *mut libc::c_void) =
                    unsafe { std::mem::transmute(before.sa_sigaction) };
                handler(signal, info, context);
            } else {
                // SAFETY: without the flag it is a function of this type.
                let handler: extern "C" fn(i32) =
                    unsafe { std::mem::transmute(before.sa_sigaction) };
                handler(signal);
            }
        }
        _ => {
            // SAFETY: restores the default; the fault repeats and ends the process.
            unsafe {
                libc::signal(signal, libc::SIG_DFL);
            }
        }
    }
}
