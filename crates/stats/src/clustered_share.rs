//! How large a share is at least whose cases come in clusters: slow operations in the
//! pauses of a drive, errors in spells.
//!
//! What matters is the number of clusters and not that of cases. Clusters that come by
//! chance, each with a size of its own, are a compound Poisson process: the relative
//! variance of its total is (1 + v²)/c, for c clusters whose sizes vary by v (standard
//! deviation over mean). So c/(1 + v²) counts as that many events, and the total is at
//! least the lower 97.5 % bound of their number (Garwood 1936) over it, by the
//! approximation of Wilson and Hilferty (1931). Pauses at regular intervals vary less:
//! the bound then is careful.
//!
//! Where cases are in most parts, they are one cluster, which says nothing. There the
//! parts themselves vary little, and the error of their mean bounds the share
//! ([`crate::effective_size`]). The larger of both bounds counts, each of 97.5 %: together
//! they hold in 95 % of cases.

use crate::effective_size::{MIN_EFFECTIVE, mean_error};
use crate::moments::Moments;
use crate::order_statistics::NORMAL_975;

/// The clusters of cases, and the share that they are at least.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ClusteredShare {
    /// Runs of parts in a row with a case in each.
    pub clusters: usize,
    /// Cases over all.
    pub share: f64,
    /// Lower bound of the share, with 95 % confidence.
    pub at_least: f64,
}

/// The share of `(cases, all)` over parts of time in their order. `None` without cases.
pub fn clustered_share(parts: &[(f64, f64)]) -> Option<ClusteredShare> {
    let all: f64 = parts.iter().map(|(_, all)| all).sum();
    let runs = parts.split(|(cases, _)| *cases <= 0.0);
    let sizes: Vec<f64> = runs
        .filter(|run| !run.is_empty())
        .map(|run| run.iter().map(|(cases, _)| cases).sum())
        .collect();
    if sizes.is_empty() || all <= 0.0 {
        return None;
    }
    let share = sizes.iter().sum::<f64>() / all;
    let variation = Moments::of(&sizes).and_then(|moments| moments.variation());
    let events = sizes.len() as f64 / (1.0 + variation.unwrap_or(0.0).powi(2));
    let root = 1.0 - 1.0 / (9.0 * events) - NORMAL_975 / (3.0 * events.sqrt());
    let by_clusters = share * root.max(0.0).powi(3);
    Some(ClusteredShare {
        clusters: sizes.len(),
        share,
        at_least: by_parts(parts, share).map_or(by_clusters, |bound| bound.max(by_clusters)),
    })
}

/// The bound by how much the parts vary.
fn by_parts(parts: &[(f64, f64)], share: f64) -> Option<f64> {
    let residuals: Vec<f64> = parts
        .iter()
        .map(|(cases, all)| cases - share * all)
        .collect();
    let error = mean_error(&residuals).filter(|error| error.n_effective >= MIN_EFFECTIVE)?;
    let all: f64 = parts.iter().map(|(_, all)| all).sum();
    Some(share - error.half_width * parts.len() as f64 / all)
}

#[cfg(test)]
mod tests {
    use super::*;
    use fathom_model::rng::Rng;

    #[test]
    fn few_clusters_bound_a_share_loosely_and_many_closely() {
        let pauses = |every: usize, seconds: usize| {
            let part = |second: usize| match second.is_multiple_of(every) {
                true => (125.0, 250.0),
                false => (0.0, 250.0),
            };
            let parts: Vec<(f64, f64)> = (0..seconds).map(part).collect();
            clustered_share(&parts).expect("some are late")
        };
        let few = pauses(3, 14);
        assert_eq!(few.clusters, 5);
        assert!((0.04..0.08).contains(&few.at_least), "{few:?}");
        let many = pauses(3, 900);
        assert!(many.at_least > 0.85 * many.share, "{many:?}");
        // All of them, all the time.
        let all = clustered_share(&[(250.0, 250.0); 14]).expect("all are late");
        assert_eq!(all.at_least, 1.0);
        // One slow spell says hardly anything about the next.
        let one = pauses(14, 14);
        assert!(one.at_least < 0.002, "{one:?}");
        assert_eq!(clustered_share(&[(0.0, 10.0); 5]), None);
        assert_eq!(clustered_share(&[]), None);
    }

    /// Clusters by chance, of sizes by chance: the bound holds in 97.5 % of cases.
    #[test]
    fn the_bound_holds_as_often_as_it_says() {
        let mut rng = Rng::new(7);
        for chance in [0.05, 0.15] {
            let size = |rng: &mut Rng| 20.0 + 200.0 * rng.unit();
            let truth = chance * 120.0 / 250.0;
            let mut broken = 0;
            let rounds = 4000;
            for _ in 0..rounds {
                let mut parts = Vec::new();
                for _ in 0..60 {
                    let late = match rng.unit() < chance {
                        true => size(&mut rng),
                        false => 0.0,
                    };
                    parts.push((late, 250.0));
                }
                let found = clustered_share(&parts);
                broken += u32::from(found.is_some_and(|found| found.at_least > truth));
            }
            let share = f64::from(broken) / f64::from(rounds);
            assert!(share < 0.05, "{chance}: above the truth in {share}");
        }
    }
}
