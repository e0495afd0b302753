//! `fathom plan`: templates, checks and the schedule of a plan.

use std::path::{Path, PathBuf};

use anyhow::Context;
use clap::Subcommand;
use fathom_compat::fio::job_file::{FioExport, FioFiles, Refusal};
use fathom_outputs::Mark;
use fathom_plan::{CostAssumptions, TemplateFacts};

use crate::command::run::{schedule_here, usable_plan};
use crate::exit::{CommandError, Exit};
use crate::output_flags::Color;
use crate::pipeline::FILE_PREFIX;
use crate::{present, surroundings};

/// Write, check and show plans.
#[derive(Debug, Subcommand)]
pub(crate) enum Plan {
    /// Print a commented plan for a purpose.
    ///
    /// Without a name the purposes are listed.
    #[command(after_help = "Example:\n  fathom plan new database > db.yaml")]
    New {
        /// The purpose.
        purpose: Option<String>,
    },
    /// Check a plan and say what it would do, without touching the target.
    #[command(after_help = "Example:\n  fathom plan check db.yaml")]
    Check {
        /// The plan file; `-` reads it from standard input.
        plan: PathBuf,
    },
    /// Show the trials of a plan in the order in which they would run.
    #[command(after_help = "Example:\n  fathom plan show db.yaml --json")]
    Show {
        /// The plan file; `-` reads it from standard input.
        plan: PathBuf,
        /// Print the complete schedule as JSON.
        #[arg(long)]
        json: bool,
    },
    /// Write a plan as a job file of fio.
    ///
    /// What fio does otherwise stands as a comment above the job; what it
    /// cannot do at all is an error that names the key and the reason. Sizes,
    /// amounts and rates are translated: fio counts them for each job, fathom
    /// for all workers together.
    #[command(after_help = "\
Examples:
  fathom plan export --fio db.yaml > db.fio && fio db.fio
  fathom plan export --fio db.yaml --target /mnt/nas --out db.fio
  fathom crosscheck db.yaml          Run both in turns and compare")]
    Export {
        /// The plan file; `-` reads it from standard input.
        plan: PathBuf,
        /// As a job file of fio; there is no other format yet.
        #[arg(long, required = true)]
        fio: bool,
        /// Export for this target instead of the plan's.
        #[arg(long)]
        target: Option<String>,
        /// Where to write it instead of standard output.
        #[arg(long, short, value_name = "FILE")]
        out: Option<PathBuf>,
    },
    /// Print the JSON Schema of plan files, for editors.
    #[command(after_help = "Example:\n  fathom plan schema > fathom-plan.schema.json")]
    Schema,
}

/// Assumed for a host whose memory is not known.
const FALLBACK_RAM_BYTES: u64 = 16 << 30;

pub(crate) fn run(plan: Plan) -> anyhow::Result<Exit> {
    match plan {
        Plan::New { purpose } => new(purpose.as_deref()),
        Plan::Check { plan } => check(&plan),
        Plan::Show { plan, json } => show(&plan, json),
        Plan::Export {
            plan,
            fio: _,
            target,
            out,
        } => export(&plan, target.as_deref(), out.as_deref()),
        Plan::Schema => {
            present::write_stdout(&fathom_plan::schema())?;
            Ok(Exit::Success)
        }
    }
}

fn new(purpose: Option<&str>) -> anyhow::Result<Exit> {
    let Some(purpose) = purpose else {
        present::write_stdout(&fathom_plan::purposes())?;
        return Ok(Exit::Success);
    };
    let facts = TemplateFacts {
        cpu_threads: surroundings::cpu_threads(),
        ram_bytes: surroundings::memory_bytes().unwrap_or(FALLBACK_RAM_BYTES),
    };
    let text = fathom_plan::template(purpose, &facts).map_err(CommandError::usage)?;
    present::write_stdout(&text)?;
    Ok(Exit::Success)
}

fn check(path: &Path) -> anyhow::Result<Exit> {
    let plan = usable_plan(path, surroundings::of, Color::Auto, false)?;
    let schedule = schedule_here(&plan, Color::Never)?;
    let surroundings = surroundings::of(&plan);
    let assumptions = CostAssumptions {
        facts: surroundings.facts,
        ..CostAssumptions::default()
    };
    let cost = fathom_plan::cost(&schedule, &assumptions);
    present::write_stdout(&format!("{}\n", cost.text))?;
    Ok(Exit::Success)
}

fn show(path: &Path, json: bool) -> anyhow::Result<Exit> {
    let plan = usable_plan(path, surroundings::of, Color::Auto, false)?;
    let schedule = schedule_here(&plan, Color::Never)?;
    if json {
        let text = fathom_model::indented_json(&schedule).context("cannot write the schedule")?;
        present::write_stdout(&(text + "\n"))?;
        return Ok(Exit::Success);
    }
    present::write_stdout(&fathom_report::schedule::table(
        &schedule,
        fathom_console::columns(),
    ))?;
    Ok(Exit::Success)
}

fn export(path: &Path, target: Option<&str>, out: Option<&Path>) -> anyhow::Result<Exit> {
    let mut plan = usable_plan(path, surroundings::of, Color::Auto, false)?;
    if let Some(target) = target {
        plan.set_targets(vec![target.parse().map_err(CommandError::usage)?]);
    }
    let schedule = schedule_here(&plan, Color::Never)?;
    let surroundings = surroundings::of(&plan);
    let export = FioExport {
        facts: &surroundings.facts,
        files: FioFiles::Own(FILE_PREFIX),
    };
    let text = fathom_compat::fio::job_file::export_fio(&schedule, &export);
    let text = text.map_err(|refusals| not_in_fio(&refusals))?;
    match out {
        Some(out) => present::write_file(out, Mark::JobFile, &text)?,
        None => present::write_stdout(&text)?,
    }
    Ok(Exit::Success)
}

/// What fio cannot do, thing by thing.
pub(crate) fn not_in_fio(refusals: &[Refusal]) -> CommandError {
    let all = refusals.iter();
    let all = all.map(|refusal| format!("fio cannot express {refusal}"));
    CommandError::Several(all.collect())
}
