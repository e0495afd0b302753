//! Takes one frame after the other from `/proc` and `/sys`.
//!
//! Files stay open and buffers are kept, since the recorder runs beside the
//! work that it watches. Three paces: each frame; every tenth for what changes
//! slowly (mounts, groups, file systems); every sixtieth for drives' health; and
//! every ten minutes, beside the frames, for what smartctl tells of disks.

mod cgroups;
mod devices;
mod filesystems;
mod health;
mod layers;
mod limits;
mod links;
mod mount_waiters;
mod mounts;
mod nfs;
mod process_files;
mod processes;
mod quotas;
mod raid;
mod smart;
mod stuck_tasks;
mod system;

use fathom_observe::Sysroot;

use crate::frame::{Frame, HostFacts, Instant, Row};

pub(crate) use smart::health_of as smart_health;

/// Every how many frames the list of mounts, groups and devices is looked at.
const SLOW: u64 = 10;
/// Every how many frames drives are asked for their health.
const VERY_SLOW: u64 = 60;

/// What all readers get.
pub(crate) struct Reading<'a> {
    sys: &'a Sysroot,
    buffer: &'a mut Vec<u8>,
    rows: &'a mut Vec<Row>,
    now_ns: u64,
    /// Frames before this one.
    count: u64,
}

impl Reading<'_> {
    fn slow(&self) -> bool {
        self.count.is_multiple_of(SLOW)
    }

    fn very_slow(&self) -> bool {
        self.count.is_multiple_of(VERY_SLOW)
    }
}

/// Reads a host again and again.
#[derive(Debug)]
pub struct Sampler {
    sys: Sysroot,
    buffer: Vec<u8>,
    system: system::System,
    devices: devices::Devices,
    links: links::Links,
    processes: processes::Processes,
    cgroups: cgroups::Cgroups,
    stuck_tasks: stuck_tasks::StuckTasks,
    quotas: quotas::Quotas,
    nfs: nfs::NfsMounts,
    filesystems: filesystems::Filesystems,
    mounts: mounts::Mounts,
    raid: raid::Raids,
    layers: layers::Layers,
    health: health::Drives,
    smart: smart::SmartDisks,
    count: u64,
    rows_last: usize,
}

impl Sampler {
    /// Opens what there is to be read below `sys`.
    pub fn new(sys: &Sysroot) -> Sampler {
        Sampler {
            buffer: Vec::new(),
            system: system::System::open(sys),
            devices: devices::Devices::open(sys),
            links: links::Links::open(sys),
            processes: processes::Processes::open(sys),
            cgroups: cgroups::Cgroups::default(),
            stuck_tasks: stuck_tasks::StuckTasks::default(),
            quotas: quotas::Quotas::default(),
            nfs: nfs::NfsMounts::default(),
            filesystems: filesystems::Filesystems::default(),
            mounts: mounts::Mounts::open(sys),
            raid: raid::Raids::open(sys),
            layers: layers::Layers::open(sys),
            health: health::Drives,
            smart: smart::SmartDisks::default(),
            count: 0,
            rows_last: 64,
            sys: sys.clone(),
        }
    }

    /// What the host is.
    pub fn host(&self) -> HostFacts {
        system::host_facts(&self.sys)
    }

    /// One frame.
    pub fn sample(&mut self, at: Instant) -> Frame {
        let mut rows = Vec::with_capacity(self.rows_last + 8);
        let mut reading = Reading {
            sys: &self.sys,
            buffer: &mut self.buffer,
            rows: &mut rows,
            now_ns: at.monotonic_ns,
            count: self.count,
        };
        self.system.read(&mut reading);
        self.devices.read(&mut reading);
        self.links.read(&mut reading);
        self.processes.read(&mut reading);
        self.cgroups.read(&mut reading);
        self.stuck_tasks.read(&mut reading);
        self.quotas.read(&mut reading);
        self.nfs.read(&mut reading);
        self.filesystems.read(&mut reading);
        self.mounts.read(&mut reading);
        self.raid.read(&mut reading);
        self.layers.read(&mut reading);
        self.health.read(&mut reading);
        self.smart.read(&mut reading);
        self.count += 1;
        self.rows_last = rows.len();
        Frame { at, rows }
    }
}

/// The first of a text's numbers, in any of its fields.
fn numbers(text: &str) -> impl Iterator<Item = Option<u64>> {
    text.split_ascii_whitespace()
        .map(|field| field.parse().ok())
}

#[cfg(test)]
#[path = "../sampler_tests.rs"]
mod tests;
