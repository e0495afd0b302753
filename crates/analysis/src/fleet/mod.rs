//! Hosts beside one another: what each did, who lags, whether they began
//! together, and whether they are alike.

mod alike;
mod says;
mod traffic;
mod turn;

use fathom_model::JudgedRun;
use fathom_model::estimate::{Estimate, Unit};
use fathom_model::fleet::{FleetReport, FleetTurn, FleetWorkload, HostFigure, SlowHost};
use fathom_model::host_mode::HostTurns;
use fathom_model::judged::ResultRow;
use fathom_model::run::RunRecord;
use fathom_model::unit;
use fathom_model::verdict::{FindingStatus, Validity};
use fathom_rules::check::v40::MOST_SKEW_NS;
use fathom_rules::{Rule, check};
use fathom_stats::median::median;

use crate::checks;
use crate::fitness::sum;
use crate::outcome::Outcome;
use crate::trial::Trial;

const WINDOW: &Rule = check::V40;
const STRAGGLER: &Rule = check::V41;

/// Draws the hosts of a judged run, where there are several.
pub(crate) fn draw(run: &mut JudgedRun, record: &RunRecord, trials: &[Trial<'_>]) {
    if record.meta.hosts.is_empty() {
        add(run, traffic::finding(record));
        return;
    }
    let slow_share = check::v41::CAVEAT;
    let mut workloads = workloads(run, record);
    for workload in &mut workloads {
        complete(workload, run, trials, slow_share);
        // Hosts that worked one by one have no time in common.
        if record.meta.schedule.host_mode.turns != HostTurns::OneByOne {
            workload.turns = turn::turns(workload, run, trials);
        }
    }
    let report = FleetReport {
        hosts: record.meta.hosts.clone(),
        differences: alike::differences(record),
        workloads,
        slow_share,
        mode: record.meta.schedule.host_mode,
    };
    let mut found = vec![windows(&report), stragglers(&report)];
    found.push(traffic::finding(record));
    found.push(alike::same_target(record));
    found.push(alike::finding(&report.differences, record.meta.hosts.len()));
    add(run, found.into_iter().flatten());
    run.fleet = Some(report);
}

fn add(run: &mut JudgedRun, found: impl IntoIterator<Item = Outcome>) {
    for outcome in found {
        let validity = &mut run.verdict.validity;
        match outcome.status() {
            FindingStatus::Caveat => *validity = (*validity).max(Validity::Caveats),
            FindingStatus::Invalid => *validity = (*validity).max(Validity::NotTrusted),
            _ => {}
        }
        run.verdict.findings.push(outcome.finding());
    }
    checks::sort(&mut run.verdict.findings);
}

/// Rows by workload: those of one set whose labels differ in the host only.
fn workloads(run: &JudgedRun, record: &RunRecord) -> Vec<FleetWorkload> {
    let mut workloads: Vec<(Option<usize>, FleetWorkload)> = Vec::new();
    let alone = record.meta.schedule.host_mode.turns == HostTurns::OneByOne;
    for (at, row) in run.rows.iter().enumerate() {
        let spec = row.trials.first().and_then(|i| record.trials.get(*i));
        let Some(host) = spec.and_then(|trial| trial.spec.host) else {
            continue;
        };
        let name = record.meta.hosts.get(host as usize).map(|host| &host.name);
        let suffix = format!(" on {}", name.map_or("", String::as_str));
        let label = row.label.strip_suffix(&suffix).unwrap_or(&row.label);
        let same = |(set, w): &(Option<usize>, FleetWorkload)| {
            (alone || *set == row.set) && w.label == label
        };
        let place = workloads.iter().position(same).unwrap_or_else(|| {
            let workload = FleetWorkload {
                label: label.to_owned(),
                hosts: Vec::new(),
                median: None,
                turns: Vec::new(),
            };
            workloads.push((row.set, workload));
            workloads.len() - 1
        });
        workloads[place].1.hosts.push(HostFigure {
            host,
            row: at,
            figure: figure(run, row),
            data_of: data_of(record, row),
            slow: None,
        });
    }
    workloads
        .into_iter()
        .map(|(_, workload)| workload)
        .collect()
}

/// Whose data a row's host used, where it was not always its own.
fn data_of(record: &RunRecord, row: &ResultRow) -> Vec<u32> {
    let specs = row.trials.iter().filter_map(|i| record.trials.get(*i));
    let parts = specs.filter_map(|trial| Some((trial.spec.host?, trial.spec.part?.whose)));
    let parts: Vec<(u32, u32)> = parts.collect();
    match parts.iter().all(|(host, whose)| host == whose) {
        true => Vec::new(),
        false => parts.into_iter().map(|(_, whose)| whose).collect(),
    }
}

/// What a row did, all operations that move data together.
fn figure(run: &JudgedRun, row: &ResultRow) -> Estimate {
    let trial = row.trials.first().and_then(|i| run.trials.get(*i));
    let random = trial.is_some_and(|trial| trial.workload.pattern.is_random());
    let data = row.ops.iter().filter(|op| op.kind.is_data() && op.ops > 0);
    let rates: Vec<&Estimate> = data
        .map(|op| match random {
            true => &op.ops_per_second,
            false => &op.bytes_per_second,
        })
        .collect();
    let unit = match random {
        true => Unit::OpsPerSecond,
        false => Unit::BytesPerSecond,
    };
    sum(&rates).unwrap_or_else(|| Estimate::unknown(unit, "nothing was measured"))
}

/// The median of the hosts, and who is far below it.
fn complete(workload: &mut FleetWorkload, run: &JudgedRun, trials: &[Trial<'_>], slow_share: f64) {
    let values: Vec<f64> = workload
        .hosts
        .iter()
        .filter_map(|h| h.figure.value)
        .collect();
    workload.median = median(&values);
    let Some(median) = workload.median.filter(|median| *median > 0.0) else {
        return;
    };
    let slow: Vec<Option<SlowHost>> = workload
        .hosts
        .iter()
        .map(|host| {
            let share = host.figure.value? / median;
            (share < slow_share).then(|| SlowHost {
                share,
                says: says::of_host(host, workload, run, trials),
            })
        })
        .collect();
    for (host, slow) in workload.hosts.iter_mut().zip(slow) {
        host.slow = slow;
    }
}

/// V40: did all hosts work at the same time?
fn windows(report: &FleetReport) -> Option<Outcome> {
    let turns = report.workloads.iter().flat_map(|w| &w.turns);
    let turns: Vec<&FleetTurn> = turns.collect();
    let share = turns.iter().filter_map(|turn| turn.common_share);
    let share = share.min_by(f64::total_cmp)?;
    let skewed = turns.iter().filter(|turn| turn.start_skew_ns.is_some());
    let worst = skewed.max_by_key(|turn| turn.start_skew_ns);
    let skew_ns = worst.and_then(|turn| turn.start_skew_ns);
    let began = match (worst, skew_ns) {
        (Some(turn), Some(skew_ns)) => format!(
            "hosts began within {} (clocks known to ± {})",
            unit::latency(skew_ns as f64),
            unit::latency(turn.clock_uncertainty_ns as f64)
        ),
        _ => "when hosts began is not known".to_owned(),
    };
    let evidence = format!(
        "all hosts were measured in {:.1} % of the time in which any was; {began}",
        share * 100.0
    );
    let graded = Outcome::graded(WINDOW, share, evidence.clone());
    let late = skew_ns.is_some_and(|skew_ns| skew_ns > MOST_SKEW_NS);
    if late && graded.status() < FindingStatus::Caveat {
        let status = FindingStatus::Caveat;
        return Some(Outcome::decided(WINDOW, status, share, None, evidence));
    }
    Some(graded)
}

/// V41: does a host lag behind the others?
fn stragglers(report: &FleetReport) -> Option<Outcome> {
    let compared = report.workloads.iter().filter(|w| w.hosts.len() > 1);
    let mut least: Option<f64> = None;
    let mut told: Vec<String> = Vec::new();
    for workload in compared {
        for host in &workload.hosts {
            let share = host.figure.value.zip(workload.median);
            let Some(share) = share.filter(|(_, m)| *m > 0.0).map(|(v, m)| v / m) else {
                continue;
            };
            least = Some(least.map_or(share, |least| least.min(share)));
            if let Some(slow) = &host.slow {
                let name = report.hosts.get(host.host as usize);
                let name = name.map_or("?", |host| host.name.as_str());
                let says = match slow.says.is_empty() {
                    true => String::new(),
                    false => format!(" ({})", slow.says.join(", ")),
                };
                told.push(format!(
                    "{name}: {:.0} % of the median of the hosts in {}{says}",
                    share * 100.0,
                    workload.label
                ));
            }
        }
    }
    let evidence = match told.is_empty() {
        true => "no host is far below the median of all".to_owned(),
        false => told.join("; "),
    };
    least.map(|least| Outcome::graded(STRAGGLER, least, evidence))
}

#[cfg(test)]
#[path = "fleet_tests.rs"]
mod tests;
