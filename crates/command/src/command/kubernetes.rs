//! `fathom kubernetes` and `kubectl fathom`: volumes of storage classes, made,
//! measured, compared and removed.

mod cleanup;
mod measure;
mod work;

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use fathom_fleet::{Kubectl, ObjectName, ToleratedTaint, VolumeMode};
use fathom_model::unit;

use crate::exit::Exit;
use crate::whole_seconds::whole_seconds;

/// Measure storage classes of a Kubernetes cluster.
///
/// Makes a volume of each class with a pod that has it, measures it with `quick`
/// (or what stands behind `--`), stores the results here, compares the classes
/// where there are several, and removes everything it made: after success, failure
/// and Ctrl-C. After a kill the cluster does. The cluster is reached by kubectl
/// with your access; nothing is installed there.
///
/// As `kubectl fathom` when the binary, or a link to it, is called
/// `kubectl-fathom` and lies in $PATH.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  fathom kubernetes --storage-class fast --image example.com/fathom:0.1.0
                                     How fast is this class?
  kubectl fathom --storage-class fast --storage-class slow --image REF \\
    --nodes n1,n2
                                     Two classes on two nodes, compared
  kubectl fathom --storage-class fast --mode both --image REF -- quick --for 30s
                                     With a file system and as a block device
  kubectl fathom --storage-class fast --image REF -- io --rw randread --bs 4k
  kubectl fathom --storage-class fast --image REF -- plan.yaml
  kubectl fathom --cleanup           What earlier calls could not remove")]
pub(crate) struct Kubernetes {
    /// A storage class to measure; may be given several times, and the others are
    /// then compared with the first.
    #[arg(long, value_name = "NAME", required_unless_present = "cleanup")]
    storage_class: Vec<ObjectName>,
    /// Volumes with a file system, as block devices, or one after the other.
    #[arg(long, value_enum, default_value_t, value_name = "MODE")]
    mode: ModeChoice,
    /// Size of each volume.
    #[arg(long, default_value = "10GiB", value_parser = unit::parse_bytes)]
    size: u64,
    /// Nodes that get a volume and a pod each, separated by commas. Default: one,
    /// where the scheduler likes.
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    nodes: Vec<ObjectName>,
    /// A taint of nodes that the pods may be placed in spite of: KEY, KEY=VALUE,
    /// KEY:EFFECT or KEY=VALUE:EFFECT; may be given several times.
    #[arg(long, value_name = "TAINT")]
    tolerate: Vec<ToleratedTaint>,
    /// The image with the static binary as /fathom, of this version.
    #[arg(long, value_name = "REF", required_unless_present = "cleanup")]
    #[arg(value_parser = parse_image)]
    image: Option<String>,
    /// Namespace of volumes and pods. Default: that of kubectl's context.
    #[arg(long, value_name = "NAME")]
    namespace: Option<ObjectName>,
    /// Context of kubectl. Default: the current one.
    #[arg(long, value_name = "NAME")]
    context: Option<String>,
    /// How long volumes and pods may take to be ready.
    #[arg(long, value_name = "TIME", default_value = "5m")]
    #[arg(value_parser = whole_seconds(1, 86_400))]
    wait: u32,
    /// The cluster ends each pod after this time, whatever happens.
    #[arg(long, value_name = "TIME", default_value = "6h")]
    #[arg(value_parser = whole_seconds(60, 2_592_000))]
    time_limit: u32,
    /// List what earlier calls made in the namespace and could not remove.
    #[arg(long, conflicts_with_all = ["storage_class", "work"])]
    cleanup: bool,
    /// Remove it, instead of only listing.
    #[arg(long, short, requires = "cleanup")]
    yes: bool,
    /// Where pods find the volume. Default: /data, or /dev/fathom-volume.
    #[arg(long, hide = true, value_name = "PATH")]
    at: Option<PathBuf>,
    /// What is measured: `quick`, `io` or `run PLAN` with its flags and without a
    /// target, or a plan alone.
    #[arg(last = true, value_name = "COMMAND")]
    work: Vec<String>,
}

/// How volumes are given to pods.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
enum ModeChoice {
    /// With a file system.
    #[default]
    Filesystem,
    /// As block devices.
    Block,
    /// With a file system, then as block devices.
    Both,
}

impl ModeChoice {
    fn modes(self) -> &'static [VolumeMode] {
        match self {
            ModeChoice::Filesystem => &[VolumeMode::Filesystem],
            ModeChoice::Block => &[VolumeMode::Block],
            ModeChoice::Both => &[VolumeMode::Filesystem, VolumeMode::Block],
        }
    }
}

/// An image that a pod can name.
fn parse_image(text: &str) -> Result<String, String> {
    match text.is_empty() || text.contains(|c: char| c.is_whitespace() || c.is_control()) {
        true => Err("expected a reference such as registry.example.com/fathom:0.1.0".to_owned()),
        false => Ok(text.to_owned()),
    }
}

impl Kubernetes {
    fn kubectl(&self) -> Kubectl {
        Kubectl {
            namespace: self.namespace.as_ref().map(ToString::to_string),
            context: self.context.clone(),
        }
    }
}

/// Does it. `all` describes the commands that may stand behind the `--`.
pub(crate) fn run(command: &Kubernetes, all: fn() -> clap::Command) -> anyhow::Result<Exit> {
    match command.cleanup {
        true => cleanup::run(command),
        false => measure::run(command, all),
    }
}
