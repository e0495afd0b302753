//! A second opinion on other tools' results.
//!
//! The same questions as for fathom's own trials, answered from what a file
//! states: are its units and counts consistent, can its percentiles be carried
//! by its operations, was the queue depth kept, did the data reach the device,
//! how much does the rate vary. A check that needs a fact which is not there
//! says "not measured", and the opinion lists what would supply it. Numbers
//! stay the tool's own: nothing is recomputed into a better-looking one.

mod device;
mod disk_measurement;
mod figures;
mod fio_number;
mod foreign;
mod identity;
mod level;
mod limiter;
mod load;
mod missing;
mod precision;
mod recording;
mod said;
mod stands;

#[cfg(test)]
mod opinion_tests;

pub use disk_measurement::why_no_disk;

use crate::results::{ResultDocument, ResultJob};
use fathom_model::OPINION_SCHEMA;
use fathom_model::opinion::{JobOpinion, Opinion, ResultOpinion};
use fathom_model::verdict::{Finding, Validity, Verdict};
use fathom_rules::{TargetKind, check};

use fathom_analysis::judgement::{Outcome, Source, fold, missing_evidence, sort, validity};
use said::{Counted, Said};

/// What the checks of one entry share.
pub(crate) struct Entry<'a> {
    pub(crate) result: &'a ResultDocument,
    pub(crate) job: &'a ResultJob,
    pub(crate) said: Said,
}

type CheckFn = fn(&Entry<'_>) -> Option<Outcome>;

const CHECKS: [CheckFn; 28] = [
    device::app_vs_device,
    device::in_memory,
    device::durability,
    foreign::others,
    precision::n_eff,
    precision::ci_width,
    precision::pctl_support,
    load::little,
    load::generator_cpu,
    load::rate_reached,
    identity::units,
    recording::errors,
    recording::file,
    recording::latency_recorded,
    load::submission_wait,
    precision::duration,
    precision::full_time,
    recording::jobs_as_one,
    recording::completion_only,
    load::rate_latency,
    recording::payload,
    recording::repeated_blocks,
    recording::own_steady_state,
    identity::unit_words,
    level::snia,
    level::drift,
    level::cliff,
    level::bimodal,
];

/// Opinions on results of other tools, in the order in which they are given.
///
/// Total: every result, however odd, gets an opinion.
pub fn judge_results(results: &[ResultDocument]) -> Opinion {
    let results: Vec<ResultOpinion> = results.iter().map(of_result).collect();
    let worst = results.iter().map(|r| r.verdict.validity).max();
    Opinion {
        schema: OPINION_SCHEMA.to_owned(),
        validity: worst.unwrap_or(Validity::NotTrusted),
        results,
    }
}

fn of_result(result: &ResultDocument) -> ResultOpinion {
    let entries: Vec<Entry<'_>> = result
        .jobs
        .iter()
        .map(|job| Entry {
            result,
            job,
            said: Said::of(result, job),
        })
        .collect();
    let jobs: Vec<JobOpinion> = entries.iter().map(of_entry).collect();
    let sources: Vec<Source<'_>> = jobs
        .iter()
        .map(|job| Source {
            label: job.name.clone(),
            verdict: &job.verdict,
        })
        .collect();
    let mut remarks = result.remarks.clone();
    if let Some(message) = result.messages.first() {
        remarks.push(format!("beside the result it says: {message}"));
    }
    if jobs.is_empty() {
        remarks.extend(result.damage.iter().cloned());
        let words = "it holds no job with results, so that nothing in it can be trusted";
        remarks.push(words.to_owned());
    }
    ResultOpinion {
        source: result.source.clone(),
        tool: result.tool.clone(),
        written_unix_s: result.written_unix_s,
        remarks,
        verdict: fold(&sources),
        missing: missing::of(&entries),
        jobs,
    }
}

fn of_entry(entry: &Entry<'_>) -> JobOpinion {
    let mut findings: Vec<Finding> = CHECKS
        .iter()
        .filter_map(|check| check(entry))
        .map(Outcome::finding)
        .map(for_other_tools)
        .collect();
    findings.extend(missing_evidence(&findings, TargetKind::Unknown).map(for_other_tools));
    sort(&mut findings);
    let (limiter, limiter_evidence) = limiter::of(entry, &findings);
    let moved = entry.job.directions.iter().any(|d| d.ops() > 0.0) || !entry.job.series.is_empty();
    let validity = match moved {
        true => validity(&findings, TargetKind::Unknown),
        false => Validity::NotTrusted,
    };
    JobOpinion {
        name: entry.job.name.clone(),
        host: entry.job.host.clone(),
        workload: entry.said.in_words(entry.job),
        duration_ns: entry.said.duration_ns.map(|ns| ns as u64),
        figures: figures::of(entry),
        stands: stands::of(entry, &findings, validity),
        verdict: Verdict {
            fitness: None,
            validity,
            limiter,
            limiter_evidence,
            findings,
        },
    }
}

/// The remedy in words that do not speak of fathom's own options.
fn for_other_tools(mut finding: Finding) -> Finding {
    let Some(check) = check::TABLE.find(&finding.id) else {
        return finding;
    };
    if let Some(own) = check.other_tools.filter(|_| finding.remedy == check.remedy) {
        own.clone_into(&mut finding.remedy);
    }
    finding
}
