//! `fathom ab`: two sides in turns.

mod control;
mod set_up;
mod sides;

use clap::Args;
use fathom_model::Metric;
use fathom_model::comparison::{ComparisonDesign, SideDesign};
use fathom_model::schedule::Purpose;
use fathom_model::secret::{masked, masked_command};
use fathom_plan::{IoFlags, PlanFlags};
use fathom_rules::check;
use fathom_studies::ab::{Side, Turns};

use crate::command::gate::{FailOn, gate};
use crate::exit::Exit;
use crate::output_flags::Output;
use crate::pipeline::{self, Request};
use crate::present;

/// Trials that a comparison has at most.
const MOST_TRIALS: usize = 100_000;

/// Compare two settings or targets, in alternating trials.
///
/// Both sides are measured in pairs of trials, A B, B A, A B, and so on, so
/// that a drift does not look like a difference. The result says for each row
/// whether B is faster, slower, equivalent within the margin, or that this is
/// not decided, and how many more pairs would decide it.
///
/// The sides are two plans, two targets with the same workload, or one plan or
/// target with one key that differs (--vary), with commands that change
/// something in between (--before-a, --before-b), or both. A key that differs
/// is the factor; whatever else differs is listed.
///
/// A short trial of an untouched control precedes every trial. If it moves
/// with the sides, something else than the factor does, and the comparison is
/// unproven.
#[derive(Debug, Args)]
#[command(mut_arg(fathom_plan::RUNTIME, |arg| arg.visible_alias("for").alias("seconds")))]
#[command(after_help = "\
Examples:
  fathom ab /mnt/old /mnt/new --rw randread --bs 4k --iodepth 32 --runtime 10s
                                     The same workload on two targets
  fathom ab /data --rw randwrite --vary ioengine=psync,uring --runtime 10s
                                     One key that differs
  fathom ab before.yaml after.yaml   Two plans; rows are paired by label
  fathom ab db.yaml --vary target=/mnt/a,/mnt/b
                                     One plan on two targets
  fathom ab /data --rw randread --size 1G --runtime 10s \\
    --before-a 'echo none > /sys/block/nvme0n1/queue/scheduler' \\
    --before-b 'echo kyber > /sys/block/nvme0n1/queue/scheduler'
                                     Something that is changed in between
  fathom ab a.yaml b.yaml --margin 5% --fail-on slower,inconclusive
                                     A gate for CI

Exit status: 0 no reason to fail, 7 B is slower, 8 B is faster (only with
--fail-on different), 9 not decided (only with --fail-on inconclusive);
1, 2, 3, 4 and 5 as of every measurement. An unproven comparison counts as not
decided.")]
pub(crate) struct Ab {
    /// Side A, or what both sides share: a plan file (.yaml), or a target
    /// (directory, file, device, `null:`, `sim:MODEL`).
    pub(crate) a: String,
    /// Side B: another plan, or another target.
    pub(crate) b: Option<String>,
    /// A key and its value on side A and on side B, for example
    /// iodepth=1,32; `target` is a key too. Values that hold commas are
    /// separated by `|`.
    #[arg(long, value_name = "KEY=A,B")]
    vary: Option<String>,
    /// Pairs of trials per row; an odd number is raised by one. Fewer than 6
    /// decide nothing.
    #[arg(long, default_value_t = 6, value_parser = clap::value_parser!(u32).range(1..=1000))]
    pairs: u32,
    /// Differences up to this count as none.
    #[arg(long, default_value = "3%", value_name = "PERCENT", value_parser = parse_percent)]
    margin: f64,
    /// The figure that decides. Default: ops, bytes where the block sizes
    /// differ, p99 of the response where a rate is asked for.
    #[arg(long, value_enum)]
    metric: Option<MetricChoice>,
    /// What is measured as the untouched control; `none` leaves it out.
    /// Default: `null:`, which shows what the host's CPUs do and cannot be
    /// touched by the storage; none where both sides are simulated.
    #[arg(long, value_name = "TARGET")]
    control: Option<String>,
    /// Shell command that is run before each trial of side A.
    #[arg(long, value_name = "COMMAND")]
    before_a: Option<String>,
    /// Shell command that is run before each trial of side B.
    #[arg(long, value_name = "COMMAND")]
    before_b: Option<String>,
    /// What side A is called.
    #[arg(long, value_name = "NAME")]
    label_a: Option<String>,
    /// What side B is called.
    #[arg(long, value_name = "NAME")]
    label_b: Option<String>,
    /// Outcomes that end with an exit status of their own. Default: slower.
    #[arg(long, value_enum, value_delimiter = ',', default_value = "slower")]
    fail_on: Vec<FailOn>,
    #[command(flatten)]
    pub(crate) flags: IoFlags,
    #[command(flatten)]
    pub(crate) plan_flags: PlanFlags,
    #[command(flatten)]
    pub(crate) output: Output,
}

/// A figure that decides.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum MetricChoice {
    /// Operations per second.
    Ops,
    /// Bytes per second.
    Bytes,
    /// Median latency.
    P50,
    /// 99th percentile of latency.
    P99,
    /// 99.9th percentile of latency.
    P999,
    /// CPU time per operation.
    Cpu,
}

impl MetricChoice {
    pub(crate) fn metric(self) -> Metric {
        match self {
            MetricChoice::Ops => Metric::OpsPerSecond,
            MetricChoice::Bytes => Metric::BytesPerSecond,
            MetricChoice::P50 => Metric::LatencyP50,
            MetricChoice::P99 => Metric::LatencyP99,
            MetricChoice::P999 => Metric::LatencyP999,
            MetricChoice::Cpu => Metric::CpuPerOp,
        }
    }
}

/// `5%` or `5`, above 0 and at most 50.
pub(crate) fn parse_percent(text: &str) -> Result<f64, String> {
    let number = text.trim().trim_end_matches('%').trim_end();
    match number.parse::<f64>() {
        Ok(percent) if percent > 0.0 && percent <= 50.0 => Ok(percent),
        _ => Err("a margin is above 0 % and at most 50 %, for example 3%".to_owned()),
    }
}

pub(crate) fn run(ab: Ab) -> anyhow::Result<Exit> {
    let sides = sides::of(&ab)?;
    let control = control::of(ab.control.as_deref(), &sides, ab.output.format.color)?;
    let pairs = ab.pairs + ab.pairs % 2;
    let trial = control.as_ref().map(|c| &c.trial);
    let turns = Turns::unroll(&sides, pairs, trial, MOST_TRIALS, set_up::set_up);
    let Ok(mut turns) = turns else {
        present::complain("too many trials; ask for fewer pairs or rows");
        return Ok(Exit::Usage);
    };
    if let Some(text) = about_pairs(ab.pairs, pairs) {
        note(&ab.output, &text);
    }
    let side = |side: &Side| SideDesign {
        label: side.label.clone(),
        before: side.before.as_deref().map(masked_command),
        plan_yaml: masked(&side.plan.to_yaml()),
    };
    let design = ComparisonDesign {
        a: side(&sides.a),
        b: side(&sides.b),
        pairs,
        decides: ab.metric.map(MetricChoice::metric),
        rows: sides.rows(),
        factor: sides.factor(),
        control: control.map(|c| c.design),
    };
    if design.factor.is_empty() && ab.before_a.is_none() && ab.before_b.is_none() {
        note(&ab.output, "both sides are the same: this shows the noise");
    }
    let mut schedule = sides.schedule();
    schedule.trials = turns.trials();
    schedule.purpose = Purpose::Comparison {
        margin_percent: ab.margin,
        design: Box::new(design),
    };
    let request = Request {
        plan: sides.a.plan.clone(),
        schedule,
        label: None,
        output: ab.output,
    };
    let run = pipeline::Run::new(&request).conductor(&mut turns);
    let measured = run.measure()?;
    measured.expect_figures()?;
    let judged = fathom_studies::judge(&measured.record);
    let shown = pipeline::show(&judged, &request.output)?;
    measured.complain();
    if !shown {
        return Ok(Exit::Failure);
    }
    let exit = pipeline::exit_of(&judged, request.output.strict);
    Ok(match (&judged.comparison, exit) {
        (Some(comparison), Exit::Success) => gate(comparison, &ab.fail_on),
        (_, exit) => exit,
    })
}

/// What is to be said of the number of pairs before they are measured.
fn about_pairs(asked: u32, pairs: u32) -> Option<String> {
    let least = check::v51::CAVEAT;
    if f64::from(pairs) < least {
        let measured = match asked == pairs {
            true => format!("{pairs} pairs are measured"),
            false => format!("{pairs} pairs are measured (turns take an even number)"),
        };
        return Some(format!(
            "{measured}, and fewer than {least:.0} decide nothing; --pairs {least:.0} or more does"
        ));
    }
    let raised = asked != pairs;
    raised.then(|| format!("{pairs} pairs are measured: turns take an even number"))
}

fn note(output: &Output, text: &str) {
    if !output.quiet {
        present::complain(text);
    }
}

#[cfg(test)]
mod tests {
    use super::about_pairs;

    #[test]
    fn too_few_pairs_are_announced_before_they_are_measured() {
        let few = about_pairs(3, 4).unwrap();
        assert!(few.starts_with("4 pairs are measured (turns"), "{few}");
        assert!(few.contains("--pairs 6 or more"), "{few}");
        assert!(
            about_pairs(4, 4)
                .unwrap()
                .starts_with("4 pairs are measured, and")
        );
        assert!(about_pairs(7, 8).unwrap().contains("an even number"));
        assert_eq!(about_pairs(6, 6), None);
    }
}
