//! `fathom fleet`: the keys of a fleet, and how its hosts are.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Subcommand};
use fathom_fleet::{CoordinatorKeys, JoinOutcome};
use fathom_model::{Schedule, unit};

use crate::command::collect;
use crate::command::hosts::{self, HostArgs, HostList};
use crate::exit::{CommandError, Exit};
use crate::output_flags::StorePath;
use crate::present;

/// Set up and check agent hosts.
///
/// Needed for --launcher static only; ssh needs no keys of its own.
#[derive(Debug, Subcommand)]
#[command(after_help = "\
Examples:
  fathom fleet init                  Once: keys of a new fleet
  fathom fleet token --count 2       A join token for each of two agents
  fathom agent --allow /data --token fathom-join-…
                                     On each of the two hosts
  fathom fleet join h1,h2            Take them in
  fathom fleet status --hosts h1,h2 --launcher static")]
pub(crate) enum Fleet {
    /// Make the keys of a new fleet.
    #[command(after_help = "Example:\n  fathom fleet init")]
    Init(Keys),
    /// Make join tokens: each lets one agent in, once.
    #[command(after_help = "Example:\n  fathom fleet token --count 84 --expires 2h > tokens")]
    Token {
        /// How many.
        #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=4096))]
        count: u32,
        /// How long they are good.
        #[arg(long, default_value = "1h", value_parser = unit::parse_duration)]
        expires: u64,
        #[command(flatten)]
        keys: Keys,
    },
    /// Admit agents that wait with a token.
    #[command(after_help = "Example:\n  fathom fleet join node[01-84]")]
    Join {
        /// The hosts, by the names under which they will be called.
        hosts: HostList,
        #[command(flatten)]
        keys: Keys,
    },
    /// Fetch what hosts still hold of runs whose coordinator was lost.
    ///
    /// Any command with --hosts does so as well when it meets them.
    #[command(after_help = "Example:\n  fathom fleet collect --hosts node[01-84]")]
    Collect {
        #[command(flatten)]
        hosts: Box<HostArgs>,
        #[command(flatten)]
        store: StorePath,
    },
    /// Check hosts: version, clock, what their owners allow.
    #[command(after_help = "Example:\n  fathom fleet status --hosts node[01-84]")]
    Status {
        #[command(flatten)]
        hosts: Box<HostArgs>,
        /// Print JSON.
        #[arg(long)]
        json: bool,
    },
}

/// Where the keys are.
#[derive(Debug, Args)]
pub(crate) struct Keys {
    /// Directory of the keys. Default: $FATHOM_FLEET or ~/.config/fathom/fleet.
    #[arg(long, value_name = "DIR")]
    fleet: Option<PathBuf>,
}

impl Keys {
    fn directory(&self) -> anyhow::Result<PathBuf> {
        hosts::fleet_directory(self.fleet.as_deref())
    }

    fn load(&self) -> anyhow::Result<CoordinatorKeys> {
        Ok(CoordinatorKeys::load(&self.directory()?)?)
    }
}

pub(crate) fn run(fleet: Fleet) -> anyhow::Result<Exit> {
    match fleet {
        Fleet::Init(keys) => {
            let directory = keys.directory()?;
            CoordinatorKeys::create(&directory)?;
            present::write_stdout(&format!(
                "made a fleet in {}\nnext: fathom fleet token, then fathom agent on each host\n",
                directory.display()
            ))?;
            Ok(Exit::Success)
        }
        Fleet::Token {
            count,
            expires,
            keys,
        } => {
            let keys = keys.load()?;
            for _ in 0..count {
                let token = keys.make_token(Duration::from_nanos(expires))?;
                present::write_stdout(&format!("{}\n", token.reveal()))?;
            }
            Ok(Exit::Success)
        }
        Fleet::Join { hosts, keys } => join(hosts, &keys.load()?),
        Fleet::Collect { hosts, store } => collect_held(&hosts, &store),
        Fleet::Status { hosts, json } => status(&hosts, json),
    }
}

/// Takes in all that wait; says of each what became of it.
fn join(hosts: HostList, keys: &CoordinatorKeys) -> anyhow::Result<Exit> {
    let mut exit = Exit::Success;
    for host in hosts.0 {
        let said = match keys.join(&host) {
            Ok(JoinOutcome::Now) => "joined".to_owned(),
            Ok(JoinOutcome::Before) => "had joined before".to_owned(),
            Err(error) => {
                exit = Exit::Failure;
                error.to_string()
            }
        };
        present::write_names(&format!("{host}: {said}\n"))?;
    }
    Ok(exit)
}

fn collect_held(args: &HostArgs, store: &StorePath) -> anyhow::Result<Exit> {
    if !args.are_given() {
        return Err(CommandError::usage("name the hosts with --hosts or --hosts-file").into());
    }
    let fleet = args.tolerant().gather(&Schedule::nothing("status"))?;
    for missing in fleet.missing() {
        present::complain(&missing.to_string());
    }
    let said = collect::collect(&fleet, &present::store_path(store)?);
    for line in &said {
        present::write_names(&format!("{line}\n"))?;
    }
    if said.is_empty() {
        present::write_stdout("no host holds anything of a run in this store\n")?;
    }
    Ok(match fleet.missing().next().is_none() {
        true => Exit::Success,
        false => Exit::Failure,
    })
}

fn status(args: &HostArgs, json: bool) -> anyhow::Result<Exit> {
    if !args.are_given() {
        return Err(CommandError::usage("name the hosts with --hosts or --hosts-file").into());
    }
    // All that can be said is wanted, however few answer.
    let fleet = args.tolerant().gather(&Schedule::nothing("status"))?;
    let (hosts, mut permissions) = (fleet.hosts(), fleet.permissions());
    if args.start_agents() {
        permissions.fill(Some("what a plan names".to_owned()));
    }
    if json {
        let text = fathom_model::indented_json(&hosts)?;
        present::write_stdout(&format!("{text}\n"))?;
    } else {
        present::write_stdout(&fathom_report::hosts::table(
            &hosts,
            &permissions,
            fathom_console::columns(),
        ))?;
    }
    Ok(match fleet.missing().next().is_none() {
        true => Exit::Success,
        false => Exit::Failure,
    })
}
