//! One page with the table and the picture, without scripts or anything from
//! outside. Below a socket, parts stand under the part they hang on; the width of
//! a line grows with the logarithm of its speed.

use askama::Template;
use fathom_model::machine::{MachineNode, MachineUse, UseFigure};
use fathom_model::unit;

use super::{figure, picture};

const BOX: (f64, f64) = (210.0, 40.0);
const GAP: (f64, f64) = (16.0, 62.0);

struct PageSection<'a> {
    node: &'a MachineNode,
    x: f64,
    y: f64,
    /// The link above: from, width of its line, words, class.
    link: Option<ChartLine>,
}

struct ChartLine {
    x: f64,
    y: f64,
    width: f64,
    words: String,
    class: &'static str,
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
    parts: Vec<PageSection<'a>>,
    width: f64,
    height: f64,
    box_width: f64,
    box_height: f64,
}

/// The page.
///
/// # Errors
/// Only when the template engine fails.
pub fn html(found: &MachineUse) -> crate::Result<String> {
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
    let parts = placed(&found.picture);
    let right = parts
        .iter()
        .map(|part| part.x + BOX.0)
        .fold(BOX.0, f64::max);
    let bottom = parts.iter().map(|part| part.y + BOX.1).fold(0.0, f64::max);
    let page = MachinePage {
        style: include_str!("../../assets/report.css"),
        host: &found.host,
        span: unit::span((found.seconds * 1e9) as u64),
        rows: rows.collect(),
        width: right + 8.0,
        height: bottom + 8.0,
        box_width: BOX.0,
        box_height: BOX.1,
        parts,
    };
    crate::html::page(&page)
}

/// Leaves side by side, each part above the middle of those that hang on it.
fn placed(nodes: &[MachineNode]) -> Vec<PageSection<'_>> {
    let mut parts = Vec::new();
    let mut next = 4.0;
    for node in nodes.iter().filter(|node| node.above.is_none()) {
        place(nodes, node, 0, &mut next, &mut parts);
    }
    let places: Vec<(String, f64, f64)> = parts
        .iter()
        .map(|p| (p.node.name.clone(), p.x, p.y))
        .collect();
    for part in &mut parts {
        let above = part.node.above.as_ref();
        let above = above.and_then(|name| places.iter().find(|(other, ..)| other == name));
        let Some((_, x, y)) = above else { continue };
        let link = part.node.link.as_ref();
        part.link = Some(ChartLine {
            x: x + BOX.0 / 2.0,
            y: y + BOX.1,
            width: link
                .and_then(|link| link.bits_per_second)
                .map_or(1.0, |bits| (bits.max(1e8) / 1e8).log2().clamp(1.0, 14.0)),
            words: link.map_or(String::new(), picture::words),
            class: match link {
                Some(link) if link.below_rated => "down",
                Some(link) if link.narrowest => "narrow",
                _ => "plain",
            },
        });
    }
    parts
}

/// Places a part and gives the middle of its box.
fn place<'a>(
    nodes: &'a [MachineNode],
    node: &'a MachineNode,
    depth: usize,
    next: &mut f64,
    parts: &mut Vec<PageSection<'a>>,
) -> f64 {
    let below = nodes
        .iter()
        .filter(|other| other.above.as_ref() == Some(&node.name));
    let middles: Vec<f64> = match depth < 32 {
        true => below
            .map(|child| place(nodes, child, depth + 1, next, parts))
            .collect(),
        false => Vec::new(),
    };
    let middle = match (middles.first(), middles.last()) {
        (Some(first), Some(last)) => (first + last) / 2.0,
        _ => {
            let x = *next;
            *next += BOX.0 + GAP.0;
            x + BOX.0 / 2.0
        }
    };
    parts.push(PageSection {
        node,
        x: middle - BOX.0 / 2.0,
        y: 4.0 + depth as f64 * (BOX.1 + GAP.1),
        link: None,
    });
    middle
}
