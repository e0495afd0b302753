//! What the drive did, recorded as it replies.

use std::collections::BTreeMap;
use std::time::{SystemTime, UNIX_EPOCH};

use fathom_model::OpKind;
use fathom_model::histogram::Histogram;

use crate::truth::{OperationTruth, RegionTruth, SecondTruth, SpellTruth};

/// Parts of the drive that are counted apart.
const REGIONS: u64 = 16;

/// A pause this long ends a spell.
const PAUSE_NS: u64 = 10_000_000;

/// Spells that are recorded at most; later ones lengthen the last.
const SPELLS_MAX: usize = 10_000;

/// Seconds that are recorded at most: a week.
const SECONDS_MAX: usize = 7 * 86_400;

/// A reply is late when it was sent later than this share of its latency …
pub(super) const TOLERANCE: f64 = 0.02;

/// … and later than this.
pub(super) const FLOOR_NS: u64 = 50_000;

/// An operation that was answered. Times are nanoseconds since the mount.
#[derive(Debug, Clone, Copy)]
pub(super) struct Answered {
    pub(super) kind: OpKind,
    pub(super) offset: u64,
    /// Bytes moved, or the errno.
    pub(super) result: Result<u64, i32>,
    pub(super) arrived_ns: u64,
    /// How long the model says that it takes.
    pub(super) modelled_ns: u64,
    /// How late the reply was sent.
    pub(super) late_ns: u64,
    /// Latency as a program should have seen it.
    pub(super) delivered_ns: u64,
    pub(super) sent_ns: u64,
    /// The model never ends it.
    pub(super) stuck: bool,
}

#[derive(Debug, Default)]
struct OfKind {
    ops: u64,
    bytes: u64,
    errors: BTreeMap<i32, u64>,
    stuck: u64,
    modelled: Histogram,
    delivered: Histogram,
}

/// Everything since the mount.
#[derive(Debug)]
pub(super) struct Record {
    pub(super) mounted_unix_ns: u64,
    region_bytes: u64,
    kinds: BTreeMap<&'static str, OfKind>,
    pub(super) spells: Vec<SpellTruth>,
    pub(super) seconds: Vec<SecondTruth>,
    pub(super) regions: Vec<RegionTruth>,
    pub(super) first_arrival_ns: Option<u64>,
    pub(super) last_reply_ns: Option<u64>,
    pub(super) replies: u64,
    pub(super) late: u64,
    pub(super) lateness: Histogram,
}

impl Record {
    pub(super) fn new(capacity_bytes: u64) -> Record {
        let region_bytes = capacity_bytes.div_ceil(REGIONS).max(1);
        let part = |n: u64| RegionTruth {
            offset: n * region_bytes,
            ..RegionTruth::default()
        };
        Record {
            mounted_unix_ns: unix_ns(),
            region_bytes,
            kinds: BTreeMap::new(),
            spells: Vec::new(),
            seconds: Vec::new(),
            regions: (0..REGIONS).map(part).collect(),
            first_arrival_ns: None,
            last_reply_ns: None,
            replies: 0,
            late: 0,
            lateness: Histogram::new(),
        }
    }

    /// Counts an arrival that will never be answered by the drive itself.
    pub(super) fn stuck(&mut self, kind: OpKind) {
        self.kinds.entry(kind.name()).or_default().stuck += 1;
    }

    pub(super) fn add(&mut self, op: &Answered) {
        let first = self.first_arrival_ns.get_or_insert(op.arrived_ns);
        *first = op.arrived_ns.min(*first);
        self.last_reply_ns = self.last_reply_ns.max(Some(op.sent_ns));
        self.by_spell(op);
        let of_kind = self.kinds.entry(op.kind.name()).or_default();
        match op.result {
            Ok(bytes) => {
                of_kind.ops += 1;
                of_kind.bytes += bytes;
                of_kind.modelled.record(op.modelled_ns);
                of_kind.delivered.record(op.delivered_ns);
                self.by_second(op, bytes);
                self.by_region(op, bytes);
            }
            Err(errno) => *of_kind.errors.entry(errno).or_default() += 1,
        }
        if op.stuck {
            return;
        }
        self.replies += 1;
        self.lateness.record(op.late_ns);
        let allowed = (op.modelled_ns as f64 * TOLERANCE) as u64;
        if op.late_ns > allowed.max(FLOOR_NS) {
            self.late += 1;
        }
    }

    fn by_spell(&mut self, op: &Answered) {
        let full = self.spells.len() >= SPELLS_MAX;
        let paused = |last: &SpellTruth| op.arrived_ns > last.to_ns.saturating_add(PAUSE_NS);
        if self.spells.last().is_none_or(|last| paused(last) && !full) {
            self.spells.push(SpellTruth {
                from_ns: op.arrived_ns,
                ..SpellTruth::default()
            });
        }
        let Some(spell) = self.spells.last_mut() else {
            return;
        };
        spell.from_ns = spell.from_ns.min(op.arrived_ns);
        spell.to_ns = spell.to_ns.max(op.sent_ns);
        spell.replies += 1;
        let well = u64::from(op.result.is_ok());
        match op.kind {
            OpKind::Read => spell.read_ops += well,
            OpKind::Write => spell.write_ops += well,
            _ => {}
        }
    }

    fn by_second(&mut self, op: &Answered, bytes: u64) {
        let second = op.sent_ns / 1_000_000_000;
        if self.seconds.last().is_none_or(|last| last.second < second) {
            if self.seconds.len() >= SECONDS_MAX {
                return;
            }
            self.seconds.push(SecondTruth {
                second,
                ..SecondTruth::default()
            });
        }
        let Some(row) = self.seconds.last_mut() else {
            return;
        };
        match op.kind {
            OpKind::Read => {
                row.read_ops += 1;
                row.read_bytes += bytes;
            }
            OpKind::Write => {
                row.write_ops += 1;
                row.write_bytes += bytes;
            }
            _ => {}
        }
    }

    fn by_region(&mut self, op: &Answered, bytes: u64) {
        let index = (op.offset / self.region_bytes) as usize;
        let Some(region) = self.regions.get_mut(index) else {
            return;
        };
        match op.kind {
            OpKind::Read => {
                region.read_ops += 1;
                region.read_bytes += bytes;
                region.read_ns += op.delivered_ns;
            }
            OpKind::Write => {
                region.write_ops += 1;
                region.write_bytes += bytes;
                region.write_ns += op.delivered_ns;
            }
            _ => {}
        }
    }

    pub(super) fn operations(&self) -> BTreeMap<String, OperationTruth> {
        let truth = |of: &OfKind| OperationTruth {
            ops: of.ops,
            bytes: of.bytes,
            errors: of.errors.clone(),
            stuck: of.stuck,
            modelled: (&of.modelled).into(),
            delivered: (&of.delivered).into(),
        };
        let named = self.kinds.iter();
        named
            .map(|(name, of)| ((*name).to_owned(), truth(of)))
            .collect()
    }
}

#[expect(clippy::disallowed_methods, reason = "the date of the record")]
fn unix_ns() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.map_or(0, |since| since.as_nanos() as u64)
}

#[cfg(test)]
mod tests {
    use fathom_model::OpKind;

    use super::{Answered, FLOOR_NS, Record};

    fn read(offset: u64, sent_ns: u64, late_ns: u64) -> Answered {
        Answered {
            kind: OpKind::Read,
            offset,
            result: Ok(4096),
            arrived_ns: sent_ns - 1_000_000,
            modelled_ns: 1_000_000,
            late_ns,
            delivered_ns: 1_000_000 + late_ns,
            sent_ns,
            stuck: false,
        }
    }

    #[test]
    fn counts_by_kind_second_and_place() {
        let mut record = Record::new(1 << 20);
        record.add(&read(0, 1_500_000_000, 0));
        record.add(&read((1 << 20) - 4096, 3_100_000_000, 0));
        record.add(&Answered {
            result: Err(libc::EIO),
            ..read(0, 3_200_000_000, 0)
        });
        let operations = record.operations();
        assert_eq!(operations["read"].ops, 2);
        assert_eq!(operations["read"].bytes, 8192);
        assert_eq!(operations["read"].errors[&libc::EIO], 1);
        assert_eq!(
            operations["read"].delivered.count, 2,
            "errors are no latency"
        );
        let seconds: Vec<u64> = record.seconds.iter().map(|row| row.second).collect();
        assert_eq!(seconds, [1, 3]);
        let spells: Vec<u64> = record.spells.iter().map(|spell| spell.replies).collect();
        assert_eq!(spells, [1, 1, 1], "pauses of 10 ms and more part them");
        assert_eq!(record.regions[0].read_ops, 1);
        assert_eq!(record.regions[15].read_bytes, 4096);
        assert_eq!(record.first_arrival_ns, Some(1_499_000_000));
        assert_eq!(record.last_reply_ns, Some(3_200_000_000));
    }

    #[test]
    fn a_reply_is_late_beyond_both_bounds() {
        let mut record = Record::new(1 << 20);
        record.add(&read(0, 2_000_000, FLOOR_NS));
        assert_eq!(record.late, 0, "5 % late, but within the floor");
        record.add(&read(0, 3_000_000, FLOOR_NS + 1));
        assert_eq!((record.late, record.replies), (1, 2));
    }
}
