//! Staying in one zone for so many bytes, then going on to the next.

use fathom_model::unit::bytes_exact;
use fathom_model::workload::ZoneWalk;

use super::ground::Ground;
use crate::Error;

/// Which zone accesses are in.
#[derive(Debug, Clone)]
pub(super) struct CurrentZone {
    stay_bytes: u64,
    /// From the start of one zone to that of the next.
    step_bytes: u64,
    zone_bytes: u64,
    span: u64,
    /// Start of the zone.
    at: u64,
    moved_bytes: u64,
}

impl CurrentZone {
    /// Zones of the ground's whole span.
    pub(super) fn new(walk: &ZoneWalk, ground: &Ground) -> Result<CurrentZone, Error> {
        if walk.stay_bytes == 0 || walk.zone_bytes < ground.max_block {
            return Err(Error::Workload(format!(
                "zones of {} with {} moved in each: a zone holds at least one block of {}, and \
                 something is moved in it",
                bytes_exact(walk.zone_bytes),
                bytes_exact(walk.stay_bytes),
                bytes_exact(ground.max_block),
            )));
        }
        let align = |bytes: u64| bytes.div_ceil(ground.align).saturating_mul(ground.align);
        Ok(CurrentZone {
            stay_bytes: walk.stay_bytes,
            step_bytes: align(walk.zone_bytes.saturating_add(walk.skip_bytes)),
            zone_bytes: walk.zone_bytes.min(ground.span),
            span: ground.span,
            at: 0,
            moved_bytes: 0,
        })
    }

    /// Takes a block of `bytes` into the zone; true when it is the first one of
    /// another zone.
    #[inline]
    pub(super) fn take(&mut self, bytes: u64) -> bool {
        let moves_on = self.moved_bytes >= self.stay_bytes;
        if moves_on {
            self.moved_bytes = 0;
            self.at = self.at.saturating_add(self.step_bytes);
            // The rest behind the last whole zone is none.
            if self.at.saturating_add(self.zone_bytes) > self.span {
                self.at = 0;
            }
        }
        self.moved_bytes += bytes;
        moves_on
    }

    /// Start of the zone.
    #[inline]
    pub(super) fn start(&self) -> u64 {
        self.at
    }
}
