//! Tasks that wait for I/O that no listed device has.
//!
//! A task that waits for a device has an operation in flight there. Where tasks
//! wait and all devices are empty, what they wait for was not recorded: a network
//! mount, a device whose counters stand still, or a limit in front of a device.

use fathom_rules::diagnosis;
use fathom_rules::diagnosis::unseen_stall::{EMPTY, UNEXPLAINED};

use crate::load;
use crate::recording::{DiskMoment, Moment, Recording};

/// Share of the time in which that is so, where devices and waiting tasks were
/// recorded.
pub(crate) fn share(recording: &Recording) -> Option<f64> {
    let cpus = recording.host.cpus;
    let series = load::series(recording, |moment| {
        let unseen = is_unseen(moment, cpus)?;
        Some(f64::from(u8::from(unseen)))
    });
    series.mean()
}

fn is_unseen(moment: &Moment, cpus: Option<u32>) -> Option<bool> {
    let known = moment.disks.iter().any(|disk| in_use(disk).is_some());
    let in_use: f64 = moment.disks.iter().filter_map(in_use).sum();
    let waiting = waiting(moment, cpus).filter(|_| known);
    // Of blocked tasks only a moment is seen, and some wait for one another.
    let blocked = moment.blocked.filter(|_| known && waiting.is_none());
    match (waiting, blocked) {
        (Some(waiting), _) => Some(waiting - in_use >= UNEXPLAINED),
        (None, Some(blocked)) => Some(blocked >= 1.0 && in_use < EMPTY),
        (None, None) => None,
    }
}

/// Share of the time in which some task waits for I/O, at least.
fn waiting(moment: &Moment, cpus: Option<u32>) -> Option<f64> {
    let idle = moment.cpu.map(|cpu| {
        let cpus = f64::from(cpus.unwrap_or(1));
        (cpu.iowait * cpus).min(1.0)
    });
    moment.io_pressure_some.or(idle)
}

fn in_use(disk: &DiskMoment) -> Option<f64> {
    // Either may be missing, and a slow operation shows in one of them.
    let known = [disk.in_flight(), disk.util, disk.outstanding];
    known.into_iter().flatten().reduce(f64::max)
}

/// In words, where it lasts.
pub(crate) fn line(recording: &Recording) -> Option<String> {
    let share = share(recording).filter(|share| *share >= diagnosis::unseen_stall::THRESHOLD)?;
    let mut mounts: Vec<&str> = recording
        .moments
        .iter()
        .flat_map(|m| m.nfs.iter().map(|mount| mount.name.as_str()))
        .collect();
    mounts.sort_unstable();
    mounts.dedup();
    mounts.truncate(3);
    let mounts = match mounts.is_empty() {
        true => String::new(),
        false => format!(" (mounted: {})", mounts.join(", ")),
    };
    Some(format!(
        "tasks wait for I/O {:.0} % of the time, but the listed devices had hardly anything in flight \
         then: a network mount{mounts}, a hung device or a limit in front of one",
        100.0 * share
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::recording::CpuShares;

    fn recording(moment: Moment, cpus: Option<u32>) -> Recording {
        let mut recording = Recording {
            moments: vec![moment; 10],
            ..Recording::default()
        };
        recording.host.cpus = cpus;
        recording
    }

    fn disk(queue: Option<f64>, util: Option<f64>) -> Vec<DiskMoment> {
        vec![DiskMoment {
            name: "sda".to_owned(),
            queue,
            util,
            ..DiskMoment::default()
        }]
    }

    #[test]
    fn empty_devices_do_not_explain_waiting_tasks() {
        let stalled = |queue, util| Moment {
            io_pressure_some: Some(0.92),
            disks: disk(queue, util),
            ..Moment::default()
        };
        let of = |queue, util| share(&recording(stalled(queue, util), None));
        assert_eq!(of(Some(0.0), Some(0.0)), Some(1.0));
        assert_eq!(of(Some(3.0), Some(1.0)), Some(0.0));
        // In use as `%util` says, although the queue is not counted yet.
        assert_eq!(of(Some(0.0), Some(1.0)), Some(0.0));
        // Nothing is known of the devices.
        assert_eq!(of(None, None), None);
        let line = line(&recording(stalled(Some(0.0), None), None)).expect("a line");
        assert!(
            line.starts_with("tasks wait for I/O 100 % of the time"),
            "{line}"
        );
    }

    #[test]
    fn one_waiting_task_is_a_small_share_of_many_cpus() {
        let moment = Moment {
            cpu: Some(CpuShares {
                iowait: 1.0 / 32.0,
                idle: 31.0 / 32.0,
                ..CpuShares::default()
            }),
            disks: disk(Some(0.0), Some(0.0)),
            ..Moment::default()
        };
        assert_eq!(share(&recording(moment.clone(), Some(32))), Some(1.0));
        assert_eq!(share(&recording(moment, Some(2))), Some(0.0));
    }
}
