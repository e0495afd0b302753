//! The disks of a machine, each alone and all at once: what `fathom disks`
//! gives. Drawn from a run's own rows, so that a stored run shows it again.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::estimate::Estimate;
use crate::op::OpKind;
use crate::target::Target;
use crate::verdict::Validity;

/// The disks of a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct DiskSweep {
    /// One entry a workload, in the order in which they ran.
    pub workloads: Vec<DiskWorkload>,
    /// A disk is slow when its figure is below this share of the median of its
    /// peers, with the whole interval.
    pub slow_share: f64,
}

/// All disks under one workload.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct DiskWorkload {
    /// Its name.
    pub name: String,
    /// Which operations are counted.
    pub op: OpKind,
    /// The disks.
    pub disks: Vec<DiskFigures>,
    /// The figures of all disks added, each measured alone. Ends of intervals
    /// are added too.
    pub sum_alone: Option<Estimate>,
    /// The same of all disks at once.
    pub sum_together: Option<Estimate>,
    /// Sum of all at once over the sum of each alone, of the disks that have
    /// both; the interval is the widest that the two allow.
    pub together_over_alone: Option<Estimate>,
}

impl DiskWorkload {
    /// Drives that lie under more than one of the targets. What such targets gave
    /// alone, one after the other, is no sum of anything.
    pub fn shared_drives(&self) -> Vec<&str> {
        let mut drives: Vec<&str> = Vec::new();
        for disk in &self.disks {
            let mut own: Vec<&str> = disk.drives.iter().map(String::as_str).collect();
            own.sort_unstable();
            own.dedup();
            drives.extend(own);
        }
        drives.sort_unstable();
        let mut shared: Vec<&str> = drives
            .windows(2)
            .filter(|w| w[0] == w[1])
            .map(|w| w[0])
            .collect();
        shared.dedup();
        shared
    }
}

/// One disk under one workload. Random workloads are told in operations per
/// second, sequential ones in bytes per second.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct DiskFigures {
    /// What was measured.
    pub target: Target,
    /// Names of the drives under it.
    pub drives: Vec<String>,
    /// Vendor and model, where the system tells one.
    pub model: Option<String>,
    /// Alone.
    pub alone: Option<Estimate>,
    /// While all disks worked.
    pub together: Option<Estimate>,
    /// The second over the first.
    pub together_over_alone: Option<Estimate>,
    /// The worst validity of its trials.
    pub validity: Validity,
    /// It is clearly slower than its peers.
    pub slow: Option<SlowDisk>,
}

/// How a disk stands out.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SlowDisk {
    /// Its figure over the median of its peers.
    pub share: f64,
    /// The median of its peers, in the unit of the figure.
    pub median_of_peers: f64,
    /// Disks of the same model beside it.
    pub peers: u32,
    /// Whether it was alone or all disks worked.
    pub together: bool,
}
