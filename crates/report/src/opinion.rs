//! A second opinion as text and as JSON.
//!
//! Text restates the other tool's figures in honest units, then says what of
//! them holds, why, and which facts are missing. Percentiles that their data
//! cannot carry are not printed. JSON is the schema
//! [`fathom_model::OPINION_SCHEMA`].

use fathom_model::figure::{Figure, Throughput};
use fathom_model::opinion::{
    Aspect, Holds, JobOpinion, Opinion, ResultOpinion, Stand, StatedFigures, StatedPercentile,
};
use fathom_model::verdict::FindingStatus;
use fathom_model::{Finding, Validity, unit};

use crate::Result;
use crate::names;
use crate::text::TextOptions;
use crate::text::page::{Page, Tone};

/// Entries that are shown in full; of more only the verdict.
const MOST_JOBS: usize = 24;
/// Percentiles that people look at.
const SHOWN: [f64; 5] = [50.0, 95.0, 99.0, 99.9, 99.99];

/// The opinion as text, ended by a newline.
pub fn render(opinion: &Opinion, options: &TextOptions) -> String {
    let mut page = Page::new(options);
    for result in &opinion.results {
        page.blank();
        write_result(&mut page, result, options);
    }
    page.finish()
}

/// The opinion as one JSON document, indented when `pretty`, ended by a
/// newline.
///
/// # Errors
/// Only when serialisation itself fails.
pub fn json(opinion: &Opinion, pretty: bool) -> Result<String> {
    let mut text = if pretty {
        fathom_model::indented_json(opinion)?
    } else {
        serde_json::to_string(opinion)?
    };
    text.push('\n');
    Ok(text)
}

/// The JSON Schema (draft 2020-12) of [`json`]'s document, indented.
///
/// # Errors
/// Only when serialisation itself fails.
pub fn schema() -> Result<String> {
    crate::json::schema_of::<Opinion>(fathom_model::OPINION_SCHEMA, "fathom second opinion")
}

fn write_result(page: &mut Page, result: &ResultOpinion, options: &TextOptions) {
    let tool = result.tool.as_deref().unwrap_or("unknown tool");
    page.paragraph(
        0,
        2,
        &format!("Second opinion on {} ({tool})", result.source),
    );
    for remark in &result.remarks {
        page.paragraph(0, 6, &format!("Note: {remark}"));
    }
    let throughput = Throughput::decimal(options.decimal_units);
    for job in result.jobs.iter().take(MOST_JOBS) {
        page.blank();
        write_job(page, job, throughput);
    }
    if let Some(more) = result.jobs.len().checked_sub(MOST_JOBS).filter(|n| *n > 0) {
        page.blank();
        let more = unit::counted(more as u64, "more job");
        page.line(&format!("and {more}; --json has them all"));
    }
    page.blank();
    if result.jobs.len() > 1 {
        write_validity(page, "All", result.verdict.validity, &[]);
    }
    write_missing(page, result);
}

fn write_job(page: &mut Page, job: &JobOpinion, throughput: Throughput) {
    let host = job.host.as_ref().map(|h| format!(" on {h}"));
    let title = format!("{}{}", job.name, host.unwrap_or_default());
    let title = match job.workload.is_empty() {
        true => title,
        false => format!("{title}: {}", job.workload),
    };
    page.paragraph(0, 2, &title);
    if let Some(ns) = job.duration_ns {
        page.line(&format!("  measured for {}", unit::span(ns)));
    }
    for figures in &job.figures {
        write_figures(page, figures, throughput);
    }
    write_validity(
        page,
        "Validity",
        job.verdict.validity,
        &job.verdict.findings,
    );
    for (holds, words) in [
        (Holds::Yes, "believe"),
        (Holds::WithinLimits, "with care"),
        (Holds::No, "do not believe"),
        (Holds::Unknown, "cannot be said"),
    ] {
        let sides: Vec<String> = job
            .stands
            .iter()
            .filter(|s| s.holds == holds)
            .map(side)
            .collect();
        if !sides.is_empty() {
            page.paragraph(2, 4, &format!("{words}: {}", sides.join(", ")));
        }
    }
    for finding in &job.verdict.findings {
        let shown = finding.status >= FindingStatus::Info || page.verbose;
        if shown {
            write_finding(page, finding);
        }
    }
    let limiter = names::limiter(job.verdict.limiter);
    let text = format!("{limiter}: {}", job.verdict.limiter_evidence);
    page.field_toned("Limiter", &text, Some((limiter, Tone::Strong)));
}

/// `latency (V61, V26)`.
fn side(stand: &Stand) -> String {
    let name = match stand.aspect {
        Aspect::Throughput => "throughput",
        Aspect::Latency => "latency",
        Aspect::Percentiles => "percentiles",
        Aspect::QueueDepth => "queue depth",
        Aspect::Steadiness => "steadiness",
        Aspect::Durability => "durability",
    };
    match stand.checks.is_empty() {
        true => name.to_owned(),
        false => format!("{name} ({})", stand.checks.join(", ")),
    }
}

fn write_figures(page: &mut Page, figures: &StatedFigures, throughput: Throughput) {
    let rate = Figure::of(&figures.ops_per_second, throughput).inline();
    let bytes = Figure::of(&figures.bytes_per_second, throughput).inline();
    page.paragraph(
        2,
        9,
        &format!("{:<6} {rate} IOPS, {bytes}", figures.direction),
    );
    if let (Some(kind), Some(mean)) = (&figures.latency_kind, figures.stated_mean_ns) {
        let max = figures
            .stated_max_ns
            .map(|ns| format!(", max {}", unit::latency(ns)));
        let text = format!(
            "{kind} latency: mean {}{}",
            unit::latency(mean),
            max.unwrap_or_default()
        );
        page.paragraph(9, 11, &text);
    }
    if let Some(kind) = &figures.percentile_kind {
        let listed: Vec<String> = SHOWN
            .iter()
            .filter_map(|p| {
                figures
                    .percentiles
                    .iter()
                    .find(|s| (s.percent - p).abs() < 1e-6)
            })
            .map(percentile)
            .collect();
        if !listed.is_empty() {
            page.paragraph(9, 11, &format!("{kind} percentiles: {}", listed.join(", ")));
        }
    }
}

fn percentile(stated: &StatedPercentile) -> String {
    match stated.supported {
        true => format!("p{} {}", stated.percent, unit::latency(stated.stated_ns)),
        false => format!(
            "p{} n/a (needs {} operations)",
            stated.percent,
            unit::group(stated.ops_needed as u64)
        ),
    }
}

fn write_validity(page: &mut Page, name: &str, validity: Validity, findings: &[Finding]) {
    let words = names::validity(validity);
    let tone = match validity {
        Validity::Trusted => Tone::Good,
        Validity::Caveats | Validity::NotDetermined => Tone::Warning,
        Validity::NotTrusted => Tone::Bad,
    };
    let text = match findings.is_empty() {
        true => words.to_owned(),
        false => format!(
            "{words} ({})",
            names::checks_passed(findings, "could not be made from this file")
        ),
    };
    page.field_toned(name, &text, Some((words, tone)));
}

fn write_finding(page: &mut Page, finding: &Finding) {
    let status = names::status(finding.status);
    let text = format!("{} {status}: {}", finding.id, finding.evidence);
    page.paragraph(2, 6, &text);
    if finding.status >= FindingStatus::Caveat && !finding.remedy.is_empty() {
        page.paragraph(6, 9, &format!("-> {}", finding.remedy));
    }
}

fn write_missing(page: &mut Page, result: &ResultOpinion) {
    if result.missing.is_empty() {
        return;
    }
    page.field(
        "Missing",
        "facts that the files do not hold, and what would supply them",
    );
    for missing in &result.missing {
        page.paragraph(2, 6, &missing.fact);
        page.paragraph(6, 9, &format!("-> {}", missing.supplied_by));
    }
}
