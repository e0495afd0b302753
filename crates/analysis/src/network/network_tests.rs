//! Known truths: what limits and what stands out is found again.

use fathom_model::network::{
    ConnectionReport, ConnectionSecond, Direction, EndReport, FlowReport, HostFacts, HostUse,
    LinkFacts, LoadResult, LoadSpec, MatrixCell, MatrixRound, MtuProbe, NetLimitKind, Outliers,
    PAIR_SCHEMA, PairReport, Protocol, Reachability, TcpState,
};
use fathom_model::rng::Rng;
use fathom_model::{Histogram, OpKind};

use super::*;

fn host(name: &str, mtu: u32) -> HostFacts {
    HostFacts {
        hostname: name.to_owned(),
        address: format!("10.0.0.{}", name.len()),
        cpus: 8,
        link: Some(LinkFacts {
            interface: "eth0".to_owned(),
            mtu_bytes: Some(mtu),
            receive_queues: 8,
            ..LinkFacts::default()
        }),
        ..HostFacts::default()
    }
}

fn report(loads: Vec<LoadResult>) -> PairReport {
    PairReport {
        schema: PAIR_SCHEMA.to_owned(),
        started_unix_s: 0,
        ours: host("a", 1500),
        theirs: host("bb", 1500),
        reached: Reachability {
            address: "10.0.0.2:1".to_owned(),
            connect_ns: vec![],
        },
        clock: None,
        probes: None,
        mtu: None,
        idle: None,
        loads,
        our_counters: Default::default(),
        their_counters: Default::default(),
        limits: vec![],
        remarks: vec![],
    }
}

/// One end whose seconds have these rates in Mbit/s.
fn end(mbits: &[f64], tcp: TcpState, cpu_share: f64) -> EndReport {
    let seconds = mbits.iter().enumerate().map(|(at, rate)| ConnectionSecond {
        warmup: false,
        start_ns: at as u64 * 1_000_000_000,
        duration_ns: 1_000_000_000,
        bytes: (rate * 1e6 / 8.0) as u64,
        blocks: 1,
        latency: Histogram::new(),
        lateness: Histogram::new(),
        cpu_user_ns: 0,
        cpu_system_ns: (cpu_share * 1e9) as u64,
        run_delay_ns: 0,
        cpu: 3,
        tcp: Some(tcp),
        udp: None,
    });
    EndReport {
        connections: vec![ConnectionReport {
            seconds: seconds.collect(),
            ..ConnectionReport::default()
        }],
        host: Some(HostUse {
            cpus: 8,
            ..HostUse::default()
        }),
        congestion: None,
    }
}

const CALM: TcpState = TcpState {
    retransmits: 0,
    segments_out: 1_000_000,
    segments_in: 0,
    rtt_us: 200,
    rtt_var_us: 5,
    min_rtt_us: 180,
    cwnd_segments: 100,
    mss_bytes: 1448,
    send_window_bytes: 1 << 20,
    path_mtu_bytes: 1500,
    delivery_rate: 0,
    busy_us: 3_000_000,
    window_limited_us: 0,
    buffer_limited_us: 0,
    reordered: 0,
};

fn load(streams: u32, mbits: &[f64], tcp: TcpState, cpu: (f64, f64)) -> LoadResult {
    LoadResult {
        name: format!("{streams} streams there"),
        spec: LoadSpec {
            streams,
            direction: Direction::Forward,
            ..LoadSpec::stream(3)
        },
        forward: Some(FlowReport {
            sender: end(mbits, tcp, cpu.0),
            receiver: end(mbits, tcp, cpu.1),
        }),
        reverse: None,
        loaded: None,
        error: None,
        started_unix_ns: 0,
    }
}

fn limit_of(mut report: PairReport) -> fathom_model::network::NetLimit {
    judge_pair(&mut report);
    assert_eq!(report.limits.len(), 1);
    report.limits.remove(0).1
}

#[test]
fn a_steady_rate_that_more_streams_do_not_raise_is_a_rate_limit() {
    let calm = (0.1, 0.1);
    let limit = limit_of(report(vec![
        load(1, &[955.0, 956.0, 956.5, 956.0], CALM, calm),
        load(4, &[956.0, 957.0, 955.0, 956.0], CALM, calm),
    ]));
    assert_eq!(limit.kind, NetLimitKind::RateLimit, "{limit:?}");
    let wire = limit.wire_bits.unwrap();
    assert!((wire / 1e9 - 1.0).abs() < 0.005, "{wire}");
}

#[test]
fn larger_packets_are_advised_only_where_there_is_room_for_them() {
    let advice = |mtu: u32, one_machine: bool| {
        let tcp = TcpState {
            path_mtu_bytes: mtu,
            ..CALM
        };
        let mut report = report(vec![load(1, &[900.0, 700.0, 950.0], tcp, (0.99, 0.3))]);
        (report.ours, report.theirs) = (host("a", mtu), host("bb", mtu));
        if one_machine {
            (report.ours.boot_id, report.theirs.boot_id) =
                (Some("x".to_owned()), Some("x".to_owned()));
        }
        let mut busy = report.clone();
        for flow in busy.loads.iter_mut().flat_map(|load| &mut load.forward) {
            let used = HostUse {
                cpus: 1,
                busy_share: 1.0,
                ..HostUse::default()
            };
            (flow.sender, flow.receiver) = (
                end(&[900.0, 700.0, 950.0], tcp, 0.8),
                end(&[900.0, 700.0, 950.0], tcp, 0.1),
            );
            flow.sender.host = Some(used);
        }
        let (thread, all) = (limit_of(report), limit_of(busy));
        assert_eq!(thread.kind, NetLimitKind::SenderCpu, "{thread:?}");
        assert_eq!(all.kind, NetLimitKind::HostCpu, "{all:?}");
        assert!(all.evidence.starts_with("the CPU of the sender's host was"));
        [thread.remedy, all.remedy]
    };
    for remedy in advice(1500, false) {
        assert!(remedy.contains("larger packets (MTU 9000), "), "{remedy}");
    }
    for remedy in advice(9000, false) {
        assert!(!remedy.contains("packets"), "{remedy}");
        assert!(remedy.contains("offloads of the network card"), "{remedy}");
    }
    for remedy in advice(65_536, true).into_iter().chain(advice(1500, true)) {
        let speaks_of_a_network = remedy.contains("MTU") || remedy.contains("network card");
        assert!(!speaks_of_a_network, "{remedy}");
    }
}

#[test]
fn short_loads_that_reach_the_same_share_a_rate_limit() {
    let calm = (0.1, 0.1);
    let short = |rates: [f64; 2]| {
        limit_of(report(vec![
            load(1, &[134.0, 134.2], CALM, calm),
            load(4, &rates, CALM, calm),
        ]))
    };
    assert_eq!(short([134.1, 134.3]).kind, NetLimitKind::RateLimit);
    // Alike on average only.
    assert_eq!(short([124.0, 146.0]).kind, NetLimitKind::Unknown);
}

#[test]
fn a_link_at_its_rated_speed_is_the_link() {
    let mut at_rate = report(vec![load(1, &[941.0, 941.0, 941.0], CALM, (0.1, 0.1))]);
    for host in [&mut at_rate.ours, &mut at_rate.theirs] {
        host.link.as_mut().unwrap().speed_bits = Some(1_000_000_000);
    }
    let limit = limit_of(at_rate);
    assert_eq!(limit.kind, NetLimitKind::Link, "{limit:?}");
}

#[test]
fn a_full_core_is_named_with_its_number() {
    let limit = limit_of(report(vec![load(1, &[21_000.0; 4], CALM, (0.5, 0.98))]));
    assert_eq!(limit.kind, NetLimitKind::ReceiverCpu);
    assert!(limit.evidence.contains("core 3"), "{}", limit.evidence);
    let limit = limit_of(report(vec![load(1, &[21_000.0; 4], CALM, (0.97, 0.4))]));
    assert_eq!(limit.kind, NetLimitKind::SenderCpu);
}

#[test]
fn loss_and_window_are_told_apart_from_limits_of_the_path() {
    let lossy = TcpState {
        retransmits: 5_000,
        rtt_us: 4_000,
        min_rtt_us: 3_900,
        ..CALM
    };
    let limit = limit_of(report(vec![
        load(1, &[40.0, 55.0, 31.0, 60.0], lossy, (0.1, 0.1)),
        load(4, &[160.0, 190.0, 140.0, 175.0], lossy, (0.1, 0.1)),
    ]));
    assert_eq!(limit.kind, NetLimitKind::Loss, "{limit:?}");
    let full = TcpState {
        window_limited_us: 2_900_000,
        rtt_us: 20_100,
        min_rtt_us: 20_000,
        ..CALM
    };
    let limit = limit_of(report(vec![
        load(1, &[800.0; 4], full, (0.1, 0.1)),
        load(4, &[3200.0; 4], full, (0.1, 0.1)),
    ]));
    assert_eq!(limit.kind, NetLimitKind::Window, "{limit:?}");
}

#[test]
fn loss_is_named_where_datagrams_reach_what_the_path_carries() {
    let lossy = TcpState {
        retransmits: 15_000,
        rtt_us: 20_100,
        min_rtt_us: 20_000,
        ..CALM
    };
    let mut datagrams = load(1, &[195.0; 4], CALM, (0.1, 0.1));
    datagrams.name = "datagrams there".to_owned();
    datagrams.spec.protocol = Protocol::Udp;
    let slow = load(4, &[25.0, 29.0, 22.0, 27.0], lossy, (0.1, 0.1));
    let limit = limit_of(report(vec![slow.clone(), datagrams.clone()]));
    assert_eq!(limit.kind, NetLimitKind::Loss, "{limit:?}");
    assert!(limit.evidence.contains("pass at 195 Mbit/s"), "{limit:?}");
    // A policer drops packets too, and connections reach most of its rate.
    let policed = load(4, &[170.0, 174.0, 172.0, 171.0], lossy, (0.1, 0.1));
    let limit = limit_of(report(vec![policed, datagrams.clone()]));
    assert_eq!(limit.kind, NetLimitKind::RateLimit, "{limit:?}");
    // BBR does not answer to loss.
    let mut bbr = slow;
    if let Some(flow) = &mut bbr.forward {
        flow.sender.congestion = Some("bbr".to_owned());
    }
    let limit = limit_of(report(vec![bbr]));
    assert_eq!(limit.kind, NetLimitKind::Unknown, "{limit:?}");
}

#[test]
fn a_busy_host_is_named_where_the_load_uses_its_cpus_or_waits_for_them() {
    let on_a_busy_host = |cpu_share: f64, run_delay_ns: u64| {
        let mut slow = load(1, &[5.0, 9.0, 4.0, 7.0], CALM, (cpu_share, cpu_share));
        if let Some(flow) = &mut slow.forward {
            flow.receiver.host.as_mut().unwrap().busy_share = 1.0;
            for second in &mut flow.receiver.connections[0].seconds {
                second.run_delay_ns = run_delay_ns;
            }
        }
        limit_of(report(vec![slow])).kind
    };
    assert_eq!(on_a_busy_host(0.01, 5_000_000), NetLimitKind::Unknown);
    assert_eq!(on_a_busy_host(0.01, 300_000_000), NetLimitKind::HostCpu);
}

fn probe(largest: u32, silent: bool) -> MtuProbe {
    MtuProbe {
        largest_payload_bytes: largest,
        jumbo_passes: largest >= 8972,
        silent,
        refused_by: None,
    }
}

#[test]
fn packet_sizes_are_explained_by_the_setting_that_is_wrong() {
    let found = |ours: u32, theirs: u32, there: MtuProbe, back: MtuProbe| {
        let mut report = report(vec![]);
        report.ours = host("a", ours);
        report.theirs = host("bb", theirs);
        report.probes = Some([there, back]);
        judge_pair(&mut report);
        report.mtu.unwrap()
    };
    let good = found(9000, 9000, probe(8972, false), probe(8972, false));
    assert!(!good.mismatch && good.path_mtu_bytes == 9000);
    let plain = found(1500, 1500, probe(1472, false), probe(1472, true));
    assert!(!plain.mismatch, "{}", plain.explanation);
    let between = found(9000, 9000, probe(1472, true), probe(1472, true));
    assert!(between.mismatch && between.explanation.contains("switch"));
    let ends = found(9000, 1500, probe(1472, true), probe(1472, true));
    assert!(
        ends.mismatch && ends.explanation.contains("eth0 of bb (10.0.0.2) of 1500"),
        "{ends:?}"
    );
    let mut named = probe(1372, false);
    named.refused_by = Some(("10.9.9.9".to_owned(), 1400));
    let hop = found(9000, 9000, named, probe(1372, true));
    assert!(
        hop.explanation.starts_with("10.9.9.9 on the way"),
        "{hop:?}"
    );
}

/// Rates of all ways between hosts with some noise; `factor` makes some slow.
fn cells(hosts: usize, rng: &mut Rng, factor: impl Fn(usize, usize) -> f64) -> Vec<MatrixCell> {
    let mut cells = Vec::new();
    for from in 0..hosts {
        for to in (0..hosts).filter(|to| *to != from) {
            let noise = 1.0 + 0.06 * (rng.unit() - 0.5);
            cells.push(MatrixCell {
                from,
                to,
                bits_per_second: Some(9.4e9 * noise * factor(from, to)),
                retransmits: 0,
                retransmit_share: None,
                idle_ns: None,
                loaded_ns: None,
                error: None,
                again_bits: Vec::new(),
            });
        }
    }
    cells
}

#[test]
fn a_way_that_was_slow_once_is_told_and_not_called_slow() {
    let mut rng = Rng::new(7);
    let mut all = cells(4, &mut rng, |from, to| match (from, to) {
        (0, 1) | (2, 3) => 0.4,
        _ => 1.0,
    });
    for cell in &mut all {
        match (cell.from, cell.to) {
            (0, 1) => cell.again_bits = vec![9.3e9, 3.0e9],
            (2, 3) => cell.again_bits = vec![3.7e9, 3.8e9],
            _ => {}
        }
    }
    let found = outliers::find(4, &all);
    let links: Vec<(usize, usize)> = found.links.iter().map(|l| (l.from, l.to)).collect();
    assert_eq!(links, [(2, 3)]);
    let told = remarks::slow_once(&all, &|host| format!("h{host}"));
    assert_eq!(told.len(), 1);
    assert!(told[0].text.starts_with("h0 to h1 "), "{}", told[0].text);
}

#[test]
fn the_bad_link_among_twelve_is_found_for_every_seed() {
    for seed in 0..400 {
        let mut rng = Rng::new(seed);
        let (from, to) = (rng.below(4) as usize, rng.below(3) as usize);
        let to = if to >= from { to + 1 } else { to };
        let slow = |a, b| if (a, b) == (from, to) { 0.7 } else { 1.0 };
        let found = outliers::find(4, &cells(4, &mut rng, slow));
        let links: Vec<_> = found
            .links
            .iter()
            .map(|link| (link.from, link.to))
            .collect();
        assert_eq!(links, [(from, to)], "seed {seed}");
        assert!(found.nodes.is_empty(), "seed {seed}: {:?}", found.nodes);
    }
}

#[test]
fn links_that_are_alike_raise_no_alarm() {
    for seed in 0..400 {
        let mut rng = Rng::new(seed);
        for hosts in [2, 3, 4, 9] {
            let found = outliers::find(hosts, &cells(hosts, &mut rng, |_, _| 1.0));
            assert!(
                found.links.is_empty() && found.nodes.is_empty(),
                "seed {seed}"
            );
        }
    }
    assert_eq!(outliers::find(0, &[]), Outliers::default());
}

#[test]
fn a_bad_host_is_named_instead_of_all_its_links() {
    for seed in 0..200 {
        let mut rng = Rng::new(seed);
        let bad = rng.below(6) as usize;
        let slow = |from: usize, _| if from == bad { 0.5 } else { 1.0 };
        let found = outliers::find(6, &cells(6, &mut rng, slow));
        let nodes: Vec<_> = found.nodes.iter().map(|n| (n.node, n.sending)).collect();
        assert_eq!(nodes, [(bad, true)], "seed {seed}");
        assert!(found.links.is_empty(), "seed {seed}: {:?}", found.links);
    }
}

#[test]
fn a_matrix_says_which_link_and_what_differs() {
    let mut rng = Rng::new(3);
    let slow = |from, to| if (from, to) == (1, 2) { 0.4 } else { 1.0 };
    let mut facts: Vec<HostFacts> = (0..4).map(|_| host("n", 9000)).collect();
    facts[3] = host("n", 1500);
    let mut report = MatrixReport {
        schema: String::new(),
        started_unix_s: 0,
        hosts: (0..4).map(|n| format!("node{n}")).collect(),
        facts,
        seconds: 1,
        streams: 1,
        rounds: vec![MatrixRound {
            mode: MatrixMode::Alone,
            rounds: 6,
            cells: cells(4, &mut rng, slow),
            sums: vec![],
        }],
        outliers: Outliers::default(),
        remarks: vec![],
    };
    let mut once = report.clone();
    judge_matrix(&mut once);
    let ids: Vec<&str> = once.remarks.iter().map(|r| r.id.as_str()).collect();
    assert_eq!(ids, ["mtu-differs", "slow-unconfirmed"]);
    assert!(once.outliers.links.is_empty(), "{:?}", once.outliers);
    assert!(!once.remarks[1].text.contains("shares"));
    let cells = report.rounds[0].cells.iter_mut();
    let mut slow = cells.filter(|cell| (cell.from, cell.to) == (1, 2));
    slow.next().unwrap().again_bits = vec![3.6e9, 3.7e9];
    judge_matrix(&mut report);
    let ids: Vec<&str> = report.remarks.iter().map(|r| r.id.as_str()).collect();
    assert_eq!(ids, ["mtu-differs", "slow-link"]);
    assert!(report.remarks[1].text.starts_with("node1 to node2"));
}

#[test]
fn seconds_merge_to_samples() {
    let flow = load(1, &[100.0, 200.0, 300.0], CALM, (0.1, 0.2))
        .forward
        .unwrap();
    let samples = flow.receiver.samples(OpKind::Read);
    assert_eq!(samples.len(), 3);
    assert_eq!(flow.receiver.bits_each_second().len(), 3);
    assert_eq!(flow.receiver.bits_per_second(), Some(200e6));
}
