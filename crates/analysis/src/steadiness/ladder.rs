//! The ladder of steady state: each rung held, not held or not applicable,
//! with its figures. A rung that a trial is too short for is not applicable;
//! being short is no fault.

use fathom_model::steadiness::{Rung, RungStatus, SteadinessClass};
use fathom_model::unit;
use fathom_rules::check::v10::INFO as RANGES_WRITTEN;
use fathom_rules::check::v11::{CAVEAT as RANGE, EXCURSION, ROUND_SECONDS, ROUNDS};
use fathom_rules::check::v12::CAVEAT as DRIFT_MARGIN;
use fathom_rules::check::v13::LEAST_LAST_SECONDS;
use fathom_rules::check::v16::INFO as PRECISION;
use fathom_stats::warmup::WarmupCut;

use super::assess::Assessment;
use super::track::Track;
use super::words::{bytes_words, rate_scale, rate_words};

/// What the ladder must know besides the track.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) struct Context {
    /// Bytes written to the range before the load: earlier in the run, and by
    /// the prepare phase.
    pub(crate) written_before: f64,
    /// Bytes of the range; 0 when not known.
    pub(crate) range_bytes: f64,
    /// The workload changes data.
    pub(crate) writes: bool,
    /// Half width that the plan asks for.
    pub(crate) precision: Option<f64>,
}

/// The rungs in order.
pub(crate) fn ladder(track: &Track, found: &Assessment, context: &Context) -> Vec<Rung> {
    vec![
        bytes(track, context),
        segment(track, found),
        snia(track, found),
        drift(track, found),
        precision(found, context.precision.unwrap_or(PRECISION)),
    ]
}

fn rung(name: &str, status: RungStatus, figures: Option<(f64, f64)>, evidence: String) -> Rung {
    Rung {
        name: name.to_owned(),
        status,
        measured: figures.map(|f| f.0).filter(|v| v.is_finite()),
        threshold: figures.map(|f| f.1),
        evidence,
    }
}

fn held(holds: bool) -> RungStatus {
    match holds {
        true => RungStatus::Held,
        false => RungStatus::NotHeld,
    }
}

fn missing(name: &str, evidence: impl Into<String>) -> Rung {
    rung(name, RungStatus::NotApplicable, None, evidence.into())
}

/// (1) Physics: has enough been written to leave the state of a fresh drive?
fn bytes(track: &Track, context: &Context) -> Rung {
    const NAME: &str = "bytes";
    if !context.writes {
        return missing(NAME, "the workload only reads");
    }
    if context.range_bytes <= 0.0 {
        return missing(NAME, "the size of the written range is not known");
    }
    let written = context.written_before + track.axis_total();
    let ratio = written / context.range_bytes;
    let evidence = format!(
        "{} written to a range of {}: {ratio:.2} times, {RANGES_WRITTEN:.0} are required",
        bytes_words(written),
        bytes_words(context.range_bytes)
    );
    let figures = Some((ratio, RANGES_WRITTEN));
    rung(NAME, held(ratio >= RANGES_WRITTEN), figures, evidence)
}

/// (2) Is the end of the trial one level, without warm-up?
fn segment(track: &Track, found: &Assessment) -> Rung {
    const NAME: &str = "segment";
    let seconds: f64 = track.cells[found.last.clone()]
        .iter()
        .map(|c| c.seconds)
        .sum();
    let figures = Some((seconds, LEAST_LAST_SECONDS));
    let span = |seconds: f64| unit::span((seconds * 1e9) as u64);
    if found.class == SteadinessClass::TooShort {
        return missing(NAME, format!("needs more than {}", span(seconds)));
    }
    if found.modes.is_some() {
        let evidence = "the rate goes back and forth between two levels".to_owned();
        return rung(NAME, RungStatus::NotHeld, None, evidence);
    }
    if found.warmup == WarmupCut::NotConverged {
        let evidence = "MSER-5 finds no end of the warm-up in the first half".to_owned();
        return rung(NAME, RungStatus::NotHeld, None, evidence);
    }
    let changes = found.levels.len() - 1;
    let evidence = format!(
        "{} at one level, after {changes} change{} of level and {} of warm-up (MSER-5)",
        span(seconds),
        if changes == 1 { "" } else { "s" },
        span(warmup_seconds(track, found)),
    );
    if changes == 0 && seconds < LEAST_LAST_SECONDS {
        let least = span(LEAST_LAST_SECONDS);
        return missing(NAME, format!("{evidence}; under {least} it says nothing"));
    }
    rung(NAME, held(seconds >= LEAST_LAST_SECONDS), figures, evidence)
}

fn warmup_seconds(track: &Track, found: &Assessment) -> f64 {
    let from = found.levels.last().map_or(0, |level| level.cells.start);
    let cells = &track.cells[from.min(found.last.start)..found.last.start];
    cells.iter().map(|c| c.seconds).sum()
}

/// (3) The standard's rule, in its terms.
fn snia(track: &Track, found: &Assessment) -> Rung {
    const NAME: &str = "snia";
    let Some(window) = &found.snia else {
        let seconds = ROUND_SECONDS * ROUNDS as f64;
        return missing(
            NAME,
            format!(
                "{ROUNDS} rounds of {ROUND_SECONDS:.0} s need {}; {} were measured",
                unit::span((seconds * 1e9) as u64),
                unit::span((track.seconds() * 1e9) as u64)
            ),
        );
    };
    let (scale, unit) = rate_scale(track);
    let evidence = format!(
        "last {ROUNDS} rounds of {ROUND_SECONDS:.0} s: Ave(y) {}, Max(y) − Min(y) {:.1} % of it \
         (allowed {:.0} %), best linear fit {} {unit}, its excursion {:.1} % (allowed {:.0} %)",
        rate_words(track, window.average),
        100.0 * window.range,
        100.0 * RANGE,
        window.formula(scale),
        100.0 * window.excursion,
        100.0 * EXCURSION,
    );
    let figures = match window.range > RANGE {
        true => (window.range, RANGE),
        false => (window.excursion, EXCURSION),
    };
    rung(NAME, held(window.steady), Some(figures), evidence)
}

/// (4) No drift, proved.
fn drift(track: &Track, found: &Assessment) -> Rung {
    const NAME: &str = "drift";
    let cells = &track.cells[found.last.clone()];
    let seconds: f64 = cells.iter().map(|c| c.seconds).sum();
    let drift = found
        .drift
        .filter(|_| found.class != SteadinessClass::TooShort);
    let Some(drift) = drift else {
        if let Some(change) = found.trend {
            let evidence = format!(
                "{:+.0} % from the first to the last third of the last {}",
                100.0 * change,
                unit::span((seconds * 1e9) as u64),
            );
            let figures = Some((change.abs(), DRIFT_MARGIN));
            return rung(NAME, RungStatus::NotHeld, figures, evidence);
        }
        return missing(NAME, "too few independent seconds to tell drift from noise");
    };
    let evidence = format!(
        "{:+.1} % over the last {}, 90 % interval {:+.1} to {:+.1} % (allowed ± {:.0} %)",
        100.0 * drift.change,
        unit::span((seconds * 1e9) as u64),
        100.0 * drift.low,
        100.0 * drift.high,
        100.0 * DRIFT_MARGIN,
    );
    let furthest = drift.low.abs().max(drift.high.abs());
    let figures = Some((furthest, DRIFT_MARGIN));
    rung(NAME, held(drift.within(DRIFT_MARGIN)), figures, evidence)
}

/// (5) Precise enough.
fn precision(found: &Assessment, target: f64) -> Rung {
    const NAME: &str = "precision";
    let Some(half) = found.half_width else {
        return missing(NAME, "too few independent seconds for an interval");
    };
    let evidence = format!(
        "the 95 % interval of the last level is ± {:.1} % (wanted ± {:.1} %)",
        100.0 * half,
        100.0 * target
    );
    rung(NAME, held(half <= target), Some((half, target)), evidence)
}
