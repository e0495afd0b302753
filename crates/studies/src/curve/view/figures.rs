//! The figures of which the answer of a curve consists: up to where a target holds, the
//! knee, the maximum, the steps.

use fathom_model::curve::{Curve, CurveLatency, CurveLevel, CurvePoint, HoldingLoad, Sweep};
use fathom_model::estimate::Estimate;
use fathom_model::unit;
use fathom_model::verdict::Validity;
use fathom_model::view::AnswerFigure;
use fathom_rules::method::curve::THRESHOLD as PLATEAU;

use crate::curve::{answers, holds};

/// The figures, the most important first.
pub(super) fn of(curve: &Curve) -> Vec<AnswerFigure> {
    let holds = curve.holds.iter().flat_map(|held| holding(curve, held));
    let others = match curve.sweep {
        Sweep::Depth => depth(curve),
        Sweep::Load => load(curve),
        Sweep::Block => block(curve),
        Sweep::WorkingSet => levels(curve),
        Sweep::Mix => maxima(curve),
        Sweep::Position => zones(curve),
    };
    holds.chain(others).collect()
}

/// `704,000 IOPS`.
fn rate(per_second: f64) -> String {
    format!("{} IOPS", unit::count(per_second))
}

fn point_of(curve: &Curve, row: Option<u32>) -> Option<&CurvePoint> {
    curve.points.iter().find(|point| Some(point.row) == row)
}

/// Points that carry a conclusion.
fn usable(curve: &Curve) -> impl Iterator<Item = &CurvePoint> {
    let points = curve.points.iter();
    points.filter(|point| point.validity != Validity::NotTrusted)
}

fn closed(curve: &Curve) -> impl Iterator<Item = &CurvePoint> {
    usable(curve).filter(|point| point.offered_per_second.is_none() && !point.probe)
}

/// The point at which an estimate is highest.
fn highest<'a>(
    points: impl Iterator<Item = &'a CurvePoint>,
    pick: impl Fn(&CurvePoint) -> &Estimate,
) -> Option<&'a CurvePoint> {
    let known = points.filter_map(|point| Some((pick(point).value?, point)));
    let most = known.max_by(|a, b| a.0.total_cmp(&b.0));
    most.map(|(_, point)| point)
}

/// A figure of the latency of a point; nothing where none was measured.
fn latency(
    point: &CurvePoint,
    name: impl Into<String>,
    pick: impl Fn(&CurveLatency) -> &Estimate,
) -> Option<AnswerFigure> {
    let figure = AnswerFigure::estimate(name, pick(point.latency.as_ref()?));
    Some(figure.judged(point.validity))
}

/// Up to where a target holds, and from where it does not.
fn holding(curve: &Curve, held: &HoldingLoad) -> Vec<AnswerFigure> {
    if curve.sweep == Sweep::Mix {
        return vec![holding_mix(curve, held)];
    }
    let target = &held.target;
    let up_to = match held.held_per_second {
        Some(load) => {
            let name = format!("Holds {target} up to");
            let doubt = if held.confirmed { "" } else { "not confirmed" };
            let figure = at_point(curve, held.held_row, name, load);
            match figure.place.is_empty() {
                true => figure.at(doubt),
                false => figure,
            }
        }
        None => {
            AnswerFigure::text(format!("Holds {target} at"), "none").at("of the loads that ran")
        }
    };
    let breaks = held.failed_per_second.map(|load| {
        let breaks = point_of(curve, held.failed_row).is_none_or(holds::breaks);
        let name = if breaks { "Breaks at" } else { "Not safely at" };
        let name = name.to_owned();
        match point_of(curve, held.failed_row) {
            // That is what its caveat says.
            Some(point) if point.saturated && curve.sweep != Sweep::Depth => {
                AnswerFigure::text(name, rate(load)).at("saturated there")
            }
            _ => at_point(curve, held.failed_row, name, load),
        }
    });
    std::iter::once(up_to).chain(breaks).collect()
}

/// The load of a point, or its depth where that is what is swept.
fn at_point(curve: &Curve, row: Option<u32>, name: String, load: f64) -> AnswerFigure {
    let Some(point) = point_of(curve, row) else {
        return AnswerFigure::text(name, rate(load));
    };
    let figure = match curve.sweep {
        Sweep::Depth => AnswerFigure::text(format!("{name} a depth of"), unit::group(point.depth))
            .at(rate(load)),
        _ => AnswerFigure::text(name, rate(load)),
    };
    figure.judged(point.validity)
}

/// Up to where one mix of several holds the target.
fn holding_mix(curve: &Curve, held: &HoldingLoad) -> AnswerFigure {
    let mix = format!("{} % reads hold {}", held.read_percent, held.target);
    let figure = match held.held_per_second {
        Some(load) => AnswerFigure::text(format!("{mix} up to"), rate(load)),
        None => AnswerFigure::text(format!("{mix} at"), "none"),
    };
    let breaks = point_of(curve, held.failed_row).is_none_or(holds::breaks);
    match held.failed_per_second {
        Some(load) if breaks => figure.at(format!("breaks at {}", unit::count(load))),
        Some(load) => figure.at(format!("not safely at {}", unit::count(load))),
        None => figure.at("no load that ran breaks it"),
    }
}

/// The knee, the maximum, and the latency at the knee and at the least depth.
fn depth(curve: &Curve) -> Vec<AnswerFigure> {
    let most = highest(closed(curve), |point| &point.ops_per_second);
    let knee = curve.knee.as_ref();
    let at_knee = knee.and_then(|knee| closed(curve).find(|point| point.depth == knee.depth));
    let place = match knee {
        Some(knee) => AnswerFigure::text("Knee at a depth of", unit::group(knee.depth))
            .at(format!("{:.0} % of the maximum or more", 100.0 * PLATEAU)),
        None => {
            let deepest = closed(curve).map(|point| point.depth).max();
            let deepest = deepest.map_or("n/a".to_owned(), unit::group);
            AnswerFigure::text("No knee up to a depth of", deepest).at("it may still rise")
        }
    };
    let least = closed(curve).min_by_key(|point| point.depth);
    [
        Some(match at_knee {
            Some(point) => place.judged(point.validity),
            None => place,
        }),
        most.map(|point| {
            let figure = AnswerFigure::estimate("Maximum", &point.ops_per_second);
            let figure = figure.at(format!("depth {}", unit::group(point.depth)));
            figure.judged(point.validity)
        }),
        at_knee.and_then(|point| latency(point, "p99 at the knee", |of| &of.p99_ns)),
        least.and_then(|point| {
            let name = format!("p50 at a depth of {}", unit::group(point.depth));
            latency(point, name, |of| &of.p50_ns)
        }),
    ]
    .into_iter()
    .flatten()
    .collect()
}

/// What a closed loop reaches, what was delivered beyond it, where it saturates, and the
/// latency at what holds or at the highest load, and at the least.
fn load(curve: &Curve) -> Vec<AnswerFigure> {
    let open = || {
        let points = usable(curve);
        points.filter_map(|point| Some((point.offered_per_second?, point)))
    };
    let closed = highest(closed(curve), |point| &point.ops_per_second).map(|point| {
        let figure = AnswerFigure::estimate("Closed loop", &point.ops_per_second);
        let place = format!("{} in flight", unit::group(point.depth));
        figure.at(place).judged(point.validity)
    });
    let most = answers::beyond_the_closed_loop(curve).map(|point| {
        let figure = AnswerFigure::estimate("Most delivered", &point.ops_per_second);
        let offered = point.offered_per_second.unwrap_or(0.0);
        let place = format!("of {} offered", unit::count(offered));
        figure.at(place).judged(point.validity)
    });
    let breaks = curve.holds.iter().find_map(|held| held.failed_row);
    let is_trusted = |point: &CurvePoint| point.validity != Validity::NotTrusted;
    let saturated = open().find(|(_, point)| point.saturated && is_trusted(point));
    let saturated = saturated.filter(|(_, point)| Some(point.row) != breaks);
    let saturated = saturated.map(|(load, point)| {
        let figure = AnswerFigure::text("Saturated from", rate(load));
        let ceiling = curve.ceiling.as_ref();
        let share = ceiling.map(|most| 100.0 * load / most.ops_per_second);
        let share = share.map(|share| format!("{share:.0} % of the closed loop"));
        figure.at(share.unwrap_or_default()).judged(point.validity)
    });
    let held = curve.holds.iter().find_map(|held| held.held_row);
    let calm = || open().filter(|(_, point)| !point.saturated);
    let top = match point_of(curve, held) {
        Some(point) => point.offered_per_second.map(|load| (load, point)),
        None => calm().max_by(|a, b| a.0.total_cmp(&b.0)),
    };
    let least = calm().min_by(|a, b| a.0.total_cmp(&b.0));
    let least = least.filter(|(load, _)| top.is_none_or(|top| top.0 > *load));
    let latencies = [top, least].into_iter().flatten();
    let latencies = latencies.filter_map(|(load, point)| {
        let name = format!("p99 at {}", rate(load));
        latency(point, name, |of| &of.p99_ns)
    });
    let figures = closed.into_iter().chain(most).chain(saturated);
    figures.chain(latencies).collect()
}

/// The highest rate and the highest throughput, each with its size, and from where on
/// the throughput is close to it.
fn block(curve: &Curve) -> Vec<AnswerFigure> {
    let of = |name: &str, pick: fn(&CurvePoint) -> &Estimate| {
        let point = highest(usable(curve), pick)?;
        let size = unit::bytes_exact(point.block_bytes);
        let figure = AnswerFigure::estimate(name, pick(point)).at(format!("blocks of {size}"));
        Some(figure.judged(point.validity))
    };
    let sizes = answers::block_sizes(&curve.points);
    let sizes = sizes.into_iter().flat_map(|sizes| {
        let close = format!("{:.0} % of that from blocks of", 100.0 * PLATEAU);
        [
            AnswerFigure::text(close, unit::bytes_exact(sizes.close_bytes)),
            AnswerFigure::text(
                "Half of that from blocks of",
                unit::bytes_exact(sizes.half_bytes),
            ),
        ]
    });
    let highest = [
        of("Highest rate", |point| &point.ops_per_second),
        of("Highest throughput", |point| &point.bytes_per_second),
    ];
    highest.into_iter().flatten().chain(sizes).collect()
}

/// The throughput of each level, or else the highest and the lowest.
fn levels(curve: &Curve) -> Vec<AnswerFigure> {
    let size = unit::bytes_exact;
    match curve.levels.as_slice() {
        [] => {
            let by_rate = |point: &&CurvePoint| point.bytes_per_second.value;
            let mut points: Vec<&CurvePoint> = usable(curve)
                .filter(|point| by_rate(point).is_some())
                .collect();
            points.sort_by_key(|point| point.active_bytes);
            let ends = [points.first(), points.last().filter(|_| points.len() > 1)];
            let ends = ends.into_iter().flatten().map(|point| {
                let name = format!("At {}", size(point.active_bytes));
                AnswerFigure::estimate(name, &point.bytes_per_second).judged(point.validity)
            });
            ends.collect()
        }
        [one] => {
            vec![
                AnswerFigure::text("Throughput", unit::throughput(one.bytes_per_second)).at(
                    format!("from {} to {}", size(one.from_bytes), size(one.to_bytes)),
                ),
                AnswerFigure::text("No step up to", size(one.to_bytes)),
            ]
        }
        [steps @ .., last] => {
            let step = |level: &CurveLevel| {
                let name = format!("Up to {}", size(level.to_bytes));
                AnswerFigure::text(name, unit::throughput(level.bytes_per_second))
            };
            let beyond = AnswerFigure::text(
                format!("From {} on", size(last.from_bytes)),
                unit::throughput(last.bytes_per_second),
            );
            steps.iter().map(step).chain([beyond]).collect()
        }
    }
}

/// What a closed loop reaches with each mix.
fn maxima(curve: &Curve) -> Vec<AnswerFigure> {
    let points = closed(curve).map(|point| {
        let name = format!("Closed loop, {} % reads", point.read_percent);
        let place = format!("{} in flight", unit::group(point.depth));
        let figure = AnswerFigure::estimate(name, &point.ops_per_second).at(place);
        figure.judged(point.validity)
    });
    points.collect()
}

/// Both ends and their ratio.
fn zones(curve: &Curve) -> Vec<AnswerFigure> {
    let Some(zones) = &curve.zones else {
        return Vec::new();
    };
    let rate = |name: &str, rate: f64| AnswerFigure::text(name, unit::throughput(rate));
    let interval = zones.ratio.low.zip(zones.ratio.high);
    let interval = interval.map(|(low, high)| format!("95 %: {low:.2} to {high:.2}"));
    let ratio = zones.ratio.value.map(|ratio| {
        let figure = AnswerFigure::text("Lowest over highest", format!("{ratio:.2}"));
        figure.at(interval.unwrap_or_else(|| "no interval".to_owned()))
    });
    let ends = [
        rate("Lowest offset", zones.outer_bytes_per_second),
        rate("Highest offset", zones.inner_bytes_per_second),
    ];
    ends.into_iter().chain(ratio).collect()
}
