//! A process whose address space is limited (`ulimit -v`) does not spend it on
//! allocators.
//!
//! The GNU library reserves 64 MiB of address space for each thread that first
//! allocates (mallopt(3), `M_ARENA_MAX`). Two or three of these use up a small
//! limit, and the next allocation of a few bytes ends the process.

use rustix::process::{Resource, getrlimit};

/// What any command needs after its start, in MiB: the stacks of its threads,
/// the tables of its arguments and the histograms of one worker.
const NEEDED_MIB: usize = 8;

/// Too little memory for any command.
#[derive(Debug, thiserror::Error)]
#[error("too little memory: {NEEDED_MIB} MiB more are needed to start, and {limits}")]
pub struct NoRoom {
    /// What limits it.
    limits: String,
}

/// Checks that there is enough memory for any command: a small allocation that
/// fails later would abort the process without naming the limit.
///
/// # Errors
///
/// What is missing and which limit causes it.
pub fn has_room() -> Result<(), NoRoom> {
    let mut probe: Vec<u8> = Vec::new();
    let granted = probe.try_reserve_exact(NEEDED_MIB << 20).is_ok();
    // Only the attempt matters, and the compiler must not leave it out.
    std::hint::black_box(&mut probe);
    if granted {
        return Ok(());
    }
    let limits = [(Resource::As, "ulimit -v"), (Resource::Data, "ulimit -d")];
    let limits = limits.iter().filter_map(|(resource, name)| {
        let bytes = getrlimit(*resource).current?;
        Some(format!("`{name}` allows {} MiB in all", bytes >> 20))
    });
    let limits: Vec<String> = limits.collect();
    let whose = match limits.is_empty() {
        true => "the host has no memory left".to_owned(),
        false => limits.join(", "),
    };
    Err(NoRoom { limits: whose })
}

/// Has all threads share one arena where the address space is limited. To be
/// called before there is a second thread.
pub fn share_one_arena_under_a_limit() {
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
