//! One page with the table and the topology, without scripts or anything from
//! outside.

use askama::Template;
use fathom_model::machine::{MachineUse, UseFigure};
use fathom_model::unit;

use super::{figure, topology};

/// When and how a page was made.
#[derive(Debug, Clone, Default)]
pub struct PageMoment {
    /// Nanoseconds since 1970-01-01 UTC.
    pub unix_ns: u64,
    /// What was typed, without secrets.
    pub command: String,
}

struct MachineRow<'a> {
    name: &'a str,
    kind: &'a str,
    cells: [Vec<MachineCell>; 3],
}

struct MachineCell {
    text: String,
    how: String,
    beyond: bool,
}

#[derive(Template)]
#[template(path = "machine.html")]
struct MachinePage<'a> {
    style: &'static str,
    host: &'a str,
    span: String,
    rows: Vec<MachineRow<'a>>,
    topology: String,
    made: String,
    command: &'a str,
    version: &'static str,
}

/// The page.
///
/// # Errors
/// Only when the template engine fails.
pub fn html(found: &MachineUse, moment: &PageMoment) -> crate::Result<String> {
    let cells = |figures: &[UseFigure]| -> Vec<MachineCell> {
        let one = |one: &UseFigure| MachineCell {
            text: figure(one),
            how: one.how.clone(),
            beyond: one.beyond,
        };
        match figures.is_empty() {
            false => figures.iter().map(one).collect(),
            true => vec![MachineCell {
                text: "not readable".to_owned(),
                how: "not available on this host".to_owned(),
                beyond: false,
            }],
        }
    };
    let rows = found.resources.iter().map(|resource| MachineRow {
        name: &resource.name,
        kind: &resource.kind,
        cells: [
            cells(&resource.utilisation),
            cells(&resource.saturation),
            cells(&resource.errors),
        ],
    });
    let page = MachinePage {
        style: include_str!("../../assets/report.css"),
        host: &found.host,
        span: unit::span((found.seconds * 1e9) as u64),
        rows: rows.collect(),
        topology: topology::html(&found.picture),
        made: crate::moment::readable(moment.unix_ns),
        command: &moment.command,
        version: env!("CARGO_PKG_VERSION"),
    };
    crate::html::page(&page)
}
