//! fio's `net` engine: a job that reads from a connection or writes to it.

use fathom_model::ScheduledTrial;
use fathom_model::workload::{EngineKind, Peer, PeerProtocol, Work, Workload};

use super::asked::Asked;

/// Fills in the connection. False when the job cannot be run.
pub(super) fn fill(asked: &mut Asked<'_>, workload: &mut Workload) -> bool {
    let Some(protocol) = protocol(asked) else {
        return false;
    };
    let mix = workload.mix;
    let one_way = mix.read_percent == 100 || mix.write_percent == 100;
    if !one_way || matches!(workload.pattern, fathom_model::workload::Pattern::Random(_)) {
        asked.problem(
            "rw",
            "a connection is read or written in sequence; use read or write",
        );
        return false;
    }
    let host = asked.text("hostname").unwrap_or_default().trim().to_owned();
    let Some(port) = port(asked) else {
        return false;
    };
    let reads = mix.read_percent == 100;
    let listen = match protocol {
        PeerProtocol::Udp => reads,
        _ => asked.flag("listen", false),
    };
    if let Some(message) = missing(protocol, &host, port, listen) {
        asked.problem("hostname", message);
        return false;
    }
    if asked.has("filename") {
        asked.ignored(
            "filename",
            "hostname, port and protocol name the connection",
        );
    }
    let small = |value: Option<u64>| value.map_or(0, |v| u32::try_from(v).unwrap_or(u32::MAX));
    workload.work = Work::connections(Peer {
        protocol,
        listen,
        host,
        port: u16::try_from(port).unwrap_or(0),
        nodelay: asked.flag("nodelay", false),
        ping_pong: asked.flag("pingpong", false),
        buffer_bytes: small(asked.bytes("window_size")),
        mss_bytes: small(asked.count("mss")),
        interface: asked
            .text("interface")
            .unwrap_or_default()
            .trim()
            .to_owned(),
        ttl: u8::try_from(asked.count("ttl").unwrap_or(1)).unwrap_or(u8::MAX),
    });
    true
}

/// The protocol; `None` when it cannot be run.
fn protocol(asked: &mut Asked<'_>) -> Option<PeerProtocol> {
    match asked.word("protocol", "tcp") {
        "tcp" | "tcpv4" => return Some(PeerProtocol::Tcp),
        "udp" | "udpv4" => return Some(PeerProtocol::Udp),
        "unix" => return Some(PeerProtocol::Unix),
        "tcpv6" | "udpv6" => asked.refused(
            "protocol",
            "use tcp or udp; `fathom net` measures over IPv6",
        ),
        "vsock" => asked.refused(
            "protocol",
            "sockets of virtual machines are not supported; use tcp",
        ),
        other => {
            let message = format!("'{other}' is not a protocol; tcp, udp and unix are");
            asked.problem("protocol", message);
        }
    }
    None
}

/// The port, 0 where none is named; `None` when it is no number.
fn port(asked: &mut Asked<'_>) -> Option<u64> {
    let port = asked.count("port");
    if port.is_none() && asked.has("port") {
        asked.problem("port", "is not a number");
        return None;
    }
    Some(port.unwrap_or(0))
}

fn missing(protocol: PeerProtocol, host: &str, port: u64, listen: bool) -> Option<String> {
    let ports = 1..=u64::from(u16::MAX);
    match protocol {
        PeerProtocol::Unix if host.is_empty() => Some("hostname names the local socket".to_owned()),
        PeerProtocol::Unix => None,
        _ if !ports.contains(&port) => {
            Some(format!("port is {port}; name one of 1 to {}", u16::MAX))
        }
        _ if host.is_empty() && !listen => {
            Some("hostname names the other end, or this one listens".to_owned())
        }
        _ => None,
    }
}

/// A listening end begins when the other one does: fio's clock of it starts
/// with the connection.
pub(super) fn meet(trials: &mut [ScheduledTrial]) {
    let net = |trial: &ScheduledTrial| trial.workload.engine == EngineKind::Net;
    let listens = |trial: &ScheduledTrial| trial.workload.peer().is_some_and(|p| p.listen);
    let callers: Vec<(Option<u32>, u64)> = trials
        .iter()
        .filter(|trial| net(trial) && !listens(trial))
        .map(|trial| (trial.together, trial.start_delay_ns))
        .collect();
    for trial in trials.iter_mut().filter(|trial| net(trial)) {
        if !listens(trial) {
            continue;
        }
        let beside = callers.iter().filter(|(set, _)| *set == trial.together);
        if let Some(earliest) = beside.map(|(_, delay_ns)| *delay_ns).min() {
            trial.start_delay_ns = trial.start_delay_ns.max(earliest);
        }
    }
}
