//! The tables about statistics alone.

use fathom_analysis::{Rates, Simulated, interval_coverage, simulate, steadiness_accuracy};

use super::{percent, table};

pub(super) fn intervals(series: u32) -> String {
    let rows: Vec<Vec<String>> = interval_coverage(series)
        .iter()
        .map(|row| {
            vec![
                row.statistic.to_owned(),
                row.seconds.to_string(),
                row.kind.clone(),
                row.series.to_string(),
                percent(f64::from(row.printed) / f64::from(row.series.max(1))),
                row.coverage().map_or_else(|| "–".to_owned(), percent),
                row.width()
                    .map_or_else(|| "–".to_owned(), |w| format!("{w:.2}")),
            ]
        })
        .collect();
    format!(
        "\
## 95 % intervals

Series of one value per second: AR(1) with the correlation φ from second to second, and kinds that no
method was made for. An interval that cannot be trusted is not printed; of those that are printed, 94
to 97.5 % should hold the truth. A minute is too short for that at φ 0.9, and two minutes are for slow
noise under quick noise, ARMA, levels and stalls. *Width* is the mean width over that of an interval of somebody who
knows how the means of such series scatter. Means vary by 5 %. Percentiles are those of log-normal latencies whose level is the series; their
intervals come from the seconds' histograms, a block bootstrap of the seconds among them.

{}",
        table(
            &["statistic", "seconds", "kind", "series", "interval printed", "truth inside", "width"],
            &rows
        )
    )
}

pub(super) fn steadiness(series: u32) -> String {
    let rows: Vec<Vec<String>> = steadiness_accuracy(series)
        .into_iter()
        .filter(|row| !row.claim.starts_with("95 % interval"))
        .map(|row| {
            vec![
                row.claim.to_owned(),
                row.setting,
                row.runs.to_string(),
                percent(row.share),
                row.promise.to_owned(),
                if row.kept { "yes" } else { "**no**" }.to_owned(),
            ]
        })
        .collect();
    format!(
        "\
## Steadiness and cliffs

{}",
        table(
            &["claim", "setting ", "series", "share", "promise ", "kept "],
            &rows
        )
    )
}

/// A setting of a comparison and what is promised of it.
struct Compared {
    setting: &'static str,
    what: Simulated,
    promise: &'static str,
    share: fn(&Rates) -> f64,
    kept: fn(f64) -> bool,
}

fn compared() -> Vec<Compared> {
    let noise = Simulated::default();
    let false_alarm = |setting, what| Compared {
        setting,
        what,
        promise: "called different: at most 5 %",
        share: |rates| rates.faster + rates.slower,
        kept: |share| share <= 0.05,
    };
    vec![
        false_alarm("equal sides, 2 % noise", noise),
        false_alarm(
            "equal sides, 1.5 % noise, a random walk of 1 % per trial",
            Simulated {
                noise_percent: 1.5,
                walk_percent: 1.0,
                ..noise
            },
        ),
        false_alarm(
            "equal sides, 1 % noise, a steady drift of 1 % per trial",
            Simulated {
                noise_percent: 1.0,
                drift_percent: 1.0,
                ..noise
            },
        ),
        false_alarm(
            "equal sides, 3 % noise, four rows of five figures",
            Simulated {
                noise_percent: 3.0,
                rows: 4,
                figures: 5,
                common: 0.5,
                ..noise
            },
        ),
        Compared {
            setting: "B 5 % faster, 2 % noise",
            what: Simulated {
                true_percent: 5.0,
                ..noise
            },
            promise: "called faster: at least 90 %",
            share: |rates| rates.faster,
            kept: |share| share >= 0.90,
        },
        Compared {
            setting: "B 5 % slower, 2 % noise",
            what: Simulated {
                true_percent: -5.0,
                seed: 2,
                ..noise
            },
            promise: "called slower: at least 90 %",
            share: |rates| rates.slower,
            kept: |share| share >= 0.90,
        },
        Compared {
            setting: "B 3 % faster, as much as the margin, 2 % noise",
            what: Simulated {
                true_percent: 3.0,
                ..noise
            },
            promise: "called equivalent: at most 5 %",
            share: |rates| rates.equivalent,
            kept: |share| share <= 0.05,
        },
    ]
}

pub(super) fn comparisons(count: u32) -> String {
    // A share that is exactly at its bound is above it in half of the
    // simulations; three standard errors are allowed for the simulation.
    let slack = |share: f64| 3.0 * (share * (1.0 - share) / f64::from(count.max(1))).sqrt();
    let rows: Vec<Vec<String>> = compared()
        .into_iter()
        .map(|compared| {
            let share = (compared.share)(&simulate(&compared.what, count));
            let within = slack(0.05);
            let kept = match (
                (compared.kept)(share),
                (compared.kept)((share - within).max(0.0)),
            ) {
                (true, _) => "yes",
                (false, true) => "within the error of the simulation",
                (false, false) => "**no**",
            };
            vec![
                compared.setting.to_owned(),
                count.to_string(),
                percent(share),
                compared.promise.to_owned(),
                kept.to_owned(),
            ]
        })
        .collect();
    format!(
        "\
## Comparisons

`fathom ab` with six pairs of trials, A B, B A, …: how often it says what. Noise is the standard
deviation from trial to trial.

{}",
        table(
            &["setting", "comparisons", "share", "promise ", "kept "],
            &rows
        )
    )
}
