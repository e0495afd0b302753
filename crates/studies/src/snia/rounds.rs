//! Rounds of a matrix: convergence, measurement window and result.

use std::collections::BTreeMap;

use fathom_analysis::judgement::{Second, Trial, data_latency, steady_window};
use fathom_model::run::RunState;
use fathom_model::schedule::TrialRole;
use fathom_model::snia::{SniaCell, SniaPart, SniaSeries, SniaSettings, SniaTest, WINDOW_ROUNDS};
use fathom_model::unit;
use fathom_rules::method::snia::TRACKED_BLOCK;

use super::plan::{blocks, cells_of_round};
use super::tracked;

/// The trials of one part.
struct Members<'a> {
    /// The block size, where each has a part of its own.
    key: Option<u64>,
    /// Their places among all trials.
    places: Vec<usize>,
    trials: Vec<&'a Trial<'a>>,
    /// How many rounds are complete.
    rounds: u32,
}

fn members<'a>(
    test: SniaTest,
    settings: &SniaSettings,
    trials: &'a [Trial<'a>],
) -> Vec<Members<'a>> {
    let keys: Vec<Option<u64>> = match test {
        SniaTest::Throughput => blocks(test).iter().map(|block| Some(*block)).collect(),
        _ => vec![None],
    };
    let parts = keys.into_iter().map(|key| {
        let inside = |trial: &Trial<'_>| {
            trial.record.spec.role == TrialRole::Measure && key.is_none_or(|k| k == block(trial))
        };
        let places: Vec<usize> = (0..trials.len()).filter(|i| inside(&trials[*i])).collect();
        let trials: Vec<&Trial<'_>> = places.iter().map(|i| &trials[*i]).collect();
        Members {
            key,
            places,
            rounds: complete_rounds(&trials, cells_of_round(test, settings)),
            trials,
        }
    });
    parts.filter(|part| !part.trials.is_empty()).collect()
}

/// What the trials outside of the measurement window were: preconditioning.
pub(super) fn roles(
    test: SniaTest,
    settings: &SniaSettings,
    trials: &[Trial<'_>],
) -> BTreeMap<usize, TrialRole> {
    let mut roles = BTreeMap::new();
    for part in members(test, settings, trials) {
        let window = first_of_result(part.rounds)..part.rounds;
        for (place, trial) in part.places.iter().zip(&part.trials) {
            if part.rounds > 0 && !window.contains(&trial.record.spec.iteration) {
                roles.insert(*place, TrialRole::Precondition);
            }
        }
    }
    roles
}

/// The parts of a test with rounds.
pub(super) fn parts(
    test: SniaTest,
    settings: &SniaSettings,
    trials: &[Trial<'_>],
) -> Vec<SniaPart> {
    let parts = members(test, settings, trials).into_iter();
    parts
        .map(|of| part(test, settings, of.key, &of.trials, of.rounds))
        .collect()
}

pub(super) fn block(trial: &Trial<'_>) -> u64 {
    trial.workload.block.max_bytes()
}

fn reads(trial: &Trial<'_>) -> u8 {
    trial.workload.mix.read_percent
}

/// How many rounds have all their cells.
fn complete_rounds(trials: &[&Trial<'_>], cells: usize) -> u32 {
    let complete = |round: u32| {
        let of_round = trials
            .iter()
            .filter(|t| t.record.spec.iteration == round && t.record.state == RunState::Complete);
        of_round.count() >= cells
    };
    (0..).take_while(|round| complete(*round)).count() as u32
}

/// The first round, from 0, over which results are taken.
fn first_of_result(rounds: u32) -> u32 {
    rounds.saturating_sub(WINDOW_ROUNDS as u32)
}

fn part(
    test: SniaTest,
    settings: &SniaSettings,
    key: Option<u64>,
    trials: &[&Trial<'_>],
    rounds: u32,
) -> SniaPart {
    let tracked_block = key.unwrap_or(TRACKED_BLOCK);
    let series = series(test, settings, key, tracked_block, trials, rounds);
    let from = first_of_result(rounds);
    let window = series.first().and_then(|tracked| {
        let last = tracked.values.get(from as usize..)?;
        let last: Option<Vec<f64>> = last.iter().copied().collect();
        let last = last.filter(|w| w.len() == WINDOW_ROUNDS)?;
        steady_window(last, settings.round_ns)
    });
    let size = unit::bytes_exact(tracked_block);
    SniaPart {
        name: match key {
            Some(_) => format!("SEQ {size}"),
            None => test.title().to_owned(),
        },
        tracked: tracked::words(test, &size),
        unit: tracked::unit(test),
        written_bytes: Vec::new(),
        window_from: window.is_some().then_some(from + 1),
        steady: window.as_ref().is_some_and(|w| w.steady),
        cells: cells(trials, from, rounds),
        window,
        series,
    }
}

/// Values by round, the tracked variable first.
fn series(
    test: SniaTest,
    settings: &SniaSettings,
    key: Option<u64>,
    tracked_block: u64,
    trials: &[&Trial<'_>],
    rounds: u32,
) -> Vec<SniaSeries> {
    let line = |label: String, read_percent: u8, size: u64| {
        let value = |round: u32| {
            let mut of_cell = trials.iter().filter(|t| {
                t.record.spec.iteration == round && block(t) == size && reads(t) == read_percent
            });
            tracked::of_trial(test, of_cell.next()?)
        };
        SniaSeries {
            label,
            values: (0..rounds).map(value).collect(),
        }
    };
    if let Some(size) = key {
        return vec![
            line("write".to_owned(), 0, size),
            line("read".to_owned(), 100, size),
        ];
    }
    let others = blocks(test)
        .iter()
        .filter(|b| **b != tracked_block && !settings.skipped_blocks.contains(b));
    std::iter::once(&tracked_block)
        .chain(others)
        .map(|size| line(unit::bytes_exact(*size), 0, *size))
        .collect()
}

fn cells(trials: &[&Trial<'_>], from: u32, rounds: u32) -> Vec<SniaCell> {
    let mut keys: Vec<(u8, u64)> = Vec::new();
    for trial in trials {
        let key = (reads(trial), block(trial));
        if !keys.contains(&key) {
            keys.push(key);
        }
    }
    // Without a complete round whatever there is.
    let counts = |t: &&&Trial<'_>| rounds == 0 || (from..rounds).contains(&t.record.spec.iteration);
    keys.into_iter()
        .filter_map(|(read_percent, size)| {
            let of_cell = trials.iter().filter(counts);
            let of_cell = of_cell.filter(|t| (reads(t), block(t)) == (read_percent, size));
            let of_cell: Vec<&Trial<'_>> = of_cell.copied().collect();
            cell(read_percent, size, of_cell.len(), &of_cell)
        })
        .collect()
}

/// The figures of a cell over some trials; `None` where nothing was measured.
pub(super) fn cell(
    read_percent: u8,
    block_bytes: u64,
    rounds: usize,
    trials: &[&Trial<'_>],
) -> Option<SniaCell> {
    let seconds: Vec<&Second<'_>> = trials.iter().flat_map(|t| t.measured()).collect();
    let time_s = seconds.iter().map(|s| s.duration_ns as f64).sum::<f64>() / 1e9;
    let totals = tracked::totals(&seconds);
    (time_s > 0.0 && totals.ops > 0).then(|| SniaCell {
        read_percent,
        block_bytes,
        rounds: u32::try_from(rounds).unwrap_or(u32::MAX),
        ops_per_second: totals.ops as f64 / time_s,
        bytes_per_second: totals.bytes as f64 / time_s,
        latency: data_latency(trials),
    })
}
