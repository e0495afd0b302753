//! What the devices did while the workload ran.
//!
//! Samples and observations have boundaries of their own. Both are compared
//! over one window that consists of whole observations; the samples are cut to
//! it in proportion. Where a second is cut, up to half of it is uncertain: that
//! part, a twentieth of the second for the jitter of the two clocks' ticks, and
//! the operations in flight are given as slack, always in favour of the
//! measurement.
//!
//! Trials that run at the same time on the same devices are taken together:
//! the device does not know whose operations it carries out.

use fathom_model::observation::{DeviceActivity, Observation};
use fathom_model::sample::Phase;
use fathom_rules::method::observed::{JITTER, THRESHOLD as LEAST_COVERAGE};

use crate::company::{self, Piece, overlap};
use crate::trial::Trial;
use crate::unknown::Unknown;

/// Bytes of the workload in a window.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) struct Moved {
    /// Bytes, cut to the window in proportion.
    pub(crate) bytes: f64,
    /// How many of them may lie on the other side of a boundary.
    pub(crate) slack: f64,
}

/// Requests that one device completed.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct DeviceCounts {
    pub(crate) name: String,
    pub(crate) reads: f64,
    pub(crate) writes: f64,
    pub(crate) write_bytes: f64,
    pub(crate) read_bytes: f64,
    /// `None` where the kernel does not count them.
    pub(crate) flushes: Option<f64>,
}

/// Devices and workload over the same window.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Activity {
    /// Length of the window.
    pub(crate) seconds: f64,
    /// Names of the leaf devices that were seen.
    pub(crate) leaves: Vec<String>,
    pub(crate) device_read_bytes: f64,
    pub(crate) device_write_bytes: f64,
    /// Reads of the workload, and of others of the set on the same devices.
    pub(crate) read: Moved,
    /// Writes of the same.
    pub(crate) written: Moved,
    /// Those of the reads that went past the page cache.
    pub(crate) direct_read: Moved,
    /// Those of the writes that went past the page cache.
    pub(crate) direct_written: Moved,
    /// Flushes that they asked for.
    pub(crate) syncs: f64,
    /// Reads that they carried out.
    pub(crate) reads: f64,
    /// Writes that they carried out.
    pub(crate) writes: f64,
    /// Bytes that the process caused to be fetched, where known throughout.
    pub(crate) own_read_bytes: Option<f64>,
    /// Dirty and writeback bytes of the host when the window began.
    pub(crate) dirty_before_bytes: f64,
    /// What each device under the target did, leaf or not.
    pub(crate) devices: Vec<DeviceCounts>,
    /// Mean requests in the queues of the leaf devices.
    pub(crate) mean_queue: f64,
    /// Time of the leaf devices spent in flushes, over the window.
    pub(crate) flush_share: f64,
}

impl Activity {
    /// Over the measure phase; the reason when that cannot be had.
    pub(crate) fn of_measure(trial: &Trial<'_>) -> Result<Activity, Unknown> {
        let start = trial.measured().map(|s| s.start_ns).min();
        let end = trial.measured().map(super::trial::Second::end_ns).max();
        let (Some(start), Some(end)) = (start, end) else {
            return Err(Unknown::because("nothing was measured"));
        };
        Activity::over(trial, signed(start), signed(end))
    }

    /// From the start of the load to the last observation: with the final
    /// flush and whatever the kernel wrote back until then.
    pub(crate) fn of_load_and_after(trial: &Trial<'_>) -> Result<Activity, Unknown> {
        Activity::over(trial, 0, i64::MAX)
    }

    fn over(trial: &Trial<'_>, start: i64, end: i64) -> Result<Activity, Unknown> {
        let all = &trial.record.observations;
        if all.is_empty() {
            return Err(Unknown::because("the host was not observed"));
        }
        let inside: Vec<&Observation> = all
            .iter()
            .filter(|o| o.start_ns < end && observation_end(o) > start)
            .filter(|o| o.devices.iter().any(|d| d.leaf))
            .collect();
        let (Some(first), Some(last)) = (inside.first(), inside.last()) else {
            return Err(Unknown::because(
                "no block device below the target was observed",
            ));
        };
        let window = (first.start_ns, observation_end(last));
        let observed: f64 = inside.iter().map(|o| o.duration_ns as f64).sum();
        let load_end = trial.seconds.last().map_or(0, |s| signed(s.end_ns()));
        let wanted = (end.min(load_end) as f64 - start as f64).max(1.0);
        if observed / wanted < LEAST_COVERAGE {
            return Err(Unknown::because(format!(
                "the devices were observed for only {:.0} % of the time",
                100.0 * observed / wanted
            )));
        }
        Ok(fill(trial, &inside, window))
    }
}

fn fill(trial: &Trial<'_>, inside: &[&Observation], window: (i64, i64)) -> Activity {
    let leaves = || {
        inside
            .iter()
            .flat_map(|o| o.devices.iter().filter(|d| d.leaf))
    };
    let sum = |field: fn(&DeviceActivity) -> u64| leaves().map(|d| field(d) as f64).sum::<f64>();
    let mut names: Vec<String> = leaves().map(|d| d.name.clone()).collect();
    names.sort_unstable();
    names.dedup();
    let done = pieces(trial);
    let observed_ns = inside
        .iter()
        .map(|o| o.duration_ns as f64)
        .sum::<f64>()
        .max(1.0);
    let first = inside.first();
    let dirty = |o: &&Observation| {
        let memory = o.memory?;
        Some(memory.dirty_bytes as f64 + memory.writeback_bytes as f64)
    };
    Activity {
        seconds: observed_ns / 1e9,
        leaves: names,
        device_read_bytes: sum(|d| d.read_bytes),
        device_write_bytes: sum(|d| d.write_bytes),
        read: moved(trial, &done, |p| p.all().read_bytes, window),
        written: moved(trial, &done, |p| p.all().written_bytes, window),
        direct_read: moved(trial, &done, |p| p.direct.read_bytes, window),
        direct_written: moved(trial, &done, |p| p.direct.written_bytes, window),
        syncs: count(&done, |p| p.all().syncs, window),
        reads: count(&done, |p| p.all().reads, window),
        writes: count(&done, |p| p.all().writes, window),
        own_read_bytes: own_read_bytes(trial, inside, window),
        dirty_before_bytes: before(trial, window.0)
            .as_ref()
            .or(first)
            .and_then(dirty)
            .unwrap_or(0.0),
        devices: device_counts(inside),
        mean_queue: leaves().map(DeviceActivity::time_in_flight_ns).sum::<f64>() / observed_ns,
        flush_share: sum(|d| d.flush_time_ns.unwrap_or(0)) / observed_ns,
    }
}

fn device_counts(inside: &[&Observation]) -> Vec<DeviceCounts> {
    let mut counts: Vec<DeviceCounts> = Vec::new();
    for device in inside.iter().flat_map(|o| &o.devices) {
        let at = counts.iter().position(|known| known.name == device.name);
        let at = at.unwrap_or_else(|| {
            counts.push(DeviceCounts {
                name: device.name.clone(),
                flushes: Some(0.0),
                ..DeviceCounts::default()
            });
            counts.len() - 1
        });
        let known = &mut counts[at];
        known.reads += device.reads as f64;
        known.writes += device.writes as f64;
        known.write_bytes += device.write_bytes as f64;
        known.read_bytes += device.read_bytes as f64;
        let flushes = known.flushes.zip(device.flushes);
        known.flushes = flushes.map(|(sum, more)| sum + more as f64);
    }
    counts
}

/// Bytes that the process caused to be fetched, and those that other agents of
/// the run on the same machine did.
fn own_read_bytes(trial: &Trial<'_>, inside: &[&Observation], window: (i64, i64)) -> Option<f64> {
    let own = inside.iter();
    let own: Option<f64> = own.map(|o| Some(o.own?.storage_read_bytes? as f64)).sum();
    let company = trial.company.as_ref();
    let others = company.map_or(Some(0.0), |c| c.fetched_by_others(trial, window));
    Some(own? + others?)
}

/// The last observation that ended before the window began: its memory is
/// that of the window's start.
fn before<'a>(trial: &Trial<'a>, start: i64) -> Option<&'a Observation> {
    let earlier = |o: &&Observation| observation_end(o) <= start;
    trial.record.observations.iter().rev().find(earlier)
}

/// What was done in one stretch of time that is of interest, for a question.
type Of = fn(&Piece) -> f64;

/// What the trial did, or all that loaded the same devices.
fn pieces(trial: &Trial<'_>) -> Vec<Piece> {
    match &trial.company {
        Some(company) => company.pieces_of(trial).collect(),
        None => company::own_pieces(trial),
    }
}

fn moved(trial: &Trial<'_>, pieces: &[Piece], bytes_of: Of, window: (i64, i64)) -> Moved {
    let mut moved = Moved::default();
    for piece in pieces {
        let bytes = bytes_of(piece);
        let share = overlap(piece.start_ns, piece.duration_ns, window);
        moved.bytes += bytes * share;
        let start = piece.start_ns;
        let end = start.saturating_add(signed(piece.duration_ns));
        if (start < window.0 && window.0 < end) || (start < window.1 && window.1 < end) {
            moved.slack += bytes * share.min(1.0 - share).max(JITTER);
        } else if start == window.0 || end == window.1 {
            moved.slack += bytes * JITTER;
        }
    }
    if moved.bytes > 0.0 {
        let block = trial.workload.max_block_bytes() as f64;
        let own = trial.total_depth() as f64 * block;
        moved.slack += trial.company.as_ref().map_or(own, |c| c.in_flight_bytes);
    }
    moved
}

fn count(pieces: &[Piece], of: Of, window: (i64, i64)) -> f64 {
    let shares = pieces
        .iter()
        .map(|p| of(p) * overlap(p.start_ns, p.duration_ns, window));
    shares.sum()
}

pub(crate) fn observation_end(observation: &Observation) -> i64 {
    observation
        .start_ns
        .saturating_add(signed(observation.duration_ns))
}

fn signed(nanoseconds: u64) -> i64 {
    i64::try_from(nanoseconds).unwrap_or(i64::MAX)
}

/// Observations of the host that overlap the measure phase, device or not.
pub(crate) fn host_observations<'a>(trial: &Trial<'a>) -> Vec<&'a Observation> {
    let start = trial.measured().map(|s| s.start_ns).min();
    let end = trial.measured().map(super::trial::Second::end_ns).max();
    let (Some(start), Some(end)) = (start, end) else {
        return Vec::new();
    };
    debug_assert!(trial.measured().all(|s| s.phase == Phase::Measure));
    trial
        .record
        .observations
        .iter()
        .filter(|o| o.start_ns < signed(end) && observation_end(o) > signed(start))
        .collect()
}
