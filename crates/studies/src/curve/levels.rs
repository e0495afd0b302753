//! Steps of a working-set curve: where the data no longer fit a cache.
//!
//! Binary segmentation of the logarithm of the rate (Vostrikova 1981). A split
//! must be larger than the noise explains, at 5 % for the whole curve
//! (Student's t with Bonferroni's correction for the places where it could
//! be), and larger than 15 %, so that a flat curve has no steps. A gradual
//! fall comes out as several levels.

use fathom_model::curve::CurveLevel;
use fathom_rules::method::curve::{ALPHA, LEAST_POINTS, LEAST_STEP};
use fathom_stats::student;

use super::series::{NoiseOfMeans, Rates, noise};

/// The levels of a curve in ascending order; one for a flat curve, none for
/// too few points.
pub(super) fn find(series: &[Rates]) -> Vec<CurveLevel> {
    if series.len() < LEAST_POINTS {
        return Vec::new();
    }
    let noise = noise(series);
    let mut edges = vec![0, series.len()];
    split(series, 0, &noise, series.len(), &mut edges);
    edges.sort_unstable();
    edges
        .windows(2)
        .filter_map(|w| level(&series[w[0]..w[1]]))
        .collect()
}

fn level(series: &[Rates]) -> Option<CurveLevel> {
    let mean = mean(series);
    Some(CurveLevel {
        from_bytes: series.first()?.at,
        to_bytes: series.last()?.at,
        bytes_per_second: mean.exp(),
    })
}

fn mean(series: &[Rates]) -> f64 {
    series.iter().map(Rates::mean).sum::<f64>() / series.len().max(1) as f64
}

fn split(series: &[Rates], from: usize, noise: &NoiseOfMeans, all: usize, edges: &mut Vec<usize>) {
    let best = (1..series.len())
        .map(|at| {
            let (left, right) = (at as f64, (series.len() - at) as f64);
            let step = mean(&series[at..]) - mean(&series[..at]);
            let error = noise.deviation * (1.0 / left + 1.0 / right).sqrt();
            (at, step, step.abs() / error)
        })
        .max_by(|a, b| a.2.total_cmp(&b.2));
    let Some((at, step, t)) = best else {
        return;
    };
    if t <= critical(noise.degrees, all) || step.abs() <= (1.0 + LEAST_STEP).ln() {
        return;
    }
    edges.push(from + at);
    split(&series[..at], from, noise, all, edges);
    split(&series[at..], from + at, noise, all, edges);
}

fn critical(degrees: f64, points: usize) -> f64 {
    let places = points.saturating_sub(1).max(1) as f64;
    student::quantile(1.0 - ALPHA / 2.0 / places, degrees.max(1.0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use fathom_model::rng::Rng;
    use fathom_stats::noise::Noise;

    const MIB: u64 = 1 << 20;

    fn seeded(seed: u64) -> Noise {
        let mut rng = Rng::new(seed);
        Noise::new(move || rng.unit())
    }

    /// Sizes of 1 MiB … 2 GiB in two passes, with the given levels, noise of
    /// each trial and drift over the passes.
    fn curve(
        noise: &mut Noise,
        deviation: f64,
        drift: f64,
        rate: impl Fn(u64) -> f64,
    ) -> Vec<Rates> {
        let sizes: Vec<u64> = (0..12).map(|power| MIB << power).collect();
        let count = sizes.len();
        sizes
            .iter()
            .enumerate()
            .map(|(i, size)| {
                let places = [i, 2 * count - 1 - i];
                let log = |place: usize, noise: &mut Noise| {
                    rate(*size).ln() + deviation * noise.normal() + drift * place as f64
                };
                Rates {
                    at: *size,
                    logs: places.map(|place| log(place, noise)).to_vec(),
                }
            })
            .collect()
    }

    #[test]
    fn a_flat_curve_has_no_steps_in_95_of_100_cases() {
        let mut noise = seeded(11);
        for deviation in [0.0, 0.01, 0.05, 0.1, 0.2, 0.4] {
            for drift in [0.0, 0.01] {
                let cases = 400;
                let wrong = (0..cases)
                    .filter(|_| find(&curve(&mut noise, deviation, drift, |_| 1e9)).len() > 1)
                    .count();
                assert!(
                    wrong * 20 <= cases,
                    "{deviation} {drift}: {wrong} of {cases}"
                );
            }
        }
    }

    #[test]
    fn one_pass_alone_invents_no_steps_either() {
        let mut noise = seeded(13);
        for deviation in [0.01, 0.05, 0.2] {
            let cases = 400;
            let wrong = (0..cases)
                .filter(|_| {
                    let mut series = curve(&mut noise, deviation, 0.0, |_| 1e9);
                    for point in &mut series {
                        point.logs.truncate(1);
                    }
                    find(&series).len() > 1
                })
                .count();
            assert!(wrong * 20 <= cases, "{deviation}: {wrong} of {cases}");
        }
    }

    #[test]
    fn the_steps_of_two_caches_are_found_where_they_are() {
        let mut noise = seeded(12);
        let truth = |size: u64| match size / MIB {
            0..=32 => 8e9,
            33..=512 => 2e9,
            _ => 180e6,
        };
        let found = (0..200).filter(|_| {
            let levels = find(&curve(&mut noise, 0.05, 0.0, truth));
            let ends: Vec<u64> = levels.iter().map(|l| l.to_bytes / MIB).collect();
            ends == [32, 512, 2048] && (levels[1].bytes_per_second / 2e9 - 1.0).abs() < 0.1
        });
        assert!(found.count() >= 190);
    }

    #[test]
    fn too_few_points_say_nothing() {
        assert_eq!(find(&[]), []);
        let one = Rates {
            at: 1,
            logs: vec![0.0],
        };
        assert_eq!(find(&[one.clone(), one]), []);
    }
}
