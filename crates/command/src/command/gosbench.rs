//! `fathom gosbench`: configurations of GOSBench, run here.
//!
//! Standard output holds its result lines, and a file its CSV; what fathom
//! thinks of the result, and where a figure differs by design, goes to standard
//! error.

use std::io::{IsTerminal, Write};
use std::path::{Path, PathBuf};

use anyhow::Context;
use clap::Args;
use fathom_compat::gosbench::{Figures, Gosbench, GosbenchTest, lines};
use fathom_deadline::paths::read_text_soon;
use fathom_engine::object::{make_bucket, remove_empty_bucket};
use fathom_model::conduct::InOrder;
use fathom_model::run::RunState;
use fathom_model::secret::masked;
use fathom_model::workload::ObjectStore;
use fathom_model::{Schedule, Target};
use fathom_outputs::Mark;
use fathom_plan::{Plan, StoreFlags};
use fathom_report::text::TextOptions;
use fathom_runs::gosbench_keys;

use crate::command::hosts::HostArgs;
use crate::command::run::{schedule_here, schedule_on_hosts};
use crate::exit::{self, CommandError, Exit, NothingMeasured};
use crate::metrics::MetricsArgs;
use crate::output_flags::{Color, Format, Output, StorePath};
use crate::pipeline::{self, FILE_PREFIX, Request};
use crate::present;

/// A configuration is much shorter.
const CONFIG_BYTES_MAX: u64 = 1 << 20;

/// The file to which results are added.
const RESULTS: Mark = Mark::Table(lines::CSV_COLUMNS);

/// Run a configuration of GOSBench: each of its tests, one after the other.
///
/// Takes its YAML and JSON, with the keys that forks added. Keys that have no
/// effect there are named, and what cannot be done is an error at its place.
/// Workers are threads of this host, or spread over --hosts.
///
/// Each test works in the first of its buckets (made when missing, and removed
/// again if it was and clean_after is set), below a prefix of its own. Standard
/// output is GOSBench's result line; its CSV is appended to
/// gosbench_results.csv. With --metrics its Prometheus names are served, too.
/// The verdict, percentiles and what differs by design go to standard error;
/// `fathom runs show` shows all of it again.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  fathom gosbench perf.yaml --show       The plans that it becomes
  fathom gosbench perf.yaml
  fathom gosbench perf.yaml --metrics 8888 --target s3://bench/try
  fathom gosbench perf.json --hosts node[01-04]
                                         Its workers on four hosts, over ssh;
                                         keys are looked for there")]
pub(crate) struct GosbenchCommand {
    /// The configuration; .json is JSON, everything else YAML.
    #[arg(value_name = "CONFIG")]
    config: PathBuf,
    /// Print the plans and what differs by design, and measure nothing.
    #[arg(long)]
    show: bool,
    /// Work here instead of in the bucket that each test names.
    #[arg(long, value_name = "TARGET")]
    target: Option<String>,
    /// Append results to this file; `-` writes none.
    #[arg(long, value_name = "FILE", default_value = "gosbench_results.csv")]
    csv: PathBuf,
    /// No progress.
    #[arg(long, short)]
    quiet: bool,
    /// Show whole reports on standard error.
    #[arg(long, short)]
    verbose: bool,
    /// When to use colour.
    #[arg(long, value_enum, default_value_t, value_name = "WHEN")]
    color: Color,
    #[command(flatten)]
    reached: StoreFlags,
    #[command(flatten)]
    hosts: HostArgs,
    #[command(flatten)]
    metrics: MetricsArgs,
    #[command(flatten)]
    store: StorePath,
}

/// A test with its plan.
struct Planned<'t> {
    test: &'t GosbenchTest,
    plan: Plan,
    bucket: Option<String>,
}

pub(crate) fn run(command: &GosbenchCommand) -> anyhow::Result<Exit> {
    let color = present::use_color(command.color, &std::io::stderr());
    let name = command.config.display().to_string();
    let text = read(&command.config)?;
    let refused = |problems| CommandError::plan(problems, command.color);
    let config = Gosbench::parse(&name, &text).map_err(refused)?;
    if !config.warnings.is_empty() {
        present::write_styled_stderr(&config.warnings.render(color));
    }
    let chosen = match command
        .target
        .as_deref()
        .map(str::parse::<Target>)
        .transpose()
    {
        Ok(chosen) => chosen,
        Err(error) => return refuse(&format!("{error}\n")),
    };
    let hosts = command.hosts.count()?;
    let mut all = Vec::new();
    for test in &config.tests {
        let target = chosen.clone().unwrap_or_else(|| test.target());
        let bucket = match &target {
            Target::Bucket(target) => target.split('/').next().map(str::to_owned),
            _ => None,
        };
        let plan = config.to_plan(test, target, (hosts, &command.reached));
        let plan = plan.map_err(refused)?;
        all.push(Planned { test, plan, bucket });
    }
    if command.show {
        return show(&all);
    }
    if command.csv != Path::new("-") {
        present::admit(&command.csv, RESULTS)?;
    }
    let given = gosbench_keys::give(&config);
    if given && command.hosts.are_given() && !command.reached.names_keys() {
        present::complain(
            "the keys of the configuration are not carried to other hosts; they look for their \
             own (environment, ~/.aws/credentials, --credentials-file)",
        );
    }
    let mut exit = Exit::Success;
    for planned in all {
        let ended = measure(command, &config, planned)?;
        if ended == Exit::Interrupted {
            return Ok(ended);
        }
        if ended != Exit::Success {
            exit = ended;
        }
    }
    Ok(exit)
}

fn show(all: &[Planned<'_>]) -> anyhow::Result<Exit> {
    let mut out = String::new();
    for planned in all {
        out += &format!(
            "# test '{}' (line {})\n",
            planned.test.name, planned.test.line
        );
        for difference in planned.test.differences() {
            out += &format!("# differs from GOSBench: {difference}\n");
        }
        out += "---\n";
        out += &planned.plan.to_yaml();
    }
    present::write_stdout(&masked(&out))?;
    Ok(Exit::Success)
}

fn measure(
    command: &GosbenchCommand,
    config: &Gosbench,
    planned: Planned<'_>,
) -> anyhow::Result<Exit> {
    let Planned { test, plan, bucket } = planned;
    let remote = command.hosts.are_given();
    let (schedule, reached) = match scheduled(command, config, &plan) {
        Ok(scheduled) => scheduled,
        // The other tests can be measured all the same.
        Err(error) => {
            exit::tell(&error);
            return Ok(exit::of_error(&error));
        }
    };
    let made = match (&reached, &bucket) {
        (Some(store), Some(bucket)) if !test.reads_existing() => match make_bucket(store, bucket) {
            Ok(made) => made,
            Err(error) => {
                present::complain(&error.to_string());
                return Ok(Exit::Failure);
            }
        },
        _ => false,
    };
    let request = Request {
        plan,
        schedule,
        label: Some(format!("gosbench: {}", test.name)),
        output: output(command),
    };
    let mut in_order = InOrder::new(&request.schedule);
    let run = pipeline::Run::new(&request);
    let run = match remote {
        true => run.hosts(&command.hosts),
        false => run.conductor(&mut in_order),
    };
    let measured = run.file_prefix(FILE_PREFIX).measure();
    if let (true, true, Some(store), Some(bucket)) = (made, test.clean_after, &reached, &bucket)
        && let Err(error) = remove_empty_bucket(store, bucket)
    {
        present::complain(&error.to_string());
    }
    match measured {
        Err(error) if error.is::<NothingMeasured>() => tell_failure(command, test, &error),
        measured => tell(command, test, &measured?),
    }
}

/// Shows that a test failed before its first request.
fn tell_failure(
    command: &GosbenchCommand,
    test: &GosbenchTest,
    error: &anyhow::Error,
) -> anyhow::Result<Exit> {
    let why = error.to_string();
    present::complain(&why);
    present::write_stdout(&lines::failure(test, &why, fathom_observe::unix_now_ns()))?;
    append_csv(&command.csv, &lines::csv_failure(test, &why))?;
    Ok(exit::of_error(error))
}

/// Shows what a test gave: its lines, and what fathom thinks of them.
fn tell(
    command: &GosbenchCommand,
    test: &GosbenchTest,
    measured: &pipeline::Measured,
) -> anyhow::Result<Exit> {
    let color = present::use_color(command.color, &std::io::stderr());
    let judged = fathom_studies::judge(&measured.record);
    let html = present::write_html(&judged, None, &command.store);
    if let Some(reason) = &judged.run.reason {
        present::complain(reason);
    }
    let figures = Figures::of(&measured.record);
    let ended_unix_ns = judged
        .run
        .ended_unix_ns
        .unwrap_or_else(fathom_observe::unix_now_ns);
    let reason = judged.run.reason.as_deref();
    let outcome = lines::outcome(test, &figures, &measured.record, reason, ended_unix_ns);
    present::write_stdout(&outcome.line)?;
    append_csv(&command.csv, &outcome.row)?;
    let options = TextOptions {
        width: 80,
        color,
        decimal_units: false,
        verbose: command.verbose,
        report: html.ok().map(|path| path.display().to_string()),
    };
    present::write_styled_stderr(&match command.verbose {
        true => fathom_report::text::render(&judged, &options),
        false => {
            lines::latencies(&judged) + &fathom_report::text::render_verdict(&judged, &options)
        }
    });
    if figures.ops > 0 {
        present::write_stderr(&lines::differences(test, &figures));
    }
    measured.complain();
    Ok(match judged.run.state {
        RunState::Complete if figures.failed == 0 && figures.ops > 0 => Exit::Success,
        RunState::Interrupted => Exit::Interrupted,
        _ => Exit::Failure,
    })
}

/// A test trial by trial, and how its store is reached from here.
fn scheduled(
    command: &GosbenchCommand,
    config: &Gosbench,
    plan: &Plan,
) -> anyhow::Result<(Schedule, Option<ObjectStore>)> {
    let remote = command.hosts.are_given();
    let mut schedule = match remote {
        true => schedule_on_hosts(plan, command.color)?,
        false => schedule_here(plan, command.color)?,
    };
    let reached = with_keys(command, config, &mut schedule, remote)?;
    Ok((schedule, reached))
}

/// Lets the load sign with the keys of the configuration, where this process
/// carries it and nothing else was said. How the store is reached from here.
fn with_keys(
    command: &GosbenchCommand,
    config: &Gosbench,
    schedule: &mut Schedule,
    remote: bool,
) -> Result<Option<ObjectStore>, CommandError> {
    let given = !command.reached.names_keys();
    let mut reached = None;
    for trial in &mut schedule.trials {
        let Some(store) = trial.workload.store_mut() else {
            continue;
        };
        let mut own = store.clone();
        if given {
            gosbench_keys::name(config, &mut own)?;
            if !remote {
                store.keys = own.keys.clone();
                store.endpoint_keys = own.endpoint_keys.clone();
            }
        }
        reached = Some(own);
    }
    Ok(reached)
}

fn output(command: &GosbenchCommand) -> Output {
    let mut metrics = command.metrics.clone();
    metrics.gosbench = true;
    Output {
        format: Format {
            color: command.color,
            ..Format::default()
        },
        quiet: command.quiet || !std::io::stderr().is_terminal(),
        metrics,
        store: command.store.clone(),
        ..Output::default()
    }
}

/// Appends a line, after the names of its columns in a file that is new.
fn append_csv(path: &Path, line: &str) -> anyhow::Result<()> {
    if path == Path::new("-") {
        return Ok(());
    }
    let what = || format!("cannot append the result to {}", path.display());
    let mut file = present::admit(path, RESULTS)?.append()?;
    let new = file.metadata().with_context(what)?.len() == 0;
    let text = match new {
        true => format!("{}\n{line}", lines::CSV_COLUMNS),
        false => line.to_owned(),
    };
    file.write_all(text.as_bytes()).with_context(what)
}

fn read(path: &Path) -> anyhow::Result<String> {
    let what = || format!("cannot read the configuration {}", path.display());
    read_text_soon(path, CONFIG_BYTES_MAX).with_context(what)
}

fn refuse(problem: &str) -> anyhow::Result<Exit> {
    present::write_stderr(problem);
    Ok(Exit::Usage)
}
