//! What a run means in one sentence, and what to do next.

use fathom_model::figure::Throughput;
use fathom_model::judged::ResultRow;
use fathom_model::{JudgedRun, Limiter, Validity};

use crate::comparison as words;
use crate::sentence::sentence_of;
use crate::text::rerun;
use crate::{affected, facts, limits, names};

/// What the run says: the answer of its study, or else what its verdict means.
pub(crate) fn sentence(run: &JudgedRun) -> String {
    if let Some(comparison) = &run.comparison {
        return sentence_of(&words::headline(comparison));
    }
    let said = run.view.as_ref();
    let said = said.and_then(|view| view.answers.first().or_else(|| view.sentences.first()));
    match said {
        Some(answer) => sentence_of(answer),
        None => by_verdict(run),
    }
}

/// What a study says beside its first answer, where no section of the page repeats it.
pub(crate) fn more_answers(run: &JudgedRun) -> &[String] {
    let view = run.view.as_ref().filter(|_| facts::answer(run).is_none());
    let answers = view.map(|view| view.answers.as_slice());
    answers.and_then(|all| all.get(1..)).unwrap_or_default()
}

fn by_verdict(run: &JudgedRun) -> String {
    if let Some(sentence) = affected::sentence(run) {
        return sentence;
    }
    let differs = !limits::limiter_line(run).is_empty();
    let limiter = match run.verdict.limiter {
        _ if differs => "what limits them differs from row to row".to_owned(),
        Limiter::Unknown => "what limits them is not determined".to_owned(),
        limiter => format!("they are limited by {}", names::limited_by(limiter)),
    };
    let stand = match run.verdict.validity {
        Validity::Trusted => "The figures can be trusted",
        Validity::Caveats => "The figures can be trusted with caveats",
        Validity::NotDetermined => "Too few checks could run to trust the figures",
        Validity::NotTrusted => "The figures cannot be trusted",
    };
    format!("{stand}; {limiter}.")
}

/// The next step, or else what would give the figures that are missing.
pub(crate) fn next_step(run: &JudgedRun) -> Option<String> {
    if let Some(step) = crate::next_step::of(run) {
        return Some(step);
    }
    let rows: Vec<&ResultRow> = run.rows.iter().collect();
    let flags = rerun::advice(run, &rows, Throughput::Binary)?;
    let repeat = match rerun::command(&run.run.command_line, &flags) {
        Some(command) => format!("Run `{command}`"),
        None => format!("Repeat it with `{flags}`"),
    };
    Some(format!(
        "{repeat}: then every rate and p99 should have its interval."
    ))
}
