//! Write saturation: one long trial, cut into rounds.

use fathom_analysis::judgement::{Second, Trial, steady_window};
use fathom_model::schedule::TrialRole;
use fathom_model::snia::{SniaPart, SniaSeries, SniaSettings, SniaTest, WINDOW_ROUNDS};
use fathom_rules::method::snia::TOLERANCE_NS;

use super::{rounds, tracked};

/// The part of the test, if its trial began.
pub(super) fn parts(settings: &SniaSettings, trials: &[Trial<'_>]) -> Vec<SniaPart> {
    let measures = |t: &&Trial<'_>| t.record.spec.role == TrialRole::Measure;
    trials
        .iter()
        .find(measures)
        .map_or(Vec::new(), |trial| vec![part(settings, trial)])
}

fn part(settings: &SniaSettings, trial: &Trial<'_>) -> SniaPart {
    let lasting: Vec<&Second<'_>> = trial.measured().filter(|s| s.duration_ns > 0).collect();
    let ends = round_ends(&lasting, settings.round_ns);
    let mut values = Vec::with_capacity(ends.len());
    let mut written_bytes = Vec::with_capacity(ends.len());
    let (mut start, mut written) = (0, 0u64);
    for end in &ends {
        let seconds = &lasting[start..*end];
        values.push(tracked::of_seconds(SniaTest::Wsat, seconds));
        written = written.saturating_add(tracked::totals(seconds).written);
        written_bytes.push(written);
        start = *end;
    }
    let from = ends.len().saturating_sub(WINDOW_ROUNDS);
    let last: Option<Vec<f64>> = values[from..].iter().copied().collect();
    let window = last
        .filter(|window| window.len() == WINDOW_ROUNDS)
        .and_then(|window| steady_window(window, settings.round_ns));
    let first = match from.checked_sub(1) {
        Some(before) => ends[before],
        None => 0,
    };
    let whole = ends.last().copied().unwrap_or(lasting.len());
    let tail = trial.part(|position| (first..whole).contains(&position));
    let block = rounds::block(trial);
    let cell = rounds::cell(0, block, ends.len() - from, &[&tail]);
    SniaPart {
        name: SniaTest::Wsat.title().to_owned(),
        tracked: tracked::words(SniaTest::Wsat, &fathom_model::unit::bytes_exact(block)),
        unit: tracked::unit(SniaTest::Wsat),
        series: vec![SniaSeries {
            label: fathom_model::unit::bytes_exact(block),
            values,
        }],
        written_bytes,
        window_from: window.is_some().then_some(from as u32 + 1),
        steady: window.as_ref().is_some_and(|w| w.steady),
        window,
        cells: cell.into_iter().collect(),
    }
}

/// Where each complete round ends, as a position among the seconds.
fn round_ends(seconds: &[&Second<'_>], round_ns: u64) -> Vec<usize> {
    let mut ends = Vec::new();
    let mut lasted = 0u64;
    for (position, second) in seconds.iter().enumerate() {
        lasted = lasted.saturating_add(second.duration_ns);
        if lasted.saturating_add(TOLERANCE_NS.min(round_ns / 4)) >= round_ns.max(1) {
            ends.push(position + 1);
            lasted = 0;
        }
    }
    ends
}
