//! `fathom at_io_parallel`: the script of the benchmark of Virtuozzo Storage
//! that loads many hosts at the same time, also when fathom is called by that
//! name.
//!
//! Standard output is that of the script: sections, the line of each host, the
//! sum of each iteration, the average. The hosts begin behind one gate instead
//! of when their ssh is through. What fathom thinks of each test goes to
//! standard error.

use std::path::Path;

use anyhow::Context;
use clap::Args;
use fathom_compat::at_io::{AtIoParallel, AtIoSection, AtIoSetting, print};
use fathom_fleet::parse_hosts;
use fathom_model::JudgedRun;
use fathom_model::run::RunState;
use fathom_report::text::TextOptions;

use crate::command::hosts::HostArgs;
use crate::command::run::schedule_on_hosts;
use crate::exit::{CommandError, Exit};
use crate::output_flags::{Color, Output, StorePath};
use crate::pipeline::{self, Request};
use crate::present;

/// How the test files' names begin.
const FILE_PREFIX: &str = "at_io_iops";

/// Run at_io_parallel.sh: at_io_iops on many hosts at the same time.
///
/// The words are hosts, and settings under the names that they have in the
/// script: TIME, FILE_SIZE, THREADS, ITERATIONS, BLOCKSIZE and
/// REMOTE_PCS_MOUNT_PATH; PAUSE is the time between two tests. What is not
/// given is taken from the environment, else from the guide. Nothing needs to
/// be copied or installed: agents are started as with --hosts elsewhere.
///
/// For each number of threads: a warm-up that makes the files, then sequential
/// read and write, random read and write, and random writes with a sync after
/// each 32, on all hosts behind one gate. The test files stay for the next
/// time; `fathom clean --hosts … --kept` removes them.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  fathom at_io_parallel REMOTE_PCS_MOUNT_PATH=/pstorage/mycluster 10.0.0.1 10.0.0.2 10.0.0.3 \\
      | tee results.txt
  grep '===' results.txt             Sections and averages
  fathom at_io_parallel TIME=30 'THREADS=4 16' FILE_SIZE=64G \\
      REMOTE_PCS_MOUNT_PATH=/mnt/nas 'node[01-12]'
  ln -s $(which fathom) at_io_parallel.sh && ./at_io_parallel.sh …")]
pub(crate) struct AtIoParallelCommand {
    /// Hosts, and settings as NAME=VALUE.
    #[arg(value_name = "HOST|NAME=VALUE")]
    words: Vec<String>,
    #[command(flatten)]
    hosts: HostArgs,
    /// Print the tests and do nothing.
    #[arg(short = 'a')]
    settings_only: bool,
    /// Exit with fathom's status: 3 for caveats, 4 when a result is not
    /// trusted.
    #[arg(long)]
    strict: bool,
    #[command(flatten)]
    store: StorePath,
}

pub(crate) fn run(command: AtIoParallelCommand) -> anyhow::Result<Exit> {
    let (settings, hosts) = read(&command.words)?;
    let hosts = match hosts.is_empty() {
        true => command.hosts.clone(),
        false => command
            .hosts
            .clone()
            .with(parse_hosts(&hosts.join(",")).map_err(anyhow::Error::msg)?),
    };
    if !hosts.are_given() && !command.settings_only {
        let problem = "name the hosts: fathom at_io_parallel 10.0.0.1 10.0.0.2 …";
        return Err(CommandError::usage(problem).into());
    }
    let Some(mount) = settings.mount_path.clone() else {
        let problem =
            "say where the test files are to be made: REMOTE_PCS_MOUNT_PATH=/pstorage/mycluster";
        return Err(CommandError::usage(problem).into());
    };
    let session = Session {
        command: &command,
        settings: &settings,
        hosts,
        directory: Path::new(&mount),
    };
    match command.settings_only {
        true => session.show(),
        false => session.run(),
    }
}

/// Settings from the environment and from the words; the other words are
/// hosts.
fn read(words: &[String]) -> Result<(AtIoParallel, Vec<String>), CommandError> {
    let mut settings = AtIoParallel::default();
    for name in AtIoParallel::NAMES {
        if let Ok(value) = std::env::var(name) {
            settings.set(name, &value)?;
        }
    }
    let mut hosts = Vec::new();
    for word in words {
        let Some((name, value)) = word.split_once('=') else {
            hosts.push(word.clone());
            continue;
        };
        match settings.set(name, value)? {
            AtIoSetting::Taken => {}
            AtIoSetting::Needless => {
                present::complain(&format!(
                    "{name} is not needed: agents are copied by themselves"
                ));
            }
            AtIoSetting::Unknown => {
                let known = AtIoParallel::NAMES;
                let meant = fathom_model::nearest::did_you_mean(name, known.iter().copied());
                let known = known.join(", ");
                return Err(CommandError::usage(format!(
                    "there is no setting {name}; there are {known}{meant}"
                )));
            }
        }
    }
    Ok((settings, hosts))
}

struct Session<'s> {
    command: &'s AtIoParallelCommand,
    settings: &'s AtIoParallel,
    hosts: HostArgs,
    directory: &'s Path,
}

impl Session<'_> {
    /// What would be done.
    fn show(&self) -> anyhow::Result<Exit> {
        for threads in &self.settings.threads {
            for section in self.settings.sections(*threads) {
                present::write_stdout(&print::head(&section))?;
            }
        }
        Ok(Exit::Success)
    }

    fn run(&self) -> anyhow::Result<Exit> {
        let mut worst = Exit::Success;
        let mut first = true;
        for threads in &self.settings.threads {
            present::write_stdout(&format!("Loading in {threads} threads...\n"))?;
            for section in self.settings.sections(*threads) {
                if !first {
                    pause(self.settings.pause_seconds);
                }
                first = false;
                let exit = self.section(&section)?;
                if matches!(exit, Exit::Failure | Exit::Interrupted) {
                    return Ok(exit);
                }
                if exit != Exit::Success && self.command.strict {
                    worst = exit;
                }
            }
        }
        Ok(worst)
    }

    fn section(&self, section: &AtIoSection) -> anyhow::Result<Exit> {
        let plan = section.to_plan(self.directory, self.settings.pause_seconds);
        let plan = plan.map_err(|problems| CommandError::plan(problems, Color::Auto))?;
        let schedule = schedule_on_hosts(&plan, Color::Auto)?;
        present::write_stdout(&print::head(section))?;
        let request = Request {
            plan,
            schedule,
            label: Some(section.title.clone()),
            output: self.output(),
        };
        let run = pipeline::Run::new(&request).hosts(&self.hosts);
        let measured = run
            .file_prefix(FILE_PREFIX)
            .measure()
            .with_context(|| section.title.clone())?;
        let unit = section.options.unit();
        present::write_stdout(&print::results(&measured.record, unit))?;
        let judged = fathom_studies::judge(&measured.record);
        if let Some(reason) = &judged.run.reason {
            present::complain(reason);
        }
        if !section.is_warm_up() {
            self.tell_verdict(section, &judged);
        }
        measured.complain();
        Ok(
            match (
                pipeline::exit_of(&judged, self.command.strict),
                judged.run.state,
            ) {
                (Exit::Success, RunState::Complete) => Exit::Success,
                (Exit::Success, _) => Exit::Failure,
                (exit, _) => exit,
            },
        )
    }

    /// What fathom thinks of a test.
    fn tell_verdict(&self, section: &AtIoSection, judged: &JudgedRun) {
        let html = present::write_html(judged, None, &self.command.store);
        let text = TextOptions {
            width: 80,
            color: color(),
            decimal_units: false,
            verbose: false,
            report: html.as_ref().ok().map(|path| path.display().to_string()),
        };
        let verdict = fathom_report::text::render_verdict(judged, &text);
        present::write_styled_stderr(&format!("{}\n{verdict}\n", section.title));
    }

    fn output(&self) -> Output {
        Output {
            quiet: true,
            strict: self.command.strict,
            store: self.command.store.clone(),
            ..Output::default()
        }
    }
}

/// So that a test does not meet what the one before has left in caches.
fn pause(seconds: u32) {
    std::thread::sleep(std::time::Duration::from_secs(u64::from(seconds)));
}

fn color() -> bool {
    present::use_color(Color::Auto, &std::io::stderr())
}
