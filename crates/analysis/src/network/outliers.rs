//! Links and hosts that stand out from a matrix of rates.
//!
//! Rates are compared as ratios: their logarithms are split into what the
//! sender, the receiver and the link itself add (Tukey's median polish), which
//! one bad link among many does not move. What remains at a link is compared
//! with the median absolute deviation of all.

use fathom_model::network::{LinkOutlier, MatrixCell, NodeOutlier, Outliers};
use fathom_rules::network;
use fathom_stats::mad::robust_deviation;
use fathom_stats::median::median;

/// Finds what stands out among `hosts`.
pub(super) fn find(hosts: usize, cells: &[MatrixCell]) -> Outliers {
    let known: Vec<(usize, usize, f64)> = cells
        .iter()
        .filter(|cell| cell.from < hosts && cell.to < hosts)
        .filter_map(|cell| Some((cell.from, cell.to, cell.best_bits()?)))
        .filter(|(.., bits)| *bits > 0.0)
        .map(|(from, to, bits)| (from, to, bits.ln()))
        .collect();
    let logs: Vec<f64> = known.iter().map(|(.., log)| *log).collect();
    let Some(middle) = median(&logs) else {
        return Outliers::default();
    };
    let (mut senders, mut receivers) = (vec![0.0; hosts], vec![0.0; hosts]);
    if hosts >= network::slow_link::LEAST_HOSTS {
        for _ in 0..network::slow_link::POLISHES {
            senders = effects(hosts, |host| {
                let rest = |(from, to, log): &(usize, usize, f64)| {
                    (*from == host).then(|| log - middle - receivers[*to])
                };
                known.iter().filter_map(rest).collect()
            });
            receivers = effects(hosts, |host| {
                let rest = |(from, to, log): &(usize, usize, f64)| {
                    (*to == host).then(|| log - middle - senders[*from])
                };
                known.iter().filter_map(rest).collect()
            });
        }
    }
    let mut nodes = slow_nodes(&senders, true);
    nodes.extend(slow_nodes(&receivers, false));
    let left =
        |(from, to, log): &(usize, usize, f64)| log - middle - senders[*from] - receivers[*to];
    let rests: Vec<f64> = known.iter().map(left).collect();
    let spread = spread(&rests);
    let links = known
        .iter()
        .zip(&rests)
        .filter(|(_, rest)| stands_out(**rest, spread));
    let mut links: Vec<LinkOutlier> = links
        .map(|((from, to, _), rest)| LinkOutlier {
            from: *from,
            to: *to,
            ratio: rest.exp(),
            deviations: -rest / spread,
        })
        .collect();
    links.sort_by(|a, b| a.ratio.total_cmp(&b.ratio));
    Outliers {
        median_bits: Some(middle.exp()),
        nodes,
        links,
    }
}

/// Whether the link was measured again often enough, and stood out each time:
/// the best of all measurements decides, so that one that stands out with a
/// repetition was slow in all of them.
pub(super) fn is_confirmed(link: &LinkOutlier, cells: &[MatrixCell]) -> bool {
    let of_link = |cell: &&MatrixCell| (cell.from, cell.to) == (link.from, link.to);
    let cell = cells.iter().find(of_link);
    cell.is_some_and(|cell| cell.again_bits.len() >= network::slow_link::CONFIRMATIONS)
}

/// What each host adds: the median of what is left at its links.
fn effects(hosts: usize, rests: impl Fn(usize) -> Vec<f64>) -> Vec<f64> {
    (0..hosts)
        .map(|host| median(&rests(host)).unwrap_or(0.0))
        .collect()
}

fn spread(values: &[f64]) -> f64 {
    robust_deviation(values)
        .unwrap_or(0.0)
        .max(network::slow_link::LEAST_SPREAD)
}

fn stands_out(rest: f64, spread: f64) -> bool {
    rest <= network::slow_link::THRESHOLD.ln() && -rest >= network::slow_link::DEVIATIONS * spread
}

fn slow_nodes(effects: &[f64], sending: bool) -> Vec<NodeOutlier> {
    let middle = median(effects).unwrap_or(0.0);
    let rests: Vec<f64> = effects.iter().map(|effect| effect - middle).collect();
    let spread = spread(&rests);
    let slow = rests
        .iter()
        .enumerate()
        .filter(|(_, rest)| stands_out(**rest, spread));
    slow.map(|(node, rest)| NodeOutlier {
        node,
        sending,
        ratio: rest.exp(),
    })
    .collect()
}
