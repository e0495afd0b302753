//! One page for the ticket, without scripts or anything from outside.

use askama::Template;
use fathom_model::diagnosis::{Diagnosis, DiskLoad};
use fathom_model::unit;

use super::text::recorded;
use super::{graph, meaning, word};
use crate::moment;

/// More devices are in the JSON.
const MOST_DISKS: usize = 24;
const SIZE: (f64, f64) = (720.0, 160.0);

/// Where a page is from.
#[derive(Debug, Clone, Default)]
pub struct PageOrigin {
    /// When it was made, nanoseconds since 1970-01-01 UTC.
    pub made_unix_ns: u64,
    /// What was typed, without secrets.
    pub command: String,
    /// The recorded time by the clock of the host, where the recording has one.
    pub recorded: Option<String>,
}

struct Graph<'a> {
    disk: &'a DiskLoad,
    reads: String,
    writes: String,
    /// Height of the ceiling's line.
    ceiling_y: Option<String>,
    top: String,
    /// Length of the time axis.
    span: String,
    figures: String,
}

#[derive(Template)]
#[template(path = "diagnosis.html")]
struct DiagnosisPage<'a> {
    style: &'static str,
    version: &'static str,
    diagnosis: &'a Diagnosis,
    word: &'static str,
    meaning: &'static str,
    recorded: String,
    when: Option<&'a str>,
    made: String,
    command: &'a str,
    ceiling_lines: Vec<String>,
    graphs: Vec<Graph<'a>>,
    width: f64,
    height: f64,
}

/// The answer as one HTML document.
///
/// # Errors
/// Only when the template engine fails.
pub fn html(diagnosis: &Diagnosis, origin: &PageOrigin) -> crate::Result<String> {
    let ceiling = super::drawn_ceiling(diagnosis);
    let disks = diagnosis.disks.iter().take(MOST_DISKS).enumerate();
    let graphs = disks.map(|(place, disk)| {
        // The ceiling is that of the first device.
        let ceiling = ceiling.filter(|_| place == 0);
        let top = graph::top(disk, ceiling);
        Graph {
            reads: graph::points(disk, 1, top, SIZE),
            writes: graph::points(disk, 2, top, SIZE),
            ceiling_y: ceiling.map(|c| format!("{:.1}", SIZE.1 - c / top * SIZE.1)),
            top: unit::count(top),
            span: disk.series.last().map_or(String::new(), |last| {
                unit::span((last[0].max(0.0) * 1e9) as u64)
            }),
            figures: figures(disk),
            disk,
        }
    });
    let page = DiagnosisPage {
        style: include_str!("../../assets/report.css"),
        version: env!("CARGO_PKG_VERSION"),
        word: word(diagnosis.answer),
        meaning: meaning(diagnosis),
        recorded: recorded(diagnosis),
        when: origin.recorded.as_deref(),
        made: moment::readable(origin.made_unix_ns),
        command: &origin.command,
        ceiling_lines: super::ceiling_lines(diagnosis),
        graphs: graphs.collect(),
        width: SIZE.0,
        height: SIZE.1,
        diagnosis,
    };
    crate::html::page(&page)
}

fn figures(disk: &DiskLoad) -> String {
    let mut parts = vec![format!(
        "{} operations/s on average, {} at most",
        unit::count(disk.operations),
        unit::count(disk.operations_peak)
    )];
    parts.extend(disk.wait_ms.map(|ms| format!("{ms:.2} ms each")));
    parts.extend(disk.queue.map(|queue| format!("{queue:.2} in flight")));
    parts.join(", ")
}
