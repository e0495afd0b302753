//! A thin-provisioned volume: regions exist from their first write on. That
//! write waits for its region to be allocated, one region at a time; reads of
//! what was never written are answered without any medium.

use std::collections::BTreeMap;
use std::ops::Range;

use fathom_model::OpKind;

use super::flash::{Flash, Write, flash_parameters};
use super::mechanism::Mechanism;
use super::parameter::{Parameter, Parameters};
use super::truth::{Expected, Inside};
use super::{SimAnswer, SimEnd, SimOp};

#[rustfmt::skip]
pub(super) const PARAMETERS: &[Parameter] = flash_parameters![
    Parameter::bytes("extent", 1_048_576.0, 65_536.0, "size of a region"),
    Parameter::number("alloc_us", 800.0, 0.0, 1e9, "time to allocate a region; one at a time"),
    Parameter::number("hole_us", 8.0, 0.0, 1e9, "time of a read of what was never written"),
];

pub(super) struct Thin {
    flash: Flash,
    extent_bytes: u64,
    alloc_ns: u64,
    hole_ns: u64,
    written: Extents,
    allocator_free_ns: u64,
    allocations: u64,
    hole_reads: u64,
}

impl Thin {
    pub(super) fn new(parameters: &Parameters, seed: u64) -> Thin {
        Thin {
            flash: Flash::new(parameters, seed),
            extent_bytes: parameters.whole("extent"),
            alloc_ns: parameters.us("alloc_us"),
            hole_ns: parameters.us("hole_us"),
            written: Extents::default(),
            allocator_free_ns: 0,
            allocations: 0,
            hole_reads: 0,
        }
    }

    /// First extent that an operation touches and the one after its last.
    fn touched(&self, op: &SimOp) -> (u64, u64) {
        let end = op.offset + u64::from(op.bytes);
        (
            op.offset / self.extent_bytes,
            end.div_ceil(self.extent_bytes),
        )
    }

    fn read(&mut self, now_ns: u64, op: &SimOp) -> u64 {
        let (first, end) = self.touched(op);
        if (first..end).any(|extent| self.written.contains(extent)) {
            return self.flash.read(now_ns, op.offset, op.bytes);
        }
        self.hole_reads += 1;
        now_ns + self.hole_ns
    }

    fn write(&mut self, now_ns: u64, op: &SimOp) -> u64 {
        let (first, end) = self.touched(op);
        let mut ready_ns = now_ns;
        for extent in first..end {
            if self.written.set(extent, true) {
                self.allocations += 1;
                ready_ns = self.allocator_free_ns.max(now_ns) + self.alloc_ns;
                self.allocator_free_ns = ready_ns;
            }
        }
        self.flash.carry_out(
            now_ns,
            Write {
                offset: op.offset,
                bytes: op.bytes,
                stored: op.bytes,
                ready_ns,
            },
        )
    }

    /// Extents that lie wholly within the range are given back.
    fn trim(&mut self, now_ns: u64, op: &SimOp) -> u64 {
        let first = op.offset.div_ceil(self.extent_bytes);
        let end = (op.offset + u64::from(op.bytes)) / self.extent_bytes;
        for extent in first..end {
            self.written.set(extent, false);
        }
        self.flash.trim(now_ns, op.offset, op.bytes)
    }
}

impl Mechanism for Thin {
    fn submit(&mut self, now_ns: u64, op: &SimOp) -> SimAnswer {
        let at_ns = match op.kind {
            OpKind::Read => self.read(now_ns, op),
            OpKind::Write => self.write(now_ns, op),
            OpKind::Trim => self.trim(now_ns, op),
            _ => self.flash.flush(now_ns),
        };
        SimAnswer::Ends(SimEnd {
            at_ns,
            result: Ok(op.bytes),
        })
    }

    fn capacity_bytes(&self) -> u64 {
        self.flash.capacity_bytes()
    }

    fn written_share(&self, start: u64, bytes: u64) -> Option<f64> {
        let first = start / self.extent_bytes;
        let end = start.saturating_add(bytes).div_ceil(self.extent_bytes);
        let extents = end.saturating_sub(first).max(1);
        Some(self.written.count_in(first..end) as f64 / extents as f64)
    }

    fn expected(&self) -> Expected {
        self.flash.expected()
    }

    fn inside(&self, now_ns: u64) -> Inside {
        Inside {
            allocations: self.allocations,
            hole_reads: self.hole_reads,
            ..self.flash.inside(now_ns)
        }
    }
}

/// Words of bits that are kept together.
const WORDS: u64 = 64;

/// A set of extents that takes memory only where extents are.
#[derive(Default)]
struct Extents {
    pages: BTreeMap<u64, Box<[u64; WORDS as usize]>>,
}

impl Extents {
    fn contains(&self, extent: u64) -> bool {
        let (page, word, bit) = place(extent);
        self.pages
            .get(&page)
            .is_some_and(|words| words[word] & bit != 0)
    }

    /// How many extents of a range are in it.
    fn count_in(&self, range: Range<u64>) -> usize {
        let pages = range.start / (64 * WORDS)..range.end.div_ceil(64 * WORDS);
        let words = self.pages.range(pages).flat_map(|(page, words)| {
            let first = page * WORDS;
            (first..).zip(words.iter())
        });
        words
            .map(|(word, bits)| {
                let within = |bit: &u64| bits >> bit & 1 == 1 && range.contains(&(word * 64 + bit));
                (0..64).filter(within).count()
            })
            .sum()
    }

    /// Adds or removes one; says whether that changed anything.
    fn set(&mut self, extent: u64, is_in: bool) -> bool {
        if self.contains(extent) == is_in {
            return false;
        }
        let (page, word, bit) = place(extent);
        let words = self
            .pages
            .entry(page)
            .or_insert_with(|| Box::new([0; WORDS as usize]));
        words[word] ^= bit;
        true
    }
}

fn place(extent: u64) -> (u64, usize, u64) {
    let word = extent / 64;
    (word / WORDS, (word % WORDS) as usize, 1 << (extent % 64))
}
