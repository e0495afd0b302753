//! Whether a unit that was read is what it should be, and if not, what it is.

use super::ledger::Ledger;
use super::mismatch::{Mismatch, MismatchKind};
use super::stamp::{Sector, Stamp, sectors};
use super::state::UnitState;
use crate::payload::Tile;

/// How much can be asked of a unit.
#[derive(Debug, Clone, Copy)]
pub(super) struct Demand {
    /// The state after the read.
    pub(super) state: UnitState,
    /// Generations that were issued while the read was in flight.
    pub(super) issued_meanwhile: u32,
    /// No write was in flight at any time during the read, and none overlapped
    /// another before: every byte must be right.
    pub(super) settled: bool,
}

impl Demand {
    /// From the states before and after a read. `None`: nothing can be asked.
    #[inline]
    pub(super) fn between(ledger: &Ledger, before: UnitState, after: UnitState) -> Option<Demand> {
        let quiet = before == after && after.in_flight == 0;
        let settled = quiet && after.slack == 0;
        if !ledger.knows(before) || !ledger.knows(after) || (ledger.trims && !quiet) {
            return None;
        }
        Some(Demand {
            state: after,
            // What was there before the read began may have been seen.
            issued_meanwhile: if quiet {
                0
            } else {
                after.behind(before.generation) + before.slack
            },
            settled,
        })
    }
}

/// Checks one unit of a file.
#[inline]
pub(super) fn check_unit(
    ledger: &Ledger,
    file: u32,
    offset: u64,
    demand: Demand,
    unit: &[u8],
) -> Result<(), Mismatch> {
    if let Some(tile) = &ledger.tile {
        return compare(tile, file, offset, unit);
    }
    if ledger.verify.by_anybody {
        return whole(ledger, file, offset, demand, unit);
    }
    for range in sectors(unit.len()) {
        let at = offset + range.start as u64;
        let wanted = ledger.stamp(file, at, demand.state.generation);
        let sector = Sector::read(&unit[range]);
        let earlier = || ledger.verify.earlier && was(&sector, &wanted, demand);
        if !(fits(&sector, &wanted, demand) || earlier()) {
            return Err(explain(&sector, &wanted, demand, offset, unit));
        }
    }
    Ok(())
}

/// Checks that a unit was written to this place by one write, whoever did it.
fn whole(
    ledger: &Ledger,
    file: u32,
    offset: u64,
    demand: Demand,
    unit: &[u8],
) -> Result<(), Mismatch> {
    let mut writer = None;
    for range in sectors(unit.len()) {
        let wanted = ledger.stamp(file, offset + range.start as u64, demand.state.generation);
        let sector = Sector::read(&unit[range]);
        let Sector::Stamped(found) = &sector else {
            return Err(explain(&sector, &wanted, demand, offset, unit));
        };
        if found.offset != wanted.offset {
            return Err(explain(&sector, &wanted, demand, offset, unit));
        }
        let by = (found.tag, found.generation);
        if *writer.get_or_insert(by) != by {
            return Err(Mismatch {
                kind: MismatchKind::Torn,
                file,
                offset: wanted.offset,
                expected: "one write of the whole block".to_owned(),
                found: "parts of two writes".to_owned(),
            });
        }
    }
    Ok(())
}

#[inline]
fn fits(sector: &Sector, wanted: &Stamp, demand: Demand) -> bool {
    match sector {
        Sector::Stamped(found) if demand.settled => found == wanted,
        Sector::Stamped(found) => {
            let here = Stamp {
                generation: found.generation,
                ..*wanted
            };
            let state = demand.state;
            *found == here && state.allows(found.generation, demand.issued_meanwhile)
        }
        // Bytes of a write in flight, or of two that overlapped, may be mixed
        // within a sector.
        _ => !demand.settled,
    }
}

/// Whether a sector was written to this place by an earlier trial, and may still
/// be there.
fn was(sector: &Sector, wanted: &Stamp, demand: Demand) -> bool {
    let Sector::Stamped(found) = sector else {
        return false;
    };
    let here = found.file == wanted.file && found.offset == wanted.offset;
    let foreign = demand.state.generation == 0 || found.tag != wanted.tag;
    here && foreign && demand.state.allows(0, demand.issued_meanwhile)
}

/// Compares a unit with what every write of the trial puts there.
fn compare(tile: &Tile, file: u32, offset: u64, unit: &[u8]) -> Result<(), Mismatch> {
    let Some((at, wanted)) = tile.differs(offset, unit) else {
        return Ok(());
    };
    let found = &unit[at..unit.len().min(at + 8)];
    let zeroed = unit.iter().all(|byte| *byte == 0);
    Err(Mismatch {
        kind: if zeroed {
            MismatchKind::Zeroed
        } else {
            MismatchKind::Wrong
        },
        file,
        offset: offset + at as u64,
        expected: format!("the content of the payload, here {wanted:#04x}"),
        found: if zeroed {
            "zeros".to_owned()
        } else {
            format!("bytes starting {found:02x?}")
        },
    })
}

/// Says what is wrong with a unit whose `sector` does not fit.
#[cold]
fn explain(
    sector: &Sector,
    wanted: &Stamp,
    demand: Demand,
    unit_offset: u64,
    unit: &[u8],
) -> Mismatch {
    let same_place = |found: &Stamp| found.file == wanted.file && found.offset == wanted.offset;
    let (kind, found) = match sector {
        Sector::Zeros => (MismatchKind::Zeroed, "zeros".to_owned()),
        Sector::Unknown(first) => (
            MismatchKind::Wrong,
            format!("bytes that fathom did not write, starting {first:02x?}"),
        ),
        Sector::Damaged(found) => (
            MismatchKind::Wrong,
            format!(
                "{} with changed bytes (its checksum fails)",
                describe(found)
            ),
        ),
        Sector::Stamped(found) if found.tag != wanted.tag => (
            MismatchKind::Foreign,
            format!(
                "{} of another trial (tag {:016x})",
                describe(found),
                found.tag
            ),
        ),
        Sector::Stamped(found) if !same_place(found) => (MismatchKind::Misplaced, describe(found)),
        Sector::Stamped(found) => {
            let torn = others_fit(wanted, demand, unit_offset, unit);
            let kind = if torn {
                MismatchKind::Torn
            } else {
                MismatchKind::Stale
            };
            (kind, describe(found))
        }
    };
    let range = demand.state.slack + demand.issued_meanwhile;
    let expected = if range == 0 {
        describe(wanted)
    } else {
        format!("{} or up to {range} before it", describe(wanted))
    };
    Mismatch {
        kind,
        file: wanted.file,
        offset: wanted.offset,
        expected,
        found,
    }
}

/// Whether part of the unit is as it should be, so that it is torn.
fn others_fit(wanted: &Stamp, demand: Demand, unit_offset: u64, unit: &[u8]) -> bool {
    sectors(unit.len()).any(|range| {
        let wanted = Stamp {
            offset: unit_offset + range.start as u64,
            ..*wanted
        };
        let sector = Sector::read(&unit[range]);
        matches!(sector, Sector::Stamped(_)) && fits(&sector, &wanted, demand)
    })
}

fn describe(stamp: &Stamp) -> String {
    let version = match stamp.generation {
        0 => "prepared data".to_owned(),
        generation => format!("write {generation}"),
    };
    format!("{version} of file {} offset {}", stamp.file, stamp.offset)
}
