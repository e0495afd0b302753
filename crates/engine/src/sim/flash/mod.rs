//! A solid-state drive: parallel units behind one link, latencies with a
//! log-normal tail. Writes may go through a fast cache that fills ([`slc`]).

mod slc;

use fathom_model::OpKind;
use fathom_model::rng::{derive_seed, splitmix64};

use self::slc::SlcCache;
use super::model::Mechanism;
use super::parameter::{Parameter, Parameters};
use super::tail::Tail;
use super::truth::{Expected, Inside};
use super::{MIB, SimAnswer, SimEnd, SimOp, transfer_ns};

const UNITS: Parameter = Parameter::number(
    "units",
    64.0,
    1.0,
    65_536.0,
    "operations that the flash serves at once",
);
const READ_US: Parameter = Parameter::number(
    "read_us",
    80.0,
    0.0,
    1e9,
    "mean time of a read in the flash",
);
const WRITE_US: Parameter = Parameter::number("write_us", 20.0, 0.0, 1e9, "mean time of a write");
const FLUSH_US: Parameter = Parameter::number(
    "flush_us",
    50.0,
    0.0,
    1e9,
    "time of a flush after the writes before it",
);
const TAIL: Parameter = Parameter::number(
    "tail",
    0.25,
    0.0,
    5.0,
    "standard deviation of the logarithm of these times",
);
const READ_MIBS: Parameter = Parameter::number(
    "read_mibs",
    3200.0,
    0.1,
    1e7,
    "rate of the link for reads, MiB/s",
);
const WRITE_MIBS: Parameter = Parameter::number(
    "write_mibs",
    2400.0,
    0.1,
    1e7,
    "rate of the link for writes, MiB/s",
);

pub(super) const SSD_PARAMETERS: &[Parameter] = &[
    Parameter::size(1e12),
    UNITS,
    READ_US,
    WRITE_US,
    FLUSH_US,
    TAIL,
    READ_MIBS,
    WRITE_MIBS,
];

#[rustfmt::skip]
pub(super) const SLC_PARAMETERS: &[Parameter] = &[
    Parameter::size(1e12),
    UNITS,
    READ_US,
    WRITE_US,
    FLUSH_US,
    TAIL,
    READ_MIBS,
    WRITE_MIBS,
    Parameter::bytes("cache", 24e9, 0.0, "size of the fast cache"),
    Parameter::number("drain_mibs", 150.0, 0.001, 1e7, "rate at which the cache empties, MiB/s"),
    Parameter::number("folded_mibs", 0.0, 0.0, 1e7, "rate of writes that find the cache full, MiB/s; the cache then empties only when no write comes. 0: as fast as it empties, all the time"),
    Parameter::number("idle_ms", 100.0, 0.0, 1e6, "with folded_mibs: quiet time after which the cache begins to empty"),
];

/// Neighbouring bytes that live on one unit.
const STRIPE_BYTES: u64 = 16 << 10;
/// Time of a trim.
const TRIM_NS: u64 = 15_000;

pub(super) struct Flash {
    capacity_bytes: u64,
    read_ns: u64,
    write_ns: u64,
    flush_ns: u64,
    read_mibs: f64,
    write_mibs: f64,
    tail: Tail,
    /// When each unit is free.
    units_ns: Vec<u64>,
    read_link_ns: u64,
    write_link_ns: u64,
    last_write_ns: u64,
    written_bytes: u64,
    cliff_at_bytes: Option<u64>,
    slc: Option<SlcCache>,
}

impl Flash {
    pub(super) fn new(parameters: &Parameters, seed: u64) -> Flash {
        Flash {
            capacity_bytes: parameters.whole("size"),
            read_ns: parameters.us("read_us"),
            write_ns: parameters.us("write_us"),
            flush_ns: parameters.us("flush_us"),
            read_mibs: parameters.get("read_mibs"),
            write_mibs: parameters.get("write_mibs"),
            tail: Tail::new(derive_seed(seed, 0xF1A5), parameters.get("tail")),
            units_ns: vec![0; parameters.whole("units").max(1) as usize],
            read_link_ns: 0,
            write_link_ns: 0,
            last_write_ns: 0,
            written_bytes: 0,
            cliff_at_bytes: None,
            slc: SlcCache::new(parameters),
        }
    }

    /// The unit that an operation starts on, busy for `busy_ns` from `from_ns`
    /// or when it is free.
    fn occupy(&mut self, from_ns: u64, offset: u64, busy_ns: u64) -> u64 {
        let units = self.units_ns.len() as u64;
        let unit = (splitmix64(offset / STRIPE_BYTES) % units) as usize;
        let end_ns = self.units_ns[unit].max(from_ns) + busy_ns;
        self.units_ns[unit] = end_ns;
        end_ns
    }

    /// When a read from `now_ns` on ends.
    pub(super) fn read(&mut self, now_ns: u64, offset: u64, bytes: u32) -> u64 {
        let busy_ns = self.tail.draw(self.read_ns);
        let ready_ns = self.occupy(now_ns, offset, busy_ns);
        let transfer_ns = transfer_ns(bytes, self.read_mibs);
        let end_ns = self.read_link_ns.max(ready_ns) + transfer_ns;
        // Data of different units take turns on the link; what is not ready
        // does not hold up the others.
        self.read_link_ns = self.read_link_ns.max(now_ns) + transfer_ns;
        end_ns
    }

    /// When a write from `now_ns` on ends.
    pub(super) fn write(&mut self, now_ns: u64, offset: u64, bytes: u32) -> u64 {
        let transfer_ns = transfer_ns(bytes, self.write_mibs);
        let arrived_ns = self.write_link_ns.max(now_ns) + transfer_ns;
        self.write_link_ns = arrived_ns;
        let room_ns = match &mut self.slc {
            Some(slc) => slc.room_at(arrived_ns, bytes),
            None => arrived_ns,
        };
        if room_ns > arrived_ns && self.cliff_at_bytes.is_none() {
            self.cliff_at_bytes = Some(self.written_bytes);
        }
        self.written_bytes += u64::from(bytes);
        let busy_ns = self.tail.draw(self.write_ns);
        let end_ns = self.occupy(room_ns, offset, busy_ns);
        self.last_write_ns = self.last_write_ns.max(end_ns);
        end_ns
    }

    /// When a flush from `now_ns` on ends.
    pub(super) fn flush(&self, now_ns: u64) -> u64 {
        self.last_write_ns.max(now_ns) + self.flush_ns
    }
}

impl Mechanism for Flash {
    fn submit(&mut self, now_ns: u64, op: &SimOp) -> SimAnswer {
        let at_ns = match op.kind {
            OpKind::Read => self.read(now_ns, op.offset, op.bytes),
            OpKind::Write => self.write(now_ns, op.offset, op.bytes),
            OpKind::Trim => now_ns + TRIM_NS,
            OpKind::Sync | OpKind::Commit => self.flush(now_ns),
        };
        SimAnswer::Ends(SimEnd {
            at_ns,
            result: Ok(op.bytes),
        })
    }

    fn capacity_bytes(&self) -> u64 {
        self.capacity_bytes
    }

    fn expected(&self) -> Expected {
        let units = self.units_ns.len() as f64;
        let latency = |mean_ns: u64, mibs: f64| {
            let transfer_ns = transfer_ns(4096, mibs) as f64;
            Some(self.tail.latency(mean_ns as f64, transfer_ns))
        };
        let fast = self.write_mibs * MIB;
        let slc = self.slc.as_ref();
        Expected {
            most_read_iops: (self.read_ns > 0).then(|| units * 1e9 / self.read_ns as f64),
            read_bytes_per_second: Some(self.read_mibs * MIB),
            write_bytes_per_second: Some(fast),
            late_write_bytes_per_second: slc.map(|slc| slc.late_bytes_per_second().min(fast)),
            random_read_mean_ns: Some(self.read_ns as f64),
            read_4k: latency(self.read_ns, self.read_mibs),
            write_4k: latency(self.write_ns, self.write_mibs),
            cache_bytes: slc.map(SlcCache::bytes),
            cliff_bytes: slc.and_then(|slc| slc.cliff_bytes(fast)),
            ..Expected::default()
        }
    }

    fn inside(&self, _now_ns: u64) -> Inside {
        Inside {
            cliff_at_bytes: self.cliff_at_bytes,
            ..Inside::default()
        }
    }
}
