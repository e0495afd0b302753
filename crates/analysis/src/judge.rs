//! A stored run in, a judged run out.

use std::collections::BTreeMap;

use fathom_model::RUN_SCHEMA;
use fathom_model::judged::{JudgedRun, JudgedTrial, OpSummary, ResultRow, RunSummary};
use fathom_model::op::OpKind;
use fathom_model::run::{RunMeta, RunRecord, RunState};
use fathom_model::schedule::{Purpose, TrialRole};
use fathom_model::steadiness::Steadiness;
use fathom_model::target::Target;
use fathom_model::verdict::{Finding, FindingStatus, Validity, Verdict};
use fathom_rules::check;

use crate::across;
use crate::activity::Activity;
use crate::charts::charts;
use crate::checks::{self, Facts};
use crate::company;
use crate::comparison;
use crate::fitness::{self, fitness};
use crate::fleet;
use crate::fold::{Source, fold, nothing, validity};
use crate::intervals::intervals;
use crate::limiter;
use crate::outcome::Outcome;
use crate::repeatability;
use crate::set_sum;
use crate::steadiness;
use crate::summary::{kind_latencies, summarize, summarize_ops};
use crate::trial::{Trial, add};
use crate::two_ends;

/// Judges a run.
///
/// Total: any record gives a result, whether the run completed, was
/// interrupted, failed, or holds half a trial or none. What the data cannot
/// say is said in place of the number; nothing is left out.
pub fn judge(record: &RunRecord) -> JudgedRun {
    judge_with_roles(record, |_| BTreeMap::new())
}

/// Judges a run some of whose trials turned out to be something else than they were
/// scheduled for. `roles` says which, by their place.
pub fn judge_with_roles(
    record: &RunRecord,
    roles: impl FnOnce(&[Trial<'_>]) -> BTreeMap<usize, TrialRole>,
) -> JudgedRun {
    over_trials(record, |record, trials| {
        judge_run(record, trials, &roles(trials))
    })
}

/// Hands out the trials of a run as its judgement sees them.
pub fn over_trials<T>(record: &RunRecord, with: impl FnOnce(&RunRecord, &[Trial<'_>]) -> T) -> T {
    let at_one_end = two_ends::run_at_one_end(record);
    let record = at_one_end.as_ref().unwrap_or(record);
    let in_seconds = fathom_model::seconds::run_in_seconds(record);
    let record = in_seconds.as_ref().unwrap_or(record);
    let trials = record.trials.iter();
    let mut trials: Vec<Trial<'_>> = trials
        .map(|trial| Trial::new(trial, record.meta.host_of(&trial.spec)))
        .collect();
    company::introduce(&mut trials);
    with(record, &trials)
}

fn judge_run(
    record: &RunRecord,
    trials: &[Trial<'_>],
    roles: &BTreeMap<usize, TrialRole>,
) -> JudgedRun {
    let mut judged = judge_trials(trials);
    if matches!(record.meta.schedule.purpose, Purpose::Curve { .. }) {
        allow_saturation(trials, &mut judged);
    }
    let sets = set_sum::of_run(trials, &mut judged);
    for (trial, at) in judged.iter_mut().zip(0..) {
        trial.role = roles.get(&at).copied().unwrap_or(trial.role);
    }
    let rows = rows(trials, &judged);
    let mut verdict = run_verdict(record, &judged);
    let results = rows.iter().filter(|row| row.role != TrialRole::Control);
    let repeated = results.filter_map(|row| {
        let finding = row
            .verdict
            .findings
            .iter()
            .find(|f| f.id == check::id::V18)?;
        Some((row.label.clone(), finding.clone()))
    });
    repeatability::add_to_run(&mut verdict, repeated.collect());
    verdict.fitness = fitness::fold(rows.iter().filter_map(|row| {
        let fitness = row.verdict.fitness.as_ref()?;
        Some((row.label.clone(), fitness))
    }));
    let mut host = record.meta.host.clone();
    host.clock_read_ns = host.clock_read_ns.filter(|ns| ns.is_finite());
    let mut run = JudgedRun {
        schema: RUN_SCHEMA.to_owned(),
        run: run_summary(&record.meta),
        host,
        rows,
        trials: judged,
        verdict,
        comparison: None,
        curve: None,
        snia: None,
        disks: None,
        sets: Vec::new(),
        fleet: None,
        enumeration: None,
        scale: None,
        view: None,
    };
    set_sum::add_up(sets, trials, &mut run);
    run.comparison = comparison::of_run(&run);
    fleet::draw(&mut run, record, trials);
    run
}

/// A curve of loads goes on until the target takes no more: that a rate was not reached is
/// what it looks for, and no objection.
fn allow_saturation(trials: &[Trial<'_>], judged: &mut [JudgedTrial]) {
    for (trial, judged) in trials.iter().zip(judged) {
        let verdict = &mut judged.verdict;
        let mut findings = verdict.findings.iter_mut();
        let Some(finding) = findings.find(|finding| checks::is_rate_not_reached(finding)) else {
            continue;
        };
        finding.status = FindingStatus::Info;
        verdict.validity = validity(&verdict.findings, trial.kind);
    }
}

/// Judges trials of one run, each by itself and beside the others.
pub(crate) fn judge_trials(trials: &[Trial<'_>]) -> Vec<JudgedTrial> {
    let mut judged: Vec<JudgedTrial> = trials
        .iter()
        .zip(written_before(trials))
        .map(|(trial, written)| judge_trial(trial, written))
        .collect();
    across::apply(trials, &mut judged);
    judged
}

fn run_summary(meta: &RunMeta) -> RunSummary {
    RunSummary {
        id: meta.id.clone(),
        name: meta.schedule.name.clone(),
        started_unix_ns: meta.started_unix_ns,
        ended_unix_ns: meta.ended_unix_ns,
        state: meta.state,
        reason: meta.reason.clone(),
        label: meta.label.clone(),
        tool_version: meta.tool_version.clone(),
        command_line: meta.command_line.clone(),
        plan_yaml: meta.plan_yaml.clone(),
        seed: meta.schedule.seed,
        planned_trials: u32::try_from(meta.schedule.trials.len()).unwrap_or(u32::MAX),
        purpose: meta.schedule.purpose.clone(),
    }
}

/// For each trial the bytes that had been written to its target before its
/// load began, as far as this run knows. What trials of one set write, they
/// write at the same time.
fn written_before(trials: &[Trial<'_>]) -> Vec<u64> {
    // The same path on another host is another place.
    let mut ended: BTreeMap<(Option<u32>, &Target), u64> = BTreeMap::new();
    fn at<'t>(trial: &'t Trial<'_>) -> (Option<u32>, &'t Target) {
        (trial.record.spec.host, &trial.record.spec.target)
    }
    let mut before = vec![0; trials.len()];
    for turn in company::turns(trials) {
        let set = &trials[turn.clone()];
        for trial in set {
            let sum = ended.entry(at(trial)).or_default();
            *sum = sum.saturating_add(prepared(trial));
        }
        for (place, trial) in turn.zip(set) {
            let written = ended.get(&at(trial)).copied().unwrap_or(0);
            // Files from an earlier run were written when they were made.
            let found = match trial.end() {
                Some(end) if end.data.reused && written == prepared(trial) => end.data.active_bytes,
                _ => 0,
            };
            before[place] = written.saturating_add(found);
        }
        for trial in set {
            let load = trial.seconds.iter().flat_map(|s| s.ops(OpKind::Write));
            let load = add(load.map(|op| op.bytes));
            let sum = ended.entry(at(trial)).or_default();
            *sum = sum.saturating_add(load);
        }
    }
    before
}

fn prepared(trial: &Trial<'_>) -> u64 {
    trial.end().map_or(0, |end| end.data.prepared_bytes)
}

fn judge_trial(trial: &Trial<'_>, written_before: u64) -> JudgedTrial {
    let spec = &trial.record.spec;
    let end = trial.end();
    let latencies = kind_latencies(&[trial]);
    let mut summary = summarize(trial, &latencies);
    let steadiness = steadiness::of_trial(trial, written_before);
    if let Some(steadiness) = steadiness.as_ref().filter(|s| several_rates(s)) {
        steadiness::withhold_single_rate(&mut summary.ops, &steadiness.sentence);
    }
    let facts = Facts {
        trial,
        summary: &summary,
        steadiness,
        activity: Activity::of_measure(trial),
        written_before,
    };
    let findings = checks::run(&facts);
    let (limiter, limiter_evidence) = limiter::of_trial(&facts, &findings);
    let steadiness = facts.steadiness;
    let verdict = Verdict {
        validity: validity(&findings, trial.kind),
        limiter,
        limiter_evidence,
        fitness: None,
        findings,
    };
    let slo = spec.workload.slo.as_ref();
    let verdict = Verdict {
        fitness: slo.map(|slo| fitness(slo, &summary.ops, &latencies, verdict.validity)),
        ..verdict
    };
    JudgedTrial {
        index: spec.index,
        row: spec.row,
        iteration: spec.iteration,
        label: spec.label.clone(),
        target: spec.target.clone(),
        workload: spec.workload.clone(),
        seed: spec.seed,
        role: spec.role,
        in_set: None,
        host: spec.host,
        started_unix_ns: trial.record.started_unix_ns,
        state: trial.record.state,
        reason: end.and_then(|end| end.reason.clone()),
        summary,
        steadiness,
        intervals: intervals(trial),
        verdict,
        target_before: trial.record.target_before.clone(),
        errors: end.map(|end| end.engine.errors.clone()).unwrap_or_default(),
        stuck: end.map(|end| end.engine.stuck.clone()).unwrap_or_default(),
        gate: end.and_then(|end| end.gate.clone()),
        charts: charts(trial, &latencies),
    }
}

fn rows(trials: &[Trial<'_>], judged: &[JudgedTrial]) -> Vec<ResultRow> {
    let evidence = across::evidence(judged);
    let mut numbers: Vec<u32> = Vec::new();
    for trial in judged {
        if !numbers.contains(&trial.row) {
            numbers.push(trial.row);
        }
    }
    numbers
        .into_iter()
        .filter_map(|row| {
            let members: Vec<usize> = (0..judged.len())
                .filter(|i| judged[*i].row == row && !evidence[*i])
                .collect();
            let members = results_of(members, judged);
            let first = &judged[*members.first()?];
            let measured: Vec<&Trial<'_>> = members
                .iter()
                .map(|i| &trials[*i])
                .filter(|trial| trial.duration_ns > 0)
                .collect();
            let sources: Vec<Source<'_>> = members
                .iter()
                .map(|i| Source {
                    label: format!("iteration {}", u64::from(judged[*i].iteration) + 1),
                    verdict: &judged[*i].verdict,
                })
                .collect();
            let own: Vec<&JudgedTrial> = members.iter().map(|i| &judged[*i]).collect();
            let ops = match members.len() {
                1 => first.summary.ops.clone(),
                _ => combined(&measured, &own),
            };
            let mut verdict = fold(&sources);
            if let Some(finding) = repeatability::of_row(&own) {
                repeatability::add(&mut verdict, finding);
            }
            // The trials together say more than the worst of them.
            let slo = first.workload.slo.as_ref();
            verdict.fitness = slo.map(|slo| {
                let latencies = kind_latencies(&measured);
                fitness(slo, &ops, &latencies, verdict.validity)
            });
            Some(ResultRow {
                row,
                label: first.label.clone(),
                target: first.target.clone(),
                role: first.role,
                set: None,
                ops,
                verdict,
                trials: members,
            })
        })
        .collect()
}

/// Of rounds until steady only the last are a result.
fn results_of(members: Vec<usize>, judged: &[JudgedTrial]) -> Vec<usize> {
    let result = |i: &usize| judged[*i].role != TrialRole::Precondition;
    let results: Vec<usize> = members.iter().copied().filter(result).collect();
    if results.is_empty() { members } else { results }
}

/// Levels in time, or the zones of a disk.
fn several_rates(steadiness: &Steadiness) -> bool {
    steadiness.has_no_single_rate() || steadiness.zones.is_some()
}

/// The trials of a row as one; without an interval where one of them has no
/// single rate.
fn combined(measured: &[&Trial<'_>], judged: &[&JudgedTrial]) -> Vec<OpSummary> {
    let mut ops = summarize_ops(measured, &kind_latencies(measured));
    let several = judged
        .iter()
        .filter_map(|trial| trial.steadiness.as_ref())
        .find(|steadiness| several_rates(steadiness));
    if let Some(steadiness) = several {
        steadiness::withhold_single_rate(&mut ops, &steadiness.sentence);
    }
    ops
}

fn run_verdict(record: &RunRecord, judged: &[JudgedTrial]) -> Verdict {
    let planned = record.meta.schedule.trials.len();
    let evidence = across::evidence(judged);
    // A probe at twice the depth comes on top of what was planned.
    let on_top =
        |(trial, evidence): (&JudgedTrial, &bool)| *evidence && trial.role == TrialRole::Probe;
    let ran = judged.len() - judged.iter().zip(&evidence).filter(|t| on_top(*t)).count();
    if ran == 0 {
        let because = reason_of(&record.meta);
        let evidence = format!("none of {planned} planned trials ran{because}");
        return nothing(missing_trials(FindingStatus::Invalid, planned, evidence));
    }
    // A control is no result: what it finds is in the comparison. Nor is what
    // only brings a drive into its state, as long as there is a result.
    let no_result = |role| matches!(role, TrialRole::Control | TrialRole::Precondition);
    let any = judged.iter().any(|t| !no_result(t.role));
    let sources: Vec<Source<'_>> = judged
        .iter()
        .zip(&evidence)
        .filter(|(trial, evidence)| !(**evidence || any && no_result(trial.role)))
        .map(|(trial, _)| Source {
            label: trial.label.clone(),
            verdict: &trial.verdict,
        })
        .collect();
    let mut verdict = fold(&sources);
    // A run that ended as planned may have needed fewer trials than it might
    // have: rounds until a drive is steady.
    let short = matches!(record.meta.state, RunState::Interrupted | RunState::Failed);
    if ran < planned && short {
        let evidence = format!(
            "{} of {planned} planned trials did not run{}",
            planned - ran,
            reason_of(&record.meta)
        );
        let finding = missing_trials(FindingStatus::Caveat, planned - ran, evidence);
        merge_incomplete(&mut verdict, finding);
    }
    verdict
}

fn reason_of(meta: &RunMeta) -> String {
    meta.reason
        .as_ref()
        .map(|r| format!(": {r}"))
        .unwrap_or_default()
}

fn missing_trials(status: FindingStatus, count: usize, evidence: String) -> Finding {
    Outcome::decided(check::V29, status, count as f64, None, evidence).finding()
}

/// V29 is about trials and about the run; the run's part joins the other.
fn merge_incomplete(verdict: &mut Verdict, missing: Finding) {
    match verdict.findings.iter_mut().find(|f| f.id == missing.id) {
        Some(finding) if finding.status >= missing.status => {
            finding.evidence = format!("{}; {}", finding.evidence, missing.evidence);
        }
        Some(finding) => *finding = missing,
        None => verdict.findings.push(missing),
    }
    verdict.validity = verdict.validity.max(Validity::Caveats);
    checks::sort(&mut verdict.findings);
}
