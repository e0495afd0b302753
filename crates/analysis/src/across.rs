//! What only several trials of a run together prove: the knee of the depth
//! (V21), the effect of the payload (V05), the speed of a second pass (V08).

use std::collections::BTreeSet;

use fathom_model::judged::JudgedTrial;
use fathom_model::steadiness::Steadiness;
use fathom_model::verdict::{Finding, FindingStatus, Limiter, Validity};
use fathom_rules::check;

use crate::filling_queue;
use crate::fold::validity;
use crate::hidden_cap;
use crate::knee::{self, Member};
use crate::limiter::would_tell;
use crate::named_limiter::Named;
use crate::outcome::Outcome;
use crate::plateau::{a_line_would_show, caps_exist};
use crate::rate_range::RateRange;
use crate::trial::Trial;
use crate::{checks, payload, repeat};

/// Which trials are evidence for a row and no result: probes that share the row
/// of what they probe. A row that consists of probes alone (a search for the
/// highest load) is a result.
pub(crate) fn evidence(judged: &[JudgedTrial]) -> Vec<bool> {
    let results: BTreeSet<u32> = judged
        .iter()
        .filter(|trial| !trial.role.is_probe())
        .map(|trial| trial.row)
        .collect();
    judged
        .iter()
        .map(|trial| trial.role.is_probe() && results.contains(&trial.row))
        .collect()
}

/// Adds findings and limiters to the trials that they concern.
pub(crate) fn apply(trials: &[Trial<'_>], judged: &mut [JudgedTrial]) {
    apply_knees(trials, judged);
    apply_hidden_caps(trials, judged);
    excuse_unwritten(trials, judged);
    apply_busy_workers(trials, judged);
    for (index, outcome) in payload::outcomes(trials, judged) {
        put(&trials[index], &mut judged[index], outcome);
    }
    for (index, outcome) in repeat::outcomes(trials, judged) {
        put(&trials[index], &mut judged[index], outcome);
    }
}

fn apply_knees(trials: &[Trial<'_>], judged: &mut [JudgedTrial]) {
    let evidence = evidence(judged);
    let members: Vec<Member<'_>> = trials
        .iter()
        .zip(judged.iter())
        .zip(&evidence)
        .map(|((trial, judged), evidence)| Member {
            trial,
            evidence: *evidence,
            rate: main_rate(judged).and_then(|rate| RateRange::of(trial, rate)),
            limiter: judged.verdict.limiter,
            usable: judged.verdict.validity != Validity::NotTrusted && trial.set_size == 1,
        })
        .collect();
    let knees: Vec<_> = (0..members.len())
        .map(|index| {
            // Another depth beside other loads proves nothing about this one.
            if trials[index].set_size > 1 {
                return (None, None);
            }
            let knee = knee::of_member(&members, index);
            let unknown = members[index].limiter == Limiter::Unknown;
            let probed = knee::is_probed(&members, index);
            let wanted = unknown && knee.is_none() && has_one_rate(&judged[index]);
            let by_itself = saturated_by_itself(&members[index], wanted);
            let named = match knee.as_ref().or(by_itself.as_ref()) {
                Some(knee) => Some(match waited_for_cpus(&judged[index]) {
                    Some(finding) => knee.beside_a_crowd(&trials[index], finding),
                    None => knee.named(&trials[index]),
                }),
                None if probed && !members[index].evidence => {
                    Some(still_unknown(&trials[index], &judged[index]))
                }
                None => None,
            };
            let outcome = match &knee {
                Some(knee) => Some(knee.outcome()),
                None => knee::not_measured(&trials[index], probed),
            };
            let outcome = outcome.filter(|_| !members[index].evidence);
            // What another depth measured counts for more than what one trial suggests.
            let wants_depth = knee.as_ref().map(knee::Knee::wants_depth);
            let refuted = match (members[index].limiter, wants_depth) {
                // A plateau that rises with the depth is one of latency, not of a cap.
                (Limiter::Cap, Some(true)) => checks::declared_cap(&trials[index]).is_none(),
                // One operation at a time is all that this target does at once.
                (Limiter::QueueDepth, Some(false)) => true,
                _ => false,
            };
            (named.filter(|_| unknown || refuted), outcome)
        })
        .collect();
    drop(members);
    for ((trial, judged), (named, outcome)) in trials.iter().zip(judged.iter_mut()).zip(knees) {
        if let Some((limiter, evidence)) = named {
            judged.verdict.limiter = limiter;
            judged.verdict.limiter_evidence = evidence;
        }
        if let Some(outcome) = outcome {
            put(trial, judged, outcome);
        }
    }
}

/// What the start of a trial proves, where no other depth told and nothing else did. A
/// queue fills before a cap as well: where caps are usual and a line would not have shown,
/// and where seconds vary as little as those of a cap, it may have been either.
fn saturated_by_itself(member: &Member<'_>, wanted: bool) -> Option<knee::Knee> {
    let trial = member.trial;
    let asked = wanted && member.usable && !member.evidence;
    let text = filling_queue::saturated(trial).filter(|_| asked)?;
    let unseen = caps_exist(trial) && !a_line_would_show(trial);
    let may_be_cap = unseen || hidden_cap::hardly_varies(trial);
    Some(knee::Knee::saturated(text, may_be_cap))
}

/// Whether the start of a trial speaks for the rest of it: not where the rate changed,
/// whatever changed it.
fn has_one_rate(judged: &JudgedTrial) -> bool {
    let steadiness = judged.steadiness.as_ref();
    !steadiness.is_some_and(Steadiness::has_no_single_rate)
}

/// That the workers had to wait for a CPU (V37), and how long.
fn waited_for_cpus(judged: &JudgedTrial) -> Option<&Finding> {
    let waited = |f: &&Finding| f.id == check::id::V37 && f.status >= FindingStatus::Caveat;
    judged.verdict.findings.iter().find(waited)
}

/// Caps that nothing on the host declares.
fn apply_hidden_caps(trials: &[Trial<'_>], judged: &mut [JudgedTrial]) {
    let evidence = evidence(judged);
    for (index, text) in hidden_cap::found(trials, judged, &evidence) {
        judged[index].verdict.limiter = Limiter::Cap;
        judged[index].verdict.limiter_evidence.clone_from(&text);
        let (info, share) = (FindingStatus::Info, check::v38::INFO);
        let outcome = Outcome::decided(check::V38, info, 1.0, Some(share), text);
        put(&trials[index], &mut judged[index], outcome);
    }
}

/// What was never written can only make a device look faster than it is. One that a cap
/// holds back further than it answers is as fast with data in its blocks.
fn excuse_unwritten(trials: &[Trial<'_>], judged: &mut [JudgedTrial]) {
    for (trial, judged) in trials.iter().zip(judged) {
        let verdict = &mut judged.verdict;
        let mut findings = verdict.findings.iter_mut();
        let unwritten = findings.find(|finding| finding.id == check::id::V04);
        let caveat = unwritten.filter(|finding| finding.status == FindingStatus::Caveat);
        let (Limiter::Cap, Some(finding)) = (verdict.limiter, caveat) else {
            continue;
        };
        finding.status = FindingStatus::Info;
        finding
            .evidence
            .push_str("; a cap set the rate (V38), and does so whatever they hold");
        checks::sort(&mut verdict.findings);
        verdict.validity = validity(&verdict.findings, trial.kind);
    }
}

/// Where nothing else is proved: a worker that computed nearly all the time.
fn apply_busy_workers(trials: &[Trial<'_>], judged: &mut [JudgedTrial]) {
    for (trial, judged) in trials.iter().zip(judged) {
        let open = judged.verdict.limiter.wants_evidence();
        if let (true, Some(text)) = (open, checks::nearly_bound(trial)) {
            judged.verdict.limiter = Limiter::GeneratorCpu;
            judged.verdict.limiter_evidence = text;
        }
    }
}

/// A probe was made and told nothing: what would is longer.
fn still_unknown(trial: &Trial<'_>, judged: &JudgedTrial) -> Named {
    let known = judged.verdict.limiter_evidence.as_str();
    let command = would_tell(trial);
    let command = match known.contains(command.trim_start_matches("; ")) {
        true => "",
        false => command.as_str(),
    };
    (
        Limiter::Unknown,
        format!("{known}; {}{command}", knee::UNDECIDED),
    )
}

/// The rate of the data operation that took place most.
fn main_rate(judged: &JudgedTrial) -> Option<&fathom_model::Estimate> {
    let data = judged.summary.ops.iter().filter(|op| op.kind.is_data());
    data.max_by_key(|op| op.ops).map(|op| &op.ops_per_second)
}

/// A finding from several trials replaces a milder one of the same check, and
/// one that could not be measured.
fn put(trial: &Trial<'_>, judged: &mut JudgedTrial, outcome: Outcome) {
    let finding = outcome.finding();
    let verdict = &mut judged.verdict;
    match verdict.findings.iter_mut().find(|f| f.id == finding.id) {
        Some(known)
            if known.status > finding.status && known.status != FindingStatus::NotMeasured =>
        {
            return;
        }
        Some(known) => *known = finding,
        None => verdict.findings.push(finding),
    }
    checks::sort(&mut verdict.findings);
    verdict.validity = validity(&verdict.findings, trial.kind);
}
