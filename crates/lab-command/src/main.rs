//! The `fathom-lab` command: drives, links and stores whose truth is known, and
//! the exams that are sat on them. It is not part of the product.

mod blind;
mod child;
mod diagnosis;
mod drive;
mod exam;
mod link;
mod models;
mod programs;
mod signals;
mod store;

use std::process::ExitCode;

use clap::{Parser, Subcommand};
use fathom_console::{Exit, allow_overwriting, complain, is_wrong_name, speak_as, write_stdout};

const AFTER_HELP: &str = "\
Examples:
  fathom-lab models                  Which drives there are
  fathom-lab drive hdd --size 1GiB -- fio --name=x --filename={} --rw=randread
                                     A simulated hard disk, and fio on it
  fathom-lab s3 --script GET:503@20 -- sh -c 'fathom s3 get s3://b/p --endpoint $ENDPOINT'
                                     A store that refuses every twentieth GET
  fathom-lab link west east --delay 2ms --loss 0.5%
                                     Two network interfaces and a bad wire
  fathom-lab exam --seed 7           How often is fathom's judgement right?

Exit status: 0 done, 1 failure or an exam not passed, 2 usage, 5 interrupted;
of a command that was run: its own.";

/// Drives, links and object stores whose truth is known, to try fathom or any
/// other tool on.
#[derive(Debug, Parser)]
#[command(name = "fathom-lab", version, after_help = AFTER_HELP)]
#[command(arg_required_else_help = true, max_term_width = 100)]
struct Cli {
    /// Write over files that fathom did not write, and through symbolic links.
    #[arg(long, global = true, hide_short_help = true)]
    force: bool,
    #[command(subcommand)]
    lab: Lab,
}

#[derive(Debug, Subcommand)]
enum Lab {
    Drive(Box<drive::Drive>),
    /// List the models of drives and their parameters.
    #[command(after_help = "Example:\n  fathom-lab models")]
    Models,
    S3(Box<store::Store>),
    Link(Box<link::Link>),
    Exam(exam::Exam),
    Accuracy(exam::Accuracy),
    Diagnosis(diagnosis::DiagnosisExam),
    #[command(hide = true)]
    Application(diagnosis::Play),
}

fn main() -> ExitCode {
    speak_as("fathom-lab");
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) if error.use_stderr() => {
            // Nowhere is left to complain when standard error is gone.
            let _ = error.print();
            return Exit::Usage.into();
        }
        Err(help) => {
            let written = write_stdout(&help.render().to_string());
            return match written {
                Ok(()) => Exit::Success.into(),
                Err(error) => {
                    complain(&format!("{error:#}"));
                    Exit::Failure.into()
                }
            };
        }
    };
    if cli.force {
        allow_overwriting();
    }
    fathom_deadline::tell_when_waiting(complain);
    run(cli.lab)
        .unwrap_or_else(|error| {
            complain(&format!("{error:#}"));
            match error.chain().any(is_wrong_name) {
                true => Exit::Usage,
                false => Exit::Failure,
            }
        })
        .into()
}

fn run(lab: Lab) -> anyhow::Result<Exit> {
    match lab {
        Lab::Drive(drive) => drive::serve(&drive),
        Lab::S3(store) => store::serve(&store),
        Lab::Link(link) => link::serve(&link),
        Lab::Exam(exam) => exam::sit(&exam),
        Lab::Accuracy(accuracy) => exam::accuracy(&accuracy),
        Lab::Diagnosis(exam) => diagnosis::sit(&exam),
        Lab::Application(application) => diagnosis::play(&application),
        Lab::Models => {
            write_stdout(&models::text())?;
            Ok(Exit::Success)
        }
    }
}
