//! What the trial came to: for trials long enough for the rule of SNIA, and
//! for the sweep of a disk; with `verbose` the whole ladder of every trial.

use fathom_model::steadiness::{RungStatus, Steadiness};
use fathom_model::{JudgedRun, unit};

use super::page::Page;
use crate::{facts, steady};

/// Trials that are named.
const SHOWN: usize = 4;

pub(super) fn write(page: &mut Page, run: &JudgedRun) {
    if page.verbose {
        write_ladders(page, run);
        return;
    }
    let known = steady::of_run(run);
    for (trial, steadiness) in known.iter().take(SHOWN) {
        let name = match run.trials.len() {
            1 => String::new(),
            _ => format!("{}: ", facts::trial_name(run, trial)),
        };
        let text = format!("{name}{}{}", steady::headline(steadiness), snia(steadiness));
        page.field("Steady", &text);
    }
    if known.len() > SHOWN {
        let more = unit::counted((known.len() - SHOWN) as u64, "more trial");
        page.line(&format!("  and {more}"));
    }
    if !known.is_empty() {
        page.blank();
    }
}

fn snia(steadiness: &Steadiness) -> String {
    let rung = steadiness
        .rung("snia")
        .filter(|_| steadiness.snia.is_some());
    let Some(rung) = rung else {
        return String::new();
    };
    let verdict = match rung.status {
        RungStatus::Held => "steady state",
        _ => "no steady state",
    };
    format!(". SNIA PTS: {verdict}, {}", rung.evidence)
}

fn write_ladders(page: &mut Page, run: &JudgedRun) {
    for trial in &run.trials {
        let Some(steadiness) = &trial.steadiness else {
            continue;
        };
        let name = facts::trial_name(run, trial);
        page.paragraph(0, 2, &format!("{name}: {}", steady::headline(steadiness)));
        for rung in steady::ladder(steadiness) {
            let text = format!("{}: {}, {}", rung.title, rung.status, rung.evidence);
            page.paragraph(2, 4, &text);
        }
    }
    page.blank();
}
