//! Reports that are not runs, made of plain numbers: a network, a cluster, a diagnosis,
//! the use of a host.

use fathom_model::Histogram;
use fathom_model::cluster::{
    ClusterFinding, ClusterLook, ClusterMember, ClusterOperation, SizeCount,
};
use fathom_model::diagnosis::{
    Answer, CeilingUse, CpuLoad, DIAGNOSIS_SCHEMA, Diagnosis, DiskLoad, Shortage,
};
use fathom_model::machine::{MachineLink, MachineNode, MachineUse, ResourceUse, UseFigure};
use fathom_model::network::{
    ConnectionReport, ConnectionSecond, EndReport, FlowReport, HostFacts, LinkFacts, LinkOutlier,
    LoadResult, LoadSpec, MATRIX_SCHEMA, MatrixCell, MatrixMode, MatrixReport, MatrixRound,
    NetLimit, NetLimitKind, NetRemark, NodeSum, Outliers, PAIR_SCHEMA, PairReport, Reachability,
    RoundTrip, TcpState,
};

/// When all of them were measured.
const STARTED_UNIX_S: u64 = 1_795_275_930;
const SECOND_NS: u64 = 1_000_000_000;

fn facts(host: &str) -> HostFacts {
    HostFacts {
        hostname: host.to_owned(),
        kernel: "6.12.0".to_owned(),
        cpus: 16,
        address: format!("10.0.0.{}", host.len()),
        link: Some(LinkFacts {
            interface: "eth0".to_owned(),
            speed_bits: Some(10_000_000_000),
            duplex: Some("full".to_owned()),
            mtu_bytes: Some(1500),
            driver: Some("ixgbe".to_owned()),
            receive_queues: 16,
            ..LinkFacts::default()
        }),
        ..HostFacts::default()
    }
}

/// Six hosts; one link is slow.
pub(crate) fn matrix() -> MatrixReport {
    const HOSTS: usize = 6;
    let hosts: Vec<String> = (1..=HOSTS).map(|at| format!("node{at}")).collect();
    let pairs = || {
        (0..HOSTS).flat_map(|from| {
            let others = (0..HOSTS).filter(move |to| *to != from);
            others.map(move |to| (from, to))
        })
    };
    let cell = |(from, to): (usize, usize), share: f64| {
        let slow = if (from, to) == (1, 4) { 0.4 } else { 1.0 };
        let own = 9.38e9 + 1e7 * ((from * 7 + to * 3) % 5) as f64;
        MatrixCell {
            from,
            to,
            bits_per_second: Some(own * slow * share),
            retransmits: (from * to) as u64,
            retransmit_share: Some(0.0001),
            idle_ns: Some(61_000 + 1000 * to as u64),
            loaded_ns: Some(240_000 + 3000 * from as u64),
            error: None,
            again_bits: Vec::new(),
        }
    };
    let round = |mode: MatrixMode, share: f64| {
        let cells: Vec<MatrixCell> = pairs().map(|pair| cell(pair, share)).collect();
        let sum = |at: usize| {
            let of = |pick: fn(&MatrixCell) -> usize| -> f64 {
                let cells = cells.iter().filter(|cell| pick(cell) == at);
                cells.filter_map(|cell| cell.bits_per_second).sum()
            };
            NodeSum {
                sent_bits: of(|cell| cell.from),
                received_bits: of(|cell| cell.to),
            }
        };
        MatrixRound {
            mode,
            rounds: 5,
            sums: (0..HOSTS).map(sum).collect(),
            cells: cells.clone(),
        }
    };
    let slow = "node2 to node5 reaches 40 % of what both reach with others: look at what only this \
                pair shares (a path between switches, a route, a rule)";
    MatrixReport {
        schema: MATRIX_SCHEMA.to_owned(),
        started_unix_s: STARTED_UNIX_S,
        facts: hosts.iter().map(|host| facts(host)).collect(),
        hosts,
        seconds: 4,
        streams: 1,
        rounds: vec![
            round(MatrixMode::Alone, 1.0),
            round(MatrixMode::Together, 0.19),
            round(MatrixMode::Incast, 0.2),
            round(MatrixMode::Outcast, 0.2),
        ],
        outliers: Outliers {
            median_bits: Some(9.4e9),
            nodes: Vec::new(),
            links: vec![LinkOutlier {
                from: 1,
                to: 4,
                ratio: 0.4,
                deviations: 40.0,
            }],
        },
        remarks: vec![NetRemark {
            id: "slow-link".to_owned(),
            text: slow.to_owned(),
        }],
    }
}

fn trips(middle_ns: u64, count: u64) -> Histogram {
    let mut latency = Histogram::new();
    for at in 0..count {
        latency.record(middle_ns + at % 100 * middle_ns / 400);
    }
    latency
}

/// An end that moved these bytes in each of five seconds.
fn end(bytes: u64, latency: &Histogram) -> EndReport {
    let second = |at: u64| ConnectionSecond {
        warmup: at == 0,
        start_ns: at * SECOND_NS,
        duration_ns: SECOND_NS,
        bytes: bytes - at * bytes / 60,
        blocks: 10_000,
        latency: latency.clone(),
        lateness: Histogram::new(),
        cpu_user_ns: 20_000_000,
        cpu_system_ns: 280_000_000,
        run_delay_ns: 0,
        cpu: 1,
        tcp: Some(TcpState {
            retransmits: 3 * (at + 1),
            segments_out: 800_000 * (at + 1),
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
            seconds: (0..5).map(second).collect(),
            error: None,
        }],
        host: None,
        congestion: Some("cubic".to_owned()),
    }
}

/// Two hosts at their links' speed.
pub(crate) fn pair() -> PairReport {
    let flow = |bytes: u64| FlowReport {
        sender: end(bytes, &Histogram::new()),
        receiver: end(bytes, &Histogram::new()),
    };
    let trip = |middle_ns: u64| RoundTrip {
        latency: trips(middle_ns, 2000),
        ..RoundTrip::default()
    };
    let load = |name: &str, forward: Option<u64>, reverse: Option<u64>| LoadResult {
        name: name.to_owned(),
        spec: LoadSpec::stream(4),
        forward: forward.map(flow),
        reverse: reverse.map(flow),
        loaded: Some(trip(260_000)),
        error: None,
        started_unix_ns: 0,
    };
    let mut request = load("read 4 KiB", Some(40_960_000), None);
    request.spec = LoadSpec::requests(64, 4096, 2 * SECOND_NS);
    request.forward = Some(FlowReport {
        sender: end(40_960_000, &trips(70_000, 500)),
        receiver: end(40_960_000, &Histogram::new()),
    });
    let limit = |at: f64| NetLimit {
        kind: NetLimitKind::Link,
        wire_bits: Some(at),
        evidence: "99 % of the rated 10.0 Gbit/s in each second".to_owned(),
        remedy: "a faster link, or a second one beside it".to_owned(),
    };
    PairReport {
        schema: PAIR_SCHEMA.to_owned(),
        started_unix_s: STARTED_UNIX_S,
        ours: facts("node1"),
        theirs: facts("storage2"),
        reached: Reachability {
            address: "10.0.0.2:5299".to_owned(),
            connect_ns: vec![180_000, 170_000, 190_000],
        },
        clock: None,
        probes: None,
        mtu: None,
        idle: Some(trip(62_000)),
        loads: vec![
            load("1 stream there", Some(1_190_000_000), None),
            load("1 stream back", None, Some(1_170_000_000)),
            load(
                "1 stream each way",
                Some(1_100_000_000),
                Some(1_090_000_000),
            ),
            load("4 streams there", Some(1_216_000_000), None),
            load("4 streams back", None, Some(1_215_000_000)),
            request,
        ],
        our_counters: Default::default(),
        their_counters: Default::default(),
        limits: vec![
            ("there".to_owned(), limit(9.91e9)),
            ("back".to_owned(), limit(9.9e9)),
        ],
        remarks: Vec::new(),
    }
}

/// A volume of Gluster with a slow brick.
pub(crate) fn cluster() -> ClusterLook {
    let member = |at: u64| ClusterMember {
        name: format!("h{at}:/bricks/b{at}"),
        calls: Some(12_000 + 300 * at),
        mean_ns: Some(if at == 5 {
            9.1e6
        } else {
            1.2e6 + 5e4 * at as f64
        }),
        times_middle: Some(if at == 5 { 7.1 } else { 1.0 }),
        used: Some(0.5 + 0.03 * at as f64),
        slow: at == 5,
    };
    let operation = |name: &str, calls: u64, mean_ns: f64, time_share: f64| ClusterOperation {
        name: name.to_owned(),
        calls,
        mean_ns,
        time_share,
    };
    let finding = |severity: &str, rule: &str, found: &str, remedy: &str| ClusterFinding {
        severity: severity.to_owned(),
        rule: rule.to_owned(),
        found: found.to_owned(),
        remedy: remedy.to_owned(),
        ..ClusterFinding::default()
    };
    ClusterLook {
        kind: "gluster".to_owned(),
        sources: vec!["volume profile profile.txt".to_owned()],
        findings: vec![
            finding(
                "warning",
                "slow-member",
                "h5:/bricks/b5 takes 7.1 times as long as the middle brick at the same operations",
                "Look at the disks of that host: `fathom diagnose` there says whether they are \
                 the bottleneck.",
            ),
            finding(
                "info",
                "many-lookups",
                "58 % of the time goes to LOOKUP",
                "Try performance.md-cache-timeout 600.",
            ),
        ],
        operations: vec![
            operation("LOOKUP", 71_000, 1.54e6, 0.58),
            operation("WRITE", 20_400, 2.4e6, 0.3),
            operation("STAT", 8_800, 6.4e5, 0.12),
        ],
        members: (1..=6).map(member).collect(),
        writes: [(4096, 18_000), (8192, 1500), (131_072, 900)]
            .map(|(from_bytes, count)| SizeCount { from_bytes, count })
            .to_vec(),
        ..ClusterLook::default()
    }
}

/// A device at the rate that its volume gives.
pub(crate) fn diagnosis() -> Diagnosis {
    let sample = |at: u32| {
        let wave = f64::from(at % 9) * 6.0;
        [f64::from(at), 610.0 + wave, 330.0 - wave]
    };
    Diagnosis {
        schema: DIAGNOSIS_SCHEMA.to_owned(),
        answer: Answer::Yes,
        limiter: Shortage::VolumeCap,
        evidence: vec![
            "vdb held 940 IOPS for 98 % of the time, the rate of its volume".to_owned(),
            "14 operations waited in its queue, the CPUs were 12 % busy".to_owned(),
        ],
        settle: Vec::new(),
        host: "db1".to_owned(),
        sources: vec!["iostat (JSON)".to_owned()],
        seconds: 600.0,
        samples: 60,
        cpu: Some(CpuLoad {
            cpus: Some(8),
            busy: Some(0.12),
            iowait: Some(0.61),
            steal: Some(0.0),
            load_per_cpu: Some(1.9),
            runnable_per_cpu: Some(0.2),
        }),
        disks: vec![DiskLoad {
            name: "vdb".to_owned(),
            operations: 938.0,
            read_share: Some(0.66),
            operations_p95: 944.0,
            reads_peak: 658.0,
            writes_peak: 330.0,
            operations_peak: 951.0,
            bytes: 1.5e7,
            block_bytes: Some(16_384.0),
            wait_ms: Some(14.9),
            wait_peak_ms: Some(31.0),
            queue: Some(14.1),
            queue_peak: Some(32.0),
            util: Some(0.99),
            series: (0..60).map(sample).collect(),
        }],
        ceiling: Some(CeilingUse {
            source: "--ceiling-iops".to_owned(),
            operations: 1000.0,
            block_bytes: None,
            peak_share: 0.951,
            time_at_ceiling: 0.98,
            comparable: true,
            contradicted: false,
            words: "vdb peaks at 951 of 1,000 IOPS (95 %)".to_owned(),
        }),
        calibration: None,
        causal: None,
        remarks: Vec::new(),
    }
}

/// A host with a full queue and a link that was trained down.
pub(crate) fn machine() -> MachineUse {
    let figure = |title: &str, value: f64, unit: &str| UseFigure {
        quantity: title.replace(' ', "_"),
        title: title.to_owned(),
        value: Some(value),
        most: Some(value * 1.1),
        unit: unit.to_owned(),
        how: "/proc".to_owned(),
        ..UseFigure::default()
    };
    let beyond = |title: &str, value: f64, threshold: f64| UseFigure {
        threshold: Some(threshold),
        source: Some("alarm queue-saturated".to_owned()),
        beyond: true,
        ..figure(title, value, "requests")
    };
    let resource =
        |kind: &str, name: &str, use_of: Vec<UseFigure>, waits: Vec<UseFigure>| ResourceUse {
            kind: kind.to_owned(),
            name: name.to_owned(),
            utilisation: use_of,
            saturation: waits,
            errors: vec![figure("errors", 0.0, "errors")],
        };
    let node = |name: &str, kind: &str, label: &str, above: Option<&str>| MachineNode {
        name: name.to_owned(),
        kind: kind.to_owned(),
        label: label.to_owned(),
        above: above.map(str::to_owned),
        link: above.map(|_| MachineLink {
            kind: "pcie".to_owned(),
            now: Some("8.0 GT/s x2".to_owned()),
            bits_per_second: Some(15.7e9),
            most: Some("8.0 GT/s x4".to_owned()),
            most_bits_per_second: Some(31.5e9),
            below_rated: kind == "adapter",
            ..MachineLink::default()
        }),
    };
    MachineUse {
        host: "db1".to_owned(),
        seconds: 10.0,
        resources: vec![
            resource(
                "cpu",
                "all CPUs",
                vec![figure("busy", 0.41, "ratio")],
                Vec::new(),
            ),
            resource(
                "memory",
                "memory",
                vec![figure("used", 0.63, "ratio")],
                Vec::new(),
            ),
            resource(
                "disk",
                "nvme0n1",
                vec![figure("time in use", 0.97, "ratio")],
                vec![beyond("queue", 24.0, 10.0), figure("wait", 0.012, "s")],
            ),
        ],
        picture: vec![
            node("socket 0", "socket", "CPUs 0-15", None),
            node("0000:01:00.0", "adapter", "NVMe", Some("socket 0")),
            node("nvme0n1", "disk", "Example 1 TB", Some("0000:01:00.0")),
        ],
        ..MachineUse::default()
    }
}
