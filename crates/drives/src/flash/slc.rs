//! The fast write cache of a consumer drive, as a bucket that leaks.
//!
//! In its simple form it empties all the time, so a full cache takes writes as
//! fast as it empties. With a folded rate, writes that find it full go past it at
//! that rate, and it empties only when the host is quiet.

use super::super::MIB;
use super::super::parameter::Parameters;

pub(super) struct SlcCache {
    bytes: f64,
    drain_bytes_per_ns: f64,
    folded: Option<Folded>,
    filled: f64,
    at_ns: u64,
}

/// Writes past a full cache.
struct Folded {
    bytes_per_ns: f64,
    idle_ns: u64,
    /// When the path past the cache is free.
    free_ns: f64,
    last_write_ns: u64,
}

impl SlcCache {
    /// `None` for a model that has no such cache.
    pub(super) fn new(parameters: &Parameters) -> Option<SlcCache> {
        let drain_mibs = parameters.get("drain_mibs");
        let folded_mibs = parameters.get("folded_mibs");
        (drain_mibs > 0.0).then(|| SlcCache {
            bytes: parameters.get("cache"),
            drain_bytes_per_ns: drain_mibs * MIB / 1e9,
            folded: (folded_mibs > 0.0).then(|| Folded {
                bytes_per_ns: folded_mibs * MIB / 1e9,
                idle_ns: (parameters.get("idle_ms") * 1e6) as u64,
                free_ns: 0.0,
                last_write_ns: 0,
            }),
            filled: 0.0,
            at_ns: 0,
        })
    }

    /// A buffer that empties all the time.
    pub(super) fn bucket(bytes: f64, drain_mibs: f64) -> SlcCache {
        SlcCache {
            bytes,
            drain_bytes_per_ns: drain_mibs * MIB / 1e9,
            folded: None,
            filled: 0.0,
            at_ns: 0,
        }
    }

    /// When so many bytes have been taken in.
    pub(super) fn room_at(&mut self, now_ns: u64, bytes: u32) -> u64 {
        let bytes = f64::from(bytes);
        let now_ns = now_ns.max(self.at_ns);
        let Some(folded) = &mut self.folded else {
            let drained = (now_ns - self.at_ns) as f64 * self.drain_bytes_per_ns;
            self.filled = (self.filled - drained).max(0.0) + bytes;
            let over = self.filled - self.bytes;
            let wait_ns = if over > 0.0 {
                self.filled = self.bytes;
                (over / self.drain_bytes_per_ns) as u64
            } else {
                0
            };
            self.at_ns = now_ns + wait_ns;
            return self.at_ns;
        };
        let quiet_ns = now_ns
            .saturating_sub(folded.last_write_ns)
            .saturating_sub(folded.idle_ns);
        self.filled = (self.filled - quiet_ns as f64 * self.drain_bytes_per_ns).max(0.0);
        self.at_ns = now_ns;
        let done_ns = if self.filled + bytes <= self.bytes {
            self.filled += bytes;
            now_ns
        } else {
            folded.free_ns = folded.free_ns.max(now_ns as f64) + bytes / folded.bytes_per_ns;
            folded.free_ns as u64
        };
        folded.last_write_ns = done_ns;
        done_ns
    }

    pub(super) fn bytes(&self) -> f64 {
        self.bytes
    }

    /// Rate of writes that find it full.
    pub(super) fn late_bytes_per_second(&self) -> f64 {
        let folded = self.folded.as_ref();
        folded.map_or(self.drain_bytes_per_ns, |folded| folded.bytes_per_ns) * 1e9
    }

    /// Bytes that an empty cache takes at a rate before it is full; `None` when
    /// it empties as fast.
    pub(super) fn cliff_bytes(&self, bytes_per_second: f64) -> Option<f64> {
        let drain = match self.folded {
            Some(_) => 0.0,
            None => self.drain_bytes_per_ns * 1e9,
        };
        (drain < bytes_per_second).then(|| self.bytes / (1.0 - drain / bytes_per_second))
    }
}
