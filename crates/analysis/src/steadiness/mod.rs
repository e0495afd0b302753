//! Steady state, change points, regimes: did a trial come to a state that one
//! number describes, and if not, which numbers do?
//!
//! [`track`] is the rate second by second on the axes of time and bytes;
//! [`assess::assess`] looks at it; [`of_trial`] puts what is found into the
//! words of the result, and [`until::UntilRule`] asks the same questions while
//! a trial runs.

mod assess;
mod ladder;
mod levels;
mod logged;
mod settled_rule;
pub(crate) mod snia;
mod track;
mod until;
mod words;
mod zones;

use fathom_model::estimate::Estimate;
use fathom_model::judged::OpSummary;
use fathom_model::sample::Sample;
use fathom_model::steadiness::{Regime, Steadiness, SteadinessClass, TwoModes};
use fathom_model::workload::{OpMix, Until};
use fathom_stats::warmup::WarmupCut;

use self::assess::{Assessment, assess};
use self::ladder::{Context, ladder};
use self::track::Track;
use crate::summary::{kind_latencies, summarize_ops};
use crate::trial::Trial;

pub use logged::{Logged, of_log};
pub(crate) use settled_rule::words as settled_words;
pub(crate) use until::rule_of;
pub use until::stop_rule;
pub use zones::zone_profile;

/// What is known about the steadiness of a trial; `None` when nothing was
/// measured. `written_before` are bytes written to its range before the load.
pub(crate) fn of_trial(trial: &Trial<'_>, written_before: u64) -> Option<Steadiness> {
    let track = Track::of_trial(trial).without_stump();
    let mut found = assess(&track)?;
    let zones = zones::of_track(trial, &track).filter(|_| rotates(trial));
    if zones.is_some() {
        by_position(&mut found);
    }
    let sentence = match &zones {
        Some(zones) => words::zone_words(zones),
        None => words::sentence(&track, &found),
    };
    let context = Context {
        written_before: written_before as f64,
        range_bytes: trial.end().map_or(0, |end| end.data.active_bytes) as f64,
        writes: trial.workload.mix.modifies(),
        precision: match trial.workload.until {
            Some(Until::Precision { percent }) => Some(percent / 100.0),
            _ => None,
        },
    };
    Some(Steadiness {
        class: found.class,
        sentence,
        axis: track.axis,
        ladder: ladder(&track, &found, &context),
        steady_from_ns: settled(&found).then(|| track.cells[found.last.start].start_ns),
        regimes: regimes(trial, &found),
        burst_bytes: burst_bytes(&found),
        modes: modes(trial, &track, &found),
        snia: found.snia.clone(),
        zones,
    })
}

/// What simulated seconds are said to be.
pub(crate) struct Simulated {
    class: SteadinessClass,
    snia_steady: Option<bool>,
    /// Bytes at the end of each level.
    pub(crate) level_ends_bytes: Vec<f64>,
}

impl Simulated {
    /// Whether a check would object.
    pub(crate) fn objects(&self) -> bool {
        let sound = matches!(
            self.class,
            SteadinessClass::Flat | SteadinessClass::WarmupThenFlat | SteadinessClass::TooShort
        );
        !sound || self.snia_steady == Some(false)
    }
}

/// Looks at simulated seconds.
pub(crate) fn simulated(mix: OpMix, seconds: impl Iterator<Item = Sample>) -> Option<Simulated> {
    let mut track = Track::new(mix);
    seconds.for_each(|sample| track.observe(&sample));
    let found = assess(&track)?;
    Some(Simulated {
        class: found.class,
        snia_steady: found.snia.map(|window| window.steady),
        level_ends_bytes: found.levels.iter().map(|level| level.end_bytes).collect(),
    })
}

/// The rate of a disk's sweep changes with the position, not with time.
fn by_position(found: &mut Assessment) {
    if let (Some(first), Some(last)) = (found.levels.first(), found.levels.last()) {
        let whole = levels::Level {
            cells: first.cells.start..last.cells.end,
            end_ns: last.end_ns,
            end_bytes: last.end_bytes,
            ..first.clone()
        };
        found.last = whole.cells.clone();
        found.levels = vec![whole];
    }
    found.modes = None;
    found.drift = None;
    found.trend = None;
    found.warmup = WarmupCut::Cut(0);
    if found.class != SteadinessClass::TooShort {
        found.class = SteadinessClass::Flat;
    }
}

fn rotates(trial: &Trial<'_>) -> bool {
    let leaves = trial.leaves();
    let simulated = matches!(&trial.record.spec.target,
        fathom_model::Target::Sim(model) if model.starts_with("hdd"));
    simulated || (!leaves.is_empty() && leaves.iter().all(|d| d.rotational == Some(true)))
}

fn settled(found: &Assessment) -> bool {
    matches!(
        found.class,
        SteadinessClass::Flat | SteadinessClass::WarmupThenFlat | SteadinessClass::Slowdown
    )
}

fn regimes(trial: &Trial<'_>, found: &Assessment) -> Vec<Regime> {
    if found.levels.len() < 2 {
        return Vec::new();
    }
    let regime = |level: &levels::Level| {
        let part = trial.part(|position| level.cells.contains(&position));
        Regime {
            start_ns: level.start_ns,
            end_ns: level.end_ns,
            start_bytes: level.start_bytes as u64,
            end_bytes: level.end_bytes as u64,
            ops: summarize_ops(&[&part], &kind_latencies(&[&part])),
        }
    };
    found.levels.iter().map(regime).collect()
}

fn burst_bytes(found: &Assessment) -> Option<u64> {
    let [first, second, ..] = found.levels.as_slice() else {
        return None;
    };
    let falls = matches!(
        found.class,
        SteadinessClass::Slowdown | SteadinessClass::NeverSteady
    );
    (falls && second.rate < first.rate).then_some(first.bytes() as u64)
}

fn modes(trial: &Trial<'_>, track: &Track, found: &Assessment) -> Option<TwoModes> {
    let modes = found.modes.as_ref()?;
    let (low_rate, high_rate, low_share) = words::mode_rates(track, found)?;
    let ops_at = |high: bool| {
        let at = |position: usize| position.checked_sub(found.modes_from);
        let part = trial.part(|p| at(p).and_then(|p| modes.high.get(p)) == Some(&high));
        let mut ops = summarize_ops(&[&part], &kind_latencies(&[&part]));
        withhold_interval(&mut ops, "the seconds at one of two levels");
        ops
    };
    Some(TwoModes {
        low_ops: ops_at(false),
        high_ops: ops_at(true),
        low_rate,
        high_rate,
        low_share,
        ashman_d: modes.ashman_d,
        changes: modes.changes,
    })
}

/// Takes the interval from rates that describe no state that the trial was
/// in: what is left is a fact of this run, and the reason names the rates that
/// count.
pub(crate) fn withhold_single_rate(ops: &mut [OpSummary], sentence: &str) {
    withhold_interval(ops, &format!("no one rate describes it: {sentence}"));
}

fn withhold_interval(ops: &mut [OpSummary], reason: &str) {
    for op in ops {
        for rate in [&mut op.ops_per_second, &mut op.bytes_per_second] {
            if let Some(value) = rate.value {
                *rate = Estimate::point(rate.unit, value, reason);
            }
        }
    }
}

#[cfg(test)]
#[path = "steadiness_tests.rs"]
mod tests;
