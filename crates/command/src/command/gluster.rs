//! `fathom gluster`: two profiles of a volume and what lies between them.

use std::io::Read;
use std::path::{Path, PathBuf};

use clap::Args;
use fathom_model::unit::parse_count;
use fathom_observe::gluster::{
    GlusterLook, GlusterProfile, GlusterUnit, GlusterVolume, gluster_use,
    parse_gluster_profile_text, parse_gluster_profile_xml, parse_gluster_volume,
};

use crate::exit::{CommandError, Exit};
use crate::shown::{Shown, TextOrJson};

/// A profile of thousands of bricks is smaller.
const FILE_BYTES_MAX: u64 = 64 << 20;

/// Brick workload between two Gluster profiles.
///
/// Both are what `gluster volume profile VOLUME info cumulative` printed on a server,
/// before and after the work; also with --xml, whose latencies are in
/// microseconds up to version 9 and in nanoseconds since. A single profile counts
/// from its own beginning. Runs on a mount of the volume do this by themselves
/// where the command gluster is at hand.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  gluster volume profile vol1 start              on a server, once
  gluster volume profile vol1 info cumulative > before
  …                                              the work, on clients
  gluster volume profile vol1 info cumulative > after
  fathom gluster before after --operations 40000
  fathom gluster before.xml after.xml --version 9")]
pub(crate) struct Gluster {
    /// The profile before, or the only one.
    before: PathBuf,
    /// The profile after.
    after: Option<PathBuf>,
    /// Operations that clients did meanwhile.
    #[arg(long, value_parser = parse_count, value_name = "N")]
    operations: Option<u64>,
    /// Major version of Gluster; needed for XML.
    #[arg(long, value_name = "MAJOR")]
    version: Option<u32>,
    /// What `gluster volume info VOLUME` printed, for its tiers and options.
    #[arg(long, value_name = "FILE")]
    info: Option<PathBuf>,
    #[command(flatten)]
    shown: Shown<TextOrJson>,
}

pub(crate) fn run(command: &Gluster) -> anyhow::Result<Exit> {
    command.shown.admit()?;
    let used = used(command)?;
    let text = match command.shown.is_json() {
        true => fathom_model::indented_json(&used)? + "\n",
        false => fathom_report::gluster::render(&used, command.operations),
    };
    command.shown.write(&text)?;
    Ok(Exit::Success)
}

fn used(command: &Gluster) -> Result<fathom_model::gluster::GlusterUse, CommandError> {
    let layout = match &command.info {
        Some(path) => parse_gluster_volume(&read(path)?),
        None => GlusterVolume::default(),
    };
    let look = |profile: GlusterProfile| GlusterLook {
        volume: "VOLUME".to_owned(),
        layout: layout.clone(),
        profile: Ok(profile),
    };
    let first = profile(&command.before, command.version)?;
    let (before, after) = match &command.after {
        Some(path) => (first, profile(path, command.version)?),
        None => (GlusterProfile::default(), first),
    };
    gluster_use(Some(look(before)), Some(look(after)))
        .ok_or_else(|| CommandError::usage("the profiles say nothing"))
}

fn profile(path: &Path, version: Option<u32>) -> Result<GlusterProfile, CommandError> {
    let text = read(path)?;
    if !text.trim_start().starts_with('<') {
        let profile = parse_gluster_profile_text(&text);
        return profile.map_err(CommandError::about(path.display()));
    }
    let no_version = "XML does not say whether it counts in micro- or nanoseconds; give --version, \
                      which `gluster --version` prints";
    let version = version.ok_or_else(|| CommandError::about(path.display())(no_version))?;
    let profile = parse_gluster_profile_xml(&text, GlusterUnit::of_version(version));
    profile.map_err(CommandError::about(path.display()))
}

fn read(path: &Path) -> Result<String, CommandError> {
    let told = |error: std::io::Error| {
        CommandError::Usage(format!("cannot read {}: {error}", path.display()))
    };
    let mut text = String::new();
    let file = fathom_deadline::paths::open(path).map_err(told)?;
    file.take(FILE_BYTES_MAX)
        .read_to_string(&mut text)
        .map_err(told)?;
    Ok(text)
}
