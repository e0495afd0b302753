//! A volatile write cache: writes are acknowledged when they have arrived, and
//! a flush pays for all that is not on the medium yet; a drive that lies does not
//! even do that.

use fathom_model::OpKind;
use fathom_model::rng::derive_seed;

use super::flash::{Flash, flash_parameters};
use super::log_normal::LogNormal;
use super::mechanism::Mechanism;
use super::parameter::{Parameter, Parameters};
use super::truth::{Expected, Inside};
use super::{MIB, SimAnswer, SimEnd, SimOp, transfer_ns};

#[rustfmt::skip]
pub(super) const PARAMETERS: &[Parameter] = flash_parameters![
    Parameter::bytes("cache", 536_870_912.0, 0.0, "size of the volatile cache"),
    Parameter::number("ack_us", 15.0, 0.0, 1e9, "mean time until a write is acknowledged"),
    Parameter::number("media_mibs", 400.0, 0.1, 1e7, "rate at which the medium is written, MiB/s"),
    Parameter::number("media_us", 20.0, 0.0, 1e9, "time of the medium for each write beyond its bytes"),
    Parameter::number("commit_us", 1500.0, 0.0, 1e9, "time of a flush beyond what it writes"),
    Parameter::number("background_percent", 10.0, 0.0, 100.0, "share of the medium's rate at which the cache empties by itself"),
    Parameter::switch("lies", "1: flushes are acknowledged at once and not carried out"),
];

pub(super) struct Volatile {
    flash: Flash,
    cache_bytes: f64,
    ack_ns: u64,
    write_mibs: f64,
    media_mibs: f64,
    media_ns: u64,
    commit_ns: u64,
    background: f64,
    lies: bool,
    tail: LogNormal,
    link_ns: u64,
    /// What is not on the medium yet, and the time that it takes to get there.
    dirty_bytes: f64,
    dirty_ns: f64,
    /// Up to when that is so; ahead of the clock while a flush or a full cache
    /// keeps the medium busy.
    at_ns: u64,
    media_write_bytes: f64,
    written_bytes: u64,
    cliff_at_bytes: Option<u64>,
    lied: u64,
}

impl Volatile {
    pub(super) fn new(parameters: &Parameters, seed: u64) -> Volatile {
        Volatile {
            flash: Flash::new(parameters, seed),
            cache_bytes: parameters.get("cache"),
            ack_ns: parameters.us("ack_us"),
            write_mibs: parameters.get("write_mibs"),
            media_mibs: parameters.get("media_mibs"),
            media_ns: parameters.us("media_us"),
            commit_ns: parameters.us("commit_us"),
            background: parameters.get("background_percent") / 100.0,
            lies: parameters.on("lies"),
            tail: LogNormal::new(derive_seed(seed, 0x701A), parameters.get("tail")),
            link_ns: 0,
            dirty_bytes: 0.0,
            dirty_ns: 0.0,
            at_ns: 0,
            media_write_bytes: 0.0,
            written_bytes: 0,
            cliff_at_bytes: None,
            lied: 0,
        }
    }

    /// So much of the medium's time goes into emptying the cache.
    fn clean(&mut self, work_ns: f64) {
        if self.dirty_ns <= 0.0 {
            return;
        }
        let bytes = if work_ns >= self.dirty_ns {
            self.dirty_bytes
        } else {
            self.dirty_bytes * work_ns / self.dirty_ns
        };
        self.media_write_bytes += bytes;
        self.dirty_bytes -= bytes;
        self.dirty_ns = (self.dirty_ns - work_ns).max(0.0);
    }

    /// The cache empties by itself up to `now_ns`.
    fn pass(&mut self, now_ns: u64) {
        if now_ns > self.at_ns {
            self.clean((now_ns - self.at_ns) as f64 * self.background);
            self.at_ns = now_ns;
        }
    }

    fn write(&mut self, now_ns: u64, bytes: u32) -> u64 {
        let arrived_ns = self.link_ns.max(now_ns) + transfer_ns(bytes, self.write_mibs);
        self.link_ns = arrived_ns;
        self.pass(arrived_ns);
        self.dirty_bytes += f64::from(bytes);
        self.dirty_ns += (self.media_ns + transfer_ns(bytes, self.media_mibs)) as f64;
        let over = self.dirty_bytes - self.cache_bytes;
        let mut room_ns = arrived_ns;
        if over > 0.0 {
            self.cliff_at_bytes.get_or_insert(self.written_bytes);
            let work_ns = self.dirty_ns * over / self.dirty_bytes;
            self.clean(work_ns);
            self.at_ns = self.at_ns.max(arrived_ns) + work_ns.ceil() as u64;
            room_ns = self.at_ns;
        }
        self.written_bytes += u64::from(bytes);
        room_ns + self.tail.draw(self.ack_ns)
    }

    fn flush(&mut self, now_ns: u64) -> u64 {
        let start_ns = self.link_ns.max(now_ns);
        self.pass(start_ns);
        if self.lies {
            self.lied += 1;
            return start_ns + self.tail.draw(self.ack_ns);
        }
        let work_ns = self.dirty_ns.ceil() as u64;
        self.clean(self.dirty_ns);
        self.at_ns = self.at_ns.max(start_ns) + work_ns + self.commit_ns;
        self.at_ns
    }
}

impl Mechanism for Volatile {
    fn submit(&mut self, now_ns: u64, op: &SimOp) -> SimAnswer {
        let at_ns = match op.kind {
            OpKind::Read => self.flash.read(now_ns, op.offset, op.bytes),
            OpKind::Write => self.write(now_ns, op.bytes),
            OpKind::Trim => self.flash.trim(now_ns, op.offset, op.bytes),
            _ => self.flush(now_ns),
        };
        SimAnswer::Ends(SimEnd {
            at_ns,
            result: Ok(op.bytes),
        })
    }

    fn capacity_bytes(&self) -> u64 {
        self.flash.capacity_bytes()
    }

    fn expected(&self) -> Expected {
        let fast = self.write_mibs * MIB;
        let medium = self.media_mibs * MIB;
        let background = medium * self.background;
        let transfer_ns = transfer_ns(4096, self.write_mibs) as f64;
        Expected {
            late_write_bytes_per_second: Some(medium.min(fast)),
            write_4k: Some(self.tail.latency(self.ack_ns as f64, transfer_ns)),
            cache_bytes: Some(self.cache_bytes),
            cliff_bytes: (background < fast).then(|| self.cache_bytes / (1.0 - background / fast)),
            ..self.flash.expected()
        }
    }

    fn inside(&self, now_ns: u64) -> Inside {
        Inside {
            media_write_bytes: Some(self.media_write_bytes as u64),
            dirty_bytes: self.dirty_bytes as u64,
            cliff_at_bytes: self.cliff_at_bytes,
            lies: self.lied,
            ..self.flash.inside(now_ns)
        }
    }
}
