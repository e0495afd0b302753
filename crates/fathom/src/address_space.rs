//! A process whose address space is limited (`ulimit -v`) does not spend it on
//! allocators.
//!
//! The GNU library reserves 64 MiB of address space for each thread that first
//! allocates (mallopt(3), `M_ARENA_MAX`). Two or three of these use up a small
//! limit, and the next allocation of a few bytes ends the process.

use rustix::process::{Resource, getrlimit};

/// Has all threads share one arena where the address space is limited. To be
/// called before there is a second thread.
pub(crate) fn share_one_arena_under_a_limit() {
    if getrlimit(Resource::As).current.is_some() {
        share_one_arena();
    }
}

#[cfg(target_env = "gnu")]
fn share_one_arena() {
    // SAFETY: sets a number of the allocator; no memory is touched. Where it
    // is refused, all is as before.
    let _ = unsafe { libc::mallopt(libc::M_ARENA_MAX, 1) };
}

/// Other libraries have no such arenas.
#[cfg(not(target_env = "gnu"))]
fn share_one_arena() {}
