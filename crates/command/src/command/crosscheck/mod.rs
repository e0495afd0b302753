//! `fathom crosscheck`: a plan measured by fathom and by the installed fio in
//! turns.

mod plan;

use std::path::PathBuf;

use clap::Args;
use fathom_fleet::Interrupt;
use fathom_model::RunState;
use fathom_model::crosscheck::{Agreement, CrossFigure, Crosscheck as Document};
use fathom_plan::{IoFlags, PlanFlags};
use fathom_report::text::TextOptions;
use fathom_runs::crosscheck::{Bench, Keep, Peer};
use fathom_studies::crosscheck::{CrossMargins, Question, Turns, judge, view};

use crate::command::ab::parse_percent;
use crate::command::gate::FailOn;
use crate::exit::{CommandError, Exit};
use crate::output_flags::{Color, Format, Output, StorePath};
use crate::pipeline::{self, Request};
use crate::whole_seconds::whole_seconds;
use crate::{present, run_identity};

/// Run a plan with fathom and fio in turns, and compare them.
///
/// Each workload is measured in pairs of trials on the same files, fathom fio,
/// fio fathom, and so on; fathom makes the files, fio gets a job file that says
/// the same (`fathom plan export --fio` shows it). For each figure the ratio
/// fathom/fio is stated with its interval, and whether it is proved to lie
/// within the margin (agree), beyond it (differ), or neither. Rates and p99
/// decide. Latencies are fathom's service latency and fio's total latency:
/// both count from submission.
///
/// fathom's trials are stored as a run; fio's job files and documents are kept
/// beside the store.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  fathom crosscheck db.yaml          Every workload of a plan
  fathom crosscheck db.yaml --for 5s --pairs 10
                                     Short trials, many pairs
  fathom crosscheck /data --rw randread --iodepth 32 --size 1G
                                     One workload on a target
  fathom crosscheck db.yaml --fio /opt/fio/bin/fio --json > check.json
  fathom-lab drive 'cloud?iops=2000' --size 256MiB -- fathom crosscheck {} --rw randread
                                     On a laboratory drive: fathom help laboratory

Exit status: 0 no reason to fail, 7 the tools differ and fathom is the slower,
8 they differ and fathom is the faster, 9 not decided (only with
--fail-on inconclusive); 1 a trial failed, 2 the plan or fio does not serve,
5 interrupted.")]
pub(crate) struct Crosscheck {
    /// A plan file (.yaml), or a target: a directory, file, device or `null:`.
    pub(crate) plan: String,
    /// Measure this target instead of the plan's.
    #[arg(long)]
    target: Option<String>,
    /// Pairs of trials per row; an odd number is raised by one. Fewer than 6
    /// decide nothing.
    #[arg(long, default_value_t = 6, value_parser = clap::value_parser!(u32).range(1..=1000))]
    pairs: u32,
    /// The fio to run.
    #[arg(long, default_value = "fio", value_name = "PATH")]
    fio: PathBuf,
    /// How long each trial is measured, instead of to the plan's bounds.
    #[arg(long = "for", alias = "seconds", value_name = "TIME")]
    #[arg(value_parser = whole_seconds(1, 86400))]
    seconds: Option<u32>,
    /// Rates within this agree.
    #[arg(long, default_value = "3%", value_name = "PERCENT", value_parser = parse_percent)]
    margin: f64,
    /// Latencies within this agree.
    #[arg(long, default_value = "5%", value_name = "PERCENT", value_parser = parse_percent)]
    latency_margin: f64,
    /// Measure a pair again during which the hypervisor took more of the CPUs;
    /// at most as many as there are pairs.
    #[arg(long, default_value = "2%", value_name = "PERCENT", value_parser = parse_steal)]
    steal: f64,
    /// Outcomes that end with an exit status of their own.
    #[arg(long, value_enum, value_delimiter = ',', default_value = "different")]
    fail_on: Vec<FailOn>,
    #[command(flatten)]
    pub(crate) flags: IoFlags,
    #[command(flatten)]
    pub(crate) plan_flags: PlanFlags,
    #[command(flatten)]
    pub(crate) output: CrossOutput,
}

/// How the result is shown and kept.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Output")]
pub(crate) struct CrossOutput {
    /// Print JSON (schema fathom.crosscheck/1) and nothing else on standard
    /// output.
    #[arg(long)]
    json: bool,
    /// Show throughput in decimal units (MB/s = 10^6 bytes/s).
    #[arg(long)]
    decimal: bool,
    /// Say also where the tools agree what fio does otherwise.
    #[arg(long, short)]
    verbose: bool,
    /// When to use colour.
    #[arg(long, value_enum, default_value_t, value_name = "WHEN")]
    color: Color,
    /// No progress and no notes.
    #[arg(long, short)]
    quiet: bool,
    /// Keep fio's job files and documents here instead of beside the store.
    #[arg(long, value_name = "DIR")]
    keep: Option<PathBuf>,
    #[command(flatten)]
    store: StorePath,
}

/// A share of the CPUs, in percent.
fn parse_steal(text: &str) -> Result<f64, String> {
    let number = text.trim().trim_end_matches('%').trim_end();
    match number.parse::<f64>() {
        Ok(percent) if (0.0..=100.0).contains(&percent) => Ok(percent),
        _ => Err("a share of the CPUs is from 0 % to 100 %, for example 2%".to_owned()),
    }
}

pub(crate) fn run(args: &Crosscheck) -> anyhow::Result<Exit> {
    let peer = Peer::find(&args.fio).map_err(CommandError::usage)?;
    let (plan, rows) = plan::of(args)?;
    let pairs = args.pairs + args.pairs % 2;
    let id = run_identity::run_id(fathom_observe::unix_now_ns())?;
    let output = Output {
        format: Format::default(),
        html: None,
        quiet: args.output.quiet,
        strict: false,
        metrics: crate::metrics::MetricsArgs::default(),
        store: args.output.store.clone(),
    };
    let keep = Keep::make(args.output.keep.as_deref(), &output.store, &id)?;
    let interrupt = Interrupt::new();
    let bench = Bench::new(&peer, &keep, &interrupt, args.output.quiet);
    let mut turns = Turns::new(&rows, pairs, args.steal / 100.0, bench);
    let request = Request {
        plan,
        schedule: rows.schedule(pairs),
        label: None,
        output,
    };
    let run = pipeline::Run::new(&request).conductor(&mut turns);
    let measured = run.id(id).interrupt(&interrupt).measure()?;
    let question = Question {
        peer: peer.tool.clone(),
        pairs,
        margins: CrossMargins {
            rate_percent: args.margin,
            latency_percent: args.latency_margin,
        },
        documents: Some(keep.dir().display().to_string()),
    };
    let document = judge(question, &rows, &turns, &measured.record);
    show(args, &document, &keep)?;
    measured.complain();
    Ok(exit_of(&document, &args.fail_on))
}

fn show(args: &Crosscheck, document: &Document, keep: &Keep) -> anyhow::Result<()> {
    let json = fathom_report::json::render_document(document)?;
    if let Err(error) = keep.result(&json) {
        present::complain(&format!("the result was not kept: {error:#}"));
    }
    if args.output.json {
        return present::write_stdout(&json);
    }
    let options = TextOptions {
        width: 90,
        color: present::use_color(args.output.color, &std::io::stdout()),
        decimal_units: args.output.decimal,
        verbose: args.output.verbose,
        report: None,
    };
    let text = fathom_report::text::render_document(&view(document), &options);
    present::write_stdout(&text)
}

fn exit_of(document: &Document, fail_on: &[FailOn]) -> Exit {
    match document.state {
        RunState::Failed => return Exit::Failure,
        RunState::Interrupted | RunState::Running => return Exit::Interrupted,
        RunState::Complete => {}
    }
    let asked = |what| fail_on.contains(&what) && !fail_on.contains(&FailOn::Never);
    let figures = document.rows.iter().flat_map(|row| &row.figures);
    let differing: Vec<bool> = figures
        .filter(|f| f.decides && f.outcome == Agreement::Differ)
        .map(|f| slower(f.figure, f.ratio.value.unwrap_or(1.0)))
        .collect();
    let any = |slow: bool| differing.contains(&slow);
    if any(true) && (asked(FailOn::Slower) || asked(FailOn::Different)) {
        Exit::Slower
    } else if any(false) && asked(FailOn::Different) {
        Exit::Faster
    } else if document.outcome == Agreement::Inconclusive && asked(FailOn::Inconclusive) {
        Exit::Inconclusive
    } else {
        Exit::Success
    }
}

/// Whether this ratio fathom/fio means that fathom is the slower.
fn slower(figure: CrossFigure, ratio: f64) -> bool {
    (ratio < 1.0) == figure.higher_is_better()
}
