//! `fathom-lab exam --blind`: cases that outsiders wrote.

use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::Context;
use clap::Args;
use fathom_console::{Exit, admit, complain, write_file, write_stderr, write_stdout};
use fathom_deadline::paths;
use fathom_exam::blind::{Batch, BlindDesk, BlindPaper, Sitting, blind_page};
use fathom_model::unit;
use fathom_outputs::Mark;
use fathom_s3::encode;
use ring::digest::{SHA256, digest};

use crate::programs::programs;
use crate::signals::Signals;

/// Bytes of a batch or a result at most.
const MOST_BYTES: u64 = 16 << 20;

/// How an exam of outsiders is sat.
#[derive(Debug, Args)]
#[command(next_help_heading = "Cases that outsiders wrote")]
pub(crate) struct BlindOptions {
    /// Sit the cases of this file: commands that set a system up, the command that
    /// asks fathom, the truth, and which answers are right (see the guide of the
    /// laboratory). The commands are run as they stand, by bash, as you: read them
    /// first.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["seed", "repeats", "scenario", "page"])]
    blind: Option<PathBuf>,
    /// Only cases whose name contains this.
    #[arg(long, value_name = "NAME", requires = "blind")]
    case: Option<String>,
    /// Keep the result here, as JSON (schema fathom.lab.blind/1).
    #[arg(long, value_name = "FILE", requires = "blind", conflicts_with = "case")]
    keep: Option<PathBuf>,
    /// Print the page of documentation about kept results, in their order.
    #[arg(long, value_name = "RESULT", num_args = 1.., conflicts_with_all = ["seed", "repeats", "scenario", "json"])]
    page: Vec<PathBuf>,
    /// How long a case waits for the host to become quiet before it begins all the
    /// same.
    #[arg(long, value_name = "TIME", default_value = "20s", value_parser = unit::parse_duration, requires = "blind")]
    patience: u64,
    /// Where each case gets a folder of its own; on a device, not in memory.
    #[arg(
        long,
        value_name = "DIR",
        default_value = ".",
        hide_default_value = true,
        requires = "blind"
    )]
    folder: PathBuf,
    /// The fathom that is examined. Default: the one beside this program.
    #[arg(long, value_name = "PROGRAM", requires = "blind")]
    fathom: Option<PathBuf>,
}

impl BlindOptions {
    /// Does what was asked for; nothing where that is another exam.
    pub(crate) fn carry_out(&self, json: bool) -> Option<anyhow::Result<Exit>> {
        match &self.blind {
            Some(file) => Some(self.sit(file, json)),
            None if !self.page.is_empty() => Some(self.print_page()),
            None => None,
        }
    }

    fn sit(&self, file: &Path, json: bool) -> anyhow::Result<Exit> {
        let text = read(file)?;
        let batch = match Batch::parse(&text) {
            Ok(batch) => batch,
            Err(error) => {
                complain(&format!("{}: {error}", file.display()));
                return Ok(Exit::Usage);
            }
        };
        let wanted = |name: &str| self.case.as_ref().is_none_or(|part| name.contains(part));
        if !batch.cases.iter().any(|case| wanted(&case.name)) {
            complain("no case has this in its name; without --case all are sat");
            return Ok(Exit::Usage);
        }
        if let Some(keep) = &self.keep {
            admit(keep, Mark::Document)?;
        }
        let mut paper = BlindPaper::new(&batch.title, &batch.by, &digest_of(&text), sitting());
        let stopped = self.sit_all(&batch, &wanted, &mut paper, json)?;
        let text = format!("{}\n", serde_json::to_string_pretty(&paper)?);
        match json {
            true => write_stdout(&text)?,
            false => write_stdout(&format!("\n{paper}"))?,
        }
        if stopped {
            return Ok(Exit::Interrupted);
        }
        if let Some(keep) = &self.keep {
            write_file(keep, Mark::Document, &text)?;
        }
        Ok(match paper.passed() {
            true => Exit::Success,
            false => Exit::Failure,
        })
    }

    /// Sits the cases in order; whether it was stopped.
    fn sit_all(
        &self,
        batch: &Batch,
        wanted: &dyn Fn(&str) -> bool,
        paper: &mut BlindPaper,
        json: bool,
    ) -> anyhow::Result<bool> {
        let signals = Signals::listen().context("cannot listen for signals")?;
        let stopped = || signals.count() > 0;
        let programs = programs(self.fathom.as_deref())?;
        let folder = paths::canonicalize(&self.folder)
            .with_context(|| format!("cannot use {}", self.folder.display()))?;
        let patience = Duration::from_nanos(self.patience);
        let desk = BlindDesk::new(&programs, &folder, patience, &stopped)
            .with_context(|| format!("cannot make a folder in {}", folder.display()))?;
        for case in batch.cases.iter().filter(|case| wanted(&case.name)) {
            let sat = desk.sit(case);
            let Some(result) = sat.with_context(|| format!("case '{}'", case.name))? else {
                return Ok(true);
            };
            match json {
                true => write_stderr(&format!("{result}\n")),
                false => write_stdout(&format!("{result}\n"))?,
            }
            paper.results.push(result);
        }
        Ok(false)
    }

    fn print_page(&self) -> anyhow::Result<Exit> {
        let mut papers = Vec::new();
        for file in &self.page {
            let paper = BlindPaper::parse(&read(file)?);
            papers.push(paper.with_context(|| format!("{} holds no result", file.display()))?);
        }
        write_stdout(&blind_page(&papers))?;
        Ok(Exit::Success)
    }
}

fn read(file: &Path) -> anyhow::Result<String> {
    paths::read_text_soon(file, MOST_BYTES)
        .with_context(|| format!("cannot read {}", file.display()))
}

fn sitting() -> Sitting {
    Sitting {
        date: jiff::Timestamp::now().strftime("%Y-%m-%d").to_string(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        machine: crate::exam::machine(),
    }
}

fn digest_of(text: &str) -> String {
    let mut hex = Vec::new();
    encode::hex(&mut hex, digest(&SHA256, text.as_bytes()).as_ref());
    String::from_utf8_lossy(&hex).into_owned()
}
