//! The recorded list of a job: which one a clone replays, in which way, and
//! which files it names.

use fathom_model::workload::{Replay, ReplayTiming, Work, WorkerBounds, Workload};

use super::asked::Asked;
use crate::fio::request::surroundings::{FioListed, FioPath, FioSurroundings};
use crate::fio::request::value::lists;

/// Lets a workload take its operations from the list of a clone.
pub(super) fn fill(asked: &mut Asked<'_>, workload: &mut Workload, clone: u32) {
    let Some(replay) = of(asked, clone) else {
        return;
    };
    if workload.work != Work::Blocks {
        asked.refused(
            "read_iolog",
            "a recorded list names blocks of files or devices; it cannot be replayed over a \
             connection or to an object store",
        );
        return;
    }
    workload.each_worker = WorkerBounds::default();
    workload.work = Work::recorded(replay);
}

/// Whether operations come from a list.
pub(super) fn is_asked(asked: &Asked<'_>) -> bool {
    asked.has("read_iolog")
}

/// Where all operations go, whatever the list names.
pub(super) fn redirected<'a>(asked: &Asked<'a>) -> Option<&'a str> {
    let to = asked.text("replay_redirect").map(str::trim);
    to.filter(|to| is_asked(asked) && !to.is_empty())
}

/// What the list of a clone asks of its files; nothing where the job says both
/// which files there are and how long they are. `None` when the list cannot be
/// used.
pub(super) fn listed(
    asked: &mut Asked<'_>,
    clone: u32,
    surroundings: &dyn FioSurroundings,
) -> Option<FioListed> {
    let Some(replay) = of(asked, clone) else {
        return Some(FioListed::default());
    };
    let named = asked.has("filename") || asked.has("opendir") || redirected(asked).is_some();
    if named && (asked.has("size") || asked.has("filesize")) {
        return Some(FioListed::default());
    }
    if surroundings.look(&replay.path) == FioPath::Other {
        // What comes through a pipe can be read once, and the load will read it.
        let message = "a list that comes through a pipe is read only once: say with filename= and \
                       size= where its operations go";
        asked.problem("read_iolog", message);
        return None;
    }
    let listed = match surroundings.listed(&replay) {
        Ok(listed) => listed,
        Err(problem) => {
            asked.problem("read_iolog", format!("read_iolog: {problem}"));
            return None;
        }
    };
    let strange = |name: &&String| name.chars().any(char::is_control);
    if let Some(name) = listed.names.iter().find(strange) {
        let message =
            format!("read_iolog: the list names a file with control characters, {name:?}");
        asked.problem("read_iolog", message);
        return None;
    }
    Some(listed)
}

/// The list of a clone, and how it is replayed.
fn of(asked: &Asked<'_>, clone: u32) -> Option<Replay> {
    let lists = lists::names(asked.text("read_iolog")?).ok()?;
    let place = usize::try_from(clone).unwrap_or(0) % lists.len().max(1);
    let mut replay = Replay::of(lists.into_iter().nth(place)?.into());
    replay.timing = match asked.flag("replay_no_stall", false) {
        true => ReplayTiming::AsFastAsPossible,
        false => ReplayTiming::Recorded {
            speed_percent: match asked.count("replay_time_scale") {
                Some(scale @ 1..) => scale as f64,
                _ => 100.0,
            },
        },
    };
    replay.shrink = asked.count("replay_scale").unwrap_or(1).max(1);
    replay.align_bytes = asked.bytes("replay_align").unwrap_or(1).max(1);
    for word in asked.text("replay_skip").unwrap_or("").split([',', ':']) {
        match word.trim() {
            "read" => replay.skip_reads = true,
            "write" => replay.skip_writes = true,
            "trim" => replay.skip_trims = true,
            "sync" => replay.skip_syncs = true,
            _ => {}
        }
    }
    Some(replay)
}
