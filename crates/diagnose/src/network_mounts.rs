//! Mounts on which work waits: of NFS, of FUSE and of others that need a server or
//! another process.
//!
//! From the client neither server nor network can be told apart as the cause:
//! the round trip holds both. So this proves nothing by itself, but it forbids
//! to say that the storage has room because the disks of the client are idle.

use std::collections::BTreeSet;

use fathom_model::diagnosis::DiskLoad;
use fathom_model::unit;
use fathom_rules::diagnosis::mount_waits::{SENT_AGAIN, THRESHOLD as WAITING};

use crate::load;
use crate::recording::{Moment, NfsMoment, Recording};
use crate::series::Series;

/// What the busiest mount shows, and what would decide whether it is the
/// server or the network.
pub(crate) fn waits(
    recording: &Recording,
    disk: Option<&DiskLoad>,
) -> Option<(Vec<String>, Vec<String>)> {
    let busiest = Waited::busiest(recording)?;
    let of_disk = disk.and_then(|disk| disk.queue).unwrap_or(0.0);
    if busiest.in_flight < WAITING || busiest.in_flight < of_disk {
        return None;
    }
    let settle = vec![
        match busiest.is_nfs {
            true => "a recording of the server in the same time: are its devices at their end?",
            false => {
                "a recording of what serves it in the same time: are the devices there at their end, \
                 or does the process behind it compute?"
            }
        }
        .to_owned(),
        "the network to it alone: `fathom net serve` there, `fathom net SERVER` here".to_owned(),
    ];
    Some((busiest.evidence(recording), settle))
}

/// A mount, and what waits for it.
struct Waited<'a> {
    name: &'a str,
    /// Operations in flight, or tasks that wait, mean.
    in_flight: f64,
    is_nfs: bool,
}

impl<'a> Waited<'a> {
    fn busiest(recording: &'a Recording) -> Option<Waited<'a>> {
        let of_nfs = |m: &'a Moment| m.nfs.iter().map(|mount| mount.name.as_str());
        let nfs: BTreeSet<&str> = recording.moments.iter().flat_map(of_nfs).collect();
        let nfs = nfs.into_iter().map(|name| Waited {
            name,
            in_flight: mean(recording, name, |mount| Some(mount.queue)).unwrap_or(0.0),
            is_nfs: true,
        });
        let of_others = |m: &'a Moment| m.waited_mounts.iter().map(|mount| mount.name.as_str());
        let others: BTreeSet<&str> = recording.moments.iter().flat_map(of_others).collect();
        let others = others.into_iter().map(|name| Waited {
            name,
            in_flight: waiting(recording, name),
            is_nfs: false,
        });
        nfs.chain(others)
            .max_by(|a, b| a.in_flight.total_cmp(&b.in_flight))
    }

    fn evidence(&self, recording: &Recording) -> Vec<String> {
        match self.is_nfs {
            true => of_nfs(recording, self.name, self.in_flight),
            false => vec![format!(
                "{}: {:.1} requests wait for its answers on average; what serves this mount, and the \
                 way to it, are not seen from here",
                self.name, self.in_flight
            )],
        }
    }
}

/// Requests that wait for a mount that counts nothing else.
fn waiting(recording: &Recording, name: &str) -> f64 {
    let of_mount = load::series(recording, |m| {
        let mount = m.waited_mounts.iter().find(|mount| mount.name == name)?;
        Some(mount.waiting)
    });
    of_mount.mean().unwrap_or(0.0)
}

fn of_nfs(recording: &Recording, name: &str, in_flight: f64) -> Vec<String> {
    let of = |value: fn(&NfsMoment) -> Option<f64>| mean(recording, name, value).unwrap_or(0.0);
    let operations = of(|mount| Some(mount.operations));
    let mut evidence = vec![format!(
        "{name}: {in_flight:.1} requests in flight, {} requests a second, {}",
        unit::count(operations),
        unit::throughput(of(|mount| Some(mount.bytes)))
    )];
    let execute_ms = of_requests(recording, name, |mount| mount.execute_ms);
    let round_trip_ms = of_requests(recording, name, |mount| mount.round_trip_ms);
    // Recordings of other tools may have one of them, or none.
    if let (Some(execute_ms), Some(round_trip_ms)) = (execute_ms, round_trip_ms) {
        let place = match round_trip_ms >= 0.5 * execute_ms {
            true => "most of it on the network and the server",
            false => "most of it in the queue of this client",
        };
        evidence.push(format!(
            "{name}: a request takes {execute_ms:.1} ms, {round_trip_ms:.1} ms between \
             transmission and reply: {place}"
        ));
    }
    let again = of(|mount| Some(mount.retransmits));
    if again > SENT_AGAIN * operations {
        evidence.push(format!(
            "{name}: {again:.1} requests a second are sent again: packets or the server are lost"
        ));
    }
    evidence
}

/// A time as the mean of all requests: a quiet second says little.
fn of_requests(
    recording: &Recording,
    name: &str,
    time_ms: fn(&NfsMoment) -> Option<f64>,
) -> Option<f64> {
    let of_mount = |m: &Moment| {
        let mount = m.nfs.iter().find(|mount| mount.name == name)?;
        Some((time_ms(mount)?, mount.operations * load::seconds(m)))
    };
    let by_requests: Series = recording.moments.iter().filter_map(of_mount).collect();
    by_requests.mean()
}

fn mean(
    recording: &Recording,
    name: &str,
    value: impl Fn(&NfsMoment) -> Option<f64>,
) -> Option<f64> {
    let of_mount = load::series(recording, |m| {
        value(m.nfs.iter().find(|mount| mount.name == name)?)
    });
    of_mount.mean()
}

#[cfg(test)]
mod tests {
    use fathom_model::diagnosis::Answer;

    use super::*;
    use crate::diagnose;
    use crate::recording::{CpuShares, DiskMoment, WaitedMount};

    /// A quiet host with one mount for which so many wait.
    fn host(waiting: f64) -> Recording {
        let moment = || Moment {
            seconds: Some(1.0),
            cpu: Some(CpuShares {
                user: 0.02,
                idle: 0.98,
                ..CpuShares::default()
            }),
            io_pressure_some: Some(0.0),
            disks: vec![DiskMoment {
                name: "vda".to_owned(),
                queue: Some(0.0),
                util: Some(0.0),
                ..DiskMoment::default()
            }],
            waited_mounts: vec![WaitedMount {
                name: "/far".to_owned(),
                waiting,
            }],
            ..Moment::default()
        };
        Recording {
            moments: (0..12).map(|_| moment()).collect(),
            ..Recording::default()
        }
    }

    #[test]
    fn idle_disks_say_nothing_while_work_waits_for_a_mount() {
        let found = diagnose(&host(1.0), |_| None);
        assert_eq!(found.answer, Answer::NotProven, "{found:#?}");
        assert!(
            found.evidence[0].starts_with("/far: 1.0 requests wait"),
            "{found:#?}"
        );
        let quiet = diagnose(&host(0.1), |_| None);
        assert_eq!(quiet.answer, Answer::No, "{quiet:#?}");
    }
}
