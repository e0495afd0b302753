//! Do reads queue at a device all the time, of which the kernel counts no waiting task?
//!
//! A task that sleeps until asynchronous I/O ends (libaio, io_uring) counts neither as idle
//! CPU time with a waiting task nor as blocked. Somebody waits for each read all the same.

use fathom_rules::diagnosis::plateau::LEAST_QUEUE;
use fathom_rules::diagnosis::waits_for_io::{HALF, LASTING};

use crate::load;
use crate::recording::{DiskMoment, Moment, Recording};

/// Whether that is so, in a recording that has only idle CPU time to tell who waits.
pub(crate) fn queue_at(recording: &Recording, name: &str) -> bool {
    let tells_more =
        |moment: &Moment| moment.io_pressure_some.is_some() || moment.blocked.is_some();
    if recording.moments.iter().any(tells_more) {
        return false;
    }
    let queued = load::series(recording, |moment| {
        let disk = moment.disks.iter().find(|disk| disk.name == name)?;
        Some(f64::from(u8::from(are_queued(disk))))
    });
    queued.mean().is_some_and(|share| share >= LASTING)
}

/// Several operations are in flight, half of them and more are reads.
fn are_queued(disk: &DiskMoment) -> bool {
    let (Some(queue), Some(read_ms)) = (disk.in_flight(), disk.read_wait_ms) else {
        return false;
    };
    queue >= LEAST_QUEUE && disk.reads * read_ms / 1000.0 >= HALF * queue
}

#[cfg(test)]
mod tests {
    use fathom_model::diagnosis::{Answer, Shortage};

    use crate::recording::{CpuShares, DiskMoment, Moment, Recording};
    use crate::{Ceiling, diagnose};

    /// What iostat shows of a volume at 260 operations a second, `reads` of them reads:
    /// twelve in flight, and no CPU that idles for a waiting task.
    fn recorded(reads: f64) -> Recording {
        let moment = || Moment {
            seconds: Some(1.0),
            cpu: Some(CpuShares {
                user: 0.01,
                idle: 0.99,
                ..CpuShares::default()
            }),
            disks: vec![DiskMoment {
                name: "sda".to_owned(),
                reads,
                writes: 260.0 - reads,
                read_wait_ms: Some(46.0),
                write_wait_ms: Some(46.0),
                queue: Some(12.0),
                util: Some(1.0),
                ..DiskMoment::default()
            }],
            ..Moment::default()
        };
        Recording {
            moments: (0..8).map(|_| moment()).collect(),
            ..Recording::default()
        }
    }

    fn answer(recording: &Recording) -> (Answer, Shortage) {
        let found = diagnose(recording, |_| {
            Some(Ceiling {
                source: "the limit of the volume, as given".to_owned(),
                operations: 260.0,
                block_bytes: None,
                read_share: None,
                wait_ms: None,
            })
        });
        (found.answer, found.limiter)
    }

    #[test]
    fn reads_that_queue_at_the_limit_of_the_volume_are_waited_for() {
        let yes = (Answer::Yes, Shortage::VolumeCap);
        assert_eq!(answer(&recorded(208.0)), yes);
        // The page cache may write them back, and nobody waits.
        assert_eq!(answer(&recorded(50.0)).0, Answer::NotProven);
        let counted = Recording {
            moments: recorded(208.0)
                .moments
                .into_iter()
                .map(|moment| Moment {
                    io_pressure_some: Some(0.0),
                    ..moment
                })
                .collect(),
            ..Recording::default()
        };
        assert_eq!(answer(&counted).0, Answer::NotProven);
    }
}
