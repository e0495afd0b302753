//! The universal scalability law through measured rates, with intervals.
//!
//! Rates scatter by a share of themselves and drift over hours. So the
//! logarithm is fitted, and every block (all numbers of hosts once, close in
//! time) has a level of its own: ln X = level(block) + ln N − ln d(N) with
//! d(N) = 1 + σ(N − 1) + κN(N − 1). What is left is an ordinary non-linear
//! least-squares problem in σ and κ. Intervals are profile intervals: all
//! values of one parameter for which the best fit with that value is not
//! worse than Student's t allows (Bates and Watts, *Nonlinear Regression
//! Analysis*, 6.1); they stay honest where the parameter is near the edge and
//! its error is skewed. A simulation test shows their coverage.

use fathom_rules::method::scale::{LARGEST as MOST, LEAST_COST, LEAST_NUMBERS, NEGATIVE};
use fathom_stats::moments::mean;
use fathom_stats::student::student_975;

/// The law through the rates of some blocks.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Fit {
    pub(super) lambda: f64,
    pub(super) sigma: Range,
    pub(super) kappa: Range,
    /// Standard deviation of the logarithms about the law; `None` without
    /// anything to spare.
    pub(super) scatter: Option<f64>,
}

/// A parameter and its 95 % interval.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Range {
    pub(super) value: f64,
    pub(super) interval: Option<(f64, f64)>,
    /// Observations beyond those that the parameters used up.
    pub(super) spare: usize,
}

impl Range {
    /// Whether the data leave it open on one side.
    pub(super) fn is_endless(&self) -> bool {
        let ends = self
            .interval
            .is_some_and(|(low, high)| low.is_finite() && high.is_finite());
        self.interval.is_some() && !ends
    }

    /// Below 0 as far as the data can say: with its whole interval, or by its
    /// value where there is no interval. Contention and coherency are costs, so
    /// the law does not describe such data.
    pub(super) fn is_negative(&self) -> bool {
        let most = self.interval.map_or(self.value, |(_, high)| high);
        most < NEGATIVE
    }
}

/// Fits the law to the rates of complete blocks: `rates[block][number]`.
/// `None` with fewer than three numbers, no block, or a rate that is not above
/// 0.
pub(super) fn fit(numbers: &[f64], rates: &[Vec<f64>]) -> Option<Fit> {
    let usable = |block: &&Vec<f64>| {
        block.len() == numbers.len() && block.iter().all(|x| x.is_finite() && *x > 0.0)
    };
    let blocks: Vec<&Vec<f64>> = rates.iter().filter(usable).collect();
    if numbers.len() < LEAST_NUMBERS || blocks.is_empty() {
        return None;
    }
    let data = Data::of(numbers, &blocks);
    let start = data.start();
    let best = data.best(start, [true, true]);
    let spare = (blocks.len() * numbers.len()).saturating_sub(blocks.len() + 2);
    let least = data.misfit(best) + data.within;
    let range = |of: usize| Range {
        value: best[of],
        interval: (spare > 0).then(|| data.profile(best, of, least, spare)),
        spare,
    };
    let level = data.level + centre(&data.costs(best)?);
    Some(Fit {
        lambda: level.exp(),
        sigma: range(0),
        kappa: range(1),
        scatter: (spare > 0).then(|| (least / spare as f64).sqrt()),
    })
}

/// σ and κ.
type Point = [f64; 2];

struct Data {
    numbers: Vec<f64>,
    /// Mean over the blocks of ln(X/N), less its own mean over the numbers.
    means: Vec<f64>,
    /// The mean that was taken off.
    level: f64,
    blocks: f64,
    /// Squares within numbers, which no law explains.
    within: f64,
}

impl Data {
    fn of(numbers: &[f64], blocks: &[&Vec<f64>]) -> Data {
        let logs: Vec<Vec<f64>> = blocks
            .iter()
            .map(|block| {
                block
                    .iter()
                    .zip(numbers)
                    .map(|(x, n)| (x / n).ln())
                    .collect()
            })
            .collect();
        let levels: Vec<f64> = logs.iter().map(|block| centre(block)).collect();
        let count = logs.len() as f64;
        let of_number = |at: usize| {
            logs.iter()
                .zip(&levels)
                .map(move |(block, l)| block[at] - l)
        };
        let means: Vec<f64> = (0..numbers.len())
            .map(|at| of_number(at).sum::<f64>() / count)
            .collect();
        let within = (0..numbers.len())
            .flat_map(|at| of_number(at).map(move |x| (at, x)).collect::<Vec<_>>())
            .map(|(at, x)| (x - means[at]).powi(2))
            .sum();
        Data {
            numbers: numbers.to_vec(),
            means,
            level: centre(&levels),
            blocks: count,
            within,
        }
    }

    /// ln d(N) of every number; `None` where a cost is not above 0.
    fn costs(&self, at: Point) -> Option<Vec<f64>> {
        let cost = |n: &f64| 1.0 + at[0] * (n - 1.0) + at[1] * n * (n - 1.0);
        let costs: Vec<f64> = self.numbers.iter().map(cost).collect();
        let possible = costs.iter().all(|d| d.is_finite() && *d > LEAST_COST);
        possible.then(|| costs.into_iter().map(f64::ln).collect())
    }

    /// Residuals of the means; `None` where the law is not possible.
    fn residuals(&self, at: Point) -> Option<Vec<f64>> {
        let costs = self.costs(at)?;
        let middle = centre(&costs);
        let both = self.means.iter().zip(costs);
        Some(both.map(|(mean, cost)| mean + cost - middle).collect())
    }

    fn misfit(&self, at: Point) -> f64 {
        let residuals = self.residuals(at);
        residuals.map_or(f64::INFINITY, |r| {
            self.blocks * r.iter().map(|x| x * x).sum::<f64>()
        })
    }

    /// The law is a straight line in N/X: 1/λ + (σ/λ)(N − 1) + (κ/λ)N(N − 1).
    /// Its weighted solution is where the search begins.
    fn start(&self) -> Point {
        let mut normal = [[0.0; 4]; 3];
        for (n, mean) in self.numbers.iter().zip(&self.means) {
            let y = (-mean).exp();
            let row = [1.0, n - 1.0, n * (n - 1.0)].map(|v| v / y);
            for (i, a) in row.iter().enumerate() {
                for (j, b) in row.iter().enumerate() {
                    normal[i][j] += a * b;
                }
                normal[i][3] += a;
            }
        }
        let solved = solve(normal).filter(|x| x[0] > 0.0);
        let start = solved.map_or([0.0, 0.0], |x| [x[1] / x[0], x[2] / x[0]]);
        match self.costs(start) {
            Some(_) => start,
            None => [0.0, 0.0],
        }
    }

    /// Gauss and Newton with a damping that grows until a step is a gain
    /// (Levenberg and Marquardt), in those parameters that are free.
    fn best(&self, start: Point, free: [bool; 2]) -> Point {
        let (mut at, mut misfit, mut damping) = (start, self.misfit(start), 1e-3);
        for _ in 0..200 {
            let Some(step) = self.step(at, free, damping) else {
                return at;
            };
            let next = [
                (at[0] + step[0]).clamp(-MOST, MOST),
                (at[1] + step[1]).clamp(-MOST, MOST),
            ];
            let there = self.misfit(next);
            if there <= misfit {
                let gain = misfit - there;
                (at, misfit) = (next, there);
                damping = f64::max(damping / 8.0, 1e-12);
                if gain <= 1e-13 * misfit.max(1e-18) {
                    return at;
                }
            } else {
                damping *= 8.0;
                if damping > 1e12 {
                    return at;
                }
            }
        }
        at
    }

    fn step(&self, at: Point, free: [bool; 2], damping: f64) -> Option<Point> {
        let residuals = self.residuals(at)?;
        let costs = self.costs(at)?;
        let slope = |of: usize| -> Vec<f64> {
            let each = self.numbers.iter().zip(&costs);
            let raw = each.map(|(n, cost)| match of {
                0 => (n - 1.0) / cost.exp(),
                _ => n * (n - 1.0) / cost.exp(),
            });
            let raw: Vec<f64> = raw.collect();
            let middle = centre(&raw);
            raw.into_iter().map(|x| x - middle).collect()
        };
        let slopes = [slope(0), slope(1)];
        let dot = |a: &[f64], b: &[f64]| -> f64 { a.iter().zip(b).map(|(a, b)| a * b).sum() };
        let toward = [0, 1].map(|of| match free[of] {
            true => -dot(&slopes[of], &residuals),
            false => 0.0,
        });
        let own = |of: usize| match free[of] {
            true => dot(&slopes[of], &slopes[of]) * (1.0 + damping),
            false => 1.0,
        };
        let mixed = match free {
            [true, true] => dot(&slopes[0], &slopes[1]),
            _ => 0.0,
        };
        let (a, d) = (own(0), own(1));
        let determinant = a * d - mixed * mixed;
        let solved = [
            (toward[0] * d - mixed * toward[1]) / determinant,
            (a * toward[1] - mixed * toward[0]) / determinant,
        ];
        solved.iter().all(|x| x.is_finite()).then_some(solved)
    }

    /// The values of one parameter for which the best fit is not too bad.
    fn profile(&self, best: Point, of: usize, least: f64, spare: usize) -> (f64, f64) {
        let t = student_975(spare as f64);
        // Rounding is no reason to believe a perfect fit.
        let floor = 1e-18 * self.blocks;
        let limit = least.max(floor) * (1.0 + t * t / spare as f64);
        let outside = |value: f64, from: Point| -> (bool, Point) {
            let mut start = from;
            start[of] = value;
            let mut free = [true, true];
            free[of] = false;
            if !self.misfit(start).is_finite() {
                // Along the edge of what is possible the other one may help.
                start[1 - of] = start[1 - of].max(0.0) + (best[of] - value).abs();
            }
            let there = self.best(start, free);
            (self.misfit(there) + self.within > limit, there)
        };
        let edge = |sign: f64| {
            let (mut inside, mut from) = (best[of], best);
            let mut width = 1e-6 + best[of].abs() * 1e-3;
            let mut beyond = loop {
                let value = best[of] + sign * width;
                let (out, there) = outside(value, from);
                if out {
                    break value;
                }
                (inside, from) = (value, there);
                width *= 2.0;
                if width > MOST {
                    return sign * f64::INFINITY;
                }
            };
            for _ in 0..50 {
                let middle = (inside + beyond) / 2.0;
                let (out, there) = outside(middle, from);
                match out {
                    true => beyond = middle,
                    false => (inside, from) = (middle, there),
                }
            }
            inside
        };
        (edge(-1.0), edge(1.0))
    }
}

fn centre(values: &[f64]) -> f64 {
    mean(values).unwrap_or(0.0)
}

/// Three equations, the right side in the fourth column.
fn solve(mut rows: [[f64; 4]; 3]) -> Option<[f64; 3]> {
    for at in 0..3 {
        let pivot = (at..3).max_by(|a, b| rows[*a][at].abs().total_cmp(&rows[*b][at].abs()))?;
        rows.swap(at, pivot);
        let head = rows[at];
        if head[at].abs() < 1e-12 {
            return None;
        }
        for (place, row) in rows.iter_mut().enumerate() {
            if place != at {
                let factor = row[at] / head[at];
                for (cell, of_head) in row.iter_mut().zip(head) {
                    *cell -= factor * of_head;
                }
            }
        }
    }
    Some([0, 1, 2].map(|at| rows[at][3] / rows[at][at]))
}

#[cfg(test)]
#[path = "law_tests.rs"]
mod tests;
