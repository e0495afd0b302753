//! What one host did over time, whoever wrote it down.

use fathom_model::json_memory::json_memory_bytes;
use fathom_model::observation::each_once;
use jiff::civil::DateTime;

/// A recording of one host. Its moments follow one another in time.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Recording {
    /// Who and what was recorded.
    pub host: RecordedHost,
    /// What wrote it, for people: `iostat -x (JSON)`.
    pub source: String,
    /// The moments, in the order of time.
    pub moments: Vec<Moment>,
    /// What was mended or left out while it was read.
    pub remarks: Vec<String>,
}

/// The host of a recording, as far as it says.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RecordedHost {
    /// Its name.
    pub name: Option<String>,
    /// Release of its kernel.
    pub kernel: Option<String>,
    /// Logical CPUs.
    pub cpus: Option<u32>,
}

/// What was seen in one interval that ended at a moment.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Moment {
    /// Its end by the host's own clock, where it is told.
    pub at: Option<DateTime>,
    /// Its length in seconds, where it is told or follows from the moment before.
    pub seconds: Option<f64>,
    /// Time of all CPUs.
    pub cpu: Option<CpuShares>,
    /// Tasks that run or wait for a CPU (`r` of vmstat, `runq-sz` of sar).
    pub runnable: Option<f64>,
    /// Tasks in uninterruptible sleep, most of them for a device (`b`).
    pub blocked: Option<f64>,
    /// Tasks that wait for a lock on a file.
    pub lock_waiters: Option<f64>,
    /// Load average of one minute: runnable and blocked tasks together.
    pub load: Option<f64>,
    /// Pages in from swap, in bytes per second.
    pub swap_in_bytes_per_second: Option<f64>,
    /// Pages out to swap, in bytes per second.
    pub swap_out_bytes_per_second: Option<f64>,
    /// Bytes per second that all block devices read and wrote, as `vmstat` and `sar -B`
    /// count them.
    pub paged_bytes_per_second: Option<f64>,
    /// Share of the time in which some task waited for I/O, 0 to 1 (pressure stall).
    pub io_pressure_some: Option<f64>,
    /// Share in which all tasks that could run waited for I/O, 0 to 1.
    pub io_pressure_full: Option<f64>,
    /// Share in which some task waited for memory, 0 to 1.
    pub memory_pressure_some: Option<f64>,
    /// Most of any network interface's rated speed that was used, 0 to 1.
    pub network_use: Option<f64>,
    /// Block devices.
    pub disks: Vec<DiskMoment>,
    /// The busiest CPU.
    pub busiest_cpu: Option<BusiestCpu>,
    /// Share of the time in which some task waited for a CPU, 0 to 1.
    pub cpu_pressure_some: Option<f64>,
    /// Memory at the end of the interval.
    pub memory: Option<MemoryMoment>,
    /// Network interfaces.
    pub links: Vec<LinkMoment>,
    /// Mounts that did not answer when they were asked last.
    pub silent: Vec<String>,
    /// TCP segments that were sent again, per second and as a share of all
    /// that were sent.
    pub retransmits: Option<(f64, f64)>,
    /// TCP segments per second that came before one that was sent earlier: on
    /// nearly every network, because that one was lost.
    pub out_of_order: Option<f64>,
    /// NFS mounts.
    pub nfs: Vec<NfsMoment>,
    /// Other mounts that need a server or another process.
    pub waited_mounts: Vec<WaitedMount>,
    /// Processes that sleep in one call of the kernel, where no signal reaches them.
    pub stuck: Vec<StuckTask>,
    /// CPU quotas of control groups.
    pub quotas: Vec<QuotaMoment>,
    /// Processes that did most.
    pub processes: Vec<DoerMoment>,
    /// Control groups that did most.
    pub groups: Vec<DoerMoment>,
}

impl Moment {
    /// Bytes per second that the devices and NFS mounts moved. What lies on other
    /// devices passes on what those move, so it counts only where it moved more.
    pub fn moved_bytes(&self) -> f64 {
        let lowest = self.disks.iter().filter(|disk| !disk.lies_on_others());
        let lowest: f64 = lowest.map(DiskMoment::bytes).sum();
        let most = self.disks.iter().map(DiskMoment::bytes);
        let nfs: f64 = self.nfs.iter().map(|mount| mount.bytes).sum();
        most.fold(lowest, f64::max) + nfs
    }
}

/// Shares of the time of all CPUs, 0 to 1.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct CpuShares {
    /// Programs, nice ones included.
    pub user: f64,
    /// The part of `user` that is of niced programs, where it is told apart.
    pub nice: Option<f64>,
    /// The kernel, interrupts included.
    pub system: f64,
    /// Idle while a task of this CPU waited for I/O.
    pub iowait: f64,
    /// Taken by the hypervisor.
    pub steal: f64,
    /// Idle.
    pub idle: f64,
}

impl CpuShares {
    /// Share of the time in which no CPU time was left: neither idle nor
    /// waiting for I/O.
    pub fn busy(&self) -> f64 {
        (1.0 - self.idle - self.iowait).clamp(0.0, 1.0)
    }
}

/// One block device in one interval.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct DiskMoment {
    /// Its kernel name, without `/dev/`.
    pub name: String,
    /// Reads per second.
    pub reads: f64,
    /// Writes per second.
    pub writes: f64,
    /// Discards per second.
    pub discards: f64,
    /// Flushes per second.
    pub flushes: f64,
    /// Operations of all kinds per second, where kinds are not told apart.
    pub undivided: f64,
    /// Bytes read per second.
    pub read_bytes: f64,
    /// Bytes written per second.
    pub write_bytes: f64,
    /// Bytes of all kinds per second, where kinds are not told apart.
    pub undivided_bytes: f64,
    /// Mean time of a read in milliseconds, queueing included.
    pub read_wait_ms: Option<f64>,
    /// Mean time of a write in milliseconds.
    pub write_wait_ms: Option<f64>,
    /// Mean time of any operation in milliseconds.
    pub wait_ms: Option<f64>,
    /// Mean time of a flush in milliseconds.
    pub flush_wait_ms: Option<f64>,
    /// Mean time of a discard in milliseconds.
    pub discard_wait_ms: Option<f64>,
    /// Mean number of operations in flight, as iostat counts them: a flush twice.
    pub queue: Option<f64>,
    /// Operations in flight at the end of the interval, where that was read.
    pub outstanding: Option<f64>,
    /// Lengths in seconds of the pauses that ended in the interval: operations in flight,
    /// and none completed; in the last one also the pause that goes on. Where they were
    /// looked for, which takes more than samples.
    pub pauses_s: Option<Vec<f64>>,
    /// What iostat prints as `%util`, 0 to 1. Never a proof of anything: a
    /// device that serves several operations at once is not at its end when
    /// there is always one.
    pub util: Option<f64>,
}

/// How devices begin that lie on other devices, on files or in memory.
const ON_OTHERS: &[&str] = &["bcache", "dm-", "drbd", "loop", "md", "ram", "zram"];

impl DiskMoment {
    fn lies_on_others(&self) -> bool {
        ON_OTHERS.iter().any(|kind| self.name.starts_with(kind))
    }

    /// Reads, writes and undivided operations per second: what limits of
    /// volumes count.
    pub fn operations(&self) -> f64 {
        self.reads + self.writes + self.undivided
    }

    /// Operations of every kind that ended, per second.
    pub fn completions(&self) -> f64 {
        self.operations() + self.discards + self.flushes
    }

    /// Operations in flight, each counted once (a flush is in `queue` twice).
    pub fn in_flight(&self) -> Option<f64> {
        Some(each_once(self.queue?, self.flushes().in_flight()))
    }

    fn flushes(&self) -> OtherKind {
        OtherKind {
            name: "flush",
            rate: self.flushes,
            wait_ms: self.flush_wait_ms,
        }
    }

    /// The kinds of operations beside reads and writes.
    pub fn others(&self) -> [OtherKind; 2] {
        let discards = OtherKind {
            name: "discard",
            rate: self.discards,
            wait_ms: self.discard_wait_ms,
        };
        [self.flushes(), discards]
    }

    /// Bytes read and written per second.
    pub fn bytes(&self) -> f64 {
        self.read_bytes + self.write_bytes + self.undivided_bytes
    }

    /// Mean time of a read or write in milliseconds, weighted by their number.
    pub fn mean_wait_ms(&self) -> Option<f64> {
        match (self.read_wait_ms, self.write_wait_ms) {
            (Some(read), Some(write)) => {
                let operations = self.reads + self.writes;
                (operations > 0.0).then(|| (read * self.reads + write * self.writes) / operations)
            }
            _ => self.wait_ms,
        }
    }
}

/// One kind of operations of a device that is neither reads nor writes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct OtherKind {
    /// What one of them is called.
    pub name: &'static str,
    /// Completed per second.
    pub rate: f64,
    /// Mean time of one in milliseconds.
    pub wait_ms: Option<f64>,
}

impl OtherKind {
    /// Mean number in flight, by Little's law.
    pub fn in_flight(&self) -> f64 {
        self.rate * self.wait_ms.unwrap_or(0.0) / 1000.0
    }
}

/// One CPU in one interval.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct BusiestCpu {
    /// Its number.
    pub number: u32,
    /// Share of the time in which it did something, 0 to 1.
    pub busy: f64,
    /// Share in which it served hardware and software interrupts, 0 to 1.
    pub interrupts: f64,
}

/// Memory of the host, in bytes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct MemoryMoment {
    /// All of it.
    pub total_bytes: u64,
    /// What programs can still have without swapping.
    pub available_bytes: u64,
    /// Written by programs and not yet on its way to a device.
    pub dirty_bytes: u64,
    /// On its way to a device.
    pub writeback_bytes: u64,
}

/// One network interface in one interval.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct LinkMoment {
    /// Its name.
    pub name: String,
    /// Bytes received per second.
    pub received_bytes: f64,
    /// Bytes sent per second.
    pub sent_bytes: f64,
    /// Errors of both directions per second.
    pub errors: f64,
    /// Dropped packets of both directions per second.
    pub drops: f64,
    /// Rated speed in bits per second, of real hardware.
    pub speed_bits: Option<f64>,
}

impl LinkMoment {
    /// Share of the rated speed that the fuller direction used.
    pub fn used(&self) -> Option<f64> {
        let speed_bits = self.speed_bits.filter(|bits| *bits > 0.0)?;
        Some(8.0 * self.received_bytes.max(self.sent_bytes) / speed_bits)
    }
}

/// One NFS mount in one interval.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct NfsMoment {
    /// `server:/export on /mnt`.
    pub name: String,
    /// Operations of all kinds per second.
    pub operations: f64,
    /// Bytes received and sent per second.
    pub bytes: f64,
    /// Mean time between transmission and reply, in milliseconds: network and
    /// server.
    pub round_trip_ms: Option<f64>,
    /// Mean time of an operation, in milliseconds, queueing at the client
    /// included.
    pub execute_ms: Option<f64>,
    /// Operations in flight, mean.
    pub queue: f64,
    /// Transmissions beyond the first of an operation, per second.
    pub retransmits: f64,
}

/// A mount that needs a server or another process, and of which nothing but this is
/// known.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct WaitedMount {
    /// Where it is mounted.
    pub name: String,
    /// Requests or tasks that waited for its answer at the end of the interval.
    pub waiting: f64,
}

/// A process that sleeps in one call of the kernel and is not reached.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct StuckTask {
    /// Number, command and, where it may be known, the function in which it sleeps:
    /// `7 cp in percpu_rwsem_wait`.
    pub name: String,
    /// How long it has slept.
    pub seconds: f64,
}

/// The CPU quota of a control group in one interval.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct QuotaMoment {
    /// Path of the group.
    pub name: String,
    /// Share of its periods in which the quota held it back, 0 to 1.
    pub held_back: f64,
}

/// A process or control group in one interval.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct DoerMoment {
    /// Number and command of a process, that of a thread of the kernel in brackets;
    /// path of a group.
    pub name: String,
    /// Bytes per second that it caused devices to read.
    pub read_bytes: f64,
    /// Bytes per second that it made to be written.
    pub write_bytes: f64,
    /// CPUs that it kept busy.
    pub cpus: f64,
    /// Share of the time in which it waited for I/O, where the kernel tells.
    pub io_wait: Option<f64>,
    /// The fullest limit on its I/O, as a share of what it allows; of groups
    /// that have one.
    pub limit_used: Option<f64>,
}

impl DoerMoment {
    /// Whether it is a thread of the kernel, as `ps` shows one.
    pub(crate) fn is_of_the_kernel(&self) -> bool {
        self.name.ends_with(']')
    }

    /// Bytes read and written per second.
    pub fn bytes(&self) -> f64 {
        self.read_bytes + self.write_bytes
    }
}

/// Memory for the values of a JSON document, guessed from above. What a recording
/// really takes, with its text and its moments, is about as much.
const MOST_VALUES_BYTES: u64 = 176 << 20;

/// Whether the values of a JSON document would fill the memory.
pub fn takes_too_much(text: &str) -> bool {
    json_memory_bytes(text.as_bytes()) > MOST_VALUES_BYTES
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_passes_through_layers_counts_once() {
        let disk = |name: &str, read_bytes: f64| DiskMoment {
            name: name.to_owned(),
            read_bytes,
            ..DiskMoment::default()
        };
        let moved = |disks: Vec<DiskMoment>| {
            let moment = Moment {
                disks,
                ..Moment::default()
            };
            moment.moved_bytes()
        };
        let pair = vec![disk("sda", 50.0), disk("sdb", 60.0), disk("md0", 110.0)];
        assert_eq!(moved(pair), 110.0);
        assert_eq!(moved(vec![disk("vda", 1.0), disk("loop0", 90.0)]), 90.0);
        assert_eq!(moved(Vec::new()), 0.0);
    }
}
