//! Where the level of a series changes.
//!
//! Candidates come from PELT (Killick, Fearnhead & Eckley, *Optimal detection
//! of changepoints with a linear computational cost*, JASA 2012): the exact
//! least-squares segmentation under a penalty of `PENALTY · ln n` times the
//! long-run variance, so that autocorrelation does not make breaks. Then each
//! candidate has to stand on its own: the weakest one is dropped until every
//! step is at least [`LEAST_STEP`] and exceeds its standard error by a factor
//! that grows with √ln n. The error takes the residuals within the segments,
//! with φ corrected for its bias and raised to what is plausible (as in
//! [`crate::effective_size`]). Simulated on AR(1) series with φ from 0 to
//! 0.9 and 60 to 3,600 values, at most 5 % of series without a change show one
//! (`change_point_tests`).

use crate::autocorrelation::inflation;
use crate::long_run_variance::long_run_variance;
use crate::moments::mean;

/// Smallest step on the log scale: 7 %.
pub const LEAST_STEP: f64 = 0.07;
/// Shortest segment in cells, when it is 10 s or the change is large.
const LEAST_CELLS: usize = 3;
/// Length from which a segment needs no large step.
const USUAL_CELLS: usize = 10;
/// Step on the log scale that a shorter segment needs.
const LARGE_STEP: f64 = 0.25;
/// Fewer cells than this do not show that nothing changed: the search finds large
/// steps only.
pub const LEAST_SERIES: usize = 20;
/// Fewer cells than this are not searched.
const LEAST_SEARCHED: usize = 10;
/// Penalty per change over ln n and the long-run variance.
const PENALTY: f64 = 2.0;
/// Threshold of a step over its standard error is this × √(2 ln n).
const THRESHOLD: f64 = 1.25;
/// Deviations (1/√n) by which φ may exceed its estimate.
const PLAUSIBLE_PHI: f64 = 1.5;
/// Noise counts as this much at least, on the log scale. Without any, a series would
/// be cut wherever its last digits differ, and those cuts would crowd out the
/// change; steps of [`LEAST_STEP`] stand far above it in any case.
const LEAST_NOISE: f64 = 0.01;
/// PELT is run on at most so many blocks; a longer series is merged.
const MOST_BLOCKS: usize = 1200;

/// First cells of the segments after the first, ascending; empty without a
/// change. `values` are logarithms of rates.
pub fn change_points(values: &[f64]) -> Vec<usize> {
    let n = values.len();
    if n < LEAST_SEARCHED || values.iter().any(|v| !v.is_finite()) {
        return Vec::new();
    }
    let size = n.div_ceil(MOST_BLOCKS);
    let mut found = segment(&blocks(values, size));
    for at in &mut found {
        *at *= size;
    }
    if size > 1 {
        // A burst at the beginning may be shorter than a block.
        found.extend(segment(&values[..MOST_BLOCKS]));
    }
    found.sort_unstable();
    let prefix = Prefix::of(values);
    for at in &mut found {
        *at = refine(&prefix, *at, 2 * size);
    }
    found.sort_unstable();
    found.dedup();
    // Before the weak ones are dropped: two candidates for one change would share its
    // step between them, and both look weak.
    let found = apart(&prefix, found);
    drop_weak(values, &prefix, found)
}

/// Of changes that came closer to each other, or to an end, than a segment is
/// long, the ones that explain most.
fn apart(prefix: &Prefix, mut found: Vec<usize>) -> Vec<usize> {
    let n = prefix.len();
    found.retain(|at| (LEAST_CELLS..=n - LEAST_CELLS).contains(at));
    while let Some(first) = found.windows(2).position(|w| w[1] - w[0] < LEAST_CELLS) {
        let from = first.checked_sub(1).map_or(0, |before| found[before]);
        let to = found.get(first + 2).copied().unwrap_or(n);
        let cost = |at: usize| prefix.cost(from, at) + prefix.cost(at, to);
        let worse = cost(found[first]) > cost(found[first + 1]);
        found.remove(if worse { first } else { first + 1 });
    }
    found
}

fn blocks(values: &[f64], size: usize) -> Vec<f64> {
    values.chunks(size).filter_map(mean).collect()
}

/// Sums and sums of squares up to each position.
struct Prefix {
    sums: Vec<f64>,
    squares: Vec<f64>,
}

impl Prefix {
    fn of(values: &[f64]) -> Prefix {
        // Around the first value, so that squares keep their digits.
        let origin = values.first().copied().unwrap_or(0.0);
        let running = |f: fn(f64) -> f64| {
            let mut sum = 0.0;
            let rest = values.iter().map(|v| {
                sum += f(v - origin);
                sum
            });
            std::iter::once(0.0).chain(rest).collect()
        };
        Prefix {
            sums: running(|v| v),
            squares: running(|v| v * v),
        }
    }

    fn len(&self) -> usize {
        self.sums.len() - 1
    }

    /// Squared deviations of `from..to` from their mean.
    fn cost(&self, from: usize, to: usize) -> f64 {
        // An empty segment divides by zero: NaN loses every comparison and would let
        // any other segmentation win.
        debug_assert!(from < to, "a segment from {from} to {to}");
        let sum = self.sums[to] - self.sums[from];
        let squares = self.squares[to] - self.squares[from];
        (squares - sum * sum / (to - from) as f64).max(0.0)
    }

    /// Mean of `from..to`, up to the origin.
    fn mean(&self, from: usize, to: usize) -> f64 {
        debug_assert!(from < to, "a segment from {from} to {to}");
        (self.sums[to] - self.sums[from]) / (to - from) as f64
    }
}

/// PELT.
fn segment(values: &[f64]) -> Vec<usize> {
    let n = values.len();
    if n < 2 * LEAST_CELLS {
        return Vec::new();
    }
    let variance = long_run_variance(values).max(LEAST_NOISE * LEAST_NOISE);
    let penalty = PENALTY * (n as f64).ln() * variance;
    let prefix = Prefix::of(values);
    let mut best = vec![f64::INFINITY; n + 1];
    let mut last = vec![0usize; n + 1];
    // The first segment pays no penalty: a penalty is the price of a change.
    best[0] = -penalty;
    let mut starts = vec![0usize];
    for end in LEAST_CELLS..=n {
        if end >= 2 * LEAST_CELLS {
            starts.push(end - LEAST_CELLS);
        }
        for start in &starts {
            let total = best[*start] + prefix.cost(*start, end) + penalty;
            if total < best[end] {
                best[end] = total;
                last[end] = *start;
            }
        }
        // A start that is beaten by the penalty now is beaten for ever.
        let bound = best[end] + penalty;
        starts.retain(|s| end - s < 2 * LEAST_CELLS || best[*s] + prefix.cost(*s, end) <= bound);
    }
    let mut found = Vec::new();
    let mut at = last[n];
    debug_assert!(best[n].is_finite(), "no segmentation reached the end");
    while at > 0 {
        debug_assert!(last[at] < at, "segments begin before they end");
        found.push(at);
        at = last[at];
    }
    found.reverse();
    found
}

/// The split with the least squares near a candidate.
fn refine(prefix: &Prefix, at: usize, reach: usize) -> usize {
    let window = (20 * reach).max(40);
    let from = at.saturating_sub(window);
    let to = (at + window).min(prefix.len());
    let low = at.saturating_sub(reach).max(from + 1);
    let high = (at + reach).min(to.saturating_sub(1));
    (low..=high)
        .min_by(|a, b| {
            let cost = |at: usize| prefix.cost(from, at) + prefix.cost(at, to);
            cost(*a).total_cmp(&cost(*b))
        })
        .unwrap_or(at)
}

/// Drops the weakest change until all stand.
fn drop_weak(values: &[f64], prefix: &Prefix, mut found: Vec<usize>) -> Vec<usize> {
    let n = values.len() as f64;
    let needed = THRESHOLD * (2.0 * n.ln()).sqrt();
    while !found.is_empty() {
        let noise = Noise::within(values, prefix, &found);
        let strength: Vec<f64> = (0..found.len())
            .map(|i| noise.strength(prefix, &found, i) / needed)
            .collect();
        let weakest = (0..found.len()).min_by(|a, b| strength[*a].total_cmp(&strength[*b]));
        match weakest {
            Some(weakest) if strength[weakest] < 1.0 => {
                found.remove(weakest);
            }
            _ => break,
        }
    }
    found
}

/// Noise within segments.
struct Noise {
    /// Variance of single values, all segments together.
    pooled: f64,
    /// Variance of a mean over that of independent values.
    inflation: f64,
    edges: Vec<usize>,
    own: Vec<f64>,
}

impl Noise {
    fn within(values: &[f64], prefix: &Prefix, found: &[usize]) -> Noise {
        let n = values.len();
        let mut edges = vec![0];
        edges.extend_from_slice(found);
        edges.push(n);
        debug_assert!(
            edges.is_sorted_by(|a, b| a < b),
            "each change has a segment on both sides: {edges:?}"
        );
        let (mut squares, mut lagged) = (0.0, 0.0);
        let mut own = Vec::new();
        for pair in edges.windows(2) {
            let segment = &values[pair[0]..pair[1]];
            let mean = mean(segment).unwrap_or(0.0);
            let cost = prefix.cost(pair[0], pair[1]);
            squares += cost;
            own.push(cost / (segment.len() as f64 - 1.0).max(1.0));
            lagged += segment
                .windows(2)
                .map(|w| (w[0] - mean) * (w[1] - mean))
                .sum::<f64>();
        }
        let segments = (edges.len() - 1) as f64;
        let n = n as f64;
        // Each segment's own mean takes a value and pulls the
        // autocorrelation down (Marriott & Pope 1954).
        let measured = if squares > 0.0 { lagged / squares } else { 0.0 };
        let short = n / segments;
        let corrected = (measured + 1.0 / short) / (1.0 - 4.0 / short).max(0.5);
        let phi = (corrected + PLAUSIBLE_PHI / n.sqrt()).clamp(0.0, 0.97);
        let freedom = (n - segments * inflation(phi)).max(0.2 * n);
        Noise {
            pooled: squares / freedom,
            inflation: inflation(phi),
            edges,
            own,
        }
    }

    /// The step at change `index` over its standard error; 0 for steps that
    /// are too small for their segments.
    fn strength(&self, prefix: &Prefix, found: &[usize], index: usize) -> f64 {
        let (from, at, to) = (self.edges[index], found[index], self.edges[index + 2]);
        let (left, right) = (at - from, to - at);
        let step = (prefix.mean(at, to) - prefix.mean(from, at)).abs();
        let shortest = left.min(right);
        if step < LEAST_STEP || (shortest < USUAL_CELLS && step < LARGE_STEP) {
            return 0.0;
        }
        let variance = |length: usize, own: f64| {
            // Short segments do not know their own noise.
            let variance = match length >= USUAL_CELLS {
                true => own.max(0.25 * self.pooled),
                false => own.max(self.pooled),
            };
            variance * (self.inflation / length as f64).min(1.0)
        };
        let error = variance(left, self.own[index]) + variance(right, self.own[index + 1]);
        match error > 0.0 {
            true => step / error.sqrt(),
            false => f64::INFINITY,
        }
    }
}

#[cfg(test)]
#[path = "change_point_tests.rs"]
mod tests;
