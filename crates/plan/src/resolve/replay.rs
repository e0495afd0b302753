//! A recorded list and how it is replayed.

use fathom_model::OpKind;
use fathom_model::workload::{OpMix, Replay};

use crate::keys::WorkloadKeys;

/// The list that a workload takes its operations from, where it names one.
pub(super) fn replay(keys: &WorkloadKeys) -> Option<Replay> {
    let path = keys.replay.as_ref()?;
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
