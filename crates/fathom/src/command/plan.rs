//! `fathom plan`: templates, checks and the schedule of a plan.

use std::path::{Path, PathBuf};

use anyhow::Context;
use clap::Subcommand;
use fathom_compat::fio::job_file::{FioExport, FioFiles, Refusal};
use fathom_model::nearest::did_you_mean;
use fathom_model::{Schedule, unit};
use fathom_outputs::Mark;
use fathom_plan::{CostAssumptions, TemplateFacts};
use fathom_report::table::{Align, Table};

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

/// Taken for the memory of a host that does not tell it.
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
    let templates = fathom_plan::templates();
    let Some(purpose) = purpose else {
        let mut text = String::from("Purposes (fathom plan new PURPOSE > plan.yaml):\n\n");
        for template in templates {
            text += &format!("  {:<13} {}\n", template.name, template.purpose);
        }
        text += "\nPURPOSE-WORKLOAD is one of its workloads alone, for example nfs-randread.\n";
        present::write_stdout(&text)?;
        return Ok(Exit::Success);
    };
    let Some((template, workload)) = fathom_plan::find_template(purpose) else {
        let names: Vec<&str> = templates.iter().map(|template| template.name).collect();
        let with_one = templates.iter().flat_map(|template| {
            let workloads = template.workloads().into_iter();
            workloads.map(|workload| format!("{}-{workload}", template.name))
        });
        let with_one: Vec<String> = with_one.collect();
        let all = names
            .iter()
            .copied()
            .chain(with_one.iter().map(String::as_str));
        let problem = format!(
            "there is no template '{purpose}'{} There are {}",
            asked(did_you_mean(purpose, all)),
            names.join(", ")
        );
        return Err(CommandError::Usage(problem).into());
    };
    let facts = TemplateFacts {
        cpu_threads: surroundings::cpu_threads(),
        ram_bytes: surroundings::memory_bytes().unwrap_or(FALLBACK_RAM_BYTES),
    };
    let text = match workload {
        None => Some(template.written(&facts)),
        Some(workload) => template.written_with_one(workload, &facts),
    };
    present::write_stdout(&text.unwrap_or_default())?;
    Ok(Exit::Success)
}

/// A suggestion and a list are two sentences, a list alone is the same one.
fn asked(suggestion: String) -> String {
    match suggestion.is_empty() {
        true => ".".to_owned(),
        false => suggestion,
    }
}

fn check(path: &Path) -> anyhow::Result<Exit> {
    let plan = usable_plan(path, Color::Auto, false)?;
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
    let plan = usable_plan(path, Color::Auto, false)?;
    let schedule = schedule_here(&plan, Color::Never)?;
    if json {
        let text = serde_json::to_string_pretty(&schedule).context("cannot write the schedule")?;
        present::write_stdout(&(text + "\n"))?;
        return Ok(Exit::Success);
    }
    present::write_stdout(&table(&schedule))?;
    Ok(Exit::Success)
}

/// The trials in order. Those that run at the same time are marked with the
/// number of their set and, where one waits, with its delay.
pub(crate) fn table(schedule: &Schedule) -> String {
    let sets = schedule.trials.iter().any(|t| t.together.is_some());
    let delays = schedule.trials.iter().any(|t| t.start_delay_ns > 0);
    let mut head = vec![("#", Align::Right)];
    head.extend(sets.then_some(("set", Align::Right)));
    head.extend([
        ("workload", Align::Left),
        ("iteration", Align::Right),
        ("target", Align::Left),
        ("engine", Align::Left),
    ]);
    head.extend(delays.then_some(("begins after", Align::Right)));
    head.push(("time", Align::Right));
    let mut table = Table::new(head);
    for trial in &schedule.trials {
        let workload = &trial.workload;
        let mut cells = vec![(trial.index + 1).to_string()];
        let set = trial
            .together
            .map_or(String::new(), |set| (set + 1).to_string());
        cells.extend(sets.then_some(set));
        cells.extend([
            trial.label.clone(),
            (trial.iteration + 1).to_string(),
            trial.target.to_string(),
            workload.engine.name().to_owned(),
        ]);
        let delay = match trial.start_delay_ns {
            0 => String::new(),
            ns => unit::span(ns),
        };
        cells.extend(delays.then_some(delay));
        cells.push(
            workload
                .bounds
                .time_ns
                .map_or("until done".to_owned(), |ns| {
                    unit::span(ns + workload.warmup_ns)
                }),
        );
        table.row(cells);
    }
    table.render()
}

fn export(path: &Path, target: Option<&str>, out: Option<&Path>) -> anyhow::Result<Exit> {
    let mut plan = usable_plan(path, Color::Auto, false)?;
    if let Some(target) = target {
        plan.set_targets(vec![target.parse().map_err(CommandError::usage)?]);
    }
    let schedule = schedule_here(&plan, Color::Never)?;
    let surroundings = surroundings::of(&plan);
    let export = FioExport {
        facts: &surroundings.facts,
        files: FioFiles::Own(FILE_PREFIX),
    };
    let text = match fathom_compat::fio::job_file::export_fio(&schedule, &export) {
        Ok(text) => text,
        Err(refusals) => {
            complain_of(&refusals);
            return Ok(Exit::Usage);
        }
    };
    match out {
        Some(out) => present::write_file(out, Mark::JobFile, &text)?,
        None => present::write_stdout(&text)?,
    }
    Ok(Exit::Success)
}

/// Says what fio cannot do, thing by thing.
pub(crate) fn complain_of(refusals: &[Refusal]) {
    for refusal in refusals {
        present::complain(&format!("fio cannot express {refusal}"));
    }
}
