//! Stored runs compared: at best indicative, because they were not measured in
//! turns.

use fathom_model::comparison::{COMPARISON_SCHEMA, ComparedSide, Comparison, Difference, Standing};
use fathom_model::judged::{JudgedRun, JudgedTrial, ResultRow};
use fathom_model::schedule::TrialRole;
use fathom_model::{Metric, RunState, Validity, unit};
use fathom_rules::method::comparison::LEAST_UNITS;
use fathom_stats::moments::mean;

use super::difference::{self, Fields};
use super::effect::Margin;
use super::figures::{Figure, figures_of};
use super::overall;
use super::standing;
use super::table::{self, Entry, RowEntries};
use super::unpaired::{self, RunFigures};
use crate::unknown::Unknown;

/// How stored runs are compared.
#[derive(Debug, Clone, PartialEq)]
pub struct CompareOptions {
    /// Differences up to this many percent count as none.
    pub margin_percent: f64,
    /// The figure that decides, instead of the one that suits the workload.
    pub decides: Option<Metric>,
    /// Fields that are meant to differ: whole names or their beginnings.
    pub declared: Vec<String>,
}

/// Compares two sides of one or several runs each. Rows are matched by label,
/// target and role; where targets differ, by label and role alone.
pub fn compare_runs(a: &[JudgedRun], b: &[JudgedRun], options: &CompareOptions) -> Comparison {
    let margin = Margin::percent(options.margin_percent);
    let (matches, unmatched) = matched(a, b);
    let entries: Vec<RowEntries> = matches.iter().map(|m| m.entries(options.decides)).collect();
    let compared = table::rows(entries, margin, LEAST_UNITS);
    let (declared, undeclared) = split(a, b, &matches, options);
    let findings = vec![
        standing::unpaired(false),
        standing::config_diff(&undeclared),
    ];
    let mut comparison = Comparison {
        schema: COMPARISON_SCHEMA.to_owned(),
        standing: Standing::Indicative,
        reasons: Vec::new(),
        outcome: overall(&compared),
        margin_percent: if options.margin_percent.is_finite() {
            options.margin_percent
        } else {
            0.0
        },
        planned_pairs: None,
        a: side(a),
        b: side(b),
        declared,
        undeclared,
        rows: compared,
        unmatched,
        control: None,
        findings,
    };
    standing::settle(&mut comparison, false, untrusted(&matches));
    comparison
}

fn side(runs: &[JudgedRun]) -> ComparedSide {
    let ids: Vec<String> = runs.iter().map(|r| r.run.id.clone()).collect();
    ComparedSide {
        label: format!("{} ({})", described(runs), ids.join(", ")),
        runs: ids,
        before: None,
    }
}

/// What was measured on what: `quick on /data`.
fn described(runs: &[JudgedRun]) -> String {
    let trials = runs.iter().flat_map(|run| &run.trials);
    let mut targets: Vec<String> = trials.map(|trial| trial.target.to_string()).collect();
    targets.sort();
    targets.dedup();
    let mut names: Vec<&str> = runs.iter().map(|run| run.run.name.as_str()).collect();
    names.sort_unstable();
    names.dedup();
    let names = names.join(" and ");
    match targets.as_slice() {
        [] => names,
        [target] if names.ends_with(target.as_str()) => names,
        [target] => format!("{names} on {target}"),
        [target, others @ ..] => format!("{names} on {target} and {} more", others.len()),
    }
}

/// The trials of one row, run by run.
struct Match<'a> {
    label: String,
    a: Vec<Vec<&'a JudgedTrial>>,
    b: Vec<Vec<&'a JudgedTrial>>,
}

impl Match<'_> {
    fn entries(&self, decides: Option<Metric>) -> RowEntries {
        let figures = figures_of(&self.a.concat(), &self.b.concat(), decides);
        RowEntries {
            label: self.label.clone(),
            entries: figures
                .into_iter()
                .map(|figure| entry(figure, &self.a, &self.b))
                .collect(),
        }
    }
}

fn entry(figure: Figure, a: &[Vec<&JudgedTrial>], b: &[Vec<&JudgedTrial>]) -> Entry {
    let mut reason = None;
    let mut side = |runs: &[Vec<&JudgedTrial>]| -> Vec<RunFigures> {
        let of_run = |trials: &Vec<&JudgedTrial>| {
            let mut run = RunFigures::default();
            for trial in trials {
                match figure.of(trial) {
                    Ok((value, half)) => {
                        run.logs.push(value.ln());
                        // Half a 95 % interval is about two standard errors.
                        run.single_error = half.map(|half| half / 1.96);
                    }
                    Err(why) => reason = reason.take().or(Some(why)),
                }
            }
            run
        };
        runs.iter().map(of_run).collect()
    };
    let (fa, fb) = (side(a), side(b));
    let effect = unpaired::effect(&fa, &fb);
    let reason = reason.unwrap_or_else(|| {
        Unknown::because(
            "a single short run has none; measure longer, or name several runs of a side, \
             separated by commas",
        )
    });
    let level = |side: &[RunFigures]| -> Result<f64, Unknown> {
        let means: Vec<f64> = side.iter().filter_map(|r| mean(&r.logs)).collect();
        mean(&means).map(f64::exp).ok_or_else(|| reason.clone())
    };
    Entry {
        figure,
        a: level(&fa),
        b: level(&fb),
        pairs: Vec::new(),
        effect: effect.map(|effect| figure.effect(effect)),
        p_sign_flip: None,
        reason: reason.to_string(),
    }
}

/// Whether a row is a result that can be compared.
fn is_result(row: &ResultRow) -> bool {
    matches!(row.role, TrialRole::Measure | TrialRole::A | TrialRole::B)
}

fn trials_of<'a>(run: &'a JudgedRun, row: &ResultRow) -> Vec<&'a JudgedTrial> {
    let trials = row.trials.iter().filter_map(|i| run.trials.get(*i));
    trials.filter(|t| t.state == RunState::Complete).collect()
}

/// Rows of one side by what they are called, each with its trials run by run.
fn by_name(
    runs: &[JudgedRun],
    name: impl Fn(&ResultRow) -> String,
) -> Vec<(String, Vec<Vec<&JudgedTrial>>)> {
    let mut rows: Vec<(String, Vec<Vec<&JudgedTrial>>)> = Vec::new();
    for run in runs {
        for row in run.rows.iter().filter(|row| is_result(row)) {
            let name = name(row);
            let trials = trials_of(run, row);
            match rows.iter_mut().find(|(known, _)| *known == name) {
                Some((_, all)) => all.push(trials),
                None => rows.push((name, vec![trials])),
            }
        }
    }
    rows
}

/// Rows that both sides have, and the names of those that one lacks.
fn matched<'a>(a: &'a [JudgedRun], b: &'a [JudgedRun]) -> (Vec<Match<'a>>, Vec<String>) {
    let strict = |row: &ResultRow| format!("{} on {}", row.label, row.target);
    let loose = |row: &ResultRow| row.label.clone();
    let pair = |name: fn(&ResultRow) -> String| {
        let (left, mut right) = (by_name(a, name), by_name(b, name));
        let mut found = Vec::new();
        let mut alone = Vec::new();
        for (label, a) in left {
            match right.iter().position(|(other, _)| *other == label) {
                Some(at) => {
                    let (_, b) = right.remove(at);
                    found.push(Match { label, a, b });
                }
                None => alone.push(format!("{label} (only in A)")),
            }
        }
        let rest = right.into_iter();
        alone.extend(rest.map(|(label, _)| format!("{label} (only in B)")));
        (found, alone)
    };
    let by_target = pair(strict);
    if !by_target.0.is_empty() && by_target.1.is_empty() {
        return shorten(by_target);
    }
    let by_label = pair(loose);
    match by_label.0.len() > by_target.0.len() {
        true => by_label,
        false => shorten(by_target),
    }
}

/// Leaves the target out of the labels where they are told apart without.
fn shorten<'a>(found: (Vec<Match<'a>>, Vec<String>)) -> (Vec<Match<'a>>, Vec<String>) {
    let (mut matches, alone) = found;
    let short: Vec<String> = matches
        .iter()
        .filter_map(|m| Some(m.a.iter().flatten().next()?.label.clone()))
        .collect();
    let mut unique = short.clone();
    unique.sort();
    unique.dedup();
    if unique.len() == matches.len() {
        for (found, label) in matches.iter_mut().zip(short) {
            found.label = label;
        }
    }
    (matches, alone)
}

/// Facts of a run as a whole.
fn run_fields(run: &JudgedRun) -> Fields {
    let mut fields = difference::host_fields(&run.host);
    fields.insert("fathom.version".to_owned(), run.run.tool_version.clone());
    fields
}

fn row_fields(trial: &JudgedTrial) -> Fields {
    let mut fields = difference::workload_fields(&trial.workload);
    fields.insert("target".to_owned(), trial.target.to_string());
    let target = difference::target_fields(trial);
    fields.extend(target.settings);
    fields.extend(target.identity);
    fields
}

/// All differences, sorted by whether they are meant.
fn split(
    a: &[JudgedRun],
    b: &[JudgedRun],
    matches: &[Match<'_>],
    options: &CompareOptions,
) -> (Vec<Difference>, Vec<Difference>) {
    let mut all: Vec<Difference> = Vec::new();
    let mut add = |list: Vec<Difference>| {
        for difference in list {
            if !all.contains(&difference) {
                all.push(difference);
            }
        }
    };
    for (a, b) in a.iter().flat_map(|a| b.iter().map(move |b| (a, b))) {
        add(difference::differences(&run_fields(a), &run_fields(b)));
    }
    for found in matches {
        let first =
            |side: &[Vec<&JudgedTrial>]| side.iter().flatten().next().map(|t| row_fields(t));
        if let (Some(a), Some(b)) = (first(&found.a), first(&found.b)) {
            add(difference::differences(&a, &b));
        }
    }
    all.into_iter().partition(|difference| {
        let meant = options.declared.iter();
        meant.into_iter().any(|name| {
            let field = &difference.field;
            field == name
                || field.starts_with(&format!("{name}."))
                || field.ends_with(&format!(".{name}"))
        })
    })
}

fn untrusted(matches: &[Match<'_>]) -> Vec<String> {
    let all: Vec<&&JudgedTrial> = matches
        .iter()
        .flat_map(|m| m.a.iter().chain(&m.b).flatten())
        .collect();
    let bad = all
        .iter()
        .filter(|t| t.verdict.validity == Validity::NotTrusted)
        .count();
    let trials = |count: usize| unit::counted(count as u64, "trial");
    match bad {
        0 => Vec::new(),
        1 => vec![format!("1 of {} is not trusted", trials(all.len()))],
        n => vec![format!("{n} of {} are not trusted", trials(all.len()))],
    }
}
