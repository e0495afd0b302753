//! Dumps of storage clusters given to `fathom diagnose`.

use std::path::{Path, PathBuf};

use fathom_diagnose::cluster::{CephDump, judge_bricks, judge_ceph, parse_ceph};
use fathom_model::cluster::{BrickLoad, ClusterLook, SizeCount};
use fathom_model::gluster::GlusterCalls;
use fathom_observe::gluster::{
    GlusterProfile, GlusterUnit, parse_gluster_profile_text, parse_gluster_profile_xml,
};

use crate::command::given;

/// A file that was recognised.
enum Dump {
    Ceph(CephDump),
    Gluster(GlusterProfile),
}

/// Judges the files when they are dumps of a cluster; `None` when none is.
///
/// # Errors
/// Dumps beside other files or of two kinds, or one that cannot be read.
pub(super) fn judged(
    files: &[PathBuf],
    gluster_version: Option<u32>,
) -> Result<Option<ClusterLook>, String> {
    let (mut ceph, mut profiles, mut sources, mut others) = (vec![], vec![], vec![], 0);
    for path in files {
        // Standard input can be read once, and recordings come by it.
        let text = match path == Path::new("-") {
            true => None,
            false => given::text(path).ok(),
        };
        let told = |why: String| format!("{}: {why}", path.display());
        match text
            .map_or(Ok(None), |text| dump(&text, gluster_version))
            .map_err(told)?
        {
            Some(Dump::Ceph(dump)) => ceph.push(dump),
            Some(Dump::Gluster(profile)) => {
                profiles.push(profile);
                sources.push(format!("volume profile {}", path.display()));
            }
            None => others += 1,
        }
    }
    match (ceph.is_empty(), profiles.is_empty()) {
        (true, true) => Ok(None),
        (false, false) => Err("give dumps of Ceph and of Gluster apart".to_owned()),
        _ if others > 0 => Err("give dumps of a cluster and recordings of a host apart".to_owned()),
        (false, true) => Ok(Some(judge_ceph(&ceph))),
        (true, false) => {
            let bricks: Vec<BrickLoad> = profiles.iter().flat_map(bricks).collect();
            Ok(Some(judge_bricks(sources, &bricks)))
        }
    }
}

fn dump(text: &str, gluster_version: Option<u32>) -> Result<Option<Dump>, String> {
    if let Some(dump) = parse_ceph(text) {
        return Ok(Some(Dump::Ceph(dump)));
    }
    let begins = text.trim_start();
    if begins.starts_with('<') && text.contains("<volProfile>") {
        let version = gluster_version.ok_or(
            "XML does not say whether it counts in micro- or nanoseconds; give \
             --gluster-version, which `gluster --version` prints",
        )?;
        let profile = parse_gluster_profile_xml(text, GlusterUnit::of_version(version))?;
        return Ok(Some(Dump::Gluster(profile)));
    }
    if text
        .lines()
        .take(100)
        .any(|line| line.trim().starts_with("Brick: "))
    {
        return parse_gluster_profile_text(text).map(|found| Some(Dump::Gluster(found)));
    }
    Ok(None)
}

/// Counts since the profile was begun, or of the interval where there are no
/// others.
fn bricks(profile: &GlusterProfile) -> Vec<BrickLoad> {
    let counted = profile.bricks.iter().filter_map(|brick| {
        let stats = brick.cumulative.as_ref().or(brick.interval.as_ref())?;
        let calls = stats.operations.iter().map(|(name, one)| GlusterCalls {
            name: name.clone(),
            calls: one.calls,
            time_ns: one.mean_ns * one.calls as f64,
        });
        let writes = stats.blocks.iter().filter(|(_, count)| count.writes > 0);
        Some(BrickLoad {
            name: brick.name.clone(),
            calls: calls.collect(),
            writes: writes
                .map(|(from_bytes, count)| SizeCount {
                    from_bytes: *from_bytes,
                    count: count.writes,
                })
                .collect(),
        })
    });
    counted.collect()
}
