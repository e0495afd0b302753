//! A pair as people and iperf3's readers see it.

use fathom_model::network::{
    ConnectionReport, ConnectionSecond, LoadSpec, NetLimit, NetLimitKind, NetRemark, PAIR_SCHEMA,
    PairReport, Reachability, TcpState,
};

use super::*;

fn end(bytes: u64) -> EndReport {
    let second = |at: u64| ConnectionSecond {
        warmup: at == 0,
        start_ns: at * 1_000_000_000,
        duration_ns: 1_000_000_000,
        bytes,
        blocks: 10,
        latency: Histogram::new(),
        lateness: Histogram::new(),
        cpu_user_ns: 10_000_000,
        cpu_system_ns: 90_000_000,
        run_delay_ns: 0,
        cpu: 1,
        tcp: Some(TcpState {
            retransmits: 3 * (at + 1),
            segments_out: 1000 * (at + 1),
            rtt_us: 250,
            cwnd_segments: 10,
            mss_bytes: 1448,
            ..TcpState::default()
        }),
        udp: None,
    };
    EndReport {
        connections: vec![ConnectionReport {
            local: "10.0.0.1:4000".to_owned(),
            remote: "10.0.0.2:5299".to_owned(),
            seconds: (0..3).map(second).collect(),
            error: None,
        }],
        host: None,
        congestion: Some("cubic".to_owned()),
    }
}

fn report() -> PairReport {
    let flow = FlowReport {
        sender: end(125_000_000),
        receiver: end(124_000_000),
    };
    PairReport {
        schema: PAIR_SCHEMA.to_owned(),
        started_unix_s: 1_795_275_930,
        ours: HostFacts {
            hostname: "here".to_owned(),
            address: "10.0.0.1".to_owned(),
            ..HostFacts::default()
        },
        theirs: HostFacts {
            hostname: "there".to_owned(),
            address: "10.0.0.2".to_owned(),
            ..HostFacts::default()
        },
        reached: Reachability {
            address: "10.0.0.2:5299".to_owned(),
            connect_ns: vec![300_000, 200_000, 100_000],
        },
        clock: None,
        probes: None,
        mtu: None,
        idle: None,
        loads: vec![LoadResult {
            name: "1 stream there".to_owned(),
            spec: LoadSpec::stream(2),
            forward: Some(flow),
            reverse: None,
            loaded: None,
            error: None,
            started_unix_ns: 0,
        }],
        our_counters: Default::default(),
        their_counters: Default::default(),
        limits: vec![(
            "there".to_owned(),
            NetLimit {
                kind: NetLimitKind::RateLimit,
                wire_bits: Some(1e9),
                evidence: "all seconds are alike".to_owned(),
                remedy: "look for shapers".to_owned(),
            },
        )],
        remarks: vec![NetRemark {
            id: "packet-size".to_owned(),
            text: "set the same MTU".to_owned(),
        }],
    }
}

#[test]
fn people_read_rates_resent_segments_and_the_limit() {
    let text = pair_text(&report(), 120);
    for part in [
        "here to there (10.0.0.2:5299)",
        "connect           200 µs, the median of 3 handshakes",
        "992 Mbit/s",
        "a rate limit on the way at 1.00 Gbit/s on the wire",
        "! set the same MTU",
    ] {
        assert!(text.contains(part), "{part}\n{text}");
    }
}

#[test]
fn requests_have_rows_of_their_own_and_errors_are_shown() {
    let mut report = report();
    report.loads[0].spec = LoadSpec::requests(64, 4096, 1_000_000_000);
    report.loads[0].name = "read 4 KiB".to_owned();
    report.loads[0].error = Some("broke".to_owned());
    let text = pair_text(&report, 120);
    assert!(
        text.contains("per second") && text.contains("! read 4 KiB: broke"),
        "{text}"
    );
}
