//! A solid-state drive: parallel units behind one link, latencies with a
//! log-normal tail; with `slc`, writes go to a fast cache that empties at a
//! steady pace, and wait for room once it is full.

use fathom_model::OpKind;
use fathom_model::rng::{derive_seed, splitmix64};

use super::parameter::{Known, Parameters};
use super::tail::Tail;
use super::{Drive, SimEnd, SimOp, transfer_ns};

#[rustfmt::skip]
pub(super) const SSD_PARAMETERS: &[Known] = &[
    Known::size(1e12),
    Known::new("units", 64.0, 1.0, 65_536.0),
    Known::new("read_us", 80.0, 0.0, 1e9),
    Known::new("write_us", 20.0, 0.0, 1e9),
    Known::new("flush_us", 50.0, 0.0, 1e9),
    Known::new("tail", 0.25, 0.0, 5.0),
    Known::new("read_mibs", 3200.0, 0.1, 1e7),
    Known::new("write_mibs", 2400.0, 0.1, 1e7),
];

#[rustfmt::skip]
pub(super) const SLC_PARAMETERS: &[Known] = &[
    Known::size(1e12),
    Known::new("units", 64.0, 1.0, 65_536.0),
    Known::new("read_us", 80.0, 0.0, 1e9),
    Known::new("write_us", 20.0, 0.0, 1e9),
    Known::new("flush_us", 50.0, 0.0, 1e9),
    Known::new("tail", 0.25, 0.0, 5.0),
    Known::new("read_mibs", 3200.0, 0.1, 1e7),
    Known::new("write_mibs", 2400.0, 0.1, 1e7),
    Known::new("cache", 24e9, 0.0, 1e18),
    Known::new("drain_mibs", 150.0, 0.001, 1e7),
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
    cache: Option<Cache>,
}

/// The fast write cache, as a bucket that leaks.
struct Cache {
    bytes: f64,
    drain_bytes_per_ns: f64,
    filled: f64,
    at_ns: u64,
}

impl Flash {
    pub(super) fn new(parameters: &Parameters, seed: u64) -> Flash {
        let drain_mibs = parameters.get("drain_mibs");
        let cache = (drain_mibs > 0.0).then(|| Cache {
            bytes: parameters.get("cache"),
            drain_bytes_per_ns: drain_mibs * 1_048_576.0 / 1e9,
            filled: 0.0,
            at_ns: 0,
        });
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
            cache,
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

    fn read(&mut self, now_ns: u64, op: &SimOp) -> u64 {
        let busy_ns = self.tail.draw(self.read_ns);
        let ready_ns = self.occupy(now_ns, op.offset, busy_ns);
        let end_ns = self.read_link_ns.max(ready_ns) + transfer_ns(op.bytes, self.read_mibs);
        // Data of different units take turns on the link; what is not ready
        // does not hold up the others.
        self.read_link_ns = self.read_link_ns.max(now_ns) + transfer_ns(op.bytes, self.read_mibs);
        end_ns
    }

    fn write(&mut self, now_ns: u64, op: &SimOp) -> u64 {
        let transfer_ns = transfer_ns(op.bytes, self.write_mibs);
        let arrived_ns = self.write_link_ns.max(now_ns) + transfer_ns;
        self.write_link_ns = arrived_ns;
        let room_ns = match &mut self.cache {
            Some(cache) => cache.room_at(arrived_ns, op.bytes),
            None => arrived_ns,
        };
        let busy_ns = self.tail.draw(self.write_ns);
        let end_ns = self.occupy(room_ns, op.offset, busy_ns);
        self.last_write_ns = self.last_write_ns.max(end_ns);
        end_ns
    }
}

impl Cache {
    /// When there is room for so many bytes, which are then put in.
    fn room_at(&mut self, now_ns: u64, bytes: u32) -> u64 {
        let now_ns = now_ns.max(self.at_ns);
        let drained = (now_ns - self.at_ns) as f64 * self.drain_bytes_per_ns;
        self.filled = (self.filled - drained).max(0.0) + f64::from(bytes);
        let over = self.filled - self.bytes;
        let wait_ns = if over > 0.0 {
            self.filled = self.bytes;
            (over / self.drain_bytes_per_ns) as u64
        } else {
            0
        };
        self.at_ns = now_ns + wait_ns;
        self.at_ns
    }
}

impl Drive for Flash {
    fn submit(&mut self, now_ns: u64, op: &SimOp) -> SimEnd {
        let at_ns = match op.kind {
            OpKind::Read => self.read(now_ns, op),
            OpKind::Write => self.write(now_ns, op),
            OpKind::Trim => now_ns + TRIM_NS,
            OpKind::Sync | OpKind::Commit => self.last_write_ns.max(now_ns) + self.flush_ns,
        };
        SimEnd {
            at_ns,
            result: Ok(op.bytes),
        }
    }

    fn capacity_bytes(&self) -> u64 {
        self.capacity_bytes
    }
}
