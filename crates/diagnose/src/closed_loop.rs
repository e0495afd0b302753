//! Do a fixed number of workers wait for a device, and for nothing else, all the time?
//!
//! The queue of such workers is always alike, at whatever rate the device answers, so no
//! plateau shows. What tells it from a load that comes at a pace of its own are the tasks
//! that wait: always as many as there are operations in flight, and never more or fewer
//! (Schroeder, Wierman, Harchol-Balter 2006: closed and open systems).

use fathom_rules::diagnosis::closed_loop::{
    ALIKE, LEAST_SAMPLES, LEAST_TASKS, STALLED, STEADY, THRESHOLD as SLOW_MS,
};
use fathom_rules::diagnosis::overload::LASTING;
use fathom_rules::diagnosis::plateau::{ALWAYS_FULL, HELD, HELD_MOSTLY};

use crate::load;
use crate::network_mounts;
use crate::recording::{DiskMoment, Moment, Recording};
use crate::series::Series;

/// Workers that wait for a device, and what it gives them.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct ClosedLoop {
    /// Tasks that wait, on average.
    pub(crate) tasks: f64,
    /// Operations in flight, on average.
    pub(crate) queue: f64,
    /// Operations per second that the device gives.
    pub(crate) operations: f64,
    /// Mean time of an operation, in milliseconds.
    pub(crate) wait_ms: f64,
    /// The rate is so even that somebody holds it.
    pub(crate) held: bool,
}

/// The closed loop at a device, where the samples show one that lasts.
pub(crate) fn find(recording: &Recording, name: &str) -> Option<ClosedLoop> {
    if network_mounts::waits(recording, None).is_some() {
        return None;
    }
    let of = |value: fn(&Moment, &DiskMoment) -> Option<f64>| {
        load::series(recording, |moment| {
            let disk = moment.disks.iter().find(|disk| disk.name == name)?;
            value(moment, disk).filter(|_| all_wait(moment, disk))
        })
    };
    let tasks = of(|moment, _| moment.blocked);
    let all: f64 = recording.moments.iter().map(load::seconds).sum();
    if tasks.samples() < LEAST_SAMPLES || tasks.seconds() < LASTING * all {
        return None;
    }
    let queue = of(|_, disk| disk.in_flight());
    if !stays(&tasks, STEADY) || !stays(&queue, STEADY) {
        return None;
    }
    let rates = of(|_, disk| Some(disk.operations()));
    let (tasks, queue, operations) = (tasks.mean()?, queue.mean()?, rates.mean()?);
    Some(ClosedLoop {
        tasks,
        queue,
        operations,
        wait_ms: 1000.0 * queue / operations,
        held: stays(&rates, HELD),
    })
}

/// All that waits for I/O waits for this device, which is never empty.
fn all_wait(moment: &Moment, disk: &DiskMoment) -> bool {
    let (Some(tasks), Some(queue)) = (moment.blocked, disk.in_flight()) else {
        return false;
    };
    queue >= LEAST_TASKS
        && (tasks - queue).abs() <= ALIKE * queue
        && disk.util.is_none_or(|busy| busy >= ALWAYS_FULL)
        && moment.io_pressure_some.is_none_or(|share| share >= STALLED)
        && disk.mean_wait_ms().is_some_and(|ms| ms >= SLOW_MS)
}

/// Whether values are mostly within this share of their median.
fn stays(values: &Series, share: f64) -> bool {
    let Some(median) = values.quantile(0.5) else {
        return false;
    };
    let within =
        values.share_from((1.0 - share) * median) - values.share_from((1.0 + share) * median);
    within >= HELD_MOSTLY
}

#[cfg(test)]
mod tests {
    use fathom_model::diagnosis::{Answer, Shortage};

    use crate::diagnose;
    use crate::recording::{CpuShares, DiskMoment, Moment, RecordedHost, Recording};

    /// Fifteen seconds of a device that gives so many operations per second, with a
    /// queue and tasks that wait in each second as told.
    fn device(operations: f64, of_second: impl Fn(u32) -> Waiting) -> Recording {
        let moment = |number: u32| {
            let Waiting { queue, tasks } = of_second(number);
            Moment {
                seconds: Some(1.0),
                cpu: Some(CpuShares {
                    user: 0.02,
                    iowait: 0.51,
                    idle: 0.47,
                    ..CpuShares::default()
                }),
                io_pressure_some: Some(0.97),
                blocked: Some(tasks),
                disks: vec![DiskMoment {
                    name: "sda".to_owned(),
                    reads: operations,
                    read_bytes: operations * 4096.0,
                    read_wait_ms: Some(1000.0 * queue / operations),
                    write_wait_ms: Some(0.0),
                    queue: Some(queue),
                    util: Some(1.0),
                    ..DiskMoment::default()
                }],
                ..Moment::default()
            }
        };
        Recording {
            host: RecordedHost {
                cpus: Some(2),
                ..RecordedHost::default()
            },
            moments: (0..15).map(moment).collect(),
            ..Recording::default()
        }
    }

    /// What waits in a second.
    struct Waiting {
        queue: f64,
        tasks: f64,
    }

    #[test]
    fn workers_that_only_wait_for_a_cap_prove_it() {
        let twelve = |_| Waiting {
            queue: 11.99,
            tasks: 12.0,
        };
        let found = diagnose(&device(340.0, twelve), |_| None);
        assert_eq!(found.answer, Answer::Yes, "{found:#?}");
        assert_eq!(found.limiter, Shortage::VolumeCap, "{found:#?}");
        assert!(found.evidence[0].contains("12 tasks"), "{found:#?}");
    }

    #[test]
    fn quick_answers_to_the_same_workers_prove_nothing() {
        let twelve = |_| Waiting {
            queue: 11.99,
            tasks: 12.0,
        };
        let found = diagnose(&device(3_400.0, twelve), |_| None);
        assert_ne!(found.answer, Answer::Yes, "{found:#?}");
    }

    #[test]
    fn a_load_at_a_pace_of_its_own_proves_nothing() {
        // As many in flight on average; a look at the tasks finds now more, now fewer.
        let paced = |second: u32| Waiting {
            queue: 11.8,
            tasks: 8.0 + f64::from((second * 5) % 9),
        };
        let found = diagnose(&device(340.0, paced), |_| None);
        assert_ne!(found.answer, Answer::Yes, "{found:#?}");
    }

    #[test]
    fn a_queue_that_fewer_tasks_wait_for_proves_nothing() {
        let written_back = |_| Waiting {
            queue: 12.0,
            tasks: 2.0,
        };
        let found = diagnose(&device(340.0, written_back), |_| None);
        assert_ne!(found.answer, Answer::Yes, "{found:#?}");
    }
}
