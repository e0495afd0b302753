//! Points in time as fio prints them.

use fathom_model::RunRecord;
use jiff::Timestamp;

/// End of the run, milliseconds since 1970.
pub(super) fn ended_unix_ms(record: &RunRecord) -> u64 {
    let trials = record.trials.iter().map(|trial| {
        let load = trial.samples.last().map(|s| s.start_ns + s.duration_ns);
        trial.started_unix_ns.saturating_add(load.unwrap_or(0))
    });
    let ended_ns = record
        .meta
        .ended_unix_ns
        .or_else(|| trials.max())
        .unwrap_or(record.meta.started_unix_ns);
    ended_ns / 1_000_000
}

/// Whole seconds from the start of the run to its end.
pub(super) fn elapsed_seconds(record: &RunRecord) -> u64 {
    let started_ms = record.meta.started_unix_ns / 1_000_000;
    ended_unix_ms(record).saturating_sub(started_ms) / 1000
}

/// `Sat Nov 21 22:25:29 2026`. In UTC, while fio takes the local time of the
/// machine: a report says the same wherever it is written.
pub(super) fn ctime(unix_s: u64) -> String {
    i64::try_from(unix_s)
        .ok()
        .and_then(|seconds| Timestamp::from_second(seconds).ok())
        .map_or_else(
            || "unknown date".to_owned(),
            |at| at.strftime("%a %b %e %H:%M:%S %Y").to_string(),
        )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_look_like_those_of_the_c_library() {
        assert_eq!(ctime(1_795_299_929), "Sat Nov 21 22:25:29 2026");
        assert_eq!(ctime(5 * 86_400), "Tue Jan  6 00:00:00 1970");
        assert_eq!(ctime(u64::MAX), "unknown date");
    }
}
