//! `fathom smallfile`: the command line and YAML of smallfile, run here.
//!
//! Standard output holds the lines that smallfile prints, and `--output-json`
//! its JSON; what fathom thinks of the result, and where a figure differs from
//! the original's by design, goes to standard error.

mod cleanup;
mod response_times;

use std::ffi::OsString;
use std::io::{IsTerminal, Read};
use std::path::{Path, PathBuf};

use clap::Args;
use fathom_compat::smallfile::{Figures, Smallfile, json, lines};
use fathom_model::JudgedRun;
use fathom_model::conduct::InOrder;
use fathom_model::recording::MOST_LOGGED_OPS;
use fathom_model::run::RunState;
use fathom_outputs::Mark;
use fathom_report::text::TextOptions;

use crate::command::hosts::{HostArgs, HostList};
use crate::command::run::schedule_here;
use crate::exit::{CommandError, Exit};
use crate::output_flags::{Color, Output};
use crate::pipeline::{self, Request};
use crate::present;

/// What the names of trees begin with.
const FILE_PREFIX: &str = "smallfile";
/// A YAML file of smallfile is much smaller.
const YAML_BYTES_MAX: u64 = 1 << 20;

/// Run a command line of smallfile.
///
/// Takes what smallfile_cli.py takes (version 3.2): all its options, its YAML
/// file and its 21 operations. Options without effect are named. The
/// files lie in the directory smallfile.tree in --top and stay until
/// `--operation cleanup`, which removes what fathom made and nothing else.
///
/// Standard output is what smallfile prints; --output-json and
/// --response-times write its JSON and CSV. fathom's verdict and the latencies
/// follow on standard error; `fathom runs show` shows all of it again.
#[derive(Debug, Args)]
#[command(
    disable_help_flag = true,
    after_help = "\
Examples:
  fathom smallfile --top /mnt/vol --threads 8 --files 5000 --file-size 64 --operation create
  fathom smallfile --top /mnt/vol --threads 8 --files 5000 --file-size 64 --operation read
  fathom smallfile --top /mnt/vol --threads 8 --files 5000 --operation cleanup
  fathom smallfile --yaml-input-file smf.yaml --output-json result.json
  fathom smallfile --top /mnt/vol --host-set h1,h2,h3 --operation stat
                                     On three hosts at the same time, over ssh

Sizes are in KB of 1,024 bytes and switches are Y or N, as there. An operation
whose files are missing makes them first, outside of what is measured."
)]
pub(crate) struct SmallfileCommand {
    /// smallfile's options.
    #[arg(
        trailing_var_arg = true,
        allow_hyphen_values = true,
        value_name = "SMALLFILE OPTIONS"
    )]
    arguments: Vec<OsString>,
}

pub(crate) fn run(command: &SmallfileCommand) -> anyhow::Result<Exit> {
    let words = command.arguments.iter().map(|word| word.to_string_lossy());
    let words: Vec<String> = words.map(std::borrow::Cow::into_owned).collect();
    if words.iter().any(|word| word == "--help" || word == "-h") {
        return help();
    }
    let asked = Smallfile::parse(&words, &|name| read(Path::new(name)));
    let asked = asked.map_err(CommandError::usage)?;
    for note in &asked.notes {
        present::complain(note);
    }
    let [top] = asked.tops.as_slice() else {
        let problem = "--top names several directories; measure each with a run of its own at \
                       the same time, or compare two with `fathom ab`";
        return Err(CommandError::usage(problem).into());
    };
    if asked.operation.is_wait() && asked.host_set.is_some() {
        let problem = "await-create waits for what one other run makes: call it on each host \
                       without --host-set, or measure how late hosts see the files of one with \
                       `fathom meta --phases await-create --hosts …`";
        return Err(CommandError::usage(problem).into());
    }
    let found = match asked.host_set {
        None => fathom_deadline::paths::find(top)?,
        Some(_) => None,
    };
    if asked.operation.is_cleanup() {
        return cleanup::run(&asked, top);
    }
    if asked.host_set.is_none() && !found.is_some_and(|facts| facts.is_dir()) {
        let problem = format!("--top: {} is not a directory", top.display());
        return Err(CommandError::Usage(problem).into());
    }
    measure(&asked, top)
}

fn measure(asked: &Smallfile, top: &Path) -> anyhow::Result<Exit> {
    let top = std::path::absolute(top)?;
    let color = present::use_color(Color::Auto, &std::io::stderr());
    let plan = asked.to_plan(&top);
    let plan = plan.map_err(|problems| CommandError::plan(problems, Color::Auto))?;
    let mut schedule = schedule_here(&plan, Color::Auto)?;
    if asked.response_times {
        let all = asked.files.saturating_mul(asked.threads);
        for trial in &mut schedule.trials {
            let log = u32::try_from(all).unwrap_or(u32::MAX);
            trial.workload.recording.op_log = log.min(MOST_LOGGED_OPS);
        }
    }
    if let Some(path) = &asked.output_json {
        present::admit(path, Mark::Smallfile)?;
    }
    if asked.response_times {
        response_times::make_folder(asked, &top)?;
    }
    let request = Request {
        plan,
        schedule,
        label: None,
        output: Output {
            quiet: !std::io::stderr().is_terminal(),
            ..Output::default()
        },
    };
    let (run, hosts) = (pipeline::Run::new(&request), hosts(asked)?);
    let mut in_order = InOrder::new(&request.schedule);
    let run = match &hosts {
        Some(hosts) => run.hosts(hosts),
        None => run.conductor(&mut in_order),
    };
    let measured = run.file_prefix(FILE_PREFIX).measure()?;
    measured.expect_figures()?;
    let judged = fathom_studies::judge(&measured.record);
    let html = present::write_html(&judged, None, &Default::default());
    if let Some(reason) = &judged.run.reason {
        present::complain(reason);
    }
    let figures = Figures::of(asked, &measured.record);
    present::write_stdout(&lines::render(asked, &figures))?;
    if let Some(path) = &asked.output_json {
        let text = json::render(asked, &top, &figures, &judged);
        present::write_file(path, Mark::Smallfile, &text)?;
    }
    if asked.response_times {
        response_times::write(asked, &top, &measured.record)?;
    }
    tell(asked, &judged, html.ok(), color);
    present::write_stderr(&lines::differences(asked, &figures));
    measured.complain();
    Ok(match judged.run.state {
        RunState::Interrupted => Exit::Interrupted,
        RunState::Complete if figures.errors == 0 && measured.left_behind.is_empty() => {
            Exit::Success
        }
        _ => Exit::Failure,
    })
}

/// What fathom thinks of the result, on standard error.
fn tell(asked: &Smallfile, judged: &JudgedRun, html: Option<PathBuf>, color: bool) {
    let text = TextOptions {
        width: 80,
        color,
        decimal_units: false,
        verbose: asked.verbose,
        report: html.map(|path| path.display().to_string()),
    };
    present::write_styled_stderr(&match asked.verbose {
        true => fathom_report::text::render(judged, &text),
        false => lines::latencies(judged) + &fathom_report::text::render_verdict(judged, &text),
    });
}

/// The hosts of `--host-set`: names, or a file with one to a line.
fn hosts(asked: &Smallfile) -> anyhow::Result<Option<HostArgs>> {
    let Some(set) = &asked.host_set else {
        return Ok(None);
    };
    let list = match fathom_deadline::paths::is_file(Path::new(set)) {
        true => {
            read(Path::new(set)).map_err(|error| anyhow::anyhow!("cannot read {set}: {error}"))?
        }
        false => set.clone(),
    };
    let names: Vec<&str> = list
        .split([',', ' ', '\n', '\t'])
        .map(str::trim)
        .filter(|name| !name.is_empty())
        .collect();
    let list: HostList = names
        .join(",")
        .parse()
        .map_err(|why| anyhow::anyhow!("--host-set: {why}"))?;
    Ok(Some(HostArgs::over_ssh(list)))
}

fn read(path: &Path) -> std::io::Result<String> {
    let mut text = String::new();
    let file = fathom_deadline::paths::open(path)?;
    file.take(YAML_BYTES_MAX).read_to_string(&mut text)?;
    Ok(text)
}

fn help() -> anyhow::Result<Exit> {
    use clap::CommandFactory;
    let mut all = crate::cli::Cli::command();
    all.build();
    if let Some(own) = all.find_subcommand_mut("smallfile") {
        present::write_stdout(&own.render_long_help().to_string())?;
    }
    Ok(Exit::Success)
}
