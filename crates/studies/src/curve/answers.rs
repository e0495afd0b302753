//! What a curve says, in sentences.

use fathom_model::curve::{Curve, CurvePoint, HoldingLoad, Sweep};
use fathom_model::unit;
use fathom_model::verdict::Validity;
use fathom_rules::method::curve::{SAME_ZONES, THRESHOLD as PLATEAU};

use super::{holds, knee};

/// The sentences, the most important first.
pub(super) fn of(curve: &Curve) -> Vec<String> {
    let mut answers: Vec<String> = match curve.sweep {
        Sweep::Mix => mixes(curve),
        _ => {
            let holds = curve.holds.iter();
            holds
                .flat_map(|held| holds::sentences(&curve.points, held))
                .collect()
        }
    };
    match curve.sweep {
        Sweep::Depth => answers.push(match &curve.knee {
            Some(knee) => knee.evidence.clone(),
            None => match knee::find(&curve.points) {
                Ok(_) => String::new(),
                Err(why) => why.to_string(),
            },
        }),
        Sweep::Load => answers.extend(load(curve)),
        Sweep::Block => answers.extend(block(&curve.points)),
        Sweep::WorkingSet => answers.push(levels(curve)),
        Sweep::Mix => answers.extend(ceilings(curve)),
        Sweep::Position => answers.extend(position(curve)),
    }
    let untrusted = curve
        .points
        .iter()
        .filter(|p| p.validity == Validity::NotTrusted);
    match (untrusted.count(), curve.points.len()) {
        (0, _) => {}
        (1, all) => answers.push(format!(
            "1 of {} is not trusted and carries no conclusion",
            unit::counted(all as u64, "point")
        )),
        (n, all) => answers.push(format!(
            "{n} of {all} points are not trusted and carry no conclusion"
        )),
    }
    answers
}

fn load(curve: &Curve) -> Vec<String> {
    let mut out = Vec::new();
    if let Some(ceiling) = &curve.ceiling {
        out.push(format!(
            "a closed loop with {} in flight reaches {} ops/s; loads are shares of that",
            unit::group(ceiling.depth),
            unit::count(ceiling.ops_per_second),
        ));
    }
    out.extend(beyond_the_closed_loop(curve).map(|point| {
        let delivered = unit::count(point.ops_per_second.value.unwrap_or(0.0));
        format!("with more in flight it delivers more: {delivered} ops/s")
    }));
    let open = || {
        curve
            .points
            .iter()
            .filter(|p| p.offered_per_second.is_some())
            .filter(|p| p.validity != Validity::NotTrusted)
    };
    let mut saturated = open().filter(|p| p.saturated);
    if let Some(first) = saturated.next() {
        let offered = first.offered_per_second.unwrap_or(0.0);
        out.push(format!(
            "saturated from {} ops/s on{}: there latency grows with the length of the trial",
            unit::count(offered),
            share(curve, offered)
        ));
    }
    let late: Vec<&CurvePoint> = open().filter(|p| p.late && !p.saturated).collect();
    if let Some(first) = late.first() {
        out.push(format!(
            "{} of {} loads (from {} ops/s on) were submitted late: the generator or its host was \
             busy, and their latency is not the target's alone",
            late.len(),
            open().count(),
            unit::count(first.offered_per_second.unwrap_or(0.0))
        ));
    }
    out
}

/// The offered load with the highest rate, where that is higher by more than what is
/// taken for the same than the highest of the closed loops.
pub(super) fn beyond_the_closed_loop(curve: &Curve) -> Option<&CurvePoint> {
    let closed = curve.ceiling.as_ref()?.ops_per_second;
    let points = curve.points.iter();
    let open = points.filter(|p| p.offered_per_second.is_some());
    let trusted = open.filter(|p| p.validity != Validity::NotTrusted);
    let known = trusted.filter_map(|p| Some((p.ops_per_second.value?, p)));
    let most = known.max_by(|a, b| a.0.total_cmp(&b.0))?;
    (PLATEAU * most.0 > closed).then_some(most.1)
}

fn share(curve: &Curve, load: f64) -> String {
    curve.ceiling.as_ref().map_or(String::new(), |ceiling| {
        format!(
            " ({:.0} % of the closed loop)",
            100.0 * load / ceiling.ops_per_second
        )
    })
}

/// From which block on the throughput is how close to the highest.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct BlockSizes {
    /// The highest throughput, bytes per second.
    pub(super) most: f64,
    /// The smallest block with nearly all of it.
    pub(super) close_bytes: u64,
    /// The smallest block with half of it.
    pub(super) half_bytes: u64,
}

/// Nothing where no point is trusted.
pub(super) fn block_sizes(points: &[CurvePoint]) -> Option<BlockSizes> {
    let usable = points.iter().filter(|p| p.validity != Validity::NotTrusted);
    let rates: Vec<(u64, f64)> = usable
        .filter_map(|p| Some((p.block_bytes, p.bytes_per_second.value?)))
        .collect();
    let most = rates.iter().map(|r| r.1).fold(0.0, f64::max);
    let from = |share: f64| rates.iter().find(|r| r.1 >= share * most).map(|r| r.0);
    Some(BlockSizes {
        most,
        close_bytes: from(PLATEAU)?,
        half_bytes: from(0.5)?,
    })
}

fn block(points: &[CurvePoint]) -> Option<String> {
    let sizes = block_sizes(points)?;
    Some(format!(
        "the highest throughput is {}; 95 % of it from blocks of {} on, half from {} on",
        unit::throughput(sizes.most),
        unit::bytes_exact(sizes.close_bytes),
        unit::bytes_exact(sizes.half_bytes)
    ))
}

/// What falls from the smallest to the largest set all the way, without a step between two.
fn falls(curve: &Curve) -> Option<String> {
    let trusted = curve
        .points
        .iter()
        .filter(|point| point.validity != Validity::NotTrusted);
    let rates: Vec<f64> = trusted
        .filter_map(|point| point.bytes_per_second.value)
        .collect();
    let (first, last) = (rates.first()?, rates.last()?);
    (*last < PLATEAU * first).then(|| {
        format!(
            "no single step: it falls from {} to {}",
            unit::throughput(*first),
            unit::throughput(*last)
        )
    })
}

fn levels(curve: &Curve) -> String {
    let rate = |v: f64| unit::throughput(v);
    if let ([_], Some(text)) = (curve.levels.as_slice(), falls(curve)) {
        return text;
    }
    match curve.levels.as_slice() {
        [] => "too few points are trusted to tell steps".to_owned(),
        [one] => format!(
            "no step from {} to {}: {} throughout",
            unit::bytes_exact(one.from_bytes),
            unit::bytes_exact(one.to_bytes),
            rate(one.bytes_per_second)
        ),
        [first, middle @ .., last] => {
            let mut text = format!(
                "up to {} at {}",
                unit::bytes_exact(first.to_bytes),
                rate(first.bytes_per_second)
            );
            for level in middle {
                text.push_str(&format!(
                    ", up to {} at {}",
                    unit::bytes_exact(level.to_bytes),
                    rate(level.bytes_per_second)
                ));
            }
            format!("{text}, beyond at {}", rate(last.bytes_per_second))
        }
    }
}

fn mixes(curve: &Curve) -> Vec<String> {
    let line = |held: &HoldingLoad| {
        let answer = holds::sentences(&curve.points, held).into_iter().next();
        format!(
            "{} % reads: {}",
            held.read_percent,
            answer.unwrap_or_default()
        )
    };
    curve.holds.iter().map(line).collect()
}

fn ceilings(curve: &Curve) -> Option<String> {
    let closed = curve
        .points
        .iter()
        .filter(|p| p.offered_per_second.is_none());
    let texts: Vec<String> = closed
        .filter_map(|p| {
            let rate = p.ops_per_second.value?;
            Some(format!("{} % reads {}", p.read_percent, unit::count(rate)))
        })
        .collect();
    (!texts.is_empty()).then(|| format!("closed loop, ops/s: {}", texts.join(", ")))
}

fn position(curve: &Curve) -> Option<String> {
    let zones = curve.zones.as_ref()?;
    let ratio = zones.ratio.value?;
    let interval = match (zones.ratio.low, zones.ratio.high) {
        (Some(low), Some(high)) => format!(" (95 % interval {low:.2} to {high:.2})"),
        _ => String::new(),
    };
    let ends = format!(
        "the lowest offset gives {}, the highest {}",
        unit::throughput(zones.outer_bytes_per_second),
        unit::throughput(zones.inner_bytes_per_second)
    );
    let includes_one = match (zones.ratio.low, zones.ratio.high) {
        (Some(low), Some(high)) => low <= 1.0 && high >= 1.0,
        _ => false,
    };
    Some(match includes_one || (ratio - 1.0).abs() <= SAME_ZONES {
        true => format!("no difference by position is shown: {ends}{interval}"),
        false => format!("{ends}: outer over inner zone {ratio:.2}{interval}"),
    })
}
