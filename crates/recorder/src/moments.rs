//! From frames to what the diagnosis takes.

use fathom_diagnose::recording::{
    BusiestCpu, CpuShares, DiskMoment, DoerMoment, LinkMoment, MemoryMoment, Moment, NfsMoment,
    QuotaMoment, RecordedHost, StuckTask, WaitedMount,
};

use crate::frame::{Frame, HostFacts};
use crate::growth::{Change, Growth};
use crate::kind::{
    Kind, cpu, disk, group, host, link, memory, mount, nfs, pressure, process, quota, stuck, tcp,
};

/// A moment of this length or shorter tells nothing.
pub(crate) const SHORTEST_SECONDS: f64 = 0.01;
/// A gap of so many intervals was a time without a recorder.
const GAP_INTERVALS: f64 = 10.0;

/// Turns frames into moments, one for each two frames.
#[derive(Debug, Default)]
pub struct Moments {
    growth: Growth,
    last_ns: Option<u64>,
    /// Longer moments are left out.
    longest_seconds: Option<f64>,
}

impl Moments {
    /// For frames at this distance; 0 where it is not known.
    pub fn new(interval_ns: u64) -> Moments {
        Moments {
            longest_seconds: longest_seconds(interval_ns),
            ..Moments::default()
        }
    }

    /// What happened since the frame before; nothing for the first.
    pub fn advance(&mut self, frame: &Frame) -> Option<Moment> {
        let changes = self.growth.advance(frame);
        let last_ns = self.last_ns.replace(frame.at.monotonic_ns)?;
        let seconds = frame.at.monotonic_ns.checked_sub(last_ns)? as f64 / 1e9;
        let longest = self.longest_seconds.unwrap_or(f64::MAX);
        if !(SHORTEST_SECONDS..=longest).contains(&seconds) {
            return None;
        }
        let at = jiff::Timestamp::from_millisecond(frame.at.unix_ms).ok();
        let mut moment = Moment {
            at: at.map(|at| at.to_zoned(jiff::tz::TimeZone::UTC).datetime()),
            seconds: Some(seconds),
            ..Moment::default()
        };
        for change in &changes {
            add(&mut moment, change);
        }
        let used = moment.links.iter().filter_map(LinkMoment::used);
        moment.network_use = used.reduce(f64::max);
        Some(moment)
    }
}

/// A longer distance of two readings is a gap; none where it is not known.
pub(crate) fn longest_seconds(interval_ns: u64) -> Option<f64> {
    let interval_s = interval_ns as f64 / 1e9;
    (interval_ns > 0).then_some(GAP_INTERVALS * interval_s.max(1.0))
}

fn add(moment: &mut Moment, change: &Change) {
    // Gauges stand for themselves; a counter needs time to grow.
    match change.kind {
        Kind::Process => moment.processes.push(of_process(change)),
        Kind::Group => moment.groups.push(of_group(change)),
        Kind::Mount => add_mount(moment, change),
        Kind::Stuck => moment.stuck.extend(of_stuck_task(change)),
        _ if change.seconds <= 0.0 => {}
        Kind::Quota => moment.quotas.extend(of_quota(change)),
        Kind::Host => {
            let gauge = |place| change.value(place).map(|value| value as f64);
            // Whoever looks runs as well, which is one of few on a small host.
            moment.runnable = gauge(host::RUNNING).map(|tasks| (tasks - 1.0).max(0.0));
            moment.blocked = gauge(host::BLOCKED);
            moment.load = gauge(host::LOAD_1M).map(|load| load / 1000.0);
            moment.lock_waiters = gauge(host::LOCK_WAITERS);
        }
        Kind::Cpu => add_cpu(moment, change),
        Kind::Memory => {
            let rate = |place| {
                change
                    .value(place)
                    .map(|grown| grown as f64 / change.seconds)
            };
            let bytes = |place| change.value(place).unwrap_or(0);
            moment.memory = Some(MemoryMoment {
                total_bytes: bytes(memory::TOTAL),
                available_bytes: bytes(memory::AVAILABLE),
                dirty_bytes: bytes(memory::DIRTY),
                writeback_bytes: bytes(memory::WRITEBACK),
            });
            moment.swap_in_bytes_per_second = rate(memory::SWAPPED_IN);
            moment.swap_out_bytes_per_second = rate(memory::SWAPPED_OUT);
        }
        Kind::Pressure => {
            let share = |place| {
                let stalled_us = change.value(place)? as f64;
                Some((stalled_us / 1e6 / change.seconds).min(1.0))
            };
            moment.cpu_pressure_some = share(pressure::CPU_SOME);
            moment.io_pressure_some = share(pressure::IO_SOME);
            moment.io_pressure_full = share(pressure::IO_FULL);
            moment.memory_pressure_some = share(pressure::MEMORY_SOME);
        }
        Kind::Disk => moment.disks.push(of_disk(change)),
        Kind::Link => moment.links.push(of_link(change)),
        Kind::Tcp => {
            let again = change.per_second(tcp::RETRANSMITS);
            let sent = change.per_second(tcp::SENT_SEGMENTS);
            // Segments sent do not count those sent again.
            moment.retransmits = Some((again, again / (sent + again).max(1.0)));
            let out_of_order = change.value(tcp::OUT_OF_ORDER);
            moment.out_of_order = out_of_order.map(|_| change.per_second(tcp::OUT_OF_ORDER));
        }
        Kind::Nfs => moment.nfs.push(of_nfs(change)),
        _ => {}
    }
}

fn add_mount(moment: &mut Moment, change: &Change) {
    let name = || change.name.to_string();
    let silent = change.value(mount::SILENT) == Some(1);
    moment.silent.extend(silent.then(name));
    let waiting = change.value(mount::WAITING);
    moment
        .waited_mounts
        .extend(waiting.map(|count| WaitedMount {
            name: name(),
            waiting: count as f64,
        }));
}

fn of_stuck_task(change: &Change) -> Option<StuckTask> {
    Some(StuckTask {
        name: change.name.to_string(),
        seconds: change.value(stuck::SECONDS)? as f64,
    })
}

fn add_cpu(moment: &mut Moment, change: &Change) {
    let all: f64 = (0..cpu::FIELDS.len())
        .map(|place| change.grown(place))
        .sum();
    if all <= 0.0 {
        return;
    }
    let share = |places: &[usize]| {
        let ticks: f64 = places.iter().map(|place| change.grown(*place)).sum();
        ticks / all
    };
    let shares = CpuShares {
        user: share(&[cpu::USER, cpu::NICE]),
        nice: Some(share(&[cpu::NICE])),
        system: share(&[cpu::SYSTEM, cpu::IRQ, cpu::SOFTIRQ]),
        iowait: share(&[cpu::IOWAIT]),
        steal: share(&[cpu::STEAL]),
        idle: share(&[cpu::IDLE]),
    };
    let Ok(number) = change.name.parse::<u32>() else {
        moment.cpu = Some(shares);
        return;
    };
    let busy = shares.busy();
    if moment.busiest_cpu.is_none_or(|busiest| busy > busiest.busy) {
        moment.busiest_cpu = Some(BusiestCpu {
            number,
            busy,
            interrupts: share(&[cpu::IRQ, cpu::SOFTIRQ]),
        });
    }
}

fn of_disk(change: &Change) -> DiskMoment {
    let rate = |place| change.per_second(place);
    // Mean time of an operation, where there was one.
    let wait = |time, count| {
        let count = change.grown(count);
        (count > 0.0).then(|| change.grown(time) / count)
    };
    let ms_per_second = 1000.0;
    DiskMoment {
        name: change.name.to_string(),
        reads: rate(disk::READS),
        writes: rate(disk::WRITES),
        discards: rate(disk::DISCARDS),
        flushes: rate(disk::FLUSHES),
        undivided: 0.0,
        undivided_bytes: 0.0,
        read_bytes: rate(disk::READ_BYTES),
        write_bytes: rate(disk::WRITE_BYTES),
        read_wait_ms: Some(wait(disk::READ_MS, disk::READS).unwrap_or(0.0)),
        write_wait_ms: Some(wait(disk::WRITE_MS, disk::WRITES).unwrap_or(0.0)),
        wait_ms: None,
        flush_wait_ms: change
            .value(disk::FLUSH_MS)
            .and_then(|_| wait(disk::FLUSH_MS, disk::FLUSHES)),
        discard_wait_ms: change
            .value(disk::DISCARD_MS)
            .and_then(|_| wait(disk::DISCARD_MS, disk::DISCARDS)),
        queue: Some(rate(disk::QUEUE_MS) / ms_per_second),
        outstanding: change.value(disk::IN_FLIGHT).map(|number| number as f64),
        pauses_s: None,
        util: Some((rate(disk::BUSY_MS) / ms_per_second).min(1.0)),
    }
}

fn of_link(change: &Change) -> LinkMoment {
    LinkMoment {
        name: change.name.to_string(),
        received_bytes: change.per_second(link::RECEIVED_BYTES),
        sent_bytes: change.per_second(link::SENT_BYTES),
        errors: change.per_second(link::RECEIVE_ERRORS) + change.per_second(link::SEND_ERRORS),
        drops: change.per_second(link::RECEIVE_DROPS) + change.per_second(link::SEND_DROPS),
        speed_bits: change.value(link::SPEED).map(|bits| bits as f64),
    }
}

fn of_nfs(change: &Change) -> NfsMoment {
    let operations = change.grown(nfs::OPERATIONS);
    let mean = |place| (operations > 0.0).then(|| change.grown(place) / operations);
    let again = change.grown(nfs::TRANSMISSIONS) - operations;
    NfsMoment {
        name: change.name.to_string(),
        operations: operations / change.seconds,
        bytes: change.per_second(nfs::SENT_BYTES) + change.per_second(nfs::RECEIVED_BYTES),
        round_trip_ms: mean(nfs::ROUND_TRIP_MS),
        execute_ms: mean(nfs::EXECUTE_MS),
        queue: change.per_second(nfs::EXECUTE_MS) / 1000.0,
        retransmits: again.max(0.0) / change.seconds,
    }
}

fn of_process(change: &Change) -> DoerMoment {
    DoerMoment {
        name: change.name.to_string(),
        read_bytes: change.grown(process::READ_BYTES),
        write_bytes: change.grown(process::WRITE_BYTES),
        cpus: change.grown(process::CPU) / 1000.0,
        io_wait: change
            .value(process::IO_WAIT)
            .map(|wait| (wait as f64 / 1000.0).min(1.0)),
        limit_used: None,
    }
}

fn of_group(change: &Change) -> DoerMoment {
    DoerMoment {
        name: change.name.to_string(),
        read_bytes: change.grown(group::READ_BYTES),
        write_bytes: change.grown(group::WRITE_BYTES),
        cpus: 0.0,
        io_wait: change
            .value(group::IO_STALLED)
            .map(|stalled| (stalled as f64 / 1000.0).min(1.0)),
        limit_used: change
            .value(group::LIMIT_USED)
            .map(|used| used as f64 / 1000.0),
    }
}

/// Nothing while no period has ended.
fn of_quota(change: &Change) -> Option<QuotaMoment> {
    let periods = change.value(quota::PERIODS).filter(|count| *count > 0)?;
    Some(QuotaMoment {
        name: change.name.to_string(),
        held_back: (change.grown(quota::HELD_BACK) / periods as f64).min(1.0),
    })
}

/// The host as the diagnosis names it.
pub fn recorded_host(facts: &HostFacts) -> RecordedHost {
    let some = |text: &str| (!text.is_empty()).then(|| text.to_owned());
    RecordedHost {
        name: some(&facts.name),
        kernel: some(&facts.kernel),
        cpus: (facts.cpus > 0).then_some(facts.cpus),
    }
}

#[cfg(test)]
#[path = "moments_tests.rs"]
mod tests;
