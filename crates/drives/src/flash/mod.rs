//! A solid-state drive: parallel units behind one link, latencies with a
//! log-normal tail. Writes may go through a fast cache that fills ([`slc`]),
//! cost more than they are ([`mapping`]), and warm the drive ([`heat`]).

mod heat;
mod mapping;
mod parameters;
mod slc;

use fathom_model::OpKind;
use fathom_model::rng::{derive_seed, splitmix64};

use self::heat::Heat;
use self::mapping::Mapping;
pub(super) use self::parameters::*;
use self::slc::SlcCache;
use super::log_normal::LogNormal;
use super::mechanism::Mechanism;
use super::parameter::Parameters;
use super::truth::{Expected, Inside};
use super::{MIB, SimAnswer, SimEnd, SimOp, transfer_ns};

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
    tail: LogNormal,
    /// When each unit is free.
    units_ns: Vec<u64>,
    read_link_ns: u64,
    write_link_ns: u64,
    last_write_ns: u64,
    written_bytes: u64,
    cliff_at_bytes: Option<u64>,
    slc: Option<SlcCache>,
    medium: Option<Medium>,
    heat: Option<Heat>,
}

/// A write about which more is to say than place and length.
pub(super) struct Write {
    pub(super) offset: u64,
    pub(super) bytes: u32,
    /// Bytes that go behind the link.
    pub(super) stored: u32,
    /// It cannot go on before.
    pub(super) ready_ns: u64,
}

/// The flash behind the link, where the drive writes by itself, too.
struct Medium {
    mapping: Mapping,
    spare: f64,
    mibs: f64,
    free_ns: f64,
    written_bytes: f64,
}

impl Medium {
    /// `None` for a model that has no such account.
    fn new(parameters: &Parameters, seed: u64) -> Option<Medium> {
        let mibs = parameters.get("media_mibs");
        let spare = parameters.get("spare_percent") / 100.0;
        (spare > 0.0).then(|| {
            let mut mapping = Mapping::new(parameters.whole("size"), spare);
            if parameters.on("preconditioned") {
                mapping.precondition(seed);
            }
            Medium {
                mapping,
                spare,
                mibs,
                free_ns: 0.0,
                written_bytes: 0.0,
            }
        })
    }

    /// When a write that arrives at `now_ns` has got through.
    fn write(&mut self, now_ns: u64, offset: u64, bytes: u32) -> u64 {
        let media_bytes = f64::from(bytes) * self.mapping.write(offset, bytes);
        self.written_bytes += media_bytes;
        self.free_ns = self.free_ns.max(now_ns as f64) + media_bytes * 1e9 / (self.mibs * MIB);
        self.free_ns as u64
    }
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
            tail: LogNormal::new(derive_seed(seed, 0xF1A5), parameters.get("tail")),
            units_ns: vec![0; parameters.whole("units").max(1) as usize],
            read_link_ns: 0,
            write_link_ns: 0,
            last_write_ns: 0,
            written_bytes: 0,
            cliff_at_bytes: None,
            slc: SlcCache::new(parameters),
            medium: Medium::new(parameters, seed),
            heat: Heat::new(parameters),
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
        let speed = self.speed(now_ns, bytes);
        let busy_ns = (self.tail.draw(self.read_ns) as f64 / speed) as u64;
        let ready_ns = self.occupy(now_ns, offset, busy_ns);
        let transfer_ns = transfer_ns(bytes, self.read_mibs * speed);
        let end_ns = self.read_link_ns.max(ready_ns) + transfer_ns;
        // Data of different units take turns on the link; what is not ready
        // does not hold up the others.
        self.read_link_ns = self.read_link_ns.max(now_ns) + transfer_ns;
        end_ns
    }

    /// When a write from `now_ns` on ends.
    pub(super) fn write(&mut self, now_ns: u64, offset: u64, bytes: u32) -> u64 {
        self.carry_out(
            now_ns,
            Write {
                offset,
                bytes,
                stored: bytes,
                ready_ns: 0,
            },
        )
    }

    /// The same for a write about which more is to say.
    pub(super) fn carry_out(&mut self, now_ns: u64, write: Write) -> u64 {
        let Write {
            offset,
            bytes,
            stored,
            ready_ns,
        } = write;
        let speed = self.speed(now_ns, bytes);
        let transfer_ns = transfer_ns(bytes, self.write_mibs * speed);
        self.write_link_ns = self.write_link_ns.max(now_ns) + transfer_ns;
        // Who waits for something else does not hold up the link.
        let arrived_ns = self.write_link_ns.max(ready_ns);
        let mut room_ns = arrived_ns;
        let mut held_back = false;
        if let Some(slc) = &mut self.slc {
            room_ns = slc.room_at(arrived_ns, stored);
            held_back = room_ns > arrived_ns;
        }
        if let Some(medium) = &mut self.medium {
            room_ns = medium.write(arrived_ns, offset, stored);
            held_back = medium.mapping.has_collected();
        }
        if held_back && self.cliff_at_bytes.is_none() {
            self.cliff_at_bytes = Some(self.written_bytes);
        }
        self.written_bytes += u64::from(bytes);
        let busy_ns = (self.tail.draw(self.write_ns) as f64 / speed) as u64;
        let end_ns = self.occupy(room_ns, offset, busy_ns);
        self.last_write_ns = self.last_write_ns.max(end_ns);
        end_ns
    }

    #[inline]
    fn speed(&mut self, now_ns: u64, bytes: u32) -> f64 {
        match &mut self.heat {
            Some(heat) => heat.speed(now_ns, bytes),
            None => 1.0,
        }
    }

    /// When a trim from `now_ns` on ends.
    pub(super) fn trim(&mut self, now_ns: u64, offset: u64, bytes: u32) -> u64 {
        if let Some(medium) = &mut self.medium {
            medium.mapping.trim(offset, bytes);
        }
        now_ns + TRIM_NS
    }

    /// Puts a buffer before the flash that takes so many bytes at once and
    /// empties at a rate.
    pub(super) fn with_buffer(mut self, bytes: f64, drain_mibs: f64) -> Flash {
        self.slc = Some(SlcCache::bucket(bytes, drain_mibs));
        self
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
            OpKind::Trim => self.trim(now_ns, op.offset, op.bytes),
            _ => self.flush(now_ns),
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
        let latency = |mean_ns: u64, mibs: &[f64]| {
            let transfer_ns: u64 = mibs.iter().map(|mibs| transfer_ns(4096, *mibs)).sum();
            Some(self.tail.latency(mean_ns as f64, transfer_ns as f64))
        };
        let fast = self.write_mibs * MIB;
        let slc = self.slc.as_ref();
        let medium = self.medium.as_ref();
        let steady = medium.map(|m| m.mapping.steady_amplification(m.spare));
        let late = [
            slc.map(SlcCache::late_bytes_per_second),
            medium.zip(steady).map(|(m, steady)| m.mibs * MIB / steady),
            self.heat.as_ref().map(|heat| heat.slow_speed() * fast),
        ];
        let write_4k = match medium {
            Some(m) => latency(self.write_ns, &[self.write_mibs, m.mibs]),
            None => latency(self.write_ns, &[self.write_mibs]),
        };
        let fast = medium.map_or(fast, |m| fast.min(m.mibs * MIB));
        Expected {
            most_read_iops: (self.read_ns > 0).then(|| units * 1e9 / self.read_ns as f64),
            read_bytes_per_second: Some(self.read_mibs * MIB),
            write_bytes_per_second: Some(fast),
            late_write_bytes_per_second: late
                .into_iter()
                .flatten()
                .map(|rate| rate.min(fast))
                .next(),
            steady_write_amplification: steady,
            random_read_mean_ns: Some(self.read_ns as f64),
            read_4k: latency(self.read_ns, &[self.read_mibs]),
            write_4k,
            cache_bytes: slc.map(SlcCache::bytes),
            cliff_bytes: slc.and_then(|slc| slc.cliff_bytes(fast)),
            ..Expected::default()
        }
    }

    fn inside(&self, now_ns: u64) -> Inside {
        let heat = self.heat.as_ref();
        let (throttled_ns, throttle_events) = heat.map_or((0, 0), |heat| heat.throttled(now_ns));
        Inside {
            media_write_bytes: self.medium.as_ref().map(|m| m.written_bytes as u64),
            throttled_ns,
            throttle_events,
            celsius: heat.map(|heat| heat.celsius_at(now_ns)),
            cliff_at_bytes: self.cliff_at_bytes,
            ..Inside::default()
        }
    }
}
