//! Several recordings of one host in the same time, made into one.

use crate::recording::{Moment, Recording};

/// Adds what `other` saw to the moments of `main`: by time where both tell it,
/// by their order else. What `main` has already stays.
pub fn join(main: &mut Recording, other: &Recording) {
    let timed = |r: &Recording| !r.moments.is_empty() && r.moments.iter().all(|m| m.at.is_some());
    let by_time = timed(main) && timed(other);
    let count = main.moments.len();
    for (index, moment) in main.moments.iter_mut().enumerate() {
        let place = match by_time {
            true => nearest(&other.moments, moment),
            // A shorter recording is stretched over the longer one.
            false => Some(index * other.moments.len() / count),
        };
        if let Some(seen) = place.and_then(|place| other.moments.get(place)) {
            fill(moment, seen);
        }
    }
    let host = &other.host;
    main.host.cpus = main.host.cpus.or(host.cpus);
    main.host.name = main.host.name.take().or_else(|| host.name.clone());
    main.source = format!("{}, {}", main.source, other.source);
    main.remarks.extend(other.remarks.iter().cloned());
}

/// The moment that is nearest in time.
fn nearest(moments: &[Moment], to: &Moment) -> Option<usize> {
    let to = to.at?;
    let distance = |m: &Moment| Some(m.at?.duration_since(to).abs());
    let places = moments
        .iter()
        .enumerate()
        .filter_map(|(i, m)| Some((distance(m)?, i)));
    places.min().map(|(_, place)| place)
}

fn fill(moment: &mut Moment, seen: &Moment) {
    moment.cpu = moment.cpu.or(seen.cpu);
    moment.runnable = moment.runnable.or(seen.runnable);
    moment.blocked = moment.blocked.or(seen.blocked);
    moment.load = moment.load.or(seen.load);
    moment.swap_in_bytes_per_second = moment
        .swap_in_bytes_per_second
        .or(seen.swap_in_bytes_per_second);
    moment.swap_out_bytes_per_second = moment
        .swap_out_bytes_per_second
        .or(seen.swap_out_bytes_per_second);
    moment.paged_bytes_per_second = moment
        .paged_bytes_per_second
        .or(seen.paged_bytes_per_second);
    moment.io_pressure_some = moment.io_pressure_some.or(seen.io_pressure_some);
    moment.io_pressure_full = moment.io_pressure_full.or(seen.io_pressure_full);
    moment.memory_pressure_some = moment.memory_pressure_some.or(seen.memory_pressure_some);
    moment.network_use = moment.network_use.or(seen.network_use);
    moment.busiest_cpu = moment.busiest_cpu.or(seen.busiest_cpu);
    moment.retransmits = moment.retransmits.or(seen.retransmits);
    moment.out_of_order = moment.out_of_order.or(seen.out_of_order);
    moment.lock_waiters = moment.lock_waiters.or(seen.lock_waiters);
    if moment.links.is_empty() {
        moment.links.clone_from(&seen.links);
    }
    if moment.nfs.is_empty() {
        moment.nfs.clone_from(&seen.nfs);
    }
    if moment.waited_mounts.is_empty() {
        moment.waited_mounts.clone_from(&seen.waited_mounts);
    }
    if moment.quotas.is_empty() {
        moment.quotas.clone_from(&seen.quotas);
    }
    if moment.processes.is_empty() {
        moment.processes.clone_from(&seen.processes);
    }
    if moment.groups.is_empty() {
        moment.groups.clone_from(&seen.groups);
    }
    if moment.disks.is_empty() {
        moment.disks.clone_from(&seen.disks);
    }
}
