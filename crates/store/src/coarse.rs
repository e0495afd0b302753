//! Long series in bounded memory: neighbouring seconds joined to longer
//! intervals, by adding counts.
//!
//! What is stored keeps its seconds. What is judged needs no more of them than
//! its statistics can use, and a day of seconds would not fit into memory.
//! Seconds in which nothing was done stay by themselves, so that a target that
//! stood still is seen however long the trial was.

use fathom_model::observation::{DeviceActivity, Observation};
use fathom_model::recording::FULL_INTERVAL_NS;
use fathom_model::run::TrialRecord;
use fathom_model::sample::Sample;
use fathom_model::seconds::join;

/// Intervals of one trial that are kept at most: its seconds up to 50 minutes.
const MOST_INTERVALS: usize = 3000;

/// Bounds the series of one trial while they are read.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Coarse {
    /// To what length samples and observations were joined; 0 as long as they
    /// are as they were recorded.
    samples_ns: u64,
    observations_ns: u64,
}

impl Coarse {
    /// Joins neighbours until a trial has at most [`MOST_INTERVALS`] samples and
    /// as many observations, as far as they can be joined. Trials that were
    /// recorded more finely than in seconds stay as they are: their reader wants
    /// all of it. So do those with two ends, whose seconds are of single
    /// connections.
    pub(crate) fn bound(&mut self, trial: &mut TrialRecord) {
        let of_connections = trial.samples.iter().any(|s| s.connection.is_some());
        let is_fine = trial.spec.workload.recording.interval_ns() < FULL_INTERVAL_NS;
        if !of_connections && !is_fine {
            bound_by(&mut trial.samples, SAMPLES, &mut self.samples_ns);
            bound_by(
                &mut trial.observations,
                OBSERVATIONS,
                &mut self.observations_ns,
            );
        }
    }

    /// Gives all intervals the same length, once the end has been read: what came
    /// after the last time that some were joined is as it was recorded.
    pub(crate) fn even_out(&self, trial: &mut TrialRecord) {
        if self.samples_ns > 0 {
            join_up_to(&mut trial.samples, SAMPLES, self.samples_ns);
        }
        if self.observations_ns > 0 {
            join_up_to(&mut trial.observations, OBSERVATIONS, self.observations_ns);
        }
    }
}

/// How long an interval is, and how the next one is joined to it where both
/// fit together.
type JoinRule<T> = (fn(&T) -> u64, fn(&mut T, &T) -> bool);

const SAMPLES: JoinRule<Sample> = (|sample| sample.duration_ns, join_samples);
const OBSERVATIONS: JoinRule<Observation> = (|seen| seen.duration_ns, join_observations);

/// Intervals differ by the jitter of their ends.
const JITTER: f64 = 1.05;

/// Rounds of doubling: from a second to ten years.
const MOST_ROUNDS: u32 = 28;

fn bound_by<T>(all: &mut Vec<T>, kind: JoinRule<T>, length_ns: &mut u64) {
    for _ in 0..MOST_ROUNDS {
        if all.len() <= MOST_INTERVALS {
            return;
        }
        *length_ns = length_ns.saturating_mul(2).max(2 * FULL_INTERVAL_NS);
        join_up_to(all, kind, *length_ns);
    }
}

/// Joins neighbours to intervals of at most this length.
fn join_up_to<T>(all: &mut Vec<T>, (length, fits): JoinRule<T>, most_ns: u64) {
    let most_ns = (most_ns as f64 * JITTER) as u64;
    let mut joined: Vec<T> = Vec::with_capacity(all.len() / 2 + 1);
    for next in all.drain(..) {
        if let Some(last) = joined.last_mut()
            && length(last).saturating_add(length(&next)) <= most_ns
            && fits(last, &next)
        {
            continue;
        }
        joined.push(next);
    }
    *all = joined;
}

fn join_samples(last: &mut Sample, next: &Sample) -> bool {
    let idle = |sample: &Sample| sample.data_ops() == 0;
    let fits = last.phase == next.phase
        && idle(last) == idle(next)
        && last.operations.is_empty()
        && next.operations.is_empty();
    if fits {
        join(last, next);
    }
    fits
}

fn join_observations(last: &mut Observation, next: &Observation) -> bool {
    let names = |seen: &Observation| -> Vec<String> {
        seen.devices.iter().map(|d| d.name.clone()).collect()
    };
    let same_parts = last.cpu.is_some() == next.cpu.is_some()
        && last.pressure.is_some() == next.pressure.is_some()
        && last.own.is_some() == next.own.is_some();
    if names(last) != names(next) || !same_parts {
        return false;
    }
    last.duration_ns = last.duration_ns.saturating_add(next.duration_ns);
    for (mine, theirs) in last.devices.iter_mut().zip(&next.devices) {
        add_device(mine, theirs);
    }
    if let (Some(mine), Some(theirs)) = (&mut last.cpu, &next.cpu) {
        mine.cpus = mine.cpus.max(theirs.cpus);
        mine.user_ns += theirs.user_ns;
        mine.system_ns += theirs.system_ns;
        mine.interrupt_ns += theirs.interrupt_ns;
        mine.idle_ns += theirs.idle_ns;
        mine.iowait_ns += theirs.iowait_ns;
        mine.steal_ns += theirs.steal_ns;
        mine.busiest_cpu_ns += theirs.busiest_cpu_ns;
        if let (Some(one), Some(other)) = (&mut mine.interrupt_cpu, &theirs.interrupt_cpu) {
            one.interrupt_ns += other.interrupt_ns;
            one.all_ns += other.all_ns;
        }
    }
    last.memory = next.memory.or(last.memory);
    if let (Some(mine), Some(theirs)) = (&mut last.pressure, &next.pressure) {
        mine.cpu_some_ns += theirs.cpu_some_ns;
        mine.io_some_ns += theirs.io_some_ns;
        mine.io_full_ns += theirs.io_full_ns;
        mine.memory_some_ns += theirs.memory_some_ns;
    }
    if let (Some(mine), Some(theirs)) = (&mut last.own, &next.own) {
        mine.cpu_user_ns += theirs.cpu_user_ns;
        mine.cpu_system_ns += theirs.cpu_system_ns;
        add(&mut mine.storage_read_bytes, theirs.storage_read_bytes);
        add(&mut mine.storage_write_bytes, theirs.storage_write_bytes);
    }
    true
}

fn add_device(mine: &mut DeviceActivity, theirs: &DeviceActivity) {
    mine.reads += theirs.reads;
    mine.read_bytes += theirs.read_bytes;
    mine.read_time_ns += theirs.read_time_ns;
    mine.writes += theirs.writes;
    mine.write_bytes += theirs.write_bytes;
    mine.write_time_ns += theirs.write_time_ns;
    mine.in_flight = theirs.in_flight;
    mine.queue_time_ns += theirs.queue_time_ns;
    add(&mut mine.discards, theirs.discards);
    add(&mut mine.discard_bytes, theirs.discard_bytes);
    add(&mut mine.flushes, theirs.flushes);
    add(&mut mine.flush_time_ns, theirs.flush_time_ns);
    add(&mut mine.busy_ns, theirs.busy_ns);
    add(&mut mine.read_merges, theirs.read_merges);
    add(&mut mine.write_merges, theirs.write_merges);
}

/// A sum is known when both parts are.
fn add(mine: &mut Option<u64>, theirs: Option<u64>) {
    *mine = mine.zip(theirs).map(|(mine, theirs)| mine + theirs);
}

#[cfg(test)]
mod tests {
    use super::*;
    use fathom_model::op::OpKind;
    use fathom_model::sample::{OpSample, Phase};

    fn second(index: u32, ops: u64) -> Sample {
        let start_ns = u64::from(index) * FULL_INTERVAL_NS;
        let mut sample = Sample::new(Phase::Measure, index, start_ns);
        sample.duration_ns = FULL_INTERVAL_NS;
        sample.workers = 2;
        let mut op = OpSample::new(OpKind::Read, false);
        op.ops = ops;
        op.bytes = ops * 4096;
        for _ in 0..ops {
            op.service.record(1000);
        }
        sample.ops.push(op);
        sample
    }

    #[test]
    fn a_day_of_seconds_becomes_few_with_all_that_was_counted() {
        let mut samples: Vec<Sample> = (0..20_000).map(|i| second(i, 3)).collect();
        for (still, sample) in (9_000..9_007).zip(&mut samples[9_000..]) {
            *sample = second(still, 0);
        }
        bound_by(&mut samples, SAMPLES, &mut 0);
        assert!(samples.len() <= MOST_INTERVALS, "{}", samples.len());
        let ops: u64 = samples.iter().map(Sample::data_ops).sum();
        assert_eq!(ops, 3 * (20_000 - 7));
        let time_ns: u64 = samples.iter().map(|s| s.duration_ns).sum();
        assert_eq!(time_ns, 20_000 * FULL_INTERVAL_NS);
        let counts: u64 = samples.iter().map(|s| s.ops[0].service.count()).sum();
        assert_eq!(counts, ops);
        let still = samples.iter().filter(|s| s.data_ops() == 0);
        let still_ns: u64 = still.map(|s| s.duration_ns).sum();
        assert_eq!(still_ns, 7 * FULL_INTERVAL_NS, "it stood still for 7 s");
        let in_order = samples
            .windows(2)
            .all(|w| w[0].start_ns + w[0].duration_ns == w[1].start_ns);
        assert!(in_order);
    }

    #[test]
    fn what_is_short_stays_in_seconds() {
        let mut samples: Vec<Sample> = (0..100).map(|i| second(i, 1)).collect();
        let before = samples.clone();
        let mut length_ns = 0;
        bound_by(&mut samples, SAMPLES, &mut length_ns);
        assert_eq!(length_ns, 0);
        assert_eq!(samples, before);
    }

    #[test]
    fn what_comes_bit_by_bit_is_of_one_length_in_the_end() {
        let (mut samples, mut length_ns): (Vec<Sample>, u64) = (Vec::new(), 0);
        for i in 0..10_000 {
            samples.push(second(i, 1));
            bound_by(&mut samples, SAMPLES, &mut length_ns);
            assert!(samples.len() <= MOST_INTERVALS);
        }
        join_up_to(&mut samples, SAMPLES, length_ns);
        let even = samples
            .iter()
            .filter(|s| s.duration_ns == length_ns)
            .count();
        assert!(even + 2 >= samples.len(), "{even} of {}", samples.len());
        assert_eq!(samples.iter().map(Sample::data_ops).sum::<u64>(), 10_000);
    }

    #[test]
    fn counters_of_devices_add_up_and_what_is_unknown_stays_unknown() {
        let seen = |i: i64| Observation {
            start_ns: i * 1_000_000_000,
            duration_ns: FULL_INTERVAL_NS,
            devices: vec![DeviceActivity {
                name: "sda".to_owned(),
                leaf: true,
                reads: 2,
                flushes: (i > 0).then_some(1),
                in_flight: i as u64,
                ..DeviceActivity::default()
            }],
            ..Observation::default()
        };
        let mut first = seen(0);
        assert!(join_observations(&mut first, &seen(1)));
        let device = &first.devices[0];
        assert_eq!(
            (device.reads, device.flushes, device.in_flight),
            (4, None, 1)
        );
        assert_eq!(first.duration_ns, 2 * FULL_INTERVAL_NS);
        let mut other = seen(2);
        other.devices[0].name = "sdb".to_owned();
        assert!(!join_observations(&mut first, &other));
    }
}
