//! The topology of a page: lists inside of lists, so that a wide machine is a longer
//! page and never a clipped one. The line of a part is as thick as its link is wide.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use fathom_model::machine::{MachineLink, MachineNode};

use super::picture;
use crate::chart::plot::escaped;

/// No machine is deeper; a loop in broken facts must end.
const DEPTH_MAX: usize = 32;
/// Thickness of a line in pixels, at least and at most.
const THIN: f64 = 1.0;
const THICK: f64 = 14.0;
/// The speed of the thinnest line, in bits per second.
const SLOWEST: f64 = 1e8;

/// The parts, those above first; nothing without any.
pub(super) fn html(nodes: &[MachineNode]) -> String {
    let tops: Vec<&MachineNode> = nodes.iter().filter(|node| node.above.is_none()).collect();
    let mut out = String::new();
    push(&mut out, nodes, &tops, 0);
    out
}

/// How the lines of the picture are read, as far as it has what is to be read.
pub(super) fn reading(nodes: &[MachineNode]) -> Option<String> {
    let links = || nodes.iter().filter_map(|node| node.link.as_ref());
    let widths: BTreeSet<u64> = links().map(|link| thickness(link).to_bits()).collect();
    let has = |is: fn(&MachineLink) -> bool, text| links().any(is).then_some(text);
    let parts = [
        (widths.len() > 1).then_some("The thicker a line, the wider its link."),
        has(|link| link.narrowest, "The narrowest link is marked."),
        has(
            |link| link.below_rated,
            "A link that was trained below what both ends can do is red.",
        ),
    ];
    let text = parts.into_iter().flatten().collect::<Vec<_>>().join(" ");
    (!text.is_empty()).then_some(text)
}

fn push(out: &mut String, nodes: &[MachineNode], parts: &[&MachineNode], depth: usize) {
    if parts.is_empty() || depth > DEPTH_MAX {
        return;
    }
    out.push_str("<ul>");
    for part in parts {
        let (name, label) = (escaped(&part.name), escaped(&part.label));
        let link = part.link.as_ref();
        let _ = write!(
            out,
            "<li style=\"--wide:{:.1}px\"{}><div class=\"part\"><b>{name}</b> <span>{label}</span>",
            link.map_or(THIN, thickness),
            class(link)
        );
        if let Some(link) = link {
            let _ = write!(out, "<small>{}</small>", escaped(&picture::words(link)));
        }
        out.push_str("</div>");
        let below = nodes.iter();
        let below = below.filter(|other| other.above.as_ref() == Some(&part.name));
        push(out, nodes, &below.collect::<Vec<_>>(), depth + 1);
        out.push_str("</li>\n");
    }
    out.push_str("</ul>");
}

/// Each doubling of the speed is a pixel.
fn thickness(link: &MachineLink) -> f64 {
    let bits = link.bits_per_second.filter(|bits| bits.is_finite());
    bits.map_or(THIN, |bits| {
        let doublings = (bits.max(SLOWEST) / SLOWEST).log2();
        doublings.clamp(THIN, THICK)
    })
}

fn class(link: Option<&MachineLink>) -> &'static str {
    match link {
        Some(link) if link.below_rated => " class=\"down\"",
        Some(link) if link.narrowest => " class=\"narrow\"",
        _ => "",
    }
}
