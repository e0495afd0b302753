//! What a run means in one sentence, and what to do next.

use fathom_model::figure::Throughput;
use fathom_model::judged::ResultRow;
use fathom_model::{JudgedRun, Limiter, Validity};

use crate::comparison as words;
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

/// With a capital and a full stop; a name such as `node2` or `h5:/bricks` stays as it is.
pub(crate) fn sentence_of(text: &str) -> String {
    let first = text.split(' ').next().unwrap_or_default();
    let is_word = first
        .trim_end_matches([',', ':', ';'])
        .chars()
        .all(|letter| letter.is_alphabetic() || matches!(letter, '-' | '\''));
    let mut letters = text.chars();
    let first = letters.next().filter(|_| is_word);
    let text: String = match first {
        Some(first) => first.to_uppercase().chain(letters).collect(),
        None => text.to_owned(),
    };
    match text.ends_with(['.', '!', '?']) {
        true => text,
        false => format!("{text}."),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_becomes_a_sentence() {
        assert_eq!(sentence_of("the knee is at 8"), "The knee is at 8.");
        assert_eq!(sentence_of("B is faster."), "B is faster.");
        assert_eq!(sentence_of("h5:/b is slow"), "h5:/b is slow.");
        assert_eq!(sentence_of("inconclusive: none"), "Inconclusive: none.");
    }
}
