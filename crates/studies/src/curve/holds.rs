//! The highest load that holds a target, from the points that were measured.
//!
//! A point holds when its whole 95 % interval does, or when each of at least
//! three trials does by its own figures; it fails when its interval breaks the
//! bound, when it is saturated, or when one of three trials breaks it. One lucky
//! trial decides nothing, and one that is not trusted takes no part. The answer is
//! the highest load below the lowest one that fails.

use fathom_model::curve::{Curve, CurvePoint, HoldingLoad, Sweep};
use fathom_model::verdict::{Fit, Fitness, Validity};
use fathom_model::{names, unit};
use fathom_rules::method::curve::{ENOUGH_TRIALS, FAR};

/// Where a point stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Standing {
    /// Holds; confirmed or by one or two trials far from the bound.
    Holds { confirmed: bool },
    /// Does not hold.
    Fails,
    /// More trials are needed.
    Open,
}

/// Where a point stands against the target.
pub(super) fn standing(point: &CurvePoint) -> Standing {
    // A search goes on below what cannot be trusted; answers leave it out.
    if point.saturated || point.validity == Validity::NotTrusted {
        return Standing::Fails;
    }
    let Some(fitness) = &point.fitness else {
        return Standing::Open;
    };
    let held = point.trials_holding.unwrap_or(0);
    let broken = point.trials_breaking.unwrap_or(0);
    match (fitness.outcome, fitness.worst_ratio) {
        (Fit::Met, _) => Standing::Holds { confirmed: true },
        (Fit::NotMet, _) => Standing::Fails,
        (Fit::NotProven, _) if point.trials >= ENOUGH_TRIALS && broken > 0 => Standing::Fails,
        (Fit::NotProven, Some(ratio)) if point.trials >= ENOUGH_TRIALS && ratio <= 1.0 => {
            Standing::Holds {
                confirmed: held == point.trials,
            }
        }
        (Fit::NotProven, Some(ratio)) if ratio > FAR => Standing::Fails,
        (Fit::NotProven, Some(ratio)) if ratio < 1.0 / FAR && held == point.trials => {
            Standing::Holds { confirmed: false }
        }
        (Fit::NotProven, _) => Standing::Open,
    }
}

/// Where a point stands among the others: what a higher load is known to hold a lower one
/// holds, and what a lower one breaks a higher one does.
pub(super) fn standing_among(curve: &Curve, point: &CurvePoint) -> Standing {
    let all = trusted(curve.sweep, &curve.points, point.read_percent);
    let position = |row: u32| all.iter().position(|other| other.row == row);
    let Some(at) = position(point.row) else {
        return standing(point);
    };
    let (_, fails) = bracket(&all);
    let confirmed = Standing::Holds { confirmed: true };
    let holds_at = known_to_hold(&all).and_then(|held| position(held.row));
    let fails_at = fails.and_then(|failed| position(failed.row));
    let is_below = holds_at.is_some_and(|held| at < held);
    let is_beyond = fails_at.is_some_and(|failed| at > failed);
    match standing(point) {
        Standing::Open if is_beyond => Standing::Fails,
        Standing::Open | Standing::Holds { .. } if is_below => confirmed,
        own => own,
    }
}

/// Where a point stands among the others, in few words.
pub(super) fn words(curve: &Curve, point: &CurvePoint) -> String {
    if point.validity == Validity::NotTrusted {
        return "not trusted".to_owned();
    }
    let is_broken = || point.trials_breaking.unwrap_or(0) > 0;
    let word = match standing_among(curve, point) {
        Standing::Holds { confirmed: true } => names::fit(Fit::Met),
        Standing::Holds { confirmed: false } => "met, not confirmed",
        Standing::Fails if breaks(point) || !is_broken() => names::fit(Fit::NotMet),
        Standing::Fails => {
            let broken = point.trials_breaking.unwrap_or(0);
            return format!("broken by {broken} of {}", point.trials);
        }
        Standing::Open => names::fit(Fit::NotProven),
    };
    match point.trials {
        0 | 1 => word.to_owned(),
        trials => format!("{word} ×{trials}"),
    }
}

/// Whether its own figures break the target: the interval of its trials does, each
/// trial, or all of them together where none tells by itself. Others fail because some
/// of several trials broke it.
pub(super) fn breaks(point: &CurvePoint) -> bool {
    let broken = point.trials_breaking.unwrap_or(0);
    let only_some = broken > 0 && broken < point.trials;
    let fitness = point.fitness.as_ref();
    let is_beyond = |f: &Fitness| match (f.outcome, f.worst_ratio) {
        (Fit::NotMet, _) => true,
        (_, Some(ratio)) => ratio > 1.0 && !only_some,
        (_, None) => false,
    };
    point.saturated || fitness.is_some_and(is_beyond)
}

/// Those of the points that can be trusted: what an answer is of.
pub(super) fn trusted(sweep: Sweep, points: &[CurvePoint], read_percent: u8) -> Vec<&CurvePoint> {
    let mut all = candidates(sweep, points, read_percent);
    all.retain(|point| point.validity != Validity::NotTrusted);
    all
}

/// The points that a target is searched among, ascending in load.
pub(super) fn candidates(
    sweep: Sweep,
    points: &[CurvePoint],
    read_percent: u8,
) -> Vec<&CurvePoint> {
    let open = sweep != Sweep::Depth;
    let mut out: Vec<&CurvePoint> = points
        .iter()
        .filter(|p| p.read_percent == read_percent && p.offered_per_second.is_some() == open)
        .collect();
    out.sort_by(|a, b| load(a).total_cmp(&load(b)).then(a.depth.cmp(&b.depth)));
    if !open {
        out.sort_by_key(|p| p.depth);
    }
    out
}

/// The load of a point: what was offered, or what a closed loop took.
pub(super) fn load(point: &CurvePoint) -> f64 {
    let measured = point.ops_per_second.value.unwrap_or(0.0);
    point.offered_per_second.unwrap_or(measured)
}

/// The highest point below the lowest that fails, and that one.
pub(super) fn bracket<'a>(
    candidates: &[&'a CurvePoint],
) -> (Option<&'a CurvePoint>, Option<&'a CurvePoint>) {
    let fails = candidates
        .iter()
        .position(|p| standing(p) == Standing::Fails);
    let below = &candidates[..fails.unwrap_or(candidates.len())];
    let holds = below
        .iter()
        .rev()
        .find(|p| matches!(standing(p), Standing::Holds { .. }));
    (holds.copied(), fails.map(|at| candidates[at]))
}

/// The highest point below the lowest that fails of which it is confirmed that it holds.
fn known_to_hold<'a>(candidates: &[&'a CurvePoint]) -> Option<&'a CurvePoint> {
    let standings = candidates.iter().map(|point| (point, standing(point)));
    let below = standings.take_while(|(_, at)| *at != Standing::Fails);
    let confirmed = Standing::Holds { confirmed: true };
    let known = below.filter(|(_, at)| *at == confirmed).last();
    known.map(|(point, _)| *point)
}

/// One answer for each mix of reads and writes; none without a target.
pub(super) fn all(sweep: Sweep, points: &[CurvePoint]) -> Vec<HoldingLoad> {
    let mut mixes: Vec<u8> = points.iter().map(|p| p.read_percent).collect();
    mixes.sort_unstable_by(|a, b| b.cmp(a));
    mixes.dedup();
    mixes
        .into_iter()
        .filter_map(|mix| {
            let asked = candidates(sweep, points, mix);
            let fitness = asked.iter().find_map(|p| p.fitness.as_ref())?;
            let trusted = trusted(sweep, points, mix);
            Some(answer(&fitness.target, &trusted, mix))
        })
        .collect()
}

fn answer(target: &str, candidates: &[&CurvePoint], read_percent: u8) -> HoldingLoad {
    let (holds, fails) = bracket(candidates);
    // What is known to hold is the answer; higher loads that may hold as well are none.
    let known = known_to_hold(candidates);
    let (holds, confirmed) = (known.or(holds), known.is_some());
    HoldingLoad {
        target: target.to_owned(),
        read_percent,
        held_per_second: holds.map(load),
        held_row: holds.map(|p| p.row),
        failed_per_second: fails.map(load),
        failed_row: fails.map(|p| p.row),
        confirmed,
        evidence: evidence(target, holds, fails, confirmed, fails_at_least(candidates)),
    }
}

/// Whether even the least load that was tried fails.
pub(super) fn fails_at_least(candidates: &[&CurvePoint]) -> bool {
    let least = candidates.first();
    least.is_some_and(|p| standing(p) == Standing::Fails)
}

fn evidence(
    target: &str,
    holds: Option<&CurvePoint>,
    fails: Option<&CurvePoint>,
    confirmed: bool,
    least: bool,
) -> String {
    let held = match holds {
        Some(p) => {
            let is = if confirmed { "is" } else { "looks" };
            let held = held_text(p, confirmed);
            format!("{target} {is} met up to {}: {held}", at(p))
        }
        None if fails.is_some() && least => format!("{target} is not held by any load"),
        None => format!("no load is known to hold {target}"),
    };
    match (holds, fails) {
        (Some(_), Some(p)) if breaks(p) => {
            format!("{held}; not at {}: {}", at(p), failed_text(p))
        }
        (Some(_), Some(p)) => format!("{held}; not safely at {}: {}", at(p), failed_text(p)),
        (Some(_), None) => format!("{held}; no load that was tried is known to break it"),
        (None, Some(p)) => format!("{held}: not by {}: {}", at(p), failed_text(p)),
        (None, None) => held,
    }
}

/// The load of a point in words.
fn at(point: &CurvePoint) -> String {
    let rate = unit::count(load(point));
    match point.offered_per_second {
        Some(_) => format!("{rate} ops/s"),
        None => format!("depth {} ({rate} ops/s)", point.depth),
    }
}

/// The answer in a sentence, and what was seen at both loads in one each.
pub(super) fn sentences(points: &[CurvePoint], answer: &HoldingLoad) -> Vec<String> {
    let point_of = |row: Option<u32>| points.iter().find(|point| Some(point.row) == row);
    let (held, failed) = (point_of(answer.held_row), point_of(answer.failed_row));
    let (Some(held), Some(failed)) = (held, failed) else {
        return vec![answer.evidence.clone()];
    };
    let not = if breaks(failed) { "not" } else { "not safely" };
    let (up_to, beyond) = (at(held), at(failed));
    vec![
        match answer.confirmed {
            true => format!("{} is met up to {up_to}, {not} at {beyond}", answer.target),
            false => format!(
                "{} looks met up to {up_to}, which is not confirmed, {not} at {beyond}",
                answer.target
            ),
        },
        format!("at {up_to}: {}", held_text(held, answer.confirmed)),
        format!("at {beyond}: {}", failed_text(failed)),
    ]
}

fn held_text(point: &CurvePoint, confirmed: bool) -> String {
    let figures = figures(point);
    let proven = point
        .fitness
        .as_ref()
        .is_some_and(|f| f.outcome == Fit::Met);
    let trials = trials(point.trials);
    match (proven, confirmed) {
        (true, _) => format!("{figures}, the 95 % interval of {trials}"),
        (false, true) => format!("{figures}; each of {trials} holds it"),
        (false, false) => format!("{figures}, in {trials} only: not confirmed"),
    }
}

fn failed_text(point: &CurvePoint) -> String {
    if point.saturated {
        return "saturated".to_owned();
    }
    let figures = figures(point);
    let broken = point.trials_breaking.unwrap_or(0);
    let proven = point
        .fitness
        .as_ref()
        .is_some_and(|f| f.outcome == Fit::NotMet);
    let trials_in_words = trials(point.trials);
    match broken {
        _ if !proven && point.trials < ENOUGH_TRIALS => {
            format!("{figures}, far beyond it, in {trials_in_words} only: not confirmed")
        }
        _ if point.trials == 1 => figures,
        // Each trial by itself holds too few operations to tell.
        0 => format!("{figures}, over {trials_in_words} together"),
        1 => format!("{figures}; 1 of {trials_in_words} breaks it"),
        broken => format!("{figures}; {broken} of {trials_in_words} break it"),
    }
}

fn figures(point: &CurvePoint) -> String {
    let fitness = point.fitness.as_ref();
    fitness.map(|f| f.evidence.clone()).unwrap_or_default()
}

fn trials(count: u32) -> String {
    match count {
        1 => "1 trial".to_owned(),
        n => format!("{n} trials"),
    }
}

#[cfg(test)]
mod tests {
    use fathom_model::estimate::{Estimate, Unit};
    use fathom_model::verdict::Limiter;

    use super::*;

    fn breaking(trials: u32, outcome: Fit, broken: u32) -> String {
        failed_text(&point(trials, outcome, broken))
    }

    fn point(trials: u32, outcome: Fit, broken: u32) -> CurvePoint {
        CurvePoint {
            row: 0,
            label: "at 262".to_owned(),
            depth: 1,
            block_bytes: 4096,
            active_bytes: 1 << 30,
            offset_bytes: 0,
            read_percent: 100,
            offered_per_second: Some(262.0),
            trials,
            ops_per_second: Estimate::unknown(Unit::OpsPerSecond, "made up"),
            bytes_per_second: Estimate::unknown(Unit::BytesPerSecond, "made up"),
            latency: None,
            lateness_p99_ns: None,
            mean_in_flight: None,
            saturated: false,
            late: false,
            validity: Validity::Caveats,
            limiter: Limiter::Unknown,
            fitness: Some(Fitness {
                target: "p99<2ms".to_owned(),
                outcome,
                worst_ratio: Some(1.3),
                evidence: "p99 2.55 ms".to_owned(),
            }),
            trials_holding: Some(0),
            trials_breaking: Some(broken),
            probe: false,
        }
    }

    /// A point at this many operations per second, measured in three trials.
    fn at_load(load: u32, outcome: Fit, holding: u32, validity: Validity) -> CurvePoint {
        let point = point(3, outcome, 3 - holding);
        CurvePoint {
            row: load,
            offered_per_second: Some(f64::from(load)),
            trials_holding: Some(holding),
            validity,
            ..point
        }
    }

    #[test]
    fn the_answer_is_the_highest_load_that_is_confirmed() {
        let mut unsure = at_load(200, Fit::NotProven, 3, Validity::Trusted);
        // Its own trials do not tell, all of them together hold.
        unsure.trials_holding = Some(1);
        unsure.trials_breaking = Some(0);
        unsure.fitness.as_mut().unwrap().worst_ratio = Some(0.97);
        let points = [
            at_load(100, Fit::Met, 3, Validity::Trusted),
            unsure,
            at_load(300, Fit::NotProven, 2, Validity::Trusted),
        ];
        let answers = all(Sweep::Load, &points);
        let answer = answers.first().unwrap();
        assert_eq!((answer.held_row, answer.confirmed), (Some(100), true));
        assert_eq!(answer.failed_row, Some(300));
        let headline = &sentences(&points, answer)[0];
        assert_eq!(
            headline,
            "p99<2ms is met up to 100 ops/s, not safely at 300 ops/s"
        );
        let without = all(Sweep::Load, &points[1..]);
        let headline = &sentences(&points, &without[0])[0];
        assert!(headline.contains("looks met up to 200"), "{headline}");
    }

    #[test]
    fn what_is_not_trusted_proves_nothing() {
        let points = [
            at_load(100, Fit::NotMet, 0, Validity::NotTrusted),
            at_load(200, Fit::Met, 3, Validity::Trusted),
        ];
        let answer = &all(Sweep::Load, &points)[0];
        assert_eq!((answer.held_row, answer.failed_row), (Some(200), None));
        // Where nothing can be trusted, the target is still answered for.
        let answer = &all(Sweep::Load, &points[..1])[0];
        assert_eq!((answer.held_row, answer.failed_row), (None, None));
        assert_eq!(answer.evidence, "no load is known to hold p99<2ms");
    }

    #[test]
    fn what_breaks_a_target_is_never_no_trial() {
        let unproven = breaking(2, Fit::NotProven, 0);
        assert!(
            unproven.ends_with("in 2 trials only: not confirmed"),
            "{unproven}"
        );
        let together = breaking(3, Fit::NotProven, 0);
        assert_eq!(together, "p99 2.55 ms, over 3 trials together");
        assert_eq!(breaking(3, Fit::NotMet, 0), together);
        assert_eq!(breaking(1, Fit::NotMet, 1), "p99 2.55 ms");
        let some = breaking(3, Fit::NotProven, 2);
        assert_eq!(some, "p99 2.55 ms; 2 of 3 trials break it");
    }
}
