//! What a user should know of a network besides its limits.

use std::collections::BTreeMap;

use fathom_model::network::{
    FlowReport, HostFacts, LinkOutlier, LoadKind, LoadResult, MatrixCell, MatrixMode, MatrixReport,
    NetRemark, PairReport,
};
use fathom_model::unit;
use fathom_rules::{Rule, network};
use fathom_stats::median::median;

use super::evidence::{bits, percent, trip};
use super::limit::queues;

fn remark(rule: &Rule, text: String) -> NetRemark {
    NetRemark {
        id: rule.id.to_owned(),
        text,
    }
}

/// Of a pair.
pub(super) fn of_pair(report: &PairReport) -> Vec<NetRemark> {
    let mut found = Vec::new();
    if let Some(mtu) = report.mtu.as_ref().filter(|mtu| mtu.mismatch) {
        found.push(remark(network::PACKET_SIZE, mtu.explanation.clone()));
    }
    for host in [&report.ours, &report.theirs] {
        found.extend(of_host(host));
    }
    found.extend(retransmits(report));
    found.extend(bloat(report));
    found.extend(interrupts(report));
    found.extend(both_ways(report));
    found.extend(counters(report));
    if let Some(clock) = report.clock {
        let off_ms = clock.offset_ns as f64 / 1e6;
        if off_ms.abs() > network::clock::THRESHOLD {
            found.push(remark(
                network::CLOCK,
                format!(
                    "the clock of {} is {off_ms:.0} ms off ours: set both by NTP or PTP",
                    report.theirs.hostname
                ),
            ));
        }
    }
    found
}

fn of_host(host: &HostFacts) -> Vec<NetRemark> {
    let mut found = Vec::new();
    let Some(link) = &host.link else {
        return found;
    };
    if link.duplex.as_deref() == Some("half") {
        found.push(remark(
            network::HALF_DUPLEX,
            format!(
                "{} of {} runs half duplex: collisions cost most of its speed; let both ends of \
                 the cable negotiate",
                link.interface, host.hostname
            ),
        ));
    }
    let fast = link
        .speed_bits
        .is_some_and(|speed| speed >= network::single_queue::FAST_BITS);
    if !link.is_virtual && link.receive_queues == 1 && host.cpus > 1 && fast {
        found.push(remark(
            network::SINGLE_QUEUE,
            format!(
                "{} of {} has a single receive queue: one core serves all its packets; raise \
                 `ethtool -L {} combined N`, or spread them with RPS",
                link.interface, host.hostname, link.interface
            ),
        ));
    }
    found
}

fn retransmits(report: &PairReport) -> Option<NetRemark> {
    let worst = report
        .loads
        .iter()
        .filter(|load| load.spec.kind == LoadKind::Stream)
        .flat_map(|load| [(load, &load.forward), (load, &load.reverse)])
        .filter_map(|(load, flow)| {
            let sender = &flow.as_ref()?.sender;
            Some((load, sender.retransmit_share()?, sender.retransmits()))
        })
        .max_by(|a, b| a.1.total_cmp(&b.1))?;
    (worst.1 >= network::retransmits::THRESHOLD).then(|| {
        remark(
            network::RETRANSMITS,
            format!(
                "{} ({}) {} sent again with {}: packets are lost on the way or a queue is full",
                unit::counted(worst.2, "segment"),
                percent(worst.1),
                if worst.2 == 1 { "was" } else { "were" },
                worst.0.name
            ),
        )
    })
}

fn flows(load: &LoadResult) -> impl Iterator<Item = &FlowReport> {
    [&load.forward, &load.reverse].into_iter().flatten()
}

/// Whether packets of a flow were lost, so that it was slower than the path is.
fn is_lossy(flow: &FlowReport) -> bool {
    let share = flow.sender.retransmit_share();
    share.is_some_and(|share| share >= network::retransmits::THRESHOLD)
}

fn bloat(report: &PairReport) -> Option<NetRemark> {
    let idle = report.idle.as_ref()?.latency.quantile(0.5)?;
    let worst = report
        .loads
        .iter()
        // A request whose packet is lost waits for it to be sent again, in no queue.
        .filter(|load| flows(load).any(|flow| queues(flow) || !is_lossy(flow)))
        .filter_map(|load| Some((load, load.loaded.as_ref()?.latency.quantile(0.5)?)))
        .max_by_key(|(_, loaded)| *loaded)?;
    let grown_ms = worst.1.saturating_sub(idle) as f64 / 1e6;
    (grown_ms > network::queue::THRESHOLD).then(|| {
        remark(
            network::QUEUE,
            format!(
                "a small request takes {} beside {}, {} without load: a long queue stands before \
                 the bottleneck; fq_codel or a shorter queue there shortens it",
                trip(worst.1),
                worst.0.name,
                trip(idle)
            ),
        )
    })
}

fn interrupts(report: &PairReport) -> Option<NetRemark> {
    report.loads.iter().find_map(|load| {
        let flows = [&load.forward, &load.reverse].into_iter().flatten();
        let mut ends = flows.flat_map(|flow| [&flow.sender, &flow.receiver]);
        let host = ends.find_map(|end| {
            end.host.filter(|host| {
                host.cpus > 1
                    && host.interrupt_share >= network::interrupts_on_one_core::CORE_SHARE
                    && host.interrupt_concentration >= network::interrupts_on_one_core::THRESHOLD
            })
        })?;
        Some(remark(
            network::INTERRUPTS_ON_ONE_CORE,
            format!(
                "{} of the interrupt work of a host was on core {}, which spent {} of its time on \
                 it ({}): spread the queues of the network card over the cores",
                percent(host.interrupt_concentration),
                host.interrupt_cpu,
                percent(host.interrupt_share),
                load.name
            ),
        ))
    })
}

fn both_ways(report: &PairReport) -> Option<NetRemark> {
    let both = report.loads.iter().find(|load| {
        load.spec.kind == LoadKind::Stream && load.forward.is_some() && load.reverse.is_some()
    })?;
    if flows(both).any(is_lossy) {
        return None;
    }
    let alone = |name: &str| report.load(name)?.bits_per_second();
    let better = alone("1 stream there")?.max(alone("1 stream back")?);
    let together = both.bits_per_second()?;
    (together < better * network::both_ways::THRESHOLD).then(|| {
        remark(
            network::BOTH_WAYS,
            format!(
                "both ways at once reach {} together, one way alone {}: the directions share \
                 something (a CPU, half duplex, one limit for both)",
                bits(together),
                bits(better)
            ),
        )
    })
}

fn counters(report: &PairReport) -> Vec<NetRemark> {
    let ends = [
        (&report.ours, &report.our_counters),
        (&report.theirs, &report.their_counters),
    ];
    let grown = ends
        .into_iter()
        .filter(|(_, counters)| counters.total() > 0);
    grown
        .map(|(host, counters)| {
            let link = host
                .link
                .as_ref()
                .map_or("its link", |link| &link.interface);
            remark(
                network::LINK_ERRORS,
                format!(
                    "{link} of {} counted {} receive errors, {} dropped on receive, {} transmit \
                     errors, {} dropped on transmit: see `ethtool -S {link}`",
                    host.hostname,
                    counters.receive_errors,
                    counters.receive_dropped,
                    counters.transmit_errors,
                    counters.transmit_dropped
                ),
            )
        })
        .collect()
}

/// Ways whose first figure was not confirmed.
pub(super) fn slow_once(cells: &[MatrixCell], name: &dyn Fn(usize) -> String) -> Vec<NetRemark> {
    let slow = |cell: &&MatrixCell| {
        let first = cell.bits_per_second.unwrap_or(0.0);
        let best = cell.best_bits().unwrap_or(0.0);
        !cell.again_bits.is_empty() && first < network::slow_link::THRESHOLD * best
    };
    let tell = |cell: &MatrixCell| {
        remark(
            network::SLOW_ONCE,
            format!(
                "{} to {} gave {} and, looked at again, {}: something disturbed the first look \
                 (other traffic, a busy host), the way itself is not slow",
                name(cell.from),
                name(cell.to),
                bits(cell.bits_per_second.unwrap_or(0.0)),
                bits(cell.best_bits().unwrap_or(0.0)),
            ),
        )
    };
    cells.iter().filter(slow).map(tell).collect()
}

/// Of a matrix.
pub(super) fn of_matrix(report: &MatrixReport, unconfirmed: &[LinkOutlier]) -> Vec<NetRemark> {
    let mut found = one_machine(report);
    found.extend(differences(report));
    let name = |host: usize| report.hosts.get(host).map_or("?", String::as_str);
    for node in &report.outliers.nodes {
        let verb = if node.sending { "sends" } else { "receives" };
        found.push(remark(
            network::SLOW_HOST,
            format!(
                "{} {verb} at {} of the others' rate on all its links: look at its card, cable, \
                 switch port and CPUs",
                name(node.node),
                percent(node.ratio)
            ),
        ));
    }
    for link in &report.outliers.links {
        found.push(remark(
            network::SLOW_LINK,
            format!(
                "{} to {} reaches {} of what both reach with others: look at what only this pair \
                 shares (a path between switches, a route, a rule)",
                name(link.from),
                name(link.to),
                percent(link.ratio)
            ),
        ));
    }
    for link in unconfirmed {
        found.push(remark(
            network::SLOW_UNCONFIRMED,
            format!(
                "{} to {} reached {} of what both reach with others, in one measurement that \
                 could not be repeated: run `fathom net` again before looking for a cause",
                name(link.from),
                name(link.to),
                percent(link.ratio)
            ),
        ));
    }
    let alone = report.rounds.iter().find(|r| r.mode == MatrixMode::Alone);
    let alone = alone.map_or(&[][..], |round| &round.cells);
    found.extend(slow_once(alone, &|host| name(host).to_owned()));
    // What they share is the machine, and was said.
    let apart = one_machine(report).is_empty();
    if let Some(together) = report
        .rounds
        .iter()
        .find(|r| r.mode == MatrixMode::Together && apart)
        && let Some(median_bits) = report.outliers.median_bits
    {
        let received: Vec<f64> = together.sums.iter().map(|sum| sum.received_bits).collect();
        if let Some(each) = median(&received)
            && each < network::fabric::THRESHOLD * median_bits
        {
            found.push(remark(
                network::FABRIC,
                format!(
                    "with all pairs at once a host receives {} in all, a single pair alone {}: \
                     what they share (switch, uplink, CPUs) is the limit",
                    bits(each),
                    bits(median_bits)
                ),
            ));
        }
    }
    found
}

/// Several agents of one machine measure that machine, and no network.
fn one_machine(report: &MatrixReport) -> Vec<NetRemark> {
    let mut machines: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for (host, facts) in report.hosts.iter().zip(&report.facts) {
        if let Some(boot_id) = &facts.boot_id {
            machines.entry(boot_id).or_default().push(host);
        }
    }
    let shared = machines.into_values().filter(|hosts| hosts.len() > 1);
    let told = shared.map(|hosts| {
        let text = format!(
            "{} are one machine: what goes between them crosses no network, and they count as one \
             host",
            hosts.join(" and ")
        );
        remark(network::ONE_MACHINE, text)
    });
    told.collect()
}

/// All nodes should be alike: the first rule of the cluster guide.
fn differences(report: &MatrixReport) -> Vec<NetRemark> {
    let mut found = Vec::new();
    let mut differs = |rule: &Rule, what: &str, value: &dyn Fn(&HostFacts) -> Option<String>| {
        let values: Vec<Option<String>> = report.facts.iter().map(value).collect();
        let mut kinds = values.clone();
        kinds.sort();
        kinds.dedup();
        if kinds.len() > 1 {
            let shown: Vec<String> = values
                .iter()
                .zip(&report.hosts)
                .map(|(value, host)| format!("{host}: {}", value.as_deref().unwrap_or("unknown")))
                .collect();
            found.push(remark(
                rule,
                format!("{what} differs ({})", shown.join(", ")),
            ));
        }
    };
    differs(network::MTU_DIFFERS, "the MTU", &|host| {
        Some(host.link.as_ref()?.mtu_bytes?.to_string())
    });
    differs(network::SPEED_DIFFERS, "the link speed", &|host| {
        Some(bits(host.link.as_ref()?.speed_bits? as f64))
    });
    differs(network::KERNEL_DIFFERS, "the kernel", &|host| {
        Some(host.kernel.clone())
    });
    differs(network::VERSION_DIFFERS, "the version of fathom", &|host| {
        Some(host.fathom.clone())
    });
    found
}
