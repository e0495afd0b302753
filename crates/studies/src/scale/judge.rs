//! The same work on growing numbers of hosts: speed-up, efficiency, the law
//! through them, and what stops the growth.
//!
//! A study is drawn from a run's own trials, so that a stored run shows it
//! again. Each block is a set of measurements close in time: speed-ups are
//! those within a block, so that slow drift does not pass for scaling.

use std::collections::{BTreeMap, BTreeSet};

use fathom_analysis::judgement::{self, Trial, sum_of_turns};
use fathom_model::JudgedRun;
use fathom_model::estimate::{Estimate, Unit};
use fathom_model::fingerprint::BOOT_ID;
use fathom_model::op::OpKind;
use fathom_model::run::{RunRecord, RunState};
use fathom_model::scale::{
    LimiterCount, Saturation, ScalePoint, ScaleStudy, ScaledOperation, ScalingLaw,
};
use fathom_model::schedule::Purpose;
use fathom_model::verdict::{Limiter, Validity};
use fathom_rules::method::scale::{
    LEAST_NUMBERS, LEAST_NUMBERS_FOR_PEAK, THRESHOLD as LEAST_EFFICIENCY, UNPRINTABLE,
};
use fathom_stats::moments::Moments;
use fathom_stats::student::student_975;

use super::{answers, law};

/// Why agents are not counted as hosts.
const SHARED: &str = "several of the agents shared one machine";

/// The parts of one workload that ran at the same time: places of trials.
type Turn = Vec<usize>;

/// By block, then by number of hosts.
type Turns = BTreeMap<u32, BTreeMap<u32, Turn>>;

/// Draws the study of a judged run, where it is one.
pub(super) fn draw(run: &mut JudgedRun, record: &RunRecord, trials: &[Trial<'_>]) {
    let Purpose::Scale { numbers, blocks } = &run.run.purpose else {
        return;
    };
    let mut operations = Vec::new();
    for (label, turns) in workloads(record, trials) {
        for kind in kinds(&turns, trials) {
            let mut points = points(&turns, kind, numbers, run, trials);
            for point in &mut points {
                hold_to_machines(point, &turns, record, trials);
            }
            operations.push(operation(label.clone(), kind, points));
        }
    }
    let mut study = ScaleStudy {
        numbers: numbers.clone(),
        blocks: *blocks,
        machines: machines(record),
        operations,
        answers: Vec::new(),
    };
    study.answers = answers::of(&study);
    run.scale = Some(study);
}

/// How many machines the hosts of a run are, where that are fewer: agents may share
/// one, which its kernel's boot id shows.
fn machines(record: &RunRecord) -> Option<u32> {
    let all: BTreeSet<u32> = (0..record.meta.hosts.len() as u32).collect();
    let machines = machines_of(record, &all);
    (machines < all.len()).then_some(machines as u32)
}

/// How many machines these hosts are.
fn machines_of(record: &RunRecord, hosts: &BTreeSet<u32>) -> usize {
    let of = |host: &u32| {
        let facts = &record.meta.hosts.get(*host as usize)?.fingerprint.facts;
        facts.get(BOOT_ID)
    };
    let named: BTreeSet<&String> = hosts.iter().filter_map(of).collect();
    named.len() + hosts.iter().filter(|host| of(host).is_none()).count()
}

/// The turns of each workload, in the order in which they first ran.
fn workloads(record: &RunRecord, trials: &[Trial<'_>]) -> Vec<(String, Turns)> {
    let mut found: Vec<(String, Turns)> = Vec::new();
    for range in judgement::turns(trials) {
        let mut of_turn: BTreeMap<String, (u32, u32, Turn)> = BTreeMap::new();
        for place in range {
            let spec = &trials[place].record.spec;
            let Some((label, hosts)) = named(record, &spec.label, spec.host) else {
                continue;
            };
            let entry = of_turn.entry(label);
            let entry = entry.or_insert_with(|| (spec.iteration, hosts, Vec::new()));
            entry.2.push(place);
        }
        for (label, (block, hosts, turn)) in of_turn {
            let known = found.iter().position(|(known, _)| *known == label);
            let at = known.unwrap_or_else(|| {
                found.push((label, Turns::new()));
                found.len() - 1
            });
            found[at].1.entry(block).or_default().insert(hosts, turn);
        }
    }
    found
}

/// The workload and the number of hosts from `LABEL by N on HOST`.
fn named(record: &RunRecord, label: &str, host: Option<u32>) -> Option<(String, u32)> {
    let host = record.meta.hosts.get(host? as usize)?;
    let label = label.strip_suffix(&format!(" on {}", host.name))?;
    let Some((name, hosts)) = label.rsplit_once(" by ") else {
        // One number only.
        return Some((label.to_owned(), record.meta.hosts.len() as u32));
    };
    Some((name.to_owned(), hosts.parse().ok()?))
}

/// The kinds of operations that a workload did.
fn kinds(turns: &Turns, trials: &[Trial<'_>]) -> Vec<OpKind> {
    let places = turns.values().flat_map(|block| block.values().flatten());
    let mut done = [false; OpKind::ALL.len()];
    for place in places {
        for op in trials[*place].seconds.iter().flat_map(|s| &s.groups) {
            for op in op.ops.iter().filter(|op| op.ops > 0) {
                done[op.kind.index()] = true;
            }
        }
    }
    let all = OpKind::ALL.into_iter();
    all.filter(|kind| done[kind.index()] && *kind != OpKind::Commit)
        .collect()
}

fn points(
    turns: &Turns,
    kind: OpKind,
    numbers: &[u32],
    run: &JudgedRun,
    trials: &[Trial<'_>],
) -> Vec<ScalePoint> {
    let unit = unit_of(turns, kind, trials);
    let of_turn = |turn: &Turn, hosts: u32| -> Option<f64> {
        let whole = turn.len() == hosts as usize
            && turn
                .iter()
                .all(|at| trials[*at].record.state == RunState::Complete);
        whole.then(|| rate(std::slice::from_ref(turn), kind, unit, trials).value)?
    };
    let of_block = |hosts: u32| -> Vec<Option<f64>> {
        let of = |block: &BTreeMap<u32, Turn>| of_turn(block.get(&hosts)?, hosts);
        turns.values().map(of).collect()
    };
    let alone = of_block(1);
    numbers
        .iter()
        .map(|hosts| {
            let of_blocks = of_block(*hosts);
            let blocks = turns.values();
            let all: Vec<Turn> = blocks.filter_map(|b| b.get(hosts).cloned()).collect();
            let speed_up = match *hosts {
                1 => Estimate::known(Unit::Ratio, 1.0, 1.0, 1.0, alone.len() as f64),
                _ => ratio(&of_blocks, &alone),
            };
            ScalePoint {
                hosts: *hosts,
                rate: rate(&all, kind, unit, trials),
                efficiency: scaled(&speed_up, 1.0 / f64::from(*hosts)),
                speed_up,
                of_blocks,
                validity: validity(&all, run),
                limiters: limiters(&all, run),
            }
        })
        .collect()
}

/// Agents that shared a machine are no hosts by which anything could grow.
fn hold_to_machines(
    point: &mut ScalePoint,
    turns: &Turns,
    record: &RunRecord,
    trials: &[Trial<'_>],
) {
    let of_turns = turns.values().filter_map(|block| block.get(&point.hosts));
    let shared = of_turns.into_iter().any(|turn| {
        let hosts = turn.iter().filter_map(|at| trials[*at].record.spec.host);
        let hosts: BTreeSet<u32> = hosts.collect();
        machines_of(record, &hosts) < hosts.len()
    });
    if shared {
        point.speed_up = Estimate::unknown(Unit::Ratio, SHARED);
        point.efficiency = Estimate::unknown(Unit::Ratio, SHARED);
    }
}

/// Bytes of data in sequence, else operations.
fn unit_of(turns: &Turns, kind: OpKind, trials: &[Trial<'_>]) -> Unit {
    let first = turns
        .values()
        .flat_map(|block| block.values().flatten())
        .next();
    let random = first.is_none_or(|at| trials[*at].workload.pattern.is_random());
    match kind.is_data() && !random {
        true => Unit::BytesPerSecond,
        false => Unit::OpsPerSecond,
    }
}

/// What turns did together.
fn rate(turns: &[Turn], kind: OpKind, unit: Unit, trials: &[Trial<'_>]) -> Estimate {
    let sum = match sum_of_turns(turns, trials) {
        (Some(sum), _) => sum,
        (None, note) => return Estimate::unknown(unit, note.unwrap_or_default()),
    };
    let op = sum.ops.into_iter().find(|op| op.kind == kind);
    let rate = op.map(|op| match unit {
        Unit::BytesPerSecond => op.bytes_per_second,
        _ => op.ops_per_second,
    });
    rate.unwrap_or_else(|| Estimate::unknown(unit, "nothing was measured"))
}

/// The geometric mean of the ratios within blocks, with Student's interval of
/// their logarithms.
fn ratio(above: &[Option<f64>], below: &[Option<f64>]) -> Estimate {
    let pairs = above.iter().zip(below);
    let logs: Vec<f64> = pairs
        .filter_map(|(above, below)| Some(((*above)? / (*below)?).ln()))
        .filter(|log| log.is_finite())
        .collect();
    let Some(moments) = Moments::of(&logs) else {
        return Estimate::unknown(Unit::Ratio, "no block has both one host and so many");
    };
    let Moments { count, mean, .. } = moments;
    match moments.standard_error() {
        None => Estimate::point(Unit::Ratio, mean.exp(), "one block has no interval"),
        Some(error) => {
            let half = student_975(count - 1.0) * error;
            let (low, high) = ((mean - half).exp(), (mean + half).exp());
            if (high - low) / 2.0 > UNPRINTABLE * mean.exp() {
                let reason = format!(
                    "the blocks differ so much that it is anything from {low:.2} to {high:.2} \
                     times; more blocks tell (--blocks)"
                );
                return Estimate::unknown(Unit::Ratio, reason);
            }
            Estimate::known(Unit::Ratio, mean.exp(), low, high, count)
        }
    }
}

fn scaled(estimate: &Estimate, by: f64) -> Estimate {
    let times = |value: Option<f64>| value.map(|value| value * by);
    Estimate {
        value: times(estimate.value),
        low: times(estimate.low),
        high: times(estimate.high),
        ..estimate.clone()
    }
}

fn validity(turns: &[Turn], run: &JudgedRun) -> Validity {
    let trials = turns.iter().flatten().filter_map(|at| run.trials.get(*at));
    let worst = trials.map(|trial| trial.verdict.validity).max();
    worst.unwrap_or(Validity::NotTrusted)
}

fn limiters(turns: &[Turn], run: &JudgedRun) -> Vec<LimiterCount> {
    let mut counts: Vec<LimiterCount> = Vec::new();
    for trial in turns.iter().flatten().filter_map(|at| run.trials.get(*at)) {
        let limiter = trial.verdict.limiter;
        match counts.iter_mut().find(|count| count.limiter == limiter) {
            Some(count) => count.trials += 1,
            None => counts.push(LimiterCount {
                limiter,
                trials: 1,
                evidence: trial.verdict.limiter_evidence.clone(),
            }),
        }
    }
    counts.sort_by_key(|count| std::cmp::Reverse(count.trials));
    counts
}

fn operation(label: String, kind: OpKind, points: Vec<ScalePoint>) -> ScaledOperation {
    let shared = |point: &ScalePoint| point.speed_up.reason.as_deref() == Some(SHARED);
    let (law, note) = match points.iter().any(shared) {
        true => (None, Some(format!("no scalability law, because {SHARED}"))),
        false => law(&points),
    };
    let saturation = saturation(&points);
    ScaledOperation {
        label,
        kind,
        points,
        law,
        note,
        saturation,
    }
}

fn law(points: &[ScalePoint]) -> (Option<ScalingLaw>, Option<String>) {
    if points.len() < LEAST_NUMBERS {
        let note = "the law needs three numbers of hosts at least";
        return (None, Some(note.to_owned()));
    }
    let numbers: Vec<f64> = points.iter().map(|point| f64::from(point.hosts)).collect();
    let blocks = points.first().map_or(0, |point| point.of_blocks.len());
    let block = |at: usize| -> Option<Vec<f64>> {
        points
            .iter()
            .map(|point| *point.of_blocks.get(at)?)
            .collect()
    };
    let complete: Vec<Vec<f64>> = (0..blocks).filter_map(block).collect();
    let Some(fit) = law::fit(&numbers, &complete) else {
        let note = "no block has a rate for every number of hosts";
        return (None, Some(note.to_owned()));
    };
    if let Some(note) = endless(&fit).or_else(|| contradiction(&fit)) {
        return (None, Some(note));
    }
    let estimate = |range: law::Range| match range.interval {
        Some((low, high)) => {
            Estimate::known(Unit::Ratio, range.value, low, high, range.spare as f64)
        }
        None => Estimate::point(Unit::Ratio, range.value, "too few blocks for an interval"),
    };
    let (sigma, kappa) = (estimate(fit.sigma), estimate(fit.kappa));
    let enough = points.len() >= LEAST_NUMBERS_FOR_PEAK;
    let proven = kappa.low.filter(|low| enough && *low > 0.0);
    let peak_hosts = proven.filter(|_| fit.sigma.value >= 0.0).and_then(|_| {
        let most = (1.0 - sigma.value?) / kappa.value?;
        (most > 0.0).then(|| most.sqrt())
    });
    let note = match (fit.scatter, enough) {
        (None, _) => Some("more blocks give intervals (--blocks)".to_owned()),
        (_, false) => Some(format!(
            "a best number of hosts needs {} different numbers of hosts, and {} were measured",
            LEAST_NUMBERS_FOR_PEAK,
            points.len()
        )),
        _ => None,
    };
    let law = ScalingLaw {
        lambda: fit.lambda,
        sigma,
        kappa,
        peak_hosts,
        scatter: fit.scatter.unwrap_or(0.0),
    };
    (Some(law), note)
}

/// The reason for printing no law when any value of a cost fits the rates.
fn endless(fit: &law::Fit) -> Option<String> {
    let both = [("contention", fit.sigma), ("coherency", fit.kappa)];
    let (name, _) = both.into_iter().find(|(_, range)| range.is_endless())?;
    Some(format!(
        "the rates scatter too much for a scalability law (any {name} fits); run longer, or more \
         blocks"
    ))
}

/// Why the law cannot be the right one, when a cost comes out below 0.
fn contradiction(fit: &law::Fit) -> Option<String> {
    let both = [("contention", fit.sigma), ("coherency", fit.kappa)];
    let (name, range) = both.into_iter().find(|(_, range)| range.is_negative())?;
    let interval = range
        .interval
        .map(|(low, high)| format!(" ({low:.4} to {high:.4})"));
    Some(format!(
        "no scalability law fits: it would need a {name} of {:.4}{}, and a cost cannot be negative; \
         some number of hosts did more than its share, as with warm caches or a slow single host",
        range.value,
        interval.unwrap_or_default()
    ))
}

/// Where the growth ends for sure, and what the trials there say.
fn saturation(points: &[ScalePoint]) -> Option<Saturation> {
    let below = |point: &&ScalePoint| {
        let most = point.efficiency.high.or(point.efficiency.value);
        point.hosts > 1 && most.is_some_and(|most| most < LEAST_EFFICIENCY)
    };
    let first = points.iter().find(below)?;
    let last = points.last()?;
    let known = last
        .limiters
        .iter()
        .find(|count| count.limiter != Limiter::Unknown);
    let all: u32 = last.limiters.iter().map(|count| count.trials).sum();
    let alone = points.iter().find(|point| point.hosts == 1);
    let (limiter, evidence) = match known.filter(|count| count.trials * 2 > all) {
        Some(count) => {
            let before = alone.and_then(|point| point.limiters.first());
            let same = before.is_some_and(|before| before.limiter == count.limiter);
            let also = match same {
                true => "; one host alone says the same",
                false => "",
            };
            let told = format!(
                "{} of {all} trials on {} hosts say so: {}{also}",
                count.trials, last.hosts, count.evidence
            );
            (count.limiter, told)
        }
        None => (
            Limiter::Unknown,
            format!(
                "no limit of their own is proved on most of {} hosts: what they share (the target, \
                 or the way to it) holds them back",
                last.hosts
            ),
        ),
    };
    Some(Saturation {
        from_hosts: first.hosts,
        limiter,
        evidence,
    })
}

#[cfg(test)]
#[path = "scale_tests.rs"]
mod tests;
