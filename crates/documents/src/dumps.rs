//! Dumps of storage clusters.

use std::path::{Path, PathBuf};

use fathom_diagnose::cluster::{
    CephDump, anonymised_cluster, judge_bricks, judge_ceph, parse_ceph,
};
use fathom_model::cluster::{BrickLoad, ClusterLook, SizeCount};
use fathom_model::gluster::GlusterCalls;
use fathom_observe::gluster::{
    GlusterProfile, GlusterUnit, parse_gluster_profile_text, parse_gluster_profile_xml,
};

use crate::error::DocumentError;
use crate::text;

/// A file that was recognised.
enum Dump {
    Ceph(CephDump),
    Gluster(GlusterProfile),
}

/// Judges the files when they are dumps of a cluster; `None` when none is. To be
/// shown to strangers, names are left out.
///
/// # Errors
/// Dumps beside other files or of two kinds, or one that cannot be read.
pub fn cluster_of(
    files: &[PathBuf],
    gluster_version: Option<u32>,
    anonymise: bool,
) -> Result<Option<ClusterLook>, DocumentError> {
    let (mut ceph, mut profiles, mut sources, mut others) = (vec![], vec![], vec![], 0);
    for path in files {
        // Standard input can be read once, and recordings come by it.
        let text = match path == Path::new("-") {
            true => None,
            false => text::read(path).ok(),
        };
        match text
            .map_or(Ok(None), |text| dump(&text, gluster_version))
            .map_err(DocumentError::about(path.display()))?
        {
            Some(Dump::Ceph(dump)) => ceph.push(dump),
            Some(Dump::Gluster(profile)) => {
                profiles.push(profile);
                sources.push(format!("volume profile {}", path.display()));
            }
            None => others += 1,
        }
    }
    let look = match (ceph.is_empty(), profiles.is_empty()) {
        (true, true) => return Ok(None),
        (false, false) => {
            return Err(DocumentError::TwoClusters);
        }
        _ if others > 0 => {
            return Err(DocumentError::DumpsAndRecordings);
        }
        (false, true) => judge_ceph(&ceph),
        (true, false) => {
            let bricks: Vec<BrickLoad> = profiles.iter().flat_map(bricks).collect();
            judge_bricks(sources, &bricks)
        }
    };
    Ok(Some(match anonymise {
        true => anonymised_cluster(look, &ceph),
        false => look,
    }))
}

fn dump(text: &str, gluster_version: Option<u32>) -> Result<Option<Dump>, DocumentError> {
    if let Some(dump) = parse_ceph(text) {
        return Ok(Some(Dump::Ceph(dump)));
    }
    Ok(gluster_profile(text, gluster_version)?.map(Dump::Gluster))
}

/// A volume profile of Gluster; `None` when the text is none.
///
/// # Errors
/// It is one that cannot be read, or XML without the version.
pub fn gluster_profile(
    text: &str,
    gluster_version: Option<u32>,
) -> Result<Option<GlusterProfile>, DocumentError> {
    if text.trim_start().starts_with('<') && text.contains("<volProfile>") {
        let version = gluster_version.ok_or(DocumentError::NoGlusterVersion)?;
        let profile = parse_gluster_profile_xml(text, GlusterUnit::of_version(version));
        return Ok(profile.map(Some)?);
    }
    let begins_brick = |line: &str| line.trim().starts_with("Brick: ");
    match text.lines().take(100).any(begins_brick) {
        true => Ok(parse_gluster_profile_text(text).map(Some)?),
        false => Ok(None),
    }
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
