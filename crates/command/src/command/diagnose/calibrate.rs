//! `--calibrate`: measures what the volume gives with the mix and the block
//! size of the recorded load, on a file of its own, after having asked.

use std::error::Error;

use clap::Args;
use fathom_console::consent;
use fathom_diagnose::recording::Recording;
use fathom_model::unit;
use fathom_runs::calibrate::{Calibrated, CalibrationOrder, named};
use fathom_studies::calibrate::check_size;

use super::Diagnose;
use crate::exit::CommandError;
use crate::whole_seconds::whole_seconds;

/// What is asked for.
#[derive(Debug, Args)]
#[command(next_help_heading = "Calibration")]
pub(super) struct CalibrateArgs {
    /// Measure what the volume can give, and hold the load against it: random
    /// operations of the load's mix and block size on a file of its own in
    /// FOLDER (by default where the busiest device is mounted). First as many
    /// as the volume takes, then 85 % of that, so that the latency is that of
    /// the storage and not of a queue. Loads the volume; asks first.
    #[arg(long, value_name = "FOLDER", num_args = 0..=1, require_equals = true)]
    #[arg(default_missing_value = "", conflicts_with_all = ["ceiling", "ceiling_iops"])]
    pub(super) calibrate: Option<String>,
    /// Do not ask.
    #[arg(long, short)]
    pub(super) yes: bool,
    /// Seconds of each of the three measurements.
    #[arg(
        long,
        value_name = "SECONDS",
        default_value_t = 10,
        requires = "calibrate"
    )]
    #[arg(value_parser = whole_seconds(1, 3600))]
    calibrate_seconds: u32,
    /// Size of the test file. Default: 1 GiB, at most a quarter of the free
    /// space.
    #[arg(long, value_name = "SIZE", value_parser = size, requires = "calibrate")]
    calibrate_size: Option<u64>,
}

fn size(text: &str) -> Result<u64, Box<dyn Error + Send + Sync>> {
    Ok(check_size(unit::parse_bytes(text)?)?)
}

/// Refuses at once, before a host is watched for minutes.
pub(super) fn may_measure(args: &Diagnose) -> Result<(), CommandError> {
    let Some(folder) = &args.calibration.calibrate else {
        return Ok(());
    };
    if !args.calibration.yes && !consent::can_ask() {
        return Err(CommandError::usage(
            "--calibrate loads the volume and asks first, which needs a terminal; with --yes it \
             does not ask",
        ));
    }
    if !folder.is_empty() {
        named(folder)?;
    }
    Ok(())
}

/// Measures the volume if the user asked for that and it is allowed.
///
/// # Errors
/// A call that cannot be followed, and a measurement that fails.
pub(super) fn measure(args: &Diagnose, load: &Recording) -> anyhow::Result<Calibrated> {
    let CalibrateArgs {
        calibrate: Some(folder),
        yes,
        calibrate_seconds,
        calibrate_size,
    } = &args.calibration
    else {
        return Ok(Calibrated::without(None));
    };
    let order = CalibrationOrder::new(load, folder, *calibrate_size, *calibrate_seconds);
    let order = order.map_err(CommandError::from)?;
    if !yes && !consent::is_given(&order.in_words()) {
        let remark = "the volume was not measured: no consent was given";
        return Ok(Calibrated::without(Some(remark)));
    }
    order.carry_out(&args.store)
}
