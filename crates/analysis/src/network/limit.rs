//! What sets the rate of one direction between two hosts.
//!
//! The best load of the direction is looked at: is it the link at its rated
//! speed, a CPU, a rate that something holds (all seconds alike, and one
//! stream reaches what many do), the window, or loss? Only what the numbers
//! prove is named.

use fathom_model::network::{
    Direction, EndReport, FlowReport, LoadKind, LoadResult, NetLimit, NetLimitKind, PairReport,
    Protocol,
};
use fathom_rules::network;
use fathom_rules::network::packet_size::LARGEST_BYTES;
use fathom_rules::network::window::{QUEUE_TIMES, QUEUE_US};
use fathom_stats::mad::robust_deviation;
use fathom_stats::median::median;

use super::evidence::{bits, percent, trip};

/// A direction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Way {
    There,
    Back,
}

impl Way {
    pub(super) fn words(self) -> &'static str {
        match self {
            Way::There => "there",
            Way::Back => "back",
        }
    }

    fn flow(self, load: &LoadResult) -> Option<&FlowReport> {
        let only = match self {
            Way::There => Direction::Forward,
            Way::Back => Direction::Reverse,
        };
        if load.spec.kind != LoadKind::Stream || load.spec.direction != only {
            return None;
        }
        match self {
            Way::There => load.forward.as_ref(),
            Way::Back => load.reverse.as_ref(),
        }
    }
}

/// A load of the direction with its rate.
#[derive(Clone, Copy)]
struct Seen<'a> {
    load: &'a LoadResult,
    flow: &'a FlowReport,
    payload: f64,
}

impl Seen<'_> {
    fn wire(&self) -> f64 {
        self.payload * wire_factor(self.load, self.flow)
    }

    fn seconds(&self) -> Vec<f64> {
        self.flow.receiver.bits_each_second()
    }
}

/// Whether something holds the rate: the seconds are alike.
fn spread_if_steady(seconds: &[f64]) -> Option<f64> {
    if seconds.len() < network::rate_limit::LEAST_SECONDS {
        return None;
    }
    let spread = robust_deviation(seconds)? / median(seconds)?;
    (spread <= network::rate_limit::THRESHOLD).then_some(spread)
}

/// Bytes on the wire (Ethernet header, no preamble: what shapers count) for
/// each byte of payload.
pub fn wire_factor(load: &LoadResult, flow: &FlowReport) -> f64 {
    let framed = |payload: f64, packet: f64| (packet + 14.0) / payload.max(1.0);
    if load.spec.protocol == Protocol::Udp {
        let payload = f64::from(load.spec.block_bytes);
        return framed(payload, payload + 28.0);
    }
    let state = flow.sender.connections.iter().find_map(|c| c.last_tcp());
    match state {
        Some(tcp) if tcp.mss_bytes > 0 && tcp.path_mtu_bytes >= tcp.mss_bytes => {
            framed(f64::from(tcp.mss_bytes), f64::from(tcp.path_mtu_bytes))
        }
        _ => framed(1448.0, 1500.0),
    }
}

/// What limits a direction; `None` when it was not loaded.
pub(super) fn limit(report: &PairReport, way: Way) -> Option<NetLimit> {
    let seen: Vec<Seen<'_>> = report
        .loads
        .iter()
        .filter_map(|load| {
            let flow = way.flow(load)?;
            let payload = flow.receiver.bits_per_second()?;
            (payload > 0.0).then_some(Seen {
                load,
                flow,
                payload,
            })
        })
        .collect();
    let best = *seen.iter().max_by(|a, b| a.wire().total_cmp(&b.wire()))?;
    let found = asked(best)
        .or_else(|| lossy_beside_datagrams(best, &seen))
        .or_else(|| link(report, best))
        .or_else(|| cpu(report, best))
        .or_else(|| window(report, best, &seen))
        .or_else(|| plateau(best, &seen))
        .or_else(|| host(report, best))
        .or_else(|| loss(best));
    Some(found.unwrap_or_else(|| unknown(best)))
}

/// Datagrams show what the path carries; what connections get of it may be set by loss.
fn lossy_beside_datagrams(best: Seen<'_>, seen: &[Seen<'_>]) -> Option<NetLimit> {
    if best.load.spec.protocol != Protocol::Udp {
        return None;
    }
    let connections = seen
        .iter()
        .filter(|s| s.load.spec.protocol != Protocol::Udp);
    let tcp = connections.max_by(|a, b| a.wire().total_cmp(&b.wire()))?;
    if tcp.wire() > network::loss::OF_DATAGRAMS * best.wire() {
        return None;
    }
    let found = loss(*tcp)?;
    let passes = format!(
        "; datagrams, which loss does not slow down, pass at {}",
        bits(best.payload)
    );
    Some(NetLimit {
        evidence: found.evidence + &passes,
        ..found
    })
}

fn asked(best: Seen<'_>) -> Option<NetLimit> {
    let rate = best.load.spec.rate_bits? as f64;
    (best.payload >= rate * network::asked_rate::THRESHOLD).then(|| NetLimit {
        kind: NetLimitKind::AskedRate,
        wire_bits: None,
        evidence: format!("{} of the {} requested", bits(best.payload), bits(rate)),
        remedy: "ask for more, or for no rate, to find the limit".to_owned(),
    })
}

fn link(report: &PairReport, best: Seen<'_>) -> Option<NetLimit> {
    let rated = report.rated_bits()? as f64;
    // Preamble, check sum and gap come on top of what a shaper counts.
    let state = best
        .flow
        .sender
        .connections
        .iter()
        .find_map(|c| c.last_tcp());
    let packet = state.map_or(1500.0, |tcp| f64::from(tcp.path_mtu_bytes)) + 14.0;
    let on_the_wire = best.wire() * (packet + 24.0) / packet;
    (on_the_wire >= rated * network::link::THRESHOLD).then(|| NetLimit {
        kind: NetLimitKind::Link,
        wire_bits: Some(on_the_wire),
        evidence: format!(
            "{} with headers is {} of the rated {}",
            bits(on_the_wire),
            percent(on_the_wire / rated),
            bits(rated)
        ),
        remedy: "a faster link, or a bond with as many flows as links".to_owned(),
    })
}

/// What a network can do about CPUs that are at their end: nothing between two ends of
/// one machine, and larger packets only where they are not as large as they get.
fn relief(report: &PairReport, best: Seen<'_>) -> Vec<&'static str> {
    if report.is_one_machine() {
        return Vec::new();
    }
    let links = [&report.ours, &report.theirs].map(|host| host.link.as_ref()?.mtu_bytes);
    let mut states = best.flow.sender.connections.iter();
    let path = states.find_map(|c| c.last_tcp());
    let path = path.map(|tcp| tcp.path_mtu_bytes).filter(|mtu| *mtu > 0);
    let mtu = links.into_iter().chain([path]).flatten().min();
    let is_small = mtu.is_none_or(|mtu| mtu < LARGEST_BYTES);
    let larger = is_small.then_some("larger packets (MTU 9000)");
    larger
        .into_iter()
        .chain(["offloads of the network card"])
        .collect()
}

/// What to do where both ends are one machine, so that nothing crosses a network.
const APART: &str = "measure between two machines: both ends share the CPUs of one here";

/// `a, b, or c`.
fn one_of(choices: &[&str]) -> String {
    match choices {
        [] => String::new(),
        [only] => (*only).to_owned(),
        [first, second] => format!("{first}, or {second}"),
        [others @ .., last] => format!("{}, or {last}", others.join(", ")),
    }
}

fn cpu(report: &PairReport, best: Seen<'_>) -> Option<NetLimit> {
    let found = |kind, evidence: String, remedy: String| NetLimit {
        kind,
        wire_bits: None,
        evidence,
        remedy,
    };
    let ends = [
        (&best.flow.receiver, NetLimitKind::ReceiverCpu, "receiver"),
        (&best.flow.sender, NetLimitKind::SenderCpu, "sender"),
    ];
    for (end, kind, name) in ends {
        let Some((share, core)) = end.busiest_thread() else {
            continue;
        };
        if share >= network::one_cpu::THRESHOLD {
            let evidence = format!(
                "a thread of the {name} used {} of its time as CPU, last on core {core}, at {}",
                percent(share),
                bits(best.payload)
            );
            let mut choices = vec!["more streams over more cores"];
            choices.extend(relief(report, best));
            return Some(found(kind, evidence, one_of(&choices)));
        }
        if let Some(host) = end.host
            && host.interrupt_share >= network::one_cpu::THRESHOLD
        {
            let evidence = format!(
                "interrupts used {} of core {} of the {name}",
                percent(host.interrupt_share),
                host.interrupt_cpu
            );
            let remedy = match report.is_one_machine() {
                true => APART,
                false => {
                    "spread the queues of the network card over the cores (ethtool -L, \
                     irqbalance, RPS)"
                }
            };
            return Some(found(kind, evidence, remedy.to_owned()));
        }
    }
    None
}

/// Share of the CPUs of a host that the threads of an end used.
fn own_share(end: &EndReport) -> f64 {
    let cpus = end.host.map_or(1, |host| host.cpus.max(1));
    end.cpu_ns() as f64 / (end.duration_ns().max(1) as f64 * f64::from(cpus))
}

/// Share of the time in which the threads of an end waited for a CPU.
fn waited_share(end: &EndReport) -> f64 {
    let seconds = end.connections.iter().flat_map(|c| &c.seconds);
    let (waited, all) = seconds.fold((0, 0), |(waited, all), second| {
        (waited + second.run_delay_ns, all + second.duration_ns)
    });
    waited as f64 / all.max(1) as f64
}

/// All CPUs of a host: this load uses them, or waits for them.
fn host(report: &PairReport, best: Seen<'_>) -> Option<NetLimit> {
    let ends = [
        (&best.flow.receiver, "receiver"),
        (&best.flow.sender, "sender"),
    ];
    ends.into_iter().find_map(|(end, name)| {
        let host = end
            .host
            .filter(|h| h.busy_share >= network::host_cpu::THRESHOLD)?;
        let own = own_share(end);
        let uses = own >= network::host_cpu::OWN_PART * host.busy_share;
        if !uses && waited_share(end) < network::host_cpu::WAITED {
            return None;
        }
        let remedy = match (uses, relief(report, best)) {
            (false, _) => "measure while nothing else runs there".to_owned(),
            (true, none) if none.is_empty() => APART.to_owned(),
            (true, mut choices) => {
                choices.push("more CPUs");
                one_of(&choices)
            }
        };
        let (cpus, were) = match host.cpus {
            1 => ("the CPU".to_owned(), "was"),
            n => (format!("all {n} CPUs"), "were"),
        };
        Some(NetLimit {
            kind: NetLimitKind::HostCpu,
            wire_bits: None,
            evidence: format!(
                "{cpus} of the {name}'s host {were} {} busy, {} of it with this load, at {}",
                percent(host.busy_share),
                percent(own / host.busy_share),
                bits(best.payload)
            ),
            remedy,
        })
    })
}

/// Share of the busy time with a full window, and with a full send buffer.
fn window_shares(end: &EndReport) -> Option<(f64, f64)> {
    let states = end.connections.iter().filter_map(|c| c.last_tcp());
    let sums = states.fold((0, 0, 0), |(busy, window, buffer), tcp| {
        (
            busy + tcp.busy_us,
            window + tcp.window_limited_us,
            buffer + tcp.buffer_limited_us,
        )
    });
    let share = |part: u64| part as f64 / sums.0 as f64;
    (sums.0 > 0).then(|| (share(sums.1), share(sums.2)))
}

/// The smallest and the last round trip of the sender, in microseconds.
fn round_trips(flow: &FlowReport) -> Option<(u32, u32)> {
    let tcp = flow.sender.connections.iter().find_map(|c| c.last_tcp())?;
    (tcp.min_rtt_us > 0).then_some((tcp.min_rtt_us, tcp.rtt_us))
}

/// A full window limits only where no queue builds up: with a queue it is the
/// path that is full.
fn window(report: &PairReport, best: Seen<'_>, seen: &[Seen<'_>]) -> Option<NetLimit> {
    let (window, buffer) = window_shares(&best.flow.sender)?;
    let (least_us, now_us) = round_trips(best.flow)?;
    let idle_us = report
        .idle
        .as_ref()
        .and_then(|idle| idle.kernel_min_us)
        .unwrap_or(least_us);
    let queue = has_queue(idle_us.min(least_us), now_us);
    if window.max(buffer) < network::window::THRESHOLD || queue {
        return None;
    }
    // One stream that is held by its window leaves room for a second one.
    let one = seen.iter().find(|s| s.load.spec.streams == 1)?;
    let same =
        best.load.spec.streams > 1 && best.payload < one.payload * network::rate_limit::SAME_RATE;
    if same {
        return None;
    }
    let (what, share, remedy) = match window >= buffer {
        true => (
            "the receiver's window",
            window,
            "raise net.ipv4.tcp_rmem and net.core.rmem_max at the receiver, or use more streams",
        ),
        false => (
            "the send buffer",
            buffer,
            "raise net.ipv4.tcp_wmem and net.core.wmem_max at the sender, or use more streams",
        ),
    };
    Some(NetLimit {
        kind: NetLimitKind::Window,
        wire_bits: None,
        evidence: format!(
            "{what} was full {} of the time at a round trip of {}",
            percent(share),
            trip(u64::from(now_us) * 1000)
        ),
        remedy: remedy.to_owned(),
    })
}

/// Whether a round trip has grown by a queue.
fn has_queue(idle_us: u32, now_us: u32) -> bool {
    let allowed_us = QUEUE_TIMES * f64::from(idle_us) + QUEUE_US;
    f64::from(now_us) > allowed_us
}

/// Whether a queue stands before the bottleneck.
pub(super) fn queues(flow: &FlowReport) -> bool {
    round_trips(flow).is_some_and(|(least_us, now_us)| has_queue(least_us, now_us))
}

fn plateau(best: Seen<'_>, seen: &[Seen<'_>]) -> Option<NetLimit> {
    let others: Vec<&Seen<'_>> = seen
        .iter()
        .filter(|other| !std::ptr::eq(other.load, best.load))
        .collect();
    let is_same = |other: &&&Seen<'_>| best.wire() / other.wire() <= network::rate_limit::SAME_RATE;
    let alike: Vec<&&Seen<'_>> = others.iter().filter(is_same).collect();
    let same = alike.len();
    // Short loads have few seconds each; loads that reach the same share one limit.
    let own_seconds = best.seconds();
    let spread = match own_seconds.len() < network::rate_limit::LEAST_SECONDS {
        true => {
            let of_alike = alike.iter().flat_map(|other| other.seconds());
            spread_if_steady(&own_seconds.into_iter().chain(of_alike).collect::<Vec<_>>())?
        }
        false => spread_if_steady(&own_seconds)?,
    };
    let datagrams = best.load.spec.protocol == Protocol::Udp;
    // TCP alone, at one number of streams, may be held by its own window; CPUs
    // that are full of the load hold it as well.
    let own = own_share(&best.flow.sender) + own_share(&best.flow.receiver);
    if (same == 0 && !datagrams && !queues(best.flow)) || own > network::rate_limit::OWN_CPU_SHARE {
        return None;
    }
    let mut evidence = format!(
        "{} of payload, {} with headers; its seconds vary by {}",
        bits(best.payload),
        bits(best.wire()),
        percent(spread)
    );
    if same > 0 {
        let names: Vec<&str> = alike.iter().map(|other| other.load.name.as_str()).collect();
        let others = names.join(", ");
        evidence += &format!(", and {} reaches the same as {others}", best.load.name);
    } else if let Some(tcp) = others.first() {
        evidence += &format!(", while TCP reaches {}", bits(tcp.payload));
    }
    if let Some((packets, lost)) = best.flow.receiver.datagrams()
        && lost > 0
    {
        let share = lost as f64 / (packets + lost) as f64;
        evidence += &format!("; {} of the datagrams were lost", percent(share));
    }
    Some(NetLimit {
        kind: NetLimitKind::RateLimit,
        wire_bits: Some(best.wire()),
        evidence,
        remedy: "look for shapers and policers (tc qdisc, the hypervisor's or provider's limit of \
                 the instance, the switch port) and for a slower link on the way"
            .to_owned(),
    })
}

/// BBR (Cardwell et al. 2016) sets its rate by what is delivered and not by loss; the
/// others that Linux has answer to loss.
fn answers_to_loss(flow: &FlowReport) -> bool {
    let name = flow.sender.congestion.as_deref();
    !name.is_some_and(|name| name.starts_with("bbr"))
}

fn loss(best: Seen<'_>) -> Option<NetLimit> {
    let share = best.flow.sender.retransmit_share()?;
    if share < network::loss::THRESHOLD || !answers_to_loss(best.flow) {
        return None;
    }
    let tcp = best
        .flow
        .sender
        .connections
        .iter()
        .find_map(|c| c.last_tcp())?;
    let mathis = f64::from(tcp.mss_bytes) * 8.0 * 1.22
        / (f64::from(tcp.rtt_us.max(1)) * 1e-6 * share.sqrt());
    let streams = f64::from(best.load.spec.streams);
    Some(NetLimit {
        kind: NetLimitKind::Loss,
        wire_bits: None,
        evidence: format!(
            "{} of the segments were sent again at a round trip of {}; by Mathis' formula {} \
             streams reach about {}",
            percent(share),
            trip(u64::from(tcp.rtt_us) * 1000),
            best.load.spec.streams,
            bits(mathis * streams)
        ),
        remedy: "look for damaged cables and optics (ethtool -S), full switch buffers, and a \
                 half-duplex port"
            .to_owned(),
    })
}

fn unknown(best: Seen<'_>) -> NetLimit {
    NetLimit {
        kind: NetLimitKind::Unknown,
        wire_bits: None,
        evidence: format!(
            "{} with {}; no CPU, window, loss or steady rate accounts for it",
            bits(best.payload),
            best.load.name
        ),
        remedy: "measure for longer, with more streams, and while nothing else runs".to_owned(),
    }
}
