//! Asks Gluster's own command for the profile of the volume under a target.
//! Nothing is changed: a profile that is not started stays so.

use std::io::Read;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use fathom_model::fingerprint::TargetFingerprint;

use super::{GlusterProfile, GlusterVolume, parse_gluster_profile_text, parse_gluster_volume};

/// The command hangs while its daemon is away.
const PATIENCE: Duration = Duration::from_secs(10);
const LOOK_EVERY: Duration = Duration::from_millis(5);
const OUTPUT_BYTES_MAX: u64 = 64 << 20;

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
    let profile = said.and_then(|said| {
        parse_gluster_profile_text(&said).map_err(|why| match why.contains("is not started") {
            true => format!(
                "lookups are not counted, because the profile of {volume} is not started: \
                 `gluster volume profile {volume} start` on one of its servers"
            ),
            false => why,
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

fn gluster(arguments: &[&str]) -> Result<String, String> {
    let what = "lookups are not counted: ";
    let mut child = Command::new("gluster")
        .arg("--mode=script")
        .args(arguments)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .map_err(|error| {
            format!(
                "{what}the command gluster cannot be run here ({error}); take `gluster volume \
                 profile` on a server before and after, and give both to `fathom gluster`"
            )
        })?;
    // The pipe is emptied beside, so that a long profile does not block.
    let mut pipe = child.stdout.take();
    let reader = std::thread::spawn(move || {
        let mut text = String::new();
        let read = pipe.as_mut().map(|pipe| {
            let mut limited = pipe.take(OUTPUT_BYTES_MAX);
            limited.read_to_string(&mut text)
        });
        match read {
            Some(Ok(_)) => text,
            _ => String::new(),
        }
    });
    let begun = Instant::now();
    let status = loop {
        match child.try_wait() {
            Ok(Some(status)) => break Some(status),
            Ok(None) if begun.elapsed() < PATIENCE => std::thread::sleep(LOOK_EVERY),
            _ => {
                let _ = child.kill();
                let _ = child.wait();
                break None;
            }
        }
    };
    let text = reader.join().unwrap_or_default();
    match status {
        None => Err(format!("{what}gluster did not answer within 10 s")),
        // Its own words say why; it fails with them on either stream.
        Some(_) if !text.trim().is_empty() => Ok(text),
        Some(status) => Err(format!("{what}gluster ended with {status}; are you root?")),
    }
}
