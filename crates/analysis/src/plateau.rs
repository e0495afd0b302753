//! A provisioned or configured limit shows as a plateau: the rate does not
//! move, and the operations that do not fit wait.
//!
//! A healthy drive can be steady as well, so a cap is named only where caps
//! exist (a virtual machine, a simulated drive, storage that others serve), in
//! a closed loop at depth 2 or more with the depth kept (an open loop that is due more
//! than it gets keeps its queue as full), on 20 seconds or more
//! whose coefficient of variation is below 0.5 %, with a latency that Little's
//! law puts at depth over rate; and then only with one of three signs of a hand:
//!
//! - the rate is within 0.25 % of a figure that people choose (after faster writes that is
//!   no sign: a cache that filled up leaves a level as well);
//! - over a minute of random access or more the rate is not merely steady but
//!   held to a line. The service times of a device are random, so its count of
//!   operations wanders off a straight line (a random walk); a limiter pays
//!   every deficit back. The test is the lower tail of the Cramér-von Mises
//!   statistic of the bridge of the seconds' deviations (Kwiatkowski and others
//!   1992 use its upper tail for the opposite question); 0.0173 is its 0.1 %
//!   quantile for independent seconds. After faster writes this is no sign either;
//! - random reads that were faster until then: a device has no credit of reads to spend.
//!   Some seconds are enough there, if they scatter less than those of devices do.
//!
//! A burst before the plateau (credits being spent) is set aside: the longest
//! flat end of the trial is judged.

use fathom_model::fingerprint::DeviceFacts;
use fathom_model::op::OpKind;
use fathom_model::unit;
use fathom_rules::method::held_by_a_cap::{
    CREDIT_RATIO, LATENCY_FIT, LEAST_AFTER_CREDITS, LEAST_BURST, LEAST_SECONDS, LINE_QUANTILE,
    LINE_SECONDS, MOST_SCATTER, NEAR_A_LINE, ROUNDNESS, TELLING_SECONDS,
    THRESHOLD as LARGEST_VARIATION,
};
use fathom_rules::{TargetKind, check};
use fathom_stats::moments::{Moments, mean};

use crate::checks::{asks_all_the_time, depth_kept};
use crate::trial::{Second, Trial, add, data_kinds};

const ROUND: [f64; 8] = [1.0, 1.5, 2.0, 2.5, 3.0, 4.0, 5.0, 7.5];
/// Binary steps of throughput that providers sell, in MiB/s.
const ROUND_MIB: [f64; 9] = [
    100.0, 125.0, 128.0, 200.0, 250.0, 256.0, 500.0, 512.0, 1000.0,
];

/// The evidence for a cap, when there is one.
pub(crate) fn plateau(trial: &Trial<'_>) -> Option<String> {
    if !caps_exist(trial) || !asks_all_the_time(trial) {
        return None;
    }
    if trial.total_depth() < 2 || depth_kept(trial)? < check::v20::CAVEAT {
        return None;
    }
    let flat = Flat::of(trial)?;
    let depth = trial.total_depth() as f64;
    let expected = depth / flat.ops * 1e9;
    if (flat.latency_ns / expected - 1.0).abs() > LATENCY_FIT {
        return None;
    }
    let long = flat.rates.len() >= LEAST_SECONDS;
    // The own rate of a device may happen to be a round figure.
    let by_chance = a_line_would_show(trial) && !flat.near_a_line();
    // Writes that were faster until a cache was full settle at what lies behind it.
    let filled = flat.burst.is_some() && trial.devices_are_modified();
    let round = round_figure(flat.ops, flat.bytes).filter(|_| long && !by_chance && !filled);
    let (figure, sign) = match round {
        Some(figure) => (figure, "a round figure"),
        None if trial.workload.pattern.is_random() && !filled && flat.held_to_a_line() => (
            format!("{} ops/s", unit::count(flat.ops)),
            "every deficit was made up for",
        ),
        None if flat.after_credits(trial) => (
            format!("{} ops/s", unit::count(flat.ops)),
            "no device has a credit of random reads to spend",
        ),
        None => return None,
    };
    let burst = flat.burst.as_ref().map(|(seconds, ratio)| {
        let (burst, credit) = (ratio * flat.ops, (ratio - 1.0) * flat.ops * *seconds as f64);
        format!(
            " after {seconds} s of a burst at {ratio:.1} times the rate, {} ops/s: a credit of at \
             least {} operations, which comes back at no more than {} ops/s",
            unit::count(burst),
            unit::count(credit),
            unit::count(flat.ops),
        )
    });
    Some(format!(
        "a flat plateau at {figure}{} (variation {:.2} % over {} s, {sign}) with a mean latency \
         of {}, as a queue of {} before a limit has",
        burst.unwrap_or_default(),
        100.0 * flat.variation,
        flat.rates.len(),
        unit::latency(flat.latency_ns),
        unit::group(trial.total_depth()),
    ))
}

/// Why saturation alone cannot tell device from cap, where it cannot: caps exist here,
/// and the rate is flatter than devices usually are, or the trial too short to show its
/// scatter. Where the access is random and the seconds are many, a rate held by a cap
/// would have shown as one: there it is the device.
pub(crate) fn may_be_capped(trial: &Trial<'_>) -> Option<&'static str> {
    if !caps_exist(trial) || a_line_would_show(trial) {
        return None;
    }
    let rates: Vec<f64> = whole_seconds(trial).iter().map(|s| rate(s)).collect();
    let scatter = Moments::of(&rates).and_then(|m| Some((m.mean, m.deviation()?)));
    let Some((mean, deviation)) = scatter else {
        return Some("the trial is too short to tell device and cap apart");
    };
    let device = (MOST_SCATTER * mean).sqrt();
    (deviation < LARGEST_VARIATION * mean && deviation < device).then_some(
        "the rate is as steady as a cap would make it, and device and cap are not told apart",
    )
}

/// Whether a rate that a cap holds would have shown as one: at random, and long enough.
pub(crate) fn a_line_would_show(trial: &Trial<'_>) -> bool {
    trial.workload.pattern.is_random() && whole_seconds(trial).len() + 1 >= TELLING_SECONDS
}

/// Whether caps are usual here: a virtual machine, a simulated drive, storage that
/// another host or program serves.
pub(crate) fn caps_exist(trial: &Trial<'_>) -> bool {
    let guest = trial.host.virtualization.as_deref();
    let served = matches!(
        trial.kind,
        TargetKind::Sim | TargetKind::Network | TargetKind::Stacked
    );
    served || guest.is_some_and(|v| v != "none") || on_a_remote_device(trial)
}

fn on_a_remote_device(trial: &Trial<'_>) -> bool {
    let remote = |device: &DeviceFacts| {
        let link = device.facts.get("transport").map_or("", String::as_str);
        matches!(device.kind.as_str(), "nbd" | "rbd" | "drbd")
            || matches!(link, "iscsi" | "fc" | "tcp" | "rdma")
    };
    let devices = trial.record.target_before.iter().flat_map(|t| &t.devices);
    devices.into_iter().any(remote)
}

/// The longest flat end of a trial.
struct Flat {
    rates: Vec<f64>,
    variation: f64,
    ops: f64,
    bytes: f64,
    latency_ns: f64,
    /// Seconds before it, and how much faster they were.
    burst: Option<(usize, f64)>,
}

impl Flat {
    fn of(trial: &Trial<'_>) -> Option<Flat> {
        let seconds = whole_seconds(trial);
        let rates: Vec<f64> = seconds.iter().map(|s| rate(s)).collect();
        let after_credits = || flat_from(&rates, LEAST_AFTER_CREDITS).filter(|start| *start > 0);
        let start = flat_from(&rates, LEAST_SECONDS).or_else(after_credits)?;
        let burst = match start {
            0 => None,
            _ => {
                let ratio = mean(&rates[..start])? / mean(&rates[start..])?;
                // Slower at first is no burst: then nothing is understood.
                Some((start, ratio)).filter(|(_, ratio)| *ratio >= LEAST_BURST)
            }
        };
        if start > 0 && burst.is_none() {
            return None;
        }
        let flat = &seconds[start..];
        let length_ns: f64 = flat.iter().map(|s| s.duration_ns as f64).sum();
        let bytes: f64 = flat.iter().map(|s| amount(s, |op| op.bytes)).sum();
        let ops: f64 = flat.iter().map(|s| amount(s, |op| op.ops)).sum();
        Some(Flat {
            variation: variation(&rates[start..])?,
            rates: rates[start..].to_vec(),
            ops: ops / length_ns * 1e9,
            bytes: bytes / length_ns * 1e9,
            latency_ns: mean_latency(flat)?,
            burst,
        })
    }

    /// Whether reads at random were clearly faster before, and since then hardly scatter.
    fn after_credits(&self, trial: &Trial<'_>) -> bool {
        let reads = trial.workload.pattern.is_random() && !trial.devices_are_modified();
        let spent = self.burst.is_some_and(|(_, ratio)| ratio >= CREDIT_RATIO);
        let deviation = self.variation * self.ops;
        reads && spent && deviation.powi(2) < MOST_SCATTER * self.ops
    }

    fn held_to_a_line(&self) -> bool {
        self.rates.len() >= LINE_SECONDS
            && bridge(&self.rates).is_some_and(|value| value < LINE_QUANTILE)
    }

    /// Whether the rate could be held to a line; hardly so where nothing holds it.
    fn near_a_line(&self) -> bool {
        self.rates.len() < LINE_SECONDS
            || bridge(&self.rates).is_some_and(|value| value < NEAR_A_LINE)
    }
}

/// Where the longest flat end begins: the whole is tried first, then ever
/// shorter ends, in steps of a second, down to the least length.
fn flat_from(rates: &[f64], least_seconds: usize) -> Option<usize> {
    let last = rates.len().checked_sub(least_seconds)?;
    // Very long trials are tried in larger steps: the rest stays flat.
    let step = (last / 1000).max(1);
    (0..=last)
        .step_by(step)
        .find(|start| variation(&rates[*start..]).is_some_and(|v| v < LARGEST_VARIATION))
}

/// Cramér-von Mises statistic of the bridge: n⁻² Σ Sₜ² over the variance, with
/// Sₜ the sums of deviations from the mean. `None` when nothing varies.
fn bridge(values: &[f64]) -> Option<f64> {
    let Moments {
        count: n,
        mean,
        squares,
    } = Moments::of(values)?;
    let mut sum = 0.0;
    let area: f64 = values
        .iter()
        .map(|v| {
            sum += v - mean;
            sum * sum
        })
        .sum();
    let value = area / (n * squares);
    (squares > (mean * 1e-9).powi(2) * n).then_some(value)
}

/// The seconds of the measure phase without the last, in which workers end.
fn whole_seconds<'t, 'a>(trial: &'t Trial<'a>) -> Vec<&'t Second<'a>> {
    let count = trial.measured().count();
    let whole = trial.measured().take(count.saturating_sub(1));
    whole.filter(|s| s.duration_ns > 0).collect()
}

fn amount(second: &Second<'_>, field: fn(&fathom_model::OpSample) -> u64) -> f64 {
    add(data_kinds().flat_map(|kind| second.ops(kind)).map(field)) as f64
}

fn rate(second: &Second<'_>) -> f64 {
    amount(second, |op| op.ops) / second.duration_ns as f64 * 1e9
}

/// Coefficient of variation.
fn variation(rates: &[f64]) -> Option<f64> {
    let moments = Moments::of(rates).filter(|moments| moments.mean > 0.0)?;
    moments
        .variation()
        .filter(|variation| variation.is_finite())
}

/// Mean service latency of the data operations.
pub(crate) fn mean_latency(seconds: &[&Second<'_>]) -> Option<f64> {
    let sum = |kind: OpKind| {
        let ops = seconds.iter().flat_map(move |s| s.ops(kind));
        ops.fold((0.0, 0.0), |(sum, count), op| {
            (
                sum + op.service.sum() as f64,
                count + op.service.count() as f64,
            )
        })
    };
    let (total, count) = data_kinds()
        .map(sum)
        .fold((0.0, 0.0), |a, b| (a.0 + b.0, a.1 + b.1));
    (count > 0.0).then(|| total / count)
}

fn round_figure(ops: f64, bytes: f64) -> Option<String> {
    let near = |value: f64, round: f64| (value / round - 1.0).abs() <= ROUNDNESS;
    let decimal = |value: f64| {
        let decade = 10f64.powf(value.log10().floor());
        ROUND
            .iter()
            .map(|r| r * decade)
            .chain([10.0 * decade])
            .find(|round| near(value, *round))
    };
    if let Some(round) = decimal(ops).filter(|r| *r >= 100.0) {
        return Some(format!("{} ops/s", unit::count(round)));
    }
    let mib = bytes / 1_048_576.0;
    if let Some(round) = ROUND_MIB.iter().find(|r| near(mib, **r)) {
        return Some(format!("{round} MiB/s"));
    }
    decimal(bytes / 1e6)
        .filter(|r| *r >= 10.0)
        .map(|round| format!("{round} MB/s"))
}

#[cfg(test)]
#[path = "plateau_tests.rs"]
mod tests;
