//! Is memory short?

use fathom_model::diagnosis::DiskLoad;
use fathom_model::unit;

use crate::load;
use crate::recording::Recording;
use crate::series::Series;

/// Swapping that costs, bytes per second in and out.
const SWAP_BYTES: f64 = 1_048_576.0;
/// Share of the time from which it lasts.
const LASTING: f64 = 0.10;
/// Share of the time in which some task waits for memory.
const STALLED: f64 = 0.10;
/// A device of whose bytes this share goes to swap and back is busy with that.
const MOSTLY_SWAP: f64 = 0.5;

/// What shows that it is short.
pub(crate) fn is_short(recording: &Recording) -> Option<String> {
    let swapped = swapped(recording);
    if swapped.share_from(SWAP_BYTES) >= LASTING {
        let mean = swapped.mean().unwrap_or(0.0);
        return Some(format!(
            "memory is short: {} go to swap and back",
            unit::throughput(mean)
        ));
    }
    let stalled = load::series(recording, |m| m.memory_pressure_some);
    let mean = stalled.mean().filter(|mean| *mean >= STALLED)?;
    Some(format!(
        "memory is short: some task waited for it {:.0} % of the time",
        100.0 * mean
    ))
}

/// Whether most of what a device moves are pages that go to swap and back: then
/// it is full because memory is short.
pub(crate) fn fills(recording: &Recording, disk: Option<&DiskLoad>) -> bool {
    let swapped = swapped(recording).mean().unwrap_or(0.0);
    disk.is_some_and(|disk| swapped > 0.0 && swapped >= MOSTLY_SWAP * disk.bytes)
}

/// Bytes per second to swap and back.
fn swapped(recording: &Recording) -> Series {
    load::series(recording, |m| {
        Some(m.swap_in_bytes_per_second? + m.swap_out_bytes_per_second?)
    })
}
