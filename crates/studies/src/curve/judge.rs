//! What the points of a curve say together.
//!
//! A curve is drawn from a run's own rows, so that a stored run shows it again.

use std::cmp::Ordering;

use fathom_model::curve::{Curve, CurveCeiling, CurvePoint, HoldingLoad, Sweep};
use fathom_model::schedule::Purpose;
use fathom_model::verdict::{Fit, Fitness, Limiter, Validity};
use fathom_model::{JudgedRun, unit};

use super::{answers, holds, knee, levels, point, series, zones};

/// What would tell a device from a depth, but not to somebody who has just run it.
const DEPTH_COMMAND: &str = "fathom curve depth";

/// Draws the curve of a judged run, where it is one.
pub(crate) fn draw(run: &mut JudgedRun) {
    let Purpose::Curve { sweep, .. } = &run.run.purpose else {
        return;
    };
    let Some(sweep) = Sweep::of_name(sweep) else {
        return;
    };
    let mut curve = of(run, sweep);
    run.verdict.fitness = fitness(&curve).or(run.verdict.fitness.take());
    if sweep == Sweep::Depth {
        propose_more_than_itself(run, &mut curve);
    }
    run.curve = Some(curve);
}

/// A depth curve that does not tell device from depth proposes deeper points after the
/// deepest, and longer ones elsewhere.
fn propose_more_than_itself(run: &mut JudgedRun, curve: &mut Curve) {
    let deepest = curve.points.last().map(|point| point.row);
    let deeper = knee::deeper(&curve.points);
    if let Some(last) = curve.points.last_mut().filter(|_| deeper.is_some())
        && matches!(last.limiter, Limiter::Device | Limiter::DeviceOrCap)
    {
        last.limiter = Limiter::Unknown;
    }
    let rows = run.rows.iter_mut();
    let rows = rows.map(|row| (Some(row.row) == deepest, &mut row.verdict));
    for (is_deepest, verdict) in rows.chain([(false, &mut run.verdict)]) {
        // Where the rate still rises, nothing has ended it.
        let rises = is_deepest && deeper.is_some();
        if rises && matches!(verdict.limiter, Limiter::Device | Limiter::DeviceOrCap) {
            verdict.limiter = Limiter::Unknown;
            verdict.limiter_evidence = DEPTH_COMMAND.to_owned();
        }
        if verdict.limiter_evidence.contains(DEPTH_COMMAND) {
            verdict.limiter_evidence = match deeper.filter(|_| is_deepest) {
                Some(depth) => format!("a deeper point tells: `--max-depth {depth}`"),
                None => "longer points may tell: `--for 10s`".to_owned(),
            };
        }
    }
}

fn of(run: &JudgedRun, sweep: Sweep) -> Curve {
    let points = run.rows.iter().filter_map(|row| point::of(run, row));
    let mut points: Vec<CurvePoint> = points.collect();
    points.sort_by(|a, b| order(sweep, a, b));
    let series = |points: &[CurvePoint]| series::of(run, points);
    let mut curve = Curve {
        sweep,
        answers: Vec::new(),
        knee: match sweep {
            Sweep::Depth | Sweep::Load => knee::find(&points).ok(),
            _ => None,
        },
        ceiling: ceiling(sweep, &points),
        levels: match sweep {
            Sweep::WorkingSet => levels::find(&series(&points)),
            _ => Vec::new(),
        },
        zones: match sweep {
            Sweep::Position => zones::find(&series(&points)),
            _ => None,
        },
        holds: match sweep {
            Sweep::Depth | Sweep::Load | Sweep::Mix => holds::all(sweep, &points),
            _ => Vec::new(),
        },
        points,
    };
    curve.answers = answers::of(&curve);
    curve
}

/// Ascending in what is swept; closed loops before open ones.
fn order(sweep: Sweep, a: &CurvePoint, b: &CurvePoint) -> Ordering {
    let load = |p: &CurvePoint| p.offered_per_second.unwrap_or(0.0);
    let by_load = || {
        let open = |p: &CurvePoint| p.offered_per_second.is_some();
        let probe = b.probe.cmp(&a.probe);
        open(a)
            .cmp(&open(b))
            .then(probe)
            .then(load(a).total_cmp(&load(b)))
            .then(a.depth.cmp(&b.depth))
    };
    match sweep {
        Sweep::Depth => a.depth.cmp(&b.depth),
        Sweep::Load => by_load(),
        Sweep::Block => a.block_bytes.cmp(&b.block_bytes),
        Sweep::WorkingSet => a.active_bytes.cmp(&b.active_bytes),
        Sweep::Mix => b.read_percent.cmp(&a.read_percent).then_with(by_load),
        Sweep::Position => a.offset_bytes.cmp(&b.offset_bytes),
    }
}

/// The highest rate of the closed loops that an open loop was measured
/// against.
fn ceiling(sweep: Sweep, points: &[CurvePoint]) -> Option<CurveCeiling> {
    if !matches!(sweep, Sweep::Load | Sweep::Mix) {
        return None;
    }
    points
        .iter()
        .filter(|p| p.offered_per_second.is_none() && !p.probe)
        .filter(|p| p.validity != Validity::NotTrusted)
        .filter_map(|p| {
            Some(CurveCeiling {
                depth: p.depth,
                read_percent: p.read_percent,
                ops_per_second: p.ops_per_second.value?,
            })
        })
        .max_by(|a, b| a.ops_per_second.total_cmp(&b.ops_per_second))
}

/// A curve holds its target when any of its loads is confirmed to.
fn fitness(curve: &Curve) -> Option<Fitness> {
    let target = curve.holds.first()?.target.clone();
    let held: Vec<_> = curve.holds.iter().collect();
    let refused = held.iter().all(|h| {
        let candidates = holds::trusted(curve.sweep, &curve.points, h.read_percent);
        holds::fails_at_least(&candidates)
    });
    let any = held.iter().any(|h| h.held_per_second.is_some());
    let confirmed = held
        .iter()
        .any(|h| h.confirmed && h.held_per_second.is_some());
    Some(Fitness {
        target,
        outcome: match (any, confirmed) {
            (true, true) => Fit::Met,
            (true, false) => Fit::NotProven,
            (false, _) if refused => Fit::NotMet,
            (false, _) => Fit::NotProven,
        },
        worst_ratio: None,
        evidence: match held.as_slice() {
            [one] => one.evidence.clone(),
            several => {
                let parts: Vec<String> = several.iter().map(|h| by_mix(h)).collect();
                parts.join(", ")
            }
        },
    })
}

/// One mix of several in a few words.
fn by_mix(holds: &HoldingLoad) -> String {
    let mix = holds.read_percent;
    match holds.held_per_second {
        Some(load) => {
            let doubt = if holds.confirmed {
                ""
            } else {
                " (not confirmed)"
            };
            format!("{mix} % reads up to {} ops/s{doubt}", unit::count(load))
        }
        None => format!("{mix} % reads at no load that was tried"),
    }
}
