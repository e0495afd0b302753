//! Is it good enough? A result held against the target that the user set.
//!
//! A condition is met when the whole 95 % interval of its figure keeps the
//! bound, not met when the whole interval breaks it, and not proven in
//! between, or where the data give no interval. A figure that every second keeps far
//! from its bound needs none. A largest value is a fact of
//! the run. A number that is not trusted proves nothing.

use fathom_model::estimate::Estimate;
use fathom_model::judged::{LatencySummary, OpSummary};
use fathom_model::op::OpKind;
use fathom_model::slo::{Condition, Slo, SloFigure};
use fathom_model::unit;
use fathom_model::verdict::{Fit, Fitness, Validity};
use fathom_rules::method::far_below::{LEAST_SECONDS, THRESHOLD};
use fathom_stats::clustered_share::clustered_share;

use crate::summary::KindLatencies;

/// One condition against one figure.
struct Held {
    outcome: Fit,
    /// Figure over bound, or bound over figure for rates.
    ratio: Option<f64>,
    text: String,
}

/// Holds a result against a target.
pub(crate) fn fitness(
    slo: &Slo,
    ops: &[OpSummary],
    latencies: &[KindLatencies<'_>],
    validity: Validity,
) -> Fitness {
    let held: Vec<Held> = slo
        .conditions()
        .iter()
        .flat_map(|condition| check(condition, ops, latencies))
        .collect();
    let mut outcome = held.iter().map(|h| h.outcome).max();
    let mut texts: Vec<String> = held.iter().map(|h| h.text.clone()).collect();
    if validity == Validity::NotTrusted {
        outcome = Some(Fit::NotProven);
        texts.push("the number is not trusted".to_owned());
    }
    if validity == Validity::NotDetermined {
        outcome = Some(Fit::NotProven);
        texts.push("whether the number is true could not be determined".to_owned());
    }
    let known: Vec<f64> = held.iter().filter_map(|h| h.ratio).collect();
    let worst = known.iter().copied().fold(0.0, f64::max);
    // An unknown figure matters only where the known ones hold.
    let tells = worst > 1.0 || (known.len() == held.len() && !known.is_empty());
    Fitness {
        target: slo.to_string(),
        outcome: outcome.unwrap_or(Fit::NotProven),
        worst_ratio: tells.then_some(worst),
        evidence: texts.join("; "),
    }
}

/// Several verdicts on fitness as one: the worst decides.
pub(crate) fn fold<'a>(all: impl Iterator<Item = (String, &'a Fitness)>) -> Option<Fitness> {
    let all: Vec<(String, &Fitness)> = all.collect();
    let (label, worst) = all.iter().max_by(|a, b| {
        let key = |f: &Fitness| (f.outcome, f.worst_ratio.unwrap_or(f64::INFINITY));
        let (a, b) = (key(a.1), key(b.1));
        a.0.cmp(&b.0).then(a.1.total_cmp(&b.1))
    })?;
    let mut fitness = (*worst).clone();
    if all.len() > 1 {
        let alike = all.iter().filter(|f| f.1.outcome == worst.outcome).count();
        fitness.evidence = format!(
            "{} [{label}; {alike} of {} rows alike]",
            fitness.evidence,
            all.len()
        );
    }
    Some(fitness)
}

fn check<'o>(
    condition: &Condition,
    ops: &'o [OpSummary],
    latencies: &[KindLatencies<'_>],
) -> Vec<Held> {
    if condition.figure.is_rate() {
        let kinds: Vec<&'o OpSummary> = ops
            .iter()
            .filter(|op| match condition.op {
                Some(kind) => op.kind == kind,
                None => op.kind.is_data(),
            })
            .collect();
        let of = |op: &&'o OpSummary| match condition.figure {
            SloFigure::Ops => &op.ops_per_second,
            _ => &op.bytes_per_second,
        };
        let parts: Vec<&Estimate> = kinds.iter().map(of).collect();
        let held = rate(condition, sum(&parts));
        return vec![decided(held, || far_rate(condition, &kinds, latencies))];
    }
    let kinds: Vec<&OpSummary> = ops
        .iter()
        .filter(|op| op.ops > 0)
        .filter(|op| match condition.op {
            Some(kind) => op.kind == kind,
            None => op.kind != OpKind::Sync,
        })
        .collect();
    if kinds.is_empty() {
        return vec![Held {
            outcome: Fit::NotProven,
            ratio: None,
            text: format!("{condition}: no such operation completed"),
        }];
    }
    let several = kinds.len() > 1;
    let of = |op: &&OpSummary| {
        decided(latency(condition, op, several), || {
            let own = latencies.iter().find(|own| own.kind == op.kind)?;
            let broken = too_many_are_slow(condition, own).map(|text| (Fit::NotMet, text));
            broken.or_else(|| Some((Fit::Met, far_below(condition, own)?)))
        })
    };
    kinds.iter().map(of).collect()
}

/// What an interval leaves open, decided by what else there is.
fn decided(held: Held, otherwise: impl FnOnce() -> Option<(Fit, String)>) -> Held {
    if held.outcome != Fit::NotProven {
        return held;
    }
    match otherwise() {
        Some((outcome, text)) => Held {
            outcome,
            // The answer needs no figure, so nobody asks why there is none.
            text: match held.ratio {
                Some(_) => format!("{}; {text}", held.text),
                None => text,
            },
            ..held
        },
        None => held,
    }
}

/// Rates of several kinds together. Kinds share a device, so their errors may
/// go together: the ends of the intervals are added.
pub fn sum(parts: &[&Estimate]) -> Option<Estimate> {
    let (first, rest) = parts.split_first()?;
    let mut total = (*first).clone();
    let add = |a: Option<f64>, b: Option<f64>| a.zip(b).map(|(a, b)| a + b);
    for part in rest {
        total.value = add(total.value, part.value);
        total.low = add(total.low, part.low);
        total.high = add(total.high, part.high);
        total.n_effective = match (total.n_effective, part.n_effective) {
            (Some(a), Some(b)) => Some(a.min(b)),
            _ => None,
        };
        total.reason = total.reason.or_else(|| part.reason.clone());
    }
    Some(total)
}

fn rate(condition: &Condition, total: Option<Estimate>) -> Held {
    match total {
        Some(estimate) => {
            let name = condition.figure.to_string();
            estimated(condition, &estimate, &name, |v| amount(condition, v))
        }
        None => Held {
            outcome: Fit::NotProven,
            ratio: None,
            text: format!("{condition}: no such operation was part of the load"),
        },
    }
}

/// A rate in the unit of the condition.
fn amount(condition: &Condition, value: f64) -> String {
    match condition.figure {
        SloFigure::Ops => format!("{} ops/s", unit::count(value)),
        _ => unit::throughput(value),
    }
}

fn latency(condition: &Condition, op: &OpSummary, several: bool) -> Held {
    let latency = op.response.as_ref().unwrap_or(&op.service);
    let kind = match several || condition.op.is_some() {
        true => format!("{} ", op.kind.name()),
        false => String::new(),
    };
    let which = match op.response {
        Some(_) => "response",
        None => "service",
    };
    let name = format!("{kind}{which} {}", condition.figure);
    let estimate = match condition.figure {
        SloFigure::Max => {
            let value = latency.max_ns.map(|ns| ns as f64);
            return maximum(condition, value, &name);
        }
        SloFigure::Mean => Some(&latency.mean_ns),
        figure => {
            let percent = figure.percent().unwrap_or(0.0);
            let found = latency.percentiles.iter();
            found
                .filter(|p| (p.percent - percent).abs() < 1e-6)
                .map(|p| &p.latency_ns)
                .next()
        }
    };
    let known = |e: &&Estimate| e.value.is_some();
    match estimate {
        Some(unknown) if !known(&unknown) => broken_below(condition, latency, &name)
            .unwrap_or_else(|| estimated(condition, unknown, &name, unit::latency)),
        Some(estimate) => estimated(condition, estimate, &name, unit::latency),
        None => Held {
            outcome: Fit::NotProven,
            ratio: None,
            text: format!("{name} was not computed"),
        },
    }
}

/// Where a percentile is not known, a lower one that breaks the bound already
/// tells as much.
fn broken_below(condition: &Condition, latency: &LatencySummary, name: &str) -> Option<Held> {
    let percent = condition.figure.percent()?;
    let lower = latency.percentiles.iter().filter(|p| p.percent < percent);
    let (at, value, low) = lower
        .filter_map(|p| Some((p.percent, p.latency_ns.value?, p.latency_ns.low)))
        .rfind(|(_, value, _)| !holds(condition, *value))?;
    Some(Held {
        outcome: match low {
            Some(low) if !holds(condition, low) => Fit::NotMet,
            _ => Fit::NotProven,
        },
        ratio: Some(ratio(condition, value)),
        text: format!(
            "{name} is above {}: p{at} is {} already",
            unit::latency(condition.bound as f64),
            unit::latency(value)
        ),
    })
}

/// That more operations took longer than the bound than the percentile allows, however
/// they are clustered: pauses leave a percentile without an interval.
fn too_many_are_slow(condition: &Condition, latencies: &KindLatencies<'_>) -> Option<String> {
    let allowed = 1.0 - condition.figure.percent()? / 100.0;
    let (_, latencies) = latencies.relevant();
    let slow = clustered_share(&latencies.slower_than(condition.bound))?;
    (slow.at_least > allowed).then(|| {
        let bound = unit::latency(condition.bound as f64);
        if slow.share >= 1.0 {
            return format!("every operation took longer than {bound}");
        }
        format!(
            "{:.1} % of the operations took longer than {bound}, in {} (95 % sure: {:.1} % or more)",
            100.0 * slow.share,
            unit::counted(slow.clusters as u64, "period"),
            100.0 * slow.at_least
        )
    })
}

/// That every second kept the percentile a multiple below its bound: such a distance needs
/// no interval, which some seconds that go together don't give.
fn far_below(condition: &Condition, latencies: &KindLatencies<'_>) -> Option<String> {
    let allowed = 1.0 - condition.figure.percent()? / 100.0;
    let (_, latencies) = latencies.relevant();
    let far_ns = (condition.bound as f64 / THRESHOLD) as u64;
    let seconds = latencies.slower_than(far_ns);
    let seconds: Vec<_> = seconds.iter().filter(|(_, all)| *all > 0.0).collect();
    // Of few operations in a second one that is slow is more than the share.
    let is_kept = |(slow, all): &&(f64, f64)| *slow <= allowed * *all && *all * allowed >= 1.0;
    let lasts = seconds.len() as f64 >= LEAST_SECONDS;
    (lasts && seconds.iter().all(is_kept)).then(|| {
        format!(
            "below {} in each of {} seconds",
            unit::latency(far_ns as f64),
            seconds.len()
        )
    })
}

/// That every second had a rate a multiple above its bound, or below it.
fn far_rate(
    condition: &Condition,
    kinds: &[&OpSummary],
    latencies: &[KindLatencies<'_>],
) -> Option<(Fit, String)> {
    let mut rates: Vec<f64> = Vec::new();
    for op in kinds.iter().filter(|op| op.ops > 0) {
        let own = latencies.iter().find(|own| own.kind == op.kind)?;
        let each = match condition.figure {
            SloFigure::Ops => 1.0,
            _ => op.bytes as f64 / op.ops as f64,
        };
        let (_, latencies) = own.relevant();
        let seconds = latencies.slower_than(0);
        rates.resize(rates.len().max(seconds.len()), 0.0);
        for (rate, (_, all)) in rates.iter_mut().zip(&seconds) {
            *rate += all * each;
        }
    }
    let bound = condition.bound as f64;
    let least = rates.iter().copied().fold(f64::INFINITY, f64::min);
    let most = rates.iter().copied().fold(0.0, f64::max);
    if (rates.len() as f64) < LEAST_SECONDS {
        return None;
    }
    let seconds = rates.len();
    if least >= THRESHOLD * bound {
        let text = format!(
            "at least {} in each of {seconds} seconds",
            amount(condition, least)
        );
        return Some((Fit::Met, text));
    }
    let text = format!(
        "at most {} in each of {seconds} seconds",
        amount(condition, most)
    );
    (most <= bound / THRESHOLD).then_some((Fit::NotMet, text))
}

/// The largest value is exact for the run, and says nothing beyond it.
fn maximum(condition: &Condition, value: Option<f64>, name: &str) -> Held {
    let Some(value) = value else {
        return Held {
            outcome: Fit::NotProven,
            ratio: None,
            text: format!("{name} is not known"),
        };
    };
    let ratio = ratio(condition, value);
    Held {
        outcome: if holds(condition, value) {
            Fit::Met
        } else {
            Fit::NotMet
        },
        ratio: Some(ratio),
        text: format!(
            "{name} {} against {}",
            unit::latency(value),
            unit::latency(condition.bound as f64)
        ),
    }
}

fn holds(condition: &Condition, value: f64) -> bool {
    let bound = condition.bound as f64;
    match (condition.figure.is_rate(), condition.inclusive) {
        (true, true) => value >= bound,
        (true, false) => value > bound,
        (false, true) => value <= bound,
        (false, false) => value < bound,
    }
}

fn ratio(condition: &Condition, value: f64) -> f64 {
    let bound = condition.bound as f64;
    match condition.figure.is_rate() {
        true => bound / value.max(f64::MIN_POSITIVE),
        false => value / bound.max(1.0),
    }
}

fn estimated(
    condition: &Condition,
    estimate: &Estimate,
    name: &str,
    amount: impl Fn(f64) -> String,
) -> Held {
    let bound = amount(condition.bound as f64);
    let Some(value) = estimate.value else {
        let reason = estimate.reason.as_deref().unwrap_or("not measured");
        return Held {
            outcome: Fit::NotProven,
            ratio: None,
            text: format!("{name} is not known against {bound}: {reason}"),
        };
    };
    let (outcome, range) = match (estimate.low, estimate.high) {
        (Some(low), Some(high)) => {
            let outcome = match (holds(condition, low), holds(condition, high)) {
                (true, true) => Fit::Met,
                (false, false) => Fit::NotMet,
                _ => Fit::NotProven,
            };
            (outcome, format!(" ({} to {})", amount(low), amount(high)))
        }
        _ => {
            let longer = estimate.run_longer_ns.map(fathom_model::figure::longer);
            let longer =
                longer.map_or(String::new(), |longer| format!("; measure {longer} longer"));
            (Fit::NotProven, format!(" (no interval{longer})"))
        }
    };
    Held {
        outcome,
        ratio: Some(ratio(condition, value)),
        text: format!("{name} {}{range} against {bound}", amount(value)),
    }
}

#[cfg(test)]
#[path = "fitness_tests.rs"]
mod tests;
