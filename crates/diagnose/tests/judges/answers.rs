//! What `diagnose()` says of systems that people know, with values drawn at random.

use std::fmt::Write as _;

use fathom_diagnose::recording::{
    BusiestCpu, CpuShares, DiskMoment, DoerMoment, LinkMoment, MemoryMoment, Moment, NfsMoment,
    QuotaMoment, RecordedHost, Recording, StuckTask, WaitedMount,
};
use fathom_diagnose::{Ceiling, diagnose};
use fathom_model::rng::{Rng, derive_seed};

use crate::kept::{is_as_kept, of_text};

/// Recordings of each system.
const DRAWN: u64 = 6;

/// What makes a moment of a system, by its number.
type Draw = fn(&mut System, usize) -> Moment;

const SYSTEMS: &[(&str, Draw)] = &[
    ("little to do", little),
    ("a capped volume with a queue", capped),
    ("a device with a queue that varies", loaded),
    ("one operation at a time", one_at_a_time),
    ("commits one by one", commits),
    ("reads that nobody waits for", asynchronous),
    ("bursts of page writes", bursts),
    ("a device that hangs", hung),
    ("a device that stands still again and again", standing_still),
    ("full CPUs", full_cpus),
    ("a hypervisor that takes CPUs", stolen),
    ("memory that is short", swapping),
    ("a full link", full_link),
    ("an NFS mount", nfs),
    ("a mount behind a process", waited_mount),
    ("a mount that is silent", silent),
    ("tasks that never wake", stuck),
    ("a group with a CPU quota", quota),
    ("a group with a limit on its I/O", limited_group),
    ("an array of two disks", array),
    ("locks on files", locks),
    ("a slow disk", slow),
];

/// What all moments of a recording have in common.
struct System {
    rng: Rng,
    /// Operations per second.
    rate: f64,
    /// Operations in flight.
    queue: f64,
    block_bytes: f64,
    read_share: f64,
    /// What the recording does not have: bits.
    missing: u64,
}

impl System {
    fn drawn(seed: u64) -> System {
        let mut rng = Rng::new(seed);
        let between = |rng: &mut Rng, low: f64, high: f64| low * (high / low).powf(rng.unit());
        System {
            rate: between(&mut rng, 100.0, 20_000.0),
            queue: between(&mut rng, 2.0, 64.0),
            block_bytes: 4096.0 * 2f64.powi(rng.below(8) as i32),
            read_share: rng.unit(),
            missing: rng.next_u64(),
            rng,
        }
    }

    fn lacks(&self, what: u64) -> bool {
        // One recording in four lacks each.
        self.missing >> (2 * what) & 3 == 0
    }

    /// About `value`, by a share of it at most.
    fn about(&mut self, value: f64, share: f64) -> f64 {
        value * (1.0 + share * (2.0 * self.rng.unit() - 1.0))
    }

    fn disk(&self, rate: f64, queue: f64) -> DiskMoment {
        let wait_ms = (rate > 0.0).then(|| 1000.0 * queue / rate);
        DiskMoment {
            name: "sda".to_owned(),
            reads: rate * self.read_share,
            writes: rate * (1.0 - self.read_share),
            read_bytes: rate * self.read_share * self.block_bytes,
            write_bytes: rate * (1.0 - self.read_share) * self.block_bytes,
            read_wait_ms: wait_ms.filter(|_| !self.lacks(0)),
            write_wait_ms: wait_ms.filter(|_| !self.lacks(0)),
            wait_ms,
            queue: Some(queue),
            outstanding: (!self.lacks(1)).then(|| queue.round()),
            util: (!self.lacks(2)).then(|| queue.min(1.0)),
            ..DiskMoment::default()
        }
    }

    /// A second of a host with this device, where work waits for this share of the time.
    fn moment(&mut self, disk: DiskMoment, waits: f64) -> Moment {
        let user = self.about(0.1, 0.5);
        let iowait = (waits * 0.6).min(0.85 - user);
        let bytes = disk.bytes();
        Moment {
            seconds: Some(1.0),
            cpu: Some(CpuShares {
                user,
                iowait,
                system: 0.05,
                idle: 0.95 - user - iowait,
                ..CpuShares::default()
            }),
            runnable: (!self.lacks(3)).then_some(1.0),
            blocked: (!self.lacks(4)).then_some((waits * self.queue).round()),
            load: (!self.lacks(5)).then_some(4.0 * (user + waits)),
            io_pressure_some: (!self.lacks(6)).then_some(waits),
            io_pressure_full: (!self.lacks(6)).then_some(waits * 0.7),
            processes: match self.lacks(7) {
                true => Vec::new(),
                false => vec![
                    doer("812 postgres", 0.7 * bytes, 0.3),
                    doer("9 tar", 0.3 * bytes, 0.1),
                ],
            },
            disks: vec![disk],
            ..Moment::default()
        }
    }
}

fn doer(name: &str, bytes: f64, cpus: f64) -> DoerMoment {
    DoerMoment {
        name: name.to_owned(),
        read_bytes: bytes / 2.0,
        write_bytes: bytes / 2.0,
        cpus,
        ..DoerMoment::default()
    }
}

fn little(system: &mut System, _: usize) -> Moment {
    let rate = system.about(30.0, 0.8);
    let disk = system.disk(rate, 0.02);
    system.moment(disk, 0.01)
}

fn capped(system: &mut System, _: usize) -> Moment {
    let (rate, queue) = (
        system.about(system.rate, 0.004),
        system.about(system.queue, 0.3),
    );
    let disk = system.disk(rate, queue);
    system.moment(disk, 0.9)
}

fn loaded(system: &mut System, at: usize) -> Moment {
    let queue = system.queue * (0.2 + ((at * 37) % 100) as f64 / 60.0);
    let most = system.rate;
    let rate = system.about(most * queue / (queue + 2.0), 0.05);
    let disk = system.disk(rate, queue);
    system.moment(disk, 0.8)
}

fn one_at_a_time(system: &mut System, _: usize) -> Moment {
    let rate = system.about(system.rate, 0.1);
    let disk = system.disk(rate, 0.97);
    system.moment(disk, 0.95)
}

fn commits(system: &mut System, _: usize) -> Moment {
    let rate = system.about(system.rate / 20.0, 0.1);
    let mut disk = system.disk(rate, 0.9);
    disk.flushes = rate / 2.0;
    disk.flush_wait_ms = (!system.lacks(8)).then(|| 1000.0 / rate);
    system.moment(disk, 0.9)
}

fn asynchronous(system: &mut System, _: usize) -> Moment {
    let rate = system.about(system.rate, 0.01);
    let disk = system.disk(rate, system.queue);
    let mut moment = system.moment(disk, 0.0);
    moment.blocked = None;
    moment
}

fn bursts(system: &mut System, at: usize) -> Moment {
    let (rate, queue) = match at % 30 < 4 {
        true => (system.rate, 120.0),
        false => (system.rate / 100.0, 0.05),
    };
    let mut disk = system.disk(rate, queue);
    (disk.writes, disk.reads) = (rate, 0.0);
    system.moment(disk, 0.02)
}

fn hung(system: &mut System, at: usize) -> Moment {
    let disk = match at > 60 {
        true => DiskMoment {
            outstanding: Some(system.queue.round()),
            ..system.disk(0.0, system.queue)
        },
        false => system.disk(system.rate, system.queue),
    };
    system.moment(disk, 0.98)
}

fn standing_still(system: &mut System, at: usize) -> Moment {
    let is_still = at.is_multiple_of(15);
    let rate = system.rate * if is_still { 0.3 } else { 1.0 };
    let mut disk = system.disk(rate, system.queue);
    let pauses = if is_still { vec![0.7] } else { Vec::new() };
    disk.pauses_s = (!system.lacks(8)).then_some(pauses);
    system.moment(disk, 0.6)
}

fn full_cpus(system: &mut System, _: usize) -> Moment {
    let disk = system.disk(system.rate / 50.0, 0.1);
    let mut moment = system.moment(disk, 0.01);
    let nice = system.lacks(9).then_some(0.4);
    moment.cpu = Some(CpuShares {
        user: 0.9,
        nice,
        system: 0.08,
        idle: 0.02,
        ..CpuShares::default()
    });
    moment.runnable = moment.runnable.map(|_| system.about(12.0, 0.2));
    moment.load = moment.load.map(|_| 12.0);
    moment.cpu_pressure_some = (!system.lacks(10)).then_some(0.8);
    moment.busiest_cpu = Some(BusiestCpu {
        number: 3,
        busy: 1.0,
        interrupts: if system.lacks(11) { 0.9 } else { 0.0 },
    });
    moment.processes = vec![doer("77 ffmpeg", 1e6, 3.1), doer("78 cc1", 1e6, 0.6)];
    moment
}

fn stolen(system: &mut System, _: usize) -> Moment {
    let mut moment = full_cpus(system, 0);
    let steal = system.about(0.4, 0.2);
    moment.cpu = Some(CpuShares {
        user: 0.5,
        steal,
        system: 0.05,
        idle: 0.45 - steal,
        ..CpuShares::default()
    });
    moment
}

fn swapping(system: &mut System, _: usize) -> Moment {
    let disk = system.disk(system.rate, system.queue);
    let mut moment = system.moment(disk, 0.7);
    moment.swap_in_bytes_per_second = Some(system.about(60e6, 0.4));
    moment.swap_out_bytes_per_second = Some(system.about(50e6, 0.4));
    moment.memory_pressure_some = (!system.lacks(9)).then_some(0.5);
    moment.memory = Some(MemoryMoment {
        total_bytes: 16 << 30,
        available_bytes: 200 << 20,
        dirty_bytes: 10 << 20,
        writeback_bytes: 1 << 20,
    });
    moment
}

fn full_link(system: &mut System, _: usize) -> Moment {
    let mut moment = little(system, 0);
    let used = system.about(0.97, 0.02);
    moment.network_use = (!system.lacks(9)).then_some(used);
    moment.retransmits = (!system.lacks(10)).then_some((120.0, 0.02));
    moment.links = vec![LinkMoment {
        name: "eth0".to_owned(),
        received_bytes: used * 1.25e8,
        sent_bytes: 1e6,
        speed_bits: (!system.lacks(11)).then_some(1e9),
        drops: 3.0,
        ..LinkMoment::default()
    }];
    moment
}

fn nfs(system: &mut System, _: usize) -> Moment {
    let mut moment = little(system, 0);
    let operations = system.about(system.rate, 0.1);
    moment.io_pressure_some = Some(0.6);
    moment.nfs = vec![NfsMoment {
        name: "filer:/vol on /mnt".to_owned(),
        operations,
        bytes: operations * system.block_bytes,
        round_trip_ms: (!system.lacks(9)).then(|| 800.0 * system.queue / operations),
        execute_ms: (!system.lacks(9)).then(|| 1000.0 * system.queue / operations),
        queue: system.queue,
        retransmits: if system.lacks(10) { 20.0 } else { 0.0 },
    }];
    moment
}

fn waited_mount(system: &mut System, _: usize) -> Moment {
    let mut moment = little(system, 0);
    moment.io_pressure_some = Some(0.9);
    moment.waited_mounts = vec![WaitedMount {
        name: "/mnt/remote".to_owned(),
        waiting: system.queue.round(),
    }];
    moment
}

fn silent(system: &mut System, at: usize) -> Moment {
    let mut moment = little(system, at);
    if at > 20 || !system.lacks(9) {
        moment.silent = vec!["/mnt/lost".to_owned()];
        moment.blocked = Some(4.0);
    }
    moment
}

fn stuck(system: &mut System, at: usize) -> Moment {
    let mut moment = little(system, at);
    moment.blocked = Some(3.0);
    moment.stuck = vec![StuckTask {
        name: "7 cp in percpu_rwsem_wait".to_owned(),
        seconds: at as f64,
    }];
    moment
}

fn quota(system: &mut System, _: usize) -> Moment {
    let mut moment = little(system, 0);
    moment.quotas = vec![QuotaMoment {
        name: "/batch.slice".to_owned(),
        held_back: system.about(0.6, 0.3),
    }];
    moment
}

fn limited_group(system: &mut System, at: usize) -> Moment {
    let mut moment = capped(system, at);
    moment.groups = vec![DoerMoment {
        limit_used: Some(system.about(0.97, 0.02)),
        io_wait: (!system.lacks(9)).then_some(0.9),
        ..doer("/system.slice/db", moment.disks[0].bytes(), 0.4)
    }];
    moment
}

fn array(system: &mut System, _: usize) -> Moment {
    let rate = system.about(system.rate, 0.05);
    let disk = system.disk(rate / 2.0, system.queue / 2.0);
    let mut moment = system.moment(disk.clone(), 0.8);
    let slow = if system.lacks(9) { 8.0 } else { 1.0 };
    moment.disks.push(DiskMoment {
        name: "sdb".to_owned(),
        queue: Some(slow * system.queue / 2.0),
        wait_ms: disk.wait_ms.map(|wait| slow * wait),
        ..disk.clone()
    });
    moment.disks.push(DiskMoment {
        name: "md0".to_owned(),
        ..system.disk(rate, system.queue)
    });
    moment
}

fn locks(system: &mut System, _: usize) -> Moment {
    let mut moment = little(system, 0);
    moment.lock_waiters = Some(system.about(20.0, 0.3));
    moment
}

fn slow(system: &mut System, _: usize) -> Moment {
    let rate = system.about(40.0, 0.2);
    let queue = if system.lacks(9) { 1.0 } else { 12.0 };
    let disk = system.disk(rate, queue);
    system.moment(disk, 0.97)
}

fn recording(draw: Draw, seed: u64) -> Recording {
    let mut system = System::drawn(seed);
    let moments = if seed.is_multiple_of(5) { 20 } else { 120 };
    let moments = (0..moments).map(|at| draw(&mut system, at));
    Recording {
        host: RecordedHost {
            cpus: (!seed.is_multiple_of(7)).then_some(4),
            ..RecordedHost::default()
        },
        source: "a test".to_owned(),
        moments: moments.collect(),
        remarks: Vec::new(),
    }
}

/// What is said of one system, with and without knowing what its volume can give.
fn push(text: &mut String, name: &str, draw: Draw, number: u64) {
    let seed = derive_seed(0xD1A6, number);
    let recording = recording(draw, seed);
    let known = match seed % 3 {
        0 => Some(Ceiling::given(System::drawn(seed).rate)),
        1 => Some(Ceiling {
            block_bytes: Some(16_384.0),
            read_share: Some(0.5),
            wait_ms: Some(2.0),
            ..Ceiling::given(2.0 * System::drawn(seed).rate)
        }),
        _ => None,
    };
    let found = diagnose(&recording, |_| known.clone());
    let _ = writeln!(text, "{name}: {:?}, {:?}", found.answer, found.limiter);
    for line in &found.evidence {
        let _ = writeln!(text, "  - {line}");
    }
    for line in found.settle.iter().chain(&found.remarks) {
        let _ = writeln!(text, "  + {line}");
    }
    let document = serde_json::to_string(&found).expect("a diagnosis is JSON");
    let _ = writeln!(text, "  = xxh3 {}", of_text(&document));
}

#[test]
fn what_is_said_of_drawn_systems_is_as_kept() {
    let mut answers = String::new();
    for (system, (name, draw)) in SYSTEMS.iter().enumerate() {
        for repeat in 0..DRAWN {
            push(&mut answers, name, *draw, system as u64 * DRAWN + repeat);
        }
    }
    is_as_kept("answers.txt", &answers);
}
