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
/// it is full because memory is short. Of all devices together, where none was recorded.
pub(crate) fn fills(recording: &Recording, disk: Option<&DiskLoad>) -> bool {
    let swapped = swapped(recording).mean().unwrap_or(0.0);
    let paged = || load::series(recording, |m| m.paged_bytes_per_second).mean();
    let moved = disk.map(|disk| disk.bytes).or_else(paged);
    moved.is_some_and(|moved| swapped > 0.0 && swapped >= MOSTLY_SWAP * moved)
}

/// Bytes per second to swap and back.
fn swapped(recording: &Recording) -> Series {
    load::series(recording, |m| {
        Some(m.swap_in_bytes_per_second? + m.swap_out_bytes_per_second?)
    })
}

#[cfg(test)]
mod tests {
    use fathom_model::diagnosis::{Answer, Shortage};

    use crate::diagnose;
    use crate::recording::{CpuShares, Moment, Recording};

    /// What vmstat shows of a host that swaps, and whose devices move `times` as many bytes.
    fn swaps(times: f64) -> Recording {
        let moment = || Moment {
            seconds: Some(1.0),
            cpu: Some(CpuShares {
                user: 0.07,
                system: 0.1,
                iowait: 0.65,
                idle: 0.18,
                ..CpuShares::default()
            }),
            blocked: Some(8.0),
            swap_in_bytes_per_second: Some(20e6),
            swap_out_bytes_per_second: Some(20e6),
            paged_bytes_per_second: Some(times * 40e6),
            ..Moment::default()
        };
        Recording {
            moments: (0..30).map(|_| moment()).collect(),
            ..Recording::default()
        }
    }

    #[test]
    fn memory_is_short_where_most_of_what_is_moved_goes_to_swap() {
        let found = diagnose(&swaps(1.05), |_| None);
        assert_eq!(found.answer, Answer::No, "{found:#?}");
        assert_eq!(found.limiter, Shortage::Memory, "{found:#?}");
        let beside_other_work = diagnose(&swaps(4.0), |_| None);
        assert_eq!(beside_other_work.answer, Answer::NotProven);
    }
}
