//! One load in the shape of `iperf3 -J` (`src/iperf_api.c`), for programs that
//! read that.
//!
//! Bits and bytes are payload; `rtt` is in microseconds, as there. What iperf3
//! has and fathom does not know is left out, as iperf3 does where the kernel
//! lacks `TCP_INFO`. `omitted` marks the warm-up.

use fathom_model::network::{
    ConnectionReport, ConnectionSecond, EndReport, FlowReport, LoadResult, PairReport, Protocol,
};
use jiff::Timestamp;
use serde_json::{Map, Value, json};

/// The load as a document, indented.
///
/// # Errors
/// Only when serialisation itself fails.
pub fn iperf3_json(report: &PairReport, load: &LoadResult) -> serde_json::Result<String> {
    let mut document = Map::new();
    document.insert("start".to_owned(), start(report, load));
    let mut intervals = Vec::new();
    let mut end = Map::new();
    let both = load.forward.is_some() && load.reverse.is_some();
    let mut streams = Vec::new();
    for (flow, sends) in [(&load.forward, true), (&load.reverse, false)] {
        let Some(flow) = flow else {
            continue;
        };
        // The second direction of two has names of its own.
        let suffix = if both && !sends { "_bidir_reverse" } else { "" };
        let first = streams.len();
        streams.extend(flow_streams(load, flow, first, sends));
        sums(&mut end, load, flow, suffix, sends);
        add_intervals(&mut intervals, load, flow, first, sends, suffix);
    }
    end.insert("streams".to_owned(), Value::Array(streams));
    end.insert("cpu_utilization_percent".to_owned(), cpu(load));
    if let Some(flow) = load.forward.as_ref().or(load.reverse.as_ref()) {
        for (key, side) in [
            ("sender_tcp_congestion", &flow.sender),
            ("receiver_tcp_congestion", &flow.receiver),
        ] {
            if let Some(name) = &side.congestion {
                end.insert(key.to_owned(), json!(name));
            }
        }
    }
    document.insert("intervals".to_owned(), Value::Array(intervals));
    document.insert("end".to_owned(), Value::Object(end));
    if let Some(error) = &load.error {
        document.insert("error".to_owned(), json!(error));
    }
    let mut text = fathom_model::indented_json(&document)?;
    text.push('\n');
    Ok(text)
}

/// `2026-11-21 15:45:30 UTC`.
fn date(unix_s: u64) -> String {
    let at = i64::try_from(unix_s).ok().map(Timestamp::from_second);
    at.and_then(Result::ok).map_or_else(
        || "unknown date".to_owned(),
        |at| at.strftime("%Y-%m-%d %H:%M:%S UTC").to_string(),
    )
}

fn is_udp(load: &LoadResult) -> bool {
    load.spec.protocol == Protocol::Udp
}

fn split(address: &str) -> (&str, u64) {
    let (host, port) = address.rsplit_once(':').unwrap_or((address, "0"));
    let host = host.trim_start_matches('[').trim_end_matches(']');
    (host, port.parse().unwrap_or(0))
}

fn start(report: &PairReport, load: &LoadResult) -> Value {
    let spec = &load.spec;
    let ours = [(&load.forward, true), (&load.reverse, false)];
    let ends = ours.into_iter().filter_map(|(flow, sends)| {
        let flow = flow.as_ref()?;
        Some(if sends { &flow.sender } else { &flow.receiver })
    });
    let connected: Vec<Value> = ends
        .flat_map(|end| &end.connections)
        .enumerate()
        .map(|(at, connection)| {
            let (local, local_port) = split(&connection.local);
            let (remote, remote_port) = split(&connection.remote);
            json!({"socket": socket(at), "local_host": local, "local_port": local_port,
                "remote_host": remote, "remote_port": remote_port})
        })
        .collect();
    let (host, port) = split(&report.reached.address);
    let mss = load
        .forward
        .as_ref()
        .or(load.reverse.as_ref())
        .and_then(|flow| flow.sender.connections.first()?.last_tcp().copied())
        .map_or(0, |tcp| tcp.mss_bytes);
    json!({
        "connected": connected,
        "version": format!("fathom {}", report.ours.fathom),
        "system_info": format!("Linux {} {}", report.ours.hostname, report.ours.kernel),
        "timestamp": {"time": date(report.started_unix_s),
            "timesecs": report.started_unix_s},
        "connecting_to": {"host": host, "port": port},
        "cookie": "",
        "tcp_mss_default": mss,
        "target_bitrate": spec.rate_bits.unwrap_or(0),
        "fq_rate": 0,
        "sock_bufsize": spec.buffer_bytes.unwrap_or(0),
        "sndbuf_actual": 0,
        "rcvbuf_actual": 0,
        "test_start": {
            "protocol": if is_udp(load) { "UDP" } else { "TCP" },
            "num_streams": spec.streams,
            "blksize": spec.block_bytes,
            "omit": spec.warmup_ns / 1_000_000_000,
            "duration": spec.measure_ns / 1_000_000_000,
            "bytes": 0,
            "blocks": 0,
            "reverse": u8::from(load.forward.is_none()),
            "tos": 0,
            "target_bitrate": spec.rate_bits.unwrap_or(0),
            "bidir": u8::from(load.forward.is_some() && load.reverse.is_some()),
            "fqrate": 0,
        },
    })
}

/// Numbers as iperf3 gives its sockets: descriptors, from 5 on.
fn socket(at: usize) -> usize {
    5 + 2 * at
}

/// The span and rate of some seconds.
fn span(start_ns: u64, duration_ns: u64, bytes: u64) -> Map<String, Value> {
    let (start, seconds) = (start_ns as f64 / 1e9, duration_ns as f64 / 1e9);
    let rate = if seconds > 0.0 {
        bytes as f64 * 8.0 / seconds
    } else {
        0.0
    };
    let mut map = Map::new();
    map.insert("start".to_owned(), json!(start));
    map.insert("end".to_owned(), json!(start + seconds));
    map.insert("seconds".to_owned(), json!(seconds));
    map.insert("bytes".to_owned(), json!(bytes));
    map.insert("bits_per_second".to_owned(), json!(rate));
    map
}

fn measured_span(end: &EndReport) -> Map<String, Value> {
    span(0, end.duration_ns(), end.bytes())
}

fn connection_span(connection: &ConnectionReport) -> Map<String, Value> {
    let duration = connection.measured().map(|s| s.duration_ns).sum();
    let bytes = connection.measured().map(|s| s.bytes).sum();
    span(0, duration, bytes)
}

fn flow_streams(load: &LoadResult, flow: &FlowReport, first: usize, sends: bool) -> Vec<Value> {
    let pairs = flow
        .sender
        .connections
        .iter()
        .zip(&flow.receiver.connections);
    pairs
        .enumerate()
        .map(|(at, (sender, receiver))| {
            let at = first + at;
            if is_udp(load) {
                let mut udp = connection_span(sender);
                add_udp(&mut udp, receiver.measured());
                udp.insert("socket".to_owned(), json!(socket(at)));
                udp.insert("sender".to_owned(), json!(sends));
                return json!({ "udp": udp });
            }
            let mut out = connection_span(sender);
            out.insert("socket".to_owned(), json!(socket(at)));
            out.insert("retransmits".to_owned(), json!(sender.retransmits()));
            let states: Vec<_> = sender.measured().filter_map(|s| s.tcp).collect();
            let rtts = states.iter().map(|tcp| u64::from(tcp.rtt_us));
            let cwnd = |tcp: &fathom_model::network::TcpState| {
                u64::from(tcp.cwnd_segments) * u64::from(tcp.mss_bytes)
            };
            let count = states.len().max(1) as u64;
            out.insert(
                "max_snd_cwnd".to_owned(),
                json!(states.iter().map(cwnd).max().unwrap_or(0)),
            );
            out.insert("max_rtt".to_owned(), json!(rtts.clone().max().unwrap_or(0)));
            out.insert("min_rtt".to_owned(), json!(rtts.clone().min().unwrap_or(0)));
            out.insert("mean_rtt".to_owned(), json!(rtts.sum::<u64>() / count));
            out.insert("sender".to_owned(), json!(sends));
            let mut into = connection_span(receiver);
            into.insert("socket".to_owned(), json!(socket(at)));
            into.insert("sender".to_owned(), json!(sends));
            json!({ "sender": out, "receiver": into })
        })
        .collect()
}

/// Jitter, losses and packets of some seconds of the receiver.
fn add_udp<'a>(map: &mut Map<String, Value>, seconds: impl Iterator<Item = &'a ConnectionSecond>) {
    let (mut packets, mut lost, mut late, mut jitter_ns) = (0, 0, 0, 0);
    for state in seconds.filter_map(|second| second.udp) {
        packets += state.packets;
        lost += state.lost;
        late += state.out_of_order;
        jitter_ns = state.jitter_ns;
    }
    let all = packets + lost;
    let share = if all > 0 {
        lost as f64 * 100.0 / all as f64
    } else {
        0.0
    };
    map.insert("jitter_ms".to_owned(), json!(jitter_ns as f64 / 1e6));
    map.insert("lost_packets".to_owned(), json!(lost));
    map.insert("packets".to_owned(), json!(all));
    map.insert("lost_percent".to_owned(), json!(share));
    map.insert("out_of_order".to_owned(), json!(late));
}

fn sums(
    end: &mut Map<String, Value>,
    load: &LoadResult,
    flow: &FlowReport,
    suffix: &str,
    sends: bool,
) {
    let mut sent = measured_span(&flow.sender);
    let mut received = measured_span(&flow.receiver);
    sent.insert("sender".to_owned(), json!(sends));
    received.insert("sender".to_owned(), json!(sends));
    if is_udp(load) {
        let seconds = || {
            flow.receiver
                .connections
                .iter()
                .flat_map(ConnectionReport::measured)
        };
        add_udp(&mut received, seconds());
        let mut both = sent.clone();
        add_udp(&mut both, seconds());
        end.insert(format!("sum{suffix}"), Value::Object(both));
    } else {
        sent.insert("retransmits".to_owned(), json!(flow.sender.retransmits()));
    }
    end.insert(format!("sum_sent{suffix}"), Value::Object(sent));
    end.insert(format!("sum_received{suffix}"), Value::Object(received));
}

/// The seconds as the end saw them that asked for the load.
fn add_intervals(
    intervals: &mut Vec<Value>,
    load: &LoadResult,
    flow: &FlowReport,
    first: usize,
    sends: bool,
    suffix: &str,
) {
    let ours = if sends { &flow.sender } else { &flow.receiver };
    let longest = ours
        .connections
        .iter()
        .map(|c| c.seconds.len())
        .max()
        .unwrap_or(0);
    for at in 0..longest {
        let (mut streams, mut sum_bytes, mut resent) = (Vec::new(), 0, 0);
        let mut shape = (0, 0, false);
        for (number, connection) in ours.connections.iter().enumerate() {
            let Some(second) = connection.seconds.get(at) else {
                continue;
            };
            let before = at.checked_sub(1).and_then(|at| connection.seconds.get(at));
            let grown = retransmits(second).saturating_sub(before.map_or(0, retransmits));
            shape = (second.start_ns, second.duration_ns, second.warmup);
            sum_bytes += second.bytes;
            resent += grown;
            streams.push(interval_stream(load, second, first + number, sends, grown));
        }
        let mut sum = span(shape.0, shape.1, sum_bytes);
        if sends && !is_udp(load) {
            sum.insert("retransmits".to_owned(), json!(resent));
        }
        sum.insert("omitted".to_owned(), json!(shape.2));
        sum.insert("sender".to_owned(), json!(sends));
        match intervals.get_mut(at).and_then(Value::as_object_mut) {
            Some(known) => {
                if let Some(Value::Array(list)) = known.get_mut("streams") {
                    list.extend(streams);
                }
                known.insert(format!("sum{suffix}"), Value::Object(sum));
            }
            None => intervals.push(json!({"streams": streams, (format!("sum{suffix}")): sum})),
        }
    }
}

fn retransmits(second: &ConnectionSecond) -> u64 {
    second.tcp.map_or(0, |tcp| tcp.retransmits)
}

fn interval_stream(
    load: &LoadResult,
    second: &ConnectionSecond,
    at: usize,
    sends: bool,
    resent: u64,
) -> Value {
    let mut map = span(second.start_ns, second.duration_ns, second.bytes);
    map.insert("socket".to_owned(), json!(socket(at)));
    match (&second.tcp, is_udp(load)) {
        (_, true) if sends => {
            map.insert("packets".to_owned(), json!(second.blocks));
        }
        (_, true) => add_udp(&mut map, std::iter::once(second)),
        (Some(tcp), false) if sends => {
            let cwnd = u64::from(tcp.cwnd_segments) * u64::from(tcp.mss_bytes);
            map.insert("retransmits".to_owned(), json!(resent));
            map.insert("snd_cwnd".to_owned(), json!(cwnd));
            map.insert("snd_wnd".to_owned(), json!(tcp.send_window_bytes));
            map.insert("rtt".to_owned(), json!(tcp.rtt_us));
            map.insert("rttvar".to_owned(), json!(tcp.rtt_var_us));
            map.insert("pmtu".to_owned(), json!(tcp.path_mtu_bytes));
            map.insert("reorder".to_owned(), json!(tcp.reordered));
        }
        _ => {}
    }
    map.insert("omitted".to_owned(), json!(second.warmup));
    map.insert("sender".to_owned(), json!(sends));
    Value::Object(map)
}

/// CPU time of the threads of both ends, in percent of one CPU.
fn cpu(load: &LoadResult) -> Value {
    let mut ends: [Vec<&EndReport>; 2] = [Vec::new(), Vec::new()];
    for (flow, sends) in [(&load.forward, true), (&load.reverse, false)] {
        if let Some(flow) = flow {
            ends[usize::from(!sends)].push(&flow.sender);
            ends[usize::from(sends)].push(&flow.receiver);
        }
    }
    let mut map = Map::new();
    for (name, ends) in ["host", "remote"].into_iter().zip(ends) {
        let time = ends
            .iter()
            .map(|end| end.duration_ns())
            .max()
            .unwrap_or(0)
            .max(1) as f64;
        let seconds = || {
            let connections = ends.iter().flat_map(|end| &end.connections);
            connections.flat_map(ConnectionReport::measured)
        };
        let user: u64 = seconds().map(|s| s.cpu_user_ns).sum();
        let system: u64 = seconds().map(|s| s.cpu_system_ns).sum();
        let percent = |ns: u64| json!(ns as f64 * 100.0 / time);
        map.insert(format!("{name}_total"), percent(user + system));
        map.insert(format!("{name}_user"), percent(user));
        map.insert(format!("{name}_system"), percent(system));
    }
    Value::Object(map)
}

#[cfg(test)]
#[path = "iperf3_tests.rs"]
mod tests;
