//! How many disks a node's network carries and what redundancy costs: as text and
//! as JSON.

use fathom_analysis::sizing::{Links, NodeSize, Redundancy, RedundancyCost, node_size};
use fathom_model::unit;

use crate::table::{Align, Table, wrap};

/// Bytes per second, with where the number comes from.
#[derive(Debug, Clone, PartialEq)]
pub struct Sourced {
    /// The number.
    pub value: f64,
    /// In words: `rated 25 Gbit/s`.
    pub source: String,
}

/// The planning table: links and disks.
const LINKS: [&str; 8] = [
    "10GbE", "2x10GbE", "25GbE", "2x25GbE", "50GbE", "2x50GbE", "100GbE", "2x100GbE",
];
const DISKS: [f64; 3] = [100e6, 300e6, 1000e6];

fn sized(network: &Sourced, disk: &Sourced, scheme: Option<Redundancy>) -> NodeSize {
    node_size(network.value, disk.value, scheme)
}

/// The size of a node as JSON.
///
/// # Errors
/// A number is not finite.
pub fn json(
    network: &Sourced,
    disk: &Sourced,
    schemes: &[Redundancy],
    nodes: Option<u32>,
) -> serde_json::Result<String> {
    let size = sized(network, disk, None);
    let costs: Vec<serde_json::Value> = schemes
        .iter()
        .map(|scheme| {
            let cost = scheme.cost();
            let written = sized(network, disk, Some(*scheme)).write_bytes_per_second;
            serde_json::json!({"scheme": scheme.words(), "cost": cost,
                "write_bytes_per_second_per_node": written,
                "fits": nodes.map(|nodes| nodes >= cost.domains)})
        })
        .collect();
    let document = serde_json::json!({
        "schema": "fathom.size/1",
        "disks_per_node": size.disks_per_node,
        "network_bytes_per_second": size.network_bytes_per_second,
        "network_source": network.source,
        "disk_bytes_per_second": size.disk_bytes_per_second,
        "disk_source": disk.source,
        "redundancy": costs,
    });
    Ok(fathom_model::indented_json(&document)? + "\n")
}

/// The size of a node as text.
#[must_use]
pub fn text(
    network: &Sourced,
    disk: &Sourced,
    schemes: &[Redundancy],
    nodes: Option<u32>,
    width: usize,
) -> String {
    let size = sized(network, disk, None);
    let mut text = format!(
        "{} per node\n  network  {} ({})\n  disk     {} ({})\n",
        unit::counted(size.disks_per_node, "disk"),
        unit::throughput_decimal(network.value),
        network.source,
        unit::throughput_decimal(disk.value),
        disk.source
    );
    if size.disks_per_node == 0 {
        text += "  One disk alone is faster than the network.\n";
    }
    text += &redundancy_table(schemes, nodes, Some((network, disk)), width);
    text
}

fn redundancy_table(
    schemes: &[Redundancy],
    nodes: Option<u32>,
    node: Option<(&Sourced, &Sourced)>,
    width: usize,
) -> String {
    let mut columns = vec![
        ("redundancy", Align::Left),
        ("usable", Align::Right),
        ("network per\nbyte written", Align::Right),
        ("per byte\nread", Align::Right),
        ("may lose", Align::Right),
        ("domains\nneeded", Align::Right),
        ("planned", Align::Right),
    ];
    if node.is_some() {
        columns.push(("writes a node\ntakes in", Align::Right));
    }
    let mut table = Table::new(columns).indent(2);
    for scheme in schemes {
        let cost: RedundancyCost = scheme.cost();
        let fits = match nodes {
            Some(nodes) if nodes < cost.domains => " !",
            Some(nodes) if nodes < cost.domains_recommended => " ~",
            _ => "",
        };
        let mut row = vec![
            scheme.words(),
            format!("{:.0} %", cost.usable_share * 100.0),
            format!("{:.2}", cost.write_network_per_byte),
            format!("{:.2}", cost.read_network_per_byte),
            cost.tolerates.to_string(),
            cost.domains.to_string(),
            format!("{}{fits}", cost.domains_recommended),
        ];
        if let Some((network, disk)) = node {
            let written = sized(network, disk, Some(*scheme)).write_bytes_per_second;
            row.push(unit::throughput_decimal(written.unwrap_or(0.0)));
        }
        table.row(row);
    }
    let mut text = format!("\n{}\n", table.fit(width));
    let mut notes = vec![
        "Network per byte: bytes between nodes; clients come on top, which is what a network of \
         their own is for. One failure domain more than needed lets a cluster heal that has lost \
         one."
            .to_owned(),
    ];
    if let Some(nodes) = nodes {
        notes.push(format!(
            "With {nodes} nodes: ! is not possible, ~ has no domain to spare."
        ));
    }
    for note in notes {
        for line in wrap(&note, width.saturating_sub(2)) {
            text += &format!("  {line}\n");
        }
    }
    text
}

/// How many disks usual networks carry, and what redundancy costs.
#[must_use]
pub fn planning_table(schemes: &[Redundancy], nodes: Option<u32>, width: usize) -> String {
    let mut columns = vec![("network of a node".to_owned(), Align::Left)];
    let disk = |speed: f64| (unit::throughput_decimal(speed), Align::Right);
    columns.extend(DISKS.into_iter().map(disk));
    let mut table = Table::new(columns).indent(2);
    for name in LINKS {
        let Ok(links) = name.parse::<Links>() else {
            continue;
        };
        let mut row = vec![name.to_owned()];
        row.extend(DISKS.into_iter().map(|speed| {
            node_size(links.bytes_per_second(), speed, None)
                .disks_per_node
                .to_string()
        }));
        table.row(row);
    }
    format!(
        "Disks per node before the network is the bottleneck, by the speed of a disk\n\n{}{}",
        table.fit(width),
        redundancy_table(schemes, nodes, None, width)
    )
}
