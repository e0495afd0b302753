//! What was asked of the bricks between two profiles.

use fathom_model::gluster::{GlusterBrickUse, GlusterCalls, GlusterUse};

use super::{GlusterLook, GlusterOperation, GlusterStats};

/// What happened between two looks; `None` where the first was at no volume.
pub fn gluster_use(before: Option<GlusterLook>, after: Option<GlusterLook>) -> Option<GlusterUse> {
    let (before, after) = (before?, after?);
    let mut found = GlusterUse {
        volume: after.volume.clone(),
        kind: after.layout.kind.clone(),
        options: after.layout.options.clone(),
        ..GlusterUse::default()
    };
    let (before, profile) = match (before.profile, after.profile) {
        (Ok(before), Ok(after)) => (before, after),
        (Err(why), _) | (_, Err(why)) => {
            found.notes.push(why);
            return Some(found);
        }
    };
    for brick in profile.bricks {
        let earlier = before.bricks.iter().find(|other| other.name == brick.name);
        let earlier = earlier.and_then(|brick| brick.cumulative.clone());
        let Some(later) = brick.cumulative else {
            continue;
        };
        let tiers = after.layout.bricks.iter();
        let tier = tiers.clone().find(|(name, _)| *name == brick.name);
        let tier = tier.and_then(|(_, tier)| tier.clone());
        let (used, restarted) = between(&earlier.unwrap_or_default(), &later);
        if restarted {
            found.notes.push(format!(
                "the counts of brick {} began anew meanwhile; they are those since then",
                brick.name
            ));
        }
        found.bricks.push(GlusterBrickUse {
            name: brick.name,
            tier,
            ..used
        });
    }
    Some(found)
}

/// The difference, and whether the counts began anew in between.
fn between(before: &GlusterStats, after: &GlusterStats) -> (GlusterBrickUse, bool) {
    let restarted = before.operations.iter().any(|(name, earlier)| {
        let later = after.operations.get(name);
        later.is_none_or(|later| later.calls < earlier.calls)
    });
    let nothing = GlusterStats::default();
    let before = if restarted { &nothing } else { before };
    let total = |one: &GlusterOperation| one.mean_ns * one.calls as f64;
    let calls = after.operations.iter().filter_map(|(name, later)| {
        let earlier = before.operations.get(name).copied().unwrap_or_default();
        let calls = later.calls.saturating_sub(earlier.calls);
        (calls > 0).then(|| GlusterCalls {
            name: name.clone(),
            calls,
            time_ns: (total(later) - total(&earlier)).max(0.0),
        })
    });
    let used = GlusterBrickUse {
        calls: calls.collect(),
        read_bytes: after.read_bytes.saturating_sub(before.read_bytes),
        written_bytes: after.written_bytes.saturating_sub(before.written_bytes),
        ..GlusterBrickUse::default()
    };
    (used, restarted)
}
