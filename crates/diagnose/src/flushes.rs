//! How many of the writes that the kernel counts may be flushes?
//!
//! A flush that carries no data (`fsync` without a journal, `fdatasync` of a database's log)
//! is counted twice: as a flush, and as a write of no bytes. A flush at the end of a write
//! with data is counted beside it. Which of them they were is not recorded, and most limits
//! of volumes count operations that move data: so the rate that is held against a limit lies
//! between all operations and those that are left when each flush is taken for a write.

use fathom_rules::diagnosis::at_ceiling::THRESHOLD as AT_CEILING;
use fathom_rules::diagnosis::room::ALWAYS_ONE;

use crate::load::Samples;
use crate::recording::DiskMoment;
use crate::series::Series;

/// Operations per second that move data, at least.
pub(crate) fn operations_with_data(disk: &DiskMoment) -> f64 {
    disk.operations() - disk.flushes.min(disk.writes)
}

/// A limit that lies between the operations with and without the flushes among them,
/// where one with data is in flight nearly all the time.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct LimitBetween {
    /// Operations per second that move data, at least.
    pub(crate) with_data: f64,
    /// All operations per second.
    pub(crate) all: f64,
    /// Mean time of one with data in milliseconds.
    pub(crate) wait_ms: f64,
    /// Share of the time in which that is so.
    pub(crate) time_share: f64,
}

/// Whether this limit, in operations per second, may be what such a load is held at.
pub(crate) fn limit_between(samples: &Samples<'_>, limit: f64) -> Option<LimitBetween> {
    let is_between = |disk: &DiskMoment| {
        operations_with_data(disk) <= limit
            && disk.operations() >= AT_CEILING * limit
            && disk.flushes > 0.0
            && in_flight_with_data(disk).is_some_and(|queue| queue >= ALWAYS_ONE)
    };
    let between = samples.iter().filter(|(disk, _)| is_between(disk));
    let mean = |value: fn(&DiskMoment) -> Option<f64>| {
        let values = between.clone();
        let values = values.filter_map(|(disk, seconds)| Some((value(disk)?, *seconds)));
        values.collect::<Series>().mean()
    };
    let all_seconds: f64 = samples.iter().map(|(_, seconds)| seconds).sum();
    let with_data = mean(|disk| Some(operations_with_data(disk)))?;
    Some(LimitBetween {
        with_data,
        all: mean(|disk| Some(disk.operations()))?,
        wait_ms: 1000.0 * mean(in_flight_with_data)? / with_data.max(f64::MIN_POSITIVE),
        time_share: between.clone().map(|(_, seconds)| seconds).sum::<f64>() / all_seconds,
    })
}

/// Operations in flight that are not flushes.
fn in_flight_with_data(disk: &DiskMoment) -> Option<f64> {
    let [flushes, _] = disk.others();
    Some(disk.in_flight()? - flushes.in_flight())
}

#[cfg(test)]
mod tests {
    use fathom_model::diagnosis::{Answer, Shortage};

    use crate::recording::{CpuShares, DiskMoment, Moment, RecordedHost, Recording};
    use crate::{Ceiling, diagnose};

    /// Twelve seconds of six sessions that commit: 139 writes per second of which 67 are
    /// flushes that take `flush_ms`, one operation in flight all the time.
    fn commits(flush_ms: f64) -> Recording {
        let moment = |number: u32| Moment {
            seconds: Some(1.0),
            cpu: Some(CpuShares {
                user: 0.04,
                iowait: 0.48,
                idle: 0.48,
                ..CpuShares::default()
            }),
            io_pressure_some: Some(0.9),
            disks: vec![DiskMoment {
                name: "sda".to_owned(),
                writes: 139.0 + f64::from(number % 3) - 1.0,
                write_bytes: 308_000.0,
                write_wait_ms: Some(7.4),
                read_wait_ms: Some(0.0),
                flushes: 67.0,
                flush_wait_ms: Some(flush_ms),
                queue: Some(1.03 + 0.067 * flush_ms),
                util: Some(0.99),
                ..DiskMoment::default()
            }],
            ..Moment::default()
        };
        Recording {
            host: RecordedHost {
                cpus: Some(2),
                ..RecordedHost::default()
            },
            moments: (0..12).map(moment).collect(),
            ..Recording::default()
        }
    }

    #[test]
    fn a_limit_that_may_not_count_flushes_is_not_contradicted_by_them() {
        let found = diagnose(&commits(0.8), |_| Some(Ceiling::given(90.0)));
        assert_eq!(found.answer, Answer::Yes, "{found:#?}");
        assert_eq!(found.limiter, Shortage::VolumeCap, "{found:#?}");
        let evidence = found.evidence.join("\n");
        assert!(evidence.contains("72 to 139 IOPS"), "{found:#?}");
        let used = found.ceiling.expect("a ceiling");
        assert!(used.comparable && !used.contradicted, "{used:#?}");
    }

    #[test]
    fn a_limit_below_what_moves_data_is_contradicted() {
        let found = diagnose(&commits(0.8), |_| Some(Ceiling::given(60.0)));
        assert_ne!(found.answer, Answer::Yes, "{found:#?}");
        assert!(found.ceiling.expect("a ceiling").contradicted);
    }

    #[test]
    fn a_measured_ceiling_that_counts_no_flushes_proves_nothing() {
        let measured = Ceiling {
            source: "a test load".to_owned(),
            ..Ceiling::given(90.0)
        };
        let found = diagnose(&commits(0.8), |_| Some(measured.clone()));
        assert_ne!(found.answer, Answer::Yes, "{found:#?}");
    }

    #[test]
    fn where_flushes_take_the_time_the_limit_does_not() {
        let found = diagnose(&commits(4.0), |_| Some(Ceiling::given(90.0)));
        assert_ne!(found.limiter, Shortage::VolumeCap, "{found:#?}");
    }
}
