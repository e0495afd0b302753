//! Do a fixed number of workers wait for a device, and for nothing else, all the time?
//!
//! The queue of such workers is always alike, at whatever rate the device answers, so no
//! plateau shows. What tells it from a load that comes at a pace of its own are the tasks
//! that wait: always as many as there are operations in flight, and never more or fewer
//! (Schroeder, Wierman, Harchol-Balter 2006: closed and open systems). One task that keeps
//! several in flight is seen by a number in flight that stays exactly as it is.

use fathom_rules::diagnosis::closed_loop::{
    ALIKE, EXACTLY, LEAST_PART, LEAST_SAMPLES, LEAST_TASKS, LONG_MS, STALLED, STEADY,
    THRESHOLD as SLOW_MS, THROUGHOUT,
};
use fathom_rules::diagnosis::overload::LASTING;
use fathom_rules::diagnosis::plateau::ALWAYS_FULL;
use fathom_rules::diagnosis::waits_for_io::{HALF, MOSTLY_READS};

use crate::load;
use crate::network_mounts;
use crate::recording::{DiskMoment, Moment, Recording};
use crate::series::Series;
use crate::stalled;

/// Workers that wait for a device, and what it gives them.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct ClosedLoop {
    /// Operations in flight, on average.
    pub(crate) queue: f64,
    /// Operations per second that the device gives.
    pub(crate) operations: f64,
    /// Mean time of an operation, in milliseconds.
    pub(crate) wait_ms: f64,
    /// The rate is so even that somebody holds it.
    pub(crate) held: bool,
    /// The rate is even, as that of a hard disk at its end is as well.
    even: bool,
}

/// The closed loop at a device, where the samples show one that lasts.
pub(crate) fn find(recording: &Recording, name: &str) -> Option<ClosedLoop> {
    if network_mounts::waits(recording, None).is_some() {
        return None;
    }
    let cpus = recording.host.cpus;
    let by_tasks = || {
        let samples = Samples::of(recording, name, |moment, disk| all_wait(moment, disk, cpus))?;
        let tasks = samples.series(|moment, _| moment.blocked);
        let steady = tasks.stays(STEADY) && samples.queue().stays(STEADY);
        samples.shown().filter(|_| steady)
    };
    let by_queue = || {
        let samples = Samples::of(recording, name, reads_wait)?;
        let exact = samples.queue().stays(EXACTLY);
        samples.shown().filter(|found| exact && found.even)
    };
    let by_idle_cpus = || {
        let samples = Samples::of(recording, name, |moment, disk| {
            idle_cpus_wait(moment, disk, cpus)
        })?;
        // A rate that is there with a shorter queue as well may be a pace.
        let all: f64 = recording.moments.iter().map(load::seconds).sum();
        let throughout = samples.queue().seconds() >= THROUGHOUT * all;
        let exact = samples.queue().stays(EXACTLY);
        samples
            .shown()
            .filter(|found| throughout && exact && found.even)
    };
    by_tasks().or_else(by_queue).or_else(by_idle_cpus)
}

/// Samples of a device in which something waits for it, as many as prove something.
struct Samples<'a>(Vec<(&'a Moment, &'a DiskMoment)>);

impl<'a> Samples<'a> {
    fn of(
        recording: &'a Recording,
        name: &str,
        waits: impl Fn(&Moment, &DiskMoment) -> bool,
    ) -> Option<Samples<'a>> {
        let of_device = |moment: &'a Moment| {
            let disk = moment.disks.iter().find(|disk| disk.name == name)?;
            waits(moment, disk).then_some((moment, disk))
        };
        let all: f64 = recording.moments.iter().map(load::seconds).sum();
        let found: Vec<_> = recording.moments.iter().filter_map(of_device).collect();
        let seconds: f64 = found.iter().map(|(moment, _)| load::seconds(moment)).sum();
        let lasts = found.len() >= LEAST_SAMPLES && seconds >= LASTING * all;
        lasts.then_some(Samples(found))
    }

    fn series(&self, value: impl Fn(&Moment, &DiskMoment) -> Option<f64>) -> Series {
        let all = self.0.iter();
        all.filter_map(|(moment, disk)| Some((value(moment, disk)?, load::seconds(moment))))
            .collect()
    }

    fn queue(&self) -> Series {
        self.series(|_, disk| disk.in_flight())
    }

    fn shown(&self) -> Option<ClosedLoop> {
        let rates = self.series(|_, disk| Some(disk.operations()));
        let (queue, operations) = (self.queue().mean()?, rates.mean()?);
        Some(ClosedLoop {
            queue,
            operations,
            wait_ms: 1000.0 * queue / operations,
            held: rates.is_held(),
            even: rates.is_even(),
        })
    }
}

/// All that waits for I/O waits for this device, which is never empty.
fn all_wait(moment: &Moment, disk: &DiskMoment, cpus: Option<u32>) -> bool {
    let (Some(tasks), Some(queue)) = (moment.blocked, disk.in_flight()) else {
        return false;
    };
    is_never_empty(disk, queue)
        && ((tasks - queue).abs() <= ALIKE * queue || some_keep_several(tasks, queue, disk))
        && is_stalled(moment, disk, cpus)
        && disk.mean_wait_ms().is_some_and(|ms| ms >= SLOW_MS)
}

/// Fewer tasks wait than operations are in flight, as where some program keeps several of
/// them: what is in flight is reads, of which somebody waits for each.
fn some_keep_several(tasks: f64, queue: f64, disk: &DiskMoment) -> bool {
    let reads_in_flight = disk.reads * disk.read_wait_ms.unwrap_or(0.0) / 1000.0;
    tasks >= LEAST_TASKS.max(LEAST_PART * queue)
        && tasks < queue
        && reads_in_flight >= MOSTLY_READS * queue
}

/// Pressure stall is a mean over the CPUs that have something to do: what serves the
/// device on another CPU makes it smaller although a task waits all the time. Idle CPUs
/// with a waiting task show that.
fn is_stalled(moment: &Moment, disk: &DiskMoment, cpus: Option<u32>) -> bool {
    let stalled = stalled::most_of_any(moment, disk, cpus);
    moment.io_pressure_some.is_none() || stalled.is_some_and(|share| share >= STALLED)
}

/// Half of what is in flight are reads that programs asked for. Somebody waits for each
/// read; writes may be those of the page cache.
fn reads_wait(moment: &Moment, disk: &DiskMoment) -> bool {
    let (Some(queue), Some(read_ms)) = (disk.in_flight(), disk.read_wait_ms) else {
        return false;
    };
    let reads_in_flight = disk.reads * read_ms / 1000.0;
    is_never_empty(disk, queue)
        && reads_in_flight >= HALF * queue
        && stalled::programs_read(moment, disk)
        && disk.mean_wait_ms().is_some_and(|ms| ms >= LONG_MS)
}

/// Where nobody recorded who reads or how many wait: nearly all are reads, and CPUs idle
/// because tasks wait, which have no other device to wait for.
fn idle_cpus_wait(moment: &Moment, disk: &DiskMoment, cpus: Option<u32>) -> bool {
    let Some(queue) = disk.in_flight() else {
        return false;
    };
    moment.processes.is_empty()
        && moment.blocked.is_none()
        && is_never_empty(disk, queue)
        && disk.mean_wait_ms().is_some_and(|ms| ms >= LONG_MS)
        && disk.reads >= MOSTLY_READS * disk.operations()
        && stalled::most_of_any(moment, disk, cpus).is_some_and(|share| share >= STALLED)
        && !stalled::may_wait_elsewhere(moment, disk, queue)
}

/// Several are in flight, and one at every moment.
pub(crate) fn is_never_empty(disk: &DiskMoment, queue: f64) -> bool {
    queue >= LEAST_TASKS && disk.util.is_none_or(|busy| busy >= ALWAYS_FULL)
}

#[cfg(test)]
mod tests {
    use fathom_model::diagnosis::{Answer, Shortage};

    use crate::diagnose;
    use crate::recording::{CpuShares, DiskMoment, DoerMoment, Moment, RecordedHost, Recording};

    /// Fifteen seconds of a device at this rate. `of_second` gives its queue and the tasks
    /// that wait in each second.
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
        assert!(found.evidence[0].contains("12.0 operations"), "{found:#?}");
    }

    #[test]
    fn a_cpu_that_serves_the_device_makes_the_pressure_smaller_and_changes_nothing() {
        let four = |_| Waiting {
            queue: 3.99,
            tasks: 4.0,
        };
        let mut recording = device(46.0, four);
        for moment in &mut recording.moments {
            moment.io_pressure_some = Some(0.6);
        }
        assert_eq!(diagnose(&recording, |_| None).answer, Answer::Yes);
        // No CPU idles for as long either.
        for cpu in recording.moments.iter_mut().filter_map(|m| m.cpu.as_mut()) {
            cpu.iowait = 0.2;
        }
        assert_ne!(diagnose(&recording, |_| None).answer, Answer::Yes);
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
    fn tasks_beside_a_program_that_keeps_several_reads_are_a_closed_loop_too() {
        let four = |_| Waiting {
            queue: 8.1,
            tasks: 4.0,
        };
        let mut recording = device(450.0, four);
        let found = diagnose(&recording, |_| None);
        assert_eq!(found.answer, Answer::Yes, "{found:#?}");
        // Half of them writes, which may be those of the page cache.
        for disk in recording.moments.iter_mut().flat_map(|m| &mut m.disks) {
            disk.reads /= 2.0;
            disk.writes = disk.reads;
            disk.write_wait_ms = disk.read_wait_ms;
        }
        assert_ne!(diagnose(&recording, |_| None).answer, Answer::Yes);
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
    fn one_task_that_keeps_a_queue_of_reads_is_a_closed_loop_too() {
        let by = |reader: &str, drift: f64| {
            let waiting = |second: u32| Waiting {
                queue: 14.0 + drift * f64::from(second % 5),
                tasks: 0.0,
            };
            let mut recording = device(283.0, waiting);
            for moment in &mut recording.moments {
                moment.io_pressure_some = Some(0.05);
                moment.processes = vec![DoerMoment {
                    name: reader.to_owned(),
                    read_bytes: moment.disks[0].read_bytes,
                    ..DoerMoment::default()
                }];
            }
            diagnose(&recording, |_| None).answer
        };
        assert_eq!(by("712 fio", 0.0), Answer::Yes);
        assert_ne!(by("712 fio", 0.4), Answer::Yes, "a pace of its own");
        assert_ne!(by("77 [md0_resync]", 0.0), Answer::Yes, "nobody waits");
    }

    #[test]
    fn readers_that_nobody_recorded_wait_where_cpus_idle_for_them() {
        // What iostat shows: neither tasks that wait, nor pressure, nor programs.
        let by_iostat = |queue: f64, iowait: f64, others: f64| {
            let exactly = |_| Waiting { queue, tasks: 0.0 };
            let mut recording = device(200.0, exactly);
            for moment in &mut recording.moments {
                (moment.blocked, moment.io_pressure_some) = (None, None);
                if let Some(cpu) = &mut moment.cpu {
                    cpu.iowait = iowait;
                }
                let mut other = moment.disks[0].clone();
                other.name = "sdb".to_owned();
                other.queue = Some(others);
                other.reads = 1000.0 * others;
                other.read_bytes = 4096.0 * other.reads;
                other.util = Some(others.min(1.0));
                other.read_wait_ms = Some(1.0);
                moment.disks.push(other);
            }
            diagnose(&recording, |_| None)
        };
        let found = by_iostat(16.0, 0.9, 0.0);
        assert_eq!(found.answer, Answer::Yes, "{found:#?}");
        assert_eq!(found.limiter, Shortage::VolumeCap, "{found:#?}");
        assert_ne!(by_iostat(16.0, 0.3, 0.0).answer, Answer::Yes, "few wait");
        assert_ne!(by_iostat(16.0, 0.9, 1.0).answer, Answer::Yes, "elsewhere");
        assert_ne!(by_iostat(5.0, 0.9, 0.0).answer, Answer::Yes, "too quick");
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
