//! The three questions, each answered apart, and where to read more.

use fathom_model::verdict::{FindingStatus, Fit};
use fathom_model::{Finding, JudgedRun, RunState, Validity};

use super::page::{Page, Tone};
use crate::{affected, facts, limits, names, next_step};

/// Findings against the number that are shown; the others with --verbose.
const SHOWN: usize = 3;
/// Lines that each of them may take.
const LINES_EACH: usize = 2;
/// Findings in a few lines.
const FEW_SHOWN: usize = 3;

pub(super) fn write(page: &mut Page, run: &JudgedRun) {
    page.blank();
    write_validity(page, run);
    write_limiter(page, run);
    write_fitness(page, run);
    if let Some(text) = limits::ceiling_line(run) {
        page.field("Headroom", &text);
    }
    if let Some(text) = next_step::of(run).filter(|_| !page.verbose) {
        page.field("Next", &text);
    }
}

/// Where to read more.
pub(super) fn write_report(page: &mut Page, run: &JudgedRun, report: Option<&str>) {
    match report {
        // One line whatever its length, so that it can be copied.
        Some(path) => page.line(&format!("Report:   {path}")),
        None => page.field("Report", &format!("fathom report {}", run.run.id)),
    }
}

/// Why it ended, the answers in one line, and the worst findings.
pub(super) fn lines(run: &JudgedRun) -> Vec<String> {
    let mut lines: Vec<String> = run.run.reason.iter().cloned().collect();
    if run.run.state == RunState::Failed {
        return lines;
    }
    let word = match run.verdict.validity {
        Validity::Trusted => "trusted",
        Validity::Caveats => "with caveats",
        Validity::NotDetermined => "not determined",
        Validity::NotTrusted => "not trusted",
    };
    lines.push(format!(
        "{word}; limiter: {}; `fathom runs show {}` has the whole verdict",
        run.verdict.limiter_evidence, run.run.id
    ));
    let worst = run.verdict.findings.iter().filter(|finding| {
        matches!(
            finding.status,
            FindingStatus::Caveat | FindingStatus::Invalid
        )
    });
    let worst = worst.take(FEW_SHOWN);
    lines.extend(worst.map(|finding| format!("{} {}", finding.id, finding.evidence)));
    lines
}

fn write_validity(page: &mut Page, run: &JudgedRun) {
    let verdict = &run.verdict;
    let words = names::validity(verdict.validity);
    let tone = match verdict.validity {
        Validity::Trusted => Tone::Good,
        Validity::Caveats | Validity::NotDetermined => Tone::Warning,
        Validity::NotTrusted => Tone::Bad,
    };
    let affected = affected::rows(run).map_or(String::new(), |rows| format!(" in {rows}"));
    let checks = names::checks_passed(&verdict.findings, names::NOT_RUN);
    let text = format!("{words}{affected} ({checks})");
    page.field_toned("Validity", &text, Some((words, tone)));
    let objections = names::objections(&verdict.findings);
    let shown = match page.verbose {
        true => objections.len(),
        false => SHOWN,
    };
    for finding in objections.iter().take(shown) {
        let finding = Finding {
            evidence: facts::without_reason(run, &finding.evidence),
            ..(*finding).clone()
        };
        match page.verbose {
            true => write_finding(page, &finding),
            false => write_shortened(page, &finding),
        }
    }
    if let Some(more) = objections.len().checked_sub(shown).filter(|n| *n > 0) {
        page.line(&format!("  +{more} more: --verbose"));
    }
    if page.verbose {
        let others = verdict.findings.iter();
        for finding in others.filter(|f| f.status < FindingStatus::Caveat) {
            write_finding(page, finding);
        }
    }
}

/// A target that the user set; without one there is nothing to say.
fn write_fitness(page: &mut Page, run: &JudgedRun) {
    let Some(fitness) = &run.verdict.fitness else {
        return;
    };
    let words = names::fit(fitness.outcome);
    let tone = match fitness.outcome {
        Fit::Met => Tone::Good,
        Fit::NotProven => Tone::Warning,
        Fit::NotMet => Tone::Bad,
    };
    let said = run.view.as_ref().is_some_and(|view| view.says_fitness);
    let text = match said {
        true => format!("{words}: {}", fitness.target),
        false => format!("{words}: {}: {}", fitness.target, fitness.evidence),
    };
    page.field_toned("Fitness", &text, Some((words, tone)));
}

pub(super) fn write_finding(page: &mut Page, finding: &Finding) {
    let status = names::status(finding.status);
    let text = format!("{} {status}: {}", finding.id, finding.evidence);
    page.paragraph(2, 6, &text);
    if finding.status >= FindingStatus::Caveat && !finding.remedy.is_empty() {
        page.paragraph(6, 9, &format!("-> {}", finding.remedy));
    }
}

/// A finding in two lines; what is cut is in the report and with --verbose.
fn write_shortened(page: &mut Page, finding: &Finding) {
    let status = names::status(finding.status);
    let text = format!("{} {status}: {}", finding.id, finding.evidence);
    page.paragraph_of(2, 6, &text, LINES_EACH);
}

fn write_limiter(page: &mut Page, run: &JudgedRun) {
    let verdict = &run.verdict;
    let by_row = limits::limiter_lines(run);
    if let Some((first, others)) = by_row.split_first() {
        page.field("Limiter", first);
        for line in others {
            page.paragraph(10, 12, line);
        }
        return;
    }
    let name = names::limiter(verdict.limiter);
    let text = if verdict.limiter_evidence.is_empty() {
        name.to_owned()
    } else {
        format!("{name}: {}", verdict.limiter_evidence)
    };
    page.field_toned("Limiter", &text, Some((name, Tone::Strong)));
}
