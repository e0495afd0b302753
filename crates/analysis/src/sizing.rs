//! How many disks a node's links carry, and what redundancy costs.
//!
//! The rule is that of the planning table of cluster guides: the bandwidth of a
//! node's network is the upper limit of the storage bandwidth that it can
//! provide, so more disks than the links carry are wasted. A bond spreads whole
//! connections over its links, never evenly: 85 % of the sum is counted, which
//! gives every figure of the published table.

use fathom_model::JudgedRun;
use fathom_model::OpKind;
use fathom_model::estimate::Unit;
use fathom_model::network::{LoadResult, PairReport};
use fathom_model::verdict::Validity;
use fathom_rules::method::sizing::BOND_SHARE;
use serde::Serialize;

use crate::disk_measurement::trials_of_disks;

/// The links of a node.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Links {
    /// How many are bonded; 1 is a single link.
    pub count: u32,
    /// Rated speed of each, bits per second.
    pub bits: f64,
}

impl Links {
    /// What they carry, bytes per second.
    pub fn bytes_per_second(&self) -> f64 {
        let share = if self.count > 1 { BOND_SHARE } else { 1.0 };
        f64::from(self.count) * self.bits * share / 8.0
    }
}

/// A text that is no link.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum LinkError {
    /// Something else than a number of links and their speed.
    #[error("'{0}' is not a link speed; write for example 25GbE, 2x25GbE or 10Gbit/s")]
    NoLink(String),
    /// A bare number.
    #[error("'{0}' needs a unit, e.g. {0}GbE")]
    NoUnit(String),
    /// Bytes, which are eight times as much.
    #[error("'{0}' is in bytes, and links are in bits: write for example 25GbE or 25Gbit/s")]
    Bytes(String),
}

impl std::str::FromStr for Links {
    type Err = LinkError;

    /// Reads `25GbE`, `2x25 GbE`, `2x25G`, `10Gbit/s`.
    fn from_str(text: &str) -> Result<Links, LinkError> {
        let wrong = || LinkError::NoLink(text.to_owned());
        let lower: String = text.to_lowercase().split_whitespace().collect();
        let (count, speed) = match lower.split_once(['x', '×', '*']) {
            Some((count, speed)) => (count.parse().map_err(|_| wrong())?, speed),
            None => (1, lower.as_str()),
        };
        let end = speed.find(|c: char| !c.is_ascii_digit() && c != '.');
        let (number, unit) = speed.split_at(end.unwrap_or(speed.len()));
        if matches!(unit, "gb" | "gb/s") && text.contains('B') {
            return Err(LinkError::Bytes(text.to_owned()));
        }
        let scale = match unit {
            "gbe" | "g" | "gb" | "gbit" | "gbit/s" | "gbps" | "gb/s" | "ge" => 1e9,
            "mbit" | "mbit/s" | "mbps" | "mbe" | "m" => 1e6,
            "tbe" | "t" | "tbit/s" | "tbps" => 1e12,
            "" if !number.is_empty() => {
                return Err(LinkError::NoUnit(text.to_owned()));
            }
            _ => return Err(wrong()),
        };
        let number: f64 = number.parse().map_err(|_| wrong())?;
        let fits = (1..=64).contains(&count) && number > 0.0 && number <= 1e6;
        if !fits {
            return Err(wrong());
        }
        Ok(Links {
            count,
            bits: number * scale,
        })
    }
}

/// How data are kept safe.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Redundancy {
    /// So many copies of everything.
    Replicas {
        /// Copies, the first included.
        copies: u32,
    },
    /// Data and parity chunks.
    ErasureCoding {
        /// Data chunks.
        data: u32,
        /// Parity chunks.
        parity: u32,
    },
}

/// A text that is no redundancy.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("'{0}' is not a redundancy; write copies (3) or chunks (5+2)")]
pub struct NoRedundancy(String);

impl std::str::FromStr for Redundancy {
    type Err = NoRedundancy;

    /// Reads a number of copies (`3`) or data and parity chunks (`5+2`).
    fn from_str(text: &str) -> Result<Redundancy, NoRedundancy> {
        let wrong = || NoRedundancy(text.to_owned());
        let number = |part: &str| -> Result<u32, NoRedundancy> {
            let value = part.trim().parse().map_err(|_| wrong())?;
            if (1..=64).contains(&value) {
                Ok(value)
            } else {
                Err(wrong())
            }
        };
        match text.split_once('+') {
            Some((data, parity)) => Ok(Redundancy::ErasureCoding {
                data: number(data)?,
                parity: number(parity)?,
            }),
            None => Ok(Redundancy::Replicas {
                copies: number(text)?,
            }),
        }
    }
}

impl Redundancy {
    /// Bytes on disks for each byte that is written.
    pub fn raw_per_byte(self) -> f64 {
        match self {
            Redundancy::Replicas { copies } => f64::from(copies),
            Redundancy::ErasureCoding { data, parity } => {
                f64::from(data + parity) / f64::from(data)
            }
        }
    }

    /// Failure domains that it needs.
    pub fn domains(self) -> u32 {
        match self {
            Redundancy::Replicas { copies } => copies,
            Redundancy::ErasureCoding { data, parity } => data + parity,
        }
    }

    /// In words.
    pub fn words(self) -> String {
        match self {
            Redundancy::Replicas { copies: 1 } => "no redundancy".to_owned(),
            Redundancy::Replicas { copies } => format!("{copies} replicas"),
            Redundancy::ErasureCoding { data, parity } => {
                format!("erasure coding {data}+{parity}")
            }
        }
    }

    /// What it costs.
    pub fn cost(self) -> RedundancyCost {
        let raw = self.raw_per_byte();
        let read = match self {
            Redundancy::Replicas { .. } => 0.0,
            Redundancy::ErasureCoding { data, .. } => f64::from(data - 1) / f64::from(data),
        };
        let tolerates = match self {
            Redundancy::Replicas { copies } => copies - 1,
            Redundancy::ErasureCoding { parity, .. } => parity,
        };
        RedundancyCost {
            redundancy: self,
            usable_share: 1.0 / raw,
            write_network_per_byte: raw - share_on_first_node(self),
            read_network_per_byte: read,
            tolerates,
            domains: self.domains(),
            domains_recommended: self.domains() + 1,
        }
    }
}

/// Bytes of each written byte that stay on the node that takes it in.
fn share_on_first_node(redundancy: Redundancy) -> f64 {
    match redundancy {
        Redundancy::Replicas { .. } => 1.0,
        Redundancy::ErasureCoding { data, .. } => 1.0 / f64::from(data),
    }
}

/// What redundancy costs.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct RedundancyCost {
    /// Which.
    pub redundancy: Redundancy,
    /// Share of the raw capacity that holds data.
    pub usable_share: f64,
    /// Bytes between nodes for each byte that an application writes.
    pub write_network_per_byte: f64,
    /// Bytes between nodes for each byte that an application reads, when the
    /// node that is asked holds one part of it.
    pub read_network_per_byte: f64,
    /// Failure domains that may be lost.
    pub tolerates: u32,
    /// Failure domains that it needs.
    pub domains: u32,
    /// One more, so that a cluster that lost one can heal.
    pub domains_recommended: u32,
}

/// What a node can have.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct NodeSize {
    /// What its network carries, bytes per second.
    pub network_bytes_per_second: f64,
    /// What one disk does, bytes per second.
    pub disk_bytes_per_second: f64,
    /// Disks before the network is the bottleneck.
    pub disks_per_node: u64,
    /// Application writes that a node takes in when one network carries both
    /// clients and copies, bytes per second, at the given redundancy.
    pub write_bytes_per_second: Option<f64>,
}

/// Sizes a node from what its network and one disk do.
pub fn node_size(
    network_bytes_per_second: f64,
    disk_bytes_per_second: f64,
    redundancy: Option<Redundancy>,
) -> NodeSize {
    // A whole number of disks must not be missed by rounding.
    let disks = (network_bytes_per_second / disk_bytes_per_second + 1e-9).floor();
    let shared = |redundancy: Redundancy| {
        // What comes in: the client's bytes and what other nodes send as copies.
        network_bytes_per_second / (1.0 + redundancy.cost().write_network_per_byte)
    };
    NodeSize {
        network_bytes_per_second,
        disk_bytes_per_second,
        disks_per_node: disks.max(0.0) as u64,
        write_bytes_per_second: redundancy.map(shared),
    }
}

/// The best load of a pair in one direction, bits per second.
pub fn best_load_bits(pair: &PairReport) -> Option<f64> {
    let loads = pair
        .loads
        .iter()
        .filter(|load| !(load.forward.is_some() && load.reverse.is_some()));
    loads
        .filter_map(LoadResult::bits_per_second)
        .reduce(f64::max)
}

/// Throughput of each disk alone where the run was about disks, else of each
/// trial that measured one.
///
/// # Errors
/// In words why nothing of the run serves as a measurement of a disk.
pub fn disk_speeds(judged: &JudgedRun) -> Result<Vec<f64>, String> {
    let fit = trials_of_disks(judged)?;
    let sweeps = judged.disks.iter().flat_map(|sweep| &sweep.workloads);
    let alone = sweeps
        .flat_map(|workload| &workload.disks)
        .filter(|disk| disk.validity != Validity::NotTrusted)
        .filter(|disk| fit.iter().any(|trial| trial.target == disk.target))
        .filter_map(|disk| {
            let estimate = disk.alone.as_ref()?;
            (estimate.unit == Unit::BytesPerSecond).then_some(estimate.value)?
        });
    let alone: Vec<f64> = alone.collect();
    if !alone.is_empty() {
        return Ok(alone);
    }
    let results = fit.into_iter().filter(|trial| !trial.role.is_probe());
    let trials = results.filter_map(|trial| {
        let data = trial.summary.ops.iter();
        let data = data.filter(|op| matches!(op.kind, OpKind::Read | OpKind::Write));
        let speeds = data.filter_map(|op| op.bytes_per_second.value);
        speeds.reduce(f64::max)
    });
    let speeds: Vec<f64> = trials.collect();
    match speeds.is_empty() {
        true => Err("it has no throughput of reads or writes".to_owned()),
        false => Ok(speeds),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The table of the guide: links, then disks of 100, 300 and 1000 MB/s.
    const TABLE: [(&str, [u64; 3]); 8] = [
        ("10 GbE", [12, 4, 1]),
        ("2x10 GbE", [21, 7, 2]),
        ("25 GbE", [31, 10, 3]),
        ("2x 25GbE", [53, 17, 5]),
        ("50GbE", [62, 20, 6]),
        ("2x 50GbE", [106, 35, 10]),
        ("100GbE", [125, 41, 12]),
        ("2x 100GbE", [212, 70, 21]),
    ];

    #[test]
    fn all_figures_of_the_published_table_come_out() {
        let mut figures = 0;
        for (links, disks) in TABLE {
            let links: Links = links.parse().unwrap();
            for (speed, wanted) in [100e6, 300e6, 1000e6].into_iter().zip(disks) {
                let size = node_size(links.bytes_per_second(), speed, None);
                assert_eq!(size.disks_per_node, wanted, "{links:?} {speed}");
                figures += 1;
            }
        }
        assert_eq!(figures, 24);
    }

    #[test]
    fn odd_links_are_refused() {
        for text in [
            "",
            "fast",
            "0GbE",
            "x25GbE",
            "1000x1GbE",
            "-1GbE",
            "25",
            "1e9GbE",
        ] {
            assert!(text.parse::<Links>().is_err(), "{text}");
        }
        for bytes in ["25GB/s", "2x25GB"] {
            let error = bytes.parse::<Links>();
            assert_eq!(error, Err(LinkError::Bytes(bytes.to_owned())));
        }
        let links: Links = "2×40Gbit/s".parse().unwrap();
        assert_eq!((links.count, links.bits), (2, 40e9));
    }

    #[test]
    fn redundancy_costs_network_and_capacity() {
        let three: Redundancy = "3".parse().unwrap();
        let cost = three.cost();
        assert_eq!(
            cost.write_network_per_byte, 2.0,
            "at least double, says the guide"
        );
        assert_eq!(
            (cost.domains, cost.domains_recommended, cost.tolerates),
            (3, 4, 2)
        );
        let coded: Redundancy = "5+2".parse().unwrap();
        let cost = coded.cost();
        assert!((cost.usable_share - 5.0 / 7.0).abs() < 1e-12);
        assert!((cost.write_network_per_byte - 1.2).abs() < 1e-12);
        assert!((cost.read_network_per_byte - 0.8).abs() < 1e-12);
        assert_eq!((cost.domains_recommended, cost.tolerates), (8, 2));
        for text in ["", "0", "3+", "x+y", "100", "-1"] {
            assert!(text.parse::<Redundancy>().is_err(), "{text}");
        }
        let size = node_size(3e9, 300e6, Some(three));
        assert_eq!(size.write_bytes_per_second, Some(1e9));
    }
}
