//! How far a run is, in few characters.

use fathom_model::unit;

/// How much is done, as ten cells.
pub(super) fn bar(done: u64, all: u64) -> String {
    const CELLS: usize = 10;
    let full = (done * CELLS as u64).checked_div(all).unwrap_or(0) as usize;
    let full = full.min(CELLS);
    format!("{}{}", "█".repeat(full), "░".repeat(CELLS - full))
}

/// How far a step is; a total of 0 is one that nobody knows beforehand.
pub(super) fn step_text(what: &str, done_bytes: u64, total_bytes: u64) -> String {
    match (done_bytes * 100).checked_div(total_bytes) {
        Some(percent) => format!("{what} {percent} % of {}", unit::bytes(total_bytes)),
        None if done_bytes > 0 => format!("{what}: {} so far", unit::bytes(done_bytes)),
        None => what.to_owned(),
    }
}

/// A time as a clock shows it.
pub(super) fn clock(nanoseconds: u64) -> String {
    let seconds = nanoseconds.div_ceil(1_000_000_000);
    match seconds / 3600 {
        0 => format!("{:02}:{:02}", seconds / 60, seconds % 60),
        hours => format!("{hours}:{:02}:{:02}", seconds / 60 % 60, seconds % 60),
    }
}
