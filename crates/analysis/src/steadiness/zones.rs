//! Rate by position: a sequential pass over a hard disk, whose outer tracks
//! hold more and so are faster than its inner ones.
//!
//! With one worker that goes through its range in order, bytes moved are the
//! offset. The time at each border of the profile is interpolated within its
//! second.

use fathom_model::estimate::{Estimate, Unit};
use fathom_model::fingerprint::Fingerprint;
use fathom_model::run::TrialRecord;
use fathom_model::steadiness::{Zone, ZoneProfile};
use fathom_model::workload::Pattern;
use fathom_rules::method::zones::{
    END_SHARE, ONE_PASS, PARTS as ZONES, THRESHOLD as LEAST_COVERED,
};
use fathom_stats::effective_size::MIN_EFFECTIVE;

use super::track::{Track, TrackCell};
use crate::statistics::ratio::{Ratio, RatioPart};
use crate::trial::Trial;

/// The rate by offset of a sequential pass over most of its range; `None` for
/// any other trial.
///
/// The first zone begins at the start of the accessed range. Trials with
/// several workers have none: each goes through a part of its own.
pub fn zone_profile(trial: &TrialRecord) -> Option<ZoneProfile> {
    let host = Fingerprint::default();
    let trial = Trial::new(trial, &host);
    of_track(&trial, &Track::of_trial(&trial))
}

pub(crate) fn of_track(trial: &Trial<'_>, track: &Track) -> Option<ZoneProfile> {
    let workload = trial.workload;
    let backwards = match workload.pattern {
        Pattern::Sequential => false,
        Pattern::Backwards => true,
        _ => return None,
    };
    let range = trial.end().map_or(0, |end| end.data.active_bytes) as f64;
    let total: f64 = track.cells.iter().map(|c| c.bytes).sum();
    let covered = total / range;
    let single = workload.workers == 1 && workload.warmup_ns == 0;
    if !single || !(LEAST_COVERED..=ONE_PASS).contains(&covered) {
        return None;
    }
    let times = Times::of(&track.cells);
    let width = total / ZONES as f64;
    let offset = |moved: f64| match backwards {
        true => (range - moved).max(0.0),
        false => moved,
    };
    let mut zones: Vec<Zone> = (0..ZONES)
        .map(|i| {
            let (from, to) = (width * i as f64, width * (i + 1) as f64);
            let seconds = times.at(to) - times.at(from);
            let (start, end) = (offset(from).min(offset(to)), offset(from).max(offset(to)));
            Zone {
                start_bytes: start as u64,
                end_bytes: end as u64,
                bytes_per_second: width / seconds.max(1e-9),
            }
        })
        .collect();
    zones.sort_by_key(|zone| zone.start_bytes);
    Some(ZoneProfile {
        zones,
        outer_over_inner: ends(track, total, backwards),
        covered: covered.min(1.0),
    })
}

/// Time by which so many bytes had moved.
struct Times {
    /// Bytes and seconds so far, ascending.
    points: Vec<(f64, f64)>,
}

impl Times {
    fn of(cells: &[TrackCell]) -> Times {
        let mut points = vec![(0.0, 0.0)];
        let (mut bytes, mut seconds) = (0.0, 0.0);
        for cell in cells {
            bytes += cell.bytes;
            seconds += cell.seconds;
            points.push((bytes, seconds));
        }
        Times { points }
    }

    fn at(&self, bytes: f64) -> f64 {
        let next = self.points.partition_point(|p| p.0 < bytes);
        let next = next.clamp(1, self.points.len() - 1);
        let (before, after) = (self.points[next - 1], self.points[next]);
        let share = match after.0 - before.0 {
            gap if gap > 0.0 => ((bytes - before.0) / gap).clamp(0.0, 1.0),
            _ => 1.0,
        };
        before.1 + share * (after.1 - before.1)
    }
}

/// Rate of the first fiftieth of the range over that of the last.
fn ends(track: &Track, total: f64, backwards: bool) -> Estimate {
    let end = (total * END_SHARE).max(1.0);
    let mut before = 0.0;
    let (mut first, mut last) = (Vec::new(), Vec::new());
    for cell in &track.cells {
        let part = RatioPart {
            numerator: cell.bytes,
            denominator: cell.seconds,
        };
        if before + cell.bytes <= end || first.is_empty() {
            first.push(part);
        }
        if before >= total - end {
            last.push(part);
        }
        before += cell.bytes;
    }
    if last.is_empty() {
        last.extend(track.cells.last().map(|cell| RatioPart {
            numerator: cell.bytes,
            denominator: cell.seconds,
        }));
    }
    let (outer, inner) = match backwards {
        true => (last, first),
        false => (first, last),
    };
    let (Some(outer), Some(inner)) = (Ratio::of(&outer), Ratio::of(&inner)) else {
        return Estimate::unknown(Unit::Ratio, "nothing was moved at one of the ends");
    };
    let value = outer.value / inner.value;
    let relative = |ratio: &Ratio| {
        let error = ratio.error.filter(|e| e.n_effective >= MIN_EFFECTIVE)?;
        Some((ratio.half_width()? / ratio.value, error.n_effective))
    };
    match (relative(&outer), relative(&inner)) {
        (Some(outer), Some(inner)) if value.is_finite() => {
            let half = outer.0.hypot(inner.0);
            let n = outer.1.min(inner.1);
            Estimate::known(
                Unit::Ratio,
                value,
                value * (-half).exp(),
                value * half.exp(),
                n,
            )
        }
        _ if value.is_finite() => Estimate::point(
            Unit::Ratio,
            value,
            "the ends were passed in too few independent seconds each",
        ),
        _ => Estimate::unknown(Unit::Ratio, "nothing was moved at one of the ends"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_records::RecordBuilder;
    use fathom_model::Phase;
    use fathom_model::workload::BlockSizes;

    /// A pass whose rate falls from 200 to 100 MB/s along the range.
    fn pass(pattern: Pattern) -> TrialRecord {
        let builder = RecordBuilder::reads().with(|b| {
            b.workload.pattern = pattern;
            b.workload.block = BlockSizes::Fixed(1 << 20);
            b.ops_per_second = 10;
            b.seconds = 700;
            b.observed = false;
        });
        let mut trial = builder.trial();
        let range = 100e9f64;
        let backwards = trial.spec.workload.pattern == Pattern::Backwards;
        let mut moved = 0.0;
        trial.samples.retain_mut(|sample| {
            assert_eq!(sample.phase, Phase::Measure);
            let at = if backwards { range - moved } else { moved };
            let rate = 200e6 - 100e6 * at / range;
            let bytes = rate.min(range - moved);
            sample.duration_ns = (bytes / rate * 1e9) as u64;
            sample.ops[0].bytes = bytes as u64;
            moved += bytes;
            bytes > 1.0
        });
        trial.end.as_mut().unwrap().data.active_bytes = range as u64;
        trial
    }

    #[test]
    fn the_zones_of_a_pass_are_those_of_the_disk() {
        for pattern in [Pattern::Sequential, Pattern::Backwards] {
            let profile = zone_profile(&pass(pattern)).unwrap();
            assert_eq!(profile.zones.len(), ZONES);
            for zone in &profile.zones {
                let middle = (zone.start_bytes + zone.end_bytes) as f64 / 2.0;
                let truth = 200e6 - 100e6 * middle / 100e9;
                assert!(
                    (zone.bytes_per_second / truth - 1.0).abs() < 0.01,
                    "{zone:?}"
                );
            }
            let ratio = profile.outer_over_inner.value.unwrap();
            assert!((ratio / (199.0 / 101.0) - 1.0).abs() < 0.02, "{ratio}");
        }
    }

    #[test]
    fn other_trials_have_no_zones() {
        assert_eq!(zone_profile(&RecordBuilder::reads().trial()), None);
        let mut several = pass(Pattern::Sequential);
        several.spec.workload.workers = 2;
        assert_eq!(zone_profile(&several), None);
        let mut short = pass(Pattern::Sequential);
        short.samples.truncate(100);
        assert_eq!(zone_profile(&short), None);
    }
}
