//! Payload that is generated while earlier operations are in flight.
//!
//! Between the end of one operation and the start of the next a drive has
//! nothing to do, so what takes long must not lie there. For blocks of some
//! size a worker has a few buffers more than operations. While it would only
//! wait, it draws the operations to come and fills their blocks, a small part at
//! a time; between two parts it looks whether something has ended, so that no
//! latency contains more than one part. A drawn operation keeps its buffer until
//! it is queued, when it changes buffers with its slot: nothing is copied.
//!
//! This needs an engine whose operations go on while the worker does something
//! else. Synchronous ones move the bytes in the worker's own thread: there,
//! and below [`LEAST_BLOCK_BYTES`], payload is generated between operations.

use std::collections::VecDeque;

use fathom_model::OpKind;

use super::Worker;
use crate::access::Access;

/// Smaller blocks are filled faster than the extra system call of handing an
/// operation over apart from waiting takes to pay.
const LEAST_BLOCK_BYTES: u64 = 16 << 10;
/// What is filled between two looks at the engine: about a microsecond.
const PART_BYTES: usize = 16 << 10;
/// Most that the additional buffers of one worker take, unless it is a single one.
const WORKER_BYTES: u64 = 4 << 20;
/// Most that the additional buffers of all workers take.
const GROUP_BYTES: u64 = 64 << 20;

/// Buffers that each of `workers` workers gets beyond one per operation; 0
/// when generating payload ahead is not worth the memory.
pub(crate) fn spare_buffers(depth: u32, block_bytes: u64, workers: u32) -> u32 {
    if block_bytes < LEAST_BLOCK_BYTES {
        return 0;
    }
    let of_worker = (WORKER_BYTES / block_bytes).clamp(1, u64::from(depth));
    let of_group = GROUP_BYTES / u64::from(workers.max(1)) / block_bytes;
    of_worker.min(of_group) as u32
}

/// An operation to come.
#[derive(Debug)]
struct Drawn {
    access: Access,
    buffer: u32,
    /// Number of its payload.
    number: u64,
    filled: u32,
}

impl Drawn {
    fn is_complete(&self) -> bool {
        self.filled == self.access.bytes
    }
}

/// Which buffer belongs to which operation, and the operations to come.
#[derive(Debug)]
pub(crate) struct Ahead {
    /// The buffer of each slot's operation.
    buffer_of: Box<[u32]>,
    spare: Vec<u32>,
    /// In the order in which they were drawn. All but the last are complete.
    drawn: VecDeque<Drawn>,
    on: bool,
}

impl Ahead {
    /// For `depth` slots, which start with the first buffers, and `buffers` in all.
    pub(crate) fn new(depth: u32, buffers: u32) -> Ahead {
        debug_assert!(buffers >= depth, "{buffers} buffers for {depth} slots");
        let spare: Vec<u32> = (depth..buffers).collect();
        Ahead {
            buffer_of: (0..=depth).collect(),
            drawn: VecDeque::with_capacity(spare.len()),
            on: !spare.is_empty(),
            spare,
        }
    }

    /// Whether there are buffers to generate payload into ahead.
    #[inline]
    pub(crate) fn is_on(&self) -> bool {
        self.on
    }

    /// The buffer of the operation in a slot.
    #[inline]
    pub(crate) fn buffer_of(&self, slot: u32) -> u32 {
        self.buffer_of[slot as usize]
    }

    /// Whether an operation is drawn with all of its payload.
    #[inline]
    pub(crate) fn is_ready(&self) -> bool {
        self.drawn.front().is_some_and(Drawn::is_complete)
    }

    /// Whether there is payload left to generate.
    fn is_wanting(&self) -> bool {
        !self.spare.is_empty() || self.drawn.back().is_some_and(|last| !last.is_complete())
    }

    /// Gives the next operation and its buffer to a slot.
    fn take(&mut self, slot: u32) -> Option<Access> {
        let next = self.drawn.pop_front()?;
        // Otherwise the tail of the block before would be written once more.
        debug_assert!(next.is_complete(), "a block without all of its payload");
        let of_slot = &mut self.buffer_of[slot as usize];
        self.spare.push(std::mem::replace(of_slot, next.buffer));
        Some(next.access)
    }
}

impl Worker {
    /// Whether there is payload to generate while operations are in flight.
    #[inline]
    pub(crate) fn has_payload_to_generate(&self) -> bool {
        self.ahead.is_on() && !self.draining && self.ahead.is_wanting()
    }

    /// Whether the next operation waits for its payload alone, which is then
    /// generated in parts because others are in flight.
    #[inline]
    pub(crate) fn awaits_payload(&self) -> bool {
        self.ahead.is_on() && self.in_flight > 0 && !self.ahead.is_ready()
    }

    /// Whether an operation that is ready has a slot to go into.
    pub(crate) fn can_go_on(&self) -> bool {
        self.ready.is_none() && self.ahead.is_ready() && self.free.next_ready_ns() == Some(0)
    }

    /// Generates a part of the payload to come, after drawing its operation
    /// if need be.
    pub(crate) fn generate_part(&mut self) {
        if self.ahead.drawn.back().is_none_or(Drawn::is_complete) {
            let Some(buffer) = self.ahead.spare.pop() else {
                return;
            };
            let access = self.stream.next();
            let payload = self.payload.as_mut();
            let payload = payload.filter(|_| access.kind == OpKind::Write);
            self.ahead.drawn.push_back(Drawn {
                access,
                buffer,
                filled: if payload.is_some() { 0 } else { access.bytes },
                number: payload.map_or(0, crate::payload::PayloadPool::take_number),
            });
        }
        if let Some(last) = self.ahead.drawn.back_mut()
            && let Some(payload) = &mut self.payload
            && !last.is_complete()
        {
            let block = self.buffers.block(last.buffer, last.access.bytes);
            let from = last.filled as usize;
            let to = block.len().min(from + PART_BYTES);
            payload.fill_part(last.number, last.access.offset, from, &mut block[from..to]);
            last.filled = to as u32;
        }
    }

    /// The next operation, complete, for a slot.
    #[inline(never)]
    pub(crate) fn take_ahead(&mut self, slot: u32) -> Access {
        loop {
            if self.ahead.is_ready()
                && let Some(access) = self.ahead.take(slot)
            {
                return access;
            }
            self.generate_part();
        }
    }
}

#[cfg(test)]
#[path = "ahead_tests.rs"]
mod tests;
