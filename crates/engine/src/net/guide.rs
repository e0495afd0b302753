//! What one end of a load does, and what the loops of its connections look at.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use fathom_model::network::LoadSpec;

use crate::clock::{Clock, HostClock};
use crate::worker::Pace;

/// What an end does with its connections.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EndRole {
    /// Sends streams, or asks.
    Active,
    /// Receives streams, or answers.
    Passive,
}

/// What is to be done at one end.
#[derive(Debug, Clone)]
pub struct EndWork {
    /// The load.
    pub spec: LoadSpec,
    /// The part of this end.
    pub part: EndRole,
    /// Ends the load early when raised.
    pub stop: Arc<AtomicBool>,
    /// Bytes that may still be moved, shared by all who draw on them; `None`
    /// sets no bound.
    pub allowance: Option<Arc<AtomicU64>>,
}

/// What the loops of a connection look at besides its data.
pub(super) struct Guide<'a> {
    pub(super) work: &'a EndWork,
    pub(super) clock: HostClock,
    pub(super) hard_end_ns: u64,
}

/// A block that is due.
pub(super) struct Due {
    pub(super) due_ns: u64,
    pub(super) now_ns: u64,
}

/// Time between blocks of `bytes` at `bits` per second.
pub(super) fn gap_ns(bits: u64, bytes: u32) -> f64 {
    f64::from(bytes) * 8e9 / bits.max(1) as f64
}

impl Guide<'_> {
    /// Waits until the next block of a schedule is due, and moves on to the one
    /// behind it; `None`, at the end, when none is due before.
    pub(super) fn wait_until_due(&self, pace: &mut Pace, now_ns: u64, end_ns: u64) -> Option<Due> {
        let due_ns = pace.next_ns();
        if due_ns >= end_ns {
            self.clock.sleep_until(end_ns);
            return None;
        }
        if due_ns > now_ns {
            self.clock.sleep_until(due_ns);
        }
        pace.advance(0);
        Some(Due {
            due_ns,
            now_ns: self.clock.now(),
        })
    }

    /// Whether a call that timed out is to be given up.
    pub(super) fn gives_up(&self) -> bool {
        self.stopped() || self.clock.now() >= self.hard_end_ns
    }

    /// Whether somebody asked for the end.
    #[inline]
    pub(super) fn stopped(&self) -> bool {
        self.work.stop.load(Ordering::Relaxed)
    }

    /// Draws on what may be moved.
    #[inline]
    pub(super) fn allow(&self, bytes: usize) -> io::Result<()> {
        let Some(allowance) = &self.work.allowance else {
            return Ok(());
        };
        let bytes = bytes as u64;
        let take = |left: u64| left.checked_sub(bytes);
        match allowance.fetch_update(Ordering::Relaxed, Ordering::Relaxed, take) {
            Ok(_) => Ok(()),
            Err(_) => Err(io::Error::other(
                "the bytes that the owner of the server allows are used up",
            )),
        }
    }
}
