//! A pair of hosts as one HTML file.

use fathom_model::network::{LoadKind, LoadResult, PairReport};
use fathom_model::unit;

use super::{pair, pair_answer};
use crate::chart::bars::{self, Bar};
use crate::chart::figure::ChartFigure;
use crate::html::document_page::{self, DocumentPage, PageBlock, PagePart};
use crate::moment;
use crate::sentence::sentence_of;

/// The pair as one HTML document, without anything from outside.
///
/// # Errors
/// Only when the template engine fails.
pub fn pair_html(report: &PairReport) -> crate::Result<String> {
    let remarks = report.remarks.iter().map(|remark| remark.text.clone());
    let listings = [pair::streams(report), pair::requests(report)];
    let tables = listings.into_iter().flatten().flat_map(Vec::from);
    let errors = pair::errors(report);
    let errors = (!errors.is_empty()).then_some(PageBlock::List(errors));
    let (ours, theirs) = (&report.ours, &report.theirs);
    let hosts = [(ours, "here"), (theirs, "there")]
        .map(|(host, side)| (format!("{} ({side})", host.hostname), pair::host_line(host)));
    let overview = overview(report);
    let path = pair::path_rows(report);
    let path = (!path.is_empty()).then_some(PageBlock::Facts(path));
    let parts = [
        PagePart::list("limits", "What sets the rate", limits(report)),
        PagePart::list("remarks", "Remarks", remarks.collect()),
        PagePart::new("loads", "Loads", tables.chain(errors).collect()),
        PagePart::new("path", "Path", path.into_iter().collect()),
        PagePart::new("hosts", "Hosts", vec![PageBlock::Facts(hosts.to_vec())]),
    ];
    document_page::render(&DocumentPage {
        title: format!("Network from {} to {}", ours.hostname, theirs.hostname),
        below: vec![format!(
            "{}, {}; payload that arrived",
            moment::readable(report.started_unix_s.saturating_mul(1_000_000_000)),
            report.reached.address
        )],
        answer: pair_answer::of_pair(report),
        overview_notes: match overview.as_ref().is_some_and(bars::has_ranges) {
            true => {
                vec!["Thin lines go from the slowest to the fastest second of a load.".to_owned()]
            }
            false => Vec::new(),
        },
        overview: overview.into_iter().collect(),
        parts: parts.into_iter().flatten().collect(),
        ..DocumentPage::default()
    })
}

fn limits(report: &PairReport) -> Vec<String> {
    let line = |(way, limit): &(String, fathom_model::network::NetLimit)| {
        let at = limit.wire_bits.map_or_else(String::new, |bits| {
            format!(" at {} on the wire", unit::bits(bits))
        });
        let parts = [&limit.evidence, &limit.remedy].into_iter();
        let parts = parts.filter(|part| !part.is_empty());
        let parts: Vec<String> = parts.map(|part| sentence_of(part)).collect();
        format!("{way}: {}{at}. {}", limit.kind.words(), parts.join(" "))
    };
    report.limits.iter().map(line).collect()
}

/// The payload of each load, both ways.
fn overview(report: &PairReport) -> Option<ChartFigure> {
    let streams = report
        .loads
        .iter()
        .filter(|load| load.spec.kind == LoadKind::Stream);
    let bars: Vec<Bar> = streams.flat_map(bars_of).collect();
    bars::render("Payload by load", "Payload by load, bits per second", &bars)
}

fn bars_of(load: &LoadResult) -> Vec<Bar> {
    let both = load.forward.is_some() && load.reverse.is_some();
    let ways = [
        (&load.forward, "there", "k-write"),
        (&load.reverse, "back", "k-read"),
    ];
    let bar = |(flow, way, class): (&Option<fathom_model::network::FlowReport>, &str, &str)| {
        let receiver = &flow.as_ref()?.receiver;
        let each = receiver.bits_each_second();
        let low = each.iter().copied().fold(f64::INFINITY, f64::min);
        let high = each.iter().copied().fold(0.0, f64::max);
        let bits = receiver.bits_per_second();
        Some(Bar {
            name: match both {
                true => format!("{}, {way}", load.name),
                false => load.name.clone(),
            },
            value: bits,
            range: (each.len() > 1).then_some((low, high)),
            text: super::rate(bits),
            class: class.to_owned(),
        })
    };
    ways.into_iter().filter_map(bar).collect()
}
