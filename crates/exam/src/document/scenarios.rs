//! The exam's confusion table, and fio beside it.

use super::{Setting, percent, table};
use crate::case::Expected;
use crate::fio_view::Visibility;
use crate::grade::{Grade, GradedCase, Paper};

/// What a scenario is for.
#[derive(Clone, Copy, PartialEq, Eq)]
enum ScenarioKind {
    Sound,
    Faulty,
    Limited,
}

fn kind(answer: &GradedCase) -> ScenarioKind {
    match answer.expected {
        Expected::Sound { .. } => ScenarioKind::Sound,
        Expected::Faulty { .. } => ScenarioKind::Faulty,
        Expected::Limited { .. } => ScenarioKind::Limited,
    }
}

/// How clearly fio's output shows what is asked for.
fn fio_shows(answer: &GradedCase) -> Visibility {
    match kind(answer) {
        ScenarioKind::Limited => answer.fio.limiter(),
        ScenarioKind::Sound | ScenarioKind::Faulty => answer.fio.doubt(),
    }
}

fn share(answers: &[&GradedCase], is: impl Fn(&GradedCase) -> bool) -> String {
    let count = answers.iter().filter(|answer| is(answer)).count();
    let share = count as f64 / answers.len().max(1) as f64;
    format!("{count} of {} ({})", answers.len(), percent(share))
}

pub(super) fn in_short(paper: &Paper) -> String {
    let of = |wanted: ScenarioKind| -> Vec<&GradedCase> {
        let all = paper.answers.iter();
        all.filter(|answer| kind(answer) == wanted).collect()
    };
    let (all, sound, faulty) = (
        paper.answers.iter().collect::<Vec<_>>(),
        of(ScenarioKind::Sound),
        of(ScenarioKind::Faulty),
    );
    let row = |what: &str, fathom: String, fio: String| vec![what.to_owned(), fathom, fio];
    let right = |a: &GradedCase| a.grade == Grade::Right;
    let rows = [
        row(
            "faults found",
            share(&faulty, |a| a.grade != Grade::Missed),
            format!(
                "plainly {}, to an expert another {}",
                share(&faulty, |a| fio_shows(a) == Visibility::Plainly),
                share(&faulty, |a| fio_shows(a) == Visibility::ToAnExpert)
            ),
        ),
        row(
            "sound systems called not trusted",
            share(&sound, |a| a.grade == Grade::Condemned),
            "never says so".to_owned(),
        ),
        row(
            "sound systems doubted",
            share(&sound, |a| a.grade == Grade::Doubted),
            format!(
                "by an expert {}",
                share(&sound, |a| fio_shows(a) != Visibility::Not)
            ),
        ),
        row(
            "wrong name for the limiter",
            share(&all, |a| a.grade == Grade::Misnamed),
            "names none".to_owned(),
        ),
        row("everything right", share(&all, right), "–".to_owned()),
    ];
    table(
        &["the simulated exam", "fathom ", "a reader of fio's output "],
        &rows,
    )
}

pub(super) fn exam(setting: &Setting, paper: &Paper) -> String {
    let mut names: Vec<&'static str> = Vec::new();
    for answer in &paper.answers {
        if !names.contains(&answer.scenario) {
            names.push(answer.scenario);
        }
    }
    let rows: Vec<Vec<String>> = names.iter().map(|name| row(paper, name)).collect();
    let broken = match paper.broken.len() {
        0 => String::new(),
        count => format!("\n{count} cases could not be carried out.\n"),
    };
    format!(
        "\
## The exam

{scenarios} scenarios, {repeats} cases of each with each of {seeds} seeds from {seed} on.
A sound system must be called trusted; a faulty one must carry the right finding; where a limiter is
named it must be a true one (`unknown` is allowed). *Missed*: the fault was not seen. *Doubted*: a
sound system got a caveat. *Condemned*: it was called not trusted. *Misnamed*: a wrong limiter.

The columns of fio are what its default output shows of the same samples. *Plainly*: an error, or a
count of errors. *Expert*: something in the lines below the first one that somebody who looks for it
could doubt: `iops` stdev above 10 % or its min below half of the average, `clat` max of 20 times
the 99th percentile, disk counts that are off by 10 %, `cpu` above 90 %, runs that differ by 10 %.
A sign counts even when it points at something else, and the same signs on a sound system are false
alarms. The spread is that of seconds; fio's own is of half seconds. Those who ask for
`steadystate`, `--write_iops_log` or a status interval see more.
{broken}
{table}",
        scenarios = names.len(),
        repeats = setting.repeats,
        seeds = setting.seeds,
        seed = setting.seed,
        table = table(
            &[
                "scenario",
                "right",
                "missed",
                "doubted",
                "condemned",
                "misnamed",
                "fio: plainly",
                "expert",
                "not shown",
                "fio's signs, first case ",
            ],
            &rows
        )
    )
}

fn row(paper: &Paper, name: &str) -> Vec<String> {
    let answers: Vec<&GradedCase> = paper
        .answers
        .iter()
        .filter(|a| a.scenario == name)
        .collect();
    let count = |is: &dyn Fn(&GradedCase) -> bool| match answers.iter().filter(|a| is(a)).count() {
        0 => "·".to_owned(),
        count => count.to_string(),
    };
    let graded = |grade: Grade| count(&move |a: &GradedCase| a.grade == grade);
    let shown = |shown: Visibility| count(&move |a: &GradedCase| fio_shows(a) == shown);
    let first = answers.first();
    let signs = first.map_or_else(Vec::new, |a| match kind(a) {
        ScenarioKind::Limited => a.fio.hints.clone(),
        ScenarioKind::Sound | ScenarioKind::Faulty => a.fio.signs.clone(),
    });
    let words: Vec<String> = signs.into_iter().map(|sign| sign.words).collect();
    let mut cells = vec![name.to_owned()];
    let grades = [
        Grade::Right,
        Grade::Missed,
        Grade::Doubted,
        Grade::Condemned,
        Grade::Misnamed,
    ];
    cells.extend(grades.map(graded));
    cells.extend([Visibility::Plainly, Visibility::ToAnExpert, Visibility::Not].map(shown));
    cells.push(words.join("; "));
    cells
}
