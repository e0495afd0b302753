//! Percentiles from merged histograms, with intervals that know that slow
//! operations cluster.
//!
//! A percentile is supported when its two-sided 95 % upper bound exists, that
//! is from n ≥ ln(0.025)/ln(p) independent operations (368 for p99). How many
//! independent operations N recorded ones are worth is a question of survey
//! sampling: seconds are clusters. For the tail indicator "slower than the
//! percentile" the design effect (Kish, *Survey Sampling*, 1965) is
//!
//! ```text
//! D = Var(Σ residuals) / (N · share · (1 − share)),
//! residual of a second = its slow operations − share × its operations
//! ```
//!
//! with the variance corrected for autocorrelation between seconds
//! ([`fathom_stats::effective_size`]); n_eff = N / max(D, 1). D covers both bursts inside a
//! second and slow spells of many seconds. The value needs n_eff; the interval
//! inverts the order-statistic test at n_eff (Woodruff 1952), with the error at
//! the upper end of the plausible autocorrelation and widened for the few
//! seconds that D itself comes from (t² / 1.96²). Under 30 seconds the value is
//! held against the spread of the seconds alone: it is a fact of the run, and
//! only the interval says something about the system. Where there are ten blocks
//! of 2τ or more, the interval also covers a block bootstrap of the seconds.
//! Iterations of a row are clusters once more: from three trials on the
//! variance between them counts where it is larger.

use fathom_model::estimate::{Estimate, Unit};
use fathom_model::histogram::{Histogram, bucket_of, bucket_range};
use fathom_model::judged::{LatencySummary, Percentile};
use fathom_model::unit;
use fathom_rules::check::v17::{ENOUGH_SECONDS, LEAST_TRIALS};
use fathom_stats::effective_size::mean_error;
use fathom_stats::moments::Moments;
use fathom_stats::order_statistics::{NORMAL_975, least_samples, order_levels};
use fathom_stats::student::student_975;

use super::cells::{Cells, SecondHistograms};
use super::ratio::{RatioPart, is_too_wide, longer_for, over_trials};

/// The percentiles that are reported.
pub(crate) const PERCENTS: [f64; 6] = [50.0, 90.0, 95.0, 99.0, 99.9, 99.99];

/// Latencies of one kind of operation: second by second, of one or more trials.
pub(crate) struct Latencies<'a> {
    seconds: Vec<SecondHistograms<'a>>,
    /// Which trial a second belongs to, ascending from 0.
    trial_of_second: Vec<usize>,
    merged: Histogram,
    measured_ns: u64,
}

/// What the recorded operations are worth for one percentile.
struct Worth {
    /// Independent operations, for the value.
    support: f64,
    /// The same for the interval, which is more careful. `None` for a single
    /// second.
    interval: Option<f64>,
    /// Autocorrelation time of the tail in seconds.
    tau: f64,
}

impl<'a> Latencies<'a> {
    /// `trials` holds the seconds of each trial; `measured_ns` is how long
    /// they are together.
    pub(crate) fn new(trials: Vec<Vec<SecondHistograms<'a>>>, measured_ns: u64) -> Self {
        let mut merged = Histogram::new();
        let mut trial_of_second = Vec::new();
        for (trial, seconds) in trials.iter().enumerate() {
            trial_of_second.extend(seconds.iter().map(|_| trial));
            for histogram in seconds.iter().flatten() {
                merged.merge(histogram);
            }
        }
        Latencies {
            seconds: trials.into_iter().flatten().collect(),
            trial_of_second,
            merged,
            measured_ns,
        }
    }

    /// All latencies together.
    pub(crate) fn merged(&self) -> &Histogram {
        &self.merged
    }

    /// The distribution in numbers.
    pub(crate) fn summary(&self) -> LatencySummary {
        LatencySummary {
            count: self.merged.count(),
            min_ns: self.merged.min(),
            max_ns: self.merged.max(),
            mean_ns: self.mean(),
            percentiles: self.percentiles(),
        }
    }

    /// Of each second the operations that took longer than this, and all of them.
    pub(crate) fn slower_than(&self, bound_ns: u64) -> Vec<(f64, f64)> {
        let of = |second: &SecondHistograms<'_>| {
            let slow: u64 = second.iter().map(|h| h.count_above(bound_ns)).sum();
            let all: u64 = second.iter().map(|h| h.count()).sum();
            (slow as f64, all as f64)
        };
        self.seconds.iter().map(of).collect()
    }

    fn trials(&self) -> usize {
        self.trial_of_second.last().map_or(0, |last| last + 1)
    }

    fn mean(&self) -> Estimate {
        let unit = Unit::Nanoseconds;
        let mut trials = vec![Vec::new(); self.trials()];
        for (second, trial) in self.seconds.iter().zip(&self.trial_of_second) {
            trials[*trial].push(latency_part(second));
        }
        over_trials(&trials, unit, self.measured_ns)
            .unwrap_or_else(|| Estimate::unknown(unit, "no operation completed"))
    }

    fn percentiles(&self) -> Vec<Percentile> {
        let quantiles = PERCENTS.map(|percent| percent / 100.0);
        let marks: Vec<usize> = quantiles
            .iter()
            .filter_map(|q| self.merged.quantile(*q).map(bucket_of))
            .collect();
        let cells = Cells::new(&self.seconds, &self.merged, &marks);
        let worths = quantiles.map(|q| self.worth(&cells, q));
        let slowest = worths.iter().map(|w| w.tau).fold(1.0, f64::max);
        let spread = cells.bootstrap(&quantiles, 2.0 * slowest);
        let mut percentiles: Vec<Percentile> = PERCENTS
            .iter()
            .enumerate()
            .map(|(i, percent)| Percentile {
                percent: *percent,
                latency_ns: self.estimate(*percent, &worths[i], spread.as_ref().map(|s| s[i])),
            })
            .collect();
        self.show_below_what_is_known(&mut percentiles);
        let estimates = percentiles.iter_mut().map(|p| &mut p.latency_ns);
        no_less_for_higher_ones(estimates);
        percentiles
    }

    /// Gives every percentile below one that has a value a value of its own. Where the
    /// rate goes up and down, seconds beside one another resemble each other more in
    /// their median than in their tail; then the median has no interval, but it is what
    /// half of the operations took.
    fn show_below_what_is_known(&self, percentiles: &mut [Percentile]) {
        let known = |p: &Percentile| p.latency_ns.value.is_some();
        let highest = percentiles.iter().rposition(known).unwrap_or(0);
        for below in percentiles[..highest].iter_mut().filter(|p| !known(p)) {
            let Some(value) = self.merged.quantile(below.percent / 100.0) else {
                continue;
            };
            let reason = format!(
                "the seconds differ too much to say how far p{} is from its value",
                below.percent
            );
            let unbounded = Estimate::point(Unit::Nanoseconds, value as f64, reason);
            below.latency_ns = Estimate {
                n_effective: below.latency_ns.n_effective,
                run_longer_ns: below.latency_ns.run_longer_ns,
                ..unbounded
            };
        }
    }

    fn worth(&self, cells: &Cells, quantile: f64) -> Worth {
        let total = self.merged.count() as f64;
        let plain = Worth {
            support: total,
            interval: (self.seconds.len() > 1).then_some(total),
            tau: 1.0,
        };
        let Some(value) = self.merged.quantile(quantile) else {
            return plain;
        };
        // The bucket of the percentile may hold much of the distribution; the
        // edge whose tail is nearer to the wanted share stands for it.
        let cell = cells.cell_of(bucket_of(value));
        let share_from = |tails: &[(f64, f64)]| tails.iter().map(|t| t.0).sum::<f64>() / total;
        let (from, above) = (cells.tails(cell), cells.tails(cell + 1));
        let wanted = 1.0 - quantile;
        let (from_share, above_share) = (share_from(&from), share_from(&above));
        let nearer_above = (above_share - wanted).abs() < (from_share - wanted).abs();
        let (tails, share) = match nearer_above && above_share > 0.0 || from_share >= 1.0 {
            true => (above, above_share),
            false => (from, from_share),
        };
        let independent = total * share * (1.0 - share);
        if !(share > 0.0 && share < 1.0 && independent > 0.0) {
            return plain;
        }
        let mut residuals: Vec<f64> = tails.iter().map(|t| t.0 - share * t.1).collect();
        let between = self.between_trials(&mut residuals);
        let Some(error) = mean_error(&residuals) else {
            return plain;
        };
        let count = residuals.len() as f64;
        let effect = |se: f64| ((count * se).powi(2) / independent).max(1.0);
        let widen = (student_975(error.n_effective - 1.0) / NORMAL_975).powi(2);
        // The autocorrelation of few seconds is a guess, their spread is not.
        let mut support = total
            / match residuals.len() < ENOUGH_SECONDS {
                true => effect(error.independent),
                false => effect(error.likely),
            };
        let mut interval = total / (effect(error.upper) * widen);
        if let Some(between) = between {
            let effect = (between / independent).max(1.0);
            let widen = (student_975(self.trials() as f64 - 1.0) / NORMAL_975).powi(2);
            support = support.min(total / effect);
            interval = interval.min(total / (effect * widen));
        }
        Worth {
            support,
            interval: Some(interval),
            tau: error.tau,
        }
    }

    /// Variance of the sum of residuals as the trials show it. The residuals
    /// keep what varies within trials.
    fn between_trials(&self, residuals: &mut [f64]) -> Option<f64> {
        let trials = self.trials();
        if trials < LEAST_TRIALS {
            return None;
        }
        let mut sums = vec![(0.0, 0.0); trials];
        for (residual, trial) in residuals.iter().zip(&self.trial_of_second) {
            sums[*trial].0 += residual;
            sums[*trial].1 += 1.0;
        }
        for (residual, trial) in residuals.iter_mut().zip(&self.trial_of_second) {
            *residual -= sums[*trial].0 / sums[*trial].1;
        }
        let sums: Vec<f64> = sums.into_iter().map(|(sum, _)| sum).collect();
        Some(Moments::of(&sums)?.variance()? * trials as f64)
    }

    /// How much longer to measure for this percentile with its interval. What
    /// a few seconds say about clustering is too vague to extrapolate from, so
    /// there the hint is to have enough seconds first.
    fn longer(&self, need: f64, worth: &Worth) -> u64 {
        let have = match (self.seconds.len() < ENOUGH_SECONDS, worth.interval) {
            (false, Some(interval)) if worth.support >= need => interval,
            _ => worth.support,
        };
        let missing = ENOUGH_SECONDS.saturating_sub(self.seconds.len()) as u64 * 1_000_000_000;
        let scaled = match have < need {
            true => longer_for(self.measured_ns, need, have),
            false => 1_000_000_000,
        };
        missing.max(scaled)
    }

    fn estimate(&self, percent: f64, worth: &Worth, spread: Option<(u64, u64)>) -> Estimate {
        let unit = Unit::Nanoseconds;
        let quantile = percent / 100.0;
        let need = least_samples(quantile);
        let count = self.merged.count();
        let Some(value) = self.merged.quantile(quantile) else {
            return Estimate::unknown(unit, "no operation completed");
        };
        let worth_text = too_few(percent, need, count, worth.support);
        let longer = self.longer(need, worth);
        if worth.support < need {
            let mut estimate = Estimate::unknown(unit, worth_text).run_longer(longer);
            estimate.n_effective = Some(worth.support);
            return estimate;
        }
        let point = |reason: String| {
            let mut estimate = Estimate::point(unit, value as f64, reason).run_longer(longer);
            estimate.n_effective = Some(worth.support);
            estimate
        };
        let Some(careful) = worth.interval else {
            return point("one second cannot show how slow operations cluster".to_owned());
        };
        let Some((lower, upper)) = order_levels(careful, quantile) else {
            return point(format!(
                "{} seconds are too few to bound p{percent} from above",
                self.seconds.len()
            ));
        };
        let edge = |level: f64| {
            self.merged
                .quantile(level)
                .map_or((value, value), |v| bucket_range(bucket_of(v)))
        };
        let (mut low, mut high) = (edge(lower).0, edge(upper).1);
        if let Some((from, to)) = spread {
            (low, high) = (low.min(from), high.max(to));
        }
        let exact = (
            self.merged.min().unwrap_or(0),
            self.merged.max().unwrap_or(u64::MAX),
        );
        let within = |v: u64| v.clamp(exact.0, exact.1) as f64;
        if is_too_wide(value as f64, (within(high) - within(low)) / 2.0) {
            return point(format!(
                "an interval would be wider than p{percent} itself: slow operations came in clusters"
            ));
        }
        let value = value as f64;
        Estimate::known(
            unit,
            value,
            within(low).min(value),
            within(high).max(value),
            worth.support,
        )
    }
}

/// Why a percentile is missing. Operations that were slow at the same time tell little more
/// than one of them would.
fn too_few(percent: f64, need: f64, count: u64, support: f64) -> String {
    let (need, support) = (need.ceil() as u64, support.floor() as u64);
    let (needed, all) = (unit::group(need), unit::group(count));
    if count < need {
        return format!("p{percent} takes {needed} operations; these are {all}");
    }
    format!(
        "p{percent} takes {needed} independent operations; many of these {all} were slow at the \
         same time, so they count as {}",
        unit::group(support)
    )
}

/// What lets a percentile be known lets all lower ones be known. How clustered the
/// tail of each is was guessed separately, so the times still needed are made to
/// agree: a higher percentile never needs less.
fn no_less_for_higher_ones<'a>(estimates: impl Iterator<Item = &'a mut Estimate>) {
    let mut longest_ns = 0;
    for estimate in estimates {
        if let Some(longer_ns) = &mut estimate.run_longer_ns {
            longest_ns = longest_ns.max(*longer_ns);
            *longer_ns = longest_ns;
        }
    }
}

fn latency_part(second: &SecondHistograms<'_>) -> RatioPart {
    RatioPart {
        numerator: second.iter().map(|h| h.sum() as f64).sum(),
        denominator: second.iter().map(|h| h.count() as f64).sum(),
    }
}

#[cfg(test)]
#[path = "percentile_tests.rs"]
mod tests;
