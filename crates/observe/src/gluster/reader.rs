//! Asks Gluster's own command for the profile of the volume under a target.
//! Nothing is changed: a profile that is not started stays so.

use std::time::Duration;

use fathom_deadline::{answer_with_errors_of, find_program};
use fathom_model::fingerprint::TargetFingerprint;

use super::{GlusterProfile, GlusterVolume, parse_gluster_profile_text, parse_gluster_volume};

/// The command hangs while its daemon is away.
const PATIENCE: Duration = Duration::from_secs(4);

/// A look at a volume.
#[derive(Debug, Clone, PartialEq)]
pub struct GlusterLook {
    /// Its name.
    pub volume: String,
    /// How it is put together.
    pub layout: GlusterVolume,
    /// What its bricks did so far, or why that is not known.
    pub profile: Result<GlusterProfile, String>,
}

/// Looks at the volume under a target; `None` when it lies on none.
pub fn gluster_look(target: &TargetFingerprint) -> Option<GlusterLook> {
    let filesystem = target.filesystem.as_ref()?;
    if !matches!(filesystem.kind.as_str(), "fuse.glusterfs" | "glusterfs") {
        return None;
    }
    let volume = volume_of(&filesystem.source)?;
    let said = gluster(&["volume", "profile", &volume, "info", "cumulative"]);
    let profile = said.map_err(|why| why.to_string());
    let profile = profile.and_then(|said| {
        parse_gluster_profile_text(&said).map_err(|why| match why.is_not_started() {
            true => format!(
                "lookups are not counted, because the profile of {volume} is not started: \
                 `gluster volume profile {volume} start` on one of its servers"
            ),
            false => why.to_string(),
        })
    });
    let layout = gluster(&["volume", "info", &volume]);
    Some(GlusterLook {
        layout: layout.map_or_else(|_| GlusterVolume::default(), |t| parse_gluster_volume(&t)),
        volume,
        profile,
    })
}

/// The volume of a mount's source: `host:/volume`, `host:volume/folder`.
pub(super) fn volume_of(source: &str) -> Option<String> {
    let (_, path) = source.rsplit_once(':')?;
    let name = path.trim_start_matches('/').split('/').next()?;
    let known = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte);
    let fine = !name.is_empty() && !name.starts_with('-') && name.bytes().all(known);
    fine.then(|| name.to_owned())
}

/// Why the command gluster does not count lookups.
#[derive(Debug, thiserror::Error)]
enum NotCounted {
    #[error(
        "lookups are not counted: the command gluster cannot be run here ({0}); take `gluster \
         volume profile` on a server before and after, and give both to `fathom gluster`"
    )]
    NotRun(#[from] std::io::Error),
    #[error("lookups are not counted: gluster ended with {0}; are you root?")]
    Failed(std::process::ExitStatus),
    #[error("lookups are not counted: gluster did not answer within 4 s")]
    Silent,
}

fn gluster(arguments: &[&str]) -> Result<String, NotCounted> {
    let missing = || std::io::Error::from(std::io::ErrorKind::NotFound);
    let program = find_program("gluster").ok_or_else(missing)?;
    let arguments: Vec<&str> = std::iter::once("--mode=script")
        .chain(arguments.iter().copied())
        .collect();
    // It says what is wrong on either stream.
    match answer_with_errors_of(&program, &arguments, PATIENCE) {
        Ok(answer) if !answer.text.trim().is_empty() => Ok(answer.text),
        Ok(answer) => Err(NotCounted::Failed(answer.status)),
        Err(error) if error.kind() == std::io::ErrorKind::TimedOut => Err(NotCounted::Silent),
        Err(error) => Err(NotCounted::NotRun(error)),
    }
}
