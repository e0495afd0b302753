//! The machine as a tree of text: socket, ports, adapters, disks, interfaces.

use fathom_model::machine::{MachineLink, MachineNode};
use fathom_model::unit;

use crate::table::clean;

/// No machine is deeper; a loop in broken facts must end.
const DEPTH_MAX: usize = 32;

/// A line for each part, with the link to the part above.
pub(super) fn text(nodes: &[MachineNode]) -> String {
    let mut out = String::new();
    let tops: Vec<&MachineNode> = nodes.iter().filter(|node| node.above.is_none()).collect();
    for node in tops {
        push(&mut out, nodes, node, "", "", 0);
    }
    out
}

fn push(
    out: &mut String,
    nodes: &[MachineNode],
    node: &MachineNode,
    lead: &str,
    under: &str,
    depth: usize,
) {
    if depth > DEPTH_MAX {
        return;
    }
    let title = format!("{lead}{}: {}\n", clean(&node.name), clean(&node.label));
    out.push_str(&title);
    let below: Vec<&MachineNode> = nodes
        .iter()
        .filter(|other| other.above.as_deref() == Some(&node.name))
        .collect();
    let bar = if below.is_empty() { "   " } else { "│  " };
    for line in node.link.iter().flat_map(lines) {
        out.push_str(&format!("{under}{bar}{line}\n"));
    }
    for (index, child) in below.iter().enumerate() {
        let (mark, next) = match index + 1 == below.len() {
            true => ("└─ ", "   "),
            false => ("├─ ", "│  "),
        };
        let (lead, next) = (format!("{under}{mark}"), format!("{under}{next}"));
        push(out, nodes, child, &lead, &next, depth + 1);
    }
}

/// What is said of a link, in one line.
pub(super) fn words(link: &MachineLink) -> String {
    lines(link).join("  ")
}

/// Speed and use, then what is wrong with it.
fn lines(link: &MachineLink) -> Vec<String> {
    let mut text = link
        .now
        .clone()
        .unwrap_or_else(|| "speed not known".to_owned());
    if let Some(bits) = link.bits_per_second.filter(|_| link.kind != "ethernet") {
        text += &format!(" = {}", unit::bits(bits));
    }
    if let Some(used) = link.used {
        text += &format!(", {:.0} % used", 100.0 * used);
    }
    if link.narrowest {
        text += "  <- narrowest";
    }
    let mut lines = vec![text];
    if link.below_rated {
        let most = link.most.as_deref().unwrap_or("more");
        lines.push(format!("! TRAINED DOWN, could be {most}"));
    }
    lines
}
