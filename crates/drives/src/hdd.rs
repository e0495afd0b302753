//! A hard disk: one head that seeks, waits for the sector to come round and
//! then moves data at the speed of their zone.
//!
//! Seek time grows with the square root of the distance (Ruemmler, Wilkes, "An
//! introduction to disk drive modeling", 1994). The transfer rate falls from the
//! outer to the inner zone, linearly or in steps. Out of the first `ncq`
//! operations that wait, the one with the shortest positioning time is next
//! (Jacobson, Wilkes, "Disk scheduling algorithms based on rotational position",
//! 1991), unless the oldest has waited too long.

mod cache;

use fathom_model::OpKind;

use self::cache::WriteCache;
use super::mechanism::Mechanism;
use super::parameter::{Parameter, Parameters};
use super::truth::{Expected, Inside, Zone};
use super::{MIB, SimAnswer, SimEnd, SimOp, transfer_ns};

/// Steps in which the truth gives a rate that falls in a straight line.
const LINE_STEPS: u64 = 200;

#[rustfmt::skip]
pub(super) const PARAMETERS: &[Parameter] = &[
    Parameter::size(8e12),
    Parameter::number("rpm", 7200.0, 100.0, 100_000.0, "turns per minute"),
    Parameter::number("seek_min_ms", 0.6, 0.0, 1000.0, "shortest seek"),
    Parameter::number("seek_max_ms", 16.0, 0.0, 1000.0, "seek across the whole disk"),
    Parameter::number("outer_mibs", 250.0, 0.1, 1e6, "media rate at the start of the disk, MiB/s"),
    Parameter::number("inner_mibs", 120.0, 0.1, 1e6, "media rate at its end, MiB/s"),
    Parameter::number("zones", 0.0, 0.0, 1000.0, "steps of the rate from outer to inner; 0 is a straight line"),
    Parameter::bytes("cache", 0.0, 0.0, "write cache; 0 is none"),
    Parameter::number("cache_us", 30.0, 0.0, 1e6, "time to take a write into the cache"),
    Parameter::number("link_mibs", 550.0, 0.1, 1e6, "rate of the link to the cache, MiB/s"),
    Parameter::number("ncq", 1.0, 1.0, 1024.0, "operations out of which the disk picks the next; 1 is none"),
];

/// Errno of operations that a device does not have.
const EOPNOTSUPP: i32 = libc::EOPNOTSUPP;
/// What has waited this long is next.
const AGE_MAX_NS: u64 = 1_000_000_000;

/// An operation that waits for the head, or for room in the cache.
#[derive(Debug, Clone, Copy)]
struct Waiting {
    number: u64,
    since_ns: u64,
    op: SimOp,
}

pub(super) struct Hdd {
    capacity_bytes: u64,
    turn_ns: f64,
    seek_min_ns: f64,
    seek_max_ns: f64,
    outer_mibs: f64,
    inner_mibs: f64,
    zones: u64,
    ncq: usize,
    cache: Option<WriteCache>,
    /// In the order of arrival.
    waiting: Vec<Waiting>,
    known: Vec<(u64, SimEnd)>,
    next_number: u64,
    /// Where the last operation ended.
    head: u64,
    /// When the head is free.
    free_ns: u64,
    /// The last thing that the head did was for the host, not for the cache.
    served_host: bool,
    media_read_bytes: u64,
    media_write_bytes: u64,
}

impl Hdd {
    pub(super) fn new(parameters: &Parameters) -> Hdd {
        let seek_min_ns = parameters.get("seek_min_ms") * 1e6;
        Hdd {
            capacity_bytes: parameters.whole("size"),
            turn_ns: 60e9 / parameters.get("rpm"),
            seek_min_ns,
            seek_max_ns: (parameters.get("seek_max_ms") * 1e6).max(seek_min_ns),
            outer_mibs: parameters.get("outer_mibs"),
            inner_mibs: parameters.get("inner_mibs"),
            zones: parameters.whole("zones"),
            ncq: parameters.whole("ncq").max(1) as usize,
            cache: WriteCache::new(parameters),
            waiting: Vec::new(),
            known: Vec::new(),
            next_number: 0,
            head: 0,
            free_ns: 0,
            served_host: false,
            media_read_bytes: 0,
            media_write_bytes: 0,
        }
    }

    /// Media rate at an offset, in MiB/s.
    fn rate_at(&self, offset: u64) -> f64 {
        let depth = (offset as f64 / self.capacity_bytes as f64).min(1.0);
        let depth = match self.zones {
            0 => depth,
            1 => 0.0,
            zones => {
                let last = (zones - 1) as f64;
                (depth * zones as f64).floor().min(last) / last
            }
        };
        self.outer_mibs + (self.inner_mibs - self.outer_mibs) * depth
    }

    /// Time to bring the head over an offset and wait for it to come round,
    /// from `start_ns`. Nothing when the head is there: the next sector of a
    /// sequence is read ahead.
    fn position_ns(&self, start_ns: u64, offset: u64) -> u64 {
        if offset == self.head {
            return 0;
        }
        let distance = offset.abs_diff(self.head) as f64 / self.capacity_bytes as f64;
        let seek_ns = self.seek_min_ns + (self.seek_max_ns - self.seek_min_ns) * distance.sqrt();
        let track_bytes = self.rate_at(offset) * MIB * self.turn_ns / 1e9;
        let place = (offset as f64 / track_bytes).fract();
        let platter = ((start_ns as f64 + seek_ns) / self.turn_ns).fract();
        let wait = (place - platter + 1.0).fract();
        (seek_ns + wait * self.turn_ns) as u64
    }

    /// The head moves data; it is free again afterwards.
    fn serve(&mut self, offset: u64, bytes: u32, write: bool) {
        let moved_ns = self.free_ns + self.position_ns(self.free_ns, offset);
        self.free_ns = moved_ns + transfer_ns(bytes, self.rate_at(offset));
        self.head = offset + u64::from(bytes);
        if write {
            self.media_write_bytes += u64::from(bytes);
        } else {
            self.media_read_bytes += u64::from(bytes);
        }
    }

    /// Whether the head itself serves this, rather than the cache.
    fn is_for_head(&self, op: &SimOp) -> bool {
        op.kind == OpKind::Read || (op.kind == OpKind::Write && self.cache.is_none())
    }

    /// Which of the operations that wait is next for the head.
    fn choose(&self) -> Option<usize> {
        // A flush without a cache is an end of the line: what came later waits.
        let line = self.waiting.iter().enumerate();
        let mut candidates = line
            .filter(|(_, w)| self.is_for_head(&w.op))
            .take(self.ncq)
            .peekable();
        let (oldest, first) = candidates.peek().copied()?;
        if self.ncq == 1 || self.free_ns.saturating_sub(first.since_ns) > AGE_MAX_NS {
            return Some(oldest);
        }
        let nearest = candidates.min_by_key(|(_, w)| self.position_ns(self.free_ns, w.op.offset));
        nearest.map(|(index, _)| index)
    }

    /// Does what the head can begin up to `now_ns`.
    fn run(&mut self, now_ns: u64) {
        self.settle_flushes();
        while self.free_ns <= now_ns {
            let pressed = self.waiting.iter().any(|w| !self.is_for_head(&w.op));
            let dirty = self.cache.as_ref().is_some_and(WriteCache::is_dirty);
            let next = self.choose();
            // Whoever waits for the cache gets every second turn of the head.
            let clean_first = dirty && (next.is_none() || (pressed && self.served_host));
            if clean_first {
                self.clean_one();
                self.served_host = false;
            } else if let Some(index) = next {
                let waiting = self.waiting.remove(index);
                let op = waiting.op;
                self.serve(op.offset, op.bytes, op.kind == OpKind::Write);
                self.tell(waiting.number, self.free_ns, op.bytes);
                self.served_host = true;
            } else {
                self.free_ns = now_ns;
                break;
            }
            self.admit_writes();
            self.settle_flushes();
        }
    }

    /// Writes one entry of the cache to the medium.
    fn clean_one(&mut self) {
        let head = self.head;
        let entry = self.cache.as_mut().and_then(|cache| cache.take_next(head));
        if let Some((offset, bytes)) = entry {
            self.serve(offset, bytes, true);
        }
    }

    /// Writes that waited for room go into the cache.
    fn admit_writes(&mut self) {
        let Some(cache) = &mut self.cache else {
            return;
        };
        while let Some(index) = self
            .waiting
            .iter()
            .position(|w| matches!(w.op.kind, OpKind::Write | OpKind::Sync))
        {
            let waiting = self.waiting[index];
            if waiting.op.kind != OpKind::Write || !cache.put(&waiting.op) {
                break;
            }
            let at_ns = self.free_ns.max(waiting.since_ns) + cache.take_ns(waiting.op.bytes);
            let end = SimEnd {
                at_ns,
                result: Ok(waiting.op.bytes),
            };
            self.known.push((waiting.number, end));
            self.waiting.remove(index);
        }
    }

    /// Ends the flushes before which nothing is left to be written.
    fn settle_flushes(&mut self) {
        while !self.cache.as_ref().is_some_and(WriteCache::is_dirty) {
            let mut changes = self.waiting.iter().enumerate();
            let Some((index, flush)) = changes.find(|(_, w)| w.op.kind != OpKind::Read) else {
                return;
            };
            if flush.op.kind == OpKind::Write {
                return;
            }
            let (number, since_ns) = (flush.number, flush.since_ns);
            self.waiting.remove(index);
            self.tell(number, self.free_ns.max(since_ns), 0);
            self.admit_writes();
        }
    }

    fn tell(&mut self, number: u64, at_ns: u64, bytes: u32) {
        let end = SimEnd {
            at_ns,
            result: Ok(bytes),
        };
        self.known.push((number, end));
    }

    /// What the cache alone can answer.
    fn at_once(&mut self, now_ns: u64, op: &SimOp) -> Option<SimEnd> {
        let unsupported = op.kind == OpKind::Trim;
        let queue_is_open = || {
            let mut changes = self.waiting.iter();
            !changes.any(|w| w.op.kind != OpKind::Read)
        };
        let open = queue_is_open();
        let end = |ns, result| SimEnd {
            at_ns: now_ns + ns,
            result,
        };
        if unsupported {
            return Some(end(10_000, Err(EOPNOTSUPP)));
        }
        let cache = self.cache.as_mut()?;
        let taken = match op.kind {
            OpKind::Write => open && cache.put(op),
            OpKind::Read => cache.answers(op),
            _ => false,
        };
        taken.then(|| end(cache.take_ns(op.bytes), Ok(op.bytes)))
    }
}

impl Mechanism for Hdd {
    fn submit(&mut self, now_ns: u64, op: &SimOp) -> SimAnswer {
        self.run(now_ns);
        if let Some(end) = self.at_once(now_ns, op) {
            return SimAnswer::Ends(end);
        }
        let number = self.next_number;
        self.next_number += 1;
        self.waiting.push(Waiting {
            number,
            since_ns: now_ns,
            op: *op,
        });
        self.run(now_ns);
        match self.known.iter().position(|(known, _)| *known == number) {
            Some(index) => SimAnswer::Ends(self.known.swap_remove(index).1),
            None => SimAnswer::Later(number),
        }
    }

    fn wake_ns(&self) -> Option<u64> {
        if !self.known.is_empty() {
            return Some(0);
        }
        (!self.waiting.is_empty()).then_some(self.free_ns)
    }

    fn advance(&mut self, now_ns: u64, known: &mut Vec<(u64, SimEnd)>) {
        self.run(now_ns);
        known.append(&mut self.known);
    }

    fn capacity_bytes(&self) -> u64 {
        self.capacity_bytes
    }

    fn expected(&self) -> Expected {
        let zones: Vec<u64> = match self.zones {
            // A straight line, in steps that are finer than anybody measures.
            0 => (0..=LINE_STEPS)
                .map(|step| {
                    let last = u128::from(self.capacity_bytes - 1);
                    (last * u128::from(step) / u128::from(LINE_STEPS)) as u64
                })
                .collect(),
            zones => (0..zones)
                .map(|zone| {
                    (u128::from(self.capacity_bytes) * u128::from(zone)).div_ceil(u128::from(zones))
                        as u64
                })
                .collect(),
        };
        let outer = self.outer_mibs * MIB;
        // The mean of √|x − y| for two random places is 8/15.
        let seek_ns = self.seek_min_ns + (self.seek_max_ns - self.seek_min_ns) * 8.0 / 15.0;
        Expected {
            random_read_mean_ns: Some(seek_ns + self.turn_ns / 2.0),
            read_bytes_per_second: Some(outer),
            write_bytes_per_second: Some(outer),
            cache_bytes: self
                .cache
                .as_ref()
                .map(|cache| cache.capacity_bytes() as f64),
            zones: zones
                .into_iter()
                .map(|start_byte| Zone {
                    start_byte,
                    bytes_per_second: self.rate_at(start_byte) * MIB,
                })
                .collect(),
            ..Expected::default()
        }
    }

    fn inside(&self, _now_ns: u64) -> Inside {
        let (hits, dirty_bytes) = self.cache.as_ref().map_or((0, 0), WriteCache::counts);
        Inside {
            media_write_bytes: Some(self.media_write_bytes),
            media_read_bytes: Some(self.media_read_bytes),
            cache_hits: hits,
            dirty_bytes,
            ..Inside::default()
        }
    }
}
