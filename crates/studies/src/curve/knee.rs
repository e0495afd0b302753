//! The knee of a depth curve: where more operations in flight no longer give
//! more.
//!
//! With N operations in flight a closed system gives at most N/R₁ (each waits
//! for nobody) and at most its saturated rate (asymptotic bounds, Denning &
//! Buzen, "The operational analysis of queueing network models", 1978). The
//! bounds cross at the knee. What is named is the least measured depth with
//! 95 % of the highest rate, and only where twice that depth was measured too:
//! otherwise more depth might still give more.

use fathom_model::curve::{CurvePoint, Knee};
use fathom_model::unit;
use fathom_model::verdict::Validity;
use fathom_rules::method::curve::THRESHOLD as PLATEAU;

/// Why no knee is named.
#[derive(Debug, Clone, Copy, PartialEq, thiserror::Error)]
pub(super) enum NoKnee {
    #[error("no knee is named: no point is trusted")]
    NothingTrusted,
    #[error("no knee is named: nothing was measured")]
    NothingMeasured,
    /// More depth might still give more.
    #[error(
        "no knee seen up to {} in flight: throughput still rose to {} ops/s",
        unit::group(*.depth),
        unit::count(*.ops_per_second)
    )]
    StillRises { depth: u64, ops_per_second: f64 },
}

/// The depth to which a curve that still rises ought to go on.
pub(super) fn deeper(points: &[CurvePoint]) -> Option<u64> {
    match find(points) {
        Err(NoKnee::StillRises { depth, .. }) => Some(depth.saturating_mul(2)),
        _ => None,
    }
}

/// The knee of the closed-loop points, or why there is none.
pub(super) fn find(points: &[CurvePoint]) -> Result<Knee, NoKnee> {
    let closed = || points.iter().filter(|p| p.offered_per_second.is_none());
    let mut rates: Vec<(u64, f64)> = closed()
        .filter(|p| p.validity != Validity::NotTrusted)
        .filter_map(|p| Some((p.depth, p.ops_per_second.value.filter(|v| *v > 0.0)?)))
        .collect();
    rates.sort_by_key(|(depth, _)| *depth);
    // A ceiling that was measured again at a depth of the scan.
    rates.dedup_by_key(|(depth, _)| *depth);
    let (Some(first), Some(last)) = (rates.first().copied(), rates.last().copied()) else {
        return Err(match closed().next() {
            Some(_) => NoKnee::NothingTrusted,
            None => NoKnee::NothingMeasured,
        });
    };
    let plateau = rates.iter().map(|r| r.1).fold(0.0, f64::max);
    let reached = rates.iter().position(|r| r.1 >= PLATEAU * plateau);
    let at = reached.unwrap_or(0);
    let depth = rates[at].0;
    if last.0 < depth.saturating_mul(2) {
        return Err(NoKnee::StillRises {
            depth: last.0,
            ops_per_second: plateau,
        });
    }
    let cross = plateau / (first.1 / first.0 as f64);
    let above = at.checked_sub(1).map(|before| rates[before].0);
    let evidence = match above {
        Some(above) => format!(
            "knee at {} in flight, with {} ops/s: with {} it is {} ops/s, with {} at most {} ops/s",
            unit::group(depth),
            unit::count(rates[at].1),
            unit::group(above),
            unit::count(rates[at - 1].1),
            unit::group(last.0),
            unit::count(plateau),
        ),
        None => format!(
            "knee at {}{} in flight, with {} ops/s: with {} it is at most {} ops/s",
            unit::group(depth),
            if depth > 1 { " or fewer" } else { "" },
            unit::count(rates[at].1),
            unit::group(last.0),
            unit::count(plateau),
        ),
    };
    Ok(Knee {
        above_depth: above,
        depth,
        asymptotes_cross_at: cross,
        plateau_ops_per_second: plateau,
        evidence,
    })
}
