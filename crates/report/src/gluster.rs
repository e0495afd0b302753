//! What was asked of Gluster's bricks for the operations of a load.
//!
//! A client confirms every part of a path by a LOOKUP, at every brick that
//! holds a copy, and at all bricks where it does not know which holds the
//! file: that is the amplification which small files suffer from.

use fathom_model::gluster::GlusterUse;
use fathom_model::workload::MetaPaths;
use fathom_model::{JudgedRun, JudgedTrial, unit};

use crate::facts;

/// Lookups for an operation from which settings are worth a thought.
const MANY_LOOKUPS: f64 = 1.5;

/// Settings that let clients keep what they have looked up, from the guide on
/// small files, and the option that tells that they are in force.
const SETTINGS: [(&str, &str); 7] = [
    ("features.cache-invalidation", "on"),
    ("features.cache-invalidation-timeout", "600"),
    ("performance.stat-prefetch", "on"),
    ("performance.cache-samba-metadata", "on"),
    ("performance.cache-invalidation", "on"),
    ("performance.md-cache-timeout", "600"),
    ("network.inode-lru-limit", "90000"),
];

/// What trials asked of the bricks, and what may help.
pub(crate) fn lines(run: &JudgedRun) -> Vec<String> {
    let mut lines = Vec::new();
    let mut many = None;
    for trial in &run.trials {
        let Some(used) = &trial.summary.gluster else {
            continue;
        };
        for note in &used.notes {
            let line = format!("Gluster: {note}.");
            if !lines.contains(&line) {
                lines.push(line);
            }
        }
        if let Some((text, each)) = of_trial(run, trial, used) {
            lines.extend(text);
            if each >= MANY_LOOKUPS {
                many.get_or_insert(used);
            }
        }
    }
    if let Some(used) = many {
        lines.extend(advice(used));
    }
    lines
}

fn of_trial(run: &JudgedRun, trial: &JudgedTrial, used: &GlusterUse) -> Option<(Vec<String>, f64)> {
    let ops: u64 = trial.summary.ops.iter().map(|op| op.ops).sum();
    if ops == 0 || used.bricks.is_empty() {
        return None;
    }
    let lookups = used.calls_of("LOOKUP");
    let each = lookups as f64 / ops as f64;
    let mut lines = vec![format!(
        "{}: {} at {} of {} ({}) for {}, {each:.2} for each{}.",
        facts::trial_name(run, trial),
        unit::counted(lookups, "LOOKUP"),
        unit::counted(used.bricks.len() as u64, "brick"),
        used.volume,
        used.kind,
        unit::counted(ops, "operation"),
        depth(trial),
    )];
    lines.extend(bricks(used));
    Some((lines, each))
}

/// What was asked of each brick, the most frequent first.
fn bricks(used: &GlusterUse) -> Vec<String> {
    let mut lines = Vec::new();
    for brick in &used.bricks {
        let tier = brick.tier.as_ref().map(|tier| format!(" ({tier} tier)"));
        let share = brick.share_of("LOOKUP");
        let share = share.map(|share| format!(", {:.0} % of its time", share * 100.0));
        let mut others: Vec<_> = brick
            .calls
            .iter()
            .filter(|one| one.name != "LOOKUP")
            .collect();
        others.sort_by_key(|one| std::cmp::Reverse(one.calls));
        let others = others.iter().take(4);
        let others: Vec<String> = others
            .map(|one| format!("{} {}", one.name, unit::group(one.calls)))
            .collect();
        lines.push(format!(
            "  {}{}: LOOKUP {}{}; {}",
            brick.name,
            tier.unwrap_or_default(),
            unit::group(brick.calls_of("LOOKUP")),
            share.unwrap_or_default(),
            others.join(", ")
        ));
    }
    lines
}

/// What was asked between two profiles, for `operations` of a client where
/// that is known; ended by a newline.
pub fn render(used: &GlusterUse, operations: Option<u64>) -> String {
    let lookups = used.calls_of("LOOKUP");
    let mut lines = vec![format!(
        "{} at {}",
        unit::counted(lookups, "LOOKUP"),
        unit::counted(used.bricks.len() as u64, "brick")
    )];
    lines.extend(bricks(used));
    let each = operations.map(|ops| lookups as f64 / ops.max(1) as f64);
    if let (Some(each), Some(operations)) = (each, operations) {
        lines.push(format!(
            "{each:.2} LOOKUPs for each of {} operations",
            unit::group(operations)
        ));
    }
    lines.extend(used.notes.iter().cloned());
    if each.is_some_and(|each| each >= MANY_LOOKUPS) {
        lines.extend(advice(used));
    }
    lines.join("\n") + "\n"
}

/// How deep the files lie, where names go through all of that.
fn depth(trial: &JudgedTrial) -> String {
    let Some(meta) = trial.workload.files_work() else {
        return String::new();
    };
    let levels = meta.tree.depth;
    match meta.paths {
        MetaPaths::Whole => format!("; paths of {} parts below the top of the tree", levels + 2),
        MetaPaths::Near => "; names relative to open directories".to_owned(),
    }
}

fn advice(used: &GlusterUse) -> Vec<String> {
    let in_force = |(name, value): &&(&str, &str)| {
        let found = used.options.iter().find(|(key, _)| key == name);
        found.is_some_and(|(_, set)| set == value)
    };
    let (on, missing): (Vec<_>, Vec<_>) = SETTINGS.iter().partition(in_force);
    let mut lines = Vec::new();
    if !on.is_empty() {
        let on: Vec<String> = on
            .iter()
            .map(|(name, value)| format!("{name} {value}"))
            .collect();
        lines.push(format!(
            "Clients of {} may already keep what they looked up: {}.",
            used.volume,
            on.join(", ")
        ));
    }
    if missing.is_empty() {
        return lines;
    }
    lines.push(
        "Clients may keep what they looked up, if servers tell them of changes (md-cache with \
         upcalls). Worth a trial, one at a time, measured again with `fathom ab`:"
            .to_owned(),
    );
    let volume = &used.volume;
    lines.extend(missing.iter().map(|(name, value)| {
        let only = match *name {
            "performance.cache-samba-metadata" => "   (where Samba serves the volume)",
            _ => "",
        };
        format!("  gluster volume set {volume} {name} {value}{only}")
    }));
    lines.push(
        "Caveats: it takes memory of every client (for each of the inodes of the limit); what \
         is cached expires; files on a second mount may be seen late if a server does not \
         support upcalls. cluster.lookup-unhashed off also saves lookups, and is dangerous: \
         after an aborted rebalance a file may be taken for missing and made twice."
            .to_owned(),
    );
    lines
}
