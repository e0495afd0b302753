//! What a user of fio would have seen of the same system.
//!
//! From the same samples that fathom judges, this works out the lines that fio
//! prints by default: mean rate and bandwidth, `err=`, the spread of `iops`
//! (`min`, `max`, `stdev`), `clat`, `cpu`, `IO depths` and the disk's own
//! counts. Then it asks, with generous thresholds, whether somebody could have
//! seen from them that something is wrong. A sign counts whether or not it
//! names the right fault. fio's `steadystate` is not asked for, as it is not by
//! default.

use std::fmt;

use fathom_model::histogram::Histogram;
use fathom_model::op::OpKind;
use fathom_model::run::{RunRecord, RunState, TrialRecord};
use fathom_model::sample::Sample;
use fathom_model::unit;
use fathom_model::workload::{BlockSizes, CacheMode, Pattern, RateUnit};
use fathom_stats::moments::Moments;

/// Spread of `iops` over its mean from which an expert asks why.
const SPREAD: f64 = 0.10;
/// `iops min` below this share of the mean is striking.
const LEAST: f64 = 0.5;
/// `clat max` so many times above its 99th percentile is striking …
const OUTLIER: f64 = 20.0;
/// … when it is also this long.
const OUTLIER_NS: f64 = 100e6;
/// The disk's count of operations may be off by this share.
const DISK_COUNT: f64 = 0.10;
/// Share of a core from which one worker is busy.
const BUSY: f64 = 0.90;
/// Runs of one job that differ by more are noticed by who repeats them.
const REPEAT: f64 = 0.10;
/// Blocks above this are split on their way, so that counts differ anyway.
const WHOLE_BLOCK: u64 = 128 << 10;

/// How clearly something is to be seen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Visibility {
    /// Nothing points at it.
    Not,
    /// In the lines below the first one, for whoever knows what to expect.
    ToAnExpert,
    /// An error message or a count of errors.
    Plainly,
}

impl fmt::Display for Visibility {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Visibility::Plainly => "shown plainly",
            Visibility::ToAnExpert => "visible to an expert",
            Visibility::Not => "not shown",
        })
    }
}

/// Something that could be noticed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sign {
    /// How clearly.
    pub shown: Visibility,
    /// Where, in fio's own words for its lines.
    pub words: String,
}

/// fio's output as its reader sees it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct FioView {
    /// The first line: what most users take home.
    pub headline: String,
    /// What speaks against the number.
    pub signs: Vec<Sign>,
    /// What speaks for a certain limiter.
    pub hints: Vec<Sign>,
}

impl FioView {
    /// The clearest of the signs.
    pub fn doubt(&self) -> Visibility {
        clearest(&self.signs)
    }

    /// The clearest of the hints.
    pub fn limiter(&self) -> Visibility {
        clearest(&self.hints)
    }
}

fn clearest(signs: &[Sign]) -> Visibility {
    signs
        .iter()
        .map(|s| s.shown)
        .max()
        .unwrap_or(Visibility::Not)
}

/// The figures that fio prints of one job. `None` where it prints none.
#[derive(Debug, Clone, Default)]
pub(crate) struct Lines {
    pub(crate) iops: f64,
    pub(crate) bytes_per_second: f64,
    pub(crate) errors: u64,
    pub(crate) iops_stdev: f64,
    pub(crate) iops_min: f64,
    pub(crate) clat_p99_ns: f64,
    pub(crate) clat_max_ns: f64,
    /// CPU time over run time of the busiest worker.
    pub(crate) cpu: f64,
    pub(crate) issued: f64,
    /// What the disk lines count; `None` when there are no such lines.
    pub(crate) disk_ios: Option<f64>,
    /// Whether the two can be expected to agree.
    pub(crate) comparable: bool,
    pub(crate) asked_iops: Option<f64>,
    /// Operations in flight over the depth; low when submitting blocks.
    pub(crate) depth_kept: Option<f64>,
    pub(crate) refused: bool,
    pub(crate) interrupted: bool,
}

impl Lines {
    pub(crate) fn headline(&self) -> String {
        format!(
            "IOPS={}, BW={}",
            unit::count(self.iops),
            unit::throughput(self.bytes_per_second)
        )
    }

    pub(crate) fn signs(&self) -> Vec<Sign> {
        let mut signs = Vec::new();
        let mut plainly =
            |holds: bool, words: &str| signs.extend(sign(holds, Visibility::Plainly, words));
        plainly(self.errors > 0, "err=");
        plainly(self.interrupted, "terminating on signal");
        plainly(self.refused, "refuses direct=1");
        let percent = |share: f64| format!("{:.0} %", 100.0 * share);
        let mut expert =
            |holds: bool, words: &str| signs.extend(sign(holds, Visibility::ToAnExpert, words));
        let spread = self.iops_stdev / self.iops.max(1e-9);
        expert(
            spread > SPREAD,
            &format!("iops stdev {} of avg", percent(spread)),
        );
        let least = self.iops_min / self.iops.max(1e-9);
        expert(
            least < LEAST && spread <= SPREAD,
            &format!("iops min {} of avg", percent(least)),
        );
        expert(
            self.clat_max_ns > OUTLIER_NS && self.clat_max_ns > OUTLIER * self.clat_p99_ns,
            &format!("clat max {}", unit::latency(self.clat_max_ns)),
        );
        let counted = self.disk_ios.map(|ios| ios / self.issued.max(1.0));
        expert(self.disk_ios.is_none(), "no disk stats");
        if let Some(share) = counted {
            let off = match self.comparable {
                true => (share - 1.0).abs() > DISK_COUNT,
                false => share < 0.01,
            };
            expert(off, &format!("disk ios {} of issued", percent(share)));
        }
        expert(self.cpu > BUSY, &format!("cpu {}", percent(self.cpu)));
        let reached = self.asked_iops.map_or(1.0, |asked| self.iops / asked);
        expert(
            reached < 0.95,
            &format!("IOPS {} of rate_iops", percent(reached)),
        );
        expert(
            self.depth_kept.is_some_and(|kept| kept < LEAST),
            "slat beside clat",
        );
        signs
    }
}

fn sign(holds: bool, shown: Visibility, words: &str) -> Option<Sign> {
    holds.then(|| Sign {
        shown,
        words: words.to_owned(),
    })
}

/// What fio would have printed of this run, each trial a job of its own.
pub fn fio_view(record: &RunRecord) -> FioView {
    let trials: Vec<(&TrialRecord, Lines)> = record.trials.iter().map(|t| (t, lines(t))).collect();
    let mut view = FioView::default();
    if let Some((_, first)) = trials.first() {
        view.headline = first.headline();
    }
    for (_, lines) in &trials {
        for sign in lines.signs() {
            if !view.signs.iter().any(|known| known.words == sign.words) {
                view.signs.push(sign);
            }
        }
    }
    let of_first_row = trials.iter().filter(|(trial, _)| trial.spec.row == 0);
    let rates: Vec<f64> = of_first_row.map(|(_, lines)| lines.iops).collect();
    let (low, high) = rates.iter().fold((f64::MAX, 0.0f64), |(low, high), rate| {
        (low.min(*rate), high.max(*rate))
    });
    view.signs.extend(sign(
        rates.len() > 1 && high > low * (1.0 + REPEAT),
        Visibility::ToAnExpert,
        "the runs differ",
    ));
    let rows = trials.iter().map(|(trial, _)| trial.spec.row).max();
    view.hints.extend(sign(
        rows > Some(0),
        Visibility::ToAnExpert,
        "two runs, compared by hand",
    ));
    let flat = trials
        .first()
        .is_some_and(|(_, lines)| lines.iops_stdev < 0.005 * lines.iops && is_round(lines.iops));
    view.hints.extend(sign(
        flat,
        Visibility::ToAnExpert,
        "iops stdev near 0 at a round number",
    ));
    view
}

/// Two leading digits and nothing behind them, within 0.25 %.
fn is_round(rate: f64) -> bool {
    let step = 10f64.powf(rate.max(1.0).log10().floor() - 1.0);
    let nearest = (rate / step).round() * step;
    (rate / nearest - 1.0).abs() <= 0.0025
}

fn lines(trial: &TrialRecord) -> Lines {
    let samples = &trial.samples;
    let workload = &trial.spec.workload;
    let seconds = samples.iter().map(|s| s.duration_ns).sum::<u64>().max(1) as f64 / 1e9;
    let data = |s: &Sample| s.data_ops() as f64;
    let ops: f64 = samples.iter().map(data).sum();
    let bytes: u64 = samples.iter().flat_map(|s| &s.ops).map(|op| op.bytes).sum();
    let full: Vec<f64> = samples
        .iter()
        .take(samples.len().saturating_sub(1))
        .map(data)
        .collect();
    let (stdev, least) = spread(&full);
    let mut latency = Histogram::new();
    for op in samples.iter().flat_map(|s| &s.ops) {
        if op.kind != OpKind::Sync {
            latency.merge(&op.service);
        }
    }
    let whole = match workload.block {
        BlockSizes::Fixed(bytes) => bytes <= WHOLE_BLOCK,
        _ => false,
    };
    let direct = workload.cache == CacheMode::Direct;
    let cpu = |s: &Sample| s.busiest_worker_cpu_ns as f64 / 1e9;
    let in_flight: f64 = samples.iter().map(|s| s.in_flight_ns as f64 / 1e9).sum();
    let depth = f64::from(workload.queue_depth) * f64::from(workload.workers);
    let asked_iops = workload
        .rate
        .filter(|rate| rate.unit == RateUnit::Ops)
        .map(|rate| rate.per_second);
    let in_memory = trial
        .target_before
        .as_ref()
        .and_then(|target| target.filesystem.as_ref())
        .is_some_and(|filesystem| filesystem.virtual_kind);
    Lines {
        iops: ops / seconds,
        bytes_per_second: bytes as f64 / seconds,
        errors: samples.iter().map(|s| s.errors().total()).sum(),
        iops_stdev: stdev,
        iops_min: least,
        clat_p99_ns: latency.quantile(0.99).unwrap_or(0) as f64,
        clat_max_ns: latency.max().unwrap_or(0) as f64,
        cpu: samples.iter().map(cpu).sum::<f64>() / seconds,
        issued: ops,
        disk_ios: (!in_memory).then(|| disk_ios(trial)),
        comparable: whole && direct && workload.pattern != Pattern::Sequential,
        asked_iops,
        depth_kept: (direct && asked_iops.is_none() && depth > 1.0)
            .then(|| in_flight / seconds / depth),
        refused: direct && trial.end.as_ref().is_some_and(|end| !end.engine.direct),
        interrupted: trial.state == RunState::Interrupted,
    }
}

/// What the disk counted, over the seconds that it was observed.
fn disk_ios(trial: &TrialRecord) -> f64 {
    let leaves = trial.observations.iter().flat_map(|seen| &seen.devices);
    leaves
        .filter(|device| device.leaf)
        .map(|device| (device.reads + device.writes) as f64)
        .sum()
}

/// Standard deviation and smallest.
fn spread(rates: &[f64]) -> (f64, f64) {
    let deviation = Moments::of(rates).and_then(|rates| rates.deviation());
    let least = rates.iter().copied().reduce(f64::min);
    (deviation.unwrap_or(0.0), least.unwrap_or(0.0))
}

#[cfg(test)]
mod tests {
    use super::{Lines, Visibility, clearest};

    fn quiet() -> Lines {
        Lines {
            iops: 1000.0,
            iops_stdev: 20.0,
            iops_min: 950.0,
            clat_p99_ns: 2e6,
            clat_max_ns: 5e6,
            issued: 1e4,
            disk_ios: Some(1e4),
            comparable: true,
            ..Lines::default()
        }
    }

    #[test]
    fn a_quiet_job_raises_no_doubt() {
        assert_eq!(clearest(&quiet().signs()), Visibility::Not);
    }

    #[test]
    fn errors_are_plain_and_a_spread_is_for_experts() {
        let failing = Lines {
            errors: 3,
            ..quiet()
        };
        assert_eq!(clearest(&failing.signs()), Visibility::Plainly);
        let uneven = Lines {
            iops_stdev: 400.0,
            ..quiet()
        };
        let signs = uneven.signs();
        assert_eq!(clearest(&signs), Visibility::ToAnExpert);
        assert_eq!(signs[0].words, "iops stdev 40 % of avg");
    }

    #[test]
    fn a_cache_shows_in_the_disks_own_count_only() {
        let cached = Lines {
            disk_ios: Some(0.0),
            comparable: false,
            ..quiet()
        };
        let signs = cached.signs();
        assert_eq!(signs.len(), 1);
        assert!(signs[0].words.starts_with("disk ios 0 %"), "{signs:?}");
    }
}
