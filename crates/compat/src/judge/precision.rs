//! V15, V16, V17, V63, V64: how surely, and for how long?

use crate::results::{ResultDirection, ResultLatency, ResultSeries, SeriesKind};
use fathom_model::unit;
use fathom_model::verdict::FindingStatus;
use fathom_rules::check::v63::{FEW_SAMPLES, LIKE_THE_RATE};
use fathom_rules::{Rule, check};
use fathom_stats::effective_size::{MIN_EFFECTIVE, mean_error};
use fathom_stats::moments::mean;
use fathom_stats::order_statistics::least_samples;
use fathom_stats::student::student_975;

use super::said::Counted;
use super::{Entry, fio_number};
use fathom_analysis::judgement::Outcome;

/// The series of rates of a direction: operations, or else bytes.
pub(super) fn rate_series<'a>(
    entry: &'a Entry<'_>,
    d: &ResultDirection,
) -> Option<&'a ResultSeries> {
    let of = |kind| {
        let own = entry.job.series.iter().filter(move |s| s.kind == kind);
        own.filter(|s| Some(s.direction) == d.kind && s.values.len() > 1)
            .max_by_key(|s| s.values.len())
    };
    of(SeriesKind::Operations).or_else(|| of(SeriesKind::Bandwidth))
}

/// Half the width of the 95 % interval over the mean, and the number of
/// independent intervals.
pub(super) fn spread_of(values: &[f64]) -> Option<(f64, f64)> {
    let mean = mean(values)?;
    let error = mean_error(values)?;
    let half = match error.n_effective >= MIN_EFFECTIVE {
        true => error.half_width,
        false => {
            let cautious = student_975((error.n_effective - 1.0).max(2.0)) * error.likely;
            cautious.min(2.0 * student_975(values.len() as f64 - 1.0) * error.independent)
        }
    };
    let relative = half / mean;
    (mean > 0.0 && relative.is_finite()).then_some((relative, error.n_effective))
}

const NO_LOG: &str = "without a log of the rate only a mean is known";

/// V15: independent intervals in the logs.
pub(super) fn n_eff(entry: &Entry<'_>) -> Option<Outcome> {
    const RULE: &Rule = check::V15;
    let each = entry.job.directions.iter().filter_map(|d| {
        let series = rate_series(entry, d)?;
        Some((d.name(), series.values.len(), spread_of(&series.values)?.1))
    });
    let Some((name, count, n)) = each.min_by(|a, b| a.2.total_cmp(&b.2)) else {
        return Some(Outcome::not_measured(RULE, NO_LOG));
    };
    let evidence = format!("{name}: {count} intervals of the log hold {n:.1} independent ones");
    Some(Outcome::graded(RULE, n, evidence))
}

/// V16: width of the interval, by logs or at least by samples.
pub(super) fn ci_width(entry: &Entry<'_>) -> Option<Outcome> {
    const RULE: &Rule = check::V16;
    let by_log = entry.job.directions.iter().filter_map(|d| {
        let series = rate_series(entry, d)?;
        Some((d.name(), spread_of(&series.values)?.0, series.values.len()))
    });
    if let Some((name, half, count)) = by_log.max_by(|a, b| a.1.total_cmp(&b.1)) {
        let evidence = format!(
            "{name}: the 95 % interval by the log is ± {:.1} % of the mean",
            100.0 * half
        );
        let outcome = Outcome::graded(RULE, half, evidence);
        return Some(match (count as f64) < FEW_SAMPLES {
            true => outcome.at_most(FindingStatus::Info),
            false => outcome,
        });
    }
    let by_samples = entry.job.directions.iter().filter_map(|d| {
        let (half, samples) = sampled(d)?;
        Some((d.name(), half, samples))
    });
    let Some((name, half, samples)) = by_samples.max_by(|a, b| a.1.total_cmp(&b.1)) else {
        return Some(Outcome::not_measured(RULE, NO_LOG));
    };
    let evidence = format!(
        "{name}: at least ± {:.1} % by the spread of {samples:.0} samples, were they independent",
        100.0 * half
    );
    let outcome = Outcome::graded(RULE, half, evidence);
    Some(match samples < FEW_SAMPLES || entry.said.merged {
        true => outcome.at_most(FindingStatus::Info),
        false => outcome,
    })
}

/// Relative half width by the samples that the tool itself took. Samples of
/// single operations, as a log without `log_avg_msec` makes them, are none.
fn sampled(d: &ResultDirection) -> Option<(f64, f64)> {
    let plausible = |mean: f64, rate: Option<f64>| {
        rate.is_some_and(|rate| rate > 0.0 && (mean / rate - 1.0).abs() < LIKE_THE_RATE)
    };
    let spread = match (d.rate_spread, d.bandwidth_spread) {
        (Some(s), _) if plausible(s.mean, d.rate()) => s,
        (_, Some(s)) if plausible(s.mean, d.bytes_per_second) => s,
        _ => return None,
    };
    let half = student_975(spread.samples - 1.0) * spread.deviation / spread.samples.sqrt();
    let relative = half / spread.mean;
    (spread.samples >= 2.0 && relative.is_finite()).then_some((relative, spread.samples))
}

/// The distribution whose percentiles were printed: total, completion.
pub(super) fn percentiles(d: &ResultDirection) -> Option<(&'static str, &ResultLatency)> {
    let stated = |l: &Option<ResultLatency>| l.as_ref().is_some_and(|l| !l.percentiles.is_empty());
    if stated(&d.total) {
        d.total.as_ref().map(|l| ("total", l))
    } else {
        d.completion
            .as_ref()
            .filter(|l| !l.percentiles.is_empty())
            .map(|l| ("completion", l))
    }
}

/// Operations that a percentile (in percent) needs at the very least.
pub(super) fn needed(percent: f64) -> f64 {
    let p = percent / 100.0;
    match p < 1.0 {
        true => least_samples(p.max(1.0 - p)),
        false => f64::MAX,
    }
}

/// V17: printed percentiles that the operations cannot carry.
pub(super) fn pctl_support(entry: &Entry<'_>) -> Option<Outcome> {
    const RULE: &Rule = check::V17;
    let mut stated = 0;
    let mut refused = Vec::new();
    for d in &entry.job.directions {
        let Some((_, latency)) = percentiles(d) else {
            continue;
        };
        let count = latency.count.unwrap_or(d.ops());
        for (percent, _) in latency
            .percentiles
            .iter()
            .filter(|(p, _)| (50.0..100.0).contains(p))
        {
            stated += 1;
            if count < needed(*percent) {
                refused.push(format!("{} p{percent}", d.name()));
            }
        }
    }
    if stated == 0 {
        return Some(Outcome::not_measured(RULE, "no percentiles are stated"));
    }
    let (status, evidence) = match refused.is_empty() {
        true => (
            FindingStatus::Pass,
            "every printed percentile has enough operations behind it".to_owned(),
        ),
        false => (
            FindingStatus::Info,
            format!(
                "printed, but from too few operations: {}",
                refused.join(", ")
            ),
        ),
    };
    let count = refused.len() as f64;
    Some(Outcome::decided(RULE, status, count, RULE.info, evidence))
}

/// V63: seconds measured.
pub(super) fn duration(entry: &Entry<'_>) -> Option<Outcome> {
    const RULE: &Rule = check::V63;
    let from_log = || {
        let series = entry.job.series.iter();
        let spans = series.map(|s| s.values.len() as f64 * s.interval_ns as f64 / 1e9);
        spans.reduce(f64::max)
    };
    Some(match entry.said.seconds().or_else(from_log) {
        Some(seconds) => {
            let evidence = format!("measured for {}", unit::span((seconds * 1e9) as u64));
            Outcome::graded(RULE, seconds, evidence)
        }
        None => Outcome::not_measured(RULE, "the duration is not stated"),
    })
}

/// V64: as long as was asked for?
pub(super) fn full_time(entry: &Entry<'_>) -> Option<Outcome> {
    const RULE: &Rule = check::V64;
    let options = &entry.job.options;
    let asked = fio_number::seconds(options.get("runtime").or(options.get("timeout"))?)?;
    let got = entry.said.seconds()?;
    let steady = entry.job.steady.as_ref().and_then(|s| s.attained) == Some(true);
    if asked <= 0.0 || steady {
        return None;
    }
    let outcome = Outcome::graded(
        RULE,
        got / asked,
        format!("ran for {got:.1} of the {asked:.0} s requested"),
    );
    // Without time_based a job ends when its size is done, as it should.
    Some(match options.contains_key("time_based") {
        true => outcome,
        false => outcome.at_most(FindingStatus::Info),
    })
}
