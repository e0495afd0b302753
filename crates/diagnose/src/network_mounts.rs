//! NFS mounts on which work waits.
//!
//! From the client neither server nor network can be told apart as the cause:
//! the round trip holds both. So this proves nothing by itself, but it forbids
//! to say that the storage has room because the disks of the client are idle.

use fathom_model::diagnosis::DiskLoad;
use fathom_model::unit;
use fathom_rules::diagnosis::mount_waits::{SENT_AGAIN, THRESHOLD as WAITING};

use crate::load;
use crate::recording::{NfsMoment, Recording};

/// What the busiest mount shows, and what would decide whether it is the
/// server or the network.
pub(crate) fn waits(
    recording: &Recording,
    disk: Option<&DiskLoad>,
) -> Option<(Vec<String>, Vec<String>)> {
    let mut names: Vec<&str> = recording
        .moments
        .iter()
        .flat_map(|m| m.nfs.iter().map(|mount| mount.name.as_str()))
        .collect();
    names.sort_unstable();
    names.dedup();
    let queue = |name: &str| mean(recording, name, |mount| Some(mount.queue)).unwrap_or(0.0);
    let busiest = names
        .into_iter()
        .max_by(|a, b| queue(a).total_cmp(&queue(b)))?;
    let in_flight = queue(busiest);
    let of_disk = disk.and_then(|disk| disk.queue).unwrap_or(0.0);
    if in_flight < WAITING || in_flight < of_disk {
        return None;
    }
    let of = |value: fn(&NfsMoment) -> Option<f64>| mean(recording, busiest, value).unwrap_or(0.0);
    let operations = of(|mount| Some(mount.operations));
    let (execute_ms, round_trip_ms) = (of(|m| m.execute_ms), of(|m| m.round_trip_ms));
    let mut evidence = vec![format!(
        "{busiest}: {in_flight:.1} operations in flight, {} operations/s, {}",
        unit::count(operations),
        unit::throughput(of(|mount| Some(mount.bytes)))
    )];
    let place = match round_trip_ms >= 0.5 * execute_ms {
        true => "most of it on the network and the server",
        false => "most of it in the queue of this client",
    };
    evidence.push(format!(
        "{busiest}: an operation takes {execute_ms:.1} ms, {round_trip_ms:.1} ms between \
         transmission and reply: {place}"
    ));
    let again = of(|mount| Some(mount.retransmits));
    if again > SENT_AGAIN * operations {
        evidence.push(format!(
            "{busiest}: {again:.1} requests a second are sent again: packets or the server are lost"
        ));
    }
    let settle = vec![
        "a recording of the server in the same time: are its devices at their end?".to_owned(),
        "the network to it alone: `fathom net serve` there, `fathom net SERVER` here".to_owned(),
    ];
    Some((evidence, settle))
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
