//! Is memory short?

use fathom_model::diagnosis::DiskLoad;
use fathom_model::unit;
use fathom_rules::diagnosis::memory_short::{
    LASTING, MOSTLY_SWAP, SWAP_BYTES, THRESHOLD as STALLED,
};

use crate::load;
use crate::recording::Recording;
use crate::series::Series;

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
