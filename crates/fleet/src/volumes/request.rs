//! Which volumes are wanted.

use std::path::PathBuf;
use std::time::Duration;

use crate::volumes::name::ObjectName;
use crate::volumes::taint::ToleratedTaint;

/// How a volume is given to a pod.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum VolumeMode {
    /// With a file system, mounted.
    Filesystem,
    /// As a block device.
    Block,
}

impl VolumeMode {
    /// Its name in Kubernetes.
    pub fn name(self) -> &'static str {
        match self {
            VolumeMode::Filesystem => "Filesystem",
            VolumeMode::Block => "Block",
        }
    }
}

/// Which volumes are wanted, and where.
#[derive(Debug, Clone)]
pub struct VolumeRequest {
    /// The storage class.
    pub class: ObjectName,
    /// How pods see the volume.
    pub mode: VolumeMode,
    /// Size of each volume.
    pub bytes: u64,
    /// A volume and pod for each of these nodes; one where the scheduler likes
    /// without any.
    pub nodes: Vec<ObjectName>,
    /// Taints of nodes that the pods may be placed in spite of.
    pub tolerated: Vec<ToleratedTaint>,
    /// The image with the binary `/fathom`.
    pub image: String,
    /// Where pods find the volume: a folder, or the device.
    pub path: PathBuf,
    /// Time for the volumes and pods to be ready.
    pub patience: Duration,
    /// The cluster ends pods after so long, whatever happens.
    pub time_limit: Duration,
}
