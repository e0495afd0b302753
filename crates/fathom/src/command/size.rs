//! `fathom size`: how many disks a node's network carries.

use std::path::PathBuf;

use anyhow::Context;
use clap::Args;
use fathom_analysis::sizing::{Links, NodeSize, Redundancy, RedundancyCost, node_size};
use fathom_deadline::paths;
use fathom_model::estimate::Unit;
use fathom_model::network::{MatrixReport, PairReport};
use fathom_model::unit;
use fathom_report::table::{Align, Table, wrap};
use fathom_rules::method::sizing::BOND_SHARE;
use fathom_stats::median::median;

use crate::exit::{CommandError, Exit};
use crate::output_flags::StorePath;
use crate::present;

/// Say how many disks a node's network carries, and what redundancy costs.
///
/// The network is the upper limit of the storage bandwidth that a node can
/// provide; more disks than it carries are wasted. Of a bond 85 % of the sum
/// of its links is counted, since it spreads whole connections and never
/// evenly. Measured numbers take the place of rated ones with --net and --run.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  fathom size                        The planning table
  fathom size --link 2x25GbE --disk 300MB/s
  fathom size --link 25GbE --disk 200MB/s --redundancy 5+2 --nodes 8
  fathom net node1 node2 node3 --json > net.json
  fathom size --net net.json --run latest --json
                                     From what was measured")]
pub(crate) struct Size {
    /// The links of a node, for example 25GbE or 2x25GbE (bonded).
    #[arg(long, conflicts_with = "net")]
    link: Option<Links>,
    /// What one disk does, for example 300MB/s.
    #[arg(long, value_parser = parse_speed, conflicts_with = "run")]
    disk: Option<f64>,
    /// Copies (3) or data and parity chunks (5+2); may be given several times.
    #[arg(long, value_name = "SCHEME")]
    redundancy: Vec<Redundancy>,
    /// Nodes (or other failure domains) of the cluster.
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    nodes: Option<u32>,
    /// Result of `fathom net … --json`: its median link instead of --link.
    #[arg(long, value_name = "FILE")]
    net: Option<PathBuf>,
    /// A stored run: its median disk instead of --disk.
    #[arg(long, value_name = "RUN")]
    run: Option<String>,
    /// Print JSON.
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    store: StorePath,
}

/// A number with where it comes from.
struct Sourced {
    value: f64,
    source: String,
}

/// The planning table: links and disks.
const LINKS: [&str; 8] = [
    "10GbE", "2x10GbE", "25GbE", "2x25GbE", "50GbE", "2x50GbE", "100GbE", "2x100GbE",
];
const DISKS: [f64; 3] = [100e6, 300e6, 1000e6];

pub(crate) fn run(size: &Size) -> anyhow::Result<Exit> {
    let network = network(size)?;
    let disk = disk(size)?;
    let schemes = match size.redundancy.is_empty() {
        true => vec![
            Redundancy::Replicas { copies: 2 },
            Redundancy::Replicas { copies: 3 },
            Redundancy::ErasureCoding { data: 3, parity: 2 },
            Redundancy::ErasureCoding { data: 5, parity: 2 },
            Redundancy::ErasureCoding { data: 7, parity: 3 },
        ],
        false => size.redundancy.clone(),
    };
    let (Some(network), Some(disk)) = (&network, &disk) else {
        if network.is_some() != disk.is_some() || size.json {
            let problem = "name both the network (--link or --net) and the disk (--disk or --run); \
                           without either the planning table is printed";
            return Err(CommandError::usage(problem).into());
        }
        present::write_stdout(&planning_table(&schemes, size.nodes))?;
        return Ok(Exit::Success);
    };
    let text = match size.json {
        true => json(network, disk, &schemes, size.nodes)?,
        false => text(network, disk, &schemes, size.nodes),
    };
    present::write_stdout(&text)?;
    Ok(Exit::Success)
}

fn network(size: &Size) -> anyhow::Result<Option<Sourced>> {
    if let Some(links) = size.link {
        let source = match links.count {
            1 => format!("rated {}", unit::bits(links.bits)),
            n => format!(
                "{n} × {}, of which a bond carries {:.0} %",
                unit::bits(links.bits),
                BOND_SHARE * 100.0
            ),
        };
        return Ok(Some(Sourced {
            value: links.bytes_per_second(),
            source,
        }));
    }
    let Some(path) = &size.net else {
        return Ok(None);
    };
    let text = paths::read(path, |path| std::fs::read_to_string(path))
        .with_context(|| format!("cannot read {}", path.display()))?;
    let bits = measured_bits(&text).with_context(|| {
        format!(
            "{} holds no result of `fathom net … --json`",
            path.display()
        )
    })?;
    Ok(Some(Sourced {
        value: bits / 8.0,
        source: format!("measured: {} of payload", unit::bits(bits)),
    }))
}

/// The median link of a matrix, or the best load of a pair.
fn measured_bits(text: &str) -> Option<f64> {
    if let Ok(matrix) = serde_json::from_str::<MatrixReport>(text) {
        return matrix.outliers.median_bits;
    }
    let pair: PairReport = serde_json::from_str(text).ok()?;
    let loads = pair
        .loads
        .iter()
        .filter(|load| !(load.forward.is_some() && load.reverse.is_some()));
    loads
        .filter_map(fathom_model::network::LoadResult::bits_per_second)
        .reduce(f64::max)
}

fn disk(size: &Size) -> anyhow::Result<Option<Sourced>> {
    if let Some(value) = size.disk {
        return Ok(Some(Sourced {
            value,
            source: "rated".to_owned(),
        }));
    }
    let Some(name) = &size.run else {
        return Ok(None);
    };
    let record = super::runs::load(&present::store_path(&size.store)?, name)?;
    let judged = fathom_studies::judge(&record);
    let measured = disk_speeds(&judged);
    let Some(value) = median(&measured) else {
        anyhow::bail!("run {} measured no throughput of a disk", judged.run.id);
    };
    Ok(Some(Sourced {
        value,
        source: format!("measured in run {}", judged.run.id),
    }))
}

/// Throughput of each disk alone where the run was about disks, else of each
/// trial.
fn disk_speeds(judged: &fathom_model::JudgedRun) -> Vec<f64> {
    let sweeps = judged.disks.iter().flat_map(|sweep| &sweep.workloads);
    let alone = sweeps
        .flat_map(|workload| &workload.disks)
        .filter_map(|disk| {
            let estimate = disk.alone.as_ref()?;
            (estimate.unit == Unit::BytesPerSecond).then_some(estimate.value)?
        });
    let alone: Vec<f64> = alone.collect();
    if !alone.is_empty() {
        return alone;
    }
    let trials = judged.trials.iter().filter_map(|trial| {
        let speeds = trial
            .summary
            .ops
            .iter()
            .filter_map(|op| op.bytes_per_second.value);
        speeds.reduce(f64::max)
    });
    trials.collect()
}

fn sized(network: &Sourced, disk: &Sourced, scheme: Option<Redundancy>) -> NodeSize {
    node_size(network.value, disk.value, scheme)
}

fn json(
    network: &Sourced,
    disk: &Sourced,
    schemes: &[Redundancy],
    nodes: Option<u32>,
) -> anyhow::Result<String> {
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
    Ok(serde_json::to_string_pretty(&document)? + "\n")
}

fn text(network: &Sourced, disk: &Sourced, schemes: &[Redundancy], nodes: Option<u32>) -> String {
    let size = sized(network, disk, None);
    let mut text = format!(
        "{} disks per node\n  network  {} ({})\n  disk     {} ({})\n",
        size.disks_per_node,
        unit::throughput_decimal(network.value),
        network.source,
        unit::throughput_decimal(disk.value),
        disk.source
    );
    if size.disks_per_node == 0 {
        text += "  One disk alone is faster than the network.\n";
    }
    text += &redundancy_table(schemes, nodes, Some((network, disk)));
    text
}

fn redundancy_table(
    schemes: &[Redundancy],
    nodes: Option<u32>,
    node: Option<(&Sourced, &Sourced)>,
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
    let mut text = format!("\n{}\n", table.render());
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
        for line in wrap(&note, 78) {
            text += &format!("  {line}\n");
        }
    }
    text
}

fn planning_table(schemes: &[Redundancy], nodes: Option<u32>) -> String {
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
        table.render(),
        redundancy_table(schemes, nodes, None)
    )
}

fn parse_speed(text: &str) -> Result<f64, String> {
    let plain = text.trim().trim_end_matches("/s");
    // Read as bytes, a number would be a disk of another century.
    if plain.parse::<f64>().is_ok() {
        return Err(format!("{text} needs a unit, e.g. {plain}MB/s"));
    }
    let bytes = unit::parse_bytes(plain).map_err(|error| error.to_string())?;
    match bytes {
        0 => Err("a disk does more than nothing".to_owned()),
        bytes => Ok(bytes as f64),
    }
}
