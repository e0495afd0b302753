//! What is measured in the pods: the words behind `--`, read as the command that
//! they are anywhere else.

use clap::FromArgMatches;
use fathom_plan::Plan;
use fathom_runs::output_flags::Output;

use crate::command::hosts::HostArgs;
use crate::command::{io, quick, run};
use crate::exit::CommandError;

/// The commands that can stand there.
const COMMANDS: &str = "quick, io or run PLAN with their flags, or a plan alone";

/// Largest test file where the user chooses none, as `quick` has it elsewhere.
const FILE_BYTES: u64 = 1 << 30;

/// A command that measures a target on hosts.
pub(super) enum Work {
    Quick(Box<quick::Quick>),
    Io(Box<io::Io>),
    Run(Box<run::Run>),
}

impl Work {
    /// What the words ask for, of this target.
    pub(super) fn of(
        words: &[String],
        target: &str,
        all: fn() -> clap::Command,
    ) -> anyhow::Result<Work> {
        let words = in_full(words, target)?;
        let work = all().try_get_matches_from(&words).and_then(|matches| {
            Ok(match matches.subcommand() {
                Some(("io", io)) => Some(Work::Io(Box::new(io::Io::from_arg_matches(io)?))),
                Some(("run", run)) => Some(Work::Run(Box::new(run::Run::from_arg_matches(run)?))),
                Some(("quick", quick)) => Some(Work::Quick(Box::new(
                    quick::Quick::from_arg_matches(quick)?,
                ))),
                _ => None,
            })
        });
        let work = work.map_err(|error| CommandError::Usage(sentence(&error)))?;
        let work = work.ok_or_else(|| CommandError::usage(format!("expected {COMMANDS}")))?;
        if work.hosts().are_given() {
            let problem = "the hosts are those of the pods: choose them with --nodes before the --";
            return Err(CommandError::usage(problem).into());
        }
        Ok(work)
    }

    fn hosts(&self) -> &HostArgs {
        match self {
            Work::Quick(quick) => &quick.hosts,
            Work::Io(io) => &io.hosts,
            Work::Run(run) => &run.hosts,
        }
    }

    /// How its result is printed and kept.
    pub(super) fn output(&self) -> &Output {
        match self {
            Work::Quick(quick) => &quick.output,
            Work::Io(io) => &io.output,
            Work::Run(run) => &run.output,
        }
    }

    /// The plan of what is measured, on these hosts and in a volume of this many bytes.
    pub(super) fn plan(&mut self, hosts: &HostArgs, volume_bytes: u64) -> anyhow::Result<Plan> {
        match self {
            Work::Quick(quick) => {
                quick.hosts = hosts.clone();
                // A file system needs room of its own.
                let room = volume_bytes / 4 * 3;
                let size = quick.size.unwrap_or_else(|| FILE_BYTES.min(room));
                quick.size = Some(size & !((1 << 20) - 1));
                quick::plan_of(quick)
            }
            Work::Io(io) => {
                io.hosts = hosts.clone();
                io::plan_of(io)
            }
            Work::Run(run) => {
                run.hosts = hosts.clone();
                run::plan_of(run)
            }
        }
    }
}

/// The command line that the words stand for.
fn in_full(words: &[String], target: &str) -> Result<Vec<String>, CommandError> {
    let first = words.first().map_or("", String::as_str);
    let rest = || words.iter().skip(1).cloned();
    let mut all = vec!["fathom".to_owned()];
    match first {
        "quick" | "io" => {
            all.extend([first.to_owned(), target.to_owned()]);
            all.extend(rest());
        }
        "run" => {
            all.push("run".to_owned());
            all.extend(rest());
            all.push(format!("--target={target}"));
        }
        flag if flag.is_empty() || flag.starts_with("--") => {
            all.extend(["quick".to_owned(), target.to_owned()]);
            all.extend(words.iter().cloned());
        }
        plan if plan.ends_with(".yaml") || plan.ends_with(".yml") => {
            all.push("run".to_owned());
            all.extend(words.iter().cloned());
            all.push(format!("--target={target}"));
        }
        other => {
            let problem = format!("'{other}' cannot be run in pods: expected {COMMANDS}");
            return Err(CommandError::Usage(problem));
        }
    }
    Ok(all)
}

/// What is wrong, without the usage of a command line that nobody typed.
fn sentence(error: &clap::Error) -> String {
    let text = error.render().to_string();
    let first = text.split("\n\nUsage:").next().unwrap_or_default().trim();
    let first = first.strip_prefix("error: ").unwrap_or(first);
    format!("behind the --: {first}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(words: &str) -> String {
        let words: Vec<String> = words.split_whitespace().map(str::to_owned).collect();
        in_full(&words, "/data").map_or_else(|error| error.to_string(), |all| all.join(" "))
    }

    #[test]
    fn words_become_a_command_with_the_volume_as_its_target() {
        assert_eq!(line(""), "fathom quick /data");
        assert_eq!(line("--for 5s"), "fathom quick /data --for 5s");
        assert_eq!(line("quick --for 5s"), "fathom quick /data --for 5s");
        assert_eq!(line("io --rw read"), "fathom io /data --rw read");
        assert_eq!(line("db.yaml"), "fathom run db.yaml --target=/data");
        assert_eq!(
            line("run db.yaml --json"),
            "fathom run db.yaml --json --target=/data"
        );
        assert!(line("clean --yes").contains("'clean' cannot be run in pods"));
    }
}
