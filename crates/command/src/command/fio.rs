//! `fathom fio`: fio's job files and command lines, run here.
//!
//! Standard output and `--output` carry results in fio's formats and nothing
//! else; the verdict and what was left out go to standard error. Exit statuses
//! are fio's. docs/decisions/0014 has the reasons.

mod carry_out;
mod clients;
mod permission;

use std::ffi::OsString;

use clap::Args;
use fathom_compat::fio::help;
use fathom_compat::fio::request::{FioAction, FioRequest, read_fio};

use fathom_model::secret::masked;
use fathom_runs::fio::Machine;

use crate::exit::Exit;
use crate::present;

/// Run fio's job files and command lines.
///
/// Takes what fio takes: job files, `-` for standard input, and options of jobs
/// (`--name=a --rw=randread …`). Every option is known; what is not done as
/// asked is reported by name. Results are printed in fio's formats.
///
/// Files that a job makes stay, as with fio (`unlink=1` removes them); `fathom
/// clean --kept` lists them. A device, or a file that was there before, is
/// written to only with --destructive or FATHOM_DESTRUCTIVE=1.
///
/// Through a link named `fio` to fathom, `fio …` is `fathom fio …`, and a run
/// that succeeds says nothing on standard error (FATHOM_FIO_QUIET=0: it does).
#[derive(Debug, Args)]
#[command(
    disable_help_flag = true,
    after_help = "\
Examples:
  fathom fio job.fio                     Run a job file
  fathom fio --name=a --rw=randread --bs=4k --size=1g --runtime=10 --time_based
  fathom fio --output-format=json --output=result.json job.fio
  fathom fio --account job.fio           What becomes of every option
  fathom fio --plan job.fio              The trials that it becomes
  fathom fio --cmdhelp=iodepth           One option; without a name all
  fathom fio --help                      All switches"
)]
pub(crate) struct Fio {
    /// fio's switches, options of jobs, and job files.
    #[arg(
        trailing_var_arg = true,
        allow_hyphen_values = true,
        value_name = "FIO ARGUMENTS"
    )]
    pub(crate) arguments: Vec<OsString>,
    /// Called by the name of fio: scripts that call it so take whatever stands
    /// on standard error for a failure.
    #[arg(skip)]
    pub(crate) as_fio: bool,
}

/// Whether standard error has errors only, for scripts that look at it: 1 or 0.
const QUIET_VARIABLE: &str = "FATHOM_FIO_QUIET";

/// What fio ends with when a job or its options are wrong.
const FIO_FAILURE: Exit = Exit::Failure;

pub(crate) fn run(fio: &Fio) -> anyhow::Result<Exit> {
    let arguments: Vec<String> = fio
        .arguments
        .iter()
        .map(|argument| argument.to_string_lossy().into_owned())
        .collect();
    if arguments.is_empty() {
        present::write_stdout(&help::usage())?;
        return Ok(FIO_FAILURE);
    }
    match read_fio(&arguments, &Machine) {
        Ok(mut request) => {
            let by_name = fio.as_fio && !permission::says_no(QUIET_VARIABLE);
            request.run.quiet |= permission::says_yes(QUIET_VARIABLE);
            request.run.results_only = request.run.quiet || by_name;
            answer(&request)
        }
        Err(problems) => {
            for problem in &problems.0 {
                present::complain(&problem.to_string());
            }
            Ok(FIO_FAILURE)
        }
    }
}

fn answer(request: &FioRequest) -> anyhow::Result<Exit> {
    let text = match &request.action {
        FioAction::Help => help::usage(),
        FioAction::Version => help::version(),
        FioAction::OptionHelp(name) => match help::options(name.as_deref()) {
            Some(text) => text,
            None => {
                let name = name.as_deref().unwrap_or_default();
                present::complain(&format!("fio has no option '{name}'"));
                return Ok(FIO_FAILURE);
            }
        },
        FioAction::EngineHelp(name) => help::engines(name.as_deref()),
        FioAction::ShowCommand => masked(&help::command_line(&request.jobs)),
        FioAction::Parse => help::parsed(request),
        FioAction::Run | FioAction::Plan | FioAction::Account => {
            return carry_out::carry_out(request);
        }
    };
    present::write_stdout(&text)?;
    Ok(Exit::Success)
}
