//! A recorded list and how it is replayed.

use fathom_model::OpKind;
use fathom_model::workload::{OpMix, Replay};

use crate::diagnostic::{Problems, error};
use crate::keys::WorkloadKeys;
use crate::node::Span;
use crate::spelling::Spelling;

pub(super) fn replay(
    keys: &WorkloadKeys,
    spelling: Spelling,
    problems: &mut Problems,
) -> Option<Replay> {
    let Some(path) = &keys.replay else {
        if let Some((name, span)) = detail(keys) {
            let message = format!("{} has no effect without a list", spelling.key(name));
            let help = format!("add {}", spelling.pair("replay", "FILE"));
            problems.push(error("replay_without_list", span, message).help(help));
        }
        return None;
    };
    let mut replay = Replay::of(path.value.0.clone().into());
    if let Some(speed) = &keys.replay_speed {
        replay.timing = speed.value.0;
    }
    replay.shrink = keys.replay_shrink.as_ref().map_or(1, |n| n.value.0.max(1));
    replay.align_bytes = keys.replay_align.as_ref().map_or(1, |n| n.value.0.max(1));
    if let Some(skip) = &keys.replay_skip {
        replay.skip_reads = skip.value.holds(OpKind::Read);
        replay.skip_writes = skip.value.holds(OpKind::Write);
        replay.skip_trims = skip.value.holds(OpKind::Trim);
        replay.skip_syncs = skip.value.holds(OpKind::Sync);
    }
    for (name, span) in drawn(keys) {
        let message = format!(
            "{} has no effect: operations come from a list",
            spelling.key(name)
        );
        let problem = error("replay_draws_nothing", span, message);
        problems.push(problem.relate(path.span, "the list"));
    }
    Some(replay)
}

/// What a list is taken to hold until it is read, where nothing is said.
pub(super) fn mix(replay: &Replay) -> OpMix {
    match (replay.skip_reads, replay.skip_writes) {
        (false, true) => OpMix::READ,
        (true, _) => OpMix::WRITE,
        (false, false) => OpMix {
            read_percent: 50,
            write_percent: 50,
            trim_percent: 0,
        },
    }
}

fn detail(keys: &WorkloadKeys) -> Option<(&'static str, Option<Span>)> {
    let details = [
        ("replay_speed", keys.replay_speed.as_ref().map(|k| k.span)),
        ("replay_shrink", keys.replay_shrink.as_ref().map(|k| k.span)),
        ("replay_align", keys.replay_align.as_ref().map(|k| k.span)),
        ("replay_skip", keys.replay_skip.as_ref().map(|k| k.span)),
    ];
    let mut given = details.into_iter();
    given.find_map(|(name, span)| span.map(|span| (name, span)))
}

/// Keys that say how operations are drawn.
fn drawn(keys: &WorkloadKeys) -> impl Iterator<Item = (&'static str, Option<Span>)> {
    let keys = [
        ("rw", keys.rw.as_ref().map(|k| k.span)),
        ("bs", keys.bs.as_ref().map(|k| k.span)),
        ("mix", keys.mix.as_ref().map(|k| k.span)),
        ("pattern", keys.pattern.as_ref().map(|k| k.span)),
        ("distribution", keys.distribution.as_ref().map(|k| k.span)),
        ("rate", keys.rate.as_ref().map(|k| k.span)),
        ("rate_iops", keys.rate_iops.as_ref().map(|k| k.span)),
        ("think_time", keys.think_time.as_ref().map(|k| k.span)),
        ("verify", keys.verify.as_ref().map(|k| k.span)),
    ];
    let given = keys.into_iter();
    given.filter_map(|(name, span)| span.map(|span| (name, span)))
}
