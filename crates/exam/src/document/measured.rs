//! Figures beside their truth, and the real scenarios.

use fathom_model::verdict::Validity;

use super::{RealPaper, percent, table};
use crate::fio_view::Visibility;
use crate::grade::Grade;
use crate::real::{HeldFigure, RealAnswer};
use crate::truth::TruthRow;

fn yes(kept: bool) -> String {
    if kept { "yes" } else { "**no**" }.to_owned()
}

pub(super) fn figures(truth: &[TruthRow], real: &RealPaper) -> String {
    let rows: Vec<Vec<String>> = truth
        .iter()
        .map(|row| {
            vec![
                row.name.to_owned(),
                row.truth.to_owned(),
                row.errors.len().to_string(),
                (row.without as usize + row.broken.len()).to_string(),
                format!("{:.2} %", 100.0 * row.median()),
                format!("{:.2} %", 100.0 * row.worst()),
                percent(row.bar),
                yes(row.kept()),
            ]
        })
        .collect();
    let in_real_time: Vec<Vec<String>> = real
        .answers
        .iter()
        .flat_map(|answer| answer.held.iter().map(move |held| (answer, held)))
        .map(|(answer, held)| held_row(answer, held))
        .collect();
    let real_part = match in_real_time.is_empty() {
        true => "\nIn real time: not done in this run.\n".to_owned(),
        false => format!(
            "\nIn real time, through the kernel, on the machine named above:\n\n{}",
            table(
                &[
                    "figure", "target ", "measured", "truth", "error", "bar", "kept "
                ],
                &in_real_time
            )
        ),
    };
    format!(
        "\
## Measured against the truth

Drives with drawn parameters under the virtual clock, measured and judged as any run. The truth is
the drive's own record of what it did, or the parameter that was set.

{}{real_part}",
        table(
            &[
                "figure",
                "held against ",
                "cases",
                "without a figure",
                "median error",
                "worst error",
                "bar",
                "kept ",
            ],
            &rows
        )
    )
}

fn held_row(answer: &RealAnswer, held: &HeldFigure) -> Vec<String> {
    let number = |value: f64| fathom_model::unit::count(value);
    let error = held.error();
    vec![
        held.name.to_owned(),
        answer.scenario.to_owned(),
        held.measured.map_or_else(|| "–".to_owned(), number),
        number(held.truth),
        error.map_or_else(|| "–".to_owned(), |e| format!("{:+.2} %", 100.0 * e)),
        percent(held.bar),
        yes(error.is_some_and(|e| e.abs() <= held.bar)),
    ]
}

pub(super) fn scenarios(real: &RealPaper) -> String {
    if real.answers.is_empty() && real.without.is_empty() {
        return "## Real components\n\nThis part was not done.\n".to_owned();
    }
    let rows: Vec<Vec<String>> = real.answers.iter().map(row).collect();
    let without: String = real
        .without
        .iter()
        .map(|(name, reason)| format!("- {name}: {reason}\n"))
        .collect();
    let without = match without.is_empty() {
        true => without,
        false => format!("\nNot done on this machine:\n\n{without}"),
    };
    let right = real
        .answers
        .iter()
        .filter(|a| a.grade == Grade::Right)
        .count();
    format!(
        "\
## Real components

The real program and the real fio, one after the other, on targets that were shaped for it.
{right} of {} judgements are right. Sound ones may carry objections that are true of a short trial on a
small, shared machine (few seconds, competition for the CPU, a file served by a program).

{}{without}",
        real.answers.len(),
        table(
            &[
                "target",
                "in truth ",
                "fathom says ",
                "grade ",
                "fio says ",
                "fio's signs ",
            ],
            &rows
        )
    )
}

fn row(answer: &RealAnswer) -> Vec<String> {
    let ids: Vec<&str> = answer
        .objections
        .iter()
        .filter_map(|objection| objection.split(' ').next())
        .collect();
    let validity = match answer.validity {
        Validity::Trusted => "trusted",
        Validity::Caveats => "caveats",
        Validity::NotDetermined => "not determined",
        Validity::NotTrusted => "not trusted",
    };
    let limiter = serde_json::to_value(answer.limiter).unwrap_or_default();
    let limiter = limiter.as_str().unwrap_or("unknown").replace('_', " ");
    let (headline, signs) = match &answer.fio {
        None => ("no fio here".to_owned(), String::new()),
        Some(view) => {
            let words: Vec<&str> = view.signs.iter().map(|s| s.words.as_str()).collect();
            let said = match view.doubt() {
                Visibility::Not => "not shown".to_owned(),
                shown => format!("{shown}: {}", words.join("; ")),
            };
            (view.headline.clone(), said)
        }
    };
    vec![
        answer.scenario.to_owned(),
        if answer.sound { "sound" } else { "faulty" }.to_owned(),
        format!("{validity} ({}), limiter {limiter}", ids.join(" ")).replace(" ()", ""),
        format!("{:?}", answer.grade).to_lowercase(),
        headline,
        signs,
    ]
}
