//! `--host-data` and `--host-turns`: what several hosts do beside one another.

use clap::{Args, ValueEnum};
use fathom_model::host_mode::{HostData, HostTurns};

use crate::diagnostic::Diagnostics;
use crate::plan::Plan;

/// What several hosts do beside one another; in a plan `host_data` and
/// `host_turns`.
#[derive(Debug, Clone, Copy, Default, Args)]
#[command(next_help_heading = "Hosts")]
pub struct HostModeArgs {
    /// Whose data each host uses.
    #[arg(long, value_enum, value_name = "WHOSE")]
    host_data: Option<Data>,
    /// Which hosts work when.
    #[arg(long, value_enum, value_name = "WHEN")]
    host_turns: Option<TurnChoice>,
}

/// Whose data each host uses.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Data {
    /// Test files of its own, of the size that was asked for.
    Own,
    /// A part of one data set: sizes, files and bounds are those of all hosts
    /// together.
    Divided,
    /// Who reads uses what another host has written.
    Rotated,
}

/// Which hosts work when.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum TurnChoice {
    /// All at once.
    Together,
    /// Each alone, one after the other.
    #[value(alias = "one_by_one")]
    OneByOne,
    /// 1, 2, 4 and so on, in the end all.
    Growing,
}

impl HostModeArgs {
    /// The plan with what was chosen.
    ///
    /// # Errors
    /// What the two choices together cannot be.
    pub fn apply(self, mut plan: Plan) -> Result<Plan, Diagnostics> {
        let data = self.host_data.map(|data| match data {
            Data::Own => HostData::Own,
            Data::Divided => HostData::Divided,
            Data::Rotated => HostData::Rotated,
        });
        let turns = self.host_turns.map(|turns| match turns {
            TurnChoice::Together => HostTurns::Together,
            TurnChoice::OneByOne => HostTurns::OneByOne,
            TurnChoice::Growing => HostTurns::Growing,
        });
        plan.set_host_mode(data, turns)?;
        Ok(plan)
    }
}
