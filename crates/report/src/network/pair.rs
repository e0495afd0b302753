//! A pair of hosts as text.

use fathom_model::network::{
    EndReport, FlowReport, HostFacts, LoadKind, LoadResult, NetLimit, PairReport, Protocol,
};
use fathom_model::{Histogram, unit};
use fathom_stats::median::median;

use super::{rate, remark, time};
use crate::table::{Align, Table};

/// The report for a terminal.
pub fn pair_text(report: &PairReport, width: usize) -> String {
    let mut text = heading(report);
    text += &path(report);
    text += &loads(report, width);
    text += &requests(report, width);
    if !report.limits.is_empty() {
        text += "\nWhat sets the rate\n";
        for (way, limit) in &report.limits {
            text += &limit_text(way, limit);
        }
    }
    if !report.remarks.is_empty() {
        text.push('\n');
        for one in &report.remarks {
            text += &remark("!", &one.text);
        }
    }
    text
}

fn heading(report: &PairReport) -> String {
    let mut text = format!(
        "{} to {} ({})\n",
        report.ours.hostname, report.theirs.hostname, report.reached.address
    );
    for (side, host) in [("here ", &report.ours), ("there", &report.theirs)] {
        text += &format!("  {side}  {}\n", host_line(host));
    }
    text
}

fn host_line(host: &HostFacts) -> String {
    let Some(link) = &host.link else {
        return format!("{}, link not found", host.address);
    };
    let mut parts = vec![format!("{} on {}", host.address, link.interface)];
    parts.push(match (link.speed_bits, link.is_virtual) {
        (Some(speed), false) => format!("rated {}", unit::bits(speed as f64)),
        (_, true) => "virtual link, no rated speed".to_owned(),
        (None, false) => "rated speed unknown".to_owned(),
    });
    if let Some(duplex) = link.duplex.as_ref().filter(|_| !link.is_virtual) {
        parts.push(format!("{duplex} duplex"));
    }
    if let Some(mtu) = link.mtu_bytes {
        parts.push(format!("MTU {mtu}"));
    }
    if !link.is_virtual {
        parts.push(format!("{} receive queues", link.receive_queues));
    }
    if let Some(driver) = &link.driver {
        parts.push(driver.clone());
    }
    if !link.bonded.is_empty() {
        parts.push(format!("bond of {}", link.bonded.join(", ")));
    }
    parts.push(format!("{} CPUs", host.cpus));
    parts.join(", ")
}

fn path(report: &PairReport) -> String {
    let mut rows: Vec<(&str, String)> = Vec::new();
    let connect = report.reached.connect_ns.iter();
    let connect: Vec<f64> = connect.map(|ns| *ns as f64).collect();
    if let Some(middle) = median(&connect) {
        let tries = match connect.len() {
            1 => String::new(),
            n => format!(", the median of {n} handshakes"),
        };
        rows.push((
            "connect",
            format!("{}{tries}", time(Some(middle.round() as u64))),
        ));
    }
    if let Some(idle) = &report.idle {
        rows.push(("round trip, idle", trips(&idle.latency)));
    }
    if let Some(mtu) = &report.mtu {
        rows.push(("packet size", mtu.explanation.clone()));
    }
    if let Some(clock) = &report.clock {
        rows.push((
            "clock",
            format!(
                "theirs is {}{} off ours, ± {}",
                if clock.offset_ns < 0 { "-" } else { "+" },
                unit::latency(clock.offset_ns.unsigned_abs() as f64),
                unit::latency(clock.uncertainty_ns as f64)
            ),
        ));
    }
    let mut text = String::new();
    for (name, value) in rows {
        let lines = crate::table::wrap(&value, 60);
        for (at, line) in lines.iter().enumerate() {
            let name = if at == 0 { name } else { "" };
            text += &format!("  {name:<17} {line}\n");
        }
    }
    if text.is_empty() {
        text
    } else {
        format!("\n{text}")
    }
}

/// Median, 99th percentile and the largest, as far as the number carries them.
fn trips(latency: &Histogram) -> String {
    let mut parts = vec![format!("p50 {}", time(latency.quantile(0.5)))];
    if latency.count() >= 1000 {
        parts.push(format!("p99 {}", time(latency.quantile(0.99))));
    }
    parts.push(format!("max {}", time(latency.max())));
    format!("{} of {}", parts.join(", "), unit::group(latency.count()))
}

fn loads(report: &PairReport, width: usize) -> String {
    let streams = report
        .loads
        .iter()
        .filter(|load| load.spec.kind == LoadKind::Stream);
    let mut table = Table::new([
        ("load", Align::Left),
        ("there", Align::Right),
        ("back", Align::Right),
        ("resent", Align::Right),
        ("round trip", Align::Right),
        ("CPU s/GB\nsend", Align::Right),
        ("\nreceive", Align::Right),
    ])
    .indent(2);
    let mut notes = String::new();
    for load in streams {
        let of = |flow: &Option<FlowReport>| {
            flow.as_ref()
                .map_or_else(String::new, |flow| rate(flow.receiver.bits_per_second()))
        };
        table.row([
            load.name.clone(),
            of(&load.forward),
            of(&load.reverse),
            resent(load),
            load.loaded
                .as_ref()
                .map_or_else(String::new, |l| time(l.latency.quantile(0.5))),
            cpu(load, |flow| &flow.sender),
            cpu(load, |flow| &flow.receiver),
        ]);
        if let Some(error) = &load.error {
            notes += &remark("!", &format!("{}: {error}", load.name));
        }
    }
    if table.is_empty() {
        return String::new();
    }
    format!("\n{}{notes}", table.fit(width))
}

fn flows(load: &LoadResult) -> impl Iterator<Item = &FlowReport> {
    [&load.forward, &load.reverse].into_iter().flatten()
}

/// Segments sent again, or datagrams lost.
fn resent(load: &LoadResult) -> String {
    if load.spec.protocol == Protocol::Udp {
        let sums = flows(load).filter_map(|flow| flow.receiver.datagrams());
        let (packets, lost) = sums.fold((0, 0), |a, b| (a.0 + b.0, a.1 + b.1));
        let share = lost as f64 * 100.0 / (packets + lost).max(1) as f64;
        return format!("{share:.2} % lost");
    }
    let sum: u64 = flows(load).map(|flow| flow.sender.retransmits()).sum();
    unit::group(sum)
}

/// CPU seconds of the threads of an end for each GB that arrived.
fn cpu(load: &LoadResult, end: fn(&FlowReport) -> &EndReport) -> String {
    let (mut used, mut bytes) = (0, 0);
    for flow in flows(load) {
        used += end(flow).cpu_ns();
        bytes += flow.receiver.bytes();
    }
    match bytes {
        0 => "–".to_owned(),
        bytes => format!("{:.2}", used as f64 / bytes as f64),
    }
}

fn requests(report: &PairReport, width: usize) -> String {
    let mut table = Table::new([
        ("request", Align::Left),
        ("per second", Align::Right),
        ("payload", Align::Right),
        ("p50", Align::Right),
        ("p99", Align::Right),
        ("max", Align::Right),
    ])
    .indent(2);
    let of_kind = |load: &&LoadResult| load.spec.kind != LoadKind::Stream;
    let mut notes = String::new();
    for load in report.loads.iter().filter(of_kind) {
        if let Some(error) = &load.error {
            notes += &remark("!", &format!("{}: {error}", load.name));
        }
        let Some(flow) = &load.forward else {
            continue;
        };
        let latency = flow.sender.latency();
        let seconds = flow.sender.duration_ns().max(1) as f64 / 1e9;
        let p99 = (latency.count() >= 1000)
            .then(|| latency.quantile(0.99))
            .flatten();
        table.row([
            load.name.clone(),
            unit::count(flow.sender.blocks() as f64 / seconds),
            rate(flow.sender.bits_per_second()),
            time(latency.quantile(0.5)),
            time(p99),
            time(latency.max()),
        ]);
    }
    if table.is_empty() {
        return notes;
    }
    format!("\n{}{notes}", table.fit(width))
}

fn limit_text(way: &str, limit: &NetLimit) -> String {
    let mut text = match limit.wire_bits {
        Some(bits) => format!(
            "  {way:<6} {} at {} on the wire\n",
            limit.kind.words(),
            unit::bits(bits)
        ),
        None => format!("  {way:<6} {}\n", limit.kind.words()),
    };
    for part in [&limit.evidence, &limit.remedy] {
        for line in crate::table::wrap(part, 70) {
            text += &format!("         {line}\n");
        }
    }
    text
}

#[cfg(test)]
#[path = "pair_tests.rs"]
mod tests;
