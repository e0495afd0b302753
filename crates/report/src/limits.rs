//! What set the results, by row, and how far they are below what the generator
//! itself can do.

use fathom_model::judged::ResultRow;
use fathom_model::schedule::TrialRole;
use fathom_model::{JudgedRun, JudgedTrial, Limiter};

use crate::facts::{first_trial, trial_name};

/// The highest share of the generator's own ceiling that a trial reached.
fn ceiling_share(run: &JudgedRun) -> Option<(f64, &JudgedTrial)> {
    run.trials
        .iter()
        .filter_map(|trial| Some((trial_ceiling_share(trial)?, trial)))
        .max_by(|a, b| a.0.total_cmp(&b.0))
}

/// How far the run stayed below the generator's own ceiling, in words.
pub(crate) fn ceiling_line(run: &JudgedRun) -> Option<String> {
    let (share, trial) = ceiling_share(run)?;
    let which = if run.trials.len() > 1 {
        format!(" in {}", trial_name(run, trial))
    } else {
        String::new()
    };
    let share = fathom_model::figure::percent(share);
    Some(format!(
        "fathom used at most {share} of its own capacity{which}"
    ))
}

/// Which limiter set which rows, one line each with the command that would tell more; empty
/// when all rows have the same.
pub(crate) fn limiter_lines(run: &JudgedRun) -> Vec<String> {
    let found = row_limiters(run).into_iter();
    found
        .map(|(named, hint)| format!("{named}{hint}"))
        .collect()
}

/// The same in one line, without commands.
pub(crate) fn limiter_line(run: &JudgedRun) -> String {
    let named: Vec<String> = row_limiters(run)
        .into_iter()
        .map(|(named, _)| named)
        .collect();
    named.join("; ")
}

/// A limiter with its rows, and what to type where more evidence is wanted.
fn row_limiters(run: &JudgedRun) -> Vec<(String, String)> {
    let mut found: Vec<(Limiter, Vec<&ResultRow>)> = Vec::new();
    // What limits the control says nothing about the sides.
    let is_side = |row: &&ResultRow| row.role != TrialRole::Control;
    for row in run.rows.iter().filter(is_side) {
        match found.iter_mut().find(|(l, _)| *l == row.verdict.limiter) {
            Some((_, rows)) => rows.push(row),
            None => found.push((row.verdict.limiter, vec![row])),
        }
    }
    let has_control = !run.rows.iter().all(|row| is_side(&row));
    if found.is_empty() || (found.len() < 2 && !has_control) {
        return Vec::new();
    }
    let line = |(limiter, rows): (Limiter, Vec<&ResultRow>)| {
        let names: Vec<String> = rows.iter().map(|row| row_name(run, row)).collect();
        let listed = if names.len() > 3 {
            format!("{} and {} more", names[..2].join(", "), names.len() - 2)
        } else {
            names.join(", ")
        };
        let commands = rows.iter().filter(|_| limiter.wants_evidence());
        let mut commands = commands.filter_map(|row| named_command(&row.verdict.limiter_evidence));
        let first = commands.next();
        // A command for one of several workloads tells nothing of the others.
        let same =
            |first: &&str| commands.all(|other| without_depth(other) == without_depth(first));
        let hint = match first.filter(same) {
            Some(command) => format!("; try `{command}`"),
            None => String::new(),
        };
        let named = format!("{}: {listed}", crate::names::limiter(limiter));
        (named, hint)
    };
    found.into_iter().map(line).collect()
}

fn row_name(run: &JudgedRun, row: &ResultRow) -> String {
    match first_trial(run, row) {
        Some(trial) => trial_name(run, trial),
        None => row.label.clone(),
    }
}

/// The words of a command without its depth: at each the same workload is meant.
fn without_depth(command: &str) -> Vec<&str> {
    let mut words = Vec::new();
    let mut all = command.split(' ');
    while let Some(word) = all.next() {
        match word {
            "--iodepth" => _ = all.next(),
            word => words.push(word),
        }
    }
    words
}

/// The command that evidence names between backticks: what would determine a limiter
/// stands at its end.
fn named_command(evidence: &str) -> Option<&str> {
    let (before, _) = evidence.rsplit_once('`')?;
    let (_, command) = before.rsplit_once('`')?;
    Some(command)
}

/// Share of the generator's own ceiling that a trial reached, 0 to 1.
pub(crate) fn trial_ceiling_share(trial: &JudgedTrial) -> Option<f64> {
    let ceiling = trial.summary.ceiling?.ops_per_second;
    let reached: f64 = trial
        .summary
        .ops
        .iter()
        .filter(|op| op.kind.is_data())
        .filter_map(|op| op.ops_per_second.value)
        .sum();
    (ceiling > 0.0 && reached > 0.0 && (reached / ceiling).is_finite()).then(|| reached / ceiling)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_workload_at_several_depths_has_one_command() {
        let at = |depth: &str| format!("fathom io /data --rw read --iodepth {depth} --runtime 90s");
        assert_eq!(without_depth(&at("1")), without_depth(&at("32")));
        assert_ne!(
            without_depth("fathom io /data --rw read"),
            without_depth("fathom io /data --rw write")
        );
    }
}
