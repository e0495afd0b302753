//! Whether a workload fits the target that it is to run on.

use fathom_model::Target;
use fathom_model::unit::bytes_exact;
use fathom_model::workload::{EngineKind, Workload};

use crate::diagnostic::{Problems, error};
use crate::node::Span;
use crate::rows::Row;
use crate::schedule::{ScheduleContext, TargetKind};
use crate::spelling::Spelling;

/// Checks one row on one target, as far as facts about it are known.
pub(crate) fn check(
    row: &Row,
    workload: &Workload,
    target: &Target,
    context: &ScheduleContext,
    spelling: Spelling,
    problems: &mut Problems,
) {
    engine(row, workload, target, spelling, problems);
    let facts = context.facts(target);
    let size_at = row.keys.size.as_ref().and_then(|s| s.span).or(row.entry);
    // The offset lies within the size.
    let needed = workload
        .data_set
        .size_bytes
        .unwrap_or(workload.data_set.offset_bytes);
    let room = match facts.kind {
        Some(TargetKind::Directory) => facts.free_bytes,
        Some(TargetKind::File | TargetKind::Device) => facts.size_bytes,
        None => None,
    };
    let Some(room) = room else { return };
    if facts.kind == Some(TargetKind::Directory) && needed > room {
        room_short(target, needed, room, "free", size_at, spelling, problems);
    } else if needed > room {
        room_short(target, needed, room, "there", size_at, spelling, problems);
    } else if room < workload.max_block_bytes() {
        let message = format!(
            "{target} has {}, less than one block of {}",
            bytes_exact(room),
            bytes_exact(workload.max_block_bytes())
        );
        problems.error("size_below_block", size_at, message);
    }
}

fn room_short(
    target: &Target,
    needed: u64,
    room: u64,
    what: &str,
    span: Option<Span>,
    spelling: Spelling,
    problems: &mut Problems,
) {
    let message = format!(
        "{target} has {} {what}; {} are needed",
        fathom_model::unit::bytes(room),
        fathom_model::unit::bytes(needed)
    );
    let help = format!("lower {}", spelling.key("size"));
    problems.push(error("no_space", span, message).help(help));
}

/// The null and simulated targets have engines of their own.
fn engine(
    row: &Row,
    workload: &Workload,
    target: &Target,
    spelling: Spelling,
    problems: &mut Problems,
) {
    let only = match target {
        Target::Null => EngineKind::Null,
        Target::Sim(_) => EngineKind::Sim,
        Target::Peer(_) => EngineKind::Net,
        Target::Bucket(_) => EngineKind::S3,
        Target::Path(_) if workload.engine == EngineKind::Sim => {
            let message = format!("the engine sim cannot reach {target}");
            let span = row.keys.engine.as_ref().and_then(|e| e.span).or(row.entry);
            problems.push(error("engine_target", span, message).help("use the target sim:MODEL"));
            return;
        }
        Target::Path(_) => return,
    };
    let on_files =
        *target == Target::Null && matches!(workload.engine, EngineKind::Meta | EngineKind::S3);
    if workload.engine != only && !on_files {
        let message = format!(
            "the engine {} cannot reach {target}",
            workload.engine.name()
        );
        let span = row.keys.engine.as_ref().and_then(|e| e.span).or(row.entry);
        let help = match workload.engine {
            // These follow from the command or the operations.
            EngineKind::Meta => "name a directory, as in /data".to_owned(),
            EngineKind::S3 => "name a bucket, as in s3://bucket/prefix".to_owned(),
            _ => format!(
                "leave {} out; it follows from the target",
                spelling.key("engine")
            ),
        };
        problems.push(error("engine_target", span, message).help(help));
    }
}
