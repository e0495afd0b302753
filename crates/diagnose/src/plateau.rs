//! Does a device give no more although more is asked of it?
//!
//! By Little's law the queue is rate times wait. While a device has room, a
//! longer queue brings a higher rate; at its end the rate stays and only the
//! wait grows. So the moments in which operations queue are compared: where the
//! longer half of the queues brings no more operations than the shorter half,
//! and operations wait several times as long as they do when the device is
//! quiet, the device is at its end.

use crate::load::Samples;
use crate::series::Series;

/// Fewer moments with a queue prove nothing.
const LEAST_MOMENTS: usize = 6;
/// The longer half of the queues over the shorter one: of queues that are alike
/// nothing is learnt.
const LEAST_SPREAD: f64 = 1.5;
/// Shorter queues are one program that waits for each of its operations.
const LEAST_QUEUE: f64 = 2.0;
/// A rate that grows by less than this does not grow.
const SAME_RATE: f64 = 1.10;
/// Waits at the end over quiet ones.
const LEAST_INFLATION: f64 = 3.0;
/// A rate that is mostly within this share of the usual one at the plateau is held
/// by somebody. Not always: a second in which the host itself stood still is no
/// property of the volume.
const HELD: f64 = 0.03;
const HELD_MOSTLY: f64 = 0.66;

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

#[derive(Debug, Clone, Copy)]
struct Loaded {
    queue: f64,
    operations: f64,
    wait_ms: f64,
    seconds: f64,
}

/// The plateau of a device, where its samples prove one.
pub(crate) fn find(samples: &Samples<'_>) -> Option<Plateau> {
    let loaded: Vec<Loaded> = samples
        .iter()
        .filter(|(disk, _)| disk.operations() > 0.0)
        .filter_map(|(disk, seconds)| {
            Some(Loaded {
                queue: disk.in_flight()?,
                operations: disk.operations(),
                wait_ms: disk.mean_wait_ms()?,
                seconds: *seconds,
            })
        })
        .collect();
    let waits: Series = loaded.iter().map(|l| (l.wait_ms, l.seconds)).collect();
    let quiet_ms = waits.quantile(0.1).filter(|ms| *ms > 0.0)?;
    let queued = loaded.into_iter().filter(|l| l.queue >= LEAST_QUEUE);
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
    if inflation < LEAST_INFLATION {
        return None;
    }
    let all: f64 = samples.iter().map(|(_, seconds)| seconds).sum();
    let at_end = samples.iter().filter(|(disk, _)| {
        disk.in_flight().is_some_and(|q| q >= LEAST_QUEUE) && disk.operations() >= 0.9 * rate
    });
    let rates: Series = long.iter().map(|l| (l.operations, l.seconds)).collect();
    let usual = rates.quantile(0.5).unwrap_or(rate);
    let like_it = rates.share_from((1.0 - HELD) * usual) - rates.share_from((1.0 + HELD) * usual);
    Some(Plateau {
        operations: rate,
        queue: level.queue,
        wait_ms: level.wait_ms,
        inflation,
        time_share: at_end.map(|(_, seconds)| seconds).sum::<f64>() / all,
        held: like_it >= HELD_MOSTLY,
    })
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
        wait_ms: mean(long, |l| l.wait_ms),
        seconds: long.iter().map(|l| l.seconds).sum(),
    };
    let grows = of_long.queue >= LEAST_SPREAD * mean(short, |l| l.queue);
    let stays = of_long.operations <= SAME_RATE * mean(short, |l| l.operations);
    (grows && stays).then_some(of_long)
}
