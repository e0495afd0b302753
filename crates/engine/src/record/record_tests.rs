use std::sync::Arc;

use proptest::prelude::*;

use super::recorder::INTERVAL_NS;
use super::*;
use fathom_model::{ErrorClass, Histogram, OpKind, Phase, Sample};

fn shape() -> Shape {
    Shape::new(vec![OpKind::Read, OpKind::Write], true)
}

fn group(workers: usize, cuts: Cuts) -> (Vec<Recorder>, Collector) {
    let exchanges: Vec<_> = (0..workers)
        .map(|_| Arc::new(Exchange::new(shape(), 0).unwrap()))
        .collect();
    let recorders = exchanges
        .iter()
        .map(|exchange| Recorder::new(Arc::clone(exchange), cuts))
        .collect();
    let stalls = Arc::new(Stalls::default());
    (recorders, Collector::new(shape(), exchanges, stalls))
}

fn advance(recorder: &mut Recorder, now_ns: u64, in_flight: u32) {
    if recorder.is_over(now_ns) {
        recorder.cut(now_ns, in_flight, Used::default());
    }
    recorder.pass(now_ns, in_flight);
}

fn total_ops(samples: &[Sample]) -> u64 {
    samples.iter().map(Sample::data_ops).sum()
}

#[test]
fn a_sample_comes_when_the_last_worker_has_given_its_part() {
    let cuts = Cuts::new(10, 0, None);
    let (mut recorders, mut collector) = group(2, cuts);
    for recorder in &mut recorders {
        recorder.complete(OpKind::Read, 512, 100);
        recorder.respond(OpKind::Read, 150);
        recorder.late(50);
    }
    advance(&mut recorders[0], 10 + INTERVAL_NS, 3);
    assert_eq!(collector.drain(), [], "the other worker is not there yet");
    advance(&mut recorders[1], 10 + 2 * INTERVAL_NS, 1);
    let samples = collector.drain();
    assert_eq!(samples.len(), 1);
    let sample = &samples[0];
    assert_eq!((sample.phase, sample.index), (Phase::Measure, 0));
    assert_eq!((sample.start_ns, sample.duration_ns), (0, INTERVAL_NS));
    assert_eq!((sample.workers, sample.data_ops()), (2, 2));
    assert_eq!(sample.data_bytes(), 1024);
    assert_eq!(sample.in_flight_ns, 4 * u128::from(INTERVAL_NS));
    let read = sample.op(OpKind::Read).unwrap();
    assert_eq!(read.response.as_ref().unwrap().max(), Some(150));
    assert_eq!(sample.lateness.as_ref().unwrap().count(), 2);
    assert_eq!(
        sample.op(OpKind::Write).unwrap().ops,
        0,
        "possible, not seen"
    );
    assert_eq!(collector.drain(), [], "each is given out once");
}

#[test]
fn a_worker_that_ended_is_not_waited_for() {
    let cuts = Cuts::new(0, 0, None);
    let (mut recorders, mut collector) = group(2, cuts);
    recorders[0].complete(OpKind::Write, 1, 7);
    advance(&mut recorders[0], 500, 0);
    recorders[0].finish(500, Used::default());
    advance(&mut recorders[1], 3 * INTERVAL_NS, 0);
    let samples = collector.drain();
    let workers: Vec<_> = samples.iter().map(|s| s.workers).collect();
    assert_eq!(workers, [2, 1, 1]);
}

#[test]
fn what_a_hung_worker_recorded_is_kept() {
    let (mut recorders, mut collector) = group(2, Cuts::new(0, 0, None));
    recorders[1].complete(OpKind::Read, 1, 5);
    recorders[1].fail(OpKind::Read, ErrorClass::Io);
    advance(&mut recorders[0], 2 * INTERVAL_NS + 5, 0);
    recorders[0].finish(2 * INTERVAL_NS + 5, Used::default());
    assert_eq!(collector.drain(), []);
    let samples = collector.drain_all(2 * INTERVAL_NS + 9);
    assert_eq!(total_ops(&samples), 1);
    assert_eq!(samples[0].errors().get(ErrorClass::Io), 1);
    assert_eq!(samples[0].duration_ns, 2 * INTERVAL_NS + 9);
}

#[test]
fn phases_never_mix_however_far_the_collector_lags() {
    let warmup_ns = 20 * INTERVAL_NS;
    let cuts = Cuts::new(0, warmup_ns, Some(30 * INTERVAL_NS));
    let (mut recorders, mut collector) = group(1, cuts);
    let recorder = &mut recorders[0];
    for second in 0..60 {
        advance(recorder, second * INTERVAL_NS + 1, 1);
        recorder.complete(OpKind::Read, 1, 1);
    }
    recorder.finish(60 * INTERVAL_NS, Used::default());
    let samples = collector.drain();
    let ops = |phase| {
        let of_phase = samples.iter().filter(|s| s.phase == phase);
        of_phase.map(Sample::data_ops).sum::<u64>()
    };
    assert_eq!(
        (ops(Phase::Warmup), ops(Phase::Measure), ops(Phase::Settle)),
        (20, 30, 10)
    );
    let time_ns: u64 = samples.iter().map(|s| s.duration_ns).sum();
    assert_eq!(time_ns, 60 * INTERVAL_NS, "folded intervals are longer");
}

#[test]
fn a_stop_of_the_process_goes_to_the_interval_in_which_it_ended() {
    let exchange = Arc::new(Exchange::new(shape(), 0).unwrap());
    let stalls = Arc::new(Stalls::default());
    let mut recorder = Recorder::new(Arc::clone(&exchange), Cuts::new(0, 0, None));
    let mut collector = Collector::new(shape(), [exchange], Arc::clone(&stalls));
    stalls.push(INTERVAL_NS + 5, 700);
    advance(&mut recorder, 2 * INTERVAL_NS, 0);
    let stalls: Vec<_> = collector
        .drain()
        .iter()
        .map(|s| s.longest_stall_ns)
        .collect();
    assert_eq!(stalls, [0, 700]);
}

proptest! {
    // Whatever is recorded by whom and drained when: nothing is lost, nothing
    // counts twice, and the histograms are those of recording all in one.
    #[test]
    fn samples_add_up_to_what_was_recorded(
        steps in proptest::collection::vec(
            (0usize..3, 0u64..700_000_000, 0u64..20_000_000_000, any::<bool>()),
            1..200,
        ),
    ) {
        let (mut recorders, mut collector) = group(3, Cuts::new(0, 1_300_000_000, None));
        let mut now_ns = [0u64; 3];
        let mut expected = Histogram::new();
        let mut samples = Vec::new();
        for (worker, step_ns, latency_ns, drain) in steps {
            now_ns[worker] += step_ns;
            advance(&mut recorders[worker], now_ns[worker], 1);
            recorders[worker].complete(OpKind::Read, 3, latency_ns);
            expected.record(latency_ns);
            if drain {
                samples.extend(collector.drain());
            }
        }
        for (recorder, now_ns) in recorders.iter_mut().zip(now_ns) {
            recorder.finish(now_ns, Used::default());
        }
        samples.extend(collector.drain());
        let mut merged = Histogram::new();
        for sample in &samples {
            merged.merge(&sample.op(OpKind::Read).unwrap().service);
        }
        prop_assert!(merged == expected);
        let bytes: u64 = samples.iter().map(Sample::data_bytes).sum();
        prop_assert_eq!(bytes, 3 * expected.count());
        let in_flight: u128 = samples.iter().map(|s| s.in_flight_ns).sum();
        prop_assert_eq!(in_flight, now_ns.iter().map(|n| u128::from(*n)).sum::<u128>());
        let keys: Vec<_> = samples.iter().map(|s| (s.phase, s.index)).collect();
        prop_assert!(keys.windows(2).all(|w| w[0] < w[1]), "in order: {keys:?}");
    }
}
