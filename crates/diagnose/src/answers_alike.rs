//! Does a device answer as fast when more is asked of it?
//!
//! The opposite of a plateau: where the moments with the higher rates show the
//! same waits as those with the lower rates, nothing queued at the higher rate
//! either, and the device has room at least up to there. It needs a load that
//! changes; of one that is always the same nothing is learnt. Where the higher rates
//! move no more bytes, only the blocks were smaller: a volume at its limit of bytes
//! per second shows that, too.

use fathom_model::unit;
use fathom_rules::diagnosis::answers_alike::{
    EVEN_WAITS, LEAST_MOMENTS, LEAST_RATE, LEAST_SPREAD, OUTER_SHARE, THRESHOLD as SAME_WAIT,
};

use crate::load::Samples;
use crate::series::Series;

/// A device that answers alike.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Alike {
    /// Mean of the lower rates, operations per second, and of their waits in
    /// milliseconds.
    pub(crate) low: (f64, f64),
    /// The same of the higher rates.
    pub(crate) high: (f64, f64),
}

/// The same in words, where the samples of a device show it.
pub(crate) fn line(name: &str, samples: &Samples<'_>) -> Option<String> {
    let Alike { low, high } = find(samples)?;
    Some(format!(
        "{name}: at {} IOPS it answers as fast ({:.2} ms) as at {} ({:.2} ms): it has room",
        unit::count(high.0),
        high.1,
        unit::count(low.0),
        low.1
    ))
}

/// What its samples show of a device.
pub(crate) fn find(samples: &Samples<'_>) -> Option<Alike> {
    let active = samples
        .iter()
        .filter(|(disk, _)| disk.operations() >= LEAST_RATE);
    let mut active: Vec<Active> = active
        .filter_map(|(disk, seconds)| {
            Some(Active {
                rate: disk.operations(),
                bytes: disk.bytes(),
                wait_ms: disk.mean_wait_ms()?,
                seconds: *seconds,
            })
        })
        .collect();
    if active.len() < LEAST_MOMENTS {
        return None;
    }
    active.sort_by(|a, b| a.rate.total_cmp(&b.rate));
    let (slow, fast) = active.split_at(active.len() / 2);
    let (low, high) = (rate_and_wait(slow)?, rate_and_wait(fast)?);
    let more = high.0 >= LEAST_SPREAD * low.0;
    let same = high.1 <= SAME_WAIT * low.1 && low.1 <= SAME_WAIT * high.1;
    let waits: Series = active.iter().map(|a| (a.wait_ms, a.seconds)).collect();
    let even = waits.quantile(1.0 - OUTER_SHARE)? <= EVEN_WAITS * waits.quantile(OUTER_SHARE)?;
    (more && same && even && moves_more(slow, fast)?).then_some(Alike { low, high })
}

/// A moment in which operations ended.
#[derive(Debug, Clone, Copy)]
struct Active {
    /// Operations per second.
    rate: f64,
    /// Bytes per second; 0 where the recording holds none.
    bytes: f64,
    wait_ms: f64,
    seconds: f64,
}

fn rate_and_wait(part: &[Active]) -> Option<(f64, f64)> {
    let rates: Series = part.iter().map(|a| (a.rate, a.seconds)).collect();
    // By operations and not by time.
    let waits: Series = part
        .iter()
        .map(|a| (a.wait_ms, a.rate * a.seconds))
        .collect();
    Some((rates.mean()?, waits.mean()?))
}

/// Whether the higher rates move more bytes, too, where bytes are known.
fn moves_more(slow: &[Active], fast: &[Active]) -> Option<bool> {
    let bytes = |part: &[Active]| {
        let bytes: Series = part.iter().map(|a| (a.bytes, a.seconds)).collect();
        bytes.mean()
    };
    let (slow, fast) = (bytes(slow)?, bytes(fast)?);
    Some(slow == 0.0 || fast >= LEAST_SPREAD * slow)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::recording::DiskMoment;

    fn seen(of: impl Fn(f64) -> (f64, f64)) -> Option<Alike> {
        let moments: Vec<DiskMoment> = (0..12)
            .map(|second| {
                let (rate, wait_ms) = of(f64::from(second % 4 + 1));
                DiskMoment {
                    reads: rate,
                    read_wait_ms: Some(wait_ms),
                    write_wait_ms: Some(0.0),
                    ..DiskMoment::default()
                }
            })
            .collect();
        find(&moments.iter().map(|disk| (disk, 1.0)).collect())
    }

    #[test]
    fn the_same_times_at_twice_the_rate_are_room() {
        let alike = seen(|load| (100.0 * load, 0.5 + 0.01 * load)).expect("room");
        assert_eq!((alike.low.0, alike.high.0), (150.0, 350.0));
        assert!(alike.high.1 < 0.55, "{alike:?}");
    }

    #[test]
    fn smaller_blocks_at_the_same_bytes_per_second_show_none() {
        let mut moments: Vec<DiskMoment> = (0..12)
            .map(|second| {
                let rate = 100.0 * f64::from(second % 4 + 1);
                DiskMoment {
                    writes: rate,
                    write_bytes: 37e6,
                    read_wait_ms: Some(0.0),
                    write_wait_ms: Some(9.0),
                    ..DiskMoment::default()
                }
            })
            .collect();
        assert_eq!(
            find(&moments.iter().map(|disk| (disk, 1.0)).collect()),
            None
        );
        for disk in &mut moments {
            disk.write_bytes = 65_536.0 * disk.writes;
        }
        assert!(find(&moments.iter().map(|disk| (disk, 1.0)).collect()).is_some());
    }

    #[test]
    fn longer_times_and_even_loads_show_none() {
        // At its end the rate stays and the times grow.
        assert_eq!(seen(|load| (400.0, 2.0 * load)), None);
        // Below it, too, where operations begin to queue.
        assert_eq!(seen(|load| (100.0 * load, 0.5 * load)), None);
        assert_eq!(seen(|_| (400.0, 2.0)), None);
        // One after the other: the rate is what the wait leaves.
        assert_eq!(seen(|load| (1000.0 / (5.0 + load), 5.0 + load)), None);
        // A device at its end whose rate varies by itself.
        let queues = |load: f64| if load < 2.0 { 30.0 } else { 90.0 };
        assert_eq!(seen(|load| (100.0 + 20.0 * load, queues(load))), None);
        assert_eq!(seen(|load| (load, 2.0)), None);
    }
}
