//! Loads over the loopback: what one end moves is what the other gets.

use std::net::{Ipv4Addr, TcpListener};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64};

use fathom_model::network::{Direction, FlowReport, LoadSpec, Protocol, SendMethod};
use fathom_model::{OpKind, Phase};

use super::*;

fn tcp_pairs(count: usize) -> Vec<(Connection, Connection)> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let address = listener.local_addr().unwrap();
    (0..count)
        .map(|_| {
            let active = TcpStream::connect(address).unwrap();
            let passive = listener.accept().unwrap().0;
            (Connection::Tcp(active), Connection::Tcp(passive))
        })
        .collect()
}

fn udp_pair() -> (Connection, Connection) {
    let a = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let b = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    a.connect(b.local_addr().unwrap()).unwrap();
    b.connect(a.local_addr().unwrap()).unwrap();
    (Connection::Udp(a), Connection::Udp(b))
}

fn short(spec: LoadSpec) -> LoadSpec {
    LoadSpec {
        warmup_ns: 20_000_000,
        measure_ns: 80_000_000,
        ..spec
    }
}

fn run_with(
    pairs: Vec<(Connection, Connection)>,
    spec: &LoadSpec,
    allowance: Option<u64>,
) -> FlowReport {
    let (active, passive): (Vec<_>, Vec<_>) = pairs.into_iter().unzip();
    let work = |part, allowance: Option<u64>| EndWork {
        spec: spec.clone(),
        part,
        stop: Arc::default(),
        allowance: allowance.map(|bytes| Arc::new(AtomicU64::new(bytes))),
    };
    std::thread::scope(|scope| {
        let receiving = scope.spawn(move || carry_out(passive, &work(EndRole::Passive, None)));
        let sender = carry_out(active, &work(EndRole::Active, allowance));
        let receiver = receiving.join().unwrap();
        FlowReport { sender, receiver }
    })
}

fn run(pairs: Vec<(Connection, Connection)>, spec: &LoadSpec) -> FlowReport {
    run_with(pairs, spec, None)
}

/// Bytes of all seconds, also those of the warm-up.
fn all_bytes(end: &EndReport) -> u64 {
    let seconds = end.connections.iter().flat_map(|c| &c.seconds);
    seconds.map(|second| second.bytes).sum()
}

#[test]
fn streams_move_the_same_bytes_at_both_ends() {
    for method in [SendMethod::Write, SendMethod::Sendfile] {
        for discard in [false, true] {
            let spec = LoadSpec {
                streams: 2,
                method,
                discard,
                ..short(LoadSpec::stream(1))
            };
            let flow = run(tcp_pairs(2), &spec);
            assert_eq!((flow.sender.error(), flow.receiver.error()), (None, None));
            assert_eq!(flow.receiver.connections.len(), 2);
            let (sent, got) = (all_bytes(&flow.sender), all_bytes(&flow.receiver));
            // The last block of a stream may end after the time; its part that
            // arrived in time counts at the receiver only.
            let last_blocks = 2 * 2 * u64::from(spec.block_bytes);
            assert!(got > 0 && got <= sent + last_blocks, "{got} of {sent}");
            let state = flow.sender.connections[0].last_tcp().unwrap();
            assert!(state.mss_bytes > 500 && state.segments_out > 0, "{state:?}");
            let samples = flow.receiver.samples(OpKind::Read);
            let phases: Vec<_> = samples.iter().map(|s| (s.phase, s.workers)).collect();
            assert_eq!(phases, [(Phase::Warmup, 2), (Phase::Measure, 2)]);
            assert_eq!(samples[1].data_bytes(), flow.receiver.bytes());
            assert_eq!(flow.receiver.latency().count(), flow.receiver.blocks());
        }
    }
}

#[test]
fn local_sockets_carry_streams_and_requests() {
    let pair = || {
        let (a, b) = UnixStream::pair().unwrap();
        vec![(Connection::Unix(a), Connection::Unix(b))]
    };
    let flow = run(pair(), &short(LoadSpec::stream(1)));
    assert!(flow.receiver.bytes() > 0);
    let flow = run(pair(), &LoadSpec::requests(64, 4096, 50_000_000));
    assert!(flow.sender.blocks() > 0);
}

#[test]
fn a_request_counts_when_its_response_is_there() {
    for (request, response) in [(64, 4096), (1 << 20, 64)] {
        let spec = LoadSpec::requests(request, response, 80_000_000);
        let flow = run(tcp_pairs(1), &spec);
        assert_eq!((flow.sender.error(), flow.receiver.error()), (None, None));
        let asked = flow.sender.blocks();
        assert!(asked > 0);
        assert_eq!(flow.sender.latency().count(), asked);
        assert_eq!(flow.sender.bytes(), asked * u64::from(request + response));
        // An answer may be under way when the time ends.
        assert!(
            flow.receiver.connections[0]
                .seconds
                .iter()
                .map(|s| s.blocks)
                .sum::<u64>()
                > 0
        );
    }
}

#[test]
fn an_asked_rate_is_kept_and_not_exceeded() {
    for pair in [tcp_pairs(1), vec![udp_pair()]] {
        let protocol = match &pair[0].0 {
            Connection::Udp(_) => Protocol::Udp,
            _ => Protocol::Tcp,
        };
        let spec = LoadSpec {
            protocol,
            block_bytes: 1000,
            rate_bits: Some(8_000_000),
            ..short(LoadSpec::stream(1))
        };
        let flow = run(pair, &spec);
        // 0.1 s of 1 MB/s is 100 blocks.
        let sent = all_bytes(&flow.sender) / 1000;
        assert!((90..=101).contains(&sent), "{sent} blocks");
        assert_eq!(flow.sender.error(), None);
    }
}

#[test]
fn datagrams_are_numbered_and_loss_is_counted_from_gaps() {
    let spec = LoadSpec {
        protocol: Protocol::Udp,
        block_bytes: 200,
        rate_bits: Some(4_000_000),
        direction: Direction::Forward,
        ..short(LoadSpec::stream(1))
    };
    let flow = run(vec![udp_pair()], &spec);
    let (packets, _) = flow.receiver.datagrams().unwrap();
    assert!(packets > 0);
    assert_eq!(packets, flow.receiver.blocks());
    assert_eq!(flow.sender.datagrams(), None);
}

#[test]
fn what_the_owner_allows_is_not_exceeded() {
    let spec = short(LoadSpec::stream(1));
    let allowed = 3 * u64::from(spec.block_bytes);
    let flow = run_with(tcp_pairs(1), &spec, Some(allowed));
    assert_eq!(all_bytes(&flow.sender), allowed);
    assert!(flow.sender.error().unwrap().contains("owner"));
}

#[test]
fn a_raised_stop_ends_a_load_that_nobody_serves() {
    let (active, passive) = tcp_pairs(1).remove(0);
    let spec = LoadSpec {
        measure_ns: 3_600_000_000_000,
        ..LoadSpec::stream(1)
    };
    let work = EndWork {
        spec,
        part: EndRole::Active,
        stop: Arc::new(AtomicBool::new(true)),
        allowance: None,
    };
    let report = carry_out(vec![active], &work);
    assert_eq!(report.error(), None);
    drop(passive);
}
