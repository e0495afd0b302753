//! Recordings of hosts whose figures are drawn at thresholds and beside them.

mod disks;
mod others;

use fathom_diagnose::recording::{
    BusiestCpu, CpuShares, DiskMoment, DoerMoment, MemoryMoment, Moment, RecordedHost, Recording,
};

use crate::course::Course;
use crate::draw::Draw;
use disks::Disk;
use others::Others;

/// Shares of the time in which something waits.
const WAITS: &[f64] = &[
    0.0, 0.04, 0.05, 0.06, 0.1, 0.15, 0.16, 0.49, 0.5, 0.51, 0.84, 0.85, 0.9, 1.0,
];
const CPUS_USED: &[f64] = &[0.0, 0.05, 0.2, 0.45, 0.5, 0.51, 0.89, 0.9, 0.95, 1.0];
const COUNTS: &[usize] = &[1, 2, 3, 5, 6, 7, 8, 9, 10, 10, 20, 20, 20, 20, 20, 40];

/// CPUs and what waits, over the recording.
struct Host {
    cpus: Option<u32>,
    busy: Course,
    iowait: Course,
    steal: Course,
    nice: Course,
    pressure: Course,
    full_pressure: f64,
    /// Nothing waits for longer than a device has something to do.
    is_consistent: bool,
    /// Tasks that wait, as a part of what is in flight at the first device.
    blocked: Course,
    runnable: Course,
    load: Course,
    interrupts: Course,
    memory_pressure: Course,
    swap: Course,
    paged: Course,
    dirty: Course,
    seconds: Course,
    /// The first of the moments that are timed by the clock.
    timed: bool,
    doers: Vec<Doer>,
    groups: Vec<Doer>,
}

/// A process or group, with its part of what the first device moves.
struct Doer {
    name: &'static str,
    part: Course,
    cpus: Course,
    limit: Course,
    reads_only: bool,
}

impl Doer {
    fn drawn(draw: &mut Draw, names: &[&'static str], is_limited: bool) -> Doer {
        let parts = [0.0, 0.04, 0.1, 0.25, 0.49, 0.5, 0.5, 0.7, 1.0, 1.5];
        let cpus = [0.0, 0.1, 0.4, 0.5, 0.89, 0.9, 1.0, 1.1, 1.12, 2.0, 3.6];
        let limits = [0.5, 0.89, 0.9, 0.96, 0.97, 0.98, 1.0, 1.15, 1.16, 1.31, 3.0];
        Doer {
            name: draw.pick(names),
            part: Course::known(draw, &parts),
            cpus: Course::known(draw, &cpus),
            limit: match is_limited {
                true => Course::drawn(draw, &limits),
                false => Course::Unknown,
            },
            reads_only: draw.one_in(2),
        }
    }

    fn at(&self, moment: usize, bytes: f64) -> DoerMoment {
        let bytes = bytes * self.part.or(moment, 0.0);
        DoerMoment {
            name: self.name.to_owned(),
            read_bytes: if self.reads_only { bytes } else { 0.5 * bytes },
            write_bytes: if self.reads_only { 0.0 } else { 0.5 * bytes },
            cpus: self.cpus.or(moment, 0.0),
            io_wait: None,
            limit_used: self.limit.at(moment),
        }
    }
}

/// Values that one recording in `times` has, drawn from these; 0 is none of them, as for
/// plain hosts.
fn rarely(draw: &mut Draw, times: u64, values: &[f64]) -> Course {
    match times > 0 && draw.one_in(times) {
        true => Course::drawn(draw, values),
        false => Course::Unknown,
    }
}

impl Host {
    fn drawn(draw: &mut Draw, plain: bool) -> Host {
        let every = |times: u64| if plain { 0 } else { times };
        let waits = draw.pick(if plain { &WAITS[6..] } else { WAITS });
        let around = [waits, waits, 0.9 * waits];
        let usual = draw.pick(&[CPUS_USED, &CPUS_USED[..4], &CPUS_USED[..4]]);
        let usual = if plain { &CPUS_USED[..4] } else { usual };
        let processes = [
            "812 postgres",
            "813 postgres",
            "814 postgres",
            "9 tar",
            "7 [kworker/0:1]",
        ];
        let doers = (0..draw.below(4)).map(|_| Doer::drawn(draw, &processes, false));
        let doers = doers.collect();
        let groups = if !plain && draw.one_in(3) {
            draw.below(3)
        } else {
            0
        };
        let groups = (0..groups).map(|_| Doer::drawn(draw, &["/db", "/batch", "/"], true));
        Host {
            groups: groups.collect(),
            doers,
            cpus: draw.maybe(&[1, 2, 4]),
            busy: Course::drawn(draw, usual),
            iowait: Course::drawn(draw, &[waits, 0.5 * waits, 0.25 * waits, 0.0]),
            steal: rarely(draw, every(5), &[0.0, 0.05, 0.1, 0.2]),
            nice: rarely(draw, every(4), &[0.0, 0.09, 0.1, 0.5]),
            pressure: Course::drawn(draw, &around),
            is_consistent: plain || !draw.one_in(5),
            full_pressure: draw.pick(&[0.0, 0.5, 1.0]),
            blocked: Course::drawn(draw, &[0.0, 0.4, 0.79, 0.8, 1.0, 1.0, 1.2, 1.21, 2.0]),
            runnable: rarely(draw, every(3), &[0.0, 1.0, 1.2, 2.4, 4.8, 9.0]),
            load: rarely(draw, every(3), &[0.0, 0.7, 0.8, 1.0, 1.2, 2.4, 4.8, 9.0]),
            interrupts: rarely(draw, every(6), &[0.0, 0.79, 0.8, 0.9]),
            memory_pressure: rarely(draw, every(6), &[0.0, 0.09, 0.1, 0.5]),
            swap: rarely(draw, every(6), &[0.0, 524_287.0, 524_288.0, 1e7]),
            paged: rarely(draw, every(6), &[1_048_576.0, 2_097_152.0, 4e7]),
            dirty: rarely(draw, every(4), &[1e6, 1e9]),
            seconds: match draw.below(6) {
                0 => Course::Unknown,
                1 => Course::Shared(1.0, draw.pick(&[0.3, 0.5, 3.0]), 1 + draw.below(19)),
                2 => Course::Alternating(1.0, 2.0),
                3 => Course::Always(2.0),
                _ => Course::Always(1.0),
            },
            timed: draw.one_in(2),
        }
    }

    fn cpu(&self, moment: usize, queue: f64) -> Option<CpuShares> {
        let busy = self.busy.at(moment)?;
        let steal = self.steal.or(moment, 0.0).min(busy);
        let iowait = self.iowait.or(moment, 0.0).min(1.0 - busy);
        let iowait = match self.is_consistent {
            true => iowait.min(queue / f64::from(self.cpus.unwrap_or(1))),
            false => iowait,
        };
        Some(CpuShares {
            user: 0.75 * (busy - steal),
            nice: self.nice.at(moment),
            system: 0.25 * (busy - steal),
            iowait,
            steal,
            idle: 1.0 - busy - iowait,
        })
    }

    fn at(&self, place: usize, queue: f64, bytes: f64) -> Moment {
        let pressure = self.pressure.at(place);
        let pressure = match self.is_consistent {
            true => pressure.map(|share| share.min(queue)),
            false => pressure,
        };
        let all = |doers: &[Doer]| doers.iter().map(|doer| doer.at(place, bytes)).collect();
        let noon = jiff::civil::date(2026, 11, 21).at(12, 0, 0, 0);
        let after = jiff::SignedDuration::from_secs(1 + place as i64);
        Moment {
            at: noon.checked_add(after).ok().filter(|_| self.timed),
            seconds: self.seconds.at(place),
            cpu: self.cpu(place, queue),
            runnable: self.runnable.at(place),
            blocked: self.blocked.at(place).map(|part| part * queue.max(0.5)),
            load: self.load.at(place),
            swap_in_bytes_per_second: self.swap.at(place),
            swap_out_bytes_per_second: self.swap.at(place),
            paged_bytes_per_second: self.paged.at(place),
            io_pressure_some: pressure,
            io_pressure_full: pressure.map(|some| some * self.full_pressure),
            memory_pressure_some: self.memory_pressure.at(place),
            busiest_cpu: self.interrupts.at(place).map(|interrupts| BusiestCpu {
                number: 3,
                busy: interrupts.max(0.5),
                interrupts,
            }),
            memory: self.dirty.at(place).map(|dirty| MemoryMoment {
                total_bytes: 4 << 30,
                available_bytes: 1 << 30,
                dirty_bytes: dirty as u64,
                writeback_bytes: 1 << 20,
            }),
            processes: all(&self.doers),
            groups: all(&self.groups),
            ..Moment::default()
        }
    }
}

/// Its CPUs have no time left, for programs that are recorded or for others.
fn with_full_cpus(draw: &mut Draw, host: &mut Host) {
    host.busy = Course::known(draw, &[0.89, 0.9, 0.95, 1.0]);
    host.runnable = Course::drawn(draw, &[1.0, 1.19, 1.2, 2.4, 4.8, 9.0]);
    host.load = Course::drawn(draw, &[1.0, 1.2, 2.4, 4.8, 9.0]);
    host.cpus = draw.maybe(&[1, 2, 4, 8]);
    host.steal = Course::Unknown;
    host.swap = Course::Unknown;
}

/// Workers wait all the time, each for one operation or for several.
fn with_workers(draw: &mut Draw, host: &mut Host) {
    let parts = [0.39, 0.4, 0.41, 0.5, 0.79, 0.8, 0.9, 1.0, 1.2, 1.21];
    let parts = parts.map(Course::Always);
    let waits = [0.5, 0.84, 0.85, 0.9, 1.0].map(Course::Always);
    host.blocked = draw.maybe(&parts).unwrap_or(Course::Unknown);
    host.pressure = draw.maybe(&waits).unwrap_or(Course::Unknown);
}

/// A recording of a host with its devices.
pub(crate) fn recording(draw: &mut Draw) -> Recording {
    // Half of the hosts have a device and nothing beside it that takes time.
    let plain = draw.one_in(2);
    let mut host = Host::drawn(draw, plain);
    if draw.one_in(8) {
        with_full_cpus(draw, &mut host);
    }
    let has_workers = plain && draw.one_in(4);
    if has_workers {
        with_workers(draw, &mut host);
    }
    let count = draw.pick(if plain { &COUNTS[4..] } else { COUNTS });
    let mut disks: Vec<Disk> = Vec::new();
    if has_workers {
        disks.push(Disk::of_workers(draw, "sda"));
    } else if plain || !draw.one_in(12) {
        disks.push(Disk::drawn(draw, "sda", plain));
    }
    if draw.one_in(3) {
        disks.push(Disk::drawn(draw, name_after(disks.len()), plain));
    }
    let others = Others::drawn(draw, plain);
    let moments = (0..count).map(|place| {
        let of_disks = disks.iter().map(|disk| disk.at(place));
        let of_disks: Vec<_> = of_disks.collect();
        let queue = of_disks.first().and_then(|disk| disk.queue);
        let bytes: f64 = of_disks.iter().map(DiskMoment::bytes).sum();
        let mut moment = host.at(place, queue.unwrap_or(0.0), bytes.max(1e6));
        moment.disks = of_disks;
        others.put_into(&mut moment, place);
        moment
    });
    Recording {
        host: RecordedHost {
            name: draw.maybe(&["db1".to_owned(), "db1.acme.example".to_owned()]),
            cpus: host.cpus,
            ..RecordedHost::default()
        },
        source: "a test".to_owned(),
        moments: moments.collect(),
        remarks: Vec::new(),
    }
}

fn name_after(others: usize) -> &'static str {
    if others == 0 { "loop0" } else { "sdb" }
}
