//! Zones side by side, each with a share of the accesses.

use fathom_model::rng::Rng;
use fathom_model::workload::{Zone, ZoneSize};

use crate::Error;

/// Most zones of one distribution.
const MAX_ZONES: usize = 256;

/// Draws cells zone by zone.
#[derive(Debug, Clone)]
pub(crate) struct Zones {
    /// Of each zone with accesses: the running total of shares, first cell,
    /// number of cells.
    table: Vec<(f64, u64, u64)>,
    total: f64,
}

impl Zones {
    /// For `cells` cells of `cell_bytes`.
    pub(crate) fn new(zones: &[Zone], cells: u64, cell_bytes: u64) -> Result<Zones, Error> {
        if zones.is_empty() || zones.len() > MAX_ZONES {
            return Err(Error::Workload(format!(
                "{} zones; there must be 1 to {MAX_ZONES}",
                zones.len()
            )));
        }
        let mut table = Vec::with_capacity(zones.len());
        // Zones end where their sizes add up to, so that rounding never adds up.
        let (mut total, mut share, mut bytes, mut first) = (0.0, 0.0, 0u64, 0);
        for zone in zones {
            let access = zone.access_percent;
            if !(0.0..=100.0).contains(&access) {
                return Err(Error::Workload(format!(
                    "a zone with {access} % of the accesses"
                )));
            }
            match zone.size {
                ZoneSize::Percent(percent) if percent >= 0.0 => share += percent / 100.0,
                ZoneSize::Percent(percent) => {
                    return Err(Error::Workload(format!("a zone of {percent} %")));
                }
                ZoneSize::Bytes(size) => bytes = bytes.saturating_add(size),
            }
            let reach = (share * cells as f64).round() as u64 + bytes / cell_bytes.max(1);
            let end = reach.max(first + u64::from(access > 0.0)).min(cells);
            if access > 0.0 {
                if end <= first {
                    return Err(Error::Workload(format!(
                        "the zone with {access} % of the accesses lies beyond the end of the \
                         accessed range"
                    )));
                }
                total += access;
                table.push((total, first, end - first));
            }
            first = end;
        }
        if table.is_empty() {
            return Err(Error::Workload("no zone has accesses".to_owned()));
        }
        debug_assert!(
            table.is_sorted_by(|a, b| a.0 < b.0) && table.iter().all(|(.., cells)| *cells > 0),
            "a search by halves needs running totals that rise: {table:?}"
        );
        Ok(Zones { table, total })
    }

    /// The next cell.
    #[inline]
    pub(crate) fn next(&self, rng: &mut Rng) -> u64 {
        let draw = rng.unit() * self.total;
        let index = self.table.partition_point(|(running, ..)| *running <= draw);
        let (_, first, cells) = self.table[index.min(self.table.len() - 1)];
        first + rng.below(cells)
    }
}
