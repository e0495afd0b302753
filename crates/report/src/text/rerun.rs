//! What to type for the figures and intervals that are missing: a longer run, or more files
//! where all of them were worked on before the time was over.

use fathom_model::figure::{Figure, Throughput};
use fathom_model::judged::ResultRow;
use fathom_model::secret::MASK;
use fathom_model::{JudgedRun, JudgedTrial, shell};

use super::rows::entries;
use crate::facts::more_files;

/// Flags of one more run that gives every missing figure of the rows.
pub(crate) fn advice(
    run: &JudgedRun,
    rows: &[&ResultRow],
    throughput: Throughput,
) -> Option<String> {
    let mut runtime_ns: Option<u64> = None;
    let mut files: Option<u64> = None;
    for row in rows {
        let Some(longer_ns) = longer_of(run, row, throughput) else {
            continue;
        };
        let trials: Vec<&JudgedTrial> = row
            .trials
            .iter()
            .filter_map(|at| run.trials.get(*at))
            .collect();
        match trials.iter().find_map(|trial| more_files(trial, longer_ns)) {
            Some(more) => files = files.max(Some(more)),
            None => runtime_ns = runtime_ns.max(runtime_of(&trials, longer_ns)),
        }
    }
    let files = files.map(|files| format!("--files {files}"));
    let runtime = runtime_ns.map(|ns| format!("--runtime {}s", rounded_up(ns)));
    let flags: Vec<String> = files.into_iter().chain(runtime).collect();
    (!flags.is_empty()).then(|| flags.join(" "))
}

/// Commands whose loads take `--runtime` and `--files` from the command line.
const TAKES_THE_FLAGS: [&str; 8] = ["io", "meta", "s3", "run", "ab", "quick", "net", "scale"];

/// Every spelling of the time, of which the advice gives another.
const TIME: [&str; 4] = ["--runtime", "--for", "--seconds", "-t"];

/// What was typed, with these flags in place of its own; `None` where the command takes
/// no such flags, or where a secret of it was not kept.
pub(crate) fn command(command_line: &[String], flags: &str) -> Option<String> {
    let (_, words) = command_line.split_first()?;
    let name = words.first()?;
    let secret = words.iter().any(|word| word.contains(MASK));
    if secret || !TAKES_THE_FLAGS.contains(&name.as_str()) {
        return None;
    }
    // What the advice does not set stays as it was typed.
    let is_set = |flag: &str| match TIME.contains(&flag) {
        true => flags.contains("--runtime"),
        false => flag == "--files" && flags.contains("--files"),
    };
    let mut typed = vec!["fathom".to_owned(), name.clone()];
    let mut rest = words.iter().skip(1);
    while let Some(word) = rest.next() {
        let flag = word.split_once('=').map_or(word.as_str(), |(flag, _)| flag);
        if !is_set(flag) {
            typed.push(shell::word(word));
        } else if flag == word {
            // Its value is the next word.
            rest.next();
        }
    }
    typed.push(flags.to_owned());
    Some(typed.join(" "))
}

/// Nobody measures for longer than ten minutes more for an interval: where that would be
/// needed, the seconds differ so much that none describes them.
const PATIENCE_NS: u64 = 600_000_000_000;

/// How much longer the row would have to be measured for what a longer run can give.
fn longer_of(run: &JudgedRun, row: &ResultRow, throughput: Throughput) -> Option<u64> {
    let entries = entries(run, row, throughput);
    // Connections are made once: no length of a run gives them percentiles.
    let whole = entries
        .iter()
        .filter(|entry| !entry.op.kind.is_part_of_request());
    let figures = whole.flat_map(|entry| {
        let rates = entry.figures.iter().flatten();
        rates.chain(&entry.latency)
    });
    let longer = figures.filter_map(Figure::longer_ns);
    longer.filter(|ns| *ns <= PATIENCE_NS).max()
}

fn runtime_of(trials: &[&JudgedTrial], longer_ns: u64) -> Option<u64> {
    let planned = trials.iter().map(|trial| {
        let bound = trial.workload.bounds.time_ns;
        bound.unwrap_or(trial.summary.duration_ns)
    });
    // Over several iterations the time adds up.
    let iterations = trials.len().max(1) as u64;
    Some(planned.max()?.saturating_add(longer_ns / iterations))
}

/// Seconds that somebody would type.
fn rounded_up(nanoseconds: u64) -> u64 {
    let seconds = nanoseconds.div_ceil(1_000_000_000);
    let step = match seconds {
        0..=120 => 10,
        121..=600 => 30,
        _ => 300,
    };
    seconds.div_ceil(step).saturating_mul(step)
}

#[cfg(test)]
mod tests {
    use super::command;

    fn again(line: &str) -> Option<String> {
        let words: Vec<String> = line.split(' ').map(str::to_owned).collect();
        command(&words, "--runtime 30s")
    }

    #[test]
    fn what_was_typed_comes_back_with_a_longer_time() {
        let longer = |line| again(line).unwrap_or_default();
        assert_eq!(
            longer("./fathom io /data --rw randread --runtime 5s --size 1g"),
            "fathom io /data --rw randread --size 1g --runtime 30s"
        );
        assert_eq!(
            longer("fathom quick sim:ssd?units=4 --for=2s"),
            "fathom quick 'sim:ssd?units=4' --runtime 30s"
        );
        assert_eq!(
            longer("fathom io /d --seconds 5"),
            "fathom io /d --runtime 30s"
        );
    }

    #[test]
    fn what_the_advice_does_not_set_stays() {
        assert_eq!(
            again("fathom meta /d --files 1000 --for 2s").as_deref(),
            Some("fathom meta /d --files 1000 --runtime 30s")
        );
        let words = ["fathom", "meta", "/d", "--files=10", "--for", "2s"].map(str::to_owned);
        assert_eq!(
            command(&words, "--files 500").as_deref(),
            Some("fathom meta /d --for 2s --files 500")
        );
    }

    #[test]
    fn where_the_flag_means_something_else_there_is_no_command() {
        assert_eq!(again("fathom curve depth /data"), None);
        assert_eq!(again("fathom compat fio job.fio"), None);
        assert_eq!(again("fathom s3 --secret-key ***"), None);
        assert_eq!(again("fathom"), None);
    }
}
