//! A pair of hosts as text.

use fathom_model::network::{
    EndReport, FlowReport, HostFacts, LoadKind, LoadResult, NetLimit, PairReport, Protocol,
};
use fathom_model::{Histogram, unit};
use fathom_stats::median::median;

use super::{LEAST_FOR_P99, pair_answer, rate, remark, time};
use crate::listing::Listing;
use crate::table::{Align, wrap};

/// The report for a terminal.
pub fn pair_text(report: &PairReport, width: usize) -> String {
    let mut text = wrap(&pair_answer::pair_sentence(report), width).join("\n");
    text.push('\n');
    if report.is_one_machine() {
        let said = "Both ends are one machine: what goes between them crosses no network.";
        text += &remark("!", said, width);
    }
    if !report.limits.is_empty() {
        text += "\nWhat sets the rate\n";
        for (way, limit) in &report.limits {
            text += &limit_text(way, limit, width);
        }
    }
    for listing in [streams(report), requests(report)].into_iter().flatten() {
        text += &format!("\n{}", listing.text(2, width));
    }
    for error in errors(report) {
        text += &remark("!", &error, width);
    }
    text += &format!("\n{}", heading(report, width));
    text += &path(report, width);
    if !report.remarks.is_empty() {
        text.push('\n');
        for one in &report.remarks {
            text += &remark("!", &one.text, width);
        }
    }
    text
}

fn heading(report: &PairReport, width: usize) -> String {
    let mut text = format!(
        "{} to {} ({})\n",
        report.ours.hostname, report.theirs.hostname, report.reached.address
    );
    for (side, host) in [("here", &report.ours), ("there", &report.theirs)] {
        text += &field(side, &host_line(host), width);
    }
    text
}

/// A name with its value beside it.
fn field(name: &str, value: &str, width: usize) -> String {
    const NAME: usize = 17;
    let lines = wrap(value, width.saturating_sub(NAME + 3));
    let mut names = std::iter::once(name).chain(std::iter::repeat(""));
    let line = |line: &String| format!("  {:<NAME$} {line}\n", names.next().unwrap_or_default());
    lines.iter().map(line).collect()
}

/// The link and the CPUs of a host.
pub(super) fn host_line(host: &HostFacts) -> String {
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
    parts.push(unit::counted(host.cpus.into(), "CPU"));
    parts.join(", ")
}

fn path(report: &PairReport, width: usize) -> String {
    let rows = path_rows(report);
    let lines = rows.iter().map(|(name, value)| field(name, value, width));
    lines.collect()
}

/// What is known of the path, each with its name.
pub(super) fn path_rows(report: &PairReport) -> Vec<(String, String)> {
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
        let sign = if clock.offset_ns < 0 { "-" } else { "+" };
        let offset = unit::latency(clock.offset_ns.unsigned_abs() as f64);
        let uncertainty = unit::latency(clock.uncertainty_ns as f64);
        rows.push((
            "clock",
            format!("theirs is {sign}{offset} off ours, ± {uncertainty}"),
        ));
    }
    let named = rows.into_iter();
    named
        .map(|(name, value)| (name.to_owned(), value))
        .collect()
}

/// Median, 99th percentile and the largest, as far as the number carries them.
fn trips(latency: &Histogram) -> String {
    let mut parts = vec![format!("p50 {}", time(latency.quantile(0.5)))];
    if latency.count() >= LEAST_FOR_P99 {
        parts.push(format!("p99 {}", time(latency.quantile(0.99))));
    }
    parts.push(format!("max {}", time(latency.max())));
    format!("{} of {}", parts.join(", "), unit::group(latency.count()))
}

/// Streams, load by load.
pub(super) fn streams(report: &PairReport) -> Option<Listing> {
    let heads = [
        ("load", Align::Left),
        ("there", Align::Right),
        ("back", Align::Right),
        ("resent", Align::Right),
        ("round trip", Align::Right),
        ("CPU s/GB\nsend/receive", Align::Right),
    ];
    let of = |flow: &Option<FlowReport>| {
        let flow = flow.as_ref();
        flow.map_or_else(String::new, |flow| rate(flow.receiver.bits_per_second()))
    };
    let is_stream = |load: &&LoadResult| load.spec.kind == LoadKind::Stream;
    let rows = report.loads.iter().filter(is_stream).map(|load| {
        let trip = load.loaded.as_ref();
        vec![
            load.name.clone(),
            of(&load.forward),
            of(&load.reverse),
            resent(load),
            trip.map_or_else(String::new, |trip| time(trip.latency.quantile(0.5))),
            format!(
                "{} / {}",
                cpu(load, |flow| &flow.sender),
                cpu(load, |flow| &flow.receiver)
            ),
        ]
    });
    Listing::new("Streams", heads).with(0, usize::MAX, rows)
}

/// What went wrong, load by load.
pub(super) fn errors(report: &PairReport) -> Vec<String> {
    let errors = report.loads.iter().filter_map(|load| {
        let error = load.error.as_ref()?;
        Some(format!("{}: {error}", load.name))
    });
    errors.collect()
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

/// Requests and responses, load by load.
pub(super) fn requests(report: &PairReport) -> Option<Listing> {
    let heads = [
        ("request", Align::Left),
        ("per second", Align::Right),
        ("payload", Align::Right),
        ("p50", Align::Right),
        ("p99", Align::Right),
        ("max", Align::Right),
    ];
    let of_kind = |load: &&LoadResult| load.spec.kind != LoadKind::Stream;
    let rows = report.loads.iter().filter(of_kind).filter_map(|load| {
        let flow = load.forward.as_ref()?;
        let latency = flow.sender.latency();
        let seconds = flow.sender.duration_ns().max(1) as f64 / 1e9;
        let p99 = (latency.count() >= LEAST_FOR_P99)
            .then(|| latency.quantile(0.99))
            .flatten();
        Some(vec![
            load.name.clone(),
            unit::count(flow.sender.blocks() as f64 / seconds),
            rate(flow.sender.bits_per_second()),
            time(latency.quantile(0.5)),
            time(p99),
            time(latency.max()),
        ])
    });
    Listing::new("Requests", heads).with(0, usize::MAX, rows)
}

fn limit_text(way: &str, limit: &NetLimit, width: usize) -> String {
    let mut text = match limit.wire_bits {
        Some(bits) => format!(
            "  {way:<6} {} at {} on the wire\n",
            limit.kind.words(),
            unit::bits(bits)
        ),
        None => format!("  {way:<6} {}\n", limit.kind.words()),
    };
    for part in [&limit.evidence, &limit.remedy] {
        for line in wrap(part, width.saturating_sub(9)) {
            text += &format!("         {line}\n");
        }
    }
    text
}

#[cfg(test)]
#[path = "pair_tests.rs"]
mod tests;
