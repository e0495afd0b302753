//! `fathom size`: how many disks a node's network carries.

use std::path::PathBuf;

use anyhow::Context;
use clap::Args;
use fathom_analysis::sizing::{Links, Redundancy, best_load_bits, disk_speeds};
use fathom_deadline::paths;
use fathom_model::network::{MatrixReport, PairReport};
use fathom_model::unit;
use fathom_report::node_size::{self, Sourced};
use fathom_rules::method::sizing::BOND_SHARE;
use fathom_stats::median::median;

use crate::exit::{CommandError, Exit};
use crate::output_flags::StorePath;
use crate::present;
use crate::shown::{Shown, TextOrJson};

/// Network sizing: disks per node, replication cost.
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
    #[command(flatten)]
    shown: Shown<TextOrJson>,
    #[command(flatten)]
    store: StorePath,
}

pub(crate) fn run(size: &Size) -> anyhow::Result<Exit> {
    size.shown.admit()?;
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
        if network.is_some() != disk.is_some() || size.shown.is_json() {
            let problem = "name both the network (--link or --net) and the disk (--disk or --run); \
                           without either the planning table is printed";
            return Err(CommandError::usage(problem).into());
        }
        let table = node_size::planning_table(&schemes, size.nodes, size.shown.columns());
        size.shown.write(&table)?;
        return Ok(Exit::Success);
    };
    let text = match size.shown.is_json() {
        true => node_size::json(network, disk, &schemes, size.nodes)?,
        false => node_size::text(network, disk, &schemes, size.nodes, size.shown.columns()),
    };
    size.shown.write(&text)?;
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

/// What the result of `fathom net` says of the links.
fn measured_bits(text: &str) -> Option<f64> {
    if let Ok(matrix) = serde_json::from_str::<MatrixReport>(text) {
        return matrix.outliers.median_bits;
    }
    let pair: PairReport = serde_json::from_str(text).ok()?;
    best_load_bits(&pair)
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
    let refused = |why: String| {
        CommandError::usage(format!(
            "--run {name}: run {} does not serve as a measurement of a disk: {why}; name another \
             run, or give the speed with --disk",
            judged.run.id
        ))
    };
    let measured = disk_speeds(&judged).map_err(refused)?;
    let value = median(&measured).ok_or_else(|| refused("nothing was measured".to_owned()))?;
    Ok(Some(Sourced {
        value,
        source: format!("measured in run {}", judged.run.id),
    }))
}

fn parse_speed(text: &str) -> Result<f64, String> {
    let plain = text.trim().trim_end_matches("/s");
    // Of a link a small b is a bit, and so it is here.
    if plain.ends_with('b') {
        return Err(format!(
            "{text}: a small b stands for bits; give the speed of a disk in bytes, e.g. 300MB/s"
        ));
    }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_speed_of_a_disk_is_in_bytes() {
        assert_eq!(parse_speed("300MB/s"), Ok(300e6));
        assert_eq!(parse_speed("1GiB/s"), Ok(1_073_741_824.0));
        for bits in ["300Mb/s", "300Mib/s", "1Gb", "300mb/s"] {
            let error = parse_speed(bits).expect_err(bits);
            assert!(error.contains("stands for bits"), "{error}");
        }
        assert!(parse_speed("300Mbit/s").is_err() && parse_speed("0MB/s").is_err());
    }
}
