//! `fathom-lab diagnosis`: how often does `fathom diagnose` name what holds a
//! host back? And the applications with which it is tried.

use std::path::PathBuf;
use std::time::Duration;

use anyhow::Context;
use clap::{Args, ValueEnum};
use fathom_console::{Exit, complain, write_stderr, write_stdout};
use fathom_exam::diagnosis::{Desk, DiagnosisPaper, draw, families};
use fathom_lab::application::Application;
use fathom_model::unit;

use crate::programs::programs;
use crate::signals::Signals;

/// Let `fathom diagnose` judge this host under troubles whose truth is known.
///
/// Each case sets up a real mechanism on this host: a volume with a cap, a
/// CPU hog, memory that is paged out to a small swap file, a thread that waits
/// for fsync, a network mount behind a slow link, a neighbour on the same
/// device, a lock, a busy disk that limits nothing, a healthy load, or nothing.
/// `fathom diagnose --for 9s` watches meanwhile, and its answer is compared with
/// the truth. Figures are drawn by the seed.
///
/// Some twelve seconds a case, on a host that does little else: a case waits
/// for that, is sat once more where others took CPU time, and does not count
/// where they did again. It needs root, FUSE, nbdkit and libnbd-bin; what cannot
/// be set up is skipped with the reason. All that was set up is taken away, after
/// Ctrl-C as well.
///
/// Status 1 when less than 95 % are right, or one YES is not true.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  fathom-lab diagnosis               30 cases, some six minutes
  fathom-lab diagnosis --seed 7 --cases 60
                                     Other figures, and twice as many
  fathom-lab diagnosis --only lock --cases 4
                                     Of families with this in their name
  fathom-lab diagnosis --format json | jq '.cases[] | select(.grade != \"right\")'")]
pub(crate) struct DiagnosisExam {
    /// Seed from which the figures of the cases are drawn.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// How many cases; families take turns.
    #[arg(long, default_value_t = 30, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    cases: u32,
    /// Only families whose name contains this.
    #[arg(
        long,
        value_name = "NAME",
        default_value = "",
        hide_default_value = true
    )]
    only: String,
    /// How long a case waits for the host to become quiet before it begins all
    /// the same.
    #[arg(long, value_name = "TIME", default_value = "20s", value_parser = unit::parse_duration)]
    patience: u64,
    /// Where swap and other files are made and removed; on a device, not in
    /// memory.
    #[arg(long, value_name = "DIR", default_value = ".")]
    folder: PathBuf,
    /// The fathom that is examined. Default: the one beside this program.
    #[arg(long, value_name = "PROGRAM")]
    fathom: Option<PathBuf>,
    /// How the result is printed.
    #[arg(long, value_enum, default_value_t, value_name = "FORMAT")]
    format: ExamFormat,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
enum ExamFormat {
    /// Each case as it ends, then the score.
    #[default]
    Text,
    /// One document (schema fathom.lab.diagnosis/1).
    Json,
    /// The page of documentation.
    Markdown,
}

/// Be an application whose trouble is known, until killed.
#[derive(Debug, Args)]
pub(crate) struct Play {
    /// What it does, as one line of JSON.
    description: String,
}

pub(crate) fn play(play: &Play) -> anyhow::Result<Exit> {
    match Application::parse(&play.description).and_then(|application| application.run()) {
        Ok(()) => Ok(Exit::Success),
        Err(error) => {
            complain(&error.to_string());
            Ok(Exit::Usage)
        }
    }
}

pub(crate) fn sit(exam: &DiagnosisExam) -> anyhow::Result<Exit> {
    if draw(exam.seed, 0, &exam.only).is_none() {
        let names: Vec<&str> = families().collect();
        complain(&format!(
            "no family has '{}' in its name: there are {}",
            exam.only,
            names.join("; ")
        ));
        return Ok(Exit::Usage);
    }
    // What niced programs wait for is no shortage: the cases are of work that is not,
    // also when this exam was started by nice. Where that is refused it stays so.
    let _ = rustix::process::setpriority_process(None, 0);
    let signals = Signals::listen().context("cannot listen for signals")?;
    let stopped = || signals.count() > 0;
    let programs = programs(exam.fathom.as_deref())?;
    let folder = fathom_deadline::paths::canonicalize(&exam.folder)
        .with_context(|| format!("cannot use {}", exam.folder.display()))?;
    let patience = Duration::from_nanos(exam.patience);
    let desk = Desk::new(&programs, &folder, patience, &stopped)
        .with_context(|| format!("cannot make a folder in {}", folder.display()))?;
    let mut paper = DiagnosisPaper {
        seed: exam.seed,
        ..DiagnosisPaper::default()
    };
    for number in 0..exam.cases {
        let Some(case) = draw(exam.seed, number, &exam.only) else {
            break;
        };
        let seed = exam.seed.wrapping_add(u64::from(number));
        let Some(result) = desk.sit(number + 1, &case, seed)? else {
            break;
        };
        let line = format!("{result}\n");
        match exam.format {
            ExamFormat::Text => write_stdout(&line)?,
            ExamFormat::Json | ExamFormat::Markdown => write_stderr(&line),
        }
        paper.results.push(result);
    }
    drop(desk);
    match exam.format {
        ExamFormat::Text => write_stdout(&paper.to_string())?,
        ExamFormat::Json => {
            let json = serde_json::to_string_pretty(&paper.to_json())?;
            write_stdout(&format!("{json}\n"))?;
        }
        ExamFormat::Markdown => {
            let made = format!(
                "{}, fathom {}, on {}",
                jiff::Timestamp::now().strftime("%Y-%m-%d"),
                env!("CARGO_PKG_VERSION"),
                crate::exam::machine()
            );
            write_stdout(&paper.to_page(&made))?;
        }
    }
    Ok(match (stopped(), paper.passed()) {
        (true, _) => Exit::Interrupted,
        (false, true) => Exit::Success,
        (false, false) => Exit::Failure,
    })
}
