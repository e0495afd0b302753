use fathom_model::network::{ConnectionState, End, TcpState, UdpState, Way};
use fathom_model::rng::Rng;
use fathom_model::sample::Halves;
use fathom_model::{ErrorClass, Histogram, OpKind, OpSample, Operation, Phase};
use proptest::collection::vec;
use proptest::prelude::*;

use super::*;
use crate::fixtures::{self, Load};

fn histogram() -> impl Strategy<Value = Histogram> {
    vec((any::<u64>(), 0..60u32), 0..40).prop_map(|values| {
        let mut histogram = Histogram::new();
        for (value, shift) in values {
            histogram.record(value >> shift);
        }
        histogram
    })
}

/// Sometimes with a sum of squares.
fn exact_histogram() -> impl Strategy<Value = Histogram> {
    (histogram(), proptest::option::of(any::<u128>())).prop_map(|(histogram, squares)| {
        squares.map_or(histogram.clone(), |squares| histogram.with_squares(squares))
    })
}

fn halves() -> impl Strategy<Value = Option<Box<Halves>>> {
    let both = (exact_histogram(), exact_histogram());
    proptest::option::of(both.prop_map(|(submission, completion)| {
        Box::new(Halves {
            submission,
            completion,
        })
    }))
}

fn operation() -> impl Strategy<Value = Operation> {
    (0..OpKind::ALL.len(), any::<([u32; 3], [u64; 4])>()).prop_map(|(kind, (small, large))| {
        Operation {
            kind: OpKind::ALL[kind],
            worker: small[0],
            file: small[1],
            bytes: small[2],
            offset_bytes: large[0],
            ended_ns: large[1],
            service_ns: large[2],
            submission_ns: large[3],
        }
    })
}

fn op_sample() -> impl Strategy<Value = OpSample> {
    (
        0..OpKind::ALL.len(),
        any::<(u64, u64)>(),
        vec((0..ErrorClass::ALL.len(), 1..1_000_000u64), 0..4),
        exact_histogram(),
        proptest::option::of(histogram()),
        halves(),
    )
        .prop_map(|(kind, (ops, bytes), errors, service, response, halves)| {
            let mut op = OpSample::new(OpKind::ALL[kind], false);
            op.halves = halves;
            (op.ops, op.bytes, op.service, op.response) = (ops, bytes, service, response);
            for (class, count) in errors {
                op.errors.add_many(ErrorClass::ALL[class], count);
            }
            op
        })
}

fn connection() -> impl Strategy<Value = Option<Box<ConnectionState>>> {
    let tcp = any::<([u64; 7], [u32; 8])>().prop_map(|(long, short)| TcpState {
        retransmits: long[0],
        segments_out: long[1],
        segments_in: long[2],
        delivery_rate: long[3],
        busy_us: long[4],
        window_limited_us: long[5],
        buffer_limited_us: long[6],
        rtt_us: short[0],
        rtt_var_us: short[1],
        min_rtt_us: short[2],
        cwnd_segments: short[3],
        mss_bytes: short[4],
        send_window_bytes: short[5],
        path_mtu_bytes: short[6],
        reordered: short[7],
    });
    let udp = any::<[u64; 4]>().prop_map(|n| UdpState {
        packets: n[0],
        lost: n[1],
        out_of_order: n[2],
        jitter_ns: n[3],
    });
    let (tcp, udp) = (proptest::option::of(tcp), proptest::option::of(udp));
    let state = (any::<(bool, bool, u32, u32)>(), tcp, udp);
    let state = state.prop_map(|((back, receives, number, cpu), tcp, udp)| {
        Box::new(ConnectionState {
            way: if back { Way::Reverse } else { Way::Forward },
            end: if receives { End::Receiver } else { End::Sender },
            number,
            cpu,
            tcp,
            udp,
        })
    });
    proptest::option::of(state)
}

fn sample() -> impl Strategy<Value = Sample> {
    (
        0..Phase::ALL.len(),
        any::<(u32, u32, u128)>(),
        any::<[u64; 7]>(),
        vec(op_sample(), 0..=OpKind::ALL.len()),
        proptest::option::of(histogram()),
        (vec(operation(), 0..5), connection()),
    )
        .prop_map(
            |(phase, (index, workers, in_flight_ns), n, ops, lateness, rest)| Sample {
                phase: Phase::ALL[phase],
                index,
                start_ns: n[0],
                duration_ns: n[1],
                workers,
                ops,
                lateness,
                in_flight_ns,
                cpu_user_ns: n[2],
                cpu_system_ns: n[3],
                run_delay_ns: n[4],
                busiest_worker_cpu_ns: n[5],
                longest_stall_ns: n[6],
                operations: rest.0,
                connection: rest.1,
            },
        )
}

/// Observations whose devices come and go and whose optional parts flicker.
fn observations() -> impl Strategy<Value = Vec<Observation>> {
    vec((any::<u64>(), any::<i64>(), 0..4usize, any::<u8>()), 0..12).prop_map(|rows| {
        rows.into_iter()
            .map(|(seed, start_ns, devices, missing)| {
                let mut row = fixtures::observation(&mut Rng::new(seed), 0, devices);
                row.start_ns = start_ns;
                row.duration_ns = seed;
                if missing & 1 != 0 {
                    row.cpu = None;
                }
                if missing & 2 != 0 {
                    row.pressure = None;
                }
                if missing & 4 != 0 {
                    for device in &mut row.devices {
                        device.discards = None;
                        device.name = format!("ü{missing}");
                    }
                }
                row
            })
            .collect()
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn series_survive_the_round_trip(
        samples in vec(sample(), 0..6),
        observations in observations(),
    ) {
        let packed = pack(&samples, &observations).unwrap();
        prop_assert_eq!(packed.len(), 1);
        let (read_samples, read_observations) = unpack(&packed[0].blob).unwrap();
        prop_assert_eq!(read_samples, samples);
        prop_assert_eq!(read_observations, observations);
    }

    /// Behind the checksum: a body from an attacker, or from a fault before
    /// the checksum was made.
    #[test]
    fn altered_bodies_never_panic(
        samples in vec(sample(), 1..3),
        observations in observations(),
        changes in vec((any::<proptest::sample::Index>(), any::<u8>()), 1..6),
        keep in any::<proptest::sample::Index>(),
    ) {
        let mut body = encode(&samples, &observations).unwrap();
        for (at, byte) in changes {
            let at = at.index(body.len());
            body[at] = byte;
        }
        let _ = decode(&body);
        body.truncate(keep.index(body.len() + 1));
        let _ = decode(&body);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn arbitrary_bodies_never_panic(bytes in vec(any::<u8>(), 0..400)) {
        let _ = decode(&bytes);
        let _ = unpack(&bytes);
    }

    /// Small numbers get past the first checks more often.
    #[test]
    fn arbitrary_small_numbers_never_panic(bytes in vec(0..12u8, 0..600)) {
        let _ = decode(&bytes);
    }
}

#[test]
fn every_truncation_is_an_error() {
    let mut load = Load::new(1, 2000.0);
    let observation = fixtures::observation(&mut load.rng, 0, 2);
    let body = encode(&[load.sample(0)], &[observation]).unwrap();
    for length in 0..body.len() {
        assert!(decode(&body[..length]).is_err(), "{length} bytes");
    }
    assert!(decode(&body).is_ok());
}

/// A few bytes that ask for the most memory are refused by the budget.
#[test]
fn a_small_body_cannot_claim_much_memory() {
    let mut body = Vec::new();
    put_u64(&mut body, 4096);
    put_u64(&mut body, 0);
    body.extend([0; 10 * 4096]);
    body.extend([0; 4096]);
    // Each sample says that it has five kinds and a lateness histogram.
    body.extend([5 << 1 | 1; 4096]);
    body.extend(vec![0; 5 * 4096 * 4]);
    body.push(fathom_model::histogram::LAYOUT_VERSION);
    body.extend(vec![0; 6 * 4096 * 4]);
    assert_eq!(decode(&body).unwrap_err(), CodecError::TooLarge);

    // A repeated text costs a byte per row in the body and its length in memory.
    let mut rows = vec![Observation::default(); GROUP_ROWS];
    for row in &mut rows {
        row.devices.push(fathom_model::observation::DeviceActivity {
            name: "x".repeat(1 << 20),
            ..Default::default()
        });
    }
    assert!(matches!(encode(&[], &rows), Err(CodecError::TooLarge)));
}

#[test]
fn long_stretches_become_several_blobs_in_order() {
    let samples: Vec<Sample> = (0..1500u32)
        .map(|i| Sample::new(Phase::Warmup, i, u64::from(i)))
        .collect();
    let observations: Vec<Observation> = (0..1400)
        .map(|i| Observation {
            start_ns: i,
            ..Observation::default()
        })
        .collect();
    let packed = pack(&samples, &observations).unwrap();
    assert!(packed.len() > 2);
    let (mut read_samples, mut read_observations) = (Vec::new(), Vec::new());
    for part in &packed {
        let (s, o) = unpack(&part.blob).unwrap();
        assert_eq!(s, samples[part.samples.clone()]);
        read_samples.extend(s);
        read_observations.extend(o);
    }
    assert_eq!(read_samples, samples);
    assert_eq!(read_observations, observations);
}

#[test]
fn an_unknown_histogram_layout_is_named() {
    let samples = [Load::new(1, 100.0).sample(0)];
    let body = encode(&samples, &[]).unwrap();
    let bare = {
        let mut sample = samples[0].clone();
        sample.ops.clear();
        encode(&[sample], &[]).unwrap()
    };
    // The layout's byte lies behind the columns; find it by trial.
    let errors: Vec<CodecError> = (bare.len()..body.len().min(bare.len() + 60))
        .filter_map(|at| {
            let mut changed = body.clone();
            changed[at] = 77;
            decode(&changed).err()
        })
        .collect();
    assert!(errors.contains(&CodecError::UnknownLayout(77)));
}

/// What `series_v1.bin` holds: integers from a fixed seed, every kind of
/// operation, every class of error, open loop, devices that come and go.
fn series_of_version_1() -> (Vec<Sample>, Vec<Observation>) {
    let mut rng = Rng::new(99);
    let mut histogram = |values: u64| {
        let mut histogram = Histogram::new();
        for _ in 0..values {
            let shift = rng.below(50);
            histogram.record(rng.next_u64() >> (14 + shift));
        }
        histogram
    };
    let samples = (0..6u32)
        .map(|second| {
            let phase = Phase::ALL[second as usize % Phase::ALL.len()];
            let mut sample = Sample::new(phase, second, u64::from(second) * 1_000_000_007);
            sample.duration_ns = 999_999_000 + u64::from(second);
            sample.workers = 3;
            sample.in_flight_ns = u128::MAX >> second;
            sample.longest_stall_ns = u64::MAX >> second;
            sample.lateness = (second % 2 == 0).then(|| histogram(20));
            for kind in OpKind::ALL.into_iter().take(second as usize) {
                let mut op = OpSample::new(kind, false);
                op.service = histogram(50);
                op.response = (second % 2 == 0).then(|| histogram(50));
                op.ops = op.service.count();
                op.bytes = op.ops * 4096;
                op.errors
                    .add_many(ErrorClass::ALL[second as usize], 1 + op.ops);
                sample.ops.push(op);
            }
            sample
        })
        .collect();
    let observations = (0..6usize)
        .map(|second| {
            let mut rng = Rng::new(second as u64);
            let mut observation = fixtures::observation(&mut rng, second as u32, second % 4);
            observation.memory = observation.memory.filter(|_| second != 2);
            observation
        })
        .collect();
    (samples, observations)
}

/// Stored runs stay readable for ever: the blob was written when version 1
/// became the format, and is never written again.
#[test]
fn blobs_of_version_1_are_still_read() {
    let (samples, observations) = unpack(include_bytes!("series_v1.bin")).unwrap();
    let (expected_samples, expected_observations) = series_of_version_1();
    assert_eq!(samples, expected_samples);
    assert_eq!(observations, expected_observations);
}

/// What `series_v3.bin` holds: both ends of a connection, with and without what
/// the kernel knows of it.
fn series_of_version_3() -> Vec<Sample> {
    let state = |second: u32, end: End| ConnectionState {
        way: if second == 2 {
            Way::Reverse
        } else {
            Way::Forward
        },
        end,
        number: second,
        cpu: 7 * second,
        tcp: (second < 2).then(|| TcpState {
            retransmits: u64::from(second) * 5,
            segments_out: u64::MAX >> second,
            rtt_us: 25_000 + second,
            path_mtu_bytes: 9000,
            reordered: u32::MAX,
            ..TcpState::default()
        }),
        udp: (second == 2).then_some(UdpState {
            packets: 1000,
            lost: 3,
            out_of_order: 2,
            jitter_ns: 15_700,
        }),
    };
    let ends = [End::Sender, End::Receiver].into_iter();
    let each = ends.flat_map(|end| (0..3u32).map(move |second| (end, second)));
    each.map(|(end, second)| {
        let mut sample = Sample::new(Phase::Measure, second, u64::from(second) * 1_000_000_000);
        let mut op = OpSample::new(OpKind::Read, false);
        op.service.record(1 << (10 + second));
        (op.ops, op.bytes) = (1, 131_072);
        sample.ops.push(op);
        sample.connection = (second > 0).then(|| Box::new(state(second, end)));
        sample
    })
    .collect()
}

#[test]
fn blobs_of_version_3_are_still_read() {
    let blob: &[u8] = include_bytes!("series_v3.bin");
    assert_eq!(blob[0], envelope::VERSION_WITH_CONNECTIONS);
    assert_eq!(unpack(blob).unwrap().0, series_of_version_3());
}

#[test]
fn a_series_without_connections_stays_readable_by_older_builds() {
    let plain = pack(&[Load::new(1, 100.0).sample(0)], &[]).unwrap();
    assert_eq!(plain[0].blob[0], envelope::VERSION);
}
