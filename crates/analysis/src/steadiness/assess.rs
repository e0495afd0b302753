//! Everything that a track says about steadiness, before it is put into words.

use std::ops::Range;

use fathom_model::steadiness::{SniaWindow, SteadinessClass};
use fathom_rules::check::v12::CAVEAT as DRIFT_MARGIN;
use fathom_rules::check::v13::{
    LEAST_SECONDS_AFTER_ONE, LEAST_SETTLED_SECONDS, LONGER_HALF, MANY_LEVELS, SETTLED_SHARE,
};
use fathom_rules::check::v14::MOST_MODE_CELLS;
use fathom_stats::change_point::LEAST_SERIES;
use fathom_stats::drift::{Drift, drift};
use fathom_stats::effective_size::MIN_EFFECTIVE;
use fathom_stats::log_rates::log_rates;
use fathom_stats::median::median;
use fathom_stats::modes::{Modes, two_modes};
use fathom_stats::trend::trend;
use fathom_stats::warmup::{WarmupCut, warmup_cut};

use super::levels::{Level, levels};
use super::snia;
use super::track::Track;
use crate::statistics::ratio::{Ratio, RatioPart};

/// What a track says.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Assessment {
    pub(crate) class: SteadinessClass,
    /// Levels in order, at least one; one where there are two modes.
    pub(crate) levels: Vec<Level>,
    /// Cells of the last level without its warm-up.
    pub(crate) last: Range<usize>,
    pub(crate) warmup: WarmupCut,
    pub(crate) drift: Option<Drift>,
    /// Change from the first to the last third of the last level, where it is
    /// too smooth for the test of drift.
    pub(crate) trend: Option<f64>,
    pub(crate) snia: Option<SniaWindow>,
    pub(crate) modes: Option<Modes>,
    /// First cell that the modes describe.
    pub(crate) modes_from: usize,
    /// Half the 95 % interval of the last level's rate over the rate; `None`
    /// where no interval can be given.
    pub(crate) half_width: Option<f64>,
}

/// Looks at a track; `None` when it is empty or nothing was done in it.
pub(crate) fn assess(track: &Track) -> Option<Assessment> {
    let mut levels = levels(track);
    let rates = track.rates();
    if levels.is_empty() || rates.iter().all(|r| *r <= 0.0) {
        return None;
    }
    let (modes, modes_from) = modes(&rates, &levels);
    if modes.is_some() && levels.len() > 1 {
        levels = vec![joined(track, &levels)];
    }
    let from = levels.last().map_or(0, |level| level.cells.start);
    let whole = from..rates.len();
    let logs = log_rates(&rates[whole.clone()]);
    let smooth: Vec<f64> = logs.iter().map(|l| l.exp()).collect();
    let warmup = warmup_cut(&smooth);
    let cut = match warmup {
        WarmupCut::Cut(cut) => cut,
        _ => 0,
    };
    let last = from + cut..rates.len();
    let drift = drift(&logs[cut..]);
    let trend = trend(&logs[cut..]).filter(|_| drift.is_none());
    // A cliff is seen in less than it takes to say that there is none.
    let too_short = rates.len() < LEAST_SERIES && levels.len() < 2;
    let class = match &modes {
        _ if too_short => SteadinessClass::TooShort,
        Some(_) => SteadinessClass::TwoModes,
        None => class(track, &levels, &last, warmup, drift, trend),
    };
    Some(Assessment {
        class,
        half_width: half_width(track, last.clone()),
        levels,
        last,
        warmup,
        drift,
        trend,
        snia: snia::window(track),
        modes,
        modes_from,
    })
}

/// Back and forth between two levels: where there are no levels in order, or
/// so many that they are no order.
fn modes(rates: &[f64], levels: &[Level]) -> (Option<Modes>, usize) {
    let from = match levels.len() {
        2..MANY_LEVELS => levels.last().map_or(0, |level| level.cells.start),
        _ => 0,
    };
    let from = from.max(rates.len().saturating_sub(MOST_MODE_CELLS));
    // Short dips are outliers to the search of levels, and modes here: the
    // rates are taken as they are.
    let typical = median(rates).unwrap_or(0.0);
    let floor = (typical * 1e-3).max(f64::MIN_POSITIVE);
    let logs: Vec<f64> = rates[from..].iter().map(|r| r.max(floor).ln()).collect();
    (two_modes(&logs), from)
}

fn joined(track: &Track, levels: &[Level]) -> Level {
    let (first, last) = (&levels[0], &levels[levels.len() - 1]);
    Level {
        cells: 0..track.cells.len(),
        rate: track.mean_rate(0..track.cells.len()),
        start_ns: first.start_ns,
        end_ns: last.end_ns,
        start_bytes: first.start_bytes,
        end_bytes: last.end_bytes,
    }
}

/// The classes of Barrett et al., *Virtual machine warmup blows hot and cold*
/// (OOPSLA 2017), and drift, which change points cannot tell.
fn class(
    track: &Track,
    levels: &[Level],
    last: &Range<usize>,
    warmup: WarmupCut,
    drift: Option<Drift>,
    trend: Option<f64>,
) -> SteadinessClass {
    let drifts = trend.is_some() || drift.is_some_and(|d| d.beyond(DRIFT_MARGIN));
    let level = &levels[levels.len() - 1];
    let towards = |before: f64| match level.rate < before {
        true => SteadinessClass::Slowdown,
        false => SteadinessClass::WarmupThenFlat,
    };
    if levels.len() > 1 {
        let share = level.seconds() / track.seconds().max(1e-9);
        let searching = levels.len() >= MANY_LEVELS && share < SETTLED_SHARE;
        // One step, and most of a short trial after it.
        let least = match levels.len() == 2 && share >= LONGER_HALF {
            true => LEAST_SECONDS_AFTER_ONE,
            false => LEAST_SETTLED_SECONDS,
        };
        if drifts || searching || level.seconds() < least {
            return SteadinessClass::NeverSteady;
        }
        return towards(track.mean_rate(0..level.cells.start));
    }
    if drifts {
        return SteadinessClass::Drifting;
    }
    match warmup {
        WarmupCut::NotConverged => SteadinessClass::NeverSteady,
        WarmupCut::Cut(cut) if cut > 0 => {
            let before = track.mean_rate(0..last.start);
            match track.mean_rate(last.clone()) < before {
                true => SteadinessClass::Slowdown,
                false => SteadinessClass::WarmupThenFlat,
            }
        }
        _ => SteadinessClass::Flat,
    }
}

fn half_width(track: &Track, cells: Range<usize>) -> Option<f64> {
    let parts: Vec<RatioPart> = track.cells[cells]
        .iter()
        .map(|cell| RatioPart {
            numerator: track.amount(cell),
            denominator: cell.seconds,
        })
        .collect();
    let ratio = Ratio::of(&parts)?;
    let error = ratio.error?;
    let enough = error.n_effective >= MIN_EFFECTIVE;
    let half = error.cautious_half_width / ratio.value;
    (enough && half.is_finite()).then_some(half)
}
