//! A stored run in, a judged run out.

use fathom_model::RUN_SCHEMA;
use fathom_model::judged::{JudgedRun, JudgedTrial, ResultRow, RunSummary};
use fathom_model::run::{RunMeta, RunRecord, RunState};
use fathom_model::schedule::TrialRole;
use fathom_model::verdict::{Finding, FindingStatus, Validity, Verdict};

use crate::across;
use crate::activity::Activity;
use crate::charts::charts;
use crate::checks::{self, Facts};
use crate::fold::{Source, fold, nothing, validity};
use crate::intervals::intervals;
use crate::limiter;
use crate::outcome::Outcome;
use crate::summary::{kind_latencies, summarize, summarize_ops};
use crate::trial::Trial;

/// Judges a run.
///
/// Total: any record gives a result, whether the run completed, was
/// interrupted, failed, or holds half a trial or none. What the data cannot
/// say is said in place of the number; nothing is left out.
pub fn judge(record: &RunRecord) -> JudgedRun {
    let trials: Vec<Trial<'_>> = record
        .trials
        .iter()
        .map(|trial| Trial::new(trial, &record.meta.host))
        .collect();
    let judged = judge_trials(&trials);
    let rows = rows(&trials, &judged);
    let verdict = run_verdict(record, &judged);
    let mut host = record.meta.host.clone();
    host.clock_read_ns = host.clock_read_ns.filter(|ns| ns.is_finite());
    JudgedRun {
        schema: RUN_SCHEMA.to_owned(),
        run: run_summary(&record.meta),
        host,
        rows,
        trials: judged,
        verdict,
    }
}

/// Judges trials of one run, each by itself and beside the others.
pub(crate) fn judge_trials(trials: &[Trial<'_>]) -> Vec<JudgedTrial> {
    let mut judged: Vec<JudgedTrial> = trials.iter().map(judge_trial).collect();
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

fn judge_trial(trial: &Trial<'_>) -> JudgedTrial {
    let spec = &trial.record.spec;
    let end = trial.end();
    let latencies = kind_latencies(&[trial]);
    let summary = summarize(trial, &latencies);
    let facts = Facts {
        trial,
        summary: &summary,
        activity: Activity::of_measure(trial),
    };
    let findings = checks::run(&facts);
    let (limiter, limiter_evidence) = limiter::of_trial(&facts, &findings);
    let verdict = Verdict {
        validity: validity(&findings, trial.kind),
        limiter,
        limiter_evidence,
        findings,
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
        started_unix_ns: trial.record.started_unix_ns,
        state: trial.record.state,
        reason: end.and_then(|end| end.reason.clone()),
        summary,
        steadiness: None,
        intervals: intervals(trial),
        verdict,
        target_before: trial.record.target_before.clone(),
        errors: end.map(|end| end.engine.errors.clone()).unwrap_or_default(),
        stuck: end.map(|end| end.engine.stuck.clone()).unwrap_or_default(),
        charts: charts(trial, &latencies),
    }
}

fn rows(trials: &[Trial<'_>], judged: &[JudgedTrial]) -> Vec<ResultRow> {
    let mut numbers: Vec<u32> = Vec::new();
    for trial in judged.iter().filter(|trial| !trial.role.is_probe()) {
        if !numbers.contains(&trial.row) {
            numbers.push(trial.row);
        }
    }
    numbers
        .into_iter()
        .filter_map(|row| {
            let members: Vec<usize> = (0..judged.len())
                .filter(|i| judged[*i].row == row && !judged[*i].role.is_probe())
                .collect();
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
            Some(ResultRow {
                row,
                label: first.label.clone(),
                target: first.target.clone(),
                role: first.role,
                ops: match members.len() {
                    1 => first.summary.ops.clone(),
                    _ => summarize_ops(&measured, &kind_latencies(&measured)),
                },
                verdict: fold(&sources),
                trials: members,
            })
        })
        .collect()
}

fn run_verdict(record: &RunRecord, judged: &[JudgedTrial]) -> Verdict {
    let planned = record.meta.schedule.trials.len();
    // A probe at twice the depth comes on top of what was planned.
    let ran = judged
        .iter()
        .filter(|trial| trial.role != TrialRole::Probe)
        .count();
    if ran == 0 {
        let because = reason_of(&record.meta);
        let evidence = format!("none of {planned} planned trials ran{because}");
        return nothing(missing_trials(FindingStatus::Invalid, planned, evidence));
    }
    let sources: Vec<Source<'_>> = judged
        .iter()
        .filter(|trial| !trial.role.is_probe())
        .map(|trial| Source {
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
    Outcome::decided("V29", status, count as f64, None, evidence).finding()
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
