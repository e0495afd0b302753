//! For how long a threshold was crossed at a stretch.

use fathom_model::alarm::AlarmState;
use fathom_model::machine::{HostReading, mean_of};
use fathom_rules::Rule;
use fathom_rules::method::stretches::{PARTS, ROUNDING};

pub(super) struct Crossed {
    pub(super) state: AlarmState,
    pub(super) value: f64,
    pub(super) crossed_seconds: f64,
    pub(super) seen_seconds: f64,
}

/// Judges the readings of one instance, which follow one another in time.
pub(super) fn crossed(rule: &Rule, readings: &[&HostReading]) -> Crossed {
    // A mean of readings at the threshold is not beyond it, whatever its sum was rounded to.
    let rounded = rule.limit().abs() * f64::EPSILON * (readings.len() + 1) as f64;
    let beyond = |value: f64| match rule.below {
        true => value < rule.limit() - rounded,
        false => value > rule.limit() + rounded,
    };
    let worse = |a: f64, b: f64| match rule.below {
        true => a.min(b),
        false => a.max(b),
    };
    let worst = readings
        .iter()
        .map(|r| r.value)
        .reduce(worse)
        .unwrap_or(f64::NAN);
    let seen_seconds: f64 = readings.iter().map(|r| r.seconds).sum();
    if rule.for_seconds == 0 {
        // One interval is enough; of a state the last reading counts.
        let last = readings.last().map_or(f64::NAN, |r| r.value);
        let value = if seen_seconds > 0.0 { worst } else { last };
        return at_once(value, beyond(value), seen_seconds);
    }
    let asked = rule.for_seconds as f64;
    let (mut best_seconds, mut best_value) = (0.0_f64, f64::NAN);
    let (mut seconds, mut sum) = (0.0, 0.0);
    for StretchPart {
        seconds: length,
        mean: value,
        after_gap,
    } in means(readings, asked / PARTS)
    {
        if after_gap {
            (seconds, sum) = (0.0, 0.0);
        }
        if beyond(value) {
            seconds += length;
            sum += value * length;
            if seconds > best_seconds {
                (best_seconds, best_value) = (seconds, sum / seconds);
            }
        } else {
            (seconds, sum) = (0.0, 0.0);
        }
    }
    // What reaches to the end of a short look may go on; what ended did not last.
    let (state, value) = if best_seconds >= asked * ROUNDING {
        (AlarmState::Firing, best_value)
    } else if seconds > 0.0 {
        (AlarmState::NotMeasurable, best_value)
    } else {
        (
            AlarmState::Ok,
            mean_of(readings.iter().copied()).unwrap_or(worst),
        )
    };
    Crossed {
        state,
        value,
        crossed_seconds: best_seconds,
        seen_seconds,
    }
}

/// A threshold that need not be crossed for any time.
fn at_once(value: f64, is_beyond: bool, seen_seconds: f64) -> Crossed {
    Crossed {
        state: match is_beyond {
            true => AlarmState::Firing,
            false => AlarmState::Ok,
        },
        value,
        crossed_seconds: 0.0,
        seen_seconds,
    }
}

/// A mean over some time.
struct StretchPart {
    seconds: f64,
    mean: f64,
    /// Nothing is known of the time before it.
    after_gap: bool,
}

/// Means over parts of at least this length. A time without readings that is
/// as long ends a part, and so does one that goes back, as in a second file.
fn means(readings: &[&HostReading], least: f64) -> Vec<StretchPart> {
    let mut parts = Vec::new();
    let (mut seconds, mut sum, mut after_gap) = (0.0, 0.0, false);
    let mut last: Option<f64> = None;
    for reading in readings {
        let from = reading.at_seconds - reading.seconds;
        let hole = last.is_some_and(|last| from - last > least || reading.at_seconds < last);
        last = Some(reading.at_seconds);
        if hole {
            if seconds > 0.0 {
                let mean = sum / seconds;
                parts.push(StretchPart {
                    seconds,
                    mean,
                    after_gap,
                });
            }
            (seconds, sum, after_gap) = (0.0, 0.0, true);
        }
        let length = reading.seconds.max(f64::MIN_POSITIVE);
        seconds += length;
        sum += reading.value * length;
        if seconds >= least * ROUNDING {
            let mean = sum / seconds;
            parts.push(StretchPart {
                seconds,
                mean,
                after_gap,
            });
            (seconds, sum, after_gap) = (0.0, 0.0, false);
        }
    }
    if seconds > 0.0 {
        let mean = sum / seconds;
        parts.push(StretchPart {
            seconds,
            mean,
            after_gap,
        });
    }
    parts
}
