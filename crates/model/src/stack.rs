//! What lies under a path or device, layer by layer, with the settings that
//! matter at each, and what is wrong with them.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::fingerprint::{DeviceFacts, FilesystemFacts};

/// Format of a stack as JSON.
pub const STACK_SCHEMA: &str = "fathom.stack/1";

/// The layers under a target.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Stack {
    /// [`STACK_SCHEMA`].
    pub schema: String,
    /// The path or device that was asked for.
    pub target: String,
    /// The mounted file system, when the target lies on one.
    pub filesystem: Option<FilesystemFacts>,
    /// How the file system is laid out on its device, where that could be read.
    pub layout: Option<FilesystemLayout>,
    /// The server of a network mount.
    pub server: Option<MountServer>,
    /// The devices that the file system (or the target itself) lies on.
    pub top: Vec<String>,
    /// Every device under the target, top first.
    pub devices: Vec<StackDevice>,
    /// The adapters that drives are attached to.
    pub controllers: Vec<StackController>,
    /// What is wrong or worth knowing, the gravest first.
    pub findings: Vec<StackFinding>,
    /// What could not be read, and why.
    pub notes: Vec<String>,
}

/// How a file system is laid out.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FilesystemLayout {
    /// `ext4`, `xfs`, `btrfs`.
    pub kind: String,
    /// Where this was read: `superblock`, `mount options`, `sysfs`.
    pub source: String,
    /// Unit of allocation.
    pub block_bytes: Option<u64>,
    /// Unit of the log and of metadata, where it is told.
    pub sector_bytes: Option<u64>,
    /// Stripe unit: what the file system believes is the chunk of the array.
    pub stripe_unit_bytes: Option<u64>,
    /// Stripe width: what it believes is a full stripe.
    pub stripe_width_bytes: Option<u64>,
}

/// The server of a network mount.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct MountServer {
    /// `nfs`, `smb`, `ceph`, `glusterfs`, `9p`, ….
    pub protocol: String,
    /// Version of the protocol, where it is told.
    pub version: Option<String>,
    /// Name or address in the mount's source.
    pub server: String,
    /// What the server gives.
    pub export: String,
    /// Address that the mount uses.
    pub address: Option<String>,
    /// `tcp`, `udp`, `rdma`, `virtio`, ….
    pub transport: Option<String>,
    /// Port of the server.
    pub port: Option<u64>,
    /// Largest read request.
    pub read_bytes: Option<u64>,
    /// Largest write request.
    pub write_bytes: Option<u64>,
    /// Connections to the server.
    pub connections: Option<u64>,
}

/// One device of the stack.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct StackDevice {
    /// Its facts.
    #[serde(flatten)]
    pub facts: DeviceFacts,
    /// What it is for: `partition`, `lvm`, `crypt`, `thin`, `thin-pool`,
    /// `cache`, `multipath`, `raid`, `bcache`, `loop`, `disk`, ….
    pub layer: String,
    /// Where its first byte lies on the devices below it.
    pub places: Vec<Place>,
    /// Smallest request that the device likes.
    pub minimum_io_bytes: Option<u64>,
    /// Bytes off the natural alignment by the word of the kernel; -1 is
    /// "misaligned in a way that cannot be told".
    pub alignment_offset_bytes: Option<i64>,
    /// Unit of discards; 0 or absent when it cannot discard.
    pub discard_granularity_bytes: Option<u64>,
    /// Bytes by which discards are off their unit.
    pub discard_alignment_bytes: Option<u64>,
    /// Commands that the drive takes at once, where it tells.
    pub device_queue_depth: Option<u64>,
    /// How an array spreads data over its members.
    pub stripe: Option<Stripe>,
    /// The controller that it is attached to, by its name in `controllers`.
    pub controller: Option<String>,
}

/// Where a device begins on one below it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Place {
    /// The device below.
    pub below: String,
    /// Bytes from its beginning; absent where it cannot be told.
    pub offset_bytes: Option<u64>,
}

/// How an array spreads data.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Stripe {
    /// `raid0`, `raid5`, `raid6`, `raid10`, `striped`.
    pub level: String,
    /// Bytes on one member before the next.
    pub chunk_bytes: u64,
    /// All members.
    pub members: u64,
    /// Members that hold data of one stripe.
    pub data_members: u64,
    /// Whether a write smaller than a stripe has to read parity first.
    pub parity: bool,
}

impl Stripe {
    /// Bytes of a full stripe.
    pub fn width_bytes(&self) -> u64 {
        self.chunk_bytes.saturating_mul(self.data_members)
    }
}

/// An adapter that drives are attached to.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct StackController {
    /// Address on its bus, for example `0000:01:00.0`.
    pub name: String,
    /// What it is: `NVMe drive`, `SATA (AHCI)`, `SAS`, `RAID`, ….
    pub kind: String,
    /// Driver of the kernel.
    pub driver: Option<String>,
    /// NUMA node.
    pub numa_node: Option<u64>,
    /// Speed of its PCIe link as the kernel writes it.
    pub link_speed: Option<String>,
    /// Best speed that both ends can do.
    pub link_speed_max: Option<String>,
    /// Lanes in use.
    pub link_width: Option<u64>,
    /// Lanes that both ends have.
    pub link_width_max: Option<u64>,
}

/// How grave a finding is.
#[derive(
    Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum Gravity {
    /// Data are at risk.
    Danger,
    /// It costs speed.
    Costs,
    /// Worth knowing.
    #[default]
    Note,
}

/// What is wrong with a layer.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct StackFinding {
    /// Name of the rule.
    pub rule: String,
    /// How grave.
    pub gravity: Gravity,
    /// Device, mount point or server that it is about.
    pub at: String,
    /// What was found, with figures.
    pub found: String,
    /// What to do.
    pub remedy: String,
    /// Where the rule comes from.
    pub source: String,
}
