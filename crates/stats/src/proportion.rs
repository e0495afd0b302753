//! Between which bounds a share lies of which a few cases are known.

use crate::order_statistics::NORMAL_975;

/// The 95 % interval of a share of which `right` of `all` cases are known
/// (Wilson, *Probable inference, the law of succession, and statistical inference*,
/// 1927): from 0 to 1, and never empty, also where all cases are alike. `None`
/// without cases.
pub fn interval_of_share(right: u64, all: u64) -> Option<(f64, f64)> {
    assert!(right <= all, "{right} right of {all}");
    if all == 0 {
        return None;
    }
    let (n, z2) = (all as f64, NORMAL_975 * NORMAL_975);
    let share = right as f64 / n;
    let centre = share + z2 / (2.0 * n);
    let half = NORMAL_975 * (share * (1.0 - share) / n + z2 / (4.0 * n * n)).sqrt();
    let scale = 1.0 + z2 / n;
    // At the ends the bound is the end itself, up to rounding.
    let low = if right == 0 {
        0.0
    } else {
        (centre - half) / scale
    };
    let high = if right == all {
        1.0
    } else {
        (centre + half) / scale
    };
    Some((low, high))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn intervals_are_those_of_the_literature() {
        let close = |(right, all): (u64, u64), (low, high): (f64, f64)| {
            let (l, h) = interval_of_share(right, all).unwrap();
            assert!((l - low).abs() < 5e-4 && (h - high).abs() < 5e-4, "{l} {h}");
        };
        // Newcombe, Two-sided confidence intervals for the single proportion, 1998.
        close((81, 263), (0.2553, 0.3662));
        close((15, 148), (0.0624, 0.1605));
        close((0, 20), (0.0, 0.1611));
        close((1, 29), (0.0061, 0.1718));
        close((20, 20), (0.8389, 1.0));
        assert_eq!(interval_of_share(0, 0), None);
    }

    /// Drawn again and again, the share lies within in about 95 % of cases: the sum
    /// is over all outcomes, weighted by how often each comes.
    #[test]
    fn intervals_hold_the_share_as_often_as_they_say() {
        let n = 30_u64;
        for share in [0.3_f64, 0.5, 0.7, 0.85, 0.95] {
            let mut mass = (1.0 - share).powi(30);
            let mut covered = 0.0;
            for right in 0..=n {
                let (low, high) = interval_of_share(right, n).unwrap();
                covered += if (low..=high).contains(&share) {
                    mass
                } else {
                    0.0
                };
                let (left, next) = ((n - right) as f64, (right + 1) as f64);
                mass *= left / next * share / (1.0 - share);
            }
            assert!((0.92..0.985).contains(&covered), "{share}: {covered}");
        }
    }
}
