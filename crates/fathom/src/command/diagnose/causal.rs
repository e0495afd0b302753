//! `--causal`: makes the volume a tenth smaller for one application, in turns,
//! and sees whether its progress moves.

mod bench;
mod progress;

use std::io::{IsTerminal, stderr};

use bench::HeldBack;
use clap::Args;
use fathom_diagnose::causal::{CausalDesign, CausalSubject, causal_test, experiment};
use fathom_diagnose::only_limits_of;
use fathom_diagnose::recording::Recording;
use fathom_fleet::Interrupt;
use fathom_model::diagnosis::{CausalTest, CeilingUse, Diagnosis};
use fathom_model::unit;
use fathom_observe::{GroupLimit, Sysroot};
use fathom_rules::diagnosis::smaller_volume::LEAST_BLOCKS;
use progress::Progress;

use super::{Diagnose, consent};
use crate::changed_limits::ChangedLimits;
use crate::exit::Exit;
use crate::{present, run_identity, signals};

/// A load whose reads or writes alone reach their limit for longer than this
/// share of the time, while both together do not, would be held back wrongly.
const UNEVEN: f64 = 0.05;
/// Of the limit, from where on a load reaches it.
const REACHES: f64 = 0.95;

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
    /// grows, as transactions done [default: the CPU time of the group, which
    /// can blame the volume and never clear it].
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
}

/// Refuses at once what cannot be done, before a host is watched for minutes.
pub(super) fn may_test(args: &Diagnose) -> Result<(), (Exit, String)> {
    let causal = &args.causal;
    let Some(pid) = causal.pid.filter(|_| causal.causal) else {
        return Ok(());
    };
    let ceiling = args.ceiling_iops.is_some()
        || args.ceiling.is_some()
        || args.calibration.calibrate.is_some();
    if !ceiling {
        let why = "--causal: a tenth less of what? Say what the volume can give with --calibrate, \
                   --ceiling or --ceiling-iops";
        return Err((Exit::Usage, why.to_owned()));
    }
    if !args.calibration.yes && !consent::can_ask() {
        let why = "--causal holds the application back and asks first, which needs a terminal; with \
                   --yes it does not ask";
        return Err((Exit::Usage, why.to_owned()));
    }
    // Of the device it is not known yet which one it will be.
    GroupLimit::of_process(&Sysroot::host(), pid, "0:0")
        .map_err(|why| (Exit::Failure, format!("--causal: {why}")))?;
    Ok(())
}

/// The recording as it bears on the application of `--pid`: what holds back
/// other control groups of the host does not answer for it.
pub(super) fn without_limits_of_others(args: &Diagnose, mut load: Recording) -> Recording {
    let of_process = |pid| GroupLimit::of_process(&Sysroot::host(), pid, "0:0").ok();
    if let Some(group) = args.causal.pid.and_then(of_process) {
        only_limits_of(&mut load, group.name());
    }
    load
}

/// What came of it: the test, or why there was none.
pub(super) type Tested = Result<CausalTest, (Exit, String)>;

/// Makes the test, where it was asked for and is allowed.
pub(super) fn test(
    args: &Diagnose,
    load: &Recording,
    found: &Diagnosis,
) -> anyhow::Result<Option<Tested>> {
    let causal = &args.causal;
    let Some(pid) = causal.pid.filter(|_| causal.causal) else {
        return Ok(None);
    };
    let no = |exit: Exit, why: String| {
        Ok(Some(Err((
            exit,
            format!("no test with a smaller volume: {why}"),
        ))))
    };
    let Some((disk, used)) = found.disks.first().zip(found.ceiling.as_ref()) else {
        return no(
            Exit::Failure,
            "what the volume can give is not known".to_owned(),
        );
    };
    if !used.comparable {
        return no(
            Exit::Failure,
            "what the volume can give is known for another mix or another block size".to_owned(),
        );
    }
    let number = format!("/sys/class/block/{}/dev", disk.name.replace('/', "!"));
    let Some(device) = Sysroot::host().text(number) else {
        return no(
            Exit::Failure,
            format!("{} is no block device here", disk.name),
        );
    };
    let group = match GroupLimit::of_process(&Sysroot::host(), pid, &device) {
        Ok(group) => group,
        Err(why) => return no(Exit::Failure, why),
    };
    let limits = match limits(causal, load, &disk.name, disk.read_share, used, group.now()) {
        Ok(limits) => limits,
        Err(why) => return no(Exit::Failure, why),
    };
    let limit = format!(
        "{} of {} to {} reads and {} writes per second",
        group.mechanism(),
        disk.name,
        unit::group(limits[0]),
        unit::group(limits[1])
    );
    if !args.calibration.yes && !consent::is_given(&in_words(causal, &group, &limit)) {
        return no(Exit::Success, "no consent was given".to_owned());
    }
    let subject = CausalSubject {
        group: group.name().to_owned(),
        limit,
        progress: Progress::words(causal.progress.is_some()).to_owned(),
        stands_for_all: causal.progress.is_some(),
    };
    carry_out(args, group, limits, subject).map(Some)
}

/// 90 % of the ceiling, divided as the load divides it between reads and writes:
/// control groups limit the two apart.
fn limits(
    causal: &CausalArgs,
    load: &Recording,
    disk: &str,
    read_share: Option<f64>,
    used: &CeilingUse,
    own: [Option<u64>; 2],
) -> Result<[u64; 2], String> {
    let keep = 1.0 - f64::from(causal.smaller) / 100.0;
    let share = read_share.unwrap_or(0.5);
    let shares = match (0.05..0.95).contains(&share) {
        true => [share, 1.0 - share],
        // What hardly comes needs no limit of its own.
        false => [1.0, 1.0],
    };
    let mut limits = [0.0; 2];
    for ((limit, share), own) in limits.iter_mut().zip(shares).zip(own) {
        // A limit that the group has already is its ceiling.
        let ceiling = own.map_or(f64::MAX, |own| own as f64);
        *limit = keep * ceiling.min(share * used.operations);
    }
    let whole = keep * used.operations;
    let moments = load.moments.iter().flat_map(|m| &m.disks);
    let of_disk: Vec<_> = moments.filter(|d| d.name == disk).collect();
    let uneven = of_disk.iter().filter(|d| {
        let alone = d.reads > limits[0] || d.writes > limits[1];
        alone && d.reads + d.writes < REACHES * whole && own == [None, None]
    });
    if uneven.count() as f64 > UNEVEN * of_disk.len() as f64 {
        return Err(
            "reads and writes come by turns, and control groups limit the two apart: a limit would \
             hold back what the volume does not"
                .to_owned(),
        );
    }
    Ok(limits.map(|limit| (limit.round() as u64).max(1)))
}

/// What will be done, for who is to allow it.
fn in_words(causal: &CausalArgs, group: &GroupLimit, limit: &str) -> String {
    let span = u64::from(4 * causal.blocks * causal.part) * 1_000_000_000;
    format!(
        "This makes the volume {} % smaller for the control group {}, on and off in turns:\n\
         \x20 - sets {limit}\n\
         \x20 - for about {}: {} blocks of four parts of {} s\n\
         \x20 - the old limit is set back in any case; after a kill `fathom clean --yes` does it\n\
         \x20 - meanwhile the application may be that much slower, half of the time\n",
        causal.smaller,
        group.name(),
        unit::span(span),
        causal.blocks,
        causal.part,
    )
}

fn carry_out(
    args: &Diagnose,
    group: GroupLimit,
    limits: [u64; 2],
    subject: CausalSubject,
) -> anyhow::Result<Tested> {
    let causal = &args.causal;
    let interrupt = Interrupt::new();
    signals::raise_on_signals(&interrupt)?;
    let design = CausalDesign {
        blocks: causal.blocks,
        part_seconds: f64::from(causal.part),
        throttle: f64::from(causal.smaller) / 100.0,
        seed: run_identity::fresh_seed(),
    };
    let store = present::store_path(&args.store)?;
    let changed = match ChangedLimits::note(&store, group.set_back()) {
        Ok(changed) => changed,
        Err(error) => {
            let why = format!("no test with a smaller volume: {error}");
            return Ok(Err((Exit::Failure, why)));
        }
    };
    let progress = Progress::new(causal.progress.as_deref(), group.clone());
    let shown = stderr().is_terminal();
    let mut held = HeldBack::new(group, limits, &changed, progress, &interrupt, shown);
    let effect = experiment(&design, &mut held);
    let back = changed.set_back();
    if shown {
        present::write_stderr("\r\u{1b}[K");
    }
    if let Err(error) = back {
        let why = format!(
            "the old limit of {} could not be set back ({error}); `fathom clean --yes` tries it again",
            subject.group
        );
        return Ok(Err((Exit::Failure, why)));
    }
    Ok(match effect {
        Ok(effect) => Ok(causal_test(&design, subject, &effect)),
        Err(why) => Err((
            Exit::Failure,
            format!("the test with a smaller volume failed: {why}; the old limit is set back"),
        )),
    })
}

#[cfg(test)]
#[path = "causal_tests.rs"]
mod tests;
