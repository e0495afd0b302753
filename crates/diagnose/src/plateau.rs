//! Does a device give no more although more is asked of it?
//!
//! By Little's law the queue is rate times wait. While a device has room, a
//! longer queue brings a higher rate; at its end the rate stays and only the
//! wait grows. So the moments in which operations queue are compared: where the
//! longer half of the queues brings no more operations than the shorter half,
//! and operations wait several times as long as they do when the device is
//! quiet, the device is at its end.
//!
//! A program that asks at a pace of its own shows the same figures: the rate is
//! its pace, and queue and wait are the size of its batches or the whims of the
//! device. Two things tell them apart. A device at its end is never empty, while
//! batches leave it empty in between (`%util` well below 100 %). And a pace is
//! there in the quiet moments, too: where a device that is empty for part of the
//! time gives that rate as well, the rate is not its end.

use fathom_rules::diagnosis::plateau::{
    ALWAYS_FULL, AT_RATE, CONSTANT, FULL_QUEUE, LEAST_MOMENTS, LEAST_QUEUE, LEAST_SPREAD,
    LIKE_BLOCK, LIKE_RATE, NEVER_EMPTY, QUIET_QUANTILE, QUIET_QUEUE, QUIET_SHARE, SAME_BYTES,
    SAME_RATE, SOME_RATE, THRESHOLD as LEAST_INFLATION,
};

use crate::load::Samples;
use crate::recording::DiskMoment;
use crate::series::Series;

/// What a device at its end shows.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Plateau {
    /// Operations per second that it gives.
    pub(crate) operations: f64,
    /// Mean queue there.
    pub(crate) queue: f64,
    /// Mean wait there, in milliseconds.
    pub(crate) wait_ms: f64,
    /// Wait over that of the quiet device.
    pub(crate) inflation: f64,
    /// Share of the time at the plateau.
    pub(crate) time_share: f64,
    /// The rate is so even that somebody holds it.
    pub(crate) held: bool,
}

impl Plateau {
    /// Whether a moment of its device is one at the plateau.
    pub(crate) fn holds(&self, disk: &DiskMoment) -> bool {
        is_at(self.operations, disk)
    }
}

fn is_at(rate: f64, disk: &DiskMoment) -> bool {
    disk.in_flight().is_some_and(|q| q >= LEAST_QUEUE) && disk.operations() >= AT_RATE * rate
}

#[derive(Debug, Clone, Copy)]
struct Loaded {
    queue: f64,
    operations: f64,
    bytes: f64,
    wait_ms: f64,
    seconds: f64,
    /// Never empty, as far as that is counted.
    full: bool,
}

impl Loaded {
    /// Operations wait for one another: several are there, or the device is never empty
    /// with somewhat fewer.
    fn is_queued(&self) -> bool {
        self.queue >= LEAST_QUEUE || (self.full && self.queue >= FULL_QUEUE)
    }

    fn block_bytes(&self) -> f64 {
        self.bytes / self.operations
    }
}

/// The plateau of a device, where its samples prove one.
pub(crate) fn find(samples: &Samples<'_>) -> Option<Plateau> {
    let loaded = of_like_blocks(samples);
    let waits: Series = loaded.iter().map(|l| (l.wait_ms, l.seconds)).collect();
    let quiet_ms = waits.quantile(QUIET_QUANTILE).filter(|ms| *ms > 0.0)?;
    let queued = loaded.into_iter().filter(Loaded::is_queued);
    let mut queued: Vec<Loaded> = queued.collect();
    queued.sort_by(|a, b| a.queue.total_cmp(&b.queue));
    // The plateau begins at some queue, which is not known: shorter ones, on the
    // slope before it, are left out one after the other.
    let parts = (0..).map(|left_out| queued.get(left_out..).unwrap_or_default());
    let mut parts = parts.take_while(|part| part.len() >= LEAST_MOMENTS);
    let (long, level) =
        parts.find_map(|part| Some((part.split_at(part.len() / 2).1, level(part)?)))?;
    let rate = level.operations;
    let inflation = level.wait_ms / quiet_ms;
    if inflation < LEAST_INFLATION || is_empty_at_times(samples, rate) || is_a_pace(samples, rate) {
        return None;
    }
    let all: f64 = samples.iter().map(|(_, seconds)| seconds).sum();
    let at_end = samples.iter().filter(|(disk, _)| is_at(rate, disk));
    let rates: Series = long.iter().map(|l| (l.operations, l.seconds)).collect();
    Some(Plateau {
        operations: rate,
        queue: level.queue,
        wait_ms: level.wait_ms,
        inflation,
        time_share: at_end.map(|(_, seconds)| seconds).sum::<f64>() / all,
        held: rates.is_held(),
    })
}

/// Moments with operations, of blocks like those of most moments with a queue.
fn of_like_blocks(samples: &Samples<'_>) -> Vec<Loaded> {
    let active = samples.iter().filter(|(disk, _)| disk.operations() > 0.0);
    let mut loaded: Vec<Loaded> = active
        .filter_map(|(disk, seconds)| {
            Some(Loaded {
                queue: disk.in_flight()?,
                operations: disk.operations(),
                bytes: disk.bytes(),
                wait_ms: disk.mean_wait_ms()?,
                seconds: *seconds,
                full: disk.util.is_some_and(|util| util >= ALWAYS_FULL),
            })
        })
        .collect();
    let queued = loaded.iter().filter(|l| l.is_queued());
    let blocks: Series = queued.map(|l| (l.block_bytes(), l.seconds)).collect();
    // Some recordings hold no bytes.
    if let Some(usual) = blocks.quantile(0.5).filter(|bytes| *bytes > 0.0) {
        let like = usual / LIKE_BLOCK..=usual * LIKE_BLOCK;
        loaded.retain(|l| like.contains(&l.block_bytes()));
    }
    loaded
}

/// The device is empty for part of the time in which it is said to be full. What
/// is not counted, or counted as nothing at all, says nothing.
fn is_empty_at_times(samples: &Samples<'_>, rate: f64) -> bool {
    let at_end = samples.iter().filter(|(disk, _)| is_at(rate, disk));
    let busy: Series = at_end
        .filter_map(|(disk, seconds)| Some((disk.util?, *seconds)))
        .collect();
    busy.mean()
        .is_some_and(|busy| busy > 0.0 && busy < NEVER_EMPTY)
}

/// The rate is that of most quiet moments, too: somebody asks at this pace.
fn is_a_pace(samples: &Samples<'_>, rate: f64) -> bool {
    let all: f64 = samples.iter().map(|(_, seconds)| seconds).sum();
    let quiet: Series = samples
        .iter()
        .filter(|(disk, _)| disk.operations() >= SOME_RATE * rate)
        .filter(|(disk, _)| disk.in_flight().is_some_and(|q| q < QUIET_QUEUE))
        .map(|(disk, seconds)| (disk.operations(), *seconds))
        .collect();
    let like_it = quiet.share_from(AT_RATE * rate) - quiet.share_from(LIKE_RATE * rate);
    quiet.seconds() >= QUIET_SHARE * all && like_it >= CONSTANT
}

/// Means of the longer half of these queues, where it brings no more than the
/// shorter half.
fn level(queued: &[Loaded]) -> Option<Loaded> {
    let (short, long) = queued.split_at(queued.len() / 2);
    let mean = |part: &[Loaded], of: fn(&Loaded) -> f64| {
        let series: Series = part.iter().map(|l| (of(l), l.seconds)).collect();
        series.mean().unwrap_or(0.0)
    };
    let of_long = Loaded {
        queue: mean(long, |l| l.queue),
        operations: mean(long, |l| l.operations),
        bytes: mean(long, |l| l.bytes),
        wait_ms: mean(long, |l| l.wait_ms),
        seconds: long.iter().map(|l| l.seconds).sum(),
        full: long.iter().all(|l| l.full),
    };
    let grows = of_long.queue >= LEAST_SPREAD * mean(short, |l| l.queue);
    let stays = of_long.operations <= SAME_RATE * mean(short, |l| l.operations);
    let moves_no_more = of_long.bytes <= SAME_BYTES * mean(short, |l| l.bytes);
    (grows && stays && moves_no_more).then_some(of_long)
}
