//! What each statistic gives for drawn series, kept.
//!
//! Tests beside the code hold statistics against known truth and allow what chance allows,
//! which a wrong sign in a correction may pass. These keep the figures themselves, so that a
//! change that nobody meant shows as a difference of `figures.txt`. One that is meant is
//! accepted by `FATHOM_BLESS=1 cargo test -p fathom-stats --test figures`.

use std::fmt::{Debug, Write};
use std::path::Path;

use fathom_model::rng::Rng;
use fathom_stats::noise::Noise;
use fathom_stats::{
    autocorrelation, bootstrap, change_point, clustered_share, drift, effective_size, log_rates,
    long_run_variance, mad, median, modes, moments, order_statistics, proportion, quantile,
    regression, sign_flip, student, trend, warmup,
};

/// A name and the course over a time from 0 to 1.
type Shape = (&'static str, fn(f64) -> f64);

/// How a series goes, beside its noise.
const SHAPES: [Shape; 9] = [
    ("level", |_| 0.0),
    ("step", |at| if at < 0.4 { 0.0 } else { -1.2 }),
    ("small step", |at| if at < 0.7 { 0.0 } else { 0.15 }),
    ("two steps", |at| match at {
        at if at < 0.3 => 0.5,
        at if at < 0.6 => -0.4,
        _ => 0.2,
    }),
    ("slope", |at| -0.5 * at),
    ("slow start", |at| if at < 0.08 { -1.5 } else { 0.0 }),
    ("wave", |at| 0.3 * (40.0 * at).sin()),
    ("pauses", |at| {
        if (at * 25.0).fract() < 0.06 {
            -3.0
        } else {
            0.0
        }
    }),
    (
        "burst",
        |at| if (0.5..0.55).contains(&at) { 1.0 } else { 0.0 },
    ),
];
/// Lengths around those at which statistics begin, and usual ones.
const LENGTHS: [usize; 5] = [5, 11, 30, 60, 300];
/// How neighbouring seconds resemble one another.
const PHIS: [f64; 2] = [0.0, 0.7];

/// Written with as many digits as are the same on every processor.
fn line(said: &mut String, what: &str, figure: &impl Debug) {
    let _ = writeln!(said, "  {what}: {figure:.7?}");
}

fn is_as_kept(said: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/figures.txt");
    if std::env::var_os("FATHOM_BLESS").is_some() {
        std::fs::write(&path, said).expect("the kept file is written");
    }
    let kept = std::fs::read_to_string(&path).expect("the kept file is read");
    let changed = kept.lines().zip(said.lines()).find(|(a, b)| a != b);
    assert!(
        kept == said,
        "a figure changed, first {changed:?}: read all of them in a difference of {} after \
         FATHOM_BLESS=1",
        path.display()
    );
}

#[test]
fn statistics_of_drawn_series_are_as_kept() {
    let mut said = String::new();
    for (seed, (name, shape)) in (1..).zip(SHAPES) {
        for (length, phi) in LENGTHS.into_iter().flat_map(|n| PHIS.map(|phi| (n, phi))) {
            let mut rng = Rng::new(seed * 1000 + length as u64);
            let noise = Noise::new(move || rng.unit()).ar1(phi, length);
            let scatter = if seed % 2 == 0 { 0.02 } else { 0.1 };
            let at = |index: usize| shape(index as f64 / length as f64);
            let logs = noise.iter().enumerate();
            let logs: Vec<f64> = logs.map(|(n, value)| at(n) + scatter * value).collect();
            let _ = writeln!(said, "{name}, {length} values, φ {phi}");
            of_logs(&mut said, &logs);
        }
    }
    of_numbers(&mut said);
    is_as_kept(&said);
}

fn of_logs(said: &mut String, logs: &[f64]) {
    let rates: Vec<f64> = logs.iter().map(|log| 1000.0 * log.exp()).collect();
    line(said, "levels", &change_point::change_points(logs));
    line(said, "drift", &drift::drift(logs));
    line(said, "trend", &trend::trend(logs));
    line(said, "error", &effective_size::mean_error(&rates));
    line(said, "modes", &modes::two_modes(logs));
    line(said, "warm-up", &warmup::warmup_cut(&rates));
    let variance = long_run_variance::long_run_variance(logs);
    line(said, "variance", &variance);
    // What is the same for any length is not kept for each.
    if logs.len() == LENGTHS[1] {
        of_order(said, logs, &rates);
    }
}

/// Moments, ranks and resampling.
fn of_order(said: &mut String, logs: &[f64], rates: &[f64]) {
    let moments = moments::Moments::of(logs);
    line(said, "moments", &moments);
    let lag = autocorrelation::lag_one(logs);
    line(said, "resemblance", &lag);
    line(
        said,
        "median",
        &(
            median::median(logs),
            mad::mad(logs),
            mad::robust_deviation(logs),
        ),
    );
    line(said, "line", &regression::Line::over_index(logs));
    let sum: f64 = log_rates::log_rates(rates).iter().sum();
    line(said, "logs", &sum);
    let ranks = [0.0, 0.1, 0.5, 0.99, 1.0].map(|share| quantile::nearest_rank(logs, share));
    line(said, "ranks", &ranks);
    let mut rng = Rng::new(7);
    line(said, "sign", &sign_flip::sign_flip(logs, || rng.next_u64()));
    let parts: Vec<(f64, f64)> = rates.iter().map(|rate| (rate % 7.0, 10.0)).collect();
    line(said, "share", &clustered_share::clustered_share(&parts));
    line(said, "resampled", &resampled(rates));
}

/// The ends of a bootstrap over counts.
fn resampled(rates: &[f64]) -> Option<(u64, u64)> {
    let rows: Vec<u64> = rates.iter().map(|rate| *rate as u64).collect();
    let bootstrap = bootstrap::BlockBootstrap::of(&rows, 1, 3)?;
    let (mut rng, mut sums) = (Rng::new(11), Vec::new());
    bootstrap.sums(50, |bound| rng.below(bound), |sum| sums.push(sum[0]));
    bootstrap::central_95(sums)
}

/// Statistics of single numbers.
fn of_numbers(said: &mut String) {
    for p in [0.5, 0.9, 0.99, 0.999, 0.9999] {
        let least = order_statistics::least_samples(p);
        let _ = writeln!(said, "quantile {p}: from {least:.7?}");
        for n in [
            1.0,
            10.0,
            99.0,
            least - 1.0,
            least,
            least + 1.0,
            5000.0,
            1e7,
        ] {
            line(
                said,
                &format!("of {n}"),
                &order_statistics::order_levels(n, p),
            );
        }
    }
    for degrees in [1.0, 2.0, 4.5, 10.0, 59.0, 1000.0] {
        let _ = writeln!(said, "{degrees} degrees");
        line(said, "0.975", &student::student_975(degrees));
        line(said, "0.95", &student::student_95(degrees));
        line(said, "0.6", &student::quantile(0.6, degrees));
        line(
            said,
            "above",
            &[-1.0, 0.0, 2.0].map(|t| student::above(t, degrees)),
        );
    }
    for phi in [-0.9, -0.3, 0.0, 0.5, 0.9, 0.99] {
        let _ = writeln!(said, "φ {phi}");
        line(said, "inflation", &autocorrelation::inflation(phi));
        line(
            said,
            "finite",
            &[2.0, 10.0, 60.0].map(|n| autocorrelation::finite_inflation(phi, n)),
        );
    }
    for (right, all) in [
        (0, 0),
        (0, 10),
        (5, 10),
        (10, 10),
        (95, 100),
        (9_999, 10_000),
    ] {
        let _ = writeln!(said, "{right} of {all}");
        line(said, "share", &proportion::interval_of_share(right, all));
    }
    let weighted = [(3.0, 1.0), (1.0, 2.0), (2.0, 0.5), (9.0, 0.0)];
    let shares = [0.0, 0.25, 0.5, 0.9, 1.0];
    let of = shares.map(|share| quantile::weighted_quantile(&weighted, share));
    line(said, "weighted", &of);
    line(said, "modified z", &mad::modified_z_score(3.0, 1.0, 0.5));
}
