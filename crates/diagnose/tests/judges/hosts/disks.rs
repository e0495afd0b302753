//! Devices: what is in flight, how long each takes, and what of that is recorded.

use fathom_diagnose::recording::DiskMoment;

use crate::course::Course;
use crate::draw::Draw;

const QUEUES: &[f64] = &[
    0.0, 0.1, 0.19, 0.2, 0.49, 0.5, 0.79, 0.8, 0.9, 1.0, 1.2, 1.21, 1.5, 2.0, 3.0, 3.49, 3.5, 4.0,
    8.0, 16.0, 64.0,
];
const LONG_QUEUES: &[f64] = &[2.0, 3.0, 3.5, 4.0, 8.0, 16.0, 64.0];
const TIMES_MS: &[f64] = &[
    0.2, 1.0, 2.0, 4.9, 5.0, 9.9, 10.0, 29.0, 30.0, 31.0, 99.0, 100.0, 101.0, 125.0, 300.0, 9999.0,
    10_000.0,
];
const RATES: &[f64] = &[
    0.0, 0.5, 0.9, 1.0, 2.0, 9.9, 10.0, 11.0, 100.0, 249.0, 250.0, 251.0, 400.0, 1000.0, 4000.0,
];
const READ_SHARES: &[f64] = &[0.0, 0.1, 0.2, 0.49, 0.5, 0.7, 0.89, 0.9, 1.0, 1.0, 1.0];

/// What a device does over time.
pub(super) struct Disk {
    name: &'static str,
    queue: Course,
    /// Mean time of an operation, where the rate follows from it.
    ms: Course,
    /// Operations per second, where the time follows from them.
    rate: Course,
    reads: Course,
    block: Course,
    util: Course,
    flushes: Course,
    flush_ms: Course,
    discards: Course,
    outstanding: Course,
    pauses: Course,
    /// Times the rate, which makes it uneven.
    whims: Course,
    /// A device that is empty at times is not said to be in use for longer.
    is_consistent: bool,
    by_kind: bool,
    has_queue: bool,
    undivided: bool,
    /// Times a stated time is longer than queue and rate make it.
    contradicts: f64,
}

impl Disk {
    pub(super) fn drawn(draw: &mut Draw, name: &'static str, plain: bool) -> Disk {
        let (queue, ms, rate) = kind(draw);
        let utils = [
            0.0, 0.1, 0.2, 0.21, 0.5, 0.51, 0.79, 0.8, 0.9, 0.97, 0.98, 1.0,
        ];
        let often = [0.98, 1.0, 1.0, 0.8];
        let few = draw.one_in(if plain { 12 } else { 6 });
        let any = !plain && draw.one_in(2);
        let flushes = [0.0, 1.0, 5.0, 50.0, 200.0];
        Disk {
            name,
            queue,
            ms,
            rate,
            reads: Course::known(draw, READ_SHARES),
            block: Course::known(draw, &[4096.0, 5800.0, 16_384.0, 65_536.0]),
            util: Course::drawn(draw, if any { &utils } else { &often }),
            flushes: gated(draw, few, &flushes),
            flush_ms: gated(draw, few, &[1.0, 4.9, 5.0, 6.0, 20.0, 100.0, 250.0]),
            discards: gated(draw, few, &[0.0, 1.0, 2.0, 10.0]),
            outstanding: match !plain && draw.one_in(3) {
                true => Course::drawn(draw, &[0.0, 0.9, 1.0, 4.0]),
                false => Course::Unknown,
            },
            pauses: match !plain && draw.one_in(10) {
                true => Course::drawn(draw, &[0.0, 0.29, 0.3, 0.31, 0.7, 2.0]),
                false => Course::Unknown,
            },
            whims: match draw.below(5) {
                0 | 1 => Course::Unknown,
                2 => Course::about(draw, 1.0, 0.01),
                3 => Course::about(draw, 1.0, 0.08),
                _ => Course::about(draw, 1.0, 0.3),
            },
            is_consistent: plain || !draw.one_in(6),
            by_kind: !draw.one_in(4),
            has_queue: plain || !draw.one_in(12),
            undivided: !plain && draw.one_in(8),
            contradicts: match plain {
                true => 1.0,
                false => draw.pick(&[1.0, 1.0, 1.0, 1.0, 3.0, 3.1]),
            },
        }
    }

    /// One for which a fixed number of workers waits all the time.
    pub(super) fn of_workers(draw: &mut Draw, name: &'static str) -> Disk {
        let queue = draw.pick(&[3.0, 3.49, 3.5, 4.0, 5.0, 8.0, 10.0, 16.0]);
        let ms = draw.pick(&[9.9, 10.0, 29.0, 30.0, 31.0, 60.0, 99.0, 100.0]);
        let utils = [0.97, 0.98, 1.0].map(Course::Always);
        Disk {
            queue: match draw.one_in(4) {
                true => Course::about(draw, queue, 0.1),
                false => Course::Always(queue),
            },
            ms: Course::Always(ms),
            rate: Course::Unknown,
            reads: Course::Always(draw.pick(&[0.49, 0.5, 0.89, 0.9, 0.95, 1.0, 1.0])),
            util: draw.maybe(&utils).unwrap_or(Course::Unknown),
            ..Disk::drawn(draw, name, true)
        }
    }

    pub(super) fn at(&self, place: usize) -> DiskMoment {
        let queue = self.queue.or(place, 0.0);
        let ms = self.ms.at(place).filter(|ms| *ms > 0.0);
        let rate = match ms {
            Some(ms) => 1000.0 * queue / ms,
            None => self.rate.or(place, 0.0),
        };
        let whim = self.whims.at(place);
        let rate = whim.map_or(rate, |whim| rate * whim);
        let ms = match whim {
            Some(whim) => ms.map(|ms| ms / whim),
            None => ms,
        };
        let ms = ms.or((rate > 0.0).then(|| 1000.0 * queue / rate));
        let ms = ms.map(|ms| ms * self.contradicts);
        let flush_ms = self.flush_ms.at(place);
        let flushes = self.flushes.or(place, 0.0);
        // The kernel counts a flush twice.
        let flushing = flushes * flush_ms.unwrap_or(0.0) / 1000.0;
        let discard_ms = self.discards.at(place).map(|_| 300.0);
        let reads = rate * self.reads.or(place, 1.0);
        let block = self.block.or(place, 0.0);
        let mut disk = DiskMoment {
            name: self.name.to_owned(),
            reads,
            writes: rate - reads,
            read_bytes: reads * block,
            write_bytes: (rate - reads) * block,
            flushes,
            discards: self.discards.or(place, 0.0),
            read_wait_ms: ms.filter(|_| self.by_kind),
            write_wait_ms: ms.filter(|_| self.by_kind),
            wait_ms: ms,
            flush_wait_ms: flush_ms,
            discard_wait_ms: discard_ms,
            queue: self.has_queue.then_some(queue + flushing),
            outstanding: self.outstanding.at(place),
            pauses_s: self.pauses.at(place).map(|pause| vec![pause]),
            util: match self.is_consistent {
                true => self.util.at(place).map(|util| util.min(queue)),
                false => self.util.at(place),
            },
            ..DiskMoment::default()
        };
        if self.undivided {
            (disk.undivided, disk.reads, disk.writes) = (rate, 0.0, 0.0);
            disk.undivided_bytes = disk.read_bytes + disk.write_bytes;
            (disk.read_bytes, disk.write_bytes) = (0.0, 0.0);
        }
        disk
    }
}

fn gated(draw: &mut Draw, is_recorded: bool, values: &[f64]) -> Course {
    match is_recorded {
        true => Course::known(draw, values),
        false => Course::Unknown,
    }
}

/// Queue, time and rate of a kind of load.
fn kind(draw: &mut Draw) -> (Course, Course, Course) {
    let ms = draw.pick(TIMES_MS);
    let (quiet, long) = (draw.pick(QUEUES), draw.pick(LONG_QUEUES));
    let unknown = Course::Unknown;
    match draw.below(9) {
        // As it comes.
        0 => (
            Course::known(draw, QUEUES),
            Course::drawn(draw, TIMES_MS),
            Course::drawn(draw, RATES),
        ),
        1 => same_rate(draw, long),
        2 => after_quiet_part(draw, long, ms),
        // As many in flight all the time.
        3 => (Course::Always(long), Course::Always(ms), unknown),
        4 => (
            Course::Always(long),
            Course::known(draw, &[ms, ms, 1.04 * ms]),
            unknown,
        ),
        // Long ones after a quiet part.
        5 => {
            let from = 2 + draw.below(12);
            let times = draw.pick(&[0.3, 1.0 / 3.0, 0.34, 0.1]);
            (
                Course::Shared(long, draw.pick(&[0.5, 0.79, 0.8]), from),
                Course::Shared(ms, ms * times, from),
                unknown,
            )
        }
        // A pace, and the time of an operation stays.
        6 => {
            let times = draw.pick(&[1.0, 1.29, 1.3, 1.7, 3.0]);
            let queues = (0..20).map(|place| quiet * (1.0 + (times - 1.0) * (place % 2) as f64));
            (Course::Each(queues.collect()), Course::Always(ms), unknown)
        }
        // None completes for a part of the time.
        7 => {
            let from = draw.below(20);
            (
                Course::Always(long),
                unknown,
                Course::Shared(draw.pick(&[0.0, 0.9, 1.0]), draw.pick(RATES), from),
            )
        }
        _ => (Course::known(draw, QUEUES), Course::Always(ms), unknown),
    }
}

/// A rate that stays while the queue varies.
fn same_rate(draw: &mut Draw, long: f64) -> (Course, Course, Course) {
    // A rate of 250 or more that stays constant is not a hard disk.
    let rate = match draw.one_in(3) {
        true => 250.0,
        false => draw.pick(&RATES[3..]),
    };
    let queues = (0..20).map(|place| long * (0.5 + ((place * 7) % 20) as f64 / 10.0));
    let rates = [rate, rate, rate, 0.98 * rate];
    let rates = Course::known(draw, &rates);
    (Course::Each(queues.collect()), Course::Unknown, rates)
}

/// A constant rate under a varying queue, after a quiet part.
fn after_quiet_part(draw: &mut Draw, long: f64, ms: f64) -> (Course, Course, Course) {
    let slower = draw.pick(&[2.9, 3.0, 3.1, 10.0]);
    let from = 1 + draw.below(12);
    let queues = (0..20).map(|place| match place < from {
        true => draw.pick(&[0.1, 0.5, 0.79, 0.8]),
        false => long * (1.0 + (place % 4) as f64 / 2.0),
    });
    let queues: Vec<f64> = queues.collect();
    let rate = 1000.0 * long / (ms * slower);
    let rates = queues.iter().zip(0..);
    let rates = rates.map(|(queue, place)| match place < from {
        true => 1000.0 * queue / ms,
        false => rate,
    });
    let rates = rates.collect();
    (Course::Each(queues), Course::Unknown, Course::Each(rates))
}
