//! The write cache of a hard disk: what is acknowledged and not yet on the
//! medium, in the order of places, so that the head can sweep over it.

use std::collections::BTreeMap;

use super::super::parameter::Parameters;
use super::super::{SimOp, transfer_ns};

pub(super) struct WriteCache {
    capacity_bytes: u64,
    take_ns: u64,
    link_mibs: f64,
    /// Length by offset.
    dirty: BTreeMap<u64, u32>,
    dirty_bytes: u64,
    hits: u64,
}

impl WriteCache {
    /// `None` when the disk has none.
    pub(super) fn new(parameters: &Parameters) -> Option<WriteCache> {
        let capacity_bytes = parameters.whole("cache");
        (capacity_bytes > 0).then(|| WriteCache {
            capacity_bytes,
            take_ns: parameters.us("cache_us"),
            link_mibs: parameters.get("link_mibs"),
            dirty: BTreeMap::new(),
            dirty_bytes: 0,
            hits: 0,
        })
    }

    pub(super) fn capacity_bytes(&self) -> u64 {
        self.capacity_bytes
    }

    /// Time to move so many bytes into or out of the cache.
    pub(super) fn take_ns(&self, bytes: u32) -> u64 {
        self.take_ns + transfer_ns(bytes, self.link_mibs)
    }

    /// Takes a write if there is room; one that is larger than the cache, if it
    /// is empty. A write to the place of another replaces it.
    pub(super) fn put(&mut self, op: &SimOp) -> bool {
        let replaced = self.dirty.get(&op.offset).copied().unwrap_or(0);
        let after = self.dirty_bytes - u64::from(replaced) + u64::from(op.bytes.max(replaced));
        if after > self.capacity_bytes && !self.dirty.is_empty() {
            return false;
        }
        self.dirty.insert(op.offset, op.bytes.max(replaced));
        self.dirty_bytes = after;
        true
    }

    /// Whether all that is read lies in one entry.
    pub(super) fn answers(&mut self, op: &SimOp) -> bool {
        let end = op.offset + u64::from(op.bytes);
        let entry = self.dirty.range(..=op.offset).next_back();
        let hit = entry.is_some_and(|(offset, bytes)| offset + u64::from(*bytes) >= end);
        self.hits += u64::from(hit);
        hit
    }

    /// Takes out what the head reaches next on its way inward; at the end of
    /// the way it starts again outside.
    pub(super) fn take_next(&mut self, head: u64) -> Option<(u64, u32)> {
        let ahead = self.dirty.range(head..).next();
        let (&offset, &bytes) = ahead.or_else(|| self.dirty.iter().next())?;
        self.dirty.remove(&offset);
        self.dirty_bytes -= u64::from(bytes);
        Some((offset, bytes))
    }

    pub(super) fn is_dirty(&self) -> bool {
        !self.dirty.is_empty()
    }

    /// Reads that were answered, bytes that are not yet on the medium.
    pub(super) fn counts(&self) -> (u64, u64) {
        (self.hits, self.dirty_bytes)
    }
}
