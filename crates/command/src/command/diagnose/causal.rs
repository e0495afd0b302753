//! `--causal`: makes the volume a tenth smaller for one application, in turns,
//! and sees whether its progress moves.

use clap::Args;
use fathom_console::consent;
use fathom_diagnose::recording::Recording;
use fathom_model::diagnosis::{CausalTest, Diagnosis};
use fathom_rules::diagnosis::smaller_volume::LEAST_BLOCKS;
use fathom_runs::causal::{self, CausalError, CausalOrder, CausalRequest, check_group};
use fathom_studies::causal::CausalDesign;

use super::Diagnose;
use crate::exit::{CommandError, Exit};
use crate::run_identity;

/// What is asked for.
#[derive(Debug, Args)]
#[command(next_help_heading = "Test with a smaller volume")]
pub(super) struct CausalArgs {
    /// Make the volume 10 % smaller for the application of --pid, on and off in
    /// turns, and see whether its progress moves. The limit is one of its
    /// control group, at 90 % of what the volume can give (--calibrate,
    /// --ceiling or --ceiling-iops); the old one is set back in any case. Asks
    /// first. Takes a control group of its own and root.
    #[arg(long, requires = "pid", conflicts_with = "files")]
    pub(super) causal: bool,
    /// A process of the application.
    #[arg(long, value_name = "NUMBER", requires = "causal")]
    pid: Option<u32>,
    /// A command that prints how far the application has come: one number that
    /// grows, as transactions done. Default: the CPU time of the group, which
    /// can blame the volume and never clear it.
    #[arg(long, value_name = "COMMAND", requires = "causal")]
    progress: Option<String>,
    /// Blocks of four parts.
    #[arg(long, value_name = "NUMBER", default_value_t = 8, requires = "causal")]
    #[arg(value_parser = clap::value_parser!(u32).range(i64::from(LEAST_BLOCKS)..=1000))]
    blocks: u32,
    /// Seconds of each part.
    #[arg(long, value_name = "SECONDS", default_value_t = 5, requires = "causal")]
    #[arg(value_parser = clap::value_parser!(u32).range(1..=3600))]
    part: u32,
    /// How much smaller the volume is made, in percent.
    #[arg(
        long,
        value_name = "PERCENT",
        default_value_t = 10,
        requires = "causal"
    )]
    #[arg(value_parser = clap::value_parser!(u32).range(5..=50))]
    smaller: u32,
}

impl CausalArgs {
    /// Whether the test is to be made.
    pub(super) fn is_asked_for(&self) -> bool {
        self.causal
    }

    /// The process of the test that is to be made, if any.
    fn tested(&self) -> Option<u32> {
        self.pid.filter(|_| self.causal)
    }

    /// What is tested of a process.
    fn request(&self, pid: u32) -> CausalRequest<'_> {
        CausalRequest {
            pid,
            progress: self.progress.as_deref(),
            design: CausalDesign {
                blocks: self.blocks,
                part_seconds: f64::from(self.part),
                throttle: f64::from(self.smaller) / 100.0,
                seed: run_identity::fresh_seed(),
            },
        }
    }
}

/// Refuses at once what cannot be done, before a host is watched for minutes.
pub(super) fn may_test(args: &Diagnose) -> anyhow::Result<()> {
    let Some(pid) = args.causal.tested() else {
        return Ok(());
    };
    let ceiling = args.ceiling_iops.is_some()
        || args.ceiling.is_some()
        || args.calibration.calibrate.is_some();
    if !ceiling {
        let why = "--causal: a tenth less of what? Say what the volume can give with --calibrate, \
                   --ceiling or --ceiling-iops";
        return Err(CommandError::usage(why).into());
    }
    if !args.calibration.yes && !consent::can_ask() {
        let why = "--causal holds the application back and asks first, which needs a terminal; with \
                   --yes it does not ask";
        return Err(CommandError::usage(why).into());
    }
    check_group(pid).map_err(|why| anyhow::anyhow!("--causal: {why}"))
}

/// The recording as it bears on the application of `--pid`.
pub(super) fn without_limits_of_others(args: &Diagnose, load: Recording) -> Recording {
    match args.causal.pid {
        Some(pid) => causal::without_limits_of_others(pid, load),
        None => load,
    }
}

/// What came of it: the test, or why there was none.
pub(super) type Tested = Result<CausalTest, CausalError>;

/// Makes the test, where it was asked for and is allowed.
pub(super) fn test(
    args: &Diagnose,
    load: &Recording,
    found: &Diagnosis,
) -> anyhow::Result<Option<Tested>> {
    let Some(pid) = args.causal.tested() else {
        return Ok(None);
    };
    let order = match CausalOrder::new(args.causal.request(pid), load, found) {
        Ok(order) => order,
        Err(why) => return Ok(Some(Err(why))),
    };
    if !args.calibration.yes && !consent::is_given(&order.in_words()) {
        return Ok(Some(Err(CausalError::NoConsent)));
    }
    order.carry_out(&args.store).map(Some)
}

/// The status of a command that was to make the test.
pub(super) fn exit_without(why: &CausalError) -> Exit {
    match why {
        CausalError::NoConsent => Exit::Success,
        _ => Exit::Failure,
    }
}
