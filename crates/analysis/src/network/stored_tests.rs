//! What was measured between hosts comes back from its trials as it was.

use fathom_model::fingerprint::Fingerprint;
use fathom_model::network::{
    ClockOffset, ConnectionReport, ConnectionSecond, Direction, EndReport, Ends, FlowReport,
    HostFacts, LinkCounters, LoadResult, LoadSpec, MatrixMode, MtuProbe, NO_PROBES, NetRemark,
    PAIR_SCHEMA, PairReport, Protocol, Reachability, RoundTrip, TcpState, Trips, UdpState,
};
use fathom_model::pair_trials::{
    PairPlace, failed_trial, network_host, pair_run, pair_trials, run_of,
};
use fathom_model::rng::Rng;
use fathom_model::schedule::{Purpose, Schedule};
use fathom_model::{Histogram, RunMeta, RunRecord};

use super::{NetworkReport, judge_network, stored};

fn meta() -> RunMeta {
    let schedule = Schedule {
        purpose: Purpose::Network {},
        ..Schedule::nothing("net")
    };
    RunMeta {
        started_unix_ns: 1_700_000_000_123_456_789,
        ..RunRecord::unstored(schedule, Fingerprint::default()).meta
    }
}

fn histogram(rng: &mut Rng) -> Histogram {
    let mut histogram = Histogram::new();
    for _ in 0..rng.below(5) {
        histogram.record(rng.below(1 << 30));
    }
    histogram
}

/// One connection at one end: a second of warm-up, then others.
fn connection(rng: &mut Rng, spec: &LoadSpec, mbits: u64) -> ConnectionReport {
    let udp = spec.protocol == Protocol::Udp;
    let seconds = (0..3).map(|at: u64| ConnectionSecond {
        warmup: at == 0,
        start_ns: at * 1_000_000_000,
        duration_ns: 1_000_000_000 - rng.below(50),
        bytes: mbits * 125_000,
        blocks: rng.below(10_000),
        latency: histogram(rng),
        lateness: histogram(rng),
        cpu_user_ns: rng.below(1 << 29),
        cpu_system_ns: rng.below(1 << 29),
        run_delay_ns: rng.below(1 << 20),
        cpu: rng.below(64) as u32,
        tcp: (!udp).then(|| TcpState {
            retransmits: at * 3,
            segments_out: at * 1000,
            rtt_us: 200 + rng.below(50) as u32,
            min_rtt_us: 180,
            ..TcpState::default()
        }),
        udp: udp.then(|| UdpState {
            packets: 1000,
            lost: rng.below(9),
            ..UdpState::default()
        }),
    });
    ConnectionReport {
        local: "10.0.0.1:1".to_owned(),
        remote: "10.0.0.2:5299".to_owned(),
        seconds: seconds.collect(),
        error: (rng.below(4) == 0).then(|| "reset by peer".to_owned()),
    }
}

fn flow(rng: &mut Rng, spec: &LoadSpec, mbits: u64) -> FlowReport {
    let mut end = || EndReport {
        connections: (0..spec.streams)
            .map(|_| connection(rng, spec, mbits))
            .collect(),
        host: None,
        congestion: Some("cubic".to_owned()),
    };
    FlowReport {
        sender: end(),
        receiver: end(),
    }
}

fn load(rng: &mut Rng, spec: LoadSpec, mbits: u64) -> LoadResult {
    LoadResult {
        name: format!("{:?} of {} streams", spec.direction, spec.streams),
        forward: spec.direction.forward().then(|| flow(rng, &spec, mbits)),
        reverse: spec.direction.reverse().then(|| flow(rng, &spec, mbits)),
        spec,
        loaded: None,
        error: None,
        started_unix_ns: 0,
    }
}

fn host(name: &str) -> HostFacts {
    HostFacts {
        hostname: name.to_owned(),
        kernel: "6.12.0".to_owned(),
        cpus: 8,
        fathom: "0.1.0".to_owned(),
        address: "10.0.0.1".to_owned(),
        link: None,
        boot_id: None,
    }
}

/// A pair of which everything that there is was measured.
fn report(rng: &mut Rng) -> PairReport {
    let stream = |direction, streams, protocol| LoadSpec {
        direction,
        streams,
        protocol,
        ..LoadSpec::stream(2)
    };
    let mut loads = vec![
        load(rng, stream(Direction::Forward, 1, Protocol::Tcp), 900),
        load(rng, stream(Direction::Both, 3, Protocol::Tcp), 400),
        load(rng, stream(Direction::Reverse, 2, Protocol::Udp), 90),
        load(rng, LoadSpec::requests(64, 4096, 2_000_000_000), 10),
    ];
    loads[0].loaded = Some(RoundTrip::of(&flow(rng, &LoadSpec::round_trips(1, 1), 1)));
    loads[3].error = Some("the other end went away".to_owned());
    let probe = MtuProbe {
        largest_payload_bytes: 1472,
        jumbo_passes: false,
        silent: false,
        refused_by: None,
    };
    PairReport {
        schema: PAIR_SCHEMA.to_owned(),
        started_unix_s: 1_700_000_000,
        ours: host("a"),
        theirs: host("b"),
        reached: Reachability {
            address: "[fd00::2]:5299".to_owned(),
            connect_ns: vec![1000, 2000],
        },
        clock: Some(ClockOffset {
            offset_ns: -5,
            uncertainty_ns: 7,
            exchanges: 9,
        }),
        probes: Some([probe.clone(), probe]),
        mtu: None,
        idle: Some(RoundTrip::of(&flow(rng, &LoadSpec::round_trips(1, 1), 1))),
        loads,
        our_counters: LinkCounters {
            receive_errors: 3,
            ..LinkCounters::default()
        },
        their_counters: LinkCounters::default(),
        limits: Vec::new(),
        remarks: vec![NetRemark {
            id: NO_PROBES.to_owned(),
            text: "no probes".to_owned(),
        }],
    }
}

#[test]
fn a_pair_comes_back_from_its_trials_as_it_was() {
    for seed in 0..20 {
        let mut rng = Rng::new(seed);
        let mut report = report(&mut rng);
        let record = pair_run(meta(), &report);
        let labels = record.trials.iter().map(|trial| trial.spec.label.as_str());
        assert_eq!(
            labels.count(),
            6,
            "four loads, two rounds of small requests"
        );
        assert_eq!(stored::pair(&record).unwrap(), report);

        // What was judged before is judged again, and nothing is said twice.
        super::judge_pair(&mut report);
        let record = pair_run(meta(), &report);
        let again = judge_network(&record).unwrap();
        assert_eq!(again, NetworkReport::Pair(Box::new(report)));
    }
}

#[test]
fn round_trips_whose_requests_are_known_are_stored_second_by_second() {
    let mut rng = Rng::new(7);
    let mut report = report(&mut rng);
    let spec = LoadSpec::round_trips(2_000_000_000, 10);
    let flow = flow(&mut rng, &spec, 1);
    report.idle = Some(RoundTrip {
        trips: Some(Box::new(Trips {
            spec: spec.clone(),
            started_unix_ns: 77,
            flow: flow.clone(),
        })),
        ..RoundTrip::of(&flow)
    });
    let record = pair_run(meta(), &report);
    let idle = &record.trials[0];
    assert_eq!(idle.spec.workload.pair(), Some(&spec));
    assert_eq!((idle.started_unix_ns, idle.samples.len()), (77, 6));
    assert_eq!(
        stored::pair(&record).unwrap().idle,
        Some(RoundTrip::of(&flow))
    );
}

/// All pairs of three hosts, each alone and then all at once; one is looked at
/// again, and one fails.
fn matrix() -> RunRecord {
    let mut rng = Rng::new(3);
    let spec = LoadSpec::stream(2);
    let ways: Vec<(u32, u32)> = (0..3)
        .flat_map(|from| (0..3).map(move |to| (from, to)))
        .filter(|(from, to)| from != to)
        .collect();
    let mut trials = Vec::new();
    let mut look = |at: usize, mode, iteration, set| {
        let (from, to) = ways[at];
        let ends = Ends {
            from,
            to,
            mode: Some(mode),
            beside: None,
        };
        let row = if mode == MatrixMode::Alone { 0 } else { 100 };
        let place = PairPlace {
            ends,
            row: row + 3 * at as u32,
            iteration,
            set: Some(set),
        };
        let mut pair = report(&mut rng);
        pair.loads = vec![load(&mut rng, spec.clone(), 1000 + 100 * at as u64)];
        trials.extend(match (mode, at) {
            (MatrixMode::Together, 5) => {
                vec![failed_trial(
                    "x",
                    &spec,
                    place,
                    "10.0.0.3:1",
                    "no answer".to_owned(),
                )]
            }
            _ => pair_trials(&pair, place),
        });
    };
    (0..6).for_each(|at| look(at, MatrixMode::Alone, 0, at as u32));
    look(2, MatrixMode::Alone, 1, 6);
    (0..6).for_each(|at| look(at, MatrixMode::Together, 0, 7));
    let hosts = ["x", "y", "z"].map(|name| network_host(name, &host(name)));
    let meta = RunMeta {
        hosts: hosts.into(),
        ..meta()
    };
    run_of(meta, trials)
}

#[test]
fn a_matrix_is_read_from_the_trials_of_its_pairs() {
    let matrix = stored::matrix(&matrix()).unwrap();
    assert_eq!(
        (matrix.hosts.len(), matrix.seconds, matrix.streams),
        (3, 2, 1)
    );
    assert_eq!(matrix.facts[2].hostname, "z");
    let [alone, together] = matrix.rounds.as_slice() else {
        panic!("{} kinds of rounds", matrix.rounds.len());
    };
    assert_eq!((alone.rounds, together.rounds), (6, 1));
    assert_eq!((alone.cells.len(), together.cells.len()), (6, 6));
    // 1200 Mbit/s, with what the jitter of a second's end adds.
    let near = |bits: f64, mbits: f64| (bits / 1e6 / mbits - 1.0).abs() < 1e-6;
    let cell = &alone.cells[2];
    assert!(near(cell.bits_per_second.unwrap(), 1200.0), "{cell:?}");
    assert_eq!(cell.again_bits.len(), 1);
    assert!(cell.idle_ns.is_some());
    assert!(
        near(alone.sums[0].sent_bits, 1100.0),
        "the largest of a round"
    );
    assert!(near(together.sums[0].sent_bits, 2100.0), "all at once");
    assert_eq!(together.cells[5].error.as_deref(), Some("no answer"));
    assert_eq!(together.cells[5].bits_per_second, None);
}

#[test]
fn a_matrix_that_ended_before_its_first_load_keeps_the_round_trip() {
    let mut record = matrix();
    let idle = |trial: &fathom_model::TrialRecord| {
        trial.spec.role != fathom_model::schedule::TrialRole::Measure
    };
    record.trials.retain(idle);
    record.trials.truncate(1);
    let Some(NetworkReport::Matrix(found)) = judge_network(&record) else {
        panic!("no matrix");
    };
    assert_eq!((found.hosts.len(), found.seconds), (3, 2));
    let cell = &found.rounds[0].cells[0];
    assert!(cell.idle_ns.is_some(), "{cell:?}");
    assert_eq!(cell.bits_per_second, None);
    assert_eq!(found.outliers.median_bits, None);
}

#[test]
fn figures_of_a_matrix_without_trials_are_judged_again() {
    let mut figures = stored::matrix(&matrix()).unwrap();
    super::judge_matrix(&mut figures);
    let record = RunRecord {
        meta: RunMeta {
            matrix_figures: Some(Box::new(figures.clone())),
            ..meta()
        },
        trials: Vec::new(),
    };
    let again = judge_network(&record).unwrap();
    assert_eq!(again, NetworkReport::Matrix(Box::new(figures)));
}

#[test]
fn a_load_counts_once_where_it_is_judged_by_its_own_figures() {
    let mut rng = Rng::new(1);
    let mut pair = report(&mut rng);
    pair.idle = None;
    pair.loads = vec![load(&mut rng, LoadSpec::stream(2), 800)];
    let judged = crate::judge(&pair_run(meta(), &pair));
    let bytes: u64 = judged.rows[0].ops.iter().map(|op| op.bytes).sum();
    assert_eq!(bytes, 2 * 800 * 125_000, "the receiver's, without warm-up");
}
